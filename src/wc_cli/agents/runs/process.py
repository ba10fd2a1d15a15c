"""The process of an agent: its start and its end."""

from __future__ import annotations

import os
import signal
import subprocess

from wc_core.base import processes
from wc_core.base.lean import contextlib
from wc_core.base.programs import program_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Waits for a line. The words of the program are its arguments, never its text.
_WAIT = 'read -r line && exec "$@" </dev/null'


def start_waiting(
    words: Sequence[str],
    folder: str,
    env: Mapping[str, str],
    log: int,
) -> subprocess.Popen[bytes]:
    """Start a process that becomes a program, without input and with all its output in
    the open file ``log``, once it can read a line. If we end before that, so does it.
    Raises OSError, and ValueError for a word that cannot be an argument."""
    program = program_path(env, words[0])
    return subprocess.Popen(  # noqa: S603 - the person's own command
        ["/bin/sh", "-c", _WAIT, "sh", program, *words[1:]],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


class AgentProcess:
    """A process that was started here, or that an earlier ``wc run`` left running: that
    one's exit status cannot be known. It is the leader of a group."""

    def __init__(
        self, pid: int, begin: int, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.pid = pid
        self.begin = begin
        self._child = child

    @classmethod
    def start(
        cls, words: Sequence[str], folder: str, env: Mapping[str, str], log: int
    ) -> AgentProcess:
        """Start a process that becomes a program once it is released, its output in
        the open file ``log``. Raises what `start_waiting` raises."""
        child = start_waiting(words, folder, env, log)
        return cls(child.pid, processes.started(child.pid) or 0, child)

    def release(self) -> None:
        """Let it become the program."""
        if self._child is not None and self._child.stdin is not None:
            with contextlib.suppress(OSError), self._child.stdin as pipe:
                pipe.write(b"\n")

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        if self._child is not None:
            return self._child.poll() is not None
        if not self.begin:
            return not processes.is_running(self.pid)
        return processes.has_ended(self.pid, self.begin) is not False

    @property
    def exit_status(self) -> int | None:
        """Its exit status, negative for a signal; ``None`` if that is unknown."""
        return None if self._child is None else self._child.returncode

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and everything that it started, if it runs."""
        if not self.has_ended:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)

    def end_group(self) -> None:
        """End it, and what it left running in its group. The group has its number until
        the last of them has ended, so this never reaches another one's."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._child is not None:
            self._child.wait()
