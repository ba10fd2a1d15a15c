"""The fold of a log: from a thread's entries, in the order in which they take effect,
to its state."""

from __future__ import annotations

from wc_core.base import ulid
from wc_core.base.layout import is_slug
from wc_core.base.names import Directory, parse
from wc_core.ledger.threads.boxes import boxes_of
from wc_core.ledger.threads.gates import BUDGET, GATES, changed_gates, with_budget
from wc_core.ledger.threads.landings import DROPPED, NO_LANDING, landed
from wc_core.ledger.threads.model import (
    CLOSED,
    IN_REVIEW,
    NO_REVIEW,
    Item,
    Link,
    OpenQuestion,
    Participant,
    Pass,
    initial_state,
    parent_graph,
    reviewed,
    unseen,
    written_by_wc,
)
from wc_core.ledger.threads.revisions import (
    CORRECTIONS,
    RETRACT,
    RETRACTED,
    has_text,
    same_author,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import Base, Entry, State


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries by ULID, the order of a log.

    An entry whose id is not a ULID (damage, or another tool's) stays after the entry
    that it followed.
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


def in_effect_order(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries in the order in which they take effect: no entry before its parents,
    which its author had seen, and otherwise by ULID, as `in_order`.

    The two orders differ only if a clock was wrong, by more than a day ahead or behind.
    """
    ordered = in_order(entries)
    earlier_ids: set[str] = set()
    missing: list[str] = []
    for entry in ordered:
        parents = entry.parents or ()
        missing += [parent for parent in parents if parent not in earlier_ids]
        earlier_ids.add(entry.id)
    if earlier_ids.isdisjoint(missing):
        return ordered
    return [ordered[position] for position in _parents_first(ordered)]


def newest_seen(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the newest id that the author of an entry had seen, by the id of the
    entry, for those that a clock dated before it. The entries must be in the order in
    which they take effect."""
    newest: dict[str, str] = {}
    for entry in entries:
        parents = entry.parents or ()
        greatest = max((newest.get(parent, parent) for parent in parents), default="")
        if ulid.prefix(entry.id) < ulid.prefix(greatest):
            newest[entry.id] = greatest
    return newest


def _parents_first(ordered: Sequence[Entry]) -> Iterator[int]:
    """Yield the positions of entries, which are in the order of `in_order`: always the
    first one whose parents came before. Entries that name each other as parents, which
    no writer does, come as if they did not."""
    import heapq  # 0.5 ms, only where a clock was wrong

    positions = {entry.id: position for position, entry in enumerate(ordered)}
    children: dict[int, list[int]] = {}
    missing_parents = [0] * len(ordered)
    for position, entry in enumerate(ordered):
        parents = {positions[name] for name in entry.parents or () if name in positions}
        if entry.parents is None and position:
            parents = {position - 1}
        for parent in parents - {position}:
            children.setdefault(parent, []).append(position)
            missing_parents[position] += 1
    ready = [position for position, count in enumerate(missing_parents) if not count]
    done = [False] * len(ordered)
    for first in range(len(ordered)):
        # Whatever is left before this position is part of a circle.
        if not ready and not done[first]:
            ready.append(first)
        while ready:
            position = heapq.heappop(ready)
            if done[position]:
                continue
            done[position] = True
            yield position
            for child in children.get(position, ()):
                missing_parents[child] -= 1
                if not missing_parents[child]:
                    heapq.heappush(ready, child)


def fold(topic: str, entries: Sequence[Entry], meta: Base | None = None) -> State:
    """Return the state of a thread with these entries, which must be in order.

    The result equals applying `apply` to one entry after the other, without making a
    state for each. ``meta`` has the fields of a foreign ``meta.json``, see
    `_starting_base`.
    """
    state = initial_state(topic, _starting_base(entries, meta))
    if not entries:
        return state
    state = _fold_linear(state, entries)
    return state if is_linear(entries) else _with_graph(state, entries)


def _starting_base(entries: Sequence[Entry], meta: Base | None) -> Base | None:
    """The fields to start the fold with: the first ``base`` in the log.

    A log without any starts from ``meta``, unless wc has written to it: then the log
    alone is complete.
    """
    for entry in entries:
        if entry.base is not None:
            return entry.base
    return None if written_by_wc(entries) else meta


class _Folding:
    """The fields of a state that some entries change and most do not."""

    def __init__(self, state: State) -> None:
        self.title = state.title
        self.first_id = state.first_id
        self.first_by = state.first_by
        self.asker = state.asker
        self.status = state.status
        self.ball = state.ball
        self.since = state.since
        self.passes = {ball_pass.to: ball_pass.by for ball_pass in state.passes}
        self.last_pass = next(reversed(self.passes.items()), None)
        self.bounces = state.bounces
        self.branch = state.branch
        self.names = dict.fromkeys(state.names)
        self.tags = set(state.tags)
        self.tags_id = state.tags_id
        self.links = {(link.kind, link.topic): link for link in state.links}
        self.questions = {question.id: question for question in state.questions}
        self.items = {item.id: item for item in state.items}
        self.gates = state.gates
        self.review = state.review
        self.landing = state.landing

    def begin(self, entry: Entry) -> None:
        """Apply what only a first entry sets."""
        self.title = self.title or entry.title
        self.first_id = entry.id
        self._read_boxes(entry)
        self.first_by = entry.agent if has_text(entry) else ""

    def add(self, entry: Entry, number: int) -> None:
        """Apply the changes of ``entry``, which has this number."""
        if entry.status and entry.status != self.status:
            self._set_status(entry, entry.status)
        if entry.ball is not None:
            self._pass_ball(entry, entry.ball.holder)
        if entry.is_rare:
            self._add_rare(entry)
        if GATES in entry.extra:
            changes = entry.extra[GATES]
            self.gates = changed_gates(self.gates, changes, entry.id, number)
        if BUDGET in entry.extra:
            tokens = entry.extra[BUDGET]
            self.gates = with_budget(self.gates, tokens, entry.id, number)

    def add_all(self, entries: Sequence[Entry]) -> None:
        """Apply the changes of each of ``entries``; most change nothing."""
        for number, entry in enumerate(entries):
            if entry.is_rare or entry.status:
                self.add(entry, number)
            elif entry.ball is not None:
                self._pass_ball(entry, entry.ball.holder)

    def _set_status(self, entry: Entry, status: str) -> None:
        if self.status == CLOSED:
            self.asker = entry.agent or self.asker
            self.review, self.landing = NO_REVIEW, NO_LANDING
        elif status == IN_REVIEW:
            self.review = self.review._replace(outcome="", commit="")
        self.status = status
        self.bounces = 0

    def _pass_ball(self, entry: Entry, holder: str | None) -> None:
        previous, passer = self.ball, entry.agent
        if holder != previous or not self.since:
            self.since = entry.id
        self.ball = holder
        if entry.action == "take":
            passer = _taken_from(entry, previous)
        # The author of an older tool's move may be unknown.
        if holder is None or holder == passer or not passer:
            return
        if self.last_pass in ((passer, holder), (holder, passer)):
            self.bounces += 1
        else:
            self.bounces = 1
        self.last_pass = (holder, passer)
        self.passes.pop(holder, None)  # to insert it at the end
        self.passes[holder] = passer

    def _add_rare(self, entry: Entry) -> None:
        if entry.thread_branch:
            self.branch = entry.thread_branch
        # A push can contain any text, and names are part of commands and paths.
        if is_slug(entry.new_topic):
            self.names.pop(entry.new_topic, None)  # to insert it at the end
            self.names[entry.new_topic] = None
        if entry.supersedes == self.first_id and entry.action in CORRECTIONS:
            self._correct_title(entry)
        self._change_tags(entry)
        self._change_links(entry)
        self._change_items(entry)
        self._review(entry)
        if entry.landing != NO_LANDING:
            self.landing = landed(self.landing, entry.landing)

    def _review(self, entry: Entry) -> None:
        if entry.outcome:
            self.review = reviewed(self.review, entry, self.ball or "")
            if self.landing.problem == DROPPED:
                self.landing = NO_LANDING
        is_retracted = entry.action == RETRACT and entry.supersedes == self.review.id
        if is_retracted and same_author(self.review.by, entry.agent):
            self.review = NO_REVIEW

    def _change_tags(self, entry: Entry) -> None:
        if entry.tags_added or entry.tags_removed:
            self.tags_id = entry.id
        self.tags.difference_update(entry.tags_removed)
        self.tags.update(entry.tags_added)

    def _change_links(self, entry: Entry) -> None:
        self._add_question(entry)
        for link in entry.links_removed:
            self.links.pop((link.kind, link.topic), None)
        for link in entry.links_added:
            key = (link.kind, link.topic)
            self.links.setdefault(key, Link(*key, entry.id))

    def _add_question(self, entry: Entry) -> None:
        """Apply an open question, or the end of one."""
        if entry.asks:
            question = OpenQuestion(entry.id, entry.agent, entry.asks, entry.title)
            self.questions[entry.id] = question
        self.questions.pop(entry.answers, None)
        corrected = self.questions.get(entry.supersedes)
        if corrected is None or not same_author(corrected.asker, entry.agent):
            return
        if entry.action == RETRACT:
            del self.questions[corrected.id]
        elif entry.action in CORRECTIONS:
            self.questions[corrected.id] = corrected._replace(title=entry.title)

    def _change_items(self, entry: Entry) -> None:
        for item_id in entry.items_removed:
            self.items.pop(item_id, None)
        for position, text in enumerate(entry.items_added, 1):
            item_id = f"{entry.id}.{position}"
            self.items[item_id] = Item(item_id, text)
        for item_id in entry.items_checked:
            self._check_item(item_id, entry.id)
        for item_id in entry.items_unchecked:
            self._check_item(item_id, "")

    def _check_item(self, item_id: str, checked: str) -> None:
        item = self.items.get(item_id)
        if item is not None:
            self.items[item_id] = item._replace(checked=checked)

    def _correct_title(self, entry: Entry) -> None:
        if same_author(self.first_by, entry.agent):
            self.title = RETRACTED if entry.action == RETRACT else entry.title
            self._read_boxes(entry)

    def _read_boxes(self, entry: Entry) -> None:
        """Take the boxes from the first entry's text. One that has been ticked stays so
        if its text does."""
        own = f"{self.first_id}#"
        ticked = {item.text: item.checked for item in self.items.values()}
        found = {}
        for number, box in enumerate(boxes_of(entry.body), 1):
            checked = entry.id if box.is_ticked else ticked.get(box.text, "")
            found[f"{own}{number}"] = Item(f"{own}{number}", box.text, checked)
        apart = {k: v for k, v in self.items.items() if not k.startswith(own)}
        self.items = found | apart

    def fields(self) -> dict[str, Any]:
        """The fields in the form of a state."""
        return {
            "title": self.title,
            "first_id": self.first_id,
            "first_by": self.first_by,
            "asker": self.asker,
            "status": self.status,
            "ball": self.ball,
            "since": self.since,
            "passes": tuple(Pass(to, by) for to, by in self.passes.items()),
            "bounces": self.bounces,
            "branch": self.branch,
            "names": tuple(self.names),
            "tags": tuple(sorted(self.tags)),
            "tags_id": self.tags_id,
            "links": tuple(self.links.values()),
            "questions": tuple(self.questions.values()),
            "items": tuple(self.items.values()),
            "gates": self.gates,
            "review": self.review,
            "landing": self.landing,
        }


def _taken_from(entry: Entry, previous: str | None) -> str:
    """The previous holder, if the author took the ball from them.

    The author, which means no one else, if the ball was free or offered to them: if
    ``Codex`` has it, ``Codex@fix`` may take it over, and in the cloud, where the author
    may be, also if ``Codex@cloud`` has it.
    """
    offered = Directory(in_cloud=True)
    if previous is None or offered.matches(previous, parse(entry.agent)):
        return entry.agent
    return previous


def _fold_linear(state: State, entries: Sequence[Entry]) -> State:
    """The state after ``entries``, if each follows the previous one."""
    first, latest = entries[0], entries[-1]
    folding = _Folding(state)
    folding.begin(first)
    folding.asker = next((entry.agent for entry in entries if entry.agent), "")
    folding.branch = next(
        (item.code_branch for item in entries if item.code_branch), ""
    )
    folding.add_all(entries)
    return state._replace(
        **folding.fields(),
        created_at=first.at,
        entry_count=len(entries),
        last_id=max(entry.id for entry in entries),
        updated_at=latest.at,
        updated_by=latest.agent,
        heads=(latest.id,),
        participants=_participants(entries),
    )


def apply(state: State, entry: Entry) -> State:
    """Return the state after ``entry``.

    The entry must name all heads as its parents and have a greater id than
    all entries before it.
    """
    folding = _Folding(state)
    if not state.entry_count:
        folding.begin(entry)
    folding.asker = folding.asker or entry.agent
    folding.branch = folding.branch or entry.code_branch
    folding.add(entry, state.entry_count)
    readers = [
        Participant(name, new + 1)
        for name, new in state.participants
        if name != entry.agent
    ]
    return state._replace(
        **folding.fields(),
        created_at=state.created_at if state.entry_count else entry.at,
        entry_count=state.entry_count + 1,
        last_id=max(state.last_id, entry.id),
        updated_at=entry.at,
        updated_by=entry.agent,
        heads=(entry.id,),
        participants=(*readers, Participant(entry.agent, 0)),
    )


def is_linear(entries: Sequence[Entry]) -> bool:
    """Whether each entry has the previous one as its only parent."""
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


def _with_graph(state: State, entries: Sequence[Entry]) -> State:
    """The same state, with heads and NEW counts from the graph of parents."""
    graph = parent_graph(entries)
    all_parents = {parent for parents in graph.values() for parent in parents}
    heads = tuple(entry_id for entry_id in graph if entry_id not in all_parents)
    last_ids = {entry.agent: entry.id for entry in entries}
    participants = tuple(
        Participant(name, len(unseen(name.__eq__, (last_ids[name],), entries, graph)))
        for name, _ in state.participants
    )
    return state._replace(heads=heads, participants=participants)
