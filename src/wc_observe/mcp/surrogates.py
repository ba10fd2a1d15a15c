"""Half characters in what a client sends over standard input.

JSON can escape one half of a surrogate pair alone, and JavaScript writes that for
half an emoji, as in a text that was cut. The parser of messages takes no line with
one, and says nothing: whoever sent it would wait for its answer. Here such a half
becomes U+FFFD, as everywhere else.
"""

from __future__ import annotations

import io
import re
from typing import BinaryIO

# A whole pair, one half, or any other escape: a backslash that is itself escaped
# begins none.
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_HALF = len(rb"\ud800")


def repair_line(line: bytes) -> bytes:
    """The line with U+FFFD for each half; any other line comes back as it is."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(_repair_escape, line)


def _repair_escape(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if len(escape[0]) == _HALF else escape[0]


class RepairedInput(io.BufferedIOBase):
    """A stream of lines, each of them mended."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._unread = memoryview(b"")

    @property
    def name(self) -> str:
        """What messages of the interpreter call it."""
        return "<stdin>"

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Some bytes as soon as a line is there; none at the end."""
        if not self._unread:
            self._unread = memoryview(repair_line(self._stream.readline()))
        end = len(self._unread) if size < 0 else size
        chunk, self._unread = bytes(self._unread[:end]), self._unread[end:]
        return chunk


def repaired_input(stream: BinaryIO) -> io.TextIOWrapper:
    """What to read a client's messages from, in place of ``sys.stdin``."""
    return io.TextIOWrapper(RepairedInput(stream), encoding="utf-8", errors="replace")
