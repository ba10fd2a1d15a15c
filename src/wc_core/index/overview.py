r"""The part of the index that has what a list shows of each thread, and its format.

The file is UTF-8 text. Its first line is `HEADER`; another header means that another
version wrote it, and it is not read. Then come *batches*: a line for each thread, and
last a line with ``=`` and the CRC-32 of the batch, without which none of it counts. A
later line about a thread replaces an earlier one.

A line has the fields of `Columns` with a tab between two of them, and ``\\``, tab,
newline and NUL escaped in all but the last, which is JSON.
"""

from __future__ import annotations

from binascii import crc32

from wc_core.files import read_from, read_plain
from wc_core.index import keys
from wc_core.threads.jsontext import dumps
from wc_core.threads.reviews import NO_REVIEW
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_core.layout import Layout
    from wc_core.threads.reader import Snapshot, StoreReader

HEADER = "watercooler overview 1"
_MAX_BYTES = 512 * 1024 * 1024
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": "\\0"}
_ESCAPE = str.maketrans(_ESCAPES)
_UNESCAPED = {"\\": "\\", "t": "\t", "n": "\n", "0": "\0"}
_COUNT_END = ":"
_BETWEEN = "\x1f"


class Columns(NamedTuple):
    """The columns of a line.

    ``new`` has the participants, each after the number of entries that are new for
    them. ``more`` is a JSON object with what few threads have; empty for most.
    """

    topic: str
    key: str
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


_BEFORE_MORE = len(Columns._fields) - 1


class Survey(NamedTuple):
    """The threads of a store at one moment: the base of each one's key, and the lines
    of those whose line is true."""

    bases: Mapping[str, str]
    lines: Mapping[str, str]

    @property
    def unindexed(self) -> int:
        """How many threads with a log have no true line."""
        return sum(map(bool, self.bases.values())) - len(self.lines)


def survey(reader: StoreReader, topics: Iterable[str] | None = None) -> Survey:
    """Returns the threads of a store, or those with the ``topics``.

    Raises StorageError and CorruptError if they cannot be listed.
    """
    chosen = reader.topics() if topics is None else topics
    kept = read_lines(reader.layout)
    bases: dict[str, str] = {}
    lines: dict[str, str] = {}
    try:
        with keys.ThreadFiles(reader.layout) as files:
            for topic in chosen:
                base = bases[topic] = files.base(topic)
                line = kept.get(topic)
                if line and base and is_true(line, topic, base, files):
                    lines[topic] = line
    except OSError:
        return Survey(dict.fromkeys(chosen, keys.NONE), {})
    return Survey(bases, lines)


def is_true(line: str, topic: str, base: str, files: keys.ThreadFiles) -> bool:
    """Returns whether the line of a topic was made from its files as they are, whose
    key begins with ``base``."""
    start = len(topic) + 1
    if not line.startswith(base, start):
        return False
    end = start + len(base)
    if line.startswith("\t", end):
        return True
    return line.startswith(f"{files.annotations(topic)}\t", end)


def read_lines(layout: Layout) -> dict[str, str]:
    """Returns each line, by topic; none if the file is missing or cannot be used."""
    try:
        data = read_plain(layout.overview, layout.root, _MAX_BYTES) or b""
    except OSError:
        return {}
    return parse(data)


def is_usable(layout: Layout) -> bool:
    """Returns whether the file is there, and of this version."""
    try:
        head = read_from(layout.overview, layout.root, 0, len(HEADER) + 1)
    except OSError:
        return False
    return head == f"{HEADER}\n".encode()


def parse(data: bytes) -> dict[str, str]:
    """Returns each line in the bytes of an overview, by topic."""
    lines: dict[str, str] = {}
    for batch in _batches(data):
        text = batch.decode(errors="surrogatepass")
        # A topic has no character that is escaped.
        lines |= {line[: line.find("\t")]: line for line in text.split("\n")}
    return lines


def _batches(data: bytes) -> Iterable[bytes]:
    """The batches whose checksum is right."""
    start = len(HEADER) + 1
    if data[:start] != f"{HEADER}\n".encode():
        return
    while (end := data.find(b"\n=", start - 1)) >= 0:
        stop = data.find(b"\n", end + 1)
        if stop < 0:
            return
        batch = data[start : end + 1]
        if data[end + 2 : stop] == b"%d" % crc32(batch):
            yield batch[:-1]
        start = stop + 1


def render_batch(lines: Iterable[str]) -> bytes:
    """Returns lines as a batch, with its checksum; nothing for no lines."""
    batch = "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")
    return batch + b"=%d\n" % crc32(batch) if batch else b""


# --- a line -------------------------------------------------------------------


def encode(snapshot: Snapshot, key: str) -> str:
    """Returns the line for a thread with this key."""
    state = snapshot.state
    new = _BETWEEN.join(
        f"{item.new}{_COUNT_END}{item.name}" for item in state.participants
    )
    more = _more(snapshot)
    columns = Columns(
        state.topic,
        key,
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
            *(text.translate(_ESCAPE) for text in columns[:_BEFORE_MORE]),
            dumps(more) if more else "",
        )
    )


def _more(snapshot: Snapshot) -> dict[str, Any]:
    """What is in the last column: what few threads have."""
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
    }
    return {name: value for name, value in fields.items() if value}


def last_id_and_status(line: str) -> tuple[str, str]:
    """Returns these two columns of a line."""
    _, _, last_id, status, _ = line.split("\t", 4)
    return _unescaped(last_id), _unescaped(status)


def has_only_columns(line: str) -> bool:
    """Returns whether the last column is empty, as for most threads."""
    return line.endswith("\t")


def may_wait(line: str) -> bool:
    """Returns whether the thread may have links or gates."""
    return not has_only_columns(line) and ('"links"' in line or '"gates"' in line)


def columns_of(line: str) -> Columns:
    """Returns the columns of a line."""
    parts = line.split("\t", _BEFORE_MORE)
    if "\\" in line:
        parts[:_BEFORE_MORE] = map(_unescaped, parts[:_BEFORE_MORE])
    return Columns._make(parts)


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


def least_new(column: str, is_me: Callable[[str], bool], total: int) -> int:
    """Returns, from the column for the participants, the least number of entries that
    are new for one who ``is_me``; the ``total`` if there is none."""
    least = total
    for part in column.split(_BETWEEN):
        number, _, name = part.partition(_COUNT_END)
        if number and is_me(name):
            least = min(least, int(number))
    return least


def can_have(snapshot: Snapshot) -> bool:
    """Returns whether a line can say everything about a thread."""
    state = snapshot.state
    return (
        snapshot.move is None
        and state.ball != ""
        and not any(_BETWEEN in item.name for item in state.participants)
    )
