// What scripts add to the pages: live updates, keyboard shortcuts, a choice of theme,
// and filters that apply as you type.

import * as copy from "./copy.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import * as palette from "./palette.js";
import * as saved from "./saved.js";

const COLOURS = ["", "light", "dark"];
const NAMES = { "": "as the system", light: "light", dark: "dark" };
const SIGNS = { "": "◐", light: "○", dark: "●" };

const tools = document.getElementById("tools");
colours();
keys.start(tools);
palette.start(tools);
saved.start();
copy.start();
live.start(tools);
typing();
switcher();

function colours() {
  const root = document.documentElement;
  const button = document.createElement("button");
  button.type = "button";
  button.id = "colours";
  const say = () => {
    const now = root.dataset.colours ?? "";
    button.textContent = SIGNS[now];
    button.title = `Colours: ${NAMES[now]}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    const at = COLOURS.indexOf(root.dataset.colours ?? "");
    const next = COLOURS[(at + 1) % COLOURS.length];
    if (next) root.dataset.colours = next;
    else delete root.dataset.colours;
    try {
      if (next) localStorage.setItem("wc-colours", next);
      else localStorage.removeItem("wc-colours");
    } catch {
      // Storage is off: only for this page.
    }
    say();
  });
  say();
  tools.append(button);
}

function typing() {
  let waiting = 0;
  document.addEventListener("input", (event) => {
    // Search runs on Enter: it is too slow for every letter.
    if (!event.target.closest?.(".filter .fields")) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const form = event.target.form;
      const said = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...said]) if (!value) said.delete(name);
      const rest = String(said);
      const url = new URL(form.action, location.href);
      url.search = rest;
      history.replaceState(null, "", url);
      saved.show();
      live.refresh([]);
    }, 150);
  });
}

// A click elsewhere, or Escape, closes the list of repositories.
function switcher() {
  const list = document.querySelector(".switcher");
  if (!list) return;
  document.addEventListener("click", (event) => {
    if (!list.contains(event.target)) list.open = false;
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !list.open) return;
    event.preventDefault();
    list.open = false;
    list.querySelector("summary").focus();
  });
}
