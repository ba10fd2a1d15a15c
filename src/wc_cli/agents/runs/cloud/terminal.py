"""The client's own program, at a terminal or without one."""

from __future__ import annotations

import os
import signal
import subprocess
import termios
import time

from wc_cli.agents.runs.cloud import addresses
from wc_cli.agents.runs.process import AgentProcess, start_waiting
from wc_core.base import processes
from wc_core.base.lean import contextlib
from wc_core.base.programs import program_path
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# So wide that no address is broken. How much is read of a terminal at once.
_SIZE = (50, 1000)
_READ = 1 << 16
# After its result is known, a program has so many seconds to end by itself, and again
# after it was asked to.
_PATIENCE, _PAUSE = 1.5, 0.02


class ProgramOutput(NamedTuple):
    """What a program printed, and its exit status."""

    status: int
    out: bytes
    err: bytes


class TerminalProcess(AgentProcess):
    """A process at a terminal that nobody watches: some programs start nothing without
    one. What it shows is added to the open file ``log`` by `copy`."""

    def __init__(self, child: subprocess.Popen[bytes], terminal: int, log: int) -> None:
        super().__init__(child.pid, processes.started(child.pid) or 0, child)
        self._terminal = terminal
        self._log = log
        self._is_open = True

    @classmethod
    def start(
        cls, words: Sequence[str], folder: str, env: Mapping[str, str], log: int
    ) -> TerminalProcess:
        """Start a process that becomes a program once it is released. The file ``log``
        is closed with it. Raises what `start_waiting` raises."""
        terminal, end = os.openpty()
        try:
            termios.tcsetwinsize(end, _SIZE)
            env = {"TERM": "xterm-256color", **env}
            child = start_waiting(words, folder, env, (end, end), keeps_input=True)
        except (OSError, ValueError):
            os.close(terminal)
            os.close(log)
            raise
        finally:
            os.close(end)
        os.set_blocking(terminal, False)
        return cls(child, terminal, log)

    def release(self) -> None:
        """Let it become the program."""
        with contextlib.suppress(OSError):
            os.write(self._terminal, b"\n")

    def copy(self) -> bool:
        """Add to the file what it has shown since the last time. Returns whether it was
        anything."""
        data = bytearray()
        with contextlib.suppress(OSError):  # nothing yet, or nobody has it open
            while part := os.read(self._terminal, _READ):
                data += part
        with contextlib.suppress(OSError):
            os.write(self._log, addresses.with_blanks(bytes(data)))
        return bool(data)

    def end_softly(self) -> None:
        """Let it end; if it does not, ask it to; if that does not help, end it."""
        self._await_end()
        self.send(signal.SIGTERM)
        self._await_end()
        self.end_group()

    def _await_end(self) -> None:
        end = time.monotonic() + _PATIENCE
        while not self.has_ended and time.monotonic() < end:
            self.copy()
            time.sleep(_PAUSE)

    def end_group(self) -> None:
        """End it, and give the terminal back."""
        super().end_group()
        if self._is_open:
            self.copy()
            os.close(self._terminal)
            os.close(self._log)
            self._is_open = False


def output_of(
    words: Sequence[str], folder: str, env: Mapping[str, str], seconds: float
) -> ProgramOutput:
    """Run a program to its end. Returns what it printed. Raises OSError, ValueError,
    and TimeoutError if it takes longer than ``seconds``."""
    try:
        done = subprocess.run(  # noqa: S603 - the person's own command, no shell
            [program_path(env, words[0]), *words[1:]],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"it took longer than {seconds:g} s") from error
    return ProgramOutput(done.returncode, done.stdout, done.stderr)
