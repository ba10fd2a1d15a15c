"""Encodes entries as lines of JSON, and decodes them.

Damage is a value here, never an exception: a log with a bad line still has every good
entry, beside a report of what is wrong.
"""

from __future__ import annotations

from wc_core.base.errors import Damage
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.entryfields import FIELDS, from_fields, to_fields
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.jsontext import dumps, loads
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES, long_size
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.written import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator
    from typing import TypeAlias

    # Returns the digests of the lines of a thread that were written here.
    WrittenLines: TypeAlias = Callable[[], Container[str]]

_NONE_WRITTEN: WrittenLines = tuple
# What tools write into a field without a value.
_EMPTY: tuple[object, ...] = (None, "", [], {})


class BadLine(NamedTuple):
    """The reason why a line is not an entry: the kind of damage, and a sentence about
    it."""

    kind: str
    message: str


class Log(NamedTuple):
    """The contents of a log: entries in the order in which they take effect
    (`wc_core.ledger.threads.folding`), each id once.

    ``size`` is the length of the file. ``complete`` is the length up to the
    end of its last complete line; only that much is ever committed. ``ordered`` says
    that the lines are in the order of their entries.
    """

    entries: tuple[Entry, ...] = ()
    damage: tuple[Damage, ...] = ()
    size: int = 0
    complete: int = 0
    ordered: bool = True

    @property
    def last_id(self) -> str:
        """The greatest id, or the empty string."""
        return self.entries[-1].id if self.entries else ""

    @property
    def lost(self) -> int:
        """The number of lines that are not entries."""
        return sum(1 for damage in self.damage if damage.lost)


def to_line(entry: Entry, index: int) -> bytes:
    """Encode an entry as a line of a log, with its newline.

    ``index`` is the entry's position when it was written. Other tools show
    it; it is not an order. Raises UnicodeEncodeError for lone surrogates,
    which `vocabulary` refuses earlier.
    """
    fields = {
        "id": f"entry:{entry.id}",
        "type": "entry",
        "entry_id": entry.id,
        "thread_topic": entry.topic,
        "index": index,
    }
    return (dumps(fields | to_fields(entry)) + "\n").encode()


def read_log(
    topic: str,
    data: bytes,
    file: str = "entries.jsonl",
    written: WrittenLines = _NONE_WRITTEN,
) -> Log:
    """Decode a log. Returns everything good in it, and the damage.

    Of two versions of an entry, the one that is among the ``written`` lines counts,
    otherwise the fuller.
    """
    lines = data.split(b"\n")
    numbered: list[tuple[int, Entry]] = []
    damage: list[Damage] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        result = read_line(topic, line)
        is_torn = number == len(lines)
        if isinstance(result, Entry):
            numbered.append((number, result))
            if not result.extra and not is_torn:
                continue  # nearly every line: nothing to report
        damage += _line_damage(result, file, number, is_torn=is_torn)
    entries, differing = deduplicate(entry for _, entry in numbered)
    if differing:
        own = _written_entries(topic, lines, differing, written)
        entries = [own.get(entry.id, entry) for entry in entries]
        damage += _superseded(numbered, entries, file)
        damage.sort(key=lambda defect: defect.line)
    complete = data.rfind(b"\n") + 1
    sorted_entries = in_effect_order(entries)
    ordered = sorted_entries == entries
    return Log(tuple(sorted_entries), tuple(damage), len(data), complete, ordered)


def _line_damage(
    result: Entry | BadLine, file: str, number: int, *, is_torn: bool
) -> Iterator[Damage]:
    """The damage on one line, from which ``result`` was read.

    A known field of another shape is damage: it stays on its line, but is not shown.
    """
    if isinstance(result, BadLine):
        torn = BadLine("torn", "the last line was never finished")
        yield Damage(file, number, *(torn if is_torn else result))
        return
    for name, value in result.extra.items():
        if name in FIELDS and value not in _EMPTY:
            message = f"{name} of entry {result.id} has an unknown shape"
            yield Damage(file, number, "field", message, lost=False)
    if is_torn:
        message = "the last line has no end; its entry is complete"
        yield Damage(file, number, "torn", message, lost=False)


