"""Threads as they are shown, the same for ``wc … --json`` and the server.

Keys may be added later and are never renamed. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from wc_core.attention.status.places import Surroundings, branch_places
from wc_core.base import names, times, ulid
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.lean.functools import partial
from wc_core.base.names import FREE_WORDS, MINE, OFFERED, OTHERS, without_tag
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.checklists import NO_CHECKLIST, ChecklistProgress, progress
from wc_core.ledger.planning.landing import (
    CHANGED_SINCE,
    READY_TO_LAND,
    CountedReview,
    LandingThread,
)
from wc_core.ledger.planning.nextmoves import (
    asked_text,
    askers,
    moves_for,
    next_moves,
)
from wc_core.ledger.planning.obstacles import own_obstacles
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import CLOSED, NO_REVIEW, Review, State, outcome_text
from wc_core.ledger.threads.tags import has_all
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from wc_core.attention.wake.passes import PassState
    from wc_core.ledger.threads.gates import Gate
    from wc_core.ledger.threads.model import Link
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.viewer import Viewer

_OWN = frozenset({MINE, OFFERED})
# Replaces the status of a thread that cannot be read.
UNREADABLE = "?"


class ThreadRow(NamedTuple):
    """One thread in a list. ``ownership`` says whose its ball is, for the viewer: see
    `names.Directory.whose`. It is stored under ``topic``, and shown as ``name``.
    ``waits`` has what it waits for, in words: threads that must be closed and gates
    that must open; see `wc_core.ledger.planning.readiness`. ``asked_by`` are those who
    wait for the viewer's answer to a question. ``passed`` is how far the ball has come
    with its holder, if someone was called for it on this machine. ``can_land``: its
    branch is `ready to land <wc_core.ledger.planning.landing>`; ``has_changed``: only
    that it has changed since it was approved is in the way. ``landing_move`` is what
    the viewer has to do with the branch of a closed thread (`nextmoves`). ``via`` is
    the branch by which its last entry came, if not with the others. ``own_tag`` is that
    of the viewer's own agents, which texts leave out."""

    topic: str
    title: str
    status: str
    ball: str | None
    updated_at: str
    entry_count: int
    ownership: str
    new_for_you: int
    branch: str
    last_id: str
    forked: bool
    damaged: bool
    updated_by: str
    name: str
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    gates: tuple[Gate, ...] = ()
    waits: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    checklist: ChecklistProgress = NO_CHECKLIST
    review: Review = NO_REVIEW
    landing: Landing = NO_LANDING
    passed: PassState | None = None
    can_land: bool = False
    has_changed: bool = False
    landing_move: str = ""
    via: str = ""
    own_tag: str = ""

    @property
    def have_ball(self) -> bool:
        """Whether the viewer has the ball or is offered it."""
        return self.ownership in _OWN

    @property
    def is_due(self) -> bool:
        """Whether the thread waits for the viewer (`nextmoves`): someone asks them
        something, or they have the ball, and the thread waits for nothing; or they have
        to land it."""
        state = State(self.topic, status=self.status, ball=self.ball)
        moves = next_moves(state, self.waits) if self.have_ball else ()
        return bool(self.asked_by or self.landing_move or moves)

    @property
    def waits_text(self) -> str:
        """The threads and gates that it waits for, in words; empty if there are
        none."""
        if not self.waits:
            return ""
        hidden = f" +{len(self.waits) - 1}" if len(self.waits) > 1 else ""
        return f"waits for {self.waits[0]}{hidden}"

    @property
    def status_text(self) -> str:
        """The status, and the outcome of the latest review, or that its branch can
        land."""
        outcome = self.landing_text or outcome_text(self.review.outcome)
        return f"{self.status}, {outcome}" if outcome else self.status

    @property
    def landing_text(self) -> str:
        """Whether its branch can land, in words; empty if more than a new approval is
        missing."""
        if self.landing_move:
            return f"to {self.landing_move}"
        if self.can_land:
            return READY_TO_LAND
        return CHANGED_SINCE if self.has_changed else ""

    @property
    def asked_text(self) -> str:
        """The participants who ask the viewer a question, in words; empty if there are
        none."""
        return asked_text([without_tag(name, self.own_tag) for name in self.asked_by])

    @property
    def way_text(self) -> str:
        """How its last entry came, as ``via claude/fix``; usually empty."""
        return via_text(self.via)

    def as_landing(self, counted: CountedReview) -> LandingThread:
        """Returns what decides whether its branch can land, with the review as far as
        it counts here."""
        return LandingThread(
            self.status,
            self.ball,
            self.ownership,
            self.branch,
            counted.review,
            self.landing,
            self.waits,
            counted.reason,
        )

    def moved_ms(self, now_ms: int) -> int | None:
        """Returns when it last moved, in milliseconds since 1970; ``None`` if unknown.

        That is the time of its last entry. If a clock dated that one long before an
        earlier entry, it is the time of the earlier one.
        """
        moment = times.milliseconds(self.updated_at)
        newest = ulid.prefix(self.last_id)
        if moment is None or not newest or now_ms - moment < ulid.FUTURE_MS:
            return moment
        newest_ms = ulid.timestamp_ms(newest)
        is_late = times.is_ahead(newest_ms, moment)
        is_usable = not times.is_ahead(newest_ms, now_ms)
        return newest_ms if is_late and is_usable else moment

    def passed_text(self, now_ms: int) -> str:
        """Returns how far the ball has come, in words; empty if that is unknown."""
        return self.passed.sentence(now_ms) if self.passed is not None else ""

    @property
    def is_ready(self) -> bool:
        """Whether the viewer can go on with it: someone asks them something, they have
        to land it, or ``wc ready TOPIC`` has no reason against it."""
        own = own_obstacles(self.status, self.ball, self.ownership)
        return bool(self.asked_by or self.landing_move) or not (self.waits or own)

    def to_json(self) -> dict[str, Any]:
        """Returns the thread in the list shape; ``branch``, tags and marks only if
        set."""
        fields: dict[str, Any] = {
            "topic": self.name,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "updated_at": self.updated_at,
            "entry_count": self.entry_count,
            "have_ball": self.have_ball,
            "new_for_you": self.new_for_you,
        }
        if self.ownership == OFFERED:
            fields["offered"] = True
        if self.branch:
            fields["branch"] = self.branch
        if self.tags:
            fields["tags"] = list(self.tags)
        if self.checklist.total:
            fields["checklist"] = self.checklist._asdict()
        fields |= self.review.to_json()
        if self.waits:
            fields["waits_for"] = list(self.waits)
        if self.asked_by:
            fields["asked_by"] = list(self.asked_by)
        if self.landing_move:
            fields["move"] = self.landing_move
        if self.passed is not None:
            fields["pass"] = self.passed.to_json()
        if self.via:
            fields["via"] = self.via
        marks = {
            "ready_to_land": self.can_land,
            "changed_since_approval": self.has_changed,
            "forked": self.forked,
            "damaged": self.damaged,
        }
        return fields | {name: True for name, is_set in marks.items() if is_set}


