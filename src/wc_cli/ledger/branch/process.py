"""Programs with pipes, for `wc_cli.ledger.branch.git`, without `subprocess`.

That takes 9 ms to import, a quarter of what a write leaves to do in the background.
"""

from __future__ import annotations

import os
import select
import time

from wc_core.base.lean import contextlib
from wc_core.base.lean.signal import SIGKILL, SIGPIPE, SIGTERM, SIGXFSZ
from wc_core.base.programs import absolute_path, program_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    # What a program is fed with, at once or in parts.
    Feed: TypeAlias = bytes | Iterable[bytes]

_CHUNK = 65_536
_STREAMS = (0, 1, 2)
# Python ignores these; a program must not inherit that.
_USUAL_SIGNALS = (SIGPIPE, SIGXFSZ)
# Between attempts to find that a program has ended, which closed its output before.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.05
# On SIGTERM git removes its lock files; it gets this long to do so.
_TERM_SECONDS = 0.5
_TERM_PAUSE = 0.01


class Process:
    """A running program, in a session and a process group of its own.

    It is looked for in the PATH of its ``env``, and inherits the open file ``handle``,
    if there is one, as another number. Raises OSError, FileNotFoundError if it is not
    there.
    """

    def __init__(
        self, words: Sequence[str], env: Mapping[str, str], handle: int | None = None
    ) -> None:
        self._is_running = True
        path = program_path(env, words[0])
        pipes: list[tuple[int, int]] = []
        try:
            pipes.extend(os.pipe() for _ in _STREAMS)
            (stdin, self._feed), (self._out, stdout), (self._err, stderr) = pipes
            actions = [
                (os.POSIX_SPAWN_DUP2, end, stream)
                for end, stream in zip((stdin, stdout, stderr), _STREAMS, strict=True)
            ]
            if handle is not None:
                # To the same number, it would stay closed in programs on some systems.
                free = 3 if handle != 3 else 4  # noqa: PLR2004
                actions.append((os.POSIX_SPAWN_DUP2, handle, free))
            self.pid = os.posix_spawn(  # noqa: TID251 - for `git`, see above
                # Neither do the programs that it starts come from the current folder.
                *(path, list(words), {**env, "PATH": absolute_path(env)}),
                file_actions=actions,
                setsid=True,
                setsigdef=_USUAL_SIGNALS,
            )
        except BaseException:
            _close(*(end for pipe in pipes for end in pipe))
            raise
        _close(stdin, stdout, stderr)
        self._open = {self._feed, self._out, self._err}

    def communicate(self, feed: Feed, seconds: float) -> tuple[int, bytes, bytes]:
        """Feed the program, and wait for its end. Returns its exit code, or its signal
        as a negative number, its output and its errors. Raises TimeoutError, and what
        the ``feed`` raises."""
        out: list[bytes] = []
        pieces = self.pieces(feed, seconds)
        while True:
            try:
                out.append(next(pieces))
            except StopIteration as end:
                code, err = end.value
                return code, b"".join(out), err

    def pieces(
        self, feed: Feed, seconds: float
    ) -> Generator[bytes, None, tuple[int, bytes]]:
        """Feed the program, and yield its output in pieces. Returns its exit code and
        its errors, and raises, as `communicate` does."""
        deadline = time.monotonic() + seconds
        errors: list[bytes] = []
        waiting = select.poll()
        for end in (self._out, self._err):
            waiting.register(end, select.POLLIN)
        parts = iter([feed] if isinstance(feed, bytes) else feed)
        unsent: memoryview | None = memoryview(b"")
        os.set_blocking(self._feed, False)
        waiting.register(self._feed, select.POLLOUT)
        while self._open:
            for end, _ in waiting.poll(_milliseconds(deadline)):
                if end == self._feed:
                    unsent = _written(end, unsent, parts)
                    is_finished = unsent is None
                else:
                    data = os.read(end, _CHUNK)
                    if data and end == self._out:
                        yield data
                    elif data:
                        errors.append(data)
                    is_finished = not data
                if is_finished:
                    waiting.unregister(end)
                    self._close(end)
        return self._waited_for(deadline), b"".join(errors)

    def _waited_for(self, deadline: float) -> int:
        """Wait for the end. Returns the exit code. Raises TimeoutError."""
        pause = _SHORTEST_PAUSE
        while (code := self._ended(os.WNOHANG)) is None:
            if time.monotonic() >= deadline:
                raise TimeoutError
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return code

    def _ended(self, options: int) -> int | None:
        """Return the exit code, if the program has ended."""
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:
            # Whoever started us ignores the ends of children: the code is lost.
            pid, status = self.pid, 0
        self._is_running = not pid
        return os.waitstatus_to_exitcode(status) if pid else None

    def end(self) -> None:
        """End the program, if it still runs, and all that it started; close the
        pipes."""
        if self._is_running:
            self._end_group()
        self._close(*self._open)
        if self._is_running:
            self._ended(0)

    def _end_group(self) -> None:
        deadline = time.monotonic() + _TERM_SECONDS
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.killpg(self.pid, SIGTERM)
            while not os.waitid(os.P_PID, self.pid, options):
                if time.monotonic() >= deadline:
                    break
                time.sleep(_TERM_PAUSE)
            self._wait_for_others(deadline)
            os.killpg(self.pid, SIGKILL)

    def _wait_for_others(self, deadline: float) -> None:
        """Wait until what the program started has ended, too: git runs git to move
        branches. They hold the pipe for errors."""
        if self._err not in self._open:
            return
        waiting = select.poll()
        waiting.register(self._err, select.POLLIN)
        with contextlib.suppress(TimeoutError):
            while waiting.poll(_milliseconds(deadline)):
                if not os.read(self._err, _CHUNK):
                    break

    def _close(self, *ends: int) -> None:
        self._open.difference_update(ends)
        _close(*ends)


def _milliseconds(deadline: float) -> int:
    """The time until then, for `poll`. Raises TimeoutError if there is none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return int(seconds * 1000) + 1


def _written(
    end: int, unsent: memoryview | None, parts: Iterator[bytes]
) -> memoryview | None:
    """What is left to write of a part to a pipe; ``None`` if there are no more parts,
    or if its reader is gone."""
    while not unsent:
        part = next(parts, None)
        if part is None:
            return None
        unsent = memoryview(part)
    try:
        return unsent[os.write(end, unsent[:_CHUNK]) :]  # noqa: TID251
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        return None


def _close(*ends: int) -> None:
    for end in ends:
        os.close(end)
