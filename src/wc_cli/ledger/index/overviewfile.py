"""Writes the part of the index that has the state of each thread."""

from __future__ import annotations

import time

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.lookup.index import keys, overview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wc_core.ledger.threads.reader import StoreReader

    # Returns nanoseconds since 1970.
    Clock = Callable[[], int]

# If the file lacks more threads than this, other programs have written them: all are
# checked.
_FEW_THREADS = 20
# Replaced records stay in the file until they take up as much space as the others, and
# more than this.
_MOST_DEAD = 1 << 16


def update(
    reader: StoreReader, topics: Iterable[str], clock: Clock = time.time_ns
) -> bool:
    """Bring the records of these threads up to date; those of all threads if the file
    is missing or lacks many. Returns whether it was all. Very recent changes are left
    to the next time, because a change right after them might not show. Raises
    WcError."""
    layout = reader.layout
    data = _read(reader)
    kept = overview.parse(data) if data else {}
    if not data or len({*reader.topics()} - kept.keys()) > _FEW_THREADS:
        rebuild(reader, clock)
        return True
    changed = _changed(reader, topics, kept, clock())
    batch = overview.render_batch(changed.values())
    if not batch:
        return False
    if len(data) > 2 * sum(map(len, kept.values())) + _MOST_DEAD:
        _write(reader, kept | changed)
    else:
        durable.append_unflushed(layout.overview, batch, layout.root)
    return False


def rebuild(reader: StoreReader, clock: Clock = time.time_ns) -> None:
    """Write the file with a record of every thread. Raises WcError."""
    kept = overview.parse(_read(reader))
    topics = reader.topics()
    changed = _changed(reader, topics, kept, clock())
    records = {topic: kept[topic] for topic in topics if topic in kept}
    _write(reader, records | changed)


def remake(reader: StoreReader, clock: Clock = time.time_ns) -> None:
    """Like `rebuild`, but without using the existing file. Raises WcError."""
    _write(reader, _changed(reader, reader.topics(), {}, clock()))


def _read(reader: StoreReader) -> bytes:
    """Return the bytes of the file; empty if it cannot be appended to."""
    try:
        data = read_plain(reader.layout.overview, reader.layout.root) or b""
    except OSError:
        return b""
    is_whole = data.startswith(f"{overview.HEADER}\n".encode()) and data[-1:] == b"\n"
    return data if is_whole else b""


def _write(reader: StoreReader, records: dict[str, str]) -> None:
    layout = reader.layout
    durable.make_folder(layout.index_folder, layout.root, flush=False)
    batch = overview.render_batch(records.values())
    header = f"{overview.HEADER}\n".encode()
    durable.replace(layout.overview, header + batch, layout.root)


def _changed(
    reader: StoreReader, topics: Iterable[str], kept: dict[str, str], now_ns: int
) -> dict[str, str]:
    """Return new records for the threads whose record is out of date. ``now_ns`` is
    from before the keys are read: later changes get a later time."""
    with keys.ThreadFiles(reader.layout) as files:
        current = files.keys(topics)
    changed = {}
    for topic, key in current.items():
        if key and not overview.is_true(kept.get(topic, ""), topic, key):
            record = _record(reader, topic, key, now_ns)
            if record:
                changed[topic] = record
    return changed


def _record(reader: StoreReader, topic: str, key: str, now_ns: int) -> str:
    """Return the record of a thread whose files had this key; empty if there cannot be
    one."""
    if not keys.is_settled(key, now_ns):
        return ""
    try:
        snapshot = reader.snapshot(topic)
    except WcError:
        return ""  # each list tries to read it again, and reports it
    is_whole = snapshot.log_size == keys.log_size(key)
    if not (is_whole and overview.can_have(snapshot)):
        return ""
    return overview.encode(snapshot, key)
