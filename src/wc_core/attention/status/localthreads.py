"""The open threads of a worktree, from which the prompt builds its line.

`wc_core.attention.status.line` calls `Surroundings.has` for each thread of the store.
This module calls it only for threads whose status files indicate that they may be here.
"""

from __future__ import annotations

from wc_core.attention.status import holders, listings
from wc_core.attention.status.files import file_name, holder_key
from wc_core.attention.status.pins import pin_place, worktree_key
from wc_core.base import ulid
from wc_core.base.errors import NotFoundError
from wc_core.base.files import names_in
from wc_core.base.layout import key_of, safe_name
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.attention.status.places import Surroundings
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

_SEVERAL = 2


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
