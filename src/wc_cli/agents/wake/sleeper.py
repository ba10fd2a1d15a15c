"""Sleeps until something changes for a waiter, then executes the waiter again.

A separate program, run by path with ``-I -S``: it sleeps for hours, so it imports
nothing of wc, which keeps it below 12 MB. On Linux the kernel wakes it (inotify for the
folders, a pidfd for the client); elsewhere it polls once a second.

    sleeper.py WAITER TOKEN PID SECONDS FINGERPRINT SWITCH COUNT FOLDER… COMMAND…

It ends silently when the file WAITER no longer has TOKEN, or the process PID (0: none)
has ended. When the `fingerprint` of the folders is no longer FINGERPRINT, or after
SECONDS, it executes COMMAND.
"""

from __future__ import annotations

import os
import sys
import time
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Balls that arrive at the same time wake the agent once.
_DEBOUNCE_SECONDS = 0.4
_POLL_SECONDS = 1.0
# inotify(7): IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_DELETE_SELF.
_CHANGES = 0x100 | 0x200 | 0x40 | 0x80 | 0x400
_MAX_EVENTS = 1 << 16


def fingerprint(folders: Sequence[str], switch: str) -> int:
    """Return a number that changes when a name in one of the folders, or the file
    ``switch``, appears or disappears. A file among the folders counts by its text."""
    total = zlib.crc32(b"1" if os.path.lexists(switch) else b"0")
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))
        except NotADirectoryError:
            names = _lines(folder)
        except OSError:
            names = []
        text = "\0".join((folder, *names, ""))
        total = zlib.crc32(text.encode(errors="surrogateescape"), total)
    return total


def _lines(path: str) -> list[str]:
    try:
        with open(path, errors="surrogateescape") as file:
            return file.readlines()
    except OSError:
        return []


class _Kernel:
    """Waits for changes in folders, and for the end of a process."""

    def __init__(self, pid: int) -> None:
        import ctypes  # 4 ms, not for those who only want the fingerprint
        import select

        self._libc = ctypes.CDLL(None, use_errno=True)
        self._events = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._events < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._poll = select.poll()
        self._poll.register(self._events, select.POLLIN)
        self._process = os.pidfd_open(pid) if pid else -1
        if pid:
            self._poll.register(self._process, select.POLLIN)

    def watch(self, folders: Sequence[str]) -> None:
        """Watch folders. Watched ones stay watched; for a missing folder, its parent
        reports when it is made."""
        for folder in folders:
            path = os.fsencode(folder)
            self._libc.inotify_add_watch(self._events, path, _CHANGES)

    def wait(self, seconds: float) -> bool:
        """Wait for a change. Returns False if the process has ended."""
        ready = {handle for handle, _ in self._poll.poll(max(0.0, seconds) * 1000)}
        if self._process in ready:
            return False
        if self._events in ready:
            os.read(self._events, _MAX_EVENTS)
        return True


class _Clock:
    """Polls once a second, if the kernel offers nothing better."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def watch(self, folders: Sequence[str]) -> None:
        """Do nothing: polling needs no preparation."""

    def wait(self, seconds: float) -> bool:
        """Wait a moment. Returns False if the process has ended."""
        time.sleep(max(0.0, min(seconds, _POLL_SECONDS)))
        if not self._pid:
            return True
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def _bell(pid: int) -> _Kernel | _Clock:
    try:
        return _Kernel(pid)
    except ProcessLookupError:
        raise SystemExit(0) from None
    except (AttributeError, OSError):
        return _Clock(pid)


def _has_token(path: str, token: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return token in file.read()
    except OSError:
        return False


def main(words: Sequence[str]) -> None:
    """Sleep; see the module's docstring."""
    waiter, token, pid, seconds, before, switch, count, *paths = words
    folders, command = paths[: int(count)], paths[int(count) :]
    end = time.monotonic() + float(seconds)
    # Missing folders are noticed through their parents.
    watched = dict.fromkeys((os.path.dirname(waiter), *folders))
    for _ in range(3):  # up to the store's .local
        watched.update(dict.fromkeys(map(os.path.dirname, tuple(watched))))
    bell = _bell(int(pid))
    while True:
        bell.watch(tuple(watched))
        if not _has_token(waiter, token.encode()):
            return
        if fingerprint(folders, switch) != int(before):
            time.sleep(_DEBOUNCE_SECONDS)
            break
        remaining = end - time.monotonic()
        if remaining <= 0:
            break
        if not bell.wait(remaining):
            return
    os.execv(command[0], command)  # noqa: S606 - no shell


if __name__ == "__main__":
    main(sys.argv[1:])
