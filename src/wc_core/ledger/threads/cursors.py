"""Read cursors: how far each participant has read a thread on this machine."""

from __future__ import annotations

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple

_ERRORS = (
    *(OSError, ValueError, TypeError, KeyError),
    *(OverflowError, RecursionError),
)


class Cursor(NamedTuple):
    """How far a participant has read: the heads at that time, and the entry count.

    ``key`` is the participant's, see `names.Directory.key`.
    """

    key: str
    heads: tuple[str, ...] = ()
    entry_count: int = 0


def read_cursor(path: str, root: str) -> Cursor | None:
    """Read the cursor in a file; ``None`` if there is none, or it cannot be read.

    Cursors are a convenience on one machine. Without one, nothing was read.
    """
    try:
        fields = json.loads(read_plain(path, root) or b"null")
        heads = tuple(map(str, fields["heads"]))
        return Cursor(str(fields["key"]), heads, int(fields["count"]))
    except _ERRORS:
        return None
