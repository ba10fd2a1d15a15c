"""The rules of the ball: what a say, ack, handoff, take, … does to a thread.

Everything here is pure. `decide` takes the thread's state, a draft, its author and the
settings. It returns where the ball goes and which status the thread gets, or raises the
refusal, with a command that gets past it.
"""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.names import ASKER, FREE_WORDS, ME
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.counterparts import distinct, in_use
from wc_core.ledger.threads.model import (
    APPROVED,
    CHANGES_REQUESTED,
    CLOSED,
    FREE,
    OPEN,
    Ball,
    State,
)
from wc_core.ledger.threads.proposals import Proposal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.names import Name
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.settings import Settings


# With this many participants, the ball may go back and forth without the asker.
_THREE_PARTIES = 3


class Move(NamedTuple):
    """The changes that an entry makes (``None``: none), and notes for its author."""

    ball: Ball | None = None
    status: str | None = None
    notes: tuple[str, ...] = ()


def decide(state: State, draft: Draft, me: Name, settings: Settings) -> Move:
    """Return the move that ``draft`` makes on ``state`` (empty for a new thread).

    Raises ConflictError if a condition of the draft does not hold, or if the
    ball policy, a closed thread or a missing reason forbids the move.
    """
    proposal = Proposal(state, draft, me, settings)
    proposal.check_conditions()
    move = _MOVES[draft.action](proposal)
    return move._replace(ball=_spelled(move.ball, state, settings))


def _spelled(ball: Ball | None, state: State, settings: Settings) -> Ball | None:
    """The same ball, with its holder spelled as in the thread so far."""
    if ball is None or ball.holder is None:
        return ball
    name = names.parse(ball.holder)
    return Ball(in_use(name, state.people, settings.directory))


def _new(proposal: Proposal) -> Move:
    """A new thread: its ball goes to the addressee, otherwise to the author."""
    if proposal.state.entry_count or proposal.state.title:
        topic = proposal.draft.topic
        raise ConflictError(
            f"There is already a thread {topic}: {proposal.state.title!r}.",
            f"Add to it with: wc say {topic} -m '…'",
        )
    status = proposal.draft.status or OPEN
    if status == CLOSED:
        return Move(FREE, CLOSED)
    return Move(proposal.addressee_or_me(), status)


def _say(proposal: Proposal) -> Move:
    """A contribution: it passes the ball on, if the author may do that."""
    again = proposal.draft.reopen or _is_second_approval(proposal)
    if proposal.is_closed and again:
        return _reopen(proposal)
    proposal.check_is_open()
    status = proposal.status
    if status == CLOSED:
        return _close(proposal)
    proposal.check_policy()
    # An older tool's thread may have a holder before its first entry.
    if not proposal.state.entry_count and proposal.state.ball is None:
        return Move(proposal.addressee_or_me(), status or OPEN)
    if not proposal.may_pass:
        return _out_of_turn(proposal, status)
    ball = proposal.next_holder()
    if ball == FREE and not proposal.draft.to:
        # There is no one to pass it to, and only who means to free it does so.
        return Move(None, status)
    return Move(ball, status, tuple(_asker_notes(proposal, ball)))


def _is_second_approval(proposal: Proposal) -> bool:
    """Whether it only approves again what a closed thread waits to land."""
    earlier, draft = proposal.state.review, proposal.draft
    is_approval = draft.outcome == earlier.outcome == APPROVED
    return is_approval and not draft.to and draft.status in {"", CLOSED}


def _done(proposal: Proposal) -> Move:
    """A contribution that ends the work: the ball goes to whoever asked for it. If that
    is the author, it closes the thread. If it requests changes, the work continues."""
    draft = proposal.draft
    if draft.outcome == CHANGES_REQUESTED:
        return _say(proposal)
    if not draft.to and (proposal.is_asker or not proposal.state.asker):
        draft = draft._replace(status=draft.status or CLOSED)
    elif not draft.to and draft.status != CLOSED:
        draft = draft._replace(to=ASKER)
    return _say(proposal._replace(draft=draft))