class Filter(NamedTuple):
    """Which threads to list: ``ball`` is a name, ``me`` or a word for "anyone";
    ``branch`` the one that they are at (`status.places`); ``topics``, if given, are the
    only ones. They have all of the ``tags``. ``due`` are those that wait for the
    viewer, ``ready`` those that they can start, ``waiting`` those that wait for a
    thread or a gate. ``author`` wrote last; nothing happened after ``quiet_since``, an
    RFC 3339 time in UTC, but something after the entry ``since``; ``words`` are in
    topic, title or holder, or are tags with a ``+``."""

    open_only: bool = False
    ball: str = ""
    status: str = ""
    topics: frozenset[str] | None = None
    branch: str = ""
    tags: tuple[str, ...] = ()
    due: bool = False
    ready: bool = False
    waiting: bool = False
    author: str = ""
    quiet_since: str = ""
    since: str = ""
    words: str = ""


ANYTHING = Filter()


class RowPage(NamedTuple):
    """A page of rows. ``cursor`` gets the next page and is empty on the last one.

    ``total`` counts the rows of all pages.
    """

    rows: tuple[ThreadRow, ...]
    cursor: str = ""
    total: int = 0

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the list shape."""
        fields: dict[str, Any] = {
            "store": store,
            "threads": [row.to_json() for row in self.rows],
        }
        if self.cursor:
            fields |= {"cursor": self.cursor, "truncated": True}
        return fields


def thread_row(reader: StoreReader, snapshot: Snapshot, viewer: Viewer) -> ThreadRow:
    """Returns a thread as ``viewer`` sees it."""
    state = snapshot.state
    return ThreadRow(
        topic=state.topic,
        title=state.title,
        status=state.status,
        ball=state.ball,
        updated_at=utc(state.updated_at),
        entry_count=state.entry_count,
        ownership=viewer.whose(state.ball),
        new_for_you=viewer.new_count(state, reader.cursor(state.topic, viewer.key)),
        branch=state.branch,
        last_id=state.last_id,
        forked=state.forked,
        damaged=any(damage.lost for damage in snapshot.damage),
        updated_by=state.updated_by,
        name=snapshot.name,
        tags=snapshot.tags,
        links=state.links,
        asked_by=askers(moves_for(viewer.holds, state)) if state.questions else (),
        checklist=progress(state.items),
        gates=state.gates,
        review=state.review,
        landing=state.landing,
        own_tag=viewer.identity.own_tag,
    )


def unreadable_row(topic: str) -> ThreadRow:
    """Returns the row of a thread that cannot be read, which is listed anyway."""
    title = "(cannot be read; see wc doctor)"
    shown = (topic, title, UNREADABLE, None, "", 0, OTHERS, 0, "", "", False, True)
    return ThreadRow(*shown, "", topic)


def listed_row(reader: StoreReader, topic: str, viewer: Viewer) -> ThreadRow | None:
    """Returns a listed thread as ``viewer`` sees it; ``None`` if it was removed after
    it was listed, or never begun."""
    try:
        return thread_row(reader, reader.snapshot(topic), viewer)
    except NotFoundError:
        return None
    except WcError:
        return unreadable_row(topic)


def recency(row: ThreadRow) -> tuple[str, str]:
    """Returns the sort key of rows. It includes the topic because two threads can
    have an entry with the same id."""
    return (row.last_id, row.topic)


def has_status(status: str, criteria: Filter, *, to_land: bool) -> bool:
    """Returns whether a filter passes threads with a status. What the viewer has
    ``to_land`` counts as open."""
    if criteria.open_only and status == CLOSED and not to_land:
        return False
    return criteria.status in {"", status}


def filter_rows(
    rows: Iterable[ThreadRow], criteria: Filter, viewer: Viewer
) -> list[ThreadRow]:
    """Returns the rows that pass a filter, in the same order."""
    if criteria == ANYTHING:
        return list(rows)
    chosen = [
        row
        for row in rows
        if has_status(row.status, criteria, to_land=bool(row.landing_move))
        and (criteria.topics is None or row.topic in criteria.topics)
        and (not criteria.tags or has_all(row.tags, criteria.tags))
        and (not criteria.due or row.is_due)
        and (not criteria.ready or row.is_ready)
        and (not criteria.waiting or row.waits)
        and (not criteria.quiet_since or row.updated_at < criteria.quiet_since)
        and (not criteria.since or row.last_id > criteria.since)
        and (not criteria.words or has_words(row, criteria.words))
    ]
    branch = criteria.branch.strip()
    if branch:
        surroundings = Surroundings(branch_places(branch))
        chosen = [row for row in chosen if surroundings.has(placed_state(row))]
    author = criteria.author.strip()
    if author:
        chosen = _last_written_by(chosen, author, viewer)
    ball = criteria.ball.strip()
    return _with_ball(chosen, ball, viewer) if ball else chosen


def has_words(row: ThreadRow, words: str) -> bool:
    """Returns whether the words are in the topic, title or holder of a thread; those
    with a ``+`` are among its tags."""
    return matches_words(row, f"{row.name} {row.title} {row.ball or ''}", words)


def matches_words(row: ThreadRow, text: str, words: str) -> bool:
    """Returns whether ``text``, which is about the row, has every one of ``words``. A
    word that begins with ``+`` is a tag."""
    terms = words.casefold().split()
    tags = [term for term in terms if len(term) > 1 and term.startswith("+")]
    folded_text = text.casefold()
    in_text = (term in folded_text for term in terms if term not in tags)
    return has_all(row.tags, tags) and all(in_text)


def placed_state(row: ThreadRow) -> State:
    """Returns the part of a thread's state that determines its place."""
    return State(row.topic, branch=row.branch, ball=row.ball, names=(row.name,))


