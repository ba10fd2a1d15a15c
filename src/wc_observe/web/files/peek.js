// A look at the selected thread without leaving the list: what it is, and its last
// entries. It is the page of the thread, of which the rest is left out.

const ENTRIES = 3;

const box = document.createElement("dialog");
let list = () => [];
let at = null;
let asked = 0;

export function start(items) {
  list = items;
  box.id = "peek";
  box.setAttribute("aria-label", "Thread");
  document.body.append(box);
  box.addEventListener("keydown", pressed);
  box.addEventListener("click", (event) => event.target === box && box.close());
  box.addEventListener("close", () => {
    asked += 1;
    at?.focus();
  });
}

export function open(item) {
  if (!item?.href) return false;
  box.replaceChildren();
  box.showModal();
  look(item);
  return true;
}

async function look(item) {
  const number = (asked += 1);
  at = item;
  item.scrollIntoView({ block: "nearest" });
  try {
    const answer = await fetch(item.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number === asked) show(page, item.href);
  } catch {
    if (number === asked) box.replaceChildren("It could not be loaded.");
  }
}

function show(page, href) {
  const head = page.querySelector(".thread-page > header");
  const entries = page.querySelector(".entries");
  const rest = [...(entries?.children ?? [])].slice(0, -ENTRIES);
  for (const one of rest) one.remove();
  const open = page.createElement("a");
  open.href = href;
  open.className = "more";
  open.textContent = rest.length ? "Open the thread: all entries" : "Open the thread";
  const parts = [head, entries, open].filter(Boolean);
  for (const part of parts) for (const one of [part, ...part.querySelectorAll("*")]) plain(one, href);
  box.setAttribute("aria-label", head?.querySelector("h1")?.textContent ?? "Thread");
  box.replaceChildren(...(head ? parts : [page.querySelector("main")]));
  box.scrollTop = 0;
  open.focus({ preventScroll: true });
}

// An id may be there once in a page, and a link within the thread leads to it.
function plain(one, href) {
  one.removeAttribute("id");
  one.removeAttribute("aria-labelledby");
  const target = one.getAttribute("href");
  if (target?.startsWith("#")) one.setAttribute("href", `${href}${target}`);
  if (one.matches(".alone, .to-details")) one.remove();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  // Within it, Enter follows the link that has the focus.
  const inside = document.activeElement?.closest("#peek a");
  if (event.key === " ") box.close();
  else if (event.key === "Enter" && !inside) location.href = at.href;
  else if (by) move(by);
  else return;
  event.preventDefault();
}

function move(by) {
  const every = list().filter((one) => one.href);
  const next = every[every.indexOf(at) + by];
  if (next) look(next);
}
