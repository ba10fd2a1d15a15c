"""The switch by which a person stops that agents are woken here, ``wc wake off``."""

from __future__ import annotations

import math

from wc_core.files import read_plain
from wc_core.text import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.layout import Layout

_MAX_DIGITS = 16


def off_until_ms(layout: Layout) -> float:
    """Returns until when nobody is to be woken, in milliseconds since 1970: infinity
    if no end was named, 0 if agents may be woken. A switch that cannot be read is
    off forever: a person set it."""
    try:
        data = read_plain(layout.wake_switch, layout.root, _MAX_DIGITS * 2)
    except OSError:
        return math.inf
    if data is None:
        return 0
    until = whole_number(data.decode(errors="replace").strip(), _MAX_DIGITS)
    return math.inf if until is None else until


def is_off(layout: Layout, now_ms: int) -> bool:
    """Returns whether nobody is to be woken now."""
    return off_until_ms(layout) > now_ms
