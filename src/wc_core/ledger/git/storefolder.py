"""The folders below HOME in which the stores of repositories are checked out.

A folder is named after its repository. One that a former repository of the same path
left there, or that is a copy, is *orphaned*: it is never read, and set aside when the
current repository gets its store.
"""

from __future__ import annotations

import os
from itertools import count

from wc_core.base.errors import InvalidInputError, StorageError
from wc_core.base.layout import EARLY, IN_TREE, PRIVATE
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.ledger.git.repository import Repository

_ORPHANED = ".orphaned-"


class StoreFolder(NamedTuple):
    """Where a store can be checked out, and the orphaned folders that occupy a better
    place."""

    root: str
    orphans: tuple[str, ...] = ()


def planned(repository: Repository, env: Mapping[str, str]) -> StoreFolder:
    """The folder for a store that is not checked out yet. Nothing is in it.

    Raises InvalidInputError without HOME.
    """
    orphans: list[str] = []
    for path in _numbered(first_choice(repository, env)):
        folder = os.path.realpath(path)
        if _is_free(folder):
            return StoreFolder(folder, tuple(orphans))
        # Setting a link aside does not affect its target.
        if os.path.islink(path) or not _is_in_use(folder):
            orphans.append(path)
    raise AssertionError  # the numbers do not end


def first_choice(repository: Repository, env: Mapping[str, str]) -> str:
    """The folder for the store of a repository if nothing else is there.

    Raises InvalidInputError without HOME.
    """
    import hashlib  # 2.7 ms, only until the store exists

    home = env.get("HOME", "")
    if not home:
        raise InvalidInputError(
            "HOME is not set, so there is no place for the store.",
            "Set HOME, or WATERCOOLER_DIR to the folder that should hold it.",
        )
    digest = hashlib.sha256(os.fsencode(repository.common)).hexdigest()[:12]
    folder = os.path.realpath(f"{home}/{IN_TREE}/worktrees")
    return f"{folder}/watercooler-{repository.name}-{digest}"


def name_aside(path: str, date: str) -> str:
    """The name under which an orphaned folder is set aside."""
    names = _numbered(f"{path}{_ORPHANED}{date}")
    return next(name for name in names if not os.path.lexists(name))


def set_aside(repository: Repository, env: Mapping[str, str]) -> list[str]:
    """The orphaned folders that were set aside for a repository, sorted."""
    if not env.get("HOME"):
        return []
    folder, base = os.path.split(first_choice(repository, env))
    pattern = re.compile(rf"{re.escape(base)}(?:-\d+)?{re.escape(_ORPHANED)}")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []  # no store was ever checked out here
    paths = [f"{folder}/{name}" for name in names if pattern.match(name)]
    return [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]


def _is_beside(name: str) -> bool:
    """Whether a folder beside the stores is not one: it was set aside, or has only
    the sessions that wait for a store."""
    return _ORPHANED in name or name.endswith((EARLY, PRIVATE))


def checkouts(env: Mapping[str, str]) -> list[str]:
    """The folders in which stores may be checked out, sorted; without those set aside.
    Raises StorageError if they cannot be listed."""
    home = env.get("HOME", "")
    folder = f"{home}/{IN_TREE}/worktrees"
    try:
        names = sorted(os.listdir(folder)) if home else []
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(
            f"The stores in {folder} cannot be listed: {error.strerror}.",
            "Make the folder readable for you.",
        ) from error
    paths = [f"{folder}/{name}" for name in names if not _is_beside(name)]
    return [path for path in paths if os.path.isdir(path)]


def _numbered(path: str) -> Iterator[str]:
    """A path, then the same with a number at its end."""
    yield path
    for number in count(2):
        yield f"{path}-{number}"


def _is_free(folder: str) -> bool:
    """Whether a folder has nothing but what an interrupted checkout leaves."""
    if not os.path.lexists(folder):
        return True
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return not names or (names == [".git"] and not _is_in_use(folder))


def _is_in_use(folder: str) -> bool:
    """Whether a folder is a worktree of some repository, or a repository itself."""
    dot_git = f"{folder}/.git"
    if os.path.isdir(dot_git):
        return True
    admin = repositories.pointed_dir(dot_git)
    return os.path.isdir(admin) and repositories.checkout_at(admin).path == folder
