"""The rules of the ball: what a say, ack, handoff, take, … does to a thread.

Everything here is pure. `decide` takes the thread's state, a draft, its
author and the settings. It returns where the ball goes and which status the
thread gets, or raises the refusal, with a command that gets past it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_core import names
from wc_core.errors import ConflictError, InvalidInputError
from wc_core.names import FREE_WORDS
from wc_core.phrases import quoted
from wc_core.threads.model import CLOSED, FREE, OPEN, Ball, State

if TYPE_CHECKING:
    from wc_core.names import Name
    from wc_core.threads.settings import Settings


class Draft(NamedTuple):
    """An entry that is to be written.

    ``to`` is a written name, one of the words for "anyone", or empty.
    ``if_ball`` and ``if_last`` make the write conditional, ``key`` makes it
    idempotent. ``force``, ``reopen`` and ``reason`` get past refusals.
    """

    topic: str
    action: str
    title: str
    body: str = ""
    role: str = ""
    type: str = "Note"
    to: str = ""
    status: str = ""
    reason: str = ""
    key: str = ""
    if_ball: str = ""
    if_last: str = ""
    force: bool = False
    reopen: bool = False
    new: bool = False
    thread_branch: str = ""
    new_topic: str = ""
    supersedes: str = ""
    tags_added: tuple[str, ...] = ()
    tags_removed: tuple[str, ...] = ()


class Move(NamedTuple):
    """What an entry changes (``None``: nothing), and notes for its author."""

    ball: Ball | None = None
    status: str | None = None
    notes: tuple[str, ...] = ()


def decide(state: State, draft: Draft, me: Name, settings: Settings) -> Move:
    """Return the move that ``draft`` makes on ``state`` (empty for a new thread).

    Raises ConflictError if a condition of the draft does not hold, or if the
    ball policy, a closed thread or a missing reason forbids the move.
    """
    proposal = _Proposal(state, draft, me, settings)
    proposal.check_conditions()
    return _MOVES[draft.action](proposal)


class _Proposal(NamedTuple):
    """A draft, with everything that decides whether it may move the ball.

    The methods that begin with ``check`` raise ConflictError.
    """

    state: State
    draft: Draft
    me: Name
    settings: Settings

    @property
    def is_mine(self) -> bool:
        """Whether the author holds the ball."""
        ball = self.state.ball
        return ball is not None and self.settings.directory.matches(ball, self.me)

    @property
    def is_free(self) -> bool:
        return self.state.ball is None

    @property
    def is_closed(self) -> bool:
        return self.state.status == CLOSED

    @property
    def may_pass(self) -> bool:
        """Whether a say may move the ball."""
        return self.is_mine or self.is_free or self.settings.enforce == "off"

    @property
    def holder(self) -> str:
        return holder_text(self.state.ball)

    @property
    def take_command(self) -> str:
        return f"wc take {self.draft.topic} --reason '…'"

    def addressee(self) -> Ball | None:
        """Where ``--to`` says that the ball goes; ``None`` without it."""
        to = self.draft.to
        if not to:
            return None
        if to.casefold() in FREE_WORDS:
            return FREE
        if to.casefold() == "me":
            return Ball(str(self.me))
        return Ball(str(self.settings.directory.canonical(names.parse(to))))

    def addressee_or_me(self) -> Ball:
        return self.addressee() or Ball(str(self.me))

    def next_holder(self) -> Ball:
        """The addressee, else the counterpart, else nobody."""
        return self.addressee() or counterpart(self.state, self.me, self.settings)

    def check_conditions(self) -> None:
        """Refuse if ``--if-last`` or ``--if-ball`` does not hold."""
        state, draft = self.state, self.draft
        if draft.if_last and draft.if_last != state.last_id:
            raise ConflictError(
                f"{draft.topic} has moved on: its last entry is "
                f"{state.last_id or 'none'}, not {draft.if_last}.",
                f"Read what is new first: wc read {draft.topic}",
            )
        if draft.if_ball and not self._ball_is_at(draft.if_ball):
            raise ConflictError(
                f"The ball of {draft.topic} is at {self.holder}, "
                f"not at {draft.if_ball}.",
                f"Read the thread, then decide again: wc read {draft.topic}",
            )

    def _ball_is_at(self, written: str) -> bool:
        """Whether the holder is the one of a written name."""
        ball = self.state.ball
        if written.casefold() in FREE_WORDS:
            return ball is None
        if ball is None:
            return False
        if written.casefold() == "me":
            return self.is_mine
        return self.settings.directory.matches(written, names.parse(ball))

    def check_is_open(self) -> None:
        """Refuse if the thread is closed."""
        if self.is_closed:
            topic = self.draft.topic
            raise ConflictError(
                f"{topic} is closed.",
                f"Reopen it with an entry: wc say {topic} --reopen --title '…'",
            )

    def check_policy(self) -> None:
        """Refuse if the store lets only the holder say, and that is not the author."""
        if self.settings.enforce == "refuse" and not self.may_pass:
            topic = self.draft.topic
            raise ConflictError(
                f"The ball of {topic} is at {self.holder}, and this store lets "
                "only its holder say.",
                f"Add a remark with: wc ack {topic}, or take it: {self.take_command}",
            )


def _new(proposal: _Proposal) -> Move:
    """A new thread: its ball goes to the addressee, else to the author."""
    if proposal.state.entry_count:
        topic = proposal.draft.topic
        raise ConflictError(
            f"There is a thread {topic} already: {proposal.state.title!r}.",
            f"Add to it with: wc say {topic} --title '…'",
        )
    status = proposal.draft.status or OPEN
    if status == CLOSED:
        return Move(FREE, CLOSED)
    return Move(proposal.addressee_or_me(), status)


def _say(proposal: _Proposal) -> Move:
    """A contribution: it passes the ball on, if the author may do that."""
    if proposal.is_closed and proposal.draft.reopen:
        return _reopen(proposal)
    proposal.check_is_open()
    proposal.check_policy()
    status = proposal.draft.status or None
    if status == CLOSED:
        return _close(proposal)
    if not proposal.state.entry_count:
        status = status or OPEN
    if proposal.may_pass:
        return Move(proposal.next_holder(), status)
    holder, command = proposal.holder, proposal.take_command
    return Move(None, status, (f"the ball stays with {holder}; to take it: {command}",))


def _reopen(proposal: _Proposal) -> Move:
    """A say in a closed thread: the ball goes to the addressee, else to the author."""
    status = proposal.draft.status or OPEN
    if status == CLOSED:
        return _close(proposal)
    return Move(proposal.addressee_or_me(), status)


def _close(proposal: _Proposal) -> Move:
    """A say that closes the thread, which frees the ball whatever ``--to`` says."""
    to = proposal.draft.to
    notes = (f"closing frees the ball; it does not go to {to}",) if to else ()
    return Move(FREE, CLOSED, notes)


def _ack(_: _Proposal) -> Move:
    """A remark, which changes nothing."""
    return Move()


def _handoff(proposal: _Proposal) -> Move:
    """The ball goes on. Passing on the ball of another holder needs a reason."""
    proposal.check_is_open()
    draft, state = proposal.draft, proposal.state
    if not (proposal.is_mine or proposal.is_free or draft.reason):
        raise ConflictError(
            f"The ball of {draft.topic} is at {proposal.holder}, not with you.",
            f"To pass it on for them, say why: wc handoff {draft.topic} "
            f"--to {quoted(draft.to or 'NAME')} --reason '…'",
        )
    ball = proposal.next_holder()
    if ball.holder == state.ball:
        place = "free" if ball.holder is None else f"at {ball.holder}"
        raise ConflictError(
            f"The ball of {draft.topic} is {place} already.",
            f"Name who should have it: wc handoff {draft.topic} --to NAME",
        )
    return Move(ball)


def _take(proposal: _Proposal) -> Move:
    """The ball goes to the author; from another holder only with a reason."""
    proposal.check_is_open()
    draft = proposal.draft
    # Exactly: with the ball at "Codex", Codex@fix may still take it to its full name.
    if proposal.state.ball == str(proposal.me):
        raise ConflictError(
            f"You hold the ball of {draft.topic} already.",
            f"Your move: wc say {draft.topic} --title '…'",
        )
    if not (proposal.is_mine or proposal.is_free or draft.reason):
        raise ConflictError(
            f"The ball of {draft.topic} is at {proposal.holder}.",
            f"If it is stuck there, say why you take it: {proposal.take_command}",
        )
    return Move(Ball(str(proposal.me)))


def _set_status(proposal: _Proposal) -> Move:
    """Another status. Closing frees the ball, which otherwise stays."""
    status = proposal.draft.status
    if not status:
        raise InvalidInputError("No status was given.", "Name one, such as IN_REVIEW.")
    if status == proposal.state.status:
        raise ConflictError(
            f"{proposal.draft.topic} is {status} already.", "Nothing was written."
        )
    return Move(FREE if status == CLOSED else None, status)


_MOVES = {
    "new": _new,
    "say": _say,
    "ack": _ack,
    "handoff": _handoff,
    "take": _take,
    "set_status": _set_status,
}


def holder_text(holder: str | None) -> str:
    """The holder of a ball in words: a free ball is for anyone."""
    return "anyone" if holder is None else holder


def counterpart(state: State, me: Name, settings: Settings) -> Ball:
    """Where the ball goes after ``me`` if nobody is named.

    To the configured counterpart, else to the last who passed me the ball,
    else to the last other participant, else to anyone.
    """
    configured = _configured_counterpart(state.topic, me, settings)
    if configured is not None:
        return Ball(configured)
    directory = settings.directory
    for to, by in reversed(state.passes):
        # "By me" needs the very same name: the same agent in the main
        # worktree, where its name has no seat, is another participant than in
        # a linked worktree.
        if directory.matches(to, me) and not directory.same(by, str(me)):
            return Ball(by)
    for name, _ in reversed(state.participants):
        if name and not directory.same(name, str(me)):
            return Ball(name)
    return FREE


def _configured_counterpart(topic: str, me: Name, settings: Settings) -> str | None:
    """The counterpart of ``me`` in the settings, its alias resolved.

    One for the topic comes before a global one, one for the fuller form of
    my name before one for a shorter form. Of a list, the first counts that is
    somebody else.
    """
    directory = settings.directory
    for table in (settings.topic_counterparts.get(topic, {}), settings.counterparts):
        by_key = {directory.key(names.parse(name)): to for name, to in table.items()}
        for key in directory.match_keys(me):
            for written in by_key.get(key, ()):
                name = str(directory.canonical(names.parse(written)))
                if not directory.matches(name, me):
                    return name
    return None


def unknown_parts(to: str, people: list[str], settings: Settings) -> list[str]:
    """The parts of a written name (agent, seat, tag) that none of ``people`` has.

    Empty if the name is fine. ``me`` and the words for "anyone" always are.
    """
    if not to or to.casefold() in FREE_WORDS or to.casefold() == "me":
        return []
    canonical = settings.directory.canonical
    addressee = canonical(names.parse(to))
    participants = [canonical(names.parse(person)) for person in people]
    unknown = []
    for part in ("agent", "seat", "tag"):
        value = names.fold(getattr(addressee, part))
        values = {names.fold(getattr(name, part)) for name in participants}
        if value and value not in values:
            unknown.append(part)
    return unknown
