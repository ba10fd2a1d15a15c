"""The switch with which a person stops the waking of agents here, ``wc wake off``."""

from __future__ import annotations

import math

from wc_core.base.files import read_plain
from wc_core.base.text import whole_number
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

_MAX_DIGITS = 16


def off_until_ms(layout: Layout) -> float:
    """Returns until when no one must be woken, in milliseconds since 1970: infinity
    without an end, 0 if agents may be woken. An unreadable switch is off forever,
    because a person set it."""
    # The store's is of an older wc. What a push fills can only let agents sleep.
    return max(_until_ms(private_layout(layout)), _until_ms(layout))


def _until_ms(layout: Layout) -> float:
    try:
        data = read_plain(layout.wake_switch, layout.root, _MAX_DIGITS * 2)
    except OSError:
        return math.inf
    if data is None:
        return 0
    until = whole_number(data.decode(errors="replace").strip(), _MAX_DIGITS)
    return math.inf if until is None else until


def is_off(layout: Layout, now_ms: int) -> bool:
    """Returns whether no one must be woken now."""
    return off_until_ms(layout) > now_ms
