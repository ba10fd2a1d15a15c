"""Changes in folders as the kernel tells of them, by way of watchfiles.

The only module that knows watchfiles. It takes the class beneath
``watchfiles.watch``, which is private: the public one knows no way to be told
of one folder without all of those below it that links lead to, swallows a
`KeyboardInterrupt`, and makes an enumeration of each event.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from threading import Event

# Milliseconds. watchfiles looks every STEP whether something came, and passes
# it on as soon as a step brought nothing more. Measured with 10,000 folders on
# two cores: 15 ms from write to report and 0.3 % of a core when idle, against
# 8 ms and 0.5 % with a step of 5, 28 ms and 0.2 % with one of 20.
STEP, DEBOUNCE = 15, 30

_ADDED, _DELETED = 1, 3
_LIMITS = "/proc/sys/fs/inotify"


class DeafError(Exception):
    """The kernel will not tell; the message says why and what to do."""


class FolderSurvey(NamedTuple):
    """Real folders, the given ones and all below them.

    ``plain`` says that there is neither a link among them, which may lead out
    of the store, nor a folder that may not be read.
    """

    folders: tuple[str, ...]
    plain: bool


class Heard(NamedTuple):
    """Paths with news: all of them; those that are new; those that are gone."""

    paths: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()


class Ear:
    """The changes in existing folders from now on; none of no folder.

    ``deep`` says that folders made later are heard as well. Holds an inotify
    instance, of which a user has 128, until it is closed.

    Raises DeafError where the kernel refuses, FileNotFoundError for a folder
    that has just gone.
    """

    def __init__(self, folders: Sequence[str], *, recursive: bool) -> None:
        self.deep = recursive
        if recursive:
            found = survey(folders)
            # The library follows links, and one in a store that came from
            # elsewhere may lead to the root of the disk.
            self.deep = found.plain
            folders = folders if found.plain else found.folders
        self._notify = _listen(list(folders), deep=self.deep) if folders else None

    def wait(self, seconds: float, stop: Event) -> Heard:
        """What changed; empty after ``seconds``, or as soon as ``stop`` is set.

        Raises DeafError where the kernel says no more.
        """
        if self._notify is None:
            stop.wait(seconds)
            return Heard()
        try:
            told = self._notify.watch(DEBOUNCE, STEP, int(seconds * 1000), stop)
        except (OSError, RuntimeError) as error:
            raise DeafError(_words(error)) from error
        if isinstance(told, str):
            return Heard()
        return Heard(
            frozenset(path for _, path in told),
            frozenset(path for kind, path in told if kind == _ADDED),
            frozenset(path for kind, path in told if kind == _DELETED),
        )

    def close(self) -> None:
        """Give back what the kernel keeps for it."""
        if self._notify is not None:
            self._notify.close()
            self._notify = None


def _listen(folders: list[str], *, deep: bool) -> Any:
    try:
        # Not on the way to the first answer: 30 ms.
        from watchfiles._rust_notify import RustNotify

        # Folders without permission are not left out silently: with them the
        # library also passes over those for which the kernel has no room.
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
        raise DeafError(_words(error)) from error


def survey(folders: Iterable[str]) -> FolderSurvey:
    """All real folders at and below the given ones. Raises nothing."""
    found: list[str] = []
    plain = True
    todo = list(folders)
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as names:
                for one in names:
                    if one.is_symlink():
                        plain = False
                    elif one.is_dir(follow_symlinks=False):
                        todo.append(one.path)
            found.append(folder)
        except FileNotFoundError:
            continue
        except OSError:
            plain = False
    return FolderSurvey(tuple(found), plain)


def _words(error: Exception) -> str:
    said = str(error)
    if "watch limit" in said:
        limit = _limit("max_user_watches")
        return (
            f"the inotify watches of this user are used up{limit}. "
            "Allow more: sudo sysctl fs.inotify.max_user_watches=524288"
        )
    if "os error 24" in said:
        limit = _limit("max_user_instances")
        return (
            f"the inotify instances of this user{limit}, or the files this process "
            "may have open, are used up. "
            "Allow more: sudo sysctl fs.inotify.max_user_instances=1024; ulimit -n"
        )
    return f"the kernel does not tell of changes ({type(error).__name__}: {said[:200]})"


def _limit(name: str) -> str:
    try:
        with open(f"{_LIMITS}/{name}", encoding="ascii") as limit:
            return f" (there are {limit.read().strip()})"
    except OSError:
        return ""
