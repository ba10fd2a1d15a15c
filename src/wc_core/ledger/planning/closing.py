"""The effects of closing a thread on other threads."""

from __future__ import annotations

from wc_core.base.errors import ConflictError
from wc_core.ledger.planning import plans
from wc_core.ledger.planning.kinds import SIDEQUEST_OF
from wc_core.ledger.threads.model import BLOCKED, CLOSED, holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.planning.readiness import PlannedThread
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.reader import StoreReader

_SHOWN = 5


def checked(reader: StoreReader, draft: Draft, state: State) -> Draft:
    """The draft that closes a thread. If it is forced although parts of the thread are
    open, its reason mentions that. Raises ConflictError if it is not forced."""
    plan = plans.plan_of(reader, {state.topic: state})
    parts = [plan.name(topic) for topic in plan.open_parts(state.topic)]
    if not parts:
        return draft
    names = _listed(parts)
    if not draft.force:
        raise ConflictError(
            f"Parts of {state.name} are open: {names}.",
            "Close them first, or close it anyway: --force",
        )
    forced = f"closed with open parts: {names}"
    reason = f"{draft.reason}; {forced}" if draft.reason else forced
    return draft._replace(reason=reason)


def notes(reader: StoreReader, state: State, author: str) -> list[str]:
    """The threads that others can start once a thread is closed, and the one that its
    author can return to."""
    freed = _freed(reader, state)
    sentences = [
        f"{state.name} is closed: {thread.name} can begin "
        f"(ball: {holder_text(thread.ball)})"
        for thread in freed[:_SHOWN]
    ]
    if len(freed) > _SHOWN:
        sentences.append(f"and {len(freed) - _SHOWN} more; to see them: wc ready")
    for link in state.links:
        if link.kind == SIDEQUEST_OF and reader.has(link.topic):
            origin = reader.snapshot(link.topic)
            if origin.state.status != CLOSED:
                sentences.append(_way_back(origin.name, origin.state, author))
    return sentences


def _freed(reader: StoreReader, state: State) -> list[PlannedThread]:
    """The threads that wait for nothing but one that is about to be closed."""
    plan = plans.plan_of(reader, {state.topic: state})
    return [
        thread
        for topic, thread in sorted(plan.threads.items())
        if thread.status not in {BLOCKED, CLOSED} and topic != state.topic
        if {obstacle.topic for obstacle in plan.waits(topic)} == {state.topic}
    ]


def _way_back(name: str, origin: State, author: str) -> str:
    if origin.ball == author:
        return f"this was a sidequest of {name}, whose ball is still yours: go on there"
    ball = holder_text(origin.ball)
    command = f"wc take {name}" + (" --reason '…'" if origin.ball else "")
    return f"this was a sidequest of {name} (ball: {ball}); to go on there: {command}"


def _listed(names: list[str]) -> str:
    hidden = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")
