"""Compares the log of a thread with its version on the branch."""

from __future__ import annotations

from itertools import chain

from wc_cli.ledger.branch import commits, trees
from wc_cli.ledger.branch.treepaths import is_log, topic_at
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.longlines import MAX_LOG_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.ledger.branch.commits import Committed
    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.branch.trees import TreeItem
    from wc_core.ledger.threads.longlines import LogText
    from wc_core.ledger.threads.model import Entry


# The number of logs in memory at a time, and their bytes, unless one has more.
_BATCH, _BATCH_BYTES = 500, 64 * 1024 * 1024


class TooLargeError(ValueError):
    """A log of the branch is larger than what is read."""


class Compared(NamedTuple):
    """The entries that only the log has, and the number of entries that only the branch
    has."""

    new: tuple[Entry, ...]
    lost: int = 0


def compare_log(git: Git, topic: str, log: bytes, have: Committed | None) -> Compared:
    """Compare the complete lines of ``log``, see `Thread.data`, with the branch's
    version.

    Nearly always the branch has the beginning of the log; then only the lines after it
    are parsed. Raises GitError, TooLargeError if the branch's version is not read.
    """
    if have is not None and not have.is_file:
        have = None
    committed = log[: have.size] if have is not None else b""
    if have is None or commits.blob_id(committed, have.blob) == have.blob:
        return Compared(entries_beyond(topic, committed, log))
    if have.size > MAX_LOG_BYTES:
        raise TooLargeError(too_large(have.size))
    committed = trees.logs(git, {have.blob: have.size})[have.blob].data
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
    Either may be empty, for no commit. Logs that are too large are not counted."""
    if not new:
        return {}
    old = old or commits.empty_tree(git)
    logs = {
        topic_at(path): (_blob_of(before), _blob_of(after))
        for path, (before, after) in trees.differences(git, old, new).items()
        if is_log(path) and _blob_of(after)
    }
    counts = {}
    for batch, texts in read_in_batches(git, logs):
        for topic in batch:
            old_text, new_text = (texts.get(blob) for blob in logs[topic])
            if new_text is None or (old_text is None and logs[topic][0]):
                continue
            old_data = old_text.data if old_text is not None else b""
            if new_entries := entries_beyond(topic, old_data, new_text.data):
                counts[topic] = len(new_entries)
    return counts


def read_in_batches(
    git: Git, blobs: Mapping[str, Iterable[str]]
) -> Iterator[tuple[list[str], dict[str, LogText]]]:
    """Read these logs, by thread, as many at a time as may be in memory; yield the
    threads of a batch, and their logs by blob. Logs that are too large are left out.
    Raises GitError."""
    sizes = trees.sizes(git, filter(None, chain.from_iterable(blobs.values())))
    readable = {blob: size for blob, size in sizes.items() if size <= MAX_LOG_BYTES}
    for batch in in_batches(blobs, readable):
        ids = {blob for topic in batch for blob in blobs[topic]}
        yield batch, trees.logs(git, {k: readable[k] for k in ids & readable.keys()})


def in_batches(
    blobs: Mapping[str, Iterable[str]], sizes: Mapping[str, int]
) -> Iterator[list[str]]:
    """Yield the keys of ``blobs`` in batches, so that the blobs of each have few bytes
    together, or are those of one key."""
    batch: list[str] = []
    total = 0
    for key, ids in blobs.items():
        size = sum(sizes.get(blob, 0) for blob in ids)
        if batch and (total + size > _BATCH_BYTES or len(batch) >= _BATCH):
            yield batch
            batch, total = [], 0
        batch.append(key)
        total += size
    if batch:
        yield batch


def too_large(size: int) -> str:
    """A sentence without a full stop about a log of the branch that is not read."""
    return (
        f"its log on the branch has {size} bytes, more than is read "
        f"({MAX_LOG_BYTES}), and stays as it is"
    )


def _blob_of(item: TreeItem | None) -> str:
    return item.blob if item is not None and item.is_file else ""
