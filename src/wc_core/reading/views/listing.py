"""The rows of many threads, from the index if it is up to date, otherwise from their
files."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import topics_of
from wc_core.base.lean import json
from wc_core.base.names import FREE
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.planning.nextmoves import askers, moves_for
from wc_core.ledger.threads import aliases
from wc_core.ledger.threads.gates import Gate
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import (
    NO_REVIEW,
    Item,
    Link,
    OpenQuestion,
    Review,
    State,
)
from wc_core.lookup.index import overview
from wc_core.lookup.index.keys import NONE, thread_keys, word_keys
from wc_core.reading.views.rows import ThreadRow, listed_row, recency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer


# With more threads than this, the index is read, which has one line per thread.
_MANY = 100


class Listing(NamedTuple):
    """The rows of threads, latest move first, and facts about their files.

    ``renamed`` are the indexed threads that have more names than their topic.
    """

    rows: list[ThreadRow]
    survey: overview.Survey
    renamed: Collection[str] = ()


def thread_listing(
    reader: StoreReader, viewer: Viewer, topics: Iterable[str] | None = None
) -> Listing:
    """Returns all threads, or those with the ``topics``. If one is damaged, the others
    are still listed."""
    survey = overview.survey(reader, topics)
    source = RowMaker(reader, viewer)
    rows = [
        source.row(survey.records[topic])
        if topic in survey.records
        else listed_row(reader, topic, viewer)
        for topic in survey.keys
    ]
    readable = [row for row in rows if row is not None]
    readable.sort(key=recency, reverse=True)
    return Listing(readable, survey, source.renamed)


class NewestRows(NamedTuple):
    """The first rows of a list, its total, and the newest entry of all threads. ``end``
    has the last id and the topic of the last row, as of when the rows were chosen."""

    rows: list[ThreadRow]
    total: int
    newest_id: str
    end: tuple[str, str]
    survey: overview.Survey


def newest_rows(
    reader: StoreReader,
    viewer: Viewer,
    chooses: Callable[[str, str, str], bool],
    count: int,
) -> NewestRows | None:
    """Returns at most ``count`` threads that pass ``chooses`` with their last entry
    and status, latest move first, without examining the others further. ``None`` if
    some thread may wait for others: then all have to be examined."""
    # Tags are read only for the threads that are shown.
    survey = overview.survey(reader, annotations=False)
    newest_id = ""
    chosen: list[tuple[str, str]] = []
    unindexed: dict[str, ThreadRow] = {}
    for topic in survey.keys:
        record = survey.records.get(topic)
        if record is not None:
            if overview.may_wait(record):
                return None
            last_id, status = overview.last_id_and_status(record)
        else:
            row = listed_row(reader, topic, viewer)
            if row is None:
                continue
            if row.links or row.gates:
                return None
            unindexed[topic] = row
            last_id, status = row.last_id, row.status
        newest_id = max(newest_id, last_id)
        if chooses(topic, last_id, status):
            chosen.append((last_id, topic))
    chosen.sort(reverse=True)
    shown = chosen[:count]
    records = {
        topic: survey.records[topic] for _, topic in shown if topic not in unindexed
    }
    rows = unindexed | _indexed_rows(reader, viewer, records)
    end = shown[-1] if shown else ("", "")
    return NewestRows(
        [rows[topic] for _, topic in shown], len(chosen), newest_id, end, survey
    )


def _indexed_rows(
    reader: StoreReader, viewer: Viewer, records: Mapping[str, str]
) -> dict[str, ThreadRow]:
    """Returns the rows of threads whose records are up to date except for annotations.
    Those with other annotations are read from their files."""
    keys = thread_keys(reader.layout, records)
    source = RowMaker(reader, viewer)
    rows = {}
    for topic, record in records.items():
        is_true = overview.is_true(record, topic, keys.get(topic, NONE))
        row = None if is_true else listed_row(reader, topic, viewer)
        rows[topic] = row or source.row(record)
    return rows


def thread_logs(reader: StoreReader, viewer: Viewer) -> dict[str, str]:
    """Returns each thread, with the key of its words (`keys.words_part`) if it has a
    log."""
    topics, folders = reader.topics_and_folders()
    keys = word_keys(reader.layout, topics, folders)
    return {
        topic: key
        for topic in topics
        if (key := keys.get(topic, NONE))
        or listed_row(reader, topic, viewer) is not None
    }


def thread_names(
    reader: StoreReader, viewer: Viewer, topics: Collection[str]
) -> dict[str, str]:
    """Returns the names of threads, by topic; if there are many, from the index."""
    if len(topics) > _MANY:
        rows: Iterable[ThreadRow | None] = thread_rows(reader, viewer, topics)
    else:
        rows = (listed_row(reader, topic, viewer) for topic in topics)
    names = {row.topic: row.name for row in rows if row is not None}
    return {topic: names.get(topic, topic) for topic in topics}


def thread_rows(
    reader: StoreReader, viewer: Viewer, topics: Iterable[str] | None = None
) -> list[ThreadRow]:
    """Returns the rows of `thread_listing`."""
    return thread_listing(reader, viewer, topics).rows


class RowMaker:
    """Makes the rows of one list."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self.renamed: list[str] = []
        self._least_new: dict[str, int | None] = {}
        self._reader = reader
        self._viewer = viewer
        try:
            folder = f"{reader.layout.local}/cursors"
            self._read = set(topics_of(names_in(folder, reader.layout.root)))
        except WcError:
            self._read = set()  # wc doctor reports what is in its place

    def row(self, record: str) -> ThreadRow:
        """Returns the row of a thread with this record in the index."""
        topic, _, last_id, status, ball, title, at, by, branch, total, new, more = (
            overview.fields_of(record)
        )
        count = int(total)
        row = ThreadRow(
            topic,
            title,
            status,
            ball or None,
            utc(at),
            count,
            self._viewer.whose(ball) if ball else FREE,
            self._new(topic, count, new),
            branch,
            last_id,
            False,
            False,
            by,
            topic,
            own_tag=self._viewer.identity.own_tag,
        )
        return self._complete(row, more) if more else row

    def _complete(self, row: ThreadRow, more: str) -> ThreadRow:
        """Returns the row with the fields that only few threads have."""
        fields: dict[str, Any] = json.loads(more)
        if "names" in fields:
            self.renamed.append(row.topic)
        state = State(
            row.topic,
            status=row.status,
            names=tuple(fields.get("names", ())),
            questions=tuple(
                OpenQuestion(*item) for item in fields.get("questions", ())
            ),
        )
        return row._replace(
            forked="forked" in fields,
            damaged="damaged" in fields,
            name=aliases.name_of(self._reader, state),
            tags=tuple(fields.get("tags", ())),
            links=tuple(Link(*item) for item in fields.get("links", ())),
            gates=tuple(Gate(*item) for item in fields.get("gates", ())),
            asked_by=askers(moves_for(self._viewer.holds, state)),
            checklist=progress([Item(*item) for item in fields.get("items", ())]),
            review=Review(*fields["review"]) if "review" in fields else NO_REVIEW,
            landing=Landing(*fields["landing"]) if "landing" in fields else NO_LANDING,
        )

    def _new(self, topic: str, count: int, column: str) -> int:
        """Returns the number of entries new for the viewer, like `Viewer.new_count`."""
        if column not in self._least_new:
            # Kept: many threads have the same few participants and entries.
            self._least_new[column] = overview.least_new(column, self._viewer.is_me)
        least = self._least_new[column]
        least = count if least is None else min(least, count)
        if not least or topic not in self._read:
            return least
        cursor = self._reader.cursor(topic, self._viewer.key)
        return min(least, max(0, count - cursor.entry_count))
