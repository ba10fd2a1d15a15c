"""Merging bytes: logs as unions of their entries, other files three-way.

Nothing here knows git or the disk. Logs come out the same whichever side they
are merged on, and in whatever order.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.merge.threeway import (
    MAX_LINES,
    both,
    both_once,
    ended,
    lines_of,
    merge_keys,
    merge_lines,
    only_theirs,
)
from wc_core import ulid
from wc_core.threads import codec
from wc_core.threads import page as markdown
from wc_core.threads.model import Entry, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What may stand around the JSON of an entry and says nothing.
_SPACE = b" \t\r"
_UNIONS = frozenset({".gitattributes", ".gitignore"})
_UNREADABLE = (ValueError, RecursionError)


class Union(NamedTuple):
    """Logs made one: the bytes, what `codec.read_log` finds in them, and the
    ids that each of the logs had."""

    data: bytes
    entries: tuple[Entry, ...]
    lost: int
    ids: tuple[frozenset[str], ...]


class Merged(NamedTuple):
    """A file made of two; ``None`` for none. ``outvoted`` says that something
    of ours is not in it."""

    data: bytes | None
    outvoted: bool = False


def merge_logs(topic: str, *logs: bytes) -> bytes:
    """One log with every line of the logs, its bytes unchanged: in the order
    of `model.in_order`, identical ones of an entry once, different versions of
    it side by side.

    Lines that are no entry come first, so that the log ends with its last
    entry; each is there as often as in the log that has it most often. Only
    empty lines go. A last line without an end is taken for a line.
    """
    return unite(topic, *logs).data


def is_canonical(topic: str, data: bytes) -> bool:
    """Whether merging leaves a log as it is; it does not so with one that a
    plain ``git merge`` made."""
    return merge_logs(topic, data) == data


def split_torn(data: bytes) -> tuple[bytes, bytes]:
    """The complete lines of a log, and the rest: a line without its end."""
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]


def unite(topic: str, *logs: bytes) -> Union:
    """`merge_logs`, and what follows from it; each line is parsed once."""
    found = _LogLines(topic)
    ids = tuple(frozenset(found.add(log)) for log in logs)
    lines, entries = found.canonical()
    data = b"".join(line + b"\n" for line in [*found.bad, *lines])
    return Union(data, tuple(entries), len(found.bad), ids)


def old_entries(topic: str, page: bytes | None) -> tuple[Entry, ...]:
    """The entries of a page that is all there is of a thread; none of one
    that wc rendered from a log."""
    parsed = markdown.parse(topic, page or b"")
    if parsed.version:
        return ()
    return tuple(in_order(codec.each_once(parsed.entries)[0]))


class _Versions:
    """The lines of one entry, and what places it in a log where its id does
    not: the greatest ULID it was found after, and its first timestamp."""

    def __init__(self, entry: Entry) -> None:
        self.own = ulid.prefix(entry.id)
        self.id = entry.id
        self.floor = ""
        self.at = entry.at
        self.lines: dict[bytes, tuple[bytes, Entry]] = {}

    def add(self, line: bytes, entry: Entry) -> None:
        self.at = min(self.at, entry.at)
        text = line.strip(_SPACE)
        other, _ = self.lines.setdefault(text, (line, entry))
        if (len(line), line) < (len(other), other):
            self.lines[text] = (line, entry)

    @property
    def place(self) -> tuple[str, bool, str, str]:
        if self.own:
            return self.own, False, "", self.id
        return self.floor, True, self.at, self.id


class _LogLines:
    """The lines of logs, as they are found."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.entries: dict[str, _Versions] = {}
        self._read: dict[bytes, _Versions | None] = {}
        self._bad: dict[bytes, int] = {}

    def add(self, log: bytes) -> set[str]:
        """Take in the lines of a log; the ids it has."""
        ids: set[str] = set()
        bad: dict[bytes, int] = {}
        floor = ""
        for line in log.split(b"\n"):
            one = self._version(line)
            if one is not None:
                ids.add(one.id)
                floor = max(floor, one.own)
                one.floor = max(one.floor, floor)
            elif line.strip():
                bad[line] = bad.get(line, 0) + 1
        for line, count in bad.items():
            self._bad[line] = max(count, self._bad.get(line, 0))
        return ids

    def _version(self, line: bytes) -> _Versions | None:
        if line in self._read:
            return self._read[line]
        entry = codec.read_line(self.topic, line) if line.strip() else None
        one = None
        if isinstance(entry, Entry):
            one = self.entries.setdefault(entry.id, _Versions(entry))
            one.add(line, entry)
        self._read[line] = one
        return one

    @property
    def bad(self) -> list[bytes]:
        """The lines that are no entry."""
        return [line for line in sorted(self._bad) for _ in range(self._bad[line])]

    def canonical(self) -> tuple[list[bytes], list[Entry]]:
        """The lines that are entries as they belong into a log, and the
        entries that reading it gives."""
        lines: list[bytes] = []
        entries: list[Entry] = []
        for one in sorted(self.entries.values(), key=lambda each: each.place):
            for line, entry in sorted(one.lines.values(), key=lambda pair: pair[0]):
                lines.append(line)
                entries.append(entry)
        return lines, in_order(codec.each_once(entries)[0])


