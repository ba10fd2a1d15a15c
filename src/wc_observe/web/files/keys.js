// Keyboard shortcuts. Single letters can be switched off, because voice control
// types words as letters (WCAG 2.1.4).

import * as peek from "./peek.js";
import { back } from "./saved.js";

const KEYS = [
  ["j  k", "next, previous"],
  ["h  l", "column to the left, to the right"],
  ["Enter", "open it"],
  ["Space", "look at the selected thread; j, k: at the next, the previous one"],
  ["Ctrl-K", "go to a thread or page, or copy a command"],
  ["Esc", "leave a field; go back up"],
  ["/", "search"],
  ["f", "filter"],
  ["n  p", "next, previous thread of yours"],
  ["1  2  3  4", "board, threads, edits, inbox"],
  ["?", "this list"],
];
const NEXT = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
const SIDE = { l: 1, h: -1, ArrowRight: 1, ArrowLeft: -1 };
const YOURS = { n: "next", p: "prev" };
const OFF = "wc-no-letters";

// Not those that are folded away.
const items = (within = document) =>
  [...within.querySelectorAll("[data-item]")].filter((one) => one.getClientRects().length);
const here = () => document.activeElement?.closest?.("[data-item]") ?? null;

export function start(tools) {
  const list = help();
  document.body.append(list);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "?";
  button.id = "show-keys";
  button.title = "Keys";
  button.setAttribute("aria-label", "Keys");
  button.addEventListener("click", () => list.showModal());
  tools.append(button);
  peek.start(items);
  addEventListener("keydown", (event) => pressed(event, list));
  arrive();
}

// After returning from a thread, select the same thread on the board.
function arrive() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name) document.getElementById(name)?.focus();
}

function pressed(event, list) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
  const field = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape") leave(field);
  else if (field) return;
  else if (act(event.key, list)) event.preventDefault();
}

function leave(field) {
  if (field) field.blur();
  else if (document.body.dataset.up) location.href = back(document.body.dataset.up);
}

function act(key, list) {
  if (key.length === 1 && stored(OFF)) return false;
  // Arrows scroll until an item is selected.
  if (key.startsWith("Arrow") && !here()) return false;
  if (key in NEXT) return step(NEXT[key]);
  if (key in SIDE) return aside(SIDE[key]);
  if (key === "Enter") return enter();
  if (key === " ") return peek.open(here());
  if (key === "/") return focus("q");
  if (key === "f") return focus("filter");
  if (key === "?") return list.showModal() ?? true;
  if (key in YOURS) return follow(`.around a[rel="${YOURS[key]}"]`);
  const place = document.querySelectorAll("header nav a")[Number(key) - 1];
  if (place) location.href = place.href;
  return Boolean(place);
}

function follow(selector) {
  const link = document.querySelector(selector);
  link?.click();
  return Boolean(link);
}

function focus(id) {
  const field = document.getElementById(id);
  // On a narrow screen a button hides the field.
  const sheet = field?.closest("[popover]");
  if (sheet && getComputedStyle(sheet).display === "none") sheet.showPopover();
  field?.focus();
  field?.select();
  return Boolean(field);
}

function step(by) {
  const every = items();
  const at = every.indexOf(here());
  const next = at < 0 ? every[0] : every[at + by];
  return go(next);
}

function aside(by) {
  const columns = [...document.querySelectorAll(".column")].filter(
    (one) => items(one).length,
  );
  if (!columns.length) return false;
  const at = columns.indexOf(here()?.closest(".column"));
  return go(items(columns[at < 0 ? 0 : at + by] ?? columns[at])[0]);
}

function go(one) {
  one?.focus({ preventScroll: true });
  one?.scrollIntoView({ block: one.nodeName === "ARTICLE" ? "start" : "nearest" });
  return Boolean(one);
}

// The browser follows links by itself; an entry contains one.
function enter() {
  if (document.activeElement?.nodeName !== "ARTICLE") return false;
  document.activeElement.querySelector("a.alone")?.click();
  return true;
}

function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function help() {
  const list = document.createElement("dialog");
  list.id = "keys";
  list.setAttribute("aria-labelledby", "keys-title");
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = "Keys";
  const rows = document.createElement("dl");
  for (const [keys, does] of KEYS) {
    const term = document.createElement("dt");
    for (const key of keys.split("  ")) {
      const one = document.createElement("kbd");
      one.textContent = key;
      term.append(one, " ");
    }
    const says = document.createElement("dd");
    says.textContent = does;
    rows.append(term, says);
  }
  list.append(title, rows, letters(), done());
  // Not every browser removes the focus from a closed dialog at once.
  list.addEventListener("close", () => {
    if (list.contains(document.activeElement)) document.activeElement.blur();
  });
  return list;
}

function letters() {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = !stored(OFF);
  box.addEventListener("change", () => {
    if (box.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
  });
  label.append(box, " single-key shortcuts");
  return label;
}

function done() {
  const form = document.createElement("form");
  form.method = "dialog";
  const button = document.createElement("button");
  button.textContent = "Close";
  form.append(button);
  return form;
}
