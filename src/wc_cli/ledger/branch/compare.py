"""Compares the log of a thread with its version on the branch."""

from __future__ import annotations

from itertools import chain, islice

from wc_cli.ledger.branch import commits, trees
from wc_cli.ledger.branch.treepaths import is_log, topic_at
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.branch.commits import Committed
    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.branch.trees import TreeItem
    from wc_core.ledger.threads.model import Entry


# The number of logs in memory at a time.
_BATCH = 500


class Compared(NamedTuple):
    """The entries that only the log has, and the number of entries that only the branch
    has."""

    new: tuple[Entry, ...]
    lost: int = 0


def compare_log(git: Git, topic: str, log: bytes, have: Committed | None) -> Compared:
    """Compare the complete lines of ``log`` with the branch's version.

    Nearly always the branch has the beginning of the log; then only the lines after it
    are parsed. Raises GitError.
    """
    if have is not None and not have.is_file:
        have = None
    committed = log[: have.size] if have is not None else b""
    if have is None or commits.blob_id(committed, have.blob) == have.blob:
        return Compared(entries_beyond(topic, committed, log))
    committed = git.run("cat-file", "blob", have.blob)
    lost = entries_beyond(topic, log, committed)
    return Compared(entries_beyond(topic, committed, log), len(lost))


def entries_beyond(topic: str, old: bytes, log: bytes) -> tuple[Entry, ...]:
    """The entries of ``log`` that the log ``old`` lacks."""
    if log.startswith(old):
        entries = codec.read_log(topic, log[len(old) :]).entries
        return tuple(entry for entry in entries if entry.id.encode() not in old)
    old_ids = {entry.id for entry in codec.read_log(topic, old).entries}
    entries = codec.read_log(topic, log).entries
    return tuple(entry for entry in entries if entry.id not in old_ids)


def count_new(git: Git, old: str, new: str) -> dict[str, int]:
    """The number of entries, by thread, that the commit ``new`` has and ``old`` lacks.
    Either may be empty, for no commit."""
    if not new:
        return {}
    old = old or commits.empty_tree(git)
    logs = {
        topic_at(path): (_blob_of(before), _blob_of(after))
        for path, (before, after) in trees.differences(git, old, new).items()
        if is_log(path) and _blob_of(after)
    }
    counts = {}
    items = iter(logs.items())
    while batch := dict(islice(items, _BATCH)):
        blobs = trees.blobs(git, filter(None, chain(*batch.values())))
        for topic, (before, after) in batch.items():
            if new_entries := entries_beyond(
                topic, blobs.get(before, b""), blobs[after]
            ):
                counts[topic] = len(new_entries)
    return counts


def _blob_of(item: TreeItem | None) -> str:
    return item.blob if item is not None and item.is_file else ""
