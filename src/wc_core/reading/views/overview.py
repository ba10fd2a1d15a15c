"""The threads of a store as one viewer sees them, in pages with cursors."""

from __future__ import annotations

import os

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.lean import contextlib
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.git import repository
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.landing import (
    NEWER,
    LandingBranches,
    counted_review,
    landing_obstacles,
)
from wc_core.ledger.provenance import Provenance
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.ledger.threads.ways import way
from wc_core.lookup.index.keys import word_keys
from wc_core.reading.views import rows as row_views
from wc_core.reading.views.listing import (
    newest_rows,
    thread_listing,
    thread_logs,
    thread_names,
)
from wc_core.reading.views.rows import Filter, RowPage, recency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.lookup.index.overview import Survey
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import ThreadRow

# At most this many logs are read to restore the order of an earlier page.
_MOST_MOVED = 300
# The characters that cursors contain as they are.
_PLAIN = frozenset("-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


class Overview:
    """A store as one viewer sees it. Every query reads it again. ``note_unindexed``
    gets the number of threads that had to be read because the index lacks them."""

    def __init__(
        self,
        reader: StoreReader,
        viewer: Viewer,
        note_unindexed: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.reader = reader
        self.viewer = viewer
        self.note_unindexed = note_unindexed
        self._keys: Mapping[str, str] = {}

    def rows(self) -> list[ThreadRow]:
        """Returns all threads, latest move first. If one is damaged, the others are
        still listed."""
        rows = self._read()
        if any(row.links or row.gates for row in rows):
            # 2 ms, only for stores with a plan
            from wc_core.reading.views import planning

            rows = planning.with_waits(rows)
        return self.completed(rows)

    def _read(self, topics: Iterable[str] | None = None) -> list[ThreadRow]:
        """The threads of the store, or those with the ``topics``, latest move first."""
        listing = thread_listing(self.reader, self.viewer, topics)
        self._note(listing.survey)
        return listing.rows

    def _note(self, survey: Survey) -> None:
        self._keys = survey.keys
        self.note_unindexed(survey.unindexed)

    def keys(self, topics: Iterable[str]) -> Mapping[str, str]:
        """Returns the key of each of these threads, or at least the part about its
        words, as of the last request for rows or topics; for other threads, the current
        key."""
        missing = [topic for topic in topics if topic not in self._keys]
        if missing:
            found = word_keys(self.reader.layout, missing)
            self._keys = {**self._keys, **found}
        return self._keys

    def completed(self, rows: list[ThreadRow]) -> list[ThreadRow]:
        """Returns the rows with what the threads do not say, see `completed`."""
        return completed(self.reader, rows, self.viewer)

    def plan(self) -> ThreadPlan:
        """Returns what all threads currently wait for."""
        from wc_core.reading.views import planning  # as in `rows`

        return planning.plan_of(self.rows())

    def matching(self, criteria: Filter) -> list[ThreadRow]:
        """Returns the threads that pass a filter, latest move first."""
        return self.newest_and_matching(criteria)[1]

    def topics(self, criteria: Filter) -> list[str]:
        """Returns the threads that pass a filter, in any order."""
        if criteria != row_views.ANYTHING:
            return [row.topic for row in self.matching(criteria)]
        self._keys = thread_logs(self.reader, self.viewer)
        return [*self._keys]

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Returns the names of threads, by topic."""
        return thread_names(self.reader, self.viewer, topics)

    def newest_and_matching(self, criteria: Filter) -> tuple[str, list[ThreadRow]]:
        """Returns the id of the newest entry, and the result of `matching`, from one
        reading of the store."""
        rows = self._candidates(criteria)
        newest = rows[0].last_id if rows else ""
        return newest, row_views.filter_rows(rows, criteria, self.viewer)

    def _candidates(self, criteria: Filter) -> list[ThreadRow]:
        """Returns the threads that may pass a filter, latest move first. In a store
        that is read from its files, no others need to be read."""
        # A thread may wait for any other one.
        if criteria.topics is None or os.path.isdir(self.reader.layout.links):
            return self.rows()
        return self.completed(self._read(criteria.topics))

    def page(self, criteria: Filter, limit: int, cursor: str = "") -> RowPage:
        """Returns at most ``limit`` rows (0: all) from ``cursor`` on.

        Following the cursors returns each thread that existed at the start exactly
        once, whatever is written in the meantime: threads keep the order they had then.
        Raises InvalidInputError for the cursor of something else.
        """
        first = None if cursor or not limit else self._first_page(criteria, limit)
        if first is not None:
            return first
        position: list[str] = []
        if cursor:
            start, *position = cursor_parts(cursor, 3, "a list")
            rows = _rows_as_of(self.reader, self._candidates(criteria), start)
            chosen = row_views.filter_rows(rows, criteria, self.viewer)
        else:
            # The walk begins now, with the newest entry of all threads.
            start, chosen = self.newest_and_matching(criteria)
        total = len(chosen)
        if position:
            place = (position[0], position[1])
            chosen = [row for row in chosen if recency(row) < place]
        if not limit or len(chosen) <= limit:
            return RowPage(tuple(chosen), total=total)
        visible = chosen[:limit]
        following = cursor_of(start, visible[-1].last_id, visible[-1].topic)
        return RowPage(tuple(visible), following, total)

    def _first_page(self, criteria: Filter, limit: int) -> RowPage | None:
        """The first page, if its rows can be chosen without making all others."""
        plain = Filter(open_only=criteria.open_only, status=criteria.status)
        if criteria != plain:
            return None
        to_land = unlanded.own_landings(self.reader, self.viewer.holds)
        newest = newest_rows(
            self.reader,
            self.viewer,
            lambda topic, _, status: row_views.has_status(
                status, criteria, to_land=topic in to_land
            ),
            limit,
        )
        if newest is None:
            return None
        self._note(newest.survey)
        rows = self.completed(newest.rows)
        if newest.total <= limit:
            return RowPage(tuple(rows), total=newest.total)
        following = cursor_of(newest.newest_id, *newest.end)
        return RowPage(tuple(rows), following, newest.total)


def completed(
    reader: StoreReader, rows: list[ThreadRow], viewer: Viewer
) -> list[ThreadRow]:
    """Returns rows that know what their threads wait for, with what the threads do not
    say: how far balls have come whose holders were called or started, which branches
    can land or wait for the viewer to land them, and by which branches the last entries
    came."""
    layout, directory = reader.layout, viewer.directory
    rows = with_landings(reader, rows)
    if moves := unlanded.own_landings(reader, viewer.holds):
        rows = [
            row._replace(landing_move=moves[row.topic].kind)
            if row.topic in moves
            else row
            for row in rows
        ]
    if os.path.exists(layout.harvested):
        rows = [_with_way(row, layout) for row in rows]
    private = private_layout(layout)
    folders = (private.wakes, private.runs, layout.runs)
    if not any(map(os.path.isdir, folders)):
        return rows
    # 2 ms, only where agents are woken
    from wc_core.attention.wake.passes import called_balls

    balls = called_balls(reader, directory)
    passes = {state.topic: passed for state, passed in balls}
    return [row._replace(passed=passes.get(row.topic)) for row in rows]


def _with_way(row: ThreadRow, layout: Layout) -> ThreadRow:
    branch = way(layout, row.last_id)
    return row._replace(via=branch) if branch else row


def _may_land(row: ThreadRow) -> bool:
    """Whether it is worth asking git's files: few threads are approved and open."""
    is_approved = row.review.outcome == APPROVED and row.status != CLOSED
    return is_approved and bool(row.branch) and not row.landing.commit


def with_landings(reader: StoreReader, rows: list[ThreadRow]) -> list[ThreadRow]:
    """Returns the rows, with which branches can land in the repository of the store."""
    if not any(map(_may_land, rows)):
        return rows
    root = reader.layout.root
    branches = LandingBranches(repository.find(root))
    needs = settings.load(root, {}).land_needs
    provenance = Provenance(reader.layout)

    def with_landing(row: ThreadRow) -> ThreadRow:
        try:
            thread = reader.thread(row.topic)
        except WcError:
            return row
        counted = counted_review(thread, provenance, lambda _: False)
        own = on_own_branch(reader, row, branches.onto).as_landing(counted)
        codes = {item.code for item in landing_obstacles(own, branches, needs)}
        return row._replace(can_land=not codes, has_changed=codes == {NEWER})

    return [with_landing(row) if _may_land(row) else row for row in rows]


def on_own_branch(reader: StoreReader, row: ThreadRow, base: str) -> ThreadRow:
    """Returns a row with the branch whose work it is about, which may not be the one
    that the thread was opened on: see `approved_branch`."""
    if row.branch != base and not row.branch.startswith("."):
        return row
    try:
        return row._replace(branch=approved_branch(reader.thread(row.topic), base))
    except WcError:
        return row


def cursor_of(*parts: str) -> str:
    """Returns a cursor with these parts, in characters that need no quoting and are
    harmless in a terminal: another tool's id may contain anything."""
    return "~".join(map(_percent_encoded, parts))


def _percent_encoded(text: str) -> str:
    """Returns text with everything but unreserved characters encoded, and ``~``, which
    separates parts."""
    if _PLAIN.issuperset(text):
        return text
    from urllib.parse import quote  # 3 ms, only for names and ids that are not plain

    return quote(text, safe="", errors="surrogatepass").replace("~", "%7E")


def cursor_parts(cursor: str, count: int, kind: str) -> list[str]:
    """Returns the ``count`` parts of a cursor. Raises InvalidInputError if it is not
    a cursor of this ``kind``."""
    from urllib.parse import unquote  # 3 ms, only for the next page

    with contextlib.suppress(UnicodeError):
        parts = [unquote(part, errors="surrogatepass") for part in cursor.split("~")]
        if len(parts) == count and cursor_of(*parts) == cursor:
            return parts
    raise InvalidInputError(
        f"{cursor!r} is not a cursor of {kind}.",
        "Use the cursor of the previous page, or none to start.",
    )


def _rows_as_of(
    reader: StoreReader, rows: list[ThreadRow], start: str
) -> list[ThreadRow]:
    """Returns the rows in the order they had when ``start`` was the newest entry. Newer
    threads are left to the next walk.

    Raises InvalidInputError if too many threads have changed since then to find out
    quickly.
    """
    if sum(row.last_id > start for row in rows) > _MOST_MOVED:
        raise InvalidInputError(
            "More threads have changed since that cursor than a walk can follow.",
            "Start again without a cursor.",
        )
    restored = []
    for row in rows:
        last_id = row.last_id
        if last_id > start:
            try:
                entries = reader.thread(row.topic).entries
            except WcError:
                restored.append(
                    row._replace(last_id="")
                )  # listed twice rather than not at all
                continue
            last_id = max((e.id for e in entries if e.id <= start), default="")
        if last_id or not row.last_id:
            restored.append(row._replace(last_id=last_id))
    restored.sort(key=recency, reverse=True)
    return restored
