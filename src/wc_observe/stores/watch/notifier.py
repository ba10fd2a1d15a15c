"""Change notifications from the kernel, through watchfiles.

The only module of the server that imports watchfiles. It uses the private class below
``watchfiles.watch``: the public function cannot watch a folder without following the
links in it, swallows `KeyboardInterrupt`, and makes an enum member of each event.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from threading import Event

# Seconds between two checks of what the kernel has reported. Measured side by side: 23
# to 38 ms from write to report and 0.13 % of a core for the checks; with 80 ms, 38 to
# 45 ms and 0.10 %, and a client heard of a write after 61 ms.
STEP = 0.06
# watchfiles returns the events that it has seen in two checks.
_LOOKS = 2

_ADDED, _DELETED = 1, 3
_LIMITS = "/proc/sys/fs/inotify"


class CannotWatchError(Exception):
    """The kernel cannot watch. The message says why and what to do."""


class FolderSurvey(NamedTuple):
    """The real folders at and below some folders.

    ``plain`` if they contain neither a link, which may lead out of the store, nor an
    unreadable folder.
    """

    folders: tuple[str, ...]
    plain: bool


class PathChanges(NamedTuple):
    """Changed paths: all of them, the new ones, the deleted ones."""

    paths: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()


class FolderWatch:
    """A watch on existing folders and those below them, from now on. Without folders it
    reports nothing.

    With ``deep``, new subfolders are watched as well. It holds an inotify instance, of
    which a user has 128, until it is closed. Raises CannotWatchError if the kernel
    refuses, and FileNotFoundError for a folder that has just been removed.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        surveyed = survey_folders(folders)
        # The library follows links, and a link in a cloned store may lead to the root
        # of the disk.
        self.deep = surveyed.plain
        folders = folders if surveyed.plain else surveyed.folders
        self._notify = (
            _open_notifier(list(folders), deep=self.deep) if folders else None
        )

    def wait(self, seconds: float, stop: Event) -> PathChanges:
        """Returns the next changes; nothing after ``seconds``, or once ``stop`` is set.

        Raises CannotWatchError if the kernel stops reporting.
        """
        if self._notify is None:
            stop.wait(seconds)
            return PathChanges()
        events = _next_events(self._notify, seconds, stop)
        return PathChanges(
            frozenset(path for _, path in events),
            frozenset(path for kind, path in events if kind == _ADDED),
            frozenset(path for kind, path in events if kind == _DELETED),
        )

    def close(self) -> None:
        """Releases the kernel's resources."""
        if self._notify is not None:
            self._notify.close()
            self._notify = None


def _next_events(notifier: Any, seconds: float, stop: Event) -> set[tuple[int, str]]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # Waiting for `stop` instead would take half as much CPU again.
        time.sleep(min(STEP, seconds))
        events = _new_events(notifier)
        if events or stop.is_set():
            return events
    return set()


def _new_events(notifier: Any) -> set[tuple[int, str]]:
    """Returns the events since the last check."""
    try:
        events: set[tuple[int, str]] | str = notifier.watch(0, 0, 0, _Looks())
    except (OSError, RuntimeError) as error:
        raise CannotWatchError(_explanation(error)) from error
    return set() if isinstance(events, str) else events


class _Looks:
    """The stop signal that watchfiles polls: set after two checks."""

    def __init__(self) -> None:
        self._left = _LOOKS

    def is_set(self) -> bool:
        """Returns whether watchfiles has checked often enough."""
        self._left -= 1
        return self._left < 0


def _open_notifier(folders: list[str], *, deep: bool) -> Any:
    try:
        # 30 ms, which the first answer should not wait for.
        from watchfiles._rust_notify import RustNotify

        # Do not ignore missing permissions: the library would then also skip folders
        # silently when the kernel runs out of watches.
        return RustNotify(
            watch_paths=folders,
            debug=False,
            force_polling=False,
            poll_delay_ms=1000,
            recursive=deep,
            ignore_permission_denied=False,
        )
    except FileNotFoundError:
        raise
    except (ImportError, OSError, RuntimeError) as error:
        raise CannotWatchError(_explanation(error)) from error


def survey_folders(folders: Iterable[str]) -> FolderSurvey:
    """Returns all real folders at and below the given ones. Raises nothing."""
    real: list[str] = []
    plain = True
    todo = list(folders)
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as names:
                for item in names:
                    if item.is_symlink():
                        plain = False
                    elif item.is_dir(follow_symlinks=False):
                        todo.append(item.path)
            real.append(folder)
        except FileNotFoundError:
            continue
        except OSError:
            plain = False
    return FolderSurvey(tuple(real), plain)


def _explanation(error: Exception) -> str:
    message = str(error)
    if "watch limit" in message:
        limit = _limit("max_user_watches")
        return (
            f"the inotify watches of this user are used up{limit}. "
            "Allow more: sudo sysctl fs.inotify.max_user_watches=524288"
        )
    if "os error 24" in message:
        limit = _limit("max_user_instances")
        return (
            f"the inotify instances of this user{limit}, or the files this process "
            "may have open, are used up. "
            "Allow more: sudo sysctl fs.inotify.max_user_instances=1024; ulimit -n"
        )
    return (
        f"the kernel does not report changes ({type(error).__name__}: {message[:200]})"
    )


def _limit(name: str) -> str:
    try:
        with open(f"{_LIMITS}/{name}", encoding="ascii") as limit:
            return f" (there are {limit.read().strip()})"
    except OSError:
        return ""
