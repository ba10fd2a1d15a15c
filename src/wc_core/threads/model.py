"""What a thread is: frozen values, and the fold that turns a log into a state.

Values are named tuples rather than dataclasses: importing ``dataclasses``
costs about as much as starting Python does, and every command would pay it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import ulid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STATUSES = ("OPEN", "IN_REVIEW", "BLOCKED", "CLOSED")
ROLES = ("planner", "critic", "implementer", "tester", "pm", "scribe")
ENTRY_TYPES = ("Note", "Plan", "Decision", "PR", "Closure")
ACTIONS = ("new", "say", "ack", "handoff", "take", "set_status")

OPEN, IN_REVIEW, BLOCKED, CLOSED = STATUSES


class Ball(NamedTuple):
    """Where a ball goes: to one holder, or to nobody (free)."""

    holder: str | None


FREE = Ball(None)


class Base(NamedTuple):
    """What a foreign log's ``meta.json`` said when we first wrote to it."""

    title: str = ""
    status: str = OPEN
    ball: str | None = None
    summary: str = ""


class Entry(NamedTuple):
    """One line of a log.

    ``ball`` and ``status`` are ``None`` on an entry that does not change
    them. ``parents`` is ``None`` where the writer did not record any (older
    tools): the entry then follows the one before it. ``at`` is the timestamp
    as written, RFC 3339. ``extra`` are keys of other tools, kept as they are.
    """

    id: str
    topic: str
    agent: str
    at: str
    title: str = ""
    body: str = ""
    role: str = ""
    type: str = "Note"
    action: str = ""
    ball: Ball | None = None
    status: str | None = None
    parents: tuple[str, ...] | None = None
    base: Base | None = None
    summary: str = ""
    file_refs: tuple[str, ...] = ()
    pr_refs: tuple[int, ...] = ()
    commit_refs: tuple[str, ...] = ()
    code_branch: str = ""
    code_commit: str = ""
    key: str = ""
    reason: str = ""
    extra: Mapping[str, Any] = {}

    @property
    def ours(self) -> bool:
        """Whether the entry carries any of the fields only wc writes."""
        return bool(self.action or self.base or self.ball or self.status) or (
            self.parents is not None
        )


class Participant(NamedTuple):
    """Somebody who wrote in a thread, and how many entries are NEW for them:
    not theirs and not among the ancestors of their last entry."""

    name: str
    new: int


class Pass(NamedTuple):
    """The last time the ball went to ``to``, and who passed it."""

    to: str
    by: str


class State(NamedTuple):
    """The fold of a log: everything about a thread but its entries.

    ``participants`` and ``passes`` run from the least to the most recent.
    ``heads`` are the entries no other entry names as a parent: one, or more
    where two clones wrote at once (a fork). ``since`` is the entry that gave
    the ball to its holder. ``last_id`` is the greatest id. ``lost`` counts
    the lines of the log that are no entry: who knows the state without
    reading the log is to know that as well.
    """

    topic: str
    title: str = ""
    status: str = OPEN
    ball: str | None = None
    since: str = ""
    entry_count: int = 0
    last_id: str = ""
    created_at: str = ""
    updated_at: str = ""
    updated_by: str = ""
    branch: str = ""
    summary: str = ""
    heads: tuple[str, ...] = ()
    participants: tuple[Participant, ...] = ()
    passes: tuple[Pass, ...] = ()
    lost: int = 0

    @property
    def forked(self) -> bool:
        """Whether two histories stand side by side, unhealed."""
        return len(self.heads) > 1

    @property
    def people(self) -> list[str]:
        """Everybody who wrote, was passed the ball or holds it."""
        found = [one.name for one in self.participants]
        found += [one.to for one in self.passes]
        return [one for one in (*found, self.ball or "") if one]

    def new_for(self, is_me: Callable[[str], bool]) -> int:
        """Entries that are NEW for the participant whose names ``is_me``
        knows, read cursors aside. Of two spellings the one that wrote last
        counts: it has fewer."""
        counts = (one.new for one in self.participants if is_me(one.name))
        return min(counts, default=self.entry_count)


