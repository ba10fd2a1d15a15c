// The command palette: everything that one can go to or do here, narrowed down by
// typing. Ctrl-K or Command-K opens it, also where single letters are switched off.
// Threads are found by the list of threads, so there is no second search.

import * as saved from "./saved.js";

const MOST = 12;
const PAUSE = 120;

const box = document.createElement("dialog");
const field = document.createElement("input");
const list = document.createElement("ul");
let shown = [];
let chosen = 0;
let waiting = 0;
let asking = null;

export function start(tools) {
  box.id = "palette";
  box.setAttribute("aria-label", "Go to");
  attributes(field, {
    type: "search",
    role: "combobox",
    "aria-label": "Go to a page or thread, or copy a command",
    "aria-controls": "palette-list",
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    placeholder: "A thread, a page, a command",
    autocomplete: "off",
  });
  attributes(list, { id: "palette-list", role: "listbox", "aria-label": "Results" });
  box.append(field, list);
  document.body.append(box);
  field.addEventListener("input", changed);
  box.addEventListener("keydown", pressed);
  box.addEventListener("click", clicked);
  // Not every browser removes the focus from a closed dialog at once.
  box.addEventListener("close", () => {
    if (box.contains(document.activeElement)) document.activeElement.blur();
  });
  const button = document.createElement("button");
  attributes(button, {
    type: "button",
    id: "go",
    title: "Go to (Ctrl-K)",
    "aria-keyshortcuts": "Control+K Meta+K",
  });
  button.textContent = "Go to";
  button.addEventListener("click", open);
  tools.append(button);
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (event.key !== "k") return;
    event.preventDefault();
    if (box.open) box.close();
    else open();
  });
}

function attributes(element, values) {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
}

function open() {
  // Another dialog would stay above it, or below.
  for (const other of document.querySelectorAll("dialog[open]")) other.close();
  field.value = "";
  box.showModal();
  changed();
}

// What is known here is shown at once, what the server knows a moment later.
function changed() {
  clearTimeout(waiting);
  asking?.abort();
  show([...here(), ...further()]);
  waiting = setTimeout(threads, PAUSE);
}

function words() {
  return field.value.toLowerCase().split(/\s+/).filter(Boolean);
}

function matches(option) {
  const text = `${option.words} ${option.kind}`.toLowerCase();
  return words().every((word) => text.includes(word));
}

function here() {
  const links = (selector, kind) =>
    [...document.querySelectorAll(selector)].map((link) => ({
      words: link.textContent.trim(),
      kind,
      href: link.href,
    }));
  const commands = [...document.querySelectorAll("main .command [data-copy]")];
  return [
    ...commands.map((code) => ({
      words: code.textContent,
      kind: "copy",
      act: () => code.parentElement.querySelector("button.copy")?.click(),
    })),
    ...links("header nav a", "page"),
    ...saved.filters().map(({ name, href }) => ({ words: name, kind: "filter", href })),
    ...links(".switcher li a", "repository"),
    ...["colours", "show-keys"].map((id) => {
      const button = document.getElementById(id);
      return { words: button.title, kind: "setting", act: () => button.click() };
    }),
  ].filter(matches);
}

function further() {
  const text = field.value.trim();
  if (!text) return [];
  const url = new URL(document.querySelector("form.search").action);
  url.search = new URLSearchParams({ q: text });
  return [{ words: `Search entries for ${text}`, kind: "search", href: url.href }];
}

async function threads() {
  const url = new URL(document.getElementById("to-threads").href);
  const text = field.value.trim();
  if (text) url.search = new URLSearchParams({ filter: text });
  asking = new AbortController();
  try {
    const answer = await fetch(url, { cache: "no-store", signal: asking.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = [...page.querySelectorAll("main a[data-item]")].slice(0, MOST);
    const options = found.map((link) => ({
      words: link.querySelector(".title").textContent,
      topic: link.querySelector(".topic").textContent,
      kind: "thread",
      href: link.getAttribute("href"),
    }));
    // Without words, what one can do here comes first.
    const known = here();
    show(text ? [...options, ...known, ...further()] : [...known, ...options]);
  } catch {
    // Another letter came, or the server is gone, which the head of the page says.
  }
}

function show(options) {
  shown = options;
  const rows = options.map((option, place) => {
    const row = document.createElement("li");
    attributes(row, { id: `palette-${place}`, role: "option" });
    const name = document.createElement("span");
    name.textContent = option.words;
    name.dir = "auto";
    row.append(name);
    for (const [kind, text] of [["topic", option.topic], ["kind", option.kind]]) {
      if (!text) continue;
      const part = document.createElement("span");
      part.className = kind;
      part.textContent = text;
      row.append(" ", part);
    }
    return row;
  });
  list.replaceChildren(...rows);
  choose(0);
}

function choose(place) {
  chosen = Math.max(0, Math.min(place, shown.length - 1));
  for (const [at, row] of [...list.children].entries())
    row.setAttribute("aria-selected", String(at === chosen));
  const row = list.children[chosen];
  if (row) field.setAttribute("aria-activedescendant", row.id);
  else field.removeAttribute("aria-activedescendant");
  row?.scrollIntoView({ block: "nearest" });
}

function pressed(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) choose(chosen + by);
  else if (event.key === "Enter" && !event.isComposing) go(shown[chosen]);
  else return;
  event.preventDefault();
}

function clicked(event) {
  const row = event.target.closest?.("[role=option]");
  if (row) go(shown[[...list.children].indexOf(row)]);
  else if (event.target === box) box.close();
}

function go(option) {
  if (!option) return;
  box.close();
  if (option.href) location.href = option.href;
  else option.act();
}
