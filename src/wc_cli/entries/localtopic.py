"""The topic that a command takes when none is given: the open thread of this worktree,
the one that the prompt shows. Where several are open, or none, it's an error."""

from __future__ import annotations

from wc_core.errors import InvalidInputError, NotFoundError
from wc_core.identity.resolve import Asked
from wc_core.identity.viewer import Viewer
from wc_core.status import pins
from wc_core.status.localthreads import local_threads
from wc_core.text import one_line
from wc_core.threads.model import holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.threads.model import State

_MOST = 5
_HINT = "Give the topic, or choose a thread for this worktree: wc use TOPIC"


def local_topic(context: Context) -> str:
    """Returns the topic of the one open thread of this worktree.

    Raises NotFoundError if there is none, or if the thread that was chosen is no longer
    open; InvalidInputError if there are several.
    """
    check_pin(context)
    threads = open_threads(context)
    if not threads:
        raise NotFoundError("No open thread belongs to this worktree.", _HINT)
    if len(threads) > 1:
        listed = ", ".join(_named(state) for state in threads[:_MOST])
        remainder = f" and {len(threads) - _MOST} more" if len(threads) > _MOST else ""
        raise InvalidInputError(
            f"{len(threads)} threads are open here: {listed}{remainder}.", _HINT
        )
    return threads[0].topic


def open_threads(context: Context) -> list[State]:
    """Returns the threads that the prompt shows here: whatever ``--as`` says, those of
    who works in this worktree."""
    reader = context.reader  # first: it checks out what is only fetched
    repository = context.place.repository
    viewer = Viewer(context.identify(Asked()), context.settings.directory)
    around = pins.surroundings(reader.layout, repository, viewer)
    return local_threads(reader, around, repository)


def check_pin(context: Context) -> None:
    """Raise NotFoundError if the thread that was chosen for this worktree is no longer
    open."""
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
