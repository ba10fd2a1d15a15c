"""The values a thread consists of, and the fold of its log into a state.

The values are named tuples rather than dataclasses: importing ``dataclasses``
takes about as long as starting Python, and every command would pay for it.
"""

from __future__ import annotations

from types import MappingProxyType
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
    """The thread's fields in ``meta.json`` when wc first wrote to its log.

    Only threads begun by another tool have one.
    """

    title: str = ""
    status: str = OPEN
    ball: str | None = None
    summary: str = ""


class Entry(NamedTuple):
    """One line of a log.

    ``ball`` and ``status`` are ``None`` on an entry that does not change
    them. ``parents`` are the heads of the thread when the entry was written;
    ``None`` if the writer recorded none (older tools), and then the parent is
    the entry before. ``at`` is the timestamp as written, RFC 3339. ``extra``
    has the keys of other tools, unchanged.
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
    extra: Mapping[str, Any] = MappingProxyType({})

    @property
    def is_by_wc(self) -> bool:
        """Whether the entry has any of the fields that only wc writes."""
        return bool(self.action or self.base or self.ball or self.status) or (
            self.parents is not None
        )


class Participant(NamedTuple):
    """An author in a thread, and the number of entries that are NEW for them.

    An entry is NEW for a participant if somebody else wrote it and it is not
    an ancestor of the participant's last entry.
    """

    name: str
    new: int


class Pass(NamedTuple):
    """The last time that the ball went to ``to``, and who passed it."""

    to: str
    by: str


class State(NamedTuple):
    """The fold of a log: everything about a thread except its entries.

    ``participants`` and ``passes`` run from the least to the most recent.
    ``heads`` are the entries that are no other entry's parent: one, or more
    in a fork (two clones wrote at the same time). ``since`` is the id of the
    entry that gave the ball to its holder. ``last_id`` is the greatest id.
    ``lost`` counts the lines of the log that are no entry; it is here so that
    a reader of ``meta.json`` learns of the damage without reading the log.
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
        """Whether the thread has more than one head: two histories, not yet joined."""
        return len(self.heads) > 1

    @property
    def people(self) -> list[str]:
        """Everybody who wrote, was passed the ball or holds it."""
        writers = [participant.name for participant in self.participants]
        receivers = [handover.to for handover in self.passes]
        return [name for name in (*writers, *receivers, self.ball or "") if name]

    def new_for(self, is_me: Callable[[str], bool]) -> int:
        """Count the entries that are NEW for a participant, without read cursors.

        ``is_me`` says which names are theirs. If several are, the one that
        wrote last counts: it has the fewest NEW entries.
        """
        counts = (count for name, count in self.participants if is_me(name))
        return min(counts, default=self.entry_count)


def initial_state(topic: str, base: Base | None = None) -> State:
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
    """Sort entries by ULID, the order of a log.

    An entry whose id is no ULID (damage, or another tool's) stays behind the
    entry that it followed.
    """
    keyed = []
    greatest = ""
    for position, entry in enumerate(entries):
        own = ulid.prefix(entry.id)
        greatest = max(greatest, own)
        key = (own, False, entry.id, 0) if own else (greatest, True, "", position)
        keyed.append((key, entry))
    keyed.sort(key=lambda pair: pair[0])
    return [entry for _, entry in keyed]


def written_by_wc(entries: Iterable[Entry]) -> bool:
    """Whether wc wrote any of the entries. Then the log alone has the whole state."""
    return any(entry.is_by_wc for entry in entries)


def fold(topic: str, entries: Sequence[Entry], meta: Base | None = None) -> State:
    """Return the state of a thread with these entries, which must be in order.

    The result is that of `apply` for one entry after the other, without
    making a state for each. ``meta`` has the fields of a foreign
    ``meta.json``, see `_starting_base`.
    """
    state = initial_state(topic, _starting_base(entries, meta))
    if not entries:
        return state
    state = _fold_linear(state, entries)
    return state if _is_linear(entries) else _with_graph(state, entries)


def _starting_base(entries: Sequence[Entry], meta: Base | None) -> Base | None:
    """The fields to start the fold with: the first ``base`` in the log.

    A log without any counts on ``meta``, unless wc has written to it: then
    what the log does not say is not so.
    """
    for entry in entries:
        if entry.base is not None:
            return entry.base
    return None if written_by_wc(entries) else meta


def _fold_linear(state: State, entries: Sequence[Entry]) -> State:
    """The state after ``entries``, if each follows the one before it."""
    first, last = entries[0], entries[-1]
    statuses = (entry.status for entry in reversed(entries) if entry.status)
    branches = (entry.code_branch for entry in reversed(entries) if entry.code_branch)
    return state._replace(
        title=state.title or first.title,
        created_at=first.at,
        status=next(statuses, state.status),
        entry_count=len(entries),
        last_id=max(entry.id for entry in entries),
        updated_at=last.at,
        updated_by=last.agent,
        branch=next(branches, ""),
        heads=(last.id,),
        participants=_participants(entries),
        **_ball_fields(entries, state.ball),
    )


