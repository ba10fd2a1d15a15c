"""How wide the columns of a list are on a terminal, so that no line wraps."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_GAP = 2
_LEAST_TITLE = 12
_ENOUGH_TITLE = 24
# What is cut first, and to which width at least.
_CUT = {"ball": 12, "topic": 16}
_CUT_MORE = {"ball": 8, "topic": 10, "status": 10}
# Dropped in this order once cutting is not enough.
_DROPPED = ("entries", "age", "status", "ball", "title")


def fitted_widths(widths: Mapping[str, int], limit: int) -> dict[str, int]:
    """Returns the width of each column that fits into ``limit`` columns of a terminal,
    given how wide each would have to be. The last column takes what is left."""
    fitted = dict(widths)
    last_column = next(reversed(fitted))
    wish = min(fitted[last_column], _ENOUGH_TITLE)
    least = min(fitted[last_column], _LEAST_TITLE)
    for minimums, goal in ((_CUT, wish), (_CUT_MORE, least)):
        for name, minimum in minimums.items():
            if name in fitted and name != last_column:
                excess = max(0, _taken(fitted, last_column) + goal - limit)
                fitted[name] = max(min(fitted[name], minimum), fitted[name] - excess)
    for name in _DROPPED:
        if _taken(fitted, last_column) + least <= limit or len(fitted) <= _GAP:
            break
        if name != last_column:
            fitted.pop(name, None)
    fitted[last_column] = max(
        1, min(fitted[last_column], limit - _taken(fitted, last_column))
    )
    return fitted


def _taken(widths: Mapping[str, int], last: str) -> int:
    """Returns the room of all columns but the last one, with the gaps."""
    return sum(width + _GAP for name, width in widths.items() if name != last)
