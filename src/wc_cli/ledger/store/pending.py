"""Lists the threads of a store that await settling, and what prevents it."""

from __future__ import annotations

import os
import time

from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import topic_of
from wc_core.base.lean import contextlib, json
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

_OVERDUE_SECONDS = 60
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, RecursionError)


def unsettled_topics(layout: Layout) -> list[str]:
    """The threads of a store that await settling."""
    return [topic_of(name) for name in names_in(layout.unsettled, layout.root)]


def is_overdue(layout: Layout) -> bool:
    """Return whether a thread has waited longer than the background process takes."""
    for name in names_in(layout.unsettled, layout.root):
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - os.stat(f"{layout.unsettled}/{name}").st_mtime
            if age > _OVERDUE_SECONDS:
                return True
    return False


class Trouble(NamedTuple):
    """A problem of the last settling, at the time ``at``."""

    at: str
    problem: str


def last_trouble(root: str) -> Trouble | None:
    """The problem of the last settling; ``None`` if all went well."""
    layout = StoreReader(root).layout
    try:
        data = read_plain(layout.settling, layout.root)
        if data is None:
            return None
        if not data:
            return Trouble("an unknown time", "the disk was too full to record why")
        fields = json.loads(data)
        return Trouble(str(fields["at"]), str(fields["problem"]))
    except _UNREADABLE:
        return Trouble("an unknown time", "its report cannot be read")


def stuck_topics(layout: Layout) -> frozenset[str]:
    """The threads that could not be settled last time."""
    with contextlib.suppress(*_UNREADABLE):
        data = read_plain(layout.settling, layout.root) or b""
        return frozenset(json.loads(data)["threads"])
    return frozenset()
