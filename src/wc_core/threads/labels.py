"""What a snapshot has from other files of the store: the thread's name and its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.threads import aliases, tags

if TYPE_CHECKING:
    from wc_core.files import Folder
    from wc_core.threads.reader import Snapshot, StoreReader


def labelled(reader: StoreReader, folder: Folder, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the name and the tags of its thread, whose ``folder`` is
    open."""
    state = snapshot.state
    path = reader.layout.annotations(state.topic)
    annotations = b""
    if folder.has(path):
        try:
            annotations = folder.read(path, tags.MAX_BYTES) or b""
        except OSError:
            annotations = b""  # another tool's file, which wc can do without
    return snapshot._replace(
        name=aliases.name_of(reader, state),
        tags=tags.current_tags(state, annotations),
    )
