"""Boxes in the text of a thread's first entry: ``- [ ] a step``."""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.ledger.threads.model import Item

# A text can have any number, and a state has to stay small.
_MOST = 200
_FENCES = ("```", "~~~")
_BULLETS = ("- [", "* [", "+ [")


class Box(NamedTuple):
    """A box: its line and the place of its mark there, whether it is ticked, and its
    text."""

    line: int
    mark: int
    is_ticked: bool
    text: str


def boxes_of(body: str) -> Iterator[Box]:
    """The boxes of a markdown text, without those in code blocks."""
    if not any(bullet in body for bullet in _BULLETS):
        return
    fence, count = "", 0
    for number, line in enumerate(body.split("\n")):
        words = line.lstrip()
        if fence or words[:3] in _FENCES:
            fence = "" if fence and words.startswith(fence) else fence or words[:3]
        elif words[:3] in _BULLETS and words[3:4] in {" ", "x", "X"}:
            text = words[5:].strip()
            if words[4:6] == "] " and text and count < _MOST:
                count += 1
                mark = len(line) - len(words) + 3
                yield Box(number, mark, words[3] != " ", text)


def with_ticks(body: str, items: Sequence[Item]) -> str:
    """The text of a first entry with the marks that its boxes have now. Items that an
    older version kept apart from the text follow it."""
    lines = body.split("\n")
    pending = list(items)
    for box, item in zip(boxes_of(body), items, strict=False):
        if item.text != box.text:
            break
        line = lines[box.line]
        mark = "x" if item.checked else " "
        lines[box.line] = f"{line[: box.mark]}{mark}{line[box.mark + 1 :]}"
        pending.pop(0)
    apart = [f"- [{'x' if item.checked else ' '}] {item.text}" for item in pending]
    return "\n".join([*lines, *([""] if body and apart else []), *apart]).lstrip("\n")
