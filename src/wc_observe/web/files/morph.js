// Makes one part of a page equal to another, touching only the differences, so that
// selection, focus and scroll position stay.

export function morph(from, to) {
  if (from.isEqualNode(to)) return;
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) {
    from.replaceWith(to);
  } else if (from.nodeType === Node.ELEMENT_NODE) {
    attributes(from, to);
    children(from, to);
  } else {
    from.data = to.data;
  }
}

function attributes(from, to) {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !(name === "open" && from.nodeName === "DETAILS"))
      from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
}

function children(from, to) {
  const known = new Map();
  for (const one of from.children) if (one.id) known.set(one.id, one);
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const match = wanted.id ? known.get(wanted.id) : likely(at, wanted);
    if (!match) {
      from.insertBefore(wanted, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else from.insertBefore(match, at);
    morph(match, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

const likely = (at, wanted) =>
  at && !at.id && at.nodeName === wanted.nodeName ? at : null;
