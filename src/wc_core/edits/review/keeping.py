"""Refs of snapshots in the code's repository, and which of them are still needed.

``refs/wc/seen/<file name of the topic>/<entry id>`` is the worktree as it was when that
entry was written in it. Dots in the file name are escaped: git allows no ``a..b`` and
no ``a.lock`` in a ref.
"""

from __future__ import annotations

from wc_core.base import names, times, ulid
from wc_core.base.layout import file_name, topic_of
from wc_core.edits.review.points import points
from wc_core.ledger.threads.model import CLOSED
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.names import Directory
    from wc_core.ledger.threads.reader import Thread

FOLDER = "refs/wc/seen/"
# Longer than any review; after that, an entry's commit has to do.
MAX_AGE_MS = 30 * 24 * 3600 * 1000


def ref_of(topic: str, entry_id: str) -> str:
    """The ref of the snapshot that belongs to an entry."""
    name = file_name(topic).replace("%", "%25").replace(".", "%2E")
    return f"{FOLDER}{name}/{entry_id}"


def owner_of(ref: str) -> tuple[str, str]:
    """The topic and the entry id that a ref belongs to: the reverse of `ref_of`.
    No topic for a ref that is not ours."""
    name, _, entry_id = ref.removeprefix(FOLDER).rpartition("/")
    name = name.replace("%2E", ".").replace("%25", "%")
    return topic_of(name) if name else "", entry_id


def fresh(entry_ids: Iterable[str], now_ms: int) -> set[str]:
    """The ids of entries that are not older than 30 days, by the time in the id."""
    return {
        entry_id
        for entry_id in entry_ids
        if (begin := ulid.prefix(entry_id))
        and ulid.timestamp_ms(begin) > now_ms - MAX_AGE_MS
    }


def needed(
    thread: Thread, kept: Iterable[str], directory: Directory, now_ms: int
) -> set[str]:
    """Which of the snapshots ``kept``, by the ids of their entries, may still be
    compared with: the last one by each participant, and the one at which each of
    them begins a review. None of a closed thread, and none older than 30 days. Those
    of entries that are not in the thread stay for that time: another store may have
    them."""
    ids = set(kept)
    strangers = fresh(ids.difference(entry.id for entry in thread.entries), now_ms)
    if thread.state.status == CLOSED:
        return strangers
    own = [entry for entry in thread.entries if entry.id in ids]
    latest = {entry.agent: entry.id for entry in own}
    ids_needed = {*latest.values()}
    for name in dict.fromkeys(thread.state.people):
        viewer = Viewer(Identity(names.parse(name), ""), directory)
        base = points(thread.entries, viewer).base
        ids_needed.add(base.id if base is not None else "")
    return strangers | {
        entry.id
        for entry in own
        if entry.id in ids_needed
        and (times.milliseconds(entry.at) or 0) > now_ms - MAX_AGE_MS
    }
