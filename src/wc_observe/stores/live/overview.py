"""A store's threads as one viewer sees them, kept in memory. Only changed threads are
computed again."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

from wc_core.reading.views import planning
from wc_core.reading.views import rows as row_views
from wc_core.reading.views.listing import thread_listing
from wc_core.reading.views.overview import Overview

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from wc_core.base.names import Directory
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import Filter, ThreadRow
    from wc_observe.stores.live.reader import LiveReader

# With more changed threads than this, everything is sorted again.
_SORT_ANEW = 50
# More threads than this are looked up in the index.
_MANY = 100
_MOST_FILTERS = 16


class LiveOverview(Overview):
    """The threads as one viewer sees them, kept up to date."""

    def __init__(self, reader: LiveReader, viewer: Viewer) -> None:
        super().__init__(reader, viewer)
        self._live = reader
        self._lock = reader.lock
        self._rows: dict[str, ThreadRow] = {}
        # Least recent first, so that bisect can insert a row.
        self._sorted: list[ThreadRow] = []
        # Latest first, with what each thread waits for.
        self._complete: list[ThreadRow] = []
        self._stale: set[str] = {*reader.listed_topics}
        self._matching: dict[Filter, list[ThreadRow]] = {}
        # How many threads were read, of how many.
        self.progress = (0, 0)

    def is_for(self, viewer: Viewer) -> bool:
        """Returns whether another viewer would see the same."""
        own: tuple[object, Directory] = (self.viewer.identity, self.viewer.directory)
        return own == (viewer.identity, viewer.directory)

    def forget(self, topics: Iterable[str]) -> None:
        """Marks threads as changed."""
        with self._lock:
            self._stale.update(topics)

    def rows(self) -> list[ThreadRow]:
        """Returns all threads, latest move first."""
        with self._lock:
            self.reader.topics()  # raises if they cannot be listed
            if self._stale:
                self._update()
                self._matching.clear()
                self._complete = planning.with_waits(self._sorted[::-1])
            return self.completed(list(self._complete))

    def topics(self, criteria: Filter) -> list[str]:
        """Like `Overview.topics`, from the rows in memory."""
        return [row.topic for row in self.matching(criteria)]

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Like `Overview.names`, from the rows in memory."""
        with self._lock:
            rows = self._rows
            return {
                topic: rows[topic].name if topic in rows else topic for topic in topics
            }

    def _first_page(self, *_: object) -> None:
        # All rows are in memory.
        return None

    def newest_and_matching(self, criteria: Filter) -> tuple[str, list[ThreadRow]]:
        """Like `Overview.newest_and_matching`; the result is cached."""
        with self._lock:
            self.rows()  # brings them up to date
            newest = self._complete[0].last_id if self._complete else ""
            rows = self._matching.get(criteria)
            if rows is None:
                rows = row_views.filter_rows(self._complete, criteria, self.viewer)
                if len(self._matching) >= _MOST_FILTERS:
                    self._matching.clear()
                self._matching[criteria] = rows
            return newest, self.completed(rows)

    def _listed(self, topics: list[str]) -> list[ThreadRow]:
        """Returns the rows of these threads; if there are many, from the index."""
        self.progress = (0, len(topics))
        rows = self._rows_of(topics)
        self.progress = (len(topics), len(topics))
        return rows

    def _rows_of(self, topics: list[str]) -> list[ThreadRow]:
        if len(topics) > _MANY:
            listing = thread_listing(self.reader, self.viewer, topics)
            self._live.note_listed(listing.survey)
            self._live.note_renamed(listing.renamed)
            return listing.rows
        rows = (
            row_views.listed_row(self.reader, topic, self.viewer) for topic in topics
        )
        return [row for row in rows if row is not None]

    def _update(self) -> None:
        stale, self._stale = self._stale, set()
        removed = {
            id(row) for changed in stale if (row := self._rows.pop(changed, None))
        }
        topics = [changed for changed in self._live.listed_topics if changed in stale]
        new = self._listed(topics)
        self._rows.update((row.topic, row) for row in new)
        if len(stale) > _SORT_ANEW:
            self._sorted = sorted(self._rows.values(), key=row_views.recency)
            return
        self._sorted = [row for row in self._sorted if id(row) not in removed]
        for row in new:
            insort(self._sorted, row, key=row_views.recency)