def _last_written_by(
    rows: list[ThreadRow], author: str, viewer: Viewer
) -> list[ThreadRow]:
    """Returns the rows of threads in which ``author``, or ``me``, wrote last."""
    matches = {
        writer: viewer.holds(writer)
        if author.casefold() == "me"
        else _means(author, writer, viewer)
        for writer in {row.updated_by for row in rows if row.updated_by}
    }
    return [row for row in rows if matches.get(row.updated_by, False)]


def _with_ball(rows: list[ThreadRow], ball: str, viewer: Viewer) -> list[ThreadRow]:
    """Returns the rows whose ball ``ball`` has: ``me``, with what else waits for the
    viewer, a word for "anyone", or a name."""
    if ball.casefold() == "me":
        return [row for row in rows if row.is_due or row.have_ball]
    if is_free(ball):
        return [row for row in rows if row.ball is None]
    # Names are compared once per holder: there are many threads, few holders.
    holders = {row.ball for row in rows if row.ball is not None}
    matching = {*filter(ball_filter(ball, viewer), holders)}
    return [row for row in rows if row.ball in matching]


def is_free(ball: str) -> bool:
    """Returns whether a filter asks for threads whose ball is free."""
    return ball.strip().casefold() in FREE_WORDS


def ball_filter(ball: str, viewer: Viewer) -> Callable[[str], bool]:
    """Returns whether a holder is the one that a filter asks for: ``me`` or a name."""
    ball = ball.strip()
    if ball.casefold() == "me":
        return viewer.holds
    return partial(_means, ball, viewer=viewer)


def _means(written: str, participant: str, viewer: Viewer) -> bool:
    """Whether a name that someone wrote means a participant: in any spelling, after an
    ``@``, or by the first words of a person's name."""
    written, name = written.removeprefix("@"), names.parse(participant)
    if viewer.directory.matches(written, name):
        return True
    is_person = not viewer.directory.is_agent(name)
    return is_person and names.is_short_for(written, name.agent)
