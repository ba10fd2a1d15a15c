"""Logs with lines that are too long to be entries. Such a line stays in its log, byte
for byte, but is never in memory: a stand-in takes its place.
"""

from __future__ import annotations

import os

from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _hashlib import HASH
    from collections.abc import Callable, Iterable, Iterator, Mapping

# Enough for a body of 16 MiB with what JSON escapes in it, and all other fields.
MAX_LINE_BYTES = 20 * 1024 * 1024
# Larger logs are not read: their lines are in memory, with what is made from them.
MAX_LOG_BYTES = 512 * 1024 * 1024
# No line of a log can begin like this: the number is another one in each process.
_MARK = b"\0long-line:%b:" % os.urandom(8).hex().encode()
_GATHERED = 1 << 20


class LongLine(NamedTuple):
    """Where a line is in its log, and its length without the end of the line."""

    start: int
    size: int


class LogText(NamedTuple):
    """A log of ``size`` bytes. In ``data``, each of the ``long`` lines is replaced with
    the stand-in by which it is listed; the same line always gets the same one.
    ``pieces`` yields the bytes of the log."""

    data: bytes
    size: int
    long: Mapping[bytes, LongLine]
    pieces: Callable[[], Iterator[bytes]]

    @property
    def complete(self) -> int:
        """The length of the log up to the end of its last complete line."""
        torn = self.data[self.data.rfind(b"\n") + 1 :]
        return self.size - (self.long[torn].size if torn in self.long else len(torn))


def of_bytes(data: bytes, limit: int = MAX_LINE_BYTES) -> LogText:
    """The log with these bytes."""

    def pieces() -> Iterator[bytes]:
        yield data

    if len(data) <= limit:
        return LogText(data, len(data), {}, pieces)
    return read(pieces, limit)


def read(pieces: Callable[[], Iterator[bytes]], limit: int = MAX_LINE_BYTES) -> LogText:
    """The log that ``pieces`` yields. What that raises is raised."""
    reading = _Reading(limit)
    for piece in pieces():
        head, end, body = piece.partition(b"\n")
        reading.add(head)
        if end:
            reading.end_line()
            lines, end, tail = body.rpartition(b"\n")
            if len(lines) > limit:
                for line in lines.split(b"\n"):
                    reading.add(line)
                    reading.end_line()
            elif end:
                reading.add_lines(lines + end)
            reading.add(tail)
    return reading.result(pieces)


class _Reading:
    """The part of a log that was read so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[bytes] = []
        self._long: dict[bytes, LongLine] = {}
        self._size = 0
        # The line that is being read, or, of one that is too long, its hash.
        self._line: list[bytes] = []
        self._length = 0
        self._hash: HASH | None = None

    def add(self, part: bytes) -> None:
        """Add a part of a line."""
        self._length += len(part)
        if self._hash is None and self._length > self._limit:
            start = b"".join(self._line)
            # The other implementation takes several times as long.
            self._hash = hashlib.new("sha256", start, usedforsecurity=True)
            self._line.clear()
        if self._hash is None:
            self._line.append(part)
        else:
            self._hash.update(part)

    def end_line(self) -> None:
        """Add the end of the line."""
        self._finish()
        self.add_lines(b"\n")

    def add_lines(self, lines: bytes) -> None:
        """Add complete lines, none of which is too long."""
        self._kept.append(lines)
        self._size += len(lines)

    def _finish(self) -> None:
        if self._hash is not None:
            digest = self._hash.hexdigest().encode()
            stand_in = b"%b%b:%d" % (_MARK, digest, self._length)
            self._long[stand_in] = LongLine(self._size, self._length)
            self._line = [stand_in]
        self._kept += self._line
        self._size += self._length
        self._line, self._length, self._hash = [], 0, None

    def result(self, pieces: Callable[[], Iterator[bytes]]) -> LogText:
        """The log that was read."""
        self._finish()
        return LogText(b"".join(self._kept), self._size, self._long, pieces)


def long_size(line: bytes, limit: int = MAX_LINE_BYTES) -> int:
    """The length of a line that is too long, or for which this one stands; 0 for any
    other."""
    if line.startswith(_MARK):
        return int(line.rpartition(b":")[2])
    return len(line) if len(line) > limit else 0


def has_long(data: bytes) -> bool:
    """Whether there is any stand-in in the lines of a log."""
    return _MARK in data


def expanded_size(data: bytes) -> int:
    """The length of these lines with the long lines for which there are stand-ins."""
    if not has_long(data):
        return len(data)
    lines = data.split(b"\n")
    return sum(long_size(line) or len(line) for line in lines) + len(lines) - 1


def expanded(data: bytes, logs: Iterable[LogText]) -> Iterator[bytes]:
    """Yield these lines in pieces, with the long lines that are in any of the ``logs``
    instead of their stand-ins.

    Raises ValueError if a long line is in none of them, or no longer is.
    """
    sources = {stand_in: log for log in logs for stand_in in log.long}
    gathered: list[bytes] = []
    size = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        end = b"\n" * (number < len(lines))
        if line.startswith(_MARK):
            yield b"".join(gathered)
            if line not in sources:
                raise ValueError("a line that is too long to be read is missing")
            yield from _long_line(line, sources[line])
            gathered, size = [end], 0
            continue
        gathered += (line, end)
        size += len(line)
        if size > _GATHERED:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)


def _long_line(stand_in: bytes, log: LogText) -> Iterator[bytes]:
    line = log.long[stand_in]
    digest = hashlib.new("sha256", b"", usedforsecurity=True)
    position, end = 0, line.start + line.size
    for piece in log.pieces():
        part = piece[max(0, line.start - position) : max(0, end - position)]
        digest.update(part)
        if part:
            yield part
        position += len(piece)
        if position >= end:
            break
    if digest.hexdigest().encode() not in stand_in:
        raise ValueError("a line that is too long to be read has changed")
