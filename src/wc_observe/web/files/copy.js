// A copy button beside each command and each name worth copying. The page cannot
// write, so people run what they copy in a terminal.

const COPIED = 2000;

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.copy");
    if (button) copy(button);
  });
  buttons(document);
}

export function buttons(within) {
  for (const source of within.querySelectorAll("[data-copy]")) {
    if (source.nextElementSibling?.classList.contains("copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${source.textContent}`);
    source.after(button);
  }
}

async function copy(button) {
  const words = button.previousElementSibling.textContent;
  try {
    await navigator.clipboard.writeText(words);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), COPIED);
}