def unmet(state: State, draft: Draft, me: Name, settings: Settings) -> tuple[str, str]:
    """Return why the ball is not with whom a draft names, in the ``state`` after its
    entry, and the command that passes it anyway; both are empty if it is there."""
    word = draft.to.casefold()
    named = {ME: str(me), ASKER: state.asker}.get(word, draft.to)
    is_met = state.ball is not None and settings.directory.same(named, state.ball)
    if word in FREE_WORDS:
        is_met = state.ball is None
    if is_met or not word or draft.kind:
        return "", ""
    return _elsewhere(Proposal(state, draft, me, settings))


def _elsewhere(proposal: Proposal) -> tuple[str, str]:
    """Where the ball is, if the author could not pass it, and the command that does."""
    draft, holder = proposal.draft, proposal.holder
    if proposal.is_closed:
        return f"closing frees the ball, and it did not go to {draft.to}", (
            f"to pass it on: wc say {draft.topic} --reopen --to {quoted(draft.to)} "
            "-m '…'"
        )
    if not draft.to or draft.to.casefold() == ME:
        return f"the ball stays with {holder}", f"to take it: {proposal.take_command}"
    named = proposal.state.asker if draft.to.casefold() == ASKER else draft.to
    if proposal.settings.directory.same(named, holder):
        return f"{holder} already has the ball", ""
    return f"the ball stays with {holder} and did not go to {draft.to}", (
        f"to pass it on for them: wc handoff {draft.topic} --to {quoted(draft.to)} "
        "--reason '…'"
    )


def _out_of_turn(proposal: Proposal, status: str | None) -> Move:
    """A contribution of an author who does not have the ball, which stays."""
    note = "; ".join(filter(None, _elsewhere(proposal)))
    return Move(None, status, (note,))


def _asker_notes(proposal: Proposal, ball: Ball) -> Iterator[str]:
    """A reminder of who asked, if the ball goes back and forth between others."""
    state, directory = proposal.state, proposal.settings.directory
    draft = proposal.draft
    if draft.to or proposal.is_asker or not state.asker:
        return
    if draft.outcome == CHANGES_REQUESTED:
        return
    if ball.holder is None or directory.same(ball.holder, state.asker):
        return
    people = [*state.people, str(proposal.me)]
    if len(distinct(people, directory)) >= _THREE_PARTIES:
        topic = draft.topic
        yield f"{state.asker} asked for this; when it is done: wc done {topic}"


def _reopen(proposal: Proposal) -> Move:
    """A say in a closed thread: the ball goes to the addressee, otherwise to the
    author. Another approval leaves it closed."""
    if not proposal.draft.reopen:
        return Move()
    status = proposal.draft.status or OPEN
    if status == CLOSED:
        return _close(proposal)
    proposal.check_may_end("reopen", OPEN)
    return Move(proposal.addressee_or_me(), status)


def _close(proposal: Proposal) -> Move:
    """An entry that closes the thread, which frees the ball whatever ``--to`` says."""
    proposal.check_may_end("close", CLOSED)
    return Move(FREE, CLOSED)


def _handoff(proposal: Proposal) -> Move:
    """The ball is passed on. Passing on another holder's ball requires a reason, and so
    does passing it again to who has it, which makes that the author's own word."""
    proposal.check_is_open()
    draft, state = proposal.draft, proposal.state
    if not (proposal.is_mine or proposal.is_free or draft.reason):
        raise ConflictError(
            f"{proposal.holder} has the ball of {draft.topic}, not you.",
            f"To pass it on for them, say why: wc handoff {draft.topic} "
            f"--to {quoted(draft.to or 'NAME')} --reason '…'",
        )
    ball = proposal.next_holder()
    if ball.holder == state.ball and not draft.reason:
        place = "free" if ball.holder is None else f"with {ball.holder}"
        raise ConflictError(
            f"The ball of {draft.topic} is already {place}.",
            f"Name who should have it: wc handoff {draft.topic} --to NAME",
        )
    return Move(ball)


