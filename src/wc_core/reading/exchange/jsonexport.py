"""The JSON form of threads: every entry with every key, including those of other
tools."""

from __future__ import annotations

from wc_core.ledger.threads import codec
from wc_core.ledger.threads.jsontext import dumps, loads
from wc_core.ledger.threads.longlines import long_size
from wc_core.ledger.threads.model import Base, written_by_wc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_core.ledger.threads.reader import Thread

FORMAT = "watercooler"
# Increase it when a reader of an earlier version would misunderstand the file.
VERSION = 1


def to_json(threads: Iterable[Thread]) -> dict[str, Any]:
    """The whole export. Each item of ``log`` is the object on a line of the log, or the
    line itself, as text, if the object would not give its bytes again."""
    exported = [_thread_fields(thread) for thread in threads]
    return {"format": FORMAT, "version": VERSION, "threads": exported}


def log_bytes(items: Iterable[Any]) -> bytes:
    """The log that the items of an exported ``log`` stand for."""
    lines = (item if isinstance(item, str) else dumps(item) for item in items)
    return "".join(f"{line}\n" for line in lines).encode()


def unreadable_lines(thread: Thread) -> int:
    """The number of lines of a log that are not text, and so in no export."""
    return sum(1 for line in _lines(thread) if _text(line) is None)


def _thread_fields(thread: Thread) -> dict[str, Any]:
    state, base = thread.state, thread.snapshot.meta.base
    fields: dict[str, Any] = {
        "topic": state.topic,
        "name": state.name,
        "title": state.title,
        "status": state.status,
        "ball": state.ball,
        "tags": list(thread.snapshot.tags),
        "log": [item for line in _lines(thread) for item in _items(line)],
    }
    if ways := {entry.id: entry.via for entry in thread.entries if entry.via}:
        fields["via"] = ways
    if not written_by_wc(thread.entries):
        # Another tool wrote the thread: its entries do not have these fields.
        base = Base(state.title, state.status, state.ball, state.summary)
    if base is not None:
        fields["base"] = base._asdict()
    return fields


def _lines(thread: Thread) -> Iterator[bytes]:
    """The lines of a thread's log, without those that are too long, or those made from
    the entries of its page."""
    data = thread.data
    if not data:
        entries = enumerate(thread.entries)
        data = b"".join(codec.to_line(entry, idx) for idx, entry in entries)
    lines = filter(bytes.strip, data.split(b"\n"))
    yield from (line for line in lines if not long_size(line))


def _items(line: bytes) -> Iterator[Any]:
    text = _text(line)
    if text is None:
        return
    try:
        value = loads(line)
    except (ValueError, RecursionError):
        value = None
    is_same = isinstance(value, dict) and dumps(value) == text
    yield value if is_same else text


def _text(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
