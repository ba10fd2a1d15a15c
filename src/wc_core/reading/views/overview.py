"""The threads of a store as one viewer sees them, in pages with cursors."""

from __future__ import annotations

import os

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.lean import contextlib
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.git import repository
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.index.keys import thread_keys
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
from wc_core.reading.views import rows as row_views
from wc_core.reading.views.listing import EVERYTHING, Listing, Selection
from wc_core.reading.views.rows import Filter, RowPage, recency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.rows import ThreadRow

# At most this many logs are read to restore the order of an earlier page.
_MOST_MOVED = 300
# The characters that cursors contain as they are.
_PLAIN = frozenset("-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


class Overview:
    """A store as one viewer sees it. Every query reads it again. ``note_unindexed``
    gets the number of threads that had to be read because the cache lacks them."""

    def __init__(
        self,
        reader: StoreReader,
        viewer: Viewer,
        note_unindexed: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.reader = reader
        self.viewer = viewer
        self.note_unindexed = note_unindexed

    def rows(self) -> list[ThreadRow]:
        """Returns all threads, latest move first. If one is damaged, the others are
        still listed."""
        return self.matching(row_views.ANYTHING)

    def listing(self) -> Listing:
        """Returns the threads as they are now."""
        listing = Listing(self.reader, self.viewer)
        self.note_unindexed(listing.freshness.unindexed)
        return listing

    def _completed(self, listing: Listing, rows: list[ThreadRow]) -> list[ThreadRow]:
        """Returns rows with what they wait for, and what the threads do not say."""
        if planned := listing.planned():
            # 2 ms, only for stores with a plan
            from wc_core.reading.views import planning

            rows = planning.with_waits(rows, planned)
        return completed(self.reader, rows, self.viewer)

    def topics(self, criteria: Filter) -> list[str]:
        """Returns the threads that pass a filter, in any order."""
        if criteria == row_views.ANYTHING:
            keys = self.keys(self.reader.topics())
            return [t for t, key in keys.items() if key or self.reader.has(t)]
        return [row.topic for row in self.matching(criteria)]

    def keys(self, topics: Iterable[str]) -> Mapping[str, str]:
        """Returns the key of each of these threads."""
        return thread_keys(self.reader.layout, topics)

    def names(self, topics: Collection[str]) -> dict[str, str]:
        """Returns the names of threads, by topic."""
        names = {row.topic: row.name for row in self.listing().rows_at(topics)}
        return {topic: names.get(topic, topic) for topic in topics}

    def plan(self) -> ThreadPlan:
        """Returns what all threads currently wait for."""
        from wc_core.reading.views import planning  # as in `_completed`

        return planning.plan_of(self.rows())

    def matching(self, criteria: Filter) -> list[ThreadRow]:
        """Returns the threads that pass a filter, latest move first."""
        return self._matching(self.listing(), criteria)

    def _matching(self, listing: Listing, criteria: Filter) -> list[ThreadRow]:
        return row_views.filter_rows(
            self._candidates(listing, criteria), criteria, self.viewer
        )

    def _candidates(self, listing: Listing, criteria: Filter) -> list[ThreadRow]:
        """Returns the threads that may pass a filter, latest move first."""
        if criteria.topics is not None:
            rows = listing.rows_at(criteria.topics)
        else:
            rows = listing.rows(self._selection(listing, criteria))
        return self._completed(listing, rows)

    def _selection(self, listing: Listing, criteria: Filter) -> Selection:
        """Returns what selects at least the threads that pass a filter."""
        to_land = unlanded.own_landings(self.reader, self.viewer.holds)
        is_due = criteria.due or criteria.ready
        is_open = criteria._replace(open_only=criteria.open_only or is_due)
        selection = _by_status(is_open, to_land)
        if criteria.since:
            selection = selection.both(Selection("last_id > ?", (criteria.since,)))
        if is_free := row_views.is_free(criteria.ball):
            selection = selection.both(Selection("ball IS NULL"))
        if criteria.ball and not is_free:
            has_ball = row_views.ball_filter(criteria.ball, self.viewer)
            # Of the viewer's own threads, some wait for an answer or to land.
            held = Selection("asked").either("topic", to_land)
            holders = filter(has_ball, listing.balls())
            selection = selection.both(held.either("ball", holders))
        return selection

    def page(self, criteria: Filter, limit: int, cursor: str = "") -> RowPage:
        """Returns at most ``limit`` rows (0: all) from ``cursor`` on.

        Following the cursors returns each thread that existed at the start exactly
        once, whatever is written in the meantime: threads keep the order they had then.
        Raises InvalidInputError for the cursor of something else.
        """
        listing = self.listing()
        plain = Filter(open_only=criteria.open_only, status=criteria.status)
        if limit and not cursor and criteria == plain:
            return self._first_page(listing, criteria, limit)
        position: list[str] = []
        if cursor:
            start, *position = cursor_parts(cursor, 3, "a list")
            candidates = self._candidates(listing, criteria)
            rows = _rows_as_of(self.reader, candidates, start)
            chosen = row_views.filter_rows(rows, criteria, self.viewer)
        else:
            # The walk begins now, with the newest entry of all threads.
            start, chosen = listing.newest_id(), self._matching(listing, criteria)
        total = len(chosen)
        if position:
            place = (position[0], position[1])
            chosen = [row for row in chosen if recency(row) < place]
        return _page(chosen, limit, total, start)

    def _first_page(self, listing: Listing, criteria: Filter, limit: int) -> RowPage:
        """The first page, without making the rows of the others."""
        to_land = unlanded.own_landings(self.reader, self.viewer.holds)
        rows, total = listing.newest(
            _by_status(criteria, to_land),
            lambda row: row_views.has_status(
                row.status, criteria, to_land=row.topic in to_land
            ),
            limit + 1,
        )
        return _page(self._completed(listing, rows), limit, total, listing.newest_id())


def _by_status(criteria: Filter, to_land: Iterable[str]) -> Selection:
    """Returns what selects the threads whose status passes a filter."""
    selection = EVERYTHING
    if criteria.open_only:
        selection = Selection(f"status != '{CLOSED}'").either("topic", to_land)
    if criteria.status:
        selection = selection.both(Selection("status = ?", (criteria.status,)))
    return selection


def _page(rows: list[ThreadRow], limit: int, total: int, start: str) -> RowPage:
    """Returns the first rows, with a cursor that began at the entry ``start``."""
    if not limit or len(rows) <= limit:
        return RowPage(tuple(rows), total=total)
    end = rows[limit - 1]
    following = cursor_of(start, end.last_id, end.topic)
    return RowPage(tuple(rows[:limit]), following, total)


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
