"""Refs of snapshots in the code's repository, and which of them are still needed.

``refs/wc/seen/<file name of the topic>/<entry id>`` is the worktree in which that entry
was written, as it was then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core import names, times
from wc_core.identity.resolve import Identity
from wc_core.identity.viewer import Viewer
from wc_core.layout import file_name
from wc_core.review.points import points
from wc_core.threads.model import CLOSED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.names import Directory
    from wc_core.threads.reader import Thread

FOLDER = "refs/wc/seen/"
# Longer than any review; then an entry's commit has to do.
MAX_AGE_MS = 30 * 24 * 3600 * 1000


def ref_of(topic: str, entry_id: str) -> str:
    """The ref of the snapshot that belongs to an entry."""
    return f"{FOLDER}{file_name(topic)}/{entry_id}"


def needed(
    thread: Thread, kept: Iterable[str], directory: Directory, now_ms: int
) -> set[str]:
    """Which of the snapshots ``kept``, by the ids of their entries, somebody may still
    compare with: the last one by each participant, and what each of them begins a
    review with. None of a closed thread, and none older than 30 days."""
    if thread.state.status == CLOSED:
        return set()
    ids = set(kept)
    own = [entry for entry in thread.entries if entry.id in ids]
    latest = {entry.agent: entry.id for entry in own}
    ids_needed = {*latest.values()}
    for name in dict.fromkeys(thread.state.people):
        viewer = Viewer(Identity(names.parse(name), ""), directory)
        base = points(thread.entries, viewer).base
        ids_needed.add(base.id if base is not None else "")
    return {
        entry.id
        for entry in own
        if entry.id in ids_needed
        and (times.milliseconds(entry.at) or 0) > now_ms - MAX_AGE_MS
    }
