"""The moves of the game: what a say, ack, handoff, take, … does to a thread.

Pure: a state, a draft, who makes it and under which rules go in; where the
ball goes and which status the thread has come out, or the refusal and the
command that gets past it.
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
    """What somebody wants to write.

    ``to`` is a written name, one of the words for "anyone", or empty.
    ``if_ball`` and ``if_last`` make the write conditional, ``key``
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


class Move(NamedTuple):
    """What an entry changes (``None``: nothing) and what to tell its author."""

    ball: Ball | None = None
    status: str | None = None
    notes: tuple[str, ...] = ()


def decide(state: State, draft: Draft, me: Name, settings: Settings) -> Move:
    """The move ``draft`` makes on ``state`` (empty for a new thread).

    Raises ConflictError where a condition does not hold or the ball policy,
    a closed thread or a missing reason forbids it.
    """
    _check_conditions(state, draft, me, settings)
    return _MOVES[draft.action](_MoveInput(state, draft, me, settings))


def _check_conditions(state: State, draft: Draft, me: Name, settings: Settings) -> None:
    if draft.if_last and draft.if_last != state.last_id:
        raise ConflictError(
            f"{draft.topic} has moved on: its last entry is {state.last_id or 'none'}, "
            f"not {draft.if_last}.",
            f"Read what is new first: wc read {draft.topic}",
        )
    if draft.if_ball and not _ball_is(draft.if_ball, state, me, settings):
        raise ConflictError(
            f"The ball of {draft.topic} is at {holder_text(state.ball)}, "
            f"not at {draft.if_ball}.",
            f"Read the thread, then decide anew: wc read {draft.topic}",
        )


def _ball_is(wanted: str, state: State, me: Name, settings: Settings) -> bool:
    directory = settings.directory
    if wanted.casefold() in FREE_WORDS:
        return state.ball is None
    if state.ball is None:
        return False
    if wanted.casefold() == "me":
        return directory.matches(state.ball, me)
    return directory.matches(wanted, names.parse(state.ball))


class _MoveInput(NamedTuple):
    """What every move looks at."""

    state: State
    draft: Draft
    me: Name
    settings: Settings

    @property
    def mine(self) -> bool:
        ball = self.state.ball
        return ball is not None and self.settings.directory.matches(ball, self.me)

    @property
    def free(self) -> bool:
        return self.state.ball is None

    @property
    def holder(self) -> str:
        return holder_text(self.state.ball)

    @property
    def closed(self) -> bool:
        return self.state.status == CLOSED

    @property
    def command(self) -> str:
        return f"wc take {self.draft.topic} --reason '…'"

    def addressee(self) -> Ball | None:
        """Where ``--to`` says the ball goes."""
        to = self.draft.to
        if not to:
            return None
        if to.casefold() in FREE_WORDS:
            return FREE
        if to.casefold() == "me":
            return Ball(str(self.me))
        return Ball(str(self.settings.directory.canonical(names.parse(to))))

    def next_holder(self) -> Ball:
        """``--to``, else the counterpart, else nobody."""
        return self.addressee() or counterpart(self.state, self.me, self.settings)

    @property
    def may_pass(self) -> bool:
        """Whether a say may move the ball."""
        return self.mine or self.free or self.settings.enforce == "off"

    def refuse_others(self) -> None:
        if self.settings.enforce == "refuse" and not self.may_pass:
            topic = self.draft.topic
            raise ConflictError(
                f"The ball of {topic} is at {self.holder}, and this store lets "
                "only its holder say.",
                f"Add a remark with: wc ack {topic}, or take it: {self.command}",
            )

    def refuse_closed(self) -> None:
        if self.closed:
            topic = self.draft.topic
            raise ConflictError(
                f"{topic} is closed.",
                f"Reopen it with an entry: wc say {topic} --reopen --title '…'",
            )


def _new(table: _MoveInput) -> Move:
    if table.state.entry_count:
        topic = table.draft.topic
        raise ConflictError(
            f"There is a thread {topic} already: {table.state.title!r}.",
            f"Add to it with: wc say {topic} --title '…'",
        )
    status = table.draft.status or OPEN
    if status == CLOSED:
        return Move(FREE, CLOSED)
    return Move(table.addressee() or Ball(str(table.me)), status)


