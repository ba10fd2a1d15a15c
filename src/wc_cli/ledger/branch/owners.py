"""Whose files a store and its repository have.

In a container, root has a store of its own beside a repository of the host's user: what
git makes there is given to that user, who could not change it otherwise.
"""

from __future__ import annotations

import os
import stat
import time

from wc_cli.ledger.store import lockowners as users
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted, quoted
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.git.repository import Repository

_ROOT = 0
# What git makes and changes in the folder that all worktrees share.
_GIT_FOLDERS = ("objects", "refs", "logs", "worktrees")
_STARTED_NS = time.time_ns()
# The clocks of file systems are coarse.
_MARGIN_NS = 1_000_000_000
_MAX_NAMED = 3


class OwnerProblem(NamedTuple):
    """Files and folders that someone cannot write: a ``message``, and the command that
    repairs it."""

    message: str
    fix: str


def restore(repository: Repository | None) -> None:
    """Give what this process and its gits have made in a repository to its owner, if
    they are root and the owner is not. A failure is left to `problems`."""
    if repository is None or os.geteuid() != _ROOT:
        return
    common = repository.common
    with contextlib.suppress(OSError):
        owner = os.stat(common)
        if owner.st_uid == _ROOT:
            return
        for path in (common, *_paths_of_git(common)):
            with contextlib.suppress(OSError):
                status = os.lstat(path)
                is_new = status.st_ctime_ns >= _STARTED_NS - _MARGIN_NS
                if status.st_uid == _ROOT and is_new:
                    os.lchown(path, owner.st_uid, owner.st_gid)


def problems(root: str, repository: Repository | None) -> Iterator[OwnerProblem]:
    """Yield what in a store and its repository belongs to others, so that its owner or
    this user cannot change it."""
    yield from _problems_in(root, _below(root))
    if repository is not None:
        yield from _problems_in(repository.common, _paths_of_git(repository.common))


def _problems_in(folder: str, paths: Iterator[str]) -> Iterator[OwnerProblem]:
    try:
        owner = os.stat(folder)
    except OSError:
        return
    known = [folder, *paths]
    foreign: list[str] = []
    # The members of a group write by the mode of a shared one.
    if not owner.st_mode & stat.S_IWGRP:
        foreign = [path for path in known if _uid_of(path) not in {owner.st_uid, None}]
    if not foreign:
        if not os.access(folder, os.W_OK | os.X_OK):
            yield unwritable(folder, owner)
        else:
            closed = [path for path in known if _lacks_permission(path)]
            yield from (
                unwritable(path, os.lstat(path)) for path in closed[:_MAX_NAMED]
            )
        return
    name = users.user_name(owner.st_uid)
    items = counted(len(foreign), "file or folder", "files and folders")
    named = ", ".join(os.path.relpath(path, folder) for path in foreign[:_MAX_NAMED])
    message = f"{items} in {folder} do not belong to {name}: {named}"
    ids = f"{owner.st_uid}:{owner.st_gid}"
    yield OwnerProblem(message, f"Give them back: sudo chown -R {ids} {quoted(folder)}")


# Folders of git's objects, which it makes read-only: of the repository, and of
# uncommitted work.
_OBJECTS = ("/objects/", "/snapshots/")


def permissions_fix(path: str) -> str:
    """What to do about a path that cannot be read or written."""
    if _lacks_permission(path):
        return f"Allow it: chmod u+rwX {quoted(path)}"
    return f"Check its owner and permissions: ls -ld {quoted(path)}"


def _lacks_permission(path: str) -> bool:
    """Whether a file or a folder belongs to this user, whom its mode stops. Git's
    objects are never written to."""
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode):
            is_folder = stat.S_ISDIR(status.st_mode)
            needed = stat.S_IRWXU if is_folder else stat.S_IRUSR | stat.S_IWUSR
            is_object = not is_folder and any(name in path for name in _OBJECTS)
            return status.st_mode & needed != needed and not is_object
    return False


def unwritable(folder: str, owner: os.stat_result) -> OwnerProblem:
    """Why this user cannot write to a folder or a file, all of which has one owner."""
    with contextlib.suppress(OSError):
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            return OwnerProblem(
                f"{folder} is on a file system that is read-only here",
                "In an agent's sandbox, run it outside of that.",
            )
    if owner.st_uid == os.geteuid():
        mode = stat.filemode(owner.st_mode)
        return OwnerProblem(
            f"{folder} is yours, but its permissions are {mode}",
            permissions_fix(folder),
        )
    name, command = users.user_name(owner.st_uid), users.as_user(owner.st_uid)
    message = f"{folder} belongs to {name}, and you cannot write there"
    return OwnerProblem(message, f"Run it as {name}: {command}")


def _uid_of(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def _paths_of_git(common: str) -> Iterator[str]:
    for folder in _GIT_FOLDERS:
        yield f"{common}/{folder}"
        yield from _below(f"{common}/{folder}")
    for name in ("packed-refs", "wc-asked", "wc-unasked"):
        yield f"{common}/{name}"


def _below(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield f"{parent}/{name}"
