"""The parts of a snapshot from other files of the store: the thread's name and its
tags."""

from __future__ import annotations

from wc_core.threads import aliases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.files import Folder
    from wc_core.threads.reader import Snapshot, StoreReader


def labelled(reader: StoreReader, folder: Folder, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the name and the tags of its thread, whose ``folder`` is
    open."""
    state = snapshot.state
    path = reader.layout.annotations(state.topic)
    snapshot = snapshot._replace(name=aliases.name_of(reader, state), tags=state.tags)
    if not folder.has(path):
        return snapshot
    from wc_core.threads import tags  # 0.3 ms, only for threads of an older tool

    try:
        annotations = folder.read(path, tags.MAX_BYTES) or b""
    except OSError:
        return snapshot  # another tool's file, not needed by wc
    return snapshot._replace(tags=tags.current_tags(state, annotations))