def _written_entries(
    topic: str, lines: Iterable[bytes], ids: Collection[str], written: WrittenLines
) -> dict[str, Entry]:
    """The entries with these ids, by id, of which a version was written here: that one
    counts, because anyone who may push can add a fuller one."""
    digests = written()
    read = (read_line(topic, line) for line in lines if digest_of(line) in digests)
    entries = (entry for entry in read if isinstance(entry, Entry))
    return {entry.id: entry for entry in entries if entry.id in ids}


def _superseded(
    numbered: Iterable[tuple[int, Entry]], chosen: Iterable[Entry], file: str
) -> Iterator[Damage]:
    """Damage for each line with another version of an entry than the chosen one."""
    by_id = {entry.id: entry for entry in chosen}
    for number, entry in numbered:
        if by_id[entry.id] != entry:
            message = f"entry {entry.id} exists in two versions"
            yield Damage(file, number, "differs", message, lost=False)


def read_line(topic: str, line: bytes) -> Entry | BadLine:
    """Decode one line of a log."""
    if size := long_size(line, MAX_LINE_BYTES):
        message = f"a line of {size} bytes is longer than any entry"
        return BadLine("long", message)
    try:
        fields = loads(line)
    except UnicodeDecodeError:
        return BadLine("garbage", "not UTF-8")
    except ValueError:
        zeros = "nothing but zero bytes, as a power cut leaves them"
        return BadLine("garbage", "not JSON" if line.strip(b"\0 \t\r") else zeros)
    except RecursionError:
        return BadLine("garbage", "JSON nested too deep")
    if not isinstance(fields, dict):
        return BadLine("shape", "JSON, but not an object")
    entry = from_fields(topic, fields)
    return entry or BadLine("shape", "an object without an entry_id")


def deduplicate(entries: Iterable[Entry]) -> tuple[list[Entry], list[str]]:
    """Keep each id once. Returns the entries, and the ids that had two versions.

    Of two versions the one with more fields stays, whichever came first. Every clone
    decides so; `read_log` prefers what was written here.
    """
    chosen: dict[str, Entry] = {}
    differing: dict[str, None] = {}
    for entry in entries:
        earlier = chosen.setdefault(entry.id, entry)
        if earlier != entry:
            differing[entry.id] = None
            chosen[entry.id] = max(earlier, entry, key=_fullness)
    return list(chosen.values()), list(differing)


def partition_lines(
    topic: str, data: bytes, written: WrittenLines = _NONE_WRITTEN
) -> tuple[bytes, bytes]:
    """Split a log into its good and its bad lines.

    Bad lines are those that are not entries, and the versions of an entry that do not
    count, see `read_log`; a line that is too long stays where it is. Each byte goes
    into one of the two results, and every line gets its newline.
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    good_lines = _good_lines(topic, lines, written)
    good: list[bytes] = []
    bad: list[bytes] = []
    for line in lines:
        is_bad = line.strip() and line not in good_lines and not long_size(line)
        (bad if is_bad else good).append(line + b"\n")
    return b"".join(good), b"".join(bad)


def _good_lines(
    topic: str, lines: Collection[bytes], written: WrittenLines
) -> set[bytes]:
    """The lines with an entry in the version that counts."""
    results = {line: read_line(topic, line) for line in lines}
    read = {line: item for line, item in results.items() if isinstance(item, Entry)}
    entries, differing = deduplicate(read.values())
    by_id = {entry.id: entry for entry in entries}
    if differing:
        by_id |= _written_entries(topic, lines, differing, written)
    return {line for line, entry in read.items() if by_id[entry.id] == entry}


def lines_by_id(topic: str, data: bytes) -> dict[str, bytes]:
    """The line of each entry in a log, unchanged, by the entry's id."""
    good, _ = partition_lines(topic, data)
    pairs = ((read_line(topic, line), line) for line in good.split(b"\n"))
    return {item.id: line + b"\n" for item, line in pairs if isinstance(item, Entry)}


def _fullness(entry: Entry) -> tuple[int, str]:
    """A sort key: the number of fields with a value, then a fixed order."""
    fields = to_fields(entry)
    filled = sum(1 for value in fields.values() if value not in _EMPTY)
    return filled, json.dumps(fields, sort_keys=True)
