"""The checklist of a thread: boxes that are ticked one by one, and never move the ball.
Numbers are positions in the list, from 1."""

from __future__ import annotations

from wc_core.base.errors import ConflictError
from wc_core.base.text import whole_number
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_core.ledger.threads.model import Item, State

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


def numbered_items(state: State, numbers: Iterable[str]) -> Iterator[Item]:
    """The items with these numbers. Raises ConflictError if there is no such number."""
    for written in dict.fromkeys(numbers):
        number = whole_number(written.removeprefix("#"), _MAX_DIGITS) or 0
        if not 0 < number <= len(state.items):
            count = len(state.items)
            numbers_text = f"its items are 1 to {count}" if count else "it has none"
            raise ConflictError(
                f"The checklist of {state.name} has no item {written!r}: "
                f"{numbers_text}.",
                "Nothing was written. Items are lines such as - [ ] a step in its "
                f"first entry: wc read {state.name}",
            )
        yield state.items[number - 1]
