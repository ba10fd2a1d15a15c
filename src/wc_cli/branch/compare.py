"""A thread's log and the version of it that the branch has."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch import commits, trees
from wc_cli.branch.treepaths import is_log, topic_at
from wc_core.threads import codec

if TYPE_CHECKING:
    from wc_cli.branch.commits import Committed
    from wc_cli.branch.git import Git
    from wc_cli.branch.trees import TreeItem
    from wc_core.threads.model import Entry


# So many logs are in memory at a time.
_BATCH = 500


class Compared(NamedTuple):
    """The entries that a log has and the branch has not, and how many it is
    the other way round."""

    new: tuple[Entry, ...]
    lost: int = 0


def compared(git: Git, topic: str, log: bytes, have: Committed | None) -> Compared:
    """What the complete lines of ``log`` have, and the branch has not.

    Where the branch has how the log begins, as it nearly always does, only
    the rest is read. Raises GitError.
    """
    there = log[: have.size] if have is not None else b""
    if have is None or commits.blob_id(there, have.blob) == have.blob:
        return Compared(beyond(topic, there, log))
    there = git.run("cat-file", "blob", have.blob)
    return Compared(beyond(topic, there, log), len(beyond(topic, log, there)))


def beyond(topic: str, there: bytes, log: bytes) -> tuple[Entry, ...]:
    """The entries that ``log`` has and the log ``there`` has not."""
    if log.startswith(there):
        rest = codec.read_log(topic, log[len(there) :]).entries
        return tuple(e for e in rest if e.id.encode() not in there)
    known = {entry.id for entry in codec.read_log(topic, there).entries}
    return tuple(e for e in codec.read_log(topic, log).entries if e.id not in known)


def news(git: Git, old: str, new: str) -> dict[str, int]:
    """How many entries the commit ``new`` has that ``old`` has not, thread by
    thread; either may be none."""
    if not new:
        return {}
    old = old or commits.empty_tree(git)
    logs = {
        topic_at(path): (_blob(before), _blob(after))
        for path, (before, after) in trees.differences(git, old, new).items()
        if is_log(path) and _blob(after)
    }
    found = {}
    rest = iter(logs.items())
    while batch := dict(islice(rest, _BATCH)):
        blobs = trees.blobs(git, filter(None, chain(*batch.values())))
        for topic, (before, after) in batch.items():
            if count := len(beyond(topic, blobs.get(before, b""), blobs[after])):
                found[topic] = count
    return found


def _blob(item: TreeItem | None) -> str:
    return item.blob if item is not None and item.is_file else ""
