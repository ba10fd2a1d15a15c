"""How many tokens may be spent on a thread.

The count is what a model read for the first time and what it wrote. Tokens from its
cache cost a tenth or so and would be most of the number.
"""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.errors import InvalidInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.names import Directory, Name
    from wc_core.ledger.threads.model import State
    from wc_core.people.cost.ledger import CostRow

_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_MAX_TOKENS = 10**12
_MAX_LENGTH = 15


def parse(text: str) -> int:
    """A number of tokens: ``200000``, ``200k``, ``1.5m``. Raises InvalidInputError."""
    word = text.strip().lower().replace("_", "").replace(",", "")
    unit = word[-1:] if word[-1:] in {"k", "m"} else ""
    number = word.removesuffix(unit)
    whole, _, fraction = number.partition(".")
    is_number = (whole + fraction).isascii() and (whole + fraction).isdecimal()
    if is_number and whole and len(number) <= _MAX_LENGTH:
        tokens = round(float(number) * _UNITS[unit])
        if 0 < tokens <= _MAX_TOKENS:
            return tokens
    raise InvalidInputError(
        f"{text!r} is not a number of tokens.", "Write 200k, 1.5m or 200000."
    )


def spent(rows: Iterable[CostRow], topic: str) -> int:
    """The tokens spent on a thread."""
    return sum(
        row.spent.usage.total - row.spent.usage.cache_read
        for row in rows
        if row.topic == topic
    )


def person_for(state: State, me: Name, directory: Directory) -> str:
    """The person who gets the ball when a budget is spent: the asker, or the person
    whose agent asked; otherwise the one whose agent I am, or I; otherwise anyone."""
    asker = names.parse(state.asker)
    if state.asker and not directory.is_agent(asker):
        return state.asker
    own = "anyone" if directory.is_agent(me) else str(me)
    return asker.tag or me.tag or own
