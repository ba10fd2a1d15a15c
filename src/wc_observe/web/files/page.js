// What the pages are with a script, beyond what they are without: live, with
// keys, in the colours of one's choice, and narrowed down as one types.

import * as keys from "./keys.js";
import * as live from "./live.js";

const COLOURS = ["", "light", "dark"];
const NAMES = { "": "as the system", light: "light", dark: "dark" };
const SIGNS = { "": "◐", light: "○", dark: "●" };

const tools = document.getElementById("tools");
colours();
keys.start(tools);
live.start(tools);
typing();

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
      // Storage is off: for this page alone.
    }
    say();
  });
  say();
  tools.append(button);
}

function typing() {
  let waiting = 0;
  document.addEventListener("input", (event) => {
    if (event.target.id !== "filter") return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const form = event.target.form;
      const said = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...said]) if (!value) said.delete(name);
      const rest = String(said);
      const url = new URL(form.action, location.href);
      url.search = rest;
      history.replaceState(null, "", url);
      live.refresh([]);
    }, 150);
  });
}
