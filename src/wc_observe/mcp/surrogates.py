"""Repairs unpaired surrogates in a client's messages over standard input.

JSON can escape half of a surrogate pair, and JavaScript does so for half an emoji, for
example in a truncated text. The message parser silently drops such a line, so the
client would wait forever for an answer. Here each half becomes U+FFFD, as everywhere
else.
"""

from __future__ import annotations

import io
import re
from typing import BinaryIO

# A complete pair, a half, or any other escape: an escaped backslash does not start one.
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_HALF = len(rb"\ud800")


def repair_line(line: bytes) -> bytes:
    """Returns the line with U+FFFD for each half of a pair."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(_repair_escape, line)


def _repair_escape(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if len(escape[0]) == _HALF else escape[0]


class RepairedInput(io.BufferedIOBase):
    """A stream of repaired lines. ``unread`` comes before the stream's own data."""

    def __init__(self, stream: BinaryIO, unread: bytes = b"") -> None:
        self._stream = stream
        lines, end, self._beginning = unread.rpartition(b"\n")
        self._unread = memoryview(repair_line(lines + end))

    @property
    def name(self) -> str:
        """The stream's name in the interpreter's messages."""
        return "<stdin>"

    def readable(self) -> bool:
        """Returns that it can be read."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Returns some bytes as soon as there is a line; none at the end."""
        if not self._unread:
            line = self._beginning + self._stream.readline()
            self._beginning = b""
            self._unread = memoryview(repair_line(line))
        end = len(self._unread) if size < 0 else size
        chunk, self._unread = bytes(self._unread[:end]), self._unread[end:]
        return chunk


def repaired_input(stream: BinaryIO, unread: bytes = b"") -> io.TextIOWrapper:
    """Returns the replacement of ``sys.stdin`` for a client's messages. It starts with
    the ``unread`` bytes."""
    return io.TextIOWrapper(
        RepairedInput(stream, unread), encoding="utf-8", errors="replace"
    )
