"""The rows of many threads, from the cache as far as it counts, else from their
files."""

from __future__ import annotations

from wc_core.attention.status.newcounts import NewCounts
from wc_core.base.lean import json
from wc_core.base.names import FREE
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.fields import state_of
from wc_core.ledger.index.freshness import CacheState, freshness
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.planning.nextmoves import askers, moves_for
from wc_core.ledger.threads import aliases
from wc_core.reading.views.rows import ThreadRow, listed_row, recency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any, TypeVar

    from wc_core.ledger.index.fields import ThreadFields
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

    Answer = TypeVar("Answer")

# Every version of SQLite allows this many values in a query.
_MOST_VALUES = 900
# Each ball once, without reading every thread.
_BALLS = (
    "WITH RECURSIVE held(ball) AS (SELECT min(ball) FROM threads UNION ALL SELECT "
    "(SELECT min(ball) FROM threads WHERE ball > held.ball) FROM held "
    "WHERE held.ball IS NOT NULL) SELECT ball FROM held WHERE ball IS NOT NULL"
)


class Selection(NamedTuple):
    """A condition on the rows of ``threads`` in the cache, in SQL, and its values."""

    condition: str = "true"
    values: tuple[str, ...] = ()

    def either(self, column: str, accepted: Iterable[str]) -> Selection:
        """Returns this condition or that a column has one of these values."""
        values = tuple(accepted)
        if not values:
            return self
        return Selection(
            f"({self.condition} OR {column} IN ({_marks(values)}))",
            (*self.values, *values),
        )

    def both(self, second: Selection) -> Selection:
        """Returns this condition and another."""
        condition = f"{self.condition} AND {second.condition}"
        return Selection(condition, (*self.values, *second.values))


EVERYTHING = Selection()


class NewestRows(NamedTuple):
    """The first rows of a list, and its total."""

    rows: list[ThreadRow]
    total: int


