"""Summaries by models, as stored beside the log of a thread.

``summaries.jsonl`` has a JSON object on each line: the ``id`` of an entry, the ``hash``
of the summarised text, the ``model``, the ``summary``, and the time, ``at``. Any other
line stays in place and is ignored. A summary of a text that has changed since is not
used.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.files import Folder
from wc_core.base.lean import hashlib
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.jsontext import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry

# In characters. A longer answer of a model is cut.
MOST = 400
# The most that is read from a file: the summaries of more entries than a thread has.
_MAX_BYTES = 64 * 1024 * 1024
_HASH_DIGITS = 32


class KeptSummary(NamedTuple):
    """A summary of the text with a hash, which the entry with the id had."""

    id: str
    hash: str
    summary: str
    model: str = ""
    at: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of a summary: an entry with a text."""
        return self.id, self.hash

    def to_line(self) -> bytes:
        """Returns the line of the file."""
        return f"{dumps(self._asdict())}\n".encode()


class KeptSummaries(NamedTuple):
    """The summaries in a file, by entry and hash; the latest of each."""

    by_key: Mapping[tuple[str, str], KeptSummary] = MappingProxyType({})

    def of(self, entry: Entry) -> KeptSummary | None:
        """Returns the summary of an entry's current text."""
        if not self.by_key:
            return None
        return self.by_key.get((entry.id, text_hash(entry)))


NOTHING_KEPT = KeptSummaries()


def text_hash(entry: Entry) -> str:
    """Returns the hash of a summarised entry: its title and body."""
    return hash_of(f"{entry.title}\n\n{entry.body}")


def hash_of(text: str) -> str:
    """Returns the hash of a summarised text."""
    data = text.encode(errors="replace")
    digest = hashlib.new("sha256", data, usedforsecurity=False).hexdigest()
    return digest[:_HASH_DIGITS]


def read_kept(layout: Layout, topic: str) -> KeptSummaries:
    """Returns the summaries of a thread; none if the file is missing or cannot be
    read."""
    try:
        with Folder(layout.folder(topic), layout.root) as folder:
            data = bytes_in(folder, layout.summaries(topic))
    except OSError:
        return NOTHING_KEPT
    return parse(data) if data else NOTHING_KEPT


def bytes_in(folder: Folder, path: str) -> bytes:
    """Returns the lines in the file with the summaries of a thread whose folder is
    open; nothing if the file is missing or cannot be read. A line without an end was
    never finished."""
    try:
        data = folder.read(path, _MAX_BYTES) or b""
    except OSError:
        return b""
    return data[: data.rfind(b"\n") + 1]


def parse(data: bytes, entry_id: str = "") -> KeptSummaries:
    """Returns the summaries in a file, or those of one entry."""
    sought = dumps(entry_id).encode() if entry_id else b""
    latest: dict[tuple[str, str], KeptSummary] = {}
    for _, record in _records(data, sought):
        if record is not None and _is_later(record, latest.get(record.key)):
            latest[record.key] = record
    return KeptSummaries(latest)


def merge(versions: Iterable[bytes]) -> bytes:
    """Returns the union of all versions of the file, in an order that does not depend
    on theirs: of the summaries of one text, the latest; every other line once, before
    them."""
    latest: dict[tuple[str, str], KeptSummary] = {}
    lines: dict[tuple[str, str], bytes] = {}
    foreign = set[bytes]()
    for line, record in (pair for data in versions for pair in _records(data)):
        if record is None:
            foreign.add(line)
        elif _is_later(record, latest.get(record.key)) or (
            record == latest[record.key] and line < lines[record.key]
        ):
            latest[record.key], lines[record.key] = record, line
    ordered = [*sorted(foreign), *(lines[key] for key in sorted(lines))]
    return b"".join(line + b"\n" for line in ordered)


def _is_later(record: KeptSummary, rival: KeptSummary | None) -> bool:
    return rival is None or (record.at, record) > (rival.at, rival)


def _records(
    data: bytes, sought: bytes = b""
) -> Iterator[tuple[bytes, KeptSummary | None]]:
    """Yields each line that is not empty, or each that has the bytes ``sought``, with
    the summary in it."""
    for line in data.split(b"\n"):
        if line.strip() and sought in line:
            yield line, _record(line)


def _record(line: bytes) -> KeptSummary | None:
    try:
        fields = loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    values = [fields.get(name, "") for name in KeptSummary._fields]
    if not all(isinstance(value, str) for value in values):
        return None
    record = KeptSummary(*values)
    has_text = one_line(record.summary, MOST) != ""
    return record if record.id and record.hash and has_text else None
