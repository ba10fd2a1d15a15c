"""The names of threads: which thread a name means.

A thread is stored under its first name, its topic. It may be renamed, and all its names
keep working. A topic always means the thread stored under it; a thread that was renamed
to it keeps its previous name. If two clones renamed two threads to the same name, the
one with the lesser topic has it.

The index is ``.local/names/<name>/<topic>``, with an empty file for each name of a
thread, and the file `COMPLETE` if it has all of them. Without it, the threads are read.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, size_of
from wc_core.base.layout import folded, key_of, safe_name
from wc_core.base.names import near_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from wc_core.base.files import Folder
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.snapshot import Snapshot

    class Threads(Protocol):
        """What is needed of the reader of a store, which uses this module."""

        @property
        def layout(self) -> Layout:
            """The paths of the store."""

        def topics(self) -> list[str]:
            """Return the topics of all threads."""

        def has(self, topic: str) -> bool:
            """Return whether there is a thread with this topic."""

        def snapshot(self, topic: str) -> Snapshot:
            """Return the state of a thread."""


# Relative to ``.local``. No name has a file that begins with "=".
FOLDER = "names"
COMPLETE = f"{FOLDER}/=complete"
# Reading more threads takes longer than a typing mistake is worth (0.1 s).
_MANY = 1000


def alias_files(state: State) -> set[str]:
    """The files of the index for one thread, relative to ``.local``."""
    topic = safe_name(state.topic)
    return {f"{FOLDER}/{safe_name(name)}/{topic}" for name in state.names}


def is_complete(reader: Threads) -> bool:
    """Whether the index has the names of all threads."""
    try:
        return size_of(f"{reader.layout.local}/{COMPLETE}", reader.layout.root) >= 0
    except OSError:
        return False


def indexed_names(reader: Threads) -> list[str]:
    """All names in the index."""
    try:
        files = names_in(f"{reader.layout.local}/{FOLDER}", reader.layout.root)
    except WcError:
        return []  # doctor reports what is in its place
    return [key_of(file) for file in files if not file.startswith("=")]


def near_threads(reader: Threads, name: str) -> list[str]:
    """The names of threads that are most similar to ``name``."""
    names = [*reader.topics(), *indexed_names(reader)]
    return [near for near in near_names(name, names) if means_thread(reader, near)]


def means_thread(reader: Threads, name: str) -> bool:
    """Whether a thread has this name. The folder of a failed first entry is listed, but
    is not a thread."""
    if reader.has(name):
        return True
    return _first_with(reader, name, _indexed(reader, name)) is not None


def owner(reader: Threads, name: str, *, trusting: bool = False) -> str | None:
    """The topic of the thread that was at any time renamed to ``name``.

    ``None`` if there is none. A complete index is checked against the threads, which
    git may have changed, unless there are very many, or with ``trusting``.
    """
    name = folded(name.strip())
    if topic := _first_with(reader, name, _indexed(reader, name)):
        return topic
    complete = is_complete(reader)
    if trusting and complete:
        return None
    try:
        topics = reader.topics()
    except WcError:
        return None  # reading the threads raises the error
    if complete and len(topics) > _MANY:
        return None
    return _first_with(reader, name, topics)


def _indexed(reader: Threads, name: str) -> list[str]:
    """The topics that the index has for a name, sorted."""
    folder = f"{reader.layout.local}/{FOLDER}/{safe_name(name)}"
    try:
        return sorted(map(key_of, names_in(folder, reader.layout.root)))
    except WcError:
        return []  # the threads are read instead; doctor reports the folder


def _first_with(reader: Threads, name: str, topics: Iterable[str]) -> str | None:
    return next((topic for topic in topics if name in _names(reader, topic)), None)


def _names(reader: Threads, topic: str) -> tuple[str, ...]:
    try:
        return reader.snapshot(topic).state.names
    except WcError:
        return ()


def name_of(reader: Threads, state: State) -> str:
    """The name of a thread: the last one that means only this thread."""
    names = own_names(reader, state) if state.names else ()
    return names[-1] if names else state.topic


def own_names(reader: Threads, state: State) -> tuple[str, ...]:
    """The names of a thread that mean only this thread; the last one is its current
    name.

    Costs nothing for a thread that was never renamed.
    """
    return tuple(name for name in state.names if _is_own(reader, state.topic, name))


def _is_own(reader: Threads, topic: str, name: str) -> bool:
    if name == topic:
        return True
    try:
        if reader.has(name):
            return False
    except WcError:
        return False
    rivals = (rival for rival in _indexed(reader, name) if rival < topic)
    return not any(name in _names(reader, rival) for rival in rivals)


def labelled(reader: Threads, folder: Folder, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the name and the tags of its thread, whose ``folder`` is
    open."""
    state = snapshot.state
    path = reader.layout.annotations(state.topic)
    snapshot = snapshot._replace(name=name_of(reader, state), tags=state.tags)
    if not folder.has(path):
        return snapshot
    from wc_core.ledger.threads import tags  # 0.3 ms, only for threads of an older tool

    try:
        annotations = folder.read(path, tags.MAX_BYTES) or b""
    except OSError:
        return snapshot  # another tool's file, not needed by wc
    return snapshot._replace(tags=tags.current_tags(state, annotations))