class Listing:
    """The threads of a store at one moment, as one viewer sees them. If one is damaged,
    the others are still listed. Methods may raise StorageError and CorruptError."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self._reader = reader
        self._viewer = viewer
        self._maker = RowMaker(reader, viewer)
        self.freshness = freshness(reader)
        self._read: dict[str, ThreadRow] | None = None

    def rows(self, selection: Selection = EVERYTHING) -> list[ThreadRow]:
        """Returns the threads that a selection passes and those that are read from
        their files, latest move first."""
        rows = self._answer(lambda: self._selected(selection))
        rows += self.direct_rows()
        rows.sort(key=recency, reverse=True)
        return rows

    def rows_at(self, topics: Iterable[str]) -> list[ThreadRow]:
        """Returns those of these threads that exist, latest move first."""
        chosen = {*topics}
        rows = self._answer(lambda: self._at(chosen))
        cached = {row.topic for row in rows}
        missing = (listed_row(self._reader, t, self._viewer) for t in chosen - cached)
        rows += [row for row in missing if row is not None]
        rows.sort(key=recency, reverse=True)
        return rows

    def newest(
        self, selection: Selection, passes: Callable[[ThreadRow], bool], count: int
    ) -> NewestRows:
        """Returns the first ``count`` threads of a ``selection`` that lets nothing else
        pass, and how many it has. Of the threads that are read from their files, those
        count that ``passes`` lets pass."""
        direct = [row for row in self.direct_rows() if passes(row)]
        rows, total = self._answer(lambda: self._newest(selection, count))
        chosen = sorted([*rows, *direct], key=recency, reverse=True)
        return NewestRows(chosen[:count], total + len(direct))

    def newest_id(self) -> str:
        """Returns the id of the newest entry; empty if there is none."""
        rows = self._answer(lambda: self._newest(EVERYTHING, 1)[0])
        return max((row.last_id for row in [*rows, *self.direct_rows()]), default="")

    def planned(self) -> list[ThreadRow]:
        """Returns the threads with links or gates, and those that they are linked
        to."""
        planned = [
            *self._answer(lambda: self._selected(Selection("planned"))),
            *(row for row in self.direct_rows() if row.links or row.gates),
        ]
        own = {row.topic for row in planned}
        targets = {link.topic for row in planned for link in row.links} - own
        return [*planned, *self.rows_at(targets)] if targets else planned

    def balls(self) -> list[str]:
        """Returns everyone who has a ball in the cache."""
        return self._answer(lambda: [ball for (ball,) in self._ask(_BALLS)])

    def direct_rows(self) -> list[ThreadRow]:
        """Returns the threads that are read from their files."""
        if self._read is None:
            rows = (
                listed_row(self._reader, topic, self._viewer)
                for topic in self.freshness.direct
            )
            self._read = {row.topic: row for row in rows if row is not None}
        return [*self._read.values()]

    def _answer(self, query: Callable[[], Answer]) -> Answer:
        """Returns the answer of a query; if the cache cannot give it, from the files of
        all threads."""
        try:
            return query()
        except UnusableCacheError:
            self.freshness, self._read = CacheState(None, self._reader.topics()), None
            return query()

    def _ask(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        cache = self.freshness.cache
        return [] if cache is None else cache.ask(question, *values)

    def _selected(self, selection: Selection, order: str = "") -> list[ThreadRow]:
        """The threads in the cache that count."""
        conditions = f"WHERE {selection.condition}{order}"
        fields = self.freshness.fields(conditions, *selection.values)
        return [*map(self._maker.row, fields)]

    def _at(self, topics: Collection[str]) -> list[ThreadRow]:
        if len(topics) > _MOST_VALUES:
            return [row for row in self._selected(EVERYTHING) if row.topic in topics]
        condition = f"topic IN ({_marks(topics)})"
        return self._selected(Selection(condition, (*topics,)))

    def _newest(self, selection: Selection, count: int) -> tuple[list[ThreadRow], int]:
        outdated = self.freshness.outdated
        order = f" ORDER BY last_id DESC, topic DESC LIMIT {count + len(outdated)}"
        rows = self._selected(selection, order)[:count]
        if len(rows) < count:
            return rows, len(rows)
        condition, values = selection
        counted = f"SELECT count(*) FROM threads WHERE {condition}"
        numbers = self._ask(counted, *values)
        if outdated:
            for topic in outdated:
                stale = self._ask(f"{counted} AND topic = ?", *values, topic)
                numbers += [(-number,) for (number,) in stale]
        return rows, sum(number for (number,) in numbers)


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))


class RowMaker:
    """Makes the rows of one list from the cache."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self._reader = reader
        self._viewer = viewer
        self._counts = NewCounts(reader, viewer)

    def row(self, fields: ThreadFields) -> ThreadRow:
        """Returns the row of a thread."""
        ball, count = fields.ball, fields.entry_count
        row = ThreadRow(
            fields.topic,
            fields.title,
            fields.status,
            ball,
            utc(fields.updated_at),
            count,
            self._viewer.whose(ball) if ball is not None else FREE,
            self._counts.of(fields),
            fields.branch,
            fields.last_id,
            False,
            False,
            fields.updated_by,
            fields.topic,
            own_tag=self._viewer.identity.own_tag,
        )
        return self._complete(row, fields) if fields.more else row

    def _complete(self, row: ThreadRow, fields: ThreadFields) -> ThreadRow:
        """Returns the row with the fields that only few threads have."""
        state = state_of(fields)
        extra: dict[str, Any] = json.loads(fields.more)
        return row._replace(
            forked="forked" in extra,
            damaged="damaged" in extra,
            name=aliases.name_of(self._reader, state),
            tags=state.tags,
            links=state.links,
            gates=state.gates,
            asked_by=askers(moves_for(self._viewer.holds, state)),
            checklist=progress(state.items),
            review=state.review,
            landing=state.landing,
        )