def _is_linear(entries: Sequence[Entry]) -> bool:
    """Whether each entry has the one before it as its only parent."""
    previous: tuple[str, ...] = ()
    for entry in entries:
        parents = previous if entry.parents is None else entry.parents
        if parents != previous and {*parents} != {*previous}:
            return False
        previous = (entry.id,)
    return True


def _participants(entries: Sequence[Entry]) -> tuple[Participant, ...]:
    """Each author, with the number of entries after their last one."""
    last_positions: dict[str, int] = {}
    for position, entry in enumerate(entries, 1):
        last_positions.pop(entry.agent, None)  # to insert it at the end
        last_positions[entry.agent] = position
    count = len(entries)
    return tuple(
        Participant(name, count - position) for name, position in last_positions.items()
    )


def _ball_fields(entries: Sequence[Entry], ball: str | None) -> dict[str, Any]:
    """The fields of a state about its ball, which ``ball`` held at first."""
    since, passes = "", dict[str, str]()
    for entry in entries:
        if entry.ball is None:
            continue
        holder = entry.ball.holder
        if holder != ball or not since:
            ball, since = holder, entry.id
        if holder is not None and holder != entry.agent:
            passes.pop(holder, None)  # to insert it at the end
            passes[holder] = entry.agent
    handovers = tuple(Pass(to, by) for to, by in passes.items())
    return {"ball": ball, "since": since, "passes": handovers}


def apply(state: State, entry: Entry) -> State:
    """Return the state after ``entry``.

    The entry must name all heads as its parents and have a greater id than
    all entries before it.
    """
    changes = {} if entry.ball is None else _pass_ball(state, entry, entry.ball)
    if not state.entry_count:
        changes["created_at"] = entry.at
        changes["title"] = state.title or entry.title
    readers = [
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
        participants=(*readers, Participant(entry.agent, 0)),
        **changes,
    )


def _pass_ball(state: State, entry: Entry, ball: Ball) -> dict[str, Any]:
    """The fields of ``state`` that change when ``entry`` moves the ball."""
    changes: dict[str, Any] = {"ball": ball.holder}
    if ball.holder != state.ball or not state.since:
        changes["since"] = entry.id
    if ball.holder is not None and ball.holder != entry.agent:
        earlier = [handover for handover in state.passes if handover.to != ball.holder]
        changes["passes"] = (*earlier, Pass(ball.holder, entry.agent))
    return changes


def _with_graph(state: State, entries: Sequence[Entry]) -> State:
    """The same state, with heads and NEW counts from the graph of parents."""
    graph = parent_graph(entries)
    all_parents = {parent for parents in graph.values() for parent in parents}
    heads = tuple(entry_id for entry_id in graph if entry_id not in all_parents)
    last_ids = {entry.agent: entry.id for entry in entries}
    participants = tuple(
        Participant(name, len(_unseen(name.__eq__, (last_ids[name],), entries, graph)))
        for name, _ in state.participants
    )
    return state._replace(heads=heads, participants=participants)


def parent_graph(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """The parents of each entry, by its id.

    Only parents among ``entries`` count. If none were recorded, the parent is
    the entry before.
    """
    ids = {entry.id for entry in entries}
    graph: dict[str, tuple[str, ...]] = {}
    previous: tuple[str, ...] = ()
    for entry in entries:
        parents = previous if entry.parents is None else entry.parents
        graph[entry.id] = tuple(parent for parent in parents if parent in ids)
        previous = (entry.id,)
    return graph


def ancestors(heads: Iterable[str], graph: Mapping[str, tuple[str, ...]]) -> set[str]:
    """``heads`` and all entries that they descend from."""
    visited: set[str] = set()
    pending = [head for head in heads if head in graph]
    while pending:
        entry_id = pending.pop()
        if entry_id not in visited:
            visited.add(entry_id)
            pending.extend(graph[entry_id])
    return visited


def _unseen(
    is_me: Callable[[str], bool],
    seen_heads: Iterable[str],
    entries: Sequence[Entry],
    graph: Mapping[str, tuple[str, ...]],
) -> list[Entry]:
    """The entries of others that ``seen_heads`` do not descend from."""
    seen_ids = ancestors(seen_heads, graph)
    return [
        entry
        for entry in entries
        if entry.id not in seen_ids and not is_me(entry.agent)
    ]


def new_count(state: State, is_me: Callable[[str], bool], read: int) -> int:
    """Count the entries that are NEW for a participant who had read ``read`` of them.

    A number is enough, and no log needs to be opened: the heads at the moment
    of reading had all entries of that moment as ancestors.
    """
    return min(state.new_for(is_me), max(0, state.entry_count - read))


def new_entries(
    is_me: Callable[[str], bool],
    entries: Sequence[Entry],
    cursor: Iterable[str] = (),
) -> list[Entry]:
    """The entries that are NEW for a participant.

    They are written by others, and are ancestors neither of the participant's
    last entry nor of ``cursor``, the heads that the participant had read.
    """
    own_ids = [entry.id for entry in entries if is_me(entry.agent)]
    return _unseen(is_me, [*own_ids[-1:], *cursor], entries, parent_graph(entries))
