"""Change notifications from the kernel, through watchfiles.

The only module of the server that imports watchfiles. It uses the private class below
``watchfiles.watch``: the public function cannot watch a folder without following the
links in it, swallows `KeyboardInterrupt`, and makes an enum member of each event.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from threading import Event

# Milliseconds. watchfiles polls every STEP and reports once a step brought nothing
# more. Measured with 10,000 folders on two cores: 15 ms from write to report and
# 0.3 % of a core when idle; 8 ms and 0.5 % with a step of 5; 28 ms and 0.2 % with 20.
STEP, DEBOUNCE = 15, 30

_ADDED, _DELETED = 1, 3
_LIMITS = "/proc/sys/fs/inotify"


class CannotWatchError(Exception):
    """The kernel cannot watch; the message says why and what to do."""


class FolderSurvey(NamedTuple):
    """The real folders at and below some folders.

    ``plain`` says that among them is neither a link, which may lead out of the store,
    nor a folder that cannot be read.
    """

    folders: tuple[str, ...]
    plain: bool


class PathChanges(NamedTuple):
    """Changed paths: all of them, the new ones, the deleted ones."""

    paths: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()


class FolderWatch:
    """A watch on existing folders, from now on. Without folders it reports nothing.

    ``deep`` says that folders made later are watched as well. It holds an inotify
    instance, of which a user has 128, until it is closed. Raises CannotWatchError if
    the kernel refuses, and FileNotFoundError for a folder that has just been removed.
    """

    def __init__(self, folders: Sequence[str], *, recursive: bool) -> None:
        self.deep = recursive
        if recursive:
            surveyed = survey_folders(folders)
            # The library follows links, and a link in a cloned store may lead
            # to the root of the disk.
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
        try:
            events = self._notify.watch(DEBOUNCE, STEP, int(seconds * 1000), stop)
        except (OSError, RuntimeError) as error:
            raise CannotWatchError(_explanation(error)) from error
        if isinstance(events, str):
            return PathChanges()
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


def _open_notifier(folders: list[str], *, deep: bool) -> Any:
    try:
        # 30 ms, which the first answer need not wait for.
        from watchfiles._rust_notify import RustNotify

        # Do not ignore missing permissions: the library would then also skip
        # folders silently when the kernel runs out of watches.
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
        f"the kernel does not tell of changes ({type(error).__name__}: {message[:200]})"
    )


def _limit(name: str) -> str:
    try:
        with open(f"{_LIMITS}/{name}", encoding="ascii") as limit:
            return f" (there are {limit.read().strip()})"
    except OSError:
        return ""