def _say(table: _MoveInput) -> Move:
    draft = table.draft
    if not draft.reopen:
        table.refuse_closed()
    reopened = OPEN if table.closed and draft.reopen else None
    status = draft.status or reopened
    if not table.state.entry_count and not status:
        status = OPEN
    if not reopened:
        table.refuse_others()
    if status == CLOSED:
        return Move(FREE, CLOSED, _passing_is_pointless(table))
    if reopened:
        return Move(table.addressee() or Ball(str(table.me)), status)
    if table.may_pass:
        return Move(table.next_holder(), status)
    note = f"the ball stays with {table.holder}; to take it: {table.command}"
    return Move(None, status, (note,))


def _passing_is_pointless(table: _MoveInput) -> tuple[str, ...]:
    if not table.draft.to:
        return ()
    return (f"closing frees the ball; it does not go to {table.draft.to}",)


def _ack(_: _MoveInput) -> Move:
    return Move()


def _handoff(table: _MoveInput) -> Move:
    table.refuse_closed()
    draft = table.draft
    if not (table.mine or table.free or draft.reason):
        raise ConflictError(
            f"The ball of {draft.topic} is at {table.holder}, not with you.",
            f"To pass it on for them, say why: wc handoff {draft.topic} "
            f"--to {quoted(draft.to or 'NAME')} --reason '…'",
        )
    ball = table.next_holder()
    if ball.holder == table.state.ball:
        where = "free" if ball.holder is None else f"at {ball.holder}"
        raise ConflictError(
            f"The ball of {draft.topic} is {where} already.",
            f"Name who shall have it: wc handoff {draft.topic} --to NAME",
        )
    return Move(ball, None)


def _take(table: _MoveInput) -> Move:
    table.refuse_closed()
    draft = table.draft
    if table.state.ball == str(table.me):
        raise ConflictError(
            f"You hold the ball of {draft.topic} already.",
            f"Your move: wc say {draft.topic} --title '…'",
        )
    if not (table.mine or table.free or draft.reason):
        raise ConflictError(
            f"The ball of {draft.topic} is at {table.holder}.",
            f"If it is stuck there, say why you take it: {table.command}",
        )
    return Move(Ball(str(table.me)), None)


def _set_status(table: _MoveInput) -> Move:
    status = table.draft.status
    if not status:
        raise InvalidInputError("No status was given.", "Name one, such as IN_REVIEW.")
    if status == table.state.status:
        raise ConflictError(
            f"{table.draft.topic} is {status} already.", "Nothing was written."
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
    """A holder in words: a free ball is for anyone."""
    return "anyone" if holder is None else holder


def counterpart(state: State, me: Name, settings: Settings) -> Ball:
    """Who has the next move after ``me`` when nobody is named: as configured,
    else whoever last passed me the ball, else the last other participant,
    else anyone."""
    configured = _configured(state.topic, me, settings)
    if configured is not None:
        return Ball(configured)
    directory = settings.directory
    for passed in reversed(state.passes):
        # Ourselves is the very same name: an agent in the main worktree, whose
        # name has no seat, is somebody else to the one in a linked worktree.
        by_me = directory.same(passed.by, str(me))
        if directory.matches(passed.to, me) and not by_me:
            return Ball(passed.by)
    for name, _ in reversed(state.participants):
        if name and not directory.same(name, str(me)):
            return Ball(name)
    return FREE


def _configured(topic: str, me: Name, settings: Settings) -> str | None:
    """The configured counterpart: of the topic before the global one, by the
    fullest form of the name first; aliases resolved."""
    directory = settings.directory
    for table in (settings.topic_counterparts.get(topic, {}), settings.counterparts):
        by_key = {directory.key(names.parse(name)): to for name, to in table.items()}
        for key in directory.match_keys(me):
            for name in by_key.get(key, ()):
                found = directory.canonical(names.parse(name))
                if not directory.matches(str(found), me):
                    return str(found)
    return None


def check_known(to: str, known: list[str], settings: Settings) -> list[str]:
    """The parts of a written name that nobody in ``known`` has; empty when
    the name is fine. Words for "anyone" and ``me`` always are."""
    if not to or to.casefold() in FREE_WORDS or to.casefold() == "me":
        return []
    wanted = settings.directory.canonical(names.parse(to))
    people = [settings.directory.canonical(names.parse(one)) for one in known]
    unknown = []
    for part in ("agent", "seat", "tag"):
        value = names.fold(getattr(wanted, part))
        if value and value not in {names.fold(getattr(one, part)) for one in people}:
            unknown.append(part)
    return unknown
