"""The brief: what someone who starts working needs to know about whose move it is.

It is computed from who has which balls and from the shown threads only. It has a
deadline: the caller says when it is `late`, and gets what is ready by then, marked as
`partial`.
"""

from __future__ import annotations

from itertools import chain, islice
from types import MappingProxyType

from wc_core.attention.status.balls import (
    FREE_FOLDER,
    folder_of,
    folders_of,
    in_order,
    own_folders_of,
    without,
)
from wc_core.attention.status.lastvisits import last_visit_ms
from wc_core.attention.wake.passes import pass_state
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.lean.contextlib import suppress
from wc_core.base.names import parse
from wc_core.base.times import rfc3339
from wc_core.base.ulid import RANDOM_BITS, encode
from wc_core.base.values import NamedTuple
from wc_core.ledger.guidance import for_brief
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.landing import CHANGED_SINCE, READY_TO_LAND
from wc_core.ledger.summaries.choosing import summary_in
from wc_core.ledger.summaries.latest import latest_text_in
from wc_core.ledger.threads.counterparts import counterpart
from wc_core.ledger.threads.model import APPROVED, BLOCKED, CLOSED
from wc_core.ledger.threads.ways import way
from wc_core.reading.views import holding
from wc_core.reading.views.holding import STALE_MS
from wc_core.reading.views.remarks import (
    NewDecision,
    QuestionSection,
    decisions_since,
    questions_to,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from typing import Any

    from wc_core.attention.status.balls import Balls, HeldBall
    from wc_core.attention.status.places import Surroundings
    from wc_core.attention.wake.passes import PassState
    from wc_core.base.files import Folder
    from wc_core.base.layout import Layout
    from wc_core.ledger.guidance import Guidance
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.settings import Settings
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.notes import Overlap

# The most open questions in a brief.
MAX_QUESTIONS = 6
# The most threads in each section of a brief.
READY_SECTIONS = frozenset({"mine", "offered", "free"})
LIMITS = {"mine": 16, "offered": 8, "free": 6, "with_others": 6, "stale": 4}
# The commands that show what a brief leaves out.
SHOWN_BY = {
    "mine": "wc list --mine --open",
    "offered": "wc list --mine --open",
    "free": "wc list --ball anyone --open",
    "with_others": "wc list --open",
    "stale": "wc stats",
    "questions": "wc list --open",
    "decisions": "wc search --kind decision",
    "conflicts": "wc radar",
    "approvals": "wc radar",
    "overlaps": "wc worktrees",
    "guidance": "wc guidance",
}
# The most balls of a section that are examined: of others, for news and for those that
# come back; of the viewer, for those that are not blocked.
RECENT = 300
# The threads of others are counted until there are more than this many times those
# shown: a file is read for each.
_COUNTED = 2


class BriefQuery(NamedTuple):
    """The viewer, their store and folder, and the deadline.

    ``surroundings`` are the current worktree with the viewer.
    """

    reader: StoreReader
    viewer: Viewer
    settings: Settings
    surroundings: Surroundings
    now_ms: int
    late: Callable[[], bool]


class _Thread(NamedTuple):
    """A thread whose ball has not moved, the number of its NEW entries, whether its
    holder would pass the ball to the viewer, and the last line of its log; empty if
    that was not read."""

    snapshot: Snapshot
    new: int
    is_next: bool
    last_line: bytes


class LastEntry(NamedTuple):
    """What was said last in a thread, with its summary: the entry, or its correction.
    Without a title it is the last entry, which was not read. ``via`` is the branch by
    which it came, if not with the others."""

    id: str
    author: str
    title: str = ""
    summary: str = ""
    summary_by: str = ""
    via: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the entry, with its summary if it has one."""
        fields = {"id": self.id, "author": self.author, "title": self.title}
        if self.via:
            fields["via"] = self.via
        if self.summary:
            fields |= {"summary": self.summary, "summary_by": self.summary_by}
        return fields


class BriefItem(NamedTuple):
    """A thread in a brief.

    ``since_ms`` is when its holder got the ball, ``None`` if unknown; ``by`` is who
    passed it, and so waits. ``freed`` names the closed threads that it waited for.
    ``here`` if the thread is here (`status.places`), ``next`` if its holder would pass
    the ball to the viewer. ``passed`` is how far the ball has come if someone else has
    it and was called for it. ``landing``: whether its branch can land, in words.
    ``via`` is the branch by which the ball came, if not with the others. ``move`` is
    what the viewer has to do with the branch of a closed thread (`nextmoves`).
    """

    topic: str
    title: str
    status: str
    ball: str | None
    since_ms: int | None
    new: int
    last: LastEntry
    by: str = ""
    here: bool = False
    stale: bool = False
    next: bool = False
    freed: str = ""
    passed: PassState | None = None
    landing: str = ""
    via: str = ""
    move: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the thread; flags that are not set are left out."""
        fields: dict[str, Any] = {
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "since": None if self.since_ms is None else rfc3339(self.since_ms),
            "new_for_you": self.new,
            "last": self.last.to_json(),
        }
        flags = {
            "by": self.by,
            "here": self.here,
            "stale": self.stale,
            "you_are_next": self.next,
            "freed": self.freed,
            "pass": self.passed.to_json() if self.passed is not None else None,
            "ready_to_land": self.landing == READY_TO_LAND,
            "changed_since_approval": self.landing == CHANGED_SINCE,
            "move": self.move,
            "via": self.via,
        }
        return fields | {key: value for key, value in flags.items() if value}


class BriefSection(NamedTuple):
    """Some of the threads of one kind, and their total. ``blocked`` counts those that
    would be shown, but have the status BLOCKED. With ``at_least``, there may be more
    than ``total``: not all were counted."""

    items: tuple[BriefItem, ...] = ()
    total: int = 0
    blocked: int = 0
    at_least: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns the threads and their number."""
        fields: dict[str, Any] = {"total": self.total}
        if self.at_least:
            fields["at_least"] = True
        if self.blocked:
            fields["blocked"] = self.blocked
        return fields | {"threads": [item.to_json() for item in self.items]}


class Brief(NamedTuple):
    """The balls and threads that wait for ``me``.

    ``mine`` are my balls and what I have to land, ``offered`` those for any agent of
    my kind, ``free`` those without a holder: all of them ready to start.
    ``with_others`` are threads I take part in that have NEW entries or come back to me
    next; ``stale`` are those whose ball someone else has held for more than two days.
    ``conflicts`` are those that the current worktree will have with others,
    ``approvals`` the viewer's balls whose approved branches no longer merge,
    ``overlaps`` the notes of others about what is changed or claimed here, as of
    ``now_ms``. ``questions`` are the open ones to me, ``decisions`` those of others
    since my last entry. ``notes`` are problems of the store, ``guidance`` is the
    repository's own guidance. ``left_out`` counts what there was no room for, by the
    name of its field, unless a ``total`` does.
    """

    me: str
    mine: BriefSection = BriefSection()
    offered: BriefSection = BriefSection()
    free: BriefSection = BriefSection()
    with_others: BriefSection = BriefSection()
    stale: BriefSection = BriefSection()
    notes: tuple[str, ...] = ()
    guidance: tuple[Guidance, ...] = ()
    partial: bool = False
    conflicts: tuple[Conflict, ...] = ()
    approvals: tuple[OutdatedApproval, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    now_ms: int = 0
    questions: QuestionSection = QuestionSection()
    decisions: tuple[NewDecision, ...] = ()
    left_out: Mapping[str, int] = MappingProxyType({})

    @property
    def parts(self) -> dict[str, BriefSection]:
        """The sections by name, most important first."""
        return {name: getattr(self, name) for name in LIMITS}

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits and there is nothing to report."""
        waiting = any(part.total for part in self.parts.values())
        waiting = waiting or bool(self.questions.total or self.decisions)
        edits = bool(self.conflicts or self.approvals or self.overlaps)
        return not (waiting or edits or self.notes or self.guidance or self.partial)

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the brief shape."""
        return {
            "store": store,
            "you": self.me,
            **{name: part.to_json() for name, part in self.parts.items()},
            **self.questions.to_json(),
            "decisions": [decision.to_json() for decision in self.decisions],
            "conflicts": [conflict.to_json() for conflict in self.conflicts],
            "approvals": [approval.to_json() for approval in self.approvals],
            "overlaps": [overlap.to_json(self.now_ms) for overlap in self.overlaps],
            "notes": list(self.notes),
            "guidance": [guidance.to_json() for guidance in self.guidance],
            **({"partial": True} if self.partial else {}),
            **self._left_out_json(),
        }

    def _left_out_json(self) -> dict[str, Any]:
        """The parts that are left out, and the commands that show them."""
        counts = {
            name: part.total - len(part.items) for name, part in self.parts.items()
        }
        counts["questions"] = self.questions.total - len(self.questions.items)
        uncounted = {name for name, part in self.parts.items() if part.at_least}
        left_out = [
            {
                "part": name,
                "count": count,
                **({"at_least": True} if name in uncounted else {}),
                "show": SHOWN_BY[name],
            }
            for name, count in {**counts, **self.left_out}.items()
            if count > 0
        ]
        return {"left_out": left_out} if left_out else {}


def brief(query: BriefQuery, balls: Balls, notes: Iterable[str] = ()) -> Brief:
    """Returns the brief of a store with these balls. A damaged thread does not affect
    the others."""
    balls.look(query.late)
    own = own_folders_of(query.viewer)
    folders = folders_of(query.viewer)
    offered = [folder for folder in folders if folder not in own]
    section = _section(query, "mine", _own_balls(query, balls, own), balls.count(own))
    since_ms = last_visit_ms(query.reader.layout, query.viewer.key, query.now_ms)
    result = Brief(
        me=query.viewer.identity.author,
        mine=_with_landings(query, section),
        offered=_unclaimed(query, "offered", balls, offered),
        free=_unclaimed(query, "free", balls, [FREE_FOLDER]),
        questions=questions_to(balls, query.viewer, MAX_QUESTIONS),
        notes=tuple(notes),
        guidance=for_brief(query.reader.layout),
        with_others=_with_others(query, balls, folders),
        stale=_stale(query, balls, folders),
        decisions=decisions_since(balls, query.viewer, since_ms, query.late),
    )
    return result._replace(partial=query.late())


def _own_balls(
    query: BriefQuery, balls: Balls, own: Sequence[str]
) -> Iterator[HeldBall]:
    """Yields the balls in the viewer's ``own`` folders that may be shown: first those
    of threads that are here."""
    names, around = balls.names(own, earliest=RECENT), query.surroundings
    local_names = balls.names(own, around.places, earliest=RECENT)
    local_names |= {folder: names[folder] for folder in around.seated(names)}
    yield from in_order(local_names)
    yield from in_order(without(names, {*chain.from_iterable(local_names.values())}))


def _unclaimed(
    query: BriefQuery, section: str, balls: Balls, folders: Sequence[str]
) -> BriefSection:
    """Returns the section of balls that the viewer may take."""
    names = balls.names(folders, earliest=RECENT)
    return _section(query, section, in_order(names), balls.count(folders))


def _section(
    query: BriefQuery, section: str, balls: Iterable[HeldBall], total: int
) -> BriefSection:
    """Returns as many threads as are shown of those with these balls, of which there
    are ``total``."""
    items: list[BriefItem] = []
    moved = blocked = 0
    for held in balls:
        if len(items) == LIMITS[section] or query.late():
            break
        item = item_of(query, held)
        if item is None:
            moved += 1
        elif item.status == BLOCKED and section in READY_SECTIONS:
            blocked += 1
        else:
            items.append(item)
    return BriefSection(tuple(items), total - moved - blocked, blocked)


def _with_landings(query: BriefQuery, section: BriefSection) -> BriefSection:
    """Returns the viewer's section with the closed threads that they have to land."""
    items = [*section.items]
    moves = unlanded.own_landings(query.reader, query.viewer.holds)
    for topic, move in moves.items():
        if len(items) == LIMITS["mine"] or query.late():
            break
        with suppress(WcError), query.reader.opened(topic) as folder:
            snapshot, line = query.reader.snapshot_in(folder, topic)
            thread = _Thread(snapshot, 0, is_next=False, last_line=line)
            item = _item_of_thread(query, thread, folder)
            words = f"to {move.kind}"
            items.append(item._replace(by=move.by, landing=words, move=move.kind))
    return section._replace(items=tuple(items), total=section.total + len(moves))


def item_of(query: BriefQuery, held: HeldBall) -> BriefItem | None:
    """Returns a thread; ``None`` if its ball has moved in the meantime."""
    try:
        with query.reader.opened(held.topic) as folder:
            thread = _thread(query, held, folder)
            return None if thread is None else _item_of_thread(query, thread, folder)
    except WcError:
        title = "(cannot be read; see wc doctor)"
        return BriefItem(held.topic, title, "?", None, None, 0, LastEntry("", ""))


def _thread(query: BriefQuery, held: HeldBall, folder: Folder) -> _Thread | None:
    """Returns the thread of a ball, whose ``folder`` is open; ``None`` if the ball has
    moved in the meantime. Raises CorruptError if it cannot be read."""
    try:
        snapshot, line = query.reader.snapshot_in(folder, held.topic)
    except NotFoundError:
        return None
    viewer, state = query.viewer, snapshot.state
    holder = folder_of(state.ball, viewer.directory)
    if state.status == CLOSED or holder != held.folder:
        return None
    cursor = query.reader.cursor(state.topic, viewer.key)
    new = viewer.new_count(state, cursor)
    return _Thread(snapshot, new, _is_next(query, state), line)


def _item_of_thread(query: BriefQuery, thread: _Thread, folder: Folder) -> BriefItem:
    snapshot, state = thread.snapshot, thread.snapshot.state
    return BriefItem(
        topic=snapshot.name,
        title=state.title,
        status=state.status,
        ball=state.ball,
        since_ms=holding.since_ms(state, query.now_ms),
        new=thread.new,
        last=_last_entry(query.reader.layout, state, thread.last_line, folder),
        by=next(
            (
                participant_pass.by
                for participant_pass in state.passes
                if participant_pass.to == state.ball
            ),
            "",
        ),
        here=query.surroundings.has(state),
        stale=holding.is_stale(state, query.now_ms),
        next=thread.is_next,
        freed=_freed(query.reader, state) if state.links else "",
        passed=_passed(query, state),
        landing=_landing_text(query, snapshot),
        via=way(query.reader.layout, state.since),
    )


def _landing_text(query: BriefQuery, snapshot: Snapshot) -> str:
    """Returns whether the branch of a thread can land, in words."""
    if snapshot.state.review.outcome != APPROVED:
        return ""
    # 3 ms, only for approved threads
    from wc_core.reading.views.overview import with_landings
    from wc_core.reading.views.rows import thread_row

    row = thread_row(query.reader, snapshot, query.viewer)
    return with_landings(query.reader, [row])[0].landing_text


def _freed(reader: StoreReader, state: State) -> str:
    # 2 ms, for threads with links
    from wc_core.ledger.planning.plans import freed_text

    return freed_text(reader, state)


def _passed(query: BriefQuery, state: State) -> PassState | None:
    """Returns how far someone else's ball has come, if its holder was called."""
    if query.viewer.holds(state.ball):
        return None
    return pass_state(query.reader, state, query.viewer.directory, only_called=True)


def _is_next(query: BriefQuery, state: State) -> bool:
    """Returns whether the holder of a ball would pass it to the viewer."""
    if state.ball is None or query.viewer.holds(state.ball):
        return False
    ball = counterpart(state, parse(state.ball), query.settings)
    return query.viewer.holds(ball.holder)


def _last_entry(
    layout: Layout, state: State, last_line: bytes, folder: Folder
) -> LastEntry:
    """Returns what was said last, from the last line of the log or otherwise its end:
    for a title and a summary, reading all of it is not worth the time."""
    topic = state.topic
    via = way(layout, state.last_id)
    unread = LastEntry(state.last_id, state.updated_by, via=via)
    try:
        entry = latest_text_in(folder, layout, topic, last_line)
        if entry is None:
            return unread
        summary = summary_in(folder, layout, topic, entry)
    except OSError:
        return unread
    return LastEntry(entry.id, entry.agent, entry.title, *summary, entry.via)


def _with_others(query: BriefQuery, balls: Balls, own: Sequence[str]) -> BriefSection:
    """Returns the threads that others hold and the viewer takes part in, news first.
    ``own`` are the folders of the viewer's balls, and of those offered to them."""
    most, threads = LIMITS["with_others"], list[_Thread]()
    latest = balls.latest(RECENT, own)
    for held in _taken_part_in(query, balls, latest):
        with suppress(WcError), query.reader.opened(held.topic) as folder:
            thread = _thread(query, held, folder)
            if thread is not None and (thread.new or thread.is_next):
                threads.append(thread)
        if len(threads) > most * _COUNTED:
            break
    at_least = len(latest) == RECENT or len(threads) > most * _COUNTED
    threads.sort(key=lambda thread: not thread.new)
    items = []
    for thread in threads[:most]:
        topic = thread.snapshot.state.topic
        with suppress(WcError), query.reader.opened(topic) as folder:
            items.append(_item_of_thread(query, thread, folder))
    return BriefSection(tuple(items), len(threads), at_least=at_least)


def _stale(query: BriefQuery, balls: Balls, own: Sequence[str]) -> BriefSection:
    """Returns the threads that others have held too long and the viewer takes part
    in."""
    limit = encode(max(0, query.now_ms - STALE_MS) << RANDOM_BITS)
    old = balls.earliest(RECENT, limit, own)
    most = LIMITS["stale"] * _COUNTED + 1
    taken_part = [*islice(_taken_part_in(query, balls, old), most)]
    part = _section(query, "stale", taken_part, len(taken_part))
    return part._replace(
        items=tuple(ball for ball in part.items if ball.stale),
        at_least=len(old) == RECENT or len(taken_part) == most,
    )


def _taken_part_in(
    query: BriefQuery, balls: Balls, held: Iterable[HeldBall]
) -> Iterator[HeldBall]:
    """Yields those of the held balls in whose threads the viewer wrote."""
    for status in balls.statuses(held, query.viewer):
        if query.late():
            return
        if status.takes_part:
            yield status.held
