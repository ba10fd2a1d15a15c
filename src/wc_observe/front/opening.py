"""Answers while FastMCP is still loading: when the front answers, and the thread that
reads the lines.

It repairs unpaired surrogates in all messages, before and after. JSON can escape half
of a surrogate pair, and JavaScript does so for half an emoji, for example in a
truncated text. The message parser silently drops such a line, so the client would wait
forever for an answer. Here each half becomes U+FFFD, as everywhere else.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO

from wc_core.ledger.slowstart import slow_start
from wc_observe.front.firstanswers import FirstAnswers, read_declared
from wc_observe.front.requests import parse_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CHUNK = 1 << 16
# About this much of what waits for the real server is kept; the rest stays in the pipe
# until then.
MAX_WAITING = 1 << 20
# The importing thread yields after this time, instead of 5 ms.
_SWITCH_SECONDS = 0.0005
# A complete pair, a half, or any other escape: an escaped backslash does not start one.
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_HALF = len(rb"\ud800")


def open_desk(
    env: Mapping[str, str],
    *,
    all_stores: bool,
    leave: Callable[[OSError | None], None],
) -> Desk | None:
    """Returns a desk that answers from now on; ``None`` if the real server must get
    everything."""
    if slow_start(env) or sys.stdin is None or sys.stdout is None:
        return None
    answers = FirstAnswers(read_declared(), all_stores=all_stores)
    desk = Desk(answers, sys.stdin.fileno(), sys.stdout.buffer, leave)
    desk.open()
    return desk


class Desk:
    """Reads from a file descriptor, and answers to a stream.

    ``leave`` ends the process: it is called when the client has closed its input and
    waits for nothing, and, with the error, when the client cannot be answered.
    """

    def __init__(
        self,
        answers: FirstAnswers,
        source: int,
        target: BinaryIO,
        leave: Callable[[OSError | None], None],
    ) -> None:
        self._answers = answers
        self._source, self._target = source, target
        self._leave = leave
        self._lines: list[bytes] = []
        self._beginning = b""
        self._waiting_bytes = 0
        self._owes_answer = False
        # Closing one end wakes the thread at the other.
        self._wake_source, self._wake_target = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._switch_seconds = sys.getswitchinterval()

    def open(self) -> None:
        """Starts answering."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._thread.start()

    def hand_over(self) -> bytes:
        """Stops answering. Returns what the real server has to read before the rest of
        the input: the first request again, then everything that waited, in order."""
        os.close(self._wake_target)
        self._thread.join()
        os.close(self._wake_source)
        sys.setswitchinterval(self._switch_seconds)
        lines = [self._answers.opening_line(), *self._lines, self._beginning]
        return b"".join(lines)

    def _serve(self) -> None:
        while not (self._answers.is_over or self._is_full()):
            sources, _, _ = select.select([self._source, self._wake_source], [], [])
            if self._wake_source in sources:
                return
            data = os.read(self._source, _CHUNK)
            if not data:
                # Closed after the last answer, as by a client that only inspects.
                if not (self._beginning or self._owes_answer):
                    self._leave(None)
                return
            *lines, self._beginning = (self._beginning + data).split(b"\n")
            for line in lines:
                self._take(repair_line(line + b"\n"))

    def _is_full(self) -> bool:
        return self._waiting_bytes + len(self._beginning) > MAX_WAITING

    def _take(self, line: bytes) -> None:
        message = parse_message(line)
        answer = self._answers.answer(message)
        if answer is not None:
            self._write(answer)
            return
        self._lines.append(line)
        self._waiting_bytes += len(line)
        if message is not None and message.id is not None:
            self._owes_answer = True

    def _write(self, answer: bytes) -> None:
        try:
            self._target.write(answer)
            self._target.flush()
        except OSError as error:
            self._leave(error)


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
