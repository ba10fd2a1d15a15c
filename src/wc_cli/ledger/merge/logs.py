"""Merges logs into the union of their entries.

Nothing here uses git or the disk. The result does not depend on the order or on the
side of the merge.
"""

from __future__ import annotations

from collections import Counter
from operator import itemgetter

from wc_core.base import ulid
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.pages import page as page_format

# The characters that may surround an entry's JSON without meaning anything.
_SPACE = b" \t\r"


class LogUnion(NamedTuple):
    """Merged logs: the bytes, the result of `codec.read_log`, and the entry ids of each
    log."""

    data: bytes
    entries: tuple[Entry, ...]
    lost: int
    ids: tuple[frozenset[str], ...]


def merge_logs(topic: str, *logs: bytes) -> bytes:
    """Merge logs into one that has every line of each, byte for byte.

    The order is that of `folding.in_order`. Identical lines of an entry appear once,
    different versions of it one after the other. Lines that are not entries come first,
    so that the log ends with its last entry; each appears as often as in the log that
    repeats it most. Only empty lines are dropped. An unfinished last line counts as a
    line.
    """
    return unite(topic, *logs).data


def unite(topic: str, *logs: bytes) -> LogUnion:
    """`merge_logs`, with the entries; each line is parsed once."""
    lines = _LogLines(topic)
    ids = tuple(frozenset(lines.add(log)) for log in logs)
    entry_lines, entries = lines.in_log_order()
    data = b"".join(line + b"\n" for line in [*lines.bad_lines, *entry_lines])
    return LogUnion(data, tuple(entries), len(lines.bad_lines), ids)


def whole_of(union: bytes, *logs: bytes) -> bytes:
    """The first of the ``logs`` that has every line of their union; otherwise
    ``union``. It need not be written again."""
    union_lines = Counter(filter(bytes.strip, union.split(b"\n")))
    for log in logs:
        if union_lines <= Counter(log.split(b"\n")):
            return log
    return union


def split_torn(data: bytes) -> tuple[bytes, bytes]:
    """The complete lines of a log, and the unfinished line after them."""
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def old_entries(topic: str, page: bytes | None) -> tuple[Entry, ...]:
    """The entries of a page that is the whole thread; none for a page that wc rendered
    from a log."""
    parsed = page_format.parse(topic, page or b"")
    if parsed.version:
        return ()
    return tuple(in_effect_order(codec.deduplicate(parsed.entries)[0]))


class _Versions:
    """The lines of one entry.

    An entry whose id is not a ULID is placed by ``floor``, the greatest ULID before it
    in any log, and by ``at``, its first timestamp.
    """

    def __init__(self, entry: Entry) -> None:
        self.ulid = ulid.prefix(entry.id)
        self.id = entry.id
        self.floor = ""
        self.at = entry.at
        self.lines: dict[bytes, tuple[bytes, Entry]] = {}

    def add(self, line: bytes, entry: Entry) -> None:
        self.at = min(self.at, entry.at)
        text = line.strip(_SPACE)
        previous, _ = self.lines.setdefault(text, (line, entry))
        if (len(line), line) < (len(previous), previous):
            self.lines[text] = (line, entry)

    @property
    def sort_key(self) -> tuple[str, bool, str, str]:
        if self.ulid:
            return self.ulid, False, "", self.id
        return self.floor, True, self.at, self.id


class _LogLines:
    """Collects the lines of logs: those that are entries, by id, and bad ones."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.entries: dict[str, _Versions] = {}
        self._parsed: dict[bytes, _Versions | None] = {}
        self._bad_counts: dict[bytes, int] = {}

    def add(self, log: bytes) -> set[str]:
        """Add the lines of a log. Returns the ids of its entries."""
        ids: set[str] = set()
        bad_counts: dict[bytes, int] = {}
        floor = ""
        for line in log.split(b"\n"):
            versions = self._add_line(line)
            if versions is not None:
                ids.add(versions.id)
                floor = max(floor, versions.ulid)
                versions.floor = max(versions.floor, floor)
            elif line.strip():
                bad_counts[line] = bad_counts.get(line, 0) + 1
        for line, count in bad_counts.items():
            self._bad_counts[line] = max(count, self._bad_counts.get(line, 0))
        return ids

    def _add_line(self, line: bytes) -> _Versions | None:
        """Add a line to the versions of its entry; ``None`` if it is not an entry."""
        if line in self._parsed:
            return self._parsed[line]
        entry = codec.read_line(self.topic, line) if line.strip() else None
        versions = None
        if isinstance(entry, Entry):
            versions = self.entries.setdefault(entry.id, _Versions(entry))
            versions.add(line, entry)
        self._parsed[line] = versions
        return versions

    @property
    def bad_lines(self) -> list[bytes]:
        """The lines that are not entries."""
        return [
            line
            for line, count in sorted(self._bad_counts.items())
            for _ in range(count)
        ]

    def in_log_order(self) -> tuple[list[bytes], list[Entry]]:
        """The lines that are entries, in log order, and the entries read from them, in
        the order in which they take effect."""
        lines: list[bytes] = []
        entries: list[Entry] = []
        for versions in sorted(self.entries.values(), key=lambda item: item.sort_key):
            for line, entry in sorted(versions.lines.values(), key=itemgetter(0)):
                lines.append(line)
                entries.append(entry)
        return lines, in_effect_order(codec.deduplicate(entries)[0])
