r"""The part of the index that has what a list shows of each thread, and its format.

The file is UTF-8 text. Its first line is `HEADER`; another header means that another
version wrote it, and it is not read. Then come *batches*: a line for each thread, and
last a line with ``=`` and the CRC-32 of the batch, without which none of it counts. A
later line about a thread replaces an earlier one.

A line is the *record* of a thread: the topic, the key of the thread's files, and the
fields of `Columns`, with a tab between two of them, and ``\\``, tab, newline and NUL
escaped in all but the last, which is JSON.
"""

from __future__ import annotations

from binascii import crc32

from wc_core.base.files import read_from, read_plain
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.landings import NO_LANDING
from wc_core.ledger.threads.model import NO_REVIEW
from wc_core.lookup.index.keys import NONE, ThreadFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot

HEADER = "watercooler overview 4"
_MAX_BYTES = 512 * 1024 * 1024
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": "\\0"}
_ESCAPE = str.maketrans(_ESCAPES)
_UNESCAPED = {"\\": "\\", "t": "\t", "n": "\n", "0": "\0"}
_COUNT_END = ":"
_BETWEEN = "\x1f"


class Columns(NamedTuple):
    """The columns of a record, after the key.

    ``new`` has the participants, each after the number of entries that are new for
    them. ``more`` is a JSON object with the fields that only few threads have; empty
    for most.
    """

    last_id: str
    status: str
    ball: str
    title: str
    updated_at: str
    updated_by: str
    branch: str
    entry_count: str
    new: str
    more: str


_MORE = 1 + len(Columns._fields)  # its place in a record


class Survey(NamedTuple):
    """The threads of a store at one moment: each one's key, and the records that are up
    to date."""

    keys: Mapping[str, str]
    records: Mapping[str, str]

    @property
    def unindexed(self) -> int:
        """How many threads with a log have no up-to-date record."""
        return sum(map(bool, self.keys.values())) - len(self.records)


def survey(
    reader: StoreReader,
    topics: Iterable[str] | None = None,
    *,
    annotations: bool = True,
) -> Survey:
    """Returns the threads of a store, or those with the ``topics``. Without
    ``annotations``, which only contain tags, the keys do not cover them and records may
    have outdated tags; it takes three quarters of the time.

    Raises StorageError and CorruptError if they cannot be listed.
    """
    folders = None
    if topics is None:
        topics, folders = reader.topics_and_folders()
    try:
        with ThreadFiles(reader.layout) as files:
            keys = files.keys(topics, folders, annotations=annotations)
    except OSError:
        return Survey(dict.fromkeys(topics, NONE), {})
    kept = read_records(reader.layout)
    is_proven = is_true if annotations else is_true_but_for_annotations
    records = {
        topic: record
        for topic, key in keys.items()
        if is_proven(record := kept.get(topic, ""), topic, key)
    }
    return Survey(keys, records)


def is_true(record: str, topic: str, key: str) -> bool:
    """Returns whether a thread's record was made from files with this key."""
    return key != NONE and record.startswith(f"{topic}\t{key}\t")


def is_true_but_for_annotations(record: str, topic: str, key: str) -> bool:
    """Returns whether a thread's record was made from files with this key, which does
    not cover annotations."""
    start = f"{topic}\t{key}"
    return key != NONE and record.startswith((f"{start}\t", f"{start},"))


def read_records(layout: Layout) -> dict[str, str]:
    """Returns each record, by topic; none if the file is missing or cannot be used."""
    try:
        data = read_plain(layout.overview, layout.root, _MAX_BYTES) or b""
    except OSError:
        return {}
    return parse(data)


def is_usable(layout: Layout) -> bool:
    """Returns whether the file exists and has this version."""
    try:
        head = read_from(layout.overview, layout.root, 0, len(HEADER) + 1)
    except OSError:
        return False
    return head == f"{HEADER}\n".encode()


