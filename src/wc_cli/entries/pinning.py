"""Choosing the thread of a worktree, see `wc_core.status.pins`."""

from __future__ import annotations

from wc_core.lean import os
from wc_core.status import pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.store.writer import StoreWriter


def pin(writer: StoreWriter, worktree: str, topic: str) -> None:
    """Choose the thread of a worktree for the prompt and for commands without a topic;
    an empty ``topic`` chooses none."""
    writer.prepare_store()
    upkeep, layout = writer.upkeep, writer.layout
    path = pins.pin_file(worktree)
    before = pins.read_pin(layout, worktree)
    if topic:
        upkeep.local.write(path, f"{topic}\n".encode())
        # The choice for an earlier worktree of that name may have the same bytes.
        os.utime(f"{layout.local}/{path}", follow_symlinks=False)
    else:
        upkeep.local.remove(path)
    for changed in dict.fromkeys((before, topic)):
        if changed and writer.reader.has(changed):
            with upkeep.lock(changed, writer.author_name):
                upkeep.status.write(writer.reader.snapshot(changed).state)
    upkeep.local.stamp.renew()
