// Saved filters. A filter is in the address of a list; saved ones are links to such
// addresses above it. They are kept by the browser, without the part of the address
// that is secret and different at each start.

const KEY = "wc-filters";
const LIST = "wc-list";
const PLACES = { "to-board": "board", "to-threads": "threads" };

const bar = document.createElement("nav");

export function start() {
  bar.id = "saved";
  bar.setAttribute("aria-label", "Saved filters");
  document.getElementById("content").before(bar);
  show();
}

export function filters() {
  return stored().map(({ place, query }) => {
    const url = new URL(document.getElementById(`to-${place}`).href);
    url.search = query;
    return { name: title(place, query), href: url.href };
  });
}

// Also after the address has changed.
export function show() {
  const link = document.querySelector("header nav a[aria-current=page]");
  const place = PLACES[link?.id];
  bar.hidden = !place;
  if (!place) return;
  const query = asked();
  remember();
  const links = filters().map(({ name, href }) => {
    const one = document.createElement("a");
    one.href = href;
    one.textContent = name;
    if (new URL(href).pathname === location.pathname && same(new URL(href).search, query))
      one.setAttribute("aria-current", "page");
    return one;
  });
  bar.replaceChildren(...links, ...(title(place, query) ? [button(place, query)] : []));
  bar.hidden = !bar.children.length;
}

function button(place, query) {
  const kept = stored();
  const others = kept.filter((one) => one.place !== place || !same(one.query, query));
  const isKept = others.length < kept.length;
  const one = document.createElement("button");
  one.type = "button";
  one.textContent = isKept ? "Remove this filter" : "Save this filter";
  one.addEventListener("click", () => {
    store(isKept ? others : [...kept, { place, query }]);
    show();
    bar.querySelector("button")?.focus();
  });
  return one;
}

function asked() {
  const query = new URLSearchParams(location.search);
  query.delete("cursor");
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return String(query);
}

function same(one, other) {
  const sorted = (text) => {
    const query = new URLSearchParams(text);
    query.sort();
    return String(query);
  };
  return sorted(one) === sorted(other);
}

function title(place, query) {
  const parts = [];
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "filter") parts.push(value);
    else if (name === "open") parts.push("open only");
    else if (name !== "sort") parts.push(`${name} ${value}`);
  }
  return parts.length ? `${parts.join(", ")} (${place})` : "";
}

// The list that a thread was opened from, with its filter.
function remember() {
  try {
    sessionStorage.setItem(LIST, location.pathname + location.search);
  } catch {
    // Storage is off: going back leads to the whole list.
  }
}

// Where to go back to: to this address, but with the filter that was there.
export function back(address) {
  const url = new URL(address, location.href);
  try {
    const list = new URL(sessionStorage.getItem(LIST) ?? "", location.href);
    if (list.pathname === url.pathname) url.search = list.search;
  } catch {
    // As above.
  }
  return url.href;
}

function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return kept.filter((one) => Object.values(PLACES).includes(one.place));
  } catch {
    return [];
  }
}

function store(kept) {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Storage is off: the filter is still in the address.
  }
}