def parse(data: bytes) -> dict[str, str]:
    """Returns each record in the bytes of an overview, by topic."""
    records: dict[str, str] = {}
    for batch in _batches(data):
        # A topic contains no characters that would be escaped.
        for record in str(batch, "utf-8", "surrogatepass").split("\n"):
            records[record[: record.find("\t")]] = record
    return records


def _batches(data: bytes) -> Iterable[memoryview]:
    """The batches with a correct checksum."""
    start = len(HEADER) + 1
    if data[:start] != f"{HEADER}\n".encode():
        return
    while (end := data.find(b"\n=", start - 1)) >= 0:
        stop = data.find(b"\n", end + 1)
        if stop < 0:
            return
        batch = memoryview(data)[start : end + 1]
        if data[end + 2 : stop] == b"%d" % crc32(batch):
            yield batch[:-1]
        start = stop + 1


def render_batch(records: Iterable[str]) -> bytes:
    """Returns records as a batch, with its checksum; nothing for none."""
    lines = "".join(f"{record}\n" for record in records)
    batch = lines.encode(errors="surrogatepass")
    return batch + b"=%d\n" % crc32(batch) if batch else b""


# --- a record -----------------------------------------------------------------


def encode(snapshot: Snapshot, key: str) -> str:
    """Returns the record of a thread with this key."""
    state = snapshot.state
    new = _BETWEEN.join(
        f"{item.new}{_COUNT_END}{item.name}" for item in state.participants
    )
    more = _more(snapshot)
    columns = Columns(
        state.last_id,
        state.status,
        state.ball or "",
        state.title,
        state.updated_at,
        state.updated_by,
        state.branch,
        str(state.entry_count),
        new,
        "",
    )
    return "\t".join(
        (
            state.topic,
            key,
            *(text.translate(_ESCAPE) for text in columns[:-1]),
            dumps(more) if more else "",
        )
    )


def _more(snapshot: Snapshot) -> dict[str, Any]:
    """The content of the last column: fields that only few threads have."""
    state = snapshot.state
    fields = {
        "forked": state.forked,
        "damaged": any(damage.lost for damage in snapshot.damage),
        "names": state.names,
        "tags": snapshot.tags,
        "links": state.links,
        "questions": state.questions,
        "items": state.items,
        "gates": state.gates,
        "review": state.review if state.review != NO_REVIEW else (),
        "landing": state.landing if state.landing != NO_LANDING else (),
    }
    return {name: value for name, value in fields.items() if value}


def last_id_and_status(record: str) -> tuple[str, str]:
    """Returns these two columns of a record."""
    _, _, last_id, status, _ = record.split("\t", 4)
    if "\\" in record:
        return _unescaped(last_id), _unescaped(status)
    return last_id, status


def may_wait(record: str) -> bool:
    """Returns whether the thread may have links or gates."""
    return record[-1] != "\t" and ('"links"' in record or '"gates"' in record)


def fields_of(record: str) -> list[str]:
    """Returns the topic of a record, its key, and its columns, in the order of
    `Columns`."""
    fields = record.split("\t", _MORE)
    if "\\" in record:
        fields[:-1] = map(_unescaped, fields[:-1])
    return fields


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    parts = iter(text.split("\\"))
    plain = [next(parts)]
    for part in parts:
        if part:
            plain += [_UNESCAPED.get(part[0], part[0]), part[1:]]
        else:  # two backslashes are one
            plain += ["\\", next(parts, "")]
    return "".join(plain)


def least_new(column: str, is_me: Callable[[str], bool]) -> int | None:
    """Returns, from the column for the participants, the least number of entries that
    are new for a name that ``is_me``; ``None`` if there is none."""
    parts = (part.partition(_COUNT_END) for part in column.split(_BETWEEN))
    counts = (int(number) for number, _, name in parts if number and is_me(name))
    return min(counts, default=None)


def can_have(snapshot: Snapshot) -> bool:
    """Returns whether a record can contain everything about a thread."""
    state = snapshot.state
    return state.ball != "" and not any(
        _BETWEEN in item.name for item in state.participants
    )
