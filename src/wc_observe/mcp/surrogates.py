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


def mended(line: bytes) -> bytes:
    """The line with U+FFFD for each half; any other line comes back as it is."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(_whole, line)


def _whole(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if len(found[0]) == _HALF else found[0]


class MendedInput(io.BufferedIOBase):
    """A stream of lines, each of them mended."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = memoryview(b"")

    @property
    def name(self) -> str:
        """What messages of the interpreter call it."""
        return "<stdin>"

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Some bytes as soon as a line is there; none at the end."""
        if not self._left:
            self._left = memoryview(mended(self._stream.readline()))
        end = len(self._left) if size < 0 else size
        chunk, self._left = bytes(self._left[:end]), self._left[end:]
        return chunk


def mending(stream: BinaryIO) -> io.TextIOWrapper:
    """What to read a client's messages from, in place of ``sys.stdin``."""
    return io.TextIOWrapper(MendedInput(stream), encoding="utf-8", errors="replace")
