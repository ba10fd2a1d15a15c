"""The state of one thread at one moment, and how far a participant has read it."""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.projections import Meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.errors import Damage
    from wc_core.ledger.threads.model import State


class Snapshot(NamedTuple):
    """The state of one thread at one moment.

    ``log_size`` is -1 for a thread without a log. ``fresh`` says that the state came
    from ``meta.json``; then the log was not searched for damage, and only damage that
    ``meta.json`` mentions is reported. ``unknown`` has the keys of other tools in
    ``meta.json``. ``name`` is the thread's name in its store, see `aliases`; ``tags``
    include those of an older tool.
    """

    state: State
    log_size: int
    fresh: bool
    damage: tuple[Damage, ...] = ()
    unknown: Mapping[str, Any] = MappingProxyType({})
    meta: Meta = Meta()
    name: str = ""
    tags: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The thread's slug."""
        return self.state.topic


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
