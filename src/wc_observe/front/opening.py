"""Answers while FastMCP is still loading: when the front answers, and the thread that
reads the lines."""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO

from wc_core.ledger.slowstart import slow_start
from wc_observe.front.declared import read_declared
from wc_observe.front.firstanswers import FirstAnswers
from wc_observe.front.requests import parse_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CHUNK = 1 << 16
# About this much of what waits for the real server is kept; the rest stays in the pipe
# until then.
MAX_WAITING = 1 << 20
# The importing thread yields after this time, instead of 5 ms.
_SWITCH_SECONDS = 0.0005


def open_desk(
    env: Mapping[str, str],
    *,
    all_stores: bool,
    repair: Callable[[bytes], bytes],
    leave: Callable[[OSError | None], None],
) -> Desk | None:
    """Returns a desk that answers from now on; ``None`` if the real server must get
    everything."""
    if slow_start(env) or sys.stdin is None or sys.stdout is None:
        return None
    answers = FirstAnswers(read_declared(), all_stores=all_stores)
    desk = Desk(answers, sys.stdin.fileno(), sys.stdout.buffer, repair, leave)
    desk.open()
    return desk


class Desk:
    """Reads from a file descriptor, and answers to a stream.

    ``repair`` repairs a line in the same way as for the real server. ``leave`` ends the
    process: it is called when the client has closed its input and waits for nothing,
    and, with the error, when the client cannot be answered.
    """

    def __init__(
        self,
        answers: FirstAnswers,
        source: int,
        target: BinaryIO,
        repair: Callable[[bytes], bytes],
        leave: Callable[[OSError | None], None],
    ) -> None:
        self._answers = answers
        self._source, self._target = source, target
        self._repair, self._leave = repair, leave
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
                self._take(self._repair(line + b"\n"))

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