def start(topic: str, base: Base | None = None) -> State:
    """The state before the first entry."""
    if base is None:
        return State(topic)
    return State(
        topic,
        title=base.title,
        status=base.status,
        ball=base.ball or None,
        summary=base.summary,
    )


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in ULID order, the order of a log; each id once.

    An id that is no ULID (damage, or another tool's) stays behind the entry
    it was found after.
    """
    keyed = []
    floor = ""
    for position, entry in enumerate(entries):
        own = ulid.prefix(entry.id)
        floor = max(floor, own)
        place = (own, False, entry.id, 0) if own else (floor, True, "", position)
        keyed.append((place, entry))
    keyed.sort(key=lambda pair: pair[0])
    return [entry for _, entry in keyed]


def written_by_wc(entries: Iterable[Entry]) -> bool:
    """Whether any of the entries is ours: then the log alone says it all."""
    return any(entry.ours for entry in entries)


def fold(topic: str, entries: Sequence[Entry], meta: Base | None = None) -> State:
    """Apply ``entries`` (in order) to nothing, or to what a foreign log's
    ``meta`` said. The last ball and the last status win.

    The first ``base`` in the log is the start where there is one; ``meta``
    counts only in a log without any field of ours.
    """
    base = next((entry.base for entry in entries if entry.base is not None), None)
    if base is None and meta is not None and not written_by_wc(entries):
        base = meta
    state = start(topic, base)
    if not entries:
        return state
    # What `apply` comes to, one entry after the other, without a state for each.
    first, last = entries[0], entries[-1]
    statuses = (one.status for one in reversed(entries) if one.status)
    branches = (one.code_branch for one in reversed(entries) if one.code_branch)
    state = state._replace(
        title=state.title or first.title,
        created_at=first.at,
        status=next(statuses, state.status),
        entry_count=len(entries),
        last_id=max(one.id for one in entries),
        updated_at=last.at,
        updated_by=last.agent,
        branch=next(branches, ""),
        heads=(last.id,),
        participants=_writers(entries),
        **_passed(entries, state.ball),
    )
    return state if _is_linear(entries) else _with_forks(state, entries)


def _is_linear(entries: Sequence[Entry]) -> bool:
    """Whether each entry follows the one before it, and no other."""
    heads: tuple[str, ...] = ()
    for entry in entries:
        if entry.parents not in {None, heads} and {*(entry.parents or ())} != {*heads}:
            return False
        heads = (entry.id,)
    return True


def _writers(entries: Sequence[Entry]) -> tuple[Participant, ...]:
    """Who wrote, and how many entries came after their last one."""
    wrote: dict[str, int] = {}
    for position, entry in enumerate(entries, 1):
        wrote.pop(entry.agent, None)
        wrote[entry.agent] = position
    count = len(entries)
    return tuple(Participant(name, count - last) for name, last in wrote.items())


def _passed(entries: Sequence[Entry], ball: str | None) -> dict[str, Any]:
    """Where the ball went from ``ball`` on: the holder, since when, who passed
    to whom."""
    since, passes = "", dict[str, str]()
    for entry in entries:
        if entry.ball is None:
            continue
        holder = entry.ball.holder
        if holder != ball or not since:
            ball, since = holder, entry.id
        if holder is not None and holder != entry.agent:
            passes.pop(holder, None)
            passes[holder] = entry.agent
    made = tuple(Pass(to, by) for to, by in passes.items())
    return {"ball": ball, "since": since, "passes": made}


def apply(state: State, entry: Entry) -> State:
    """The state after ``entry``, which must name all heads as its parents
    and have a greater id than any before it."""
    changes = {} if entry.ball is None else _pass_ball(state, entry, entry.ball)
    if not state.entry_count:
        changes["created_at"] = entry.at
        changes["title"] = state.title or entry.title
    others = [
        Participant(name, new + 1)
        for name, new in state.participants
        if name != entry.agent
    ]
    return state._replace(
        status=entry.status or state.status,
        entry_count=state.entry_count + 1,
        last_id=max(state.last_id, entry.id),
        updated_at=entry.at,
        updated_by=entry.agent,
        branch=entry.code_branch or state.branch,
        heads=(entry.id,),
        participants=(*others, Participant(entry.agent, 0)),
        **changes,
    )


def _pass_ball(state: State, entry: Entry, ball: Ball) -> dict[str, Any]:
    """What a moved ball changes: the holder, since when, who passed to whom."""
    changes: dict[str, Any] = {"ball": ball.holder}
    if ball.holder != state.ball or not state.since:
        changes["since"] = entry.id
    if ball.holder is not None and ball.holder != entry.agent:
        kept = [one for one in state.passes if one.to != ball.holder]
        changes["passes"] = (*kept, Pass(ball.holder, entry.agent))
    return changes


def _with_forks(state: State, entries: Sequence[Entry]) -> State:
    """The same state with heads and NEW counts from the graph of parents."""
    graph = parent_graph(entries)
    named = {parent for parents in graph.values() for parent in parents}
    heads = tuple(one for one in graph if one not in named)
    last = {entry.agent: entry.id for entry in entries}
    participants = tuple(
        Participant(name, len(_unseen(name.__eq__, (last[name],), entries, graph)))
        for name, _ in state.participants
    )
    return state._replace(heads=heads, participants=participants)


def parent_graph(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """Each entry's parents among ``entries``; an unrecorded parent is the
    entry before."""
    known = {entry.id for entry in entries}
    graph: dict[str, tuple[str, ...]] = {}
    previous: tuple[str, ...] = ()
    for entry in entries:
        parents = previous if entry.parents is None else entry.parents
        graph[entry.id] = tuple(one for one in parents if one in known)
        previous = (entry.id,)
    return graph


def ancestors(heads: Iterable[str], graph: Mapping[str, tuple[str, ...]]) -> set[str]:
    """``heads`` and everything that comes before them."""
    seen: set[str] = set()
    todo = [head for head in heads if head in graph]
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(graph[one])
    return seen


def _unseen(
    is_me: Callable[[str], bool],
    seen_heads: Iterable[str],
    entries: Sequence[Entry],
    graph: Mapping[str, tuple[str, ...]],
) -> list[Entry]:
    seen = ancestors(seen_heads, graph)
    return [one for one in entries if one.id not in seen and not is_me(one.agent)]


def new_count(state: State, is_me: Callable[[str], bool], read: int) -> int:
    """How many entries are NEW for a participant who had read ``read`` of them.

    What the heads at the moment of reading had as ancestors was all there
    was, so a count is enough; no log has to be opened.
    """
    return min(state.new_for(is_me), max(0, state.entry_count - read))


def new_entries(
    is_me: Callable[[str], bool],
    entries: Sequence[Entry],
    cursor: Iterable[str] = (),
) -> list[Entry]:
    """The entries that are NEW for a participant: not theirs, and neither
    ancestors of their last entry nor covered by ``cursor``, the heads they
    had read."""
    last = [entry.id for entry in entries if is_me(entry.agent)][-1:]
    return _unseen(is_me, [*last, *cursor], entries, parent_graph(entries))
