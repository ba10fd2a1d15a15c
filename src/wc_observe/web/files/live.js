// Keeps the page up to date. When the server reports a change, this fetches the
// page again and replaces the parts that differ.

import { buttons } from "./copy.js";
import { morph } from "./morph.js";

const GONE = "Not connected: is wc-observe web still running?";
const RESTARTED = "The server was restarted: open the address that it printed.";
const UNITS = [
  ["w", 604800],
  ["d", 86400],
  ["h", 3600],
  ["m", 60],
];

const main = document.getElementById("content");
const state = document.createElement("span");
const said = document.createElement("p");
let stream = null;
let asking = null;
let again = 0;

export function start(tools) {
  state.id = "live";
  state.setAttribute("role", "status");
  tools.prepend(state);
  said.id = "said";
  said.className = "unseen";
  said.setAttribute("aria-live", "polite");
  document.body.append(said);
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", close);
  addEventListener("pageshow", follow);
  setInterval(ages, 20_000);
  // `wc read --seen` elsewhere causes no notification.
  setInterval(() => stream && refresh([]), 60_000);
  follow();
  later();
}

// A browser has six connections for all pages of one server, so only visible
// pages keep one.
function follow() {
  if (document.hidden) {
    close();
  } else if (!stream) {
    stream = new EventSource(document.body.dataset.events);
    stream.addEventListener("ready", ready);
    stream.addEventListener("changed", (event) => heard(JSON.parse(event.data)));
    stream.addEventListener("error", lost);
  }
}

// From now on no change is missed; fetch the earlier ones.
function ready() {
  show("live", "");
  refresh([]);
}

function close() {
  stream?.close();
  stream = null;
}

function lost() {
  show("lost", GONE);
  if (stream?.readyState === EventSource.CLOSED) {
    close();
    setTimeout(follow, 5000);
  }
}

function show(name, words) {
  state.dataset.was = name;
  state.textContent = words;
  state.title = words || "Live: changes show as they happen";
}

function heard(changes) {
  const topic = main.dataset.topic;
  if (topic && !changes.more && !changes.topics.includes(topic)) return;
  refresh(changes.topics);
}

// One request at a time; changes in the meantime cause another one.
export async function refresh(topics) {
  if (asking) {
    asking.topics.push(...topics);
    asking.again = true;
    return;
  }
  asking = { topics: [...topics], again: false };
  try {
    do {
      asking.again = false;
      await take();
    } while (asking.again);
    tell(asking.topics);
  } catch {
    show("lost", GONE);
  } finally {
    asking = null;
  }
}

async function take() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (answer.status === 403) {
    close();
    show("lost", RESTARTED);
    return;
  }
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = found.getElementById("content");
  if (!next) return;
  const focused = document.activeElement;
  const root = document.documentElement;
  const end = innerHeight + scrollY >= root.scrollHeight - 60 && scrollY > 0;
  morph(main, next);
  morph(document.getElementById("about"), found.getElementById("about"));
  document.title = found.title;
  buttons(main);
  ages();
  if (focused !== document.activeElement && focused?.id)
    document.getElementById(focused.id)?.focus({ preventScroll: true });
  if (end && main.dataset.topic) scrollTo(0, root.scrollHeight);
  later();
}

// Parts that are still being computed are requested again.
function later() {
  clearTimeout(again);
  const soon = main.querySelector("[data-again]");
  if (soon) again = setTimeout(() => refresh([]), Number(soon.dataset.again));
}

function tell(topics) {
  const unique = [...new Set(topics)];
  for (const topic of unique) {
    const row = document.getElementById(`i-${topic}`);
    row?.classList.add("moved");
    row?.addEventListener("animationend", () => row.classList.remove("moved"), {
      once: true,
    });
  }
  if (unique.length === 1) said.textContent = `${unique[0]} changed`;
  else if (unique.length) said.textContent = `${unique.length} threads changed`;
}

function ages() {
  for (const one of main.querySelectorAll("time[datetime]")) {
    const seconds = (Date.now() - Date.parse(one.dateTime)) / 1000;
    const unit = UNITS.find(([, length]) => seconds >= length);
    const words = unit ? `${Math.floor(seconds / unit[1])}${unit[0]}` : "now";
    if (one.textContent !== words) one.textContent = words;
  }
}
