"""The topic that a command uses when none is given: the open thread of this worktree,
the one that the prompt shows. If several are open, it is the one whose ball the viewer
has. If that isn't exactly one, it's an error."""

from __future__ import annotations

from wc_core.attention.status import holders, listings, pins
from wc_core.attention.status.files import file_name, holder_key
from wc_core.attention.status.pins import pin_place, worktree_key
from wc_core.base import ulid
from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.base.files import names_in
from wc_core.base.layout import Layout, key_of, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.people.identity.resolve import Asked
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.context import Context
    from wc_core.attention.status.places import Surroundings
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

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
    reader = context.reader
    around = _surroundings(context)
    threads = local_threads(reader, around, context.place.repository)
    return shown_threads(reader, around, threads)


def open_threads(context: Context) -> list[State]:
    """Return the open threads of this worktree."""
    return local_threads(
        context.reader, _surroundings(context), context.place.repository
    )


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


def local_threads(
    reader: StoreReader, surroundings: Surroundings, repository: Repository | None
) -> list[State]:
    """Returns the open threads of a worktree, longest waiting first.

    Raises CorruptError if one of them cannot be read: the prompt may show it, and it
    must not be mistaken for another one.
    """
    states = []
    for topic in _candidates(reader, surroundings, repository):
        with contextlib.suppress(NotFoundError):  # removed since it was listed
            state = reader.snapshot(topic).state
            if state.status != CLOSED and surroundings.has(state):
                states.append(state)
    return sorted(states, key=lambda state: file_name(state).encode())


def shown_threads(
    reader: StoreReader, surroundings: Surroundings, states: list[State]
) -> list[State]:
    """Returns the threads among which the prompt chooses: the viewer's if there are
    any, otherwise all. Threads that wait for others belong to no one."""
    if surroundings.me is None or len(states) < _SEVERAL:
        return states
    from wc_core.ledger.planning import linkfiles  # 3 ms, only where several are open

    directory = surroundings.directory
    keys = set(directory.match_keys(surroundings.me))
    own = [state for state in states if holder_key(state, directory) in keys]
    return [state for state in own if not linkfiles.waits_of(reader, state)] or states


def _candidates(
    reader: StoreReader, surroundings: Surroundings, repository: Repository | None
) -> list[str]:
    """Returns the topics of the threads that have status files here."""
    names = set(_thread_names(reader, surroundings, repository))
    topics = {name: key_of(name) for name in names}
    if all(topics.values()):
        return [*topics.values()]
    # A very long topic is cut in the name of the file.
    return [topic for topic in reader.topics() if safe_name(topic) in names]


def _thread_names(
    reader: StoreReader, surroundings: Surroundings, repository: Repository | None
) -> Iterator[str]:
    """Yields the names of threads as they are in status files."""
    layout = reader.layout
    places, seated = surroundings.places, holders.seated_folders(layout, surroundings)
    if surroundings.pinned:
        places, seated = (pin_place(worktree_key(repository)),), []
    folders = [f"{listings.root_of(layout)}/{holder}" for holder in seated]
    for place in places:
        folder = f"{layout.local}/status/branch/{place}/.t"
        folders += [f"{folder}/{holder}" for holder in names_in(folder, layout.root)]
    for folder in folders:
        for name in holders.names_at(layout, folder):
            yield name[ulid.LENGTH + 1 :]
