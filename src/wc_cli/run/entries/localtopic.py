"""The topic that a command uses when none is given: the open thread of this worktree,
the one that the prompt shows. If several are open, it is the one whose ball the viewer
has. If that isn't exactly one, it's an error."""

from __future__ import annotations

from wc_core.attention.status import pins
from wc_core.attention.status.balls import balls_here, folder_of, name_of
from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.base.layout import Layout, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.people.identity.resolve import Asked
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.attention.status.balls import Balls
    from wc_core.attention.status.places import Surroundings
    from wc_core.ledger.threads.model import State

_MOST = 5
_HINT = "Give the topic, or choose a thread for this worktree: wc use TOPIC"
_LIST_HINT = "Give the topic. List them with: wc list"
_START_HINT = "Start one with: wc new TOPIC -m '…'"
_SEVERAL = 2


def local_topic(context: Context) -> str:
    """Return the topic of the one open thread of this worktree, or of the only one
    there whose ball the viewer has.

    Raises NotFoundError if there is none, or if the chosen thread is no longer open;
    InvalidInputError if there are several.
    """
    threads = local_states(context)
    if len(threads) > 1:
        listed = ", ".join(_named(state) for state in threads[:_MOST])
        remainder = f" and {len(threads) - _MOST} more" if len(threads) > _MOST else ""
        raise InvalidInputError(
            f"{len(threads)} threads are open here: {listed}{remainder}.", _HINT
        )
    return threads[0].topic


def local_states(context: Context) -> list[State]:
    """Return the open threads of this worktree, or those whose ball the viewer has; at
    least one.

    Raises NotFoundError as `local_topic` does.
    """
    check_pin(context)
    threads = prompt_threads(context)
    if not threads:
        has_threads = any(True for _ in context.reader.topics())
        if context.place.repository is None:
            raise NotFoundError(
                "This folder is not in a git worktree, so no thread belongs to it.",
                _LIST_HINT if has_threads else _START_HINT,
            )
        raise NotFoundError(
            "No open thread belongs to this worktree.",
            _HINT if has_threads else _START_HINT,
        )
    return threads


def prompt_threads(context: Context) -> list[State]:
    """Return the threads that the prompt may show here: those whose ball the viewer
    has, if any, otherwise all open ones."""
    around, balls = _surroundings(context), context.balls
    return shown_threads(balls, around, local_threads(balls, around))


def open_threads(context: Context) -> list[State]:
    """Return the open threads of this worktree."""
    return local_threads(context.balls, _surroundings(context))


def _surroundings(context: Context) -> Surroundings:
    """Return the prompt's view, which ignores ``--as``: it is made for whoever works in
    this worktree."""
    reader = context.reader  # first: it checks out a branch that is only fetched
    viewer = Viewer(context.identify(Asked()), context.settings.directory)
    return pins.surroundings(reader.layout, context.place.repository, viewer)


def chosen_text(context: Context) -> str:
    """Returns which thread was chosen for this worktree with ``wc use``, and what to do
    if it is no longer open; empty if none was chosen."""
    place = context.place
    pin = pins.pin_of(Layout(place.root), place.repository)
    if not pin.topic:
        return ""
    if pin.is_open:
        return f"{pin.topic} (chosen with wc use)"
    return (
        f"{pin.topic} (chosen with wc use, but no longer open; "
        "choose another: wc use TOPIC, or none: wc use --none)"
    )


def check_pin(context: Context) -> None:
    """Raise NotFoundError if the thread chosen for this worktree is no longer open."""
    reader = context.reader
    pin = pins.pin_of(reader.layout, context.place.repository)
    if pin.topic and not pin.is_open:
        state = "is closed" if reader.has(pin.topic) else "no longer exists"
        topic = one_line(pin.topic)
        raise NotFoundError(
            f"The thread chosen for this worktree, {topic}, {state}.",
            "Choose another: wc use TOPIC, or none: wc use --none",
        )


def _named(state: State) -> str:
    return one_line(f"{state.name} ({holder_text(state.ball)})")


def local_threads(balls: Balls, surroundings: Surroundings) -> list[State]:
    """Returns the open threads of a worktree, longest waiting first.

    Raises CorruptError if one of them cannot be read: the prompt may show it, and it
    must not be mistaken for another one.
    """
    states = []
    for topic in {*balls_here(balls, surroundings), *_unsure(balls, surroundings)}:
        with contextlib.suppress(NotFoundError):  # removed since it was listed
            state = balls.reader.snapshot(topic).state
            if state.status != CLOSED and surroundings.has(state):
                states.append(state)
    return sorted(states, key=name_of)


def _unsure(balls: Balls, surroundings: Surroundings) -> list[str]:
    """Returns the topics by which a thread is here, even if it cannot be read."""
    if surroundings.pinned:
        return [surroundings.pinned]
    topics = balls.freshness.direct
    return [topic for topic in topics if safe_name(topic) in surroundings.places]


def shown_threads(
    balls: Balls, surroundings: Surroundings, states: list[State]
) -> list[State]:
    """Returns the threads among which the prompt chooses: the viewer's if there are
    any, otherwise all. Threads that wait for others belong to no one."""
    if len(states) < _SEVERAL:
        return states
    own, directory = surroundings.own_folders(), surroundings.directory
    return [
        state
        for state in states
        if folder_of(state.ball, directory) in own and not balls.waits(state.topic)
    ] or states
