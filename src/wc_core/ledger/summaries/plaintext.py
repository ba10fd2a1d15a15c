"""Markdown as plain text: the text of a line without the marks.

It knows only the usual marks. Anything unknown stays unchanged. It does without `re`,
which takes 4 ms to import: `wc brief` uses it nowhere else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SPECIAL = "\\`*_~[]!<"
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_NAMES = (
    "a b blockquote br center code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i "
    "img ins kbd li mark ol p pre s small span strike strong sub summary sup table "
    "tbody td th thead tr tt u ul"
)
_TAGS = frozenset(_NAMES.split())
_LONGEST_LINK = 300


def plain_text(text: str) -> str:
    """Returns the text of a line of markdown: what a link shows, not where it leads;
    code and emphasis without their marks."""
    if not any(mark in text for mark in _SPECIAL):
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        take = _TAKERS.get(text[at])
        if take is None:
            end = _next_special(text, at)
            parts.append(text[at:end])
        else:
            part, end = take(text, at)
            parts.append(part)
        at = end
    return "".join(parts)


def _next_special(text: str, at: int) -> int:
    while at < len(text) and text[at] not in _TAKERS:
        at += 1
    return at


# Each takes the text and the place of a mark, and returns the plain text there, and
# where to continue.


def _escaped(text: str, at: int) -> tuple[str, int]:
    following = text[at + 1 : at + 2]
    return (following, at + 2) if following in _PUNCTUATION else ("\\", at + 1)


def _code(text: str, at: int) -> tuple[str, int]:
    end = at
    while text[end : end + 1] == "`":
        end += 1
    mark = text[at:end]
    close = text.find(mark, end)
    if close < 0:
        return "", end
    return text[end:close].strip().replace("`", ""), close + len(mark)


def _emphasis(text: str, at: int) -> tuple[str, int]:
    mark, end = text[at], at
    while text[end : end + 1] == mark:
        end += 1
    run = text[at:end]
    before, after = text[at - 1 : at], text[end : end + 1]
    alone = not before.strip() and not after.strip()
    within = mark == "_" and before.isalnum() and after.isalnum()
    single_tilde = run == "~"
    is_text = within or single_tilde or (alone and len(run) == 1)
    return (run if is_text else "", end)


def _image(text: str, at: int) -> tuple[str, int]:
    if text[at + 1 : at + 2] != "[":
        return "!", at + 1
    return _link(text, at + 1)


def _link(text: str, at: int) -> tuple[str, int]:
    close = _closing(text, at, "[", "]")
    if close < 0:
        return "[", at + 1
    label, end = text[at + 1 : close], close + 1
    opening = text[end : end + 1]
    if opening in {"(", "["}:
        target_end = _closing(text, end, opening, ")" if opening == "(" else "]")
        if target_end >= 0:
            return plain_text(label), target_end + 1
    if label in {" ", "x", "X"}:
        return "", end  # the box of a task
    return f"[{plain_text(label)}]", end


def _closing(text: str, at: int, opening: str, closing: str) -> int:
    """The place of the bracket that closes the one at ``at``, -1 if there is none."""
    depth = 0
    for place in range(at, min(len(text), at + _LONGEST_LINK)):
        if text[place] == opening:
            depth += 1
        elif text[place] == closing:
            depth -= 1
            if not depth:
                return place
    return -1


def _tag(text: str, at: int) -> tuple[str, int]:
    end = text.find(">", at)
    inner = text[at + 1 : end] if end >= 0 else ""
    if inner.startswith("!--"):
        close = text.find("-->", at)
        return "", close + 3 if close >= 0 else len(text)
    if inner.startswith(("http://", "https://", "mailto:")) and " " not in inner:
        return inner, end + 1
    name = inner.removeprefix("/").rstrip("/").split(maxsplit=1)
    if name and name[0].casefold() in _TAGS:
        return " ", end + 1
    return "<", at + 1


_TAKERS: Mapping[str, Callable[[str, int], tuple[str, int]]] = {
    "\\": _escaped,
    "`": _code,
    "*": _emphasis,
    "_": _emphasis,
    "~": _emphasis,
    "!": _image,
    "[": _link,
    "<": _tag,
}
