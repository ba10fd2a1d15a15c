"""Looks at the files of very many threads with several processes.

A list of 10,000 threads asks the system for 20,000 files, half of its time. Copies of
this process ask for most of them at the same time; each sends the lines that it found
through a pipe, and ends.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    _Work = Callable[[Sequence[str]], list[str]]

# Making a copy takes 1 ms, looking at a thread 8 µs.
_SHARE = 1_500
_MOST_PROCESSES = 4


def process_count(items: int) -> int:
    """Returns how many processes should share work on this many items. It is 1 in a
    process that may have threads, since a copy would inherit the locks that they hold,
    and where making a copy is slow."""
    if sys.platform != "linux" or "threading" in sys.modules:
        return 1
    processors = len(os.sched_getaffinity(0))
    return max(1, min(items // _SHARE, processors, _MOST_PROCESSES))


def share(work: _Work, items: Sequence[str], processes: int = 0) -> list[str]:
    """Returns what ``work`` returns: a line of text for each item. Raises what it
    raises. ``processes`` is how many share it; 0 leaves that to `process_count`."""
    count = processes or process_count(len(items))
    size = -(-len(items) // count) or 1
    [own, *others] = [items[n : n + size] for n in range(0, len(items), size)] or [[]]
    copies: list[_Copy] = []
    try:
        copies += (_Copy(work, part) for part in others)
        lines = work(own)
        for copy in copies:
            lines += copy.lines()
    finally:
        # All pipes first: a later copy has the earlier pipes, and keeps them open.
        for copy in copies:
            copy.close()
        for copy in copies:
            copy.has_finished()
    return lines


class _Copy:
    """A copy of this process that does a part of the work; without one, if there are
    too many processes or open files, the part is done in this process."""

    def __init__(self, work: _Work, items: Sequence[str]) -> None:
        self._work, self._items = work, items
        self._process, self._pipe = 0, -1
        try:
            self._pipe, sending = os.pipe()
        except OSError:
            return
        try:
            self._process = os.fork()  # noqa: TID251 - it ends before this process does
            if not self._process:
                # With it open, closing it in the parent would not end the copy.
                os.close(self._pipe)
                _send(sending, work, items)
        except OSError:
            self.close()
        os.close(sending)

    def lines(self) -> list[str]:
        """Returns the lines of the part: done here if the copy did not finish."""
        if self._pipe < 0:
            return self._work(self._items)
        with open(self._pipe, "rb", closefd=False) as file:
            data = file.read()
        if not self.has_finished():
            return self._work(self._items)
        return data[:-1].decode().split("\n")

    def close(self) -> None:
        """Close the pipe. A copy that still writes ends then."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def has_finished(self) -> bool:
        """Waits for the copy to end. Returns whether it sent all lines; False if there
        is none, or it was waited for before."""
        process, self._process = self._process, 0
        return bool(process) and os.waitpid(process, 0)[1] == 0


def _send(sending: int, work: _Work, items: Sequence[str]) -> NoReturn:
    """Writes the lines of these items to a pipe, and ends this process."""
    status = 1
    try:
        text = "".join(f"{line}\n" for line in work(items))
        data = memoryview(text.encode())
        while data:
            data = data[os.write(sending, data) :]  # noqa: TID251 - a pipe
        status = 0
    finally:
        # Not by an exception: the parent's handlers must not run twice.
        os._exit(status)
