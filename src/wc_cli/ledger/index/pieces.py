"""Reads the entries that the cache has of a thread, and where their lines begin."""

from __future__ import annotations

from itertools import accumulate

from wc_core.base import ulid
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import NOWHERE
from wc_core.ledger.threads import codec, folding
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot


class Piece(NamedTuple):
    """Entries, the offset of each in its log, and the offset of their end; `NOWHERE` if
    the lines do not suffice to show them."""

    entries: Sequence[Entry]
    starts: Sequence[int]
    end: int


def added_piece(topic: str, data: bytes, start: int, previous: str) -> Piece | None:
    """Return the entries that were appended to a log, whose greatest id was
    ``previous``; ``None`` if all of the thread must be read."""
    piece = _parse(topic, data, start)
    if piece is None or not _are_plain(piece.entries):
        return None
    # Something that changes the words of earlier entries, or is older than they are.
    if any(_changes_others(entry) for entry in piece.entries):
        return None
    is_later = not piece.entries or piece.entries[0].id > previous
    return piece if is_later else None


def whole_piece(reader: StoreReader, snapshot: Snapshot, data: bytes) -> Piece:
    """Return all of a thread with this log. Raises WcError."""
    topic = snapshot.topic
    piece = _parse(topic, data, 0)
    if piece is None or not (_are_plain(piece.entries) and _is_of(piece, snapshot)):
        # Damaged, corrected, with duplicate or foreign ids, or from a clock that was
        # wrong: the shown entries differ from the lines, or their ids do not say which
        # of them were written after another.
        visible = numbered(reader.thread(topic))
        entries = [item.entry for item in visible if not item.retracted]
        piece = Piece(entries, [NOWHERE] * len(entries), NOWHERE)
    return piece


def _parse(topic: str, data: bytes, start: int) -> Piece | None:
    """The entries of complete lines, starting at offset ``start``; ``None`` if the
    lines alone do not determine what the log contains."""
    log = codec.read_log(topic, data)
    *lines, _ = data.split(b"\n")
    if log.damage or not log.ordered or len(lines) != len(log.entries):
        return None
    *starts, end = accumulate((len(line) + 1 for line in lines), initial=start)
    return Piece(log.entries, starts, end)


def _are_plain(entries: Sequence[Entry]) -> bool:
    """Whether each entry is shown as it was written, in the order of the ids, which is
    also the order in which they were written."""
    if any(entry.supersedes or _changes_items(entry) for entry in entries):
        return False
    if any(parent > entry.id for entry in entries for parent in entry.parents or ()):
        return False
    ids = [entry.id for entry in entries]
    return all(map(ulid.prefix, ids)) and ids == sorted(ids)


def _is_of(piece: Piece, snapshot: Snapshot) -> bool:
    """Whether the state of a thread is that of its log. Another program may have
    changed a line in place, which ``meta.json`` does not show."""
    state = folding.fold(snapshot.topic, piece.entries, snapshot.meta.base)
    # Only that is not from the log.
    return state._replace(summary=snapshot.state.summary) == snapshot.state


def _changes_others(entry: Entry) -> bool:
    """Whether an entry changes the words by which other entries are found."""
    return bool(
        entry.supersedes
        or entry.new_topic
        or entry.tags_added
        or entry.tags_removed
        or _changes_items(entry)
    )


def _changes_items(entry: Entry) -> bool:
    """Whether an entry changes a checklist, which the first entry shows."""
    return bool(
        entry.items_added
        or entry.items_removed
        or entry.items_checked
        or entry.items_unchecked
    )
