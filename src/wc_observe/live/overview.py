"""The threads of a store as one viewer sees them, kept in memory: only those
that changed are looked at again."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from wc_core.views import rows as views
from wc_core.views.overview import Overview

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.identity.viewer import Viewer
    from wc_core.names import Directory
    from wc_core.views.rows import Filter, ThreadRow
    from wc_observe.live.reader import LiveReader

# Above so many changed threads at once all of them are sorted anew.
_SORT_ANEW = 50
_MOST_FILTERS = 16


class LiveOverview(Overview):
    """The threads as one viewer sees them, kept up to date."""

    def __init__(self, reader: LiveReader, viewer: Viewer) -> None:
        super().__init__(reader, viewer)
        self._live = reader
        self._lock = reader.lock
        self._rows: dict[str, ThreadRow] = {}
        # From the least recent on, so that a row is put in its place quickly.
        self._sorted: list[ThreadRow] = []
        self._stale: set[str] = {*reader.known}
        self._matching: dict[Filter, list[ThreadRow]] = {}
        # How many threads were looked at of those that have to be.
        self.progress = (0, 0)

    def is_for(self, viewer: Viewer) -> bool:
        """Whether another viewer would see the same."""
        own: tuple[object, Directory] = (self.viewer.identity, self.viewer.directory)
        return own == (viewer.identity, viewer.directory)

    def forget(self, topics: Iterable[str]) -> None:
        """These threads changed."""
        with self._lock:
            self._stale.update(topics)

    def rows(self) -> list[ThreadRow]:
        """All threads, the latest move first."""
        with self._lock:
            self.reader.topics()  # says why, where they cannot be listed
            if self._stale:
                self._update()
                self._matching.clear()
            return self._sorted[::-1]

    def matching(self, wanted: Filter) -> list[ThreadRow]:
        """Those that a filter lets through, looked for once."""
        with self._lock:
            rows = self.rows()
            found = self._matching.get(wanted)
            if found is None:
                found = views.matching(rows, wanted, self.viewer)
                if len(self._matching) >= _MOST_FILTERS:
                    self._matching.clear()
                self._matching[wanted] = found
            return found

    def _update(self) -> None:
        stale, self._stale = self._stale, set()
        gone = {id(row) for one in stale if (row := self._rows.pop(one, None))}
        there = [one for one in self._live.known if one in stale]
        new = []
        for count, topic in enumerate(there):
            self.progress = (count, len(there))
            if (row := views.row_of(self.reader, topic, self.viewer)) is not None:
                new.append(row)
        self.progress = (len(there), len(there))
        self._rows.update((row.topic, row) for row in new)
        if len(stale) > _SORT_ANEW:
            self._sorted = sorted(self._rows.values(), key=views.recency)
            return
        self._sorted = [row for row in self._sorted if id(row) not in gone]
        for row in new:
            insort(self._sorted, row, key=views.recency)
