"""Makes the seal of a log that was read completely."""

from __future__ import annotations

from binascii import crc32

from wc_core.base import ulid
from wc_core.ledger.threads import folding, revisions
from wc_core.ledger.threads.projections import Seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.codec import Log


def seal_of(log: Log, data: bytes) -> Seal | None:
    """The seal of a log that was read from ``data``; ``None`` if it has no entry, or if
    any line is not an entry, is damaged, or is not at its entry's place. Ids are in the
    order of their entries: a log with an id that does not begin with a ULID has no
    seal, and neither has one with a parent that is later than its entry, which may be
    missing here."""
    entries = log.entries
    # Each line gives at most one entry, and no entry occurs twice.
    if not entries or log.damage or not log.ordered:
        return None
    ids = [ulid.prefix(entry.id) for entry in entries]
    if not all(ids) or ids != sorted(ids):
        return None
    if data.count(b"\n") != len(entries):
        return None
    if any(parent > entry.id for entry in entries for parent in entry.parents or ()):
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