def merge_file(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> Merged:
    """A file that wc does not know, from both sides; ``None`` for none.

    Who changed it counts. If both did, it is merged by what its name says it
    is: what can be, by keys or by lines, else theirs counts. A file that one
    side changed and the other deleted is not deleted.
    """
    if theirs in (ours, base):
        return Merged(ours)
    if ours is None or ours == base:
        return Merged(theirs)
    if theirs is None:
        return Merged(ours)
    return _merge_changed(path, base or b"", ours, theirs)


def _merge_changed(path: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    name = path.rpartition("/")[2]
    if name.endswith(".json"):
        return _merge_objects(base, ours, theirs)
    if name.endswith(".toml"):
        return _merge_settings(base, ours, theirs)
    if name.endswith(".jsonl") or name in _UNIONS:
        return Merged(b"".join(_union(lines_of(theirs), lines_of(ours))))
    if b"\0" in ours or b"\0" in theirs:
        return Merged(theirs, outvoted=True)
    three = [lines_of(one) for one in (base, ours, theirs)]
    if max(map(len, three)) > MAX_LINES:
        return Merged(theirs, outvoted=True)
    return Merged(b"".join(merge_lines(both, *three)))


def _union(lines: Iterable[bytes], more: Iterable[bytes]) -> Iterator[bytes]:
    """Lines, and those of ``more`` that they lack, as many as they lack."""
    there: dict[bytes, int] = {}
    for line in ended(list(lines)):
        there[line] = there.get(line, 0) + 1
        yield line
    for line in ended(list(more)):
        there[line] = there.get(line, 0) - 1
        if there[line] < 0:
            yield line


def _merge_objects(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """JSON by keys; of two files of which one is no object, the other."""
    mine, other = _object(ours), _object(theirs)
    if other is None and mine is not None:
        return Merged(ours)
    if mine is None or other is None:
        return Merged(theirs, outvoted=True)
    keys = merge_keys(_object(base) or {}, mine, other)
    for values, data in ((other, theirs), (mine, ours)):
        if repr(keys.values) == repr(values):
            return Merged(data, keys.outvoted)
    try:
        return Merged(_written_like(theirs, keys.values), keys.outvoted)
    except _UNREADABLE:
        return Merged(theirs, outvoted=True)


def _object(data: bytes) -> dict[str, Any] | None:
    """The object that a file is; ``None`` for anything else, and for one that
    says a key twice: writing it again would lose one of them."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_pairs)
    except _UNREADABLE:
        return None
    return value if isinstance(value, dict) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key twice")
    return values


def _written_like(data: bytes, values: dict[str, Any]) -> bytes:
    """JSON, indented and escaped as ``data`` is."""
    first = re.search(rb"\n([ \t]+)\S", data)
    indent = first[1].decode() if first else None
    text = json.dumps(values, indent=indent, ensure_ascii=data.isascii())
    return text.encode() + (b"\n" if data.endswith(b"\n") else b"")


def _merge_settings(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Settings by lines, comments and all, if these say what merging them key
    by key does; else theirs as a whole. Of two files of which one is no TOML,
    the other: settings that cannot be read would stop every writer."""
    mine, other = _tables(ours), _tables(theirs)
    if other is None and mine is not None:
        return Merged(ours)
    if mine is None or other is None:
        return Merged(theirs, outvoted=True)
    keys = merge_keys(_tables(base) or {}, mine, other)
    three = [lines_of(one) for one in (base, ours, theirs)]
    if max(map(len, three)) <= MAX_LINES:
        for resolve in (both_once, only_theirs):
            data = b"".join(merge_lines(resolve, *three))
            if _tables(data) == keys.values:
                lost = keys.outvoted or resolve is only_theirs
                return Merged(data, lost)
    return Merged(theirs, outvoted=True)


def _tables(data: bytes) -> dict[str, Any] | None:
    import tomllib  # hardly ever

    try:
        return tomllib.loads(data.decode())
    except _UNREADABLE:
        return None
