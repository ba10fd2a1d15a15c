"""Makes the seal of a log that was read as a whole."""

from __future__ import annotations

from binascii import crc32

from wc_core.threads import folding, revisions
from wc_core.threads.projections import Seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.threads.codec import Log


def seal_of(log: Log, data: bytes) -> Seal | None:
    """The seal of a log that was read from ``data``; ``None`` if it has no entry, or if
    a line of it is not an entry, is damaged, or is not at the place of its entry."""
    entries = log.entries
    # Each line gives one entry at most, and each entry is there once.
    if not entries or log.damage or not log.ordered:
        return None
    if data.count(b"\n") != len(entries):
        return None
    positions = {entry.id: position for position, entry in enumerate(entries)}
    return Seal(
        crc32(data),
        tuple(dict.fromkeys(entry.agent for entry in entries)),
        folding.is_linear(entries),
        tuple(
            sorted(
                (positions[original], positions[correction.id])
                for original, corrected_by in revisions.corrections(entries).items()
                for correction in corrected_by
            )
        ),
    )
