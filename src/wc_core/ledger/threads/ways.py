"""The ways by which entries came here: those that did not come with the branch of the
threads came with a carrier, which is a branch of the code."""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.lean.functools import lru_cache
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry

_NO_WAYS: Mapping[str, str] = MappingProxyType({})
# Names of branches are not longer.
_MOST_SHOWN = 255
# Of `harvested.jsonl`: more is not read.
_MAX_BYTES = 16 << 20
# Carriers fill the file, so that nobody may get rid of it by making it too large.
UNKNOWN = "an unknown branch"
_UNREADABLE = (ValueError, TypeError, LookupError, RecursionError)


def way(layout: Layout, entry_id: str) -> str:
    """The branch by which an entry came here, if not with that of the threads; usually
    empty.

    ``harvested.jsonl`` in the store has a line for each such entry: its id, and the
    branch. The file is a union like logs are. If it cannot be read, any entry may have
    come with a branch: `UNKNOWN`.
    """
    ways = _current_ways(layout)
    return UNKNOWN if ways is None else ways.get(entry_id, "")


def with_ways(entries: Iterable[Entry], layout: Layout) -> tuple[Entry, ...]:
    """The entries, each with the branch by which it came (``via``)."""
    ways = _current_ways(layout)
    if not ways:
        return tuple(entries)
    return tuple(
        entry if entry.via == ways.get(entry.id, "") else _marked(entry, ways)
        for entry in entries
    )


def _marked(entry: Entry, ways: Mapping[str, str]) -> Entry:
    return entry._replace(via=ways.get(entry.id, ""))


def via_text(branch: str) -> str:
    """How an entry came, as ``via claude/fix``; empty for the branch of the threads."""
    return f"via {branch}" if branch else ""


def _current_ways(layout: Layout) -> Mapping[str, str] | None:
    try:
        info = os.lstat(layout.harvested)
    except OSError:
        return _NO_WAYS
    return _ways(layout, (info.st_ino, info.st_size, info.st_mtime_ns))


@lru_cache(maxsize=8)
def _ways(layout: Layout, _: tuple[int, ...]) -> Mapping[str, str] | None:
    try:
        data = read_plain(layout.harvested, layout.root, _MAX_BYTES)
    except OSError:
        return None
    ways: dict[str, str] = {}
    for line in (data or b"").splitlines():
        try:
            fields = json.loads(line)
            branch = one_line(str(fields["via"]), _MOST_SHOWN)
            ways.setdefault(str(fields["entry"]), branch)
        except _UNREADABLE:
            continue
    return ways
