"""Adds imported entries to threads; existing entries are not added again."""

from __future__ import annotations

from wc_cli.ledger.merge.logs import unite
from wc_cli.ledger.store import durable, lockedthread
from wc_core.base.errors import ConflictError
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, folding, projections
from wc_core.ledger.threads.jsontext import loads
from wc_core.ledger.threads.longlines import expanded
from wc_core.ledger.threads.model import written_by_wc
from wc_core.ledger.threads.proposals import Draft
from wc_core.reading.exchange import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.ledger.store.upkeep import Upkeep
    from wc_core.ledger.threads.longlines import LogText
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.exchange.imports import ImportedThread


class MissingEntries(NamedTuple):
    """The missing entries of a thread: their number, the log with them, whose long
    lines are in ``texts`` (see `longlines`), and their lines."""

    topic: str
    added: int
    data: bytes
    texts: tuple[LogText, ...]
    lines: bytes
    begins: bool


def additions(
    reader: StoreReader, threads: Sequence[ImportedThread]
) -> Iterator[MissingEntries]:
    """Yield the missing entries of each thread that lacks some. Raises ConflictError
    for a thread that has the name of an issue but is about something else, CorruptError
    for a damaged one."""
    for thread in threads:
        addition = _addition(reader, thread)
        if addition.added:
            yield addition


def add(upkeep: Upkeep, thread: ImportedThread, holder: str) -> MissingEntries:
    """Write the entries that a thread lacks now, and return what was written."""
    reader, layout = upkeep.reader, upkeep.layout
    topic, root = thread.topic, layout.root
    with upkeep.lock(topic, holder):
        addition = _addition(reader, thread)
        if not addition.added:
            return addition
        durable.make_folder(layout.folder(topic), root)
        durable.touch(upkeep.marker(topic), root)
        upkeep.local.stamp.remove()
        if addition.begins:
            durable.begin_log(layout.log(topic), addition.data, root)
        else:
            whole = expanded(addition.data, addition.texts)
            durable.create(layout.log(topic), whole, root)
            durable.flush_names(layout.log(topic), root)
        is_older = addition.begins and _write_base(upkeep, thread, addition)
        # A user's git may remove the entries from the log until they are committed.
        durable.append_unflushed(upkeep.marker(topic), addition.lines, root)
        read = reader.thread(topic)
        upkeep.write_whole(read)
        if is_older:
            _write_base(upkeep, thread, addition)
        return addition


def _write_base(
    upkeep: Upkeep, thread: ImportedThread, addition: MissingEntries
) -> bool:
    """Write the fields of a thread that are in no entry, as the tool that wrote it did:
    the first entry of wc records them. Returns whether there are such fields."""
    entries = codec.read_log(thread.topic, addition.data).entries
    if thread.base is None or written_by_wc(entries):
        return False
    state = folding.fold(thread.topic, entries, thread.base)
    fields = loads(projections.render_meta(state, len(addition.data), {}))
    del fields["wc"]
    layout = upkeep.layout
    data = json.dumps(fields, indent=2, ensure_ascii=False).encode(errors="replace")
    durable.replace(layout.meta(thread.topic), data, layout.root)
    return True


def add_lines(upkeep: Upkeep, topic: str, lines: bytes, holder: str) -> None:
    """Write the lines of a log whose entries a thread lacks now."""
    add(upkeep, imports.ImportedThread(topic, lines), holder)


def _addition(reader: StoreReader, thread: ImportedThread) -> MissingEntries:
    topic = thread.topic
    locked = lockedthread.read(reader, Draft(topic, "say", ""))
    if locked.exists and not locked.has_log:
        raise ConflictError(
            f"{topic} is a page without a log.",
            f"Nothing was written. Begin its log first: wc ack {topic}",
        )
    text = reader.log_text(topic) if locked.exists else None
    data = text.data if text is not None else b""
    entries = codec.read_log(topic, data).entries
    lines = thread.log or b"".join(_new_lines(thread, entries))
    union = unite(topic, data, lines)
    count = len(union.ids[1] - union.ids[0])
    texts = (text,) if text is not None else ()
    return MissingEntries(topic, count, union.data, texts, lines, not locked.exists)


def _new_lines(thread: ImportedThread, entries: Sequence[Entry]) -> Iterator[bytes]:
    """The lines for facts that no entry records, after all other entries."""
    keys = {entry.key for entry in entries}
    if entries and not any(key.startswith(f"{thread.origin}:") for key in keys):
        raise ConflictError(
            f"There is already a thread {thread.topic}, and it is not this issue.",
            f"Nothing was written. Give it another name: wc rename {thread.topic} NAME",
        )
    position = len(entries)
    previous = entries[-1] if entries else None
    for fact in thread.facts:
        key = imports.key_of(thread.origin, fact)
        if key not in keys:
            previous = imports.entry_of(fact, thread.topic, key, previous)
            yield codec.to_line(previous, position)
            position += 1
