"""The process of an agent: its output in a file of limited size, its end."""

from __future__ import annotations

import os
import signal
import subprocess

from wc_core.base import processes
from wc_core.base.files import read_from, size_of
from wc_core.base.lean import contextlib
from wc_core.base.text import clean
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# An output of more than this is cut to its end.
_MAX_LOG, _KEPT_LOG = 8 << 20, 1 << 20
_TAIL = 16 << 10
_NO_SECRET_BYTES = 8
# Words in the names of variables whose values are secrets.
_SECRETS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "COOKIE")


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
        """Start a program, its output into the open file ``log``. Raises OSError, and
        ValueError for a word that cannot be an argument."""
        child = subprocess.Popen(  # noqa: S603 - the person's own command, no shell
            words,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        return cls(child.pid, processes.started(child.pid) or 0, child)

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


def open_log(path: str) -> int:
    """Open the file for an agent's output, emptied; readable only to its user. Raises
    OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | os.O_NOFOLLOW
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def limit_log(path: str, root: str) -> None:
    """Cut an output that has become too long to its end. What its agent writes at this
    moment may be lost."""
    size = size_of(path, root)
    if size <= _MAX_LOG:
        return
    with contextlib.suppress(OSError):
        end = read_from(path, root, size - _KEPT_LOG)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
        try:
            os.ftruncate(handle, 0)
            os.write(handle, end[end.find(b"\n") + 1 :])
        finally:
            os.close(handle)


def last_lines(path: str, root: str, count: int, env: Mapping[str, str]) -> list[str]:
    """Return the last lines of an output that are not blank, without secrets."""
    size = size_of(path, root)
    if size <= 0:
        return []
    with contextlib.suppress(OSError):
        data = read_from(path, root, max(0, size - _TAIL))
        lines = (line.strip() for line in readable(data, env).split("\n"))
        return [line for line in lines if line][-count:]
    return []


def readable(data: bytes, env: Mapping[str, str]) -> str:
    """Return an output as text: without what a terminal obeys, and without the values
    of variables that are secrets by their names."""
    text = data.decode(errors="replace").replace("\r", "\n")
    for secret in sorted(_secrets(env), key=len, reverse=True):
        text = text.replace(secret, "…")
    return clean(text)


def _secrets(env: Mapping[str, str]) -> set[str]:
    return {
        value
        for name, value in env.items()
        if len(value) >= _NO_SECRET_BYTES
        and any(word in name.upper() for word in _SECRETS)
    }


class RunOutput(NamedTuple):
    """The output of a run: its file, in the store at ``root``."""

    path: str
    root: str
    env: Mapping[str, str]

    def last_line(self) -> str:
        """Return its last line; empty if there is none."""
        lines = last_lines(self.path, self.root, 1, self.env)
        return lines[0] if lines else ""
