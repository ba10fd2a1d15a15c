"""The checklist of a thread: items that are checked off one by one, and never move the
ball. Numbers are positions in the list, from 1."""

from __future__ import annotations

from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.text import whole_number
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import Item, State

MAX_ITEMS = 200
_MAX_DIGITS = 6


class ChecklistProgress(NamedTuple):
    """How many items of a checklist are done."""

    done: int
    total: int

    def __str__(self) -> str:
        """``3/5``; empty if there is no checklist."""
        return f"{self.done}/{self.total}" if self.total else ""


NO_CHECKLIST = ChecklistProgress(0, 0)


def progress(items: Sequence[Item]) -> ChecklistProgress:
    """How many of the items are done."""
    if not items:
        return NO_CHECKLIST
    return ChecklistProgress(sum(bool(item.checked) for item in items), len(items))


def to_json(items: Sequence[Item]) -> dict[str, Any]:
    """The checklist shape."""
    items_shown = [
        {"number": number, "text": item.text, "done": bool(item.checked)}
        for number, item in enumerate(items, 1)
    ]
    return {**progress(items)._asdict(), "items": items_shown}


def lines(items: Sequence[Item], most: int = MAX_ITEMS) -> list[str]:
    """One line per item, ``2. [x] text``, at most this many, with the texts as
    written."""
    items_shown = [
        f"{number}. [{'x' if item.checked else ' '}] {item.text}"
        for number, item in enumerate(items[:most], 1)
    ]
    hidden = len(items) - len(items_shown)
    return [*items_shown, *([f"… and {hidden} more"] if hidden > 0 else [])]


def numbered_items(state: State, numbers: Iterable[str]) -> list[Item]:
    """The items with these numbers, without repetition; words that are no numbers stand
    for the only item with all of them. Raises InvalidInputError for words of no item or
    of several, ConflictError if there is no such number."""
    chosen = []
    words = [text for text in numbers if _number(text) is None]
    if words:
        chosen.append(_item_with(state, " ".join(words)))
    for written in dict.fromkeys(numbers):
        number = _number(written)
        if number is None:
            continue
        if not 0 < number <= len(state.items):
            count = len(state.items)
            numbers_text = f"its items are 1 to {count}" if count else "it has none"
            raise ConflictError(
                f"The checklist of {state.name} has no item {number}: {numbers_text}.",
                f"Nothing was written. See them: wc checklist {state.name}",
            )
        chosen.append(state.items[number - 1])
    return list(dict.fromkeys(chosen))


def _number(written: str) -> int | None:
    return whole_number(written.removeprefix("#"), _MAX_DIGITS)


def _item_with(state: State, words: str) -> Item:
    """The only item with all of these words."""
    parts = words.casefold().split()
    items = [
        item
        for item in state.items
        if all(word in item.text.casefold() for word in parts)
    ]
    if len(items) == 1:
        return items[0]
    count = f"{len(items)} items have" if items else "no item has"
    raise InvalidInputError(
        f"{words!r} is not the number of an item, and {count} these words.",
        f"See the numbers: wc checklist {state.name}",
    )


def check_room(state: State, added: int) -> None:
    """Raise ConflictError if this many more items would make a checklist too long."""
    if len(state.items) + added > MAX_ITEMS:
        raise ConflictError(
            f"The checklist of {state.name or state.topic} would have "
            f"{len(state.items) + added} items; it can have {MAX_ITEMS}.",
            "Nothing was written. Make threads of some of them: wc new TOPIC --parent "
            f"{state.name or state.topic}",
        )
