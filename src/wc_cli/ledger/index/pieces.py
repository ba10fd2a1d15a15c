"""Reads the entries that the cache has of a thread, and where their lines begin."""

from __future__ import annotations

from wc_core.base import ulid
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import NOWHERE
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.model import Entry
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.reader import StoreReader


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
    if piece is None:
        return None
    for entry in piece.entries:
        # Something that changes the words of earlier entries, or is older than they
        # are.
        if _changes_others(entry) or entry.id <= previous:
            return None
        previous = entry.id
    return piece


def whole_piece(reader: StoreReader, topic: str, data: bytes) -> Piece:
    """Return all of a thread with this log. Raises WcError."""
    piece = _parse(topic, data, 0)
    if piece is None or not _are_plain(piece.entries):
        # Torn, corrected, with duplicate or foreign ids, or from a clock that was
        # wrong: the shown entries differ from the lines, or their ids do not say which
        # of them were written after another.
        visible = numbered(reader.thread(topic))
        entries = [item.entry for item in visible if not item.retracted]
        piece = Piece(entries, [NOWHERE] * len(entries), NOWHERE)
    return piece


def _parse(topic: str, data: bytes, start: int) -> Piece | None:
    """The entries of complete lines, starting at offset ``start``; ``None`` if the
    lines alone do not determine what the log contains."""
    entries: list[Entry] = []
    starts: list[int] = []
    end = start
    # A complete last line leaves nothing after its newline.
    *lines, torn = data.split(b"\n")
    if torn:
        return None
    for line in lines:
        begin, end = end, end + len(line) + 1
        if not line.strip():
            continue
        entry = codec.read_line(topic, line)
        if isinstance(entry, Entry):
            entries.append(entry)
            starts.append(begin)
    if len({parsed.id for parsed in entries}) < len(entries):
        return None
    return Piece(entries, starts, end)


def _are_plain(entries: Sequence[Entry]) -> bool:
    """Whether each entry is shown as it was written, in the order of the ids."""
    if any(
        entry.supersedes or _changes_items(entry) or not ulid.prefix(entry.id)
        for entry in entries
    ):
        return False
    ids = [entry.id for entry in entries]
    return ids == sorted(ids) and in_effect_order(entries) == entries


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
