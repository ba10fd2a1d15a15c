"""Entries that only a thread's marker has, because a user's git removed them from the
log before they were committed."""

from __future__ import annotations

from wc_core.base.files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.store.upkeep import Upkeep


def spared_lines(upkeep: Upkeep, topic: str) -> bytes:
    """The lines in a thread's marker that its log lacks. Raises CorruptError for a log
    that cannot be read."""
    root = upkeep.layout.root
    marker = read_plain(upkeep.marker(topic), root) or b""
    lines = marker[: marker.rfind(b"\n") + 1]
    log = (upkeep.reader.log_bytes(topic) if lines else b"") or b""
    if lines in log:
        return b""
    present = {b"", *log.split(b"\n")}
    return b"".join(line + b"\n" for line in lines.split(b"\n") if line not in present)