def _take(proposal: Proposal) -> Move:
    """The ball goes to the author; from another holder only with a reason."""
    proposal.check_is_open()
    draft = proposal.draft
    # Compare exactly: if "Codex" has the ball, Codex@fix may still take it to its full
    # name.
    if proposal.state.ball == str(proposal.me):
        raise ConflictError(
            f"You already have the ball of {draft.topic}.",
            f"Your move: wc say {draft.topic} -m '…'",
        )
    if not (proposal.is_mine or proposal.is_free or draft.reason):
        raise ConflictError(
            f"{proposal.holder} has the ball of {draft.topic}.",
            f"If it is stuck there, say why you are taking it: {proposal.take_command}",
        )
    return Move(Ball(str(proposal.me)))


def _set_status(proposal: Proposal) -> Move:
    """Another status. Closing frees the ball; otherwise it stays, or goes to ``--to``
    if the author may pass it."""
    status = proposal.draft.status
    if not status:
        raise InvalidInputError("No status was given.", "Name one, such as IN_REVIEW.")
    if status == proposal.state.status:
        raise ConflictError(
            f"{proposal.draft.topic} is already {status}.", "Nothing was written."
        )
    if status == CLOSED:
        return _close(proposal)
    if proposal.is_closed:
        proposal.check_may_end("reopen", status)
        return Move(proposal.addressee(), status)
    if not proposal.draft.to:
        return Move(None, status)
    proposal.check_policy()
    if not proposal.may_pass:
        return _out_of_turn(proposal, status)
    return Move(proposal.addressee(), status)


def _move_thread(proposal: Proposal) -> Move:
    """Another branch for the thread. Ball and status stay, so anyone may change it."""
    draft, state = proposal.draft, proposal.state
    if draft.thread_branch == state.branch:
        raise ConflictError(
            f"{draft.topic} already belongs to the branch {state.branch}.",
            "Nothing was written.",
        )
    return Move()


def _ready(proposal: Proposal) -> Move:
    """A thread goes on that an older version stopped: whoever has its ball, or asked
    for it, decides that."""
    if not (proposal.is_mine or proposal.is_free or proposal.is_asker):
        raise ConflictError(
            f"{proposal.holder} has the ball of {proposal.draft.topic}, not you.",
            f"Take it first: {proposal.take_command}",
        )
    return Move()


def _remark(_: Proposal) -> Move:
    """An entry that changes neither ball nor status, whoever has the ball, and also in
    a closed thread."""
    return Move()


_MOVES = {
    "new": _new,
    "say": _say,
    "done": _done,
    "ack": _remark,
    "handoff": _handoff,
    "take": _take,
    "set_status": _set_status,
    "move": _move_thread,
    "amend": _remark,
    "retract": _remark,
    "rename": _remark,
    "tag": _remark,
    "link": _remark,
    "unlink": _remark,
    "ready": _ready,
}


def bounce_note(state: State, settings: Settings) -> str:
    """A note if the ball has now gone back and forth too often; otherwise empty."""
    return bounces_text(state) if state.bounces == settings.bounces else ""


def bounces_text(state: State) -> str:
    """How often the ball went back and forth between the same two, and what to do about
    it."""
    last_pass = state.passes[-1]
    return (
        f"the ball went {state.bounces} times between {last_pass.by} and "
        f"{last_pass.to}; if the work is done: wc done {state.topic}; if another "
        f"should decide: wc handoff {state.topic} --to NAME"
    )


def is_relative(to: str) -> bool:
    """Whether an addressee is empty, or a word for a participant."""
    return not to or to.casefold() in FREE_WORDS | {ME, ASKER}


def unknown_parts(to: str, people: list[str], settings: Settings) -> list[str]:
    """The parts of a written name (agent, seat, tag) that none of ``people`` has.

    Empty if the name is fine. ``me``, ``asker`` and the words for "anyone" always are.
    """
    if is_relative(to):
        return []
    canonical = settings.directory.canonical
    addressee = canonical(names.parse(to))
    participants = [canonical(names.parse(person)) for person in people]
    unknown = []
    for part in ("agent", "seat", "tag"):
        value = names.fold(getattr(addressee, part))
        values = {names.fold(getattr(name, part)) for name in participants}
        is_cloud = part == "seat" and value == names.CLOUD_SEAT
        if value and value not in values and not is_cloud:
            unknown.append(part)
    return unknown
