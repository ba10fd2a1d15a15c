"""The time of each participant's last visit.

``.local/visits/<participant>`` is an empty file. Its modification time is when the
participant last wrote, or one of their sessions had a prompt or stopped.
"""

from __future__ import annotations

import os

from wc_core.base.layout import VISITS, safe_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

# For a participant who was never here, or longer ago than that.
_LONGEST_MS = 7 * 24 * 3600 * 1000


def visit_file(key: str) -> str:
    """Returns the file of a participant, relative to ``.local``."""
    return f"{VISITS}/{safe_name(key)}"


def last_visit_ms(layout: Layout, key: str, now_ms: int) -> int:
    """Returns when a participant was last here, at most a week ago, in milliseconds
    since 1970."""
    longest = now_ms - _LONGEST_MS
    try:
        info = os.lstat(f"{layout.local}/{visit_file(key)}")
    except OSError:
        return longest
    return max(longest, info.st_mtime_ns // 1_000_000)
