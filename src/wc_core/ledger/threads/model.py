"""The values of a thread, and the fold of its log into a state.

The values are named tuples rather than dataclasses: importing ``dataclasses`` takes
about as long as starting Python, and every command would pay for it.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.gates import BUDGET, GATES
from wc_core.ledger.threads.landings import NO_LANDING, Landing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.ledger.threads.gates import Gate
    from wc_core.ledger.threads.linerefs import LineRef

STATUSES = ("OPEN", "IN_REVIEW", "BLOCKED", "CLOSED")
ROLES = ("planner", "critic", "implementer", "tester", "pm", "scribe")
ENTRY_TYPES = ("Note", "Plan", "Decision", "PR", "Closure")
# What an entry gets if its author names none, as in older tools.
DEFAULT_ROLE, DEFAULT_TYPE, CLOSING_TYPE = "implementer", "Note", "Closure"
KINDS = ("note", "decision", "warning", "research", "question", "pivot")
# From the least to the greatest, in the words of most trackers and advisories.
SEVERITIES = ("low", "medium", "high", "critical")
ACTIONS = (
    *("new", "say", "ack", "handoff", "take", "set_status", "done"),
    *("move", "amend", "retract", "rename", "tag", "link", "unlink", "ready"),
)

OPEN, IN_REVIEW, BLOCKED, CLOSED = STATUSES
_, DECISION, _, _, QUESTION, _ = KINDS
# What a review says about the work.
OUTCOMES = ("approved", "changes_requested")
APPROVED, CHANGES_REQUESTED = OUTCOMES


class Ball(NamedTuple):
    """Where a ball goes: to one holder, or to no one (free)."""

    holder: str | None


FREE = Ball(None)


def holder_text(holder: str | None) -> str:
    """The holder of a ball in words: anyone may take a free ball."""
    return "anyone" if holder is None else holder


def ball_text(status: str, holder: str | None) -> str:
    """The holder of a thread's ball in words; a dash for a closed thread, in which no
    move is due."""
    return "\N{EN DASH}" if status == CLOSED else holder_text(holder)


class Base(NamedTuple):
    """The thread's fields in ``meta.json`` when wc first wrote to its log.

    Only threads begun by another tool have this.
    """

    title: str = ""
    status: str = OPEN
    ball: str | None = None
    summary: str = ""


class Link(NamedTuple):
    """A link from a thread to another: one of `wc_core.ledger.planning.kinds`, the
    topic of the other, and the id of the entry that made the link (in an entry:
    empty)."""

    kind: str
    topic: str
    id: str = ""


class OpenQuestion(NamedTuple):
    """An open question: the id of its entry, who asked whom, and its title."""

    id: str
    asker: str
    asked: str
    title: str


class Item(NamedTuple):
    """An item of a thread's checklist. The ``id`` of a box in the first entry's text is
    the id of that entry, ``#``, and its number, from 1; of an item that an older
    version added, the id of its entry, a dot, and its position there. ``checked`` is
    the entry that ticked it; empty until then."""

    id: str
    text: str
    checked: str = ""


class Entry(NamedTuple):
    """One line of a log.

    ``ball`` and ``status`` are ``None`` on an entry that does not change them, and so
    are the fields after them: ``thread_branch`` is the branch that the thread belongs
    to from now on, ``new_topic`` another name for it, and ``supersedes`` the id of the
    entry that this one replaces: its text (``amend``), or the whole of it
    (``retract``). ``items_added`` are texts, the other changes of a checklist the ids
    of items. ``parents`` are the heads of the thread when the entry was written;
    ``None`` if the writer recorded none (older tools), and then the parent is the
    previous entry. ``asks`` is who has to answer the entry, ``answers`` the id of the
    question that it answers or withdraws. ``outcome`` is the outcome of a review: one
    of `reviews.OUTCOMES`, ``approved_commit`` what an approval is about, ``landing``
    the outcome of an attempt to land the branch, and ``run_by`` the agent that gave an
    outcome under a person's name. ``at`` is the timestamp as written, RFC 3339.
    ``via`` is the branch by which it came, if not with the others; it is not part of
    the line. ``extra`` has the keys of other tools, unchanged.
    """

    id: str
    topic: str
    agent: str
    at: str
    title: str = ""
    body: str = ""
    role: str = ""
    type: str = DEFAULT_TYPE
    action: str = ""
    ball: Ball | None = None
    status: str | None = None
    thread_branch: str = ""
    new_topic: str = ""
    supersedes: str = ""
    tags_added: tuple[str, ...] = ()
    tags_removed: tuple[str, ...] = ()
    asks: str = ""
    answers: str = ""
    links_added: tuple[Link, ...] = ()
    links_removed: tuple[Link, ...] = ()
    items_added: tuple[str, ...] = ()
    items_removed: tuple[str, ...] = ()
    items_checked: tuple[str, ...] = ()
    items_unchecked: tuple[str, ...] = ()
    outcome: str = ""
    approved_commit: str = ""
    landing: Landing = NO_LANDING
    parents: tuple[str, ...] | None = None
    base: Base | None = None
    summary: str = ""
    file_refs: tuple[str, ...] = ()
    line_refs: tuple[LineRef, ...] = ()
    pr_refs: tuple[int, ...] = ()
    commit_refs: tuple[str, ...] = ()
    code_branch: str = ""
    code_commit: str = ""
    key: str = ""
    reason: str = ""
    kind: str = ""
    severity: str = ""
    run_by: str = ""
    via: str = ""
    extra: Mapping[str, Any] = MappingProxyType({})

    @property
    def is_rare(self) -> bool:
        """Whether it changes what few entries change: place, name, text, tags,
        questions, links, gates, a checklist, an outcome or a landing."""
        is_older = GATES in self.extra or BUDGET in self.extra
        return is_older or self[_RARE] != _NOT_RARE

    @property
    def may_release(self) -> bool:
        """Whether it may end what the thread waits for: a link, or what an older
        version made."""
        is_without_limit = self.extra.get(BUDGET) == 0
        return bool(self.links_removed) or GATES in self.extra or is_without_limit

    @property
    def any_kind(self) -> str:
        """Its kind; ``decision`` if only its type says so."""
        return self.kind or (DECISION if self.type == "Decision" else "")

    @property
    def is_by_wc(self) -> bool:
        """Whether the entry has any of the fields that only wc writes."""
        return bool(self.action or self.base or self.ball or self.status) or (
            self.parents is not None
        )


_RARE = slice(Entry._fields.index("thread_branch"), Entry._fields.index("parents"))
_NOT_RARE = Entry("", "", "", "")[_RARE]


class Participant(NamedTuple):
    """An author in a thread, and the number of entries that are NEW for them.

    An entry is NEW for a participant if someone else wrote it and it is not an ancestor
    of the participant's last entry.
    """

    name: str
    new: int


class Pass(NamedTuple):
    """The last time that the ball went to ``to``, and who passed it.

    If the ball was taken, the former holder counts as the one who passed it.
    """

    to: str
    by: str


class Review(NamedTuple):
    """The latest outcome of a review: ``by`` wrote it, in the entry ``id``, about the
    work of ``of``, who had the ball then.

    ``outcome`` is empty while the next review is in progress. ``rounds`` counts how
    often changes were requested between these two since the last approval. ``commit``
    is what was approved; empty if that is not known. ``run_by`` is the agent that wrote
    it under the name of the person ``by``.
    """

    outcome: str = ""
    by: str = ""
    of: str = ""
    id: str = ""
    rounds: int = 0
    commit: str = ""
    run_by: str = ""

    @property
    def text(self) -> str:
        """The outcome in words, with its author; empty if there is none."""
        words = outcome_text(self.outcome)
        return f"{words} by {self.by_text}" if words else ""

    @property
    def by_text(self) -> str:
        """Who wrote it, in words: an agent that spoke as a person is named."""
        return f"{self.run_by}, as {self.by}" if self.run_by else self.by

    def to_json(self) -> dict[str, str]:
        """The outcome, its author and what was approved, as in the list shape; empty if
        there is none."""
        if not self.outcome:
            return {}
        fields = {"outcome": self.outcome, "outcome_by": self.by}
        fields |= {"outcome_run_by": self.run_by} if self.run_by else {}
        return fields | ({"approved_commit": self.commit} if self.commit else {})


NO_REVIEW = Review()


def outcome_text(outcome: str) -> str:
    """An outcome in words: ``changes requested``."""
    return outcome.replace("_", " ")


def reviewed(review: Review, entry: Entry, of: str) -> Review:
    """The review after an entry with an outcome, about the work of ``of``. An unknown
    outcome changes nothing: a newer version may have written it."""
    outcome, by, entry_id = entry.outcome, entry.agent, entry.id
    if outcome == APPROVED:
        commit, run_by = entry.approved_commit, entry.run_by
        return Review(outcome, by, of, entry_id, commit=commit, run_by=run_by)
    if outcome != CHANGES_REQUESTED:
        return review
    is_same_pair = {review.by, review.of} == {by, of}
    rounds = review.rounds + 1 if is_same_pair else 1
    return Review(outcome, by, of, entry_id, rounds, run_by=entry.run_by)


class State(NamedTuple):
    """The fold of a log: everything about a thread except its entries.

    ``participants`` and ``passes`` run from the least to the most recent.
    ``heads`` are the entries that are not a parent of any other entry: one, or more
    in a fork (two clones wrote at the same time). ``since`` is the id of the
    entry that gave the ball to its holder. ``first_id`` is the first entry,
    ``first_by`` its author if it has text, ``last_id`` the greatest id.

    ``asker`` opened the thread, or reopened it: the ball goes there when the work
    is done. ``bounces`` counts the latest passes that were between the same two,
    without a change of status. ``branch`` is the branch that the thread belongs
    to: the one that an entry named for it, else the one it was opened from.
    ``names`` are the names it was given after ``topic``, under which it is
    stored; the latest, which is its name now, is the last.

    ``tags_id`` is the last entry that changed ``tags``. ``links`` are those to other
    threads, ``questions`` those without an answer, ``items`` its checklist,
    ``gates`` what an older version has it wait for; the oldest first. ``review`` is the
    outcome of its latest review, ``landing`` the latest attempt to land its branch.

    ``lost`` counts the lines of the log that are not entries; it is here so that
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
    asker: str = ""
    bounces: int = 0
    first_id: str = ""
    first_by: str = ""
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tags_id: str = ""
    links: tuple[Link, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    items: tuple[Item, ...] = ()
    gates: tuple[Gate, ...] = ()
    review: Review = NO_REVIEW
    landing: Landing = NO_LANDING
    lost: int = 0

    @property
    def name(self) -> str:
        """The thread's name: its topic, or what it was renamed to last."""
        return self.names[-1] if self.names else self.topic

    @property
    def forked(self) -> bool:
        """Whether the thread has more than one head: two histories, not yet joined."""
        return len(self.heads) > 1

    @property
    def people(self) -> list[str]:
        """Everyone who wrote, was passed the ball or holds it."""
        writers = [participant.name for participant in self.participants]
        receivers = [handover.to for handover in self.passes]
        return [name for name in (*writers, *receivers, self.ball or "") if name]

    def new_for(self, is_me: Callable[[str], bool]) -> int:
        """Count the entries that are NEW for a participant, ignoring read cursors.

        ``is_me`` tells which names are theirs. If several are, the one that wrote last
        counts: it has the fewest NEW entries.
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


def written_by_wc(entries: Iterable[Entry]) -> bool:
    """Whether wc wrote any of the entries. If so, the log alone has the whole state."""
    return any(entry.is_by_wc for entry in entries)


def parent_graph(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """The parents of each entry, by its id.

    Only parents among ``entries`` count. If none were recorded, the parent is the
    previous entry.
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


def unseen(
    is_me: Callable[[str], bool],
    seen_heads: Iterable[str],
    entries: Sequence[Entry],
    graph: Mapping[str, tuple[str, ...]],
) -> list[Entry]:
    """The entries of others that are not ancestors of ``seen_heads``."""
    seen_ids = ancestors(seen_heads, graph)
    return [
        entry
        for entry in entries
        if entry.id not in seen_ids and not is_me(entry.agent)
    ]


def new_count(state: State, is_me: Callable[[str], bool], read: int) -> int:
    """Count the entries that are NEW for a participant who had read ``read`` of them.

    A number is enough, and no log needs to be opened: the heads at the moment of
    reading had all entries of that moment as ancestors.
    """
    return min(state.new_for(is_me), max(0, state.entry_count - read))


def new_entries(
    is_me: Callable[[str], bool],
    entries: Sequence[Entry],
    cursor: Iterable[str] = (),
) -> list[Entry]:
    """The entries that are NEW for a participant.

    They are by others, and are ancestors neither of the participant's last entry nor of
    ``cursor``, the heads that the participant had read.
    """
    own_ids = [entry.id for entry in entries if is_me(entry.agent)]
    return unseen(is_me, [*own_ids[-1:], *cursor], entries, parent_graph(entries))
