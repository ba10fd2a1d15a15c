"""Finds the store that belongs to a folder.

The order is the same here and in ``bin/wc-statusline``:

1. ``WATERCOOLER_DIR``
2. an in-tree store: ``.watercooler/`` with ``threads/`` or ``graph/``, in the
   folder or above it, but not above the root of the worktree
3. the checkout of the branch ``watercooler/threads``, which git itself records
4. outside git: such a ``.watercooler/`` in the folder or above it, else
   ``./.watercooler/``

Nothing is guessed: a checkout that does not point back at this repository
belongs to another one, and the error says how to fix that.
"""

from __future__ import annotations

import os

from wc_core.base.errors import (
    CorruptError,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from wc_core.base.layout import BRANCH, IN_TREE, has_oldest_pages
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.ledger.git.repository import Checkout, Repository

# The four kinds of store, in the order of the search.
NAMED, IN_TREE_STORE, BRANCH_STORE, PLAIN = "named", "in-tree", "branch", "plain"


class HomeFolderError(InvalidInputError):
    """A store would be in the home folder itself."""


class StoreMissingError(CorruptError):
    """The folder that git has on record for the store does not exist."""


class StoreMovedError(CorruptError):
    """The store and this repository do not point at each other."""


class ReftableError(StorageError):
    """The refs of the repository are in a format that only git reads."""


class Place(NamedTuple):
    """The store that belongs to a folder.

    ``root`` is the store's folder; ``exists`` says whether it exists yet.
    ``branch_exists`` says that the branch exists but is not checked out.
    Only stores of kind ``branch`` are committed by wc.
    """

    kind: str
    root: str
    repository: Repository | None
    exists: bool
    branch_exists: bool = False


def is_store(folder: str) -> bool:
    """Whether a folder looks like the root of a store."""
    return os.path.isdir(f"{folder}/threads") or os.path.isdir(f"{folder}/graph")


def find(cwd: str, env: Mapping[str, str], *, missing_ok: bool = False) -> Place:
    """Find the store of the folder ``cwd``.

    Raises StoreMissingError if the store's checkout is missing (with
    ``missing_ok`` the result says that it does not exist), StoreMovedError if
    it belongs to another repository or the folder is in a worktree that lost its
    ``.git``, ReftableError if wc cannot read the refs of the repository, and
    InvalidInputError if the folder cannot have a store.
    """
    place = _usual_place(cwd, env, missing_ok)
    if place.exists or place.branch_exists or place.kind == NAMED:
        return place
    oldest = oldest_root(os.path.realpath(cwd), place.repository, env)
    kind = IN_TREE_STORE if place.repository else PLAIN
    return Place(kind, oldest, place.repository, exists=True) if oldest else place


def _usual_place(
    cwd: str,
    env: Mapping[str, str],
    missing_ok: bool,  # noqa: FBT001
) -> Place:
    """The store of a folder, unless it has only pages directly in ``.watercooler/``."""
    folder = os.path.realpath(cwd)
    repository = repositories.containing(folder)
    named = env.get("WATERCOOLER_DIR", "")
    if named:
        root = os.path.realpath(os.path.join(cwd, named))
        return _named_place(root, repository, env, missing_ok)
    in_tree = _in_tree_root(folder, repository, env)
    if repository is None:
        _check_was_no_worktree(folder, in_tree, env)
    if in_tree:
        kind = IN_TREE_STORE if repository else PLAIN
        return Place(kind, in_tree, repository, exists=True)
    if repository is not None:
        try:
            return _place_of_repository(repository, env)
        except StoreMissingError:
            if not missing_ok:
                raise
            root = _planned_root(repository, env)
            return Place(
                BRANCH_STORE, root, repository, exists=False, branch_exists=True
            )
    if folder == os.path.realpath(env.get("HOME", "") or "/nonexistent"):
        raise HomeFolderError(
            "The home folder itself cannot hold a store.",
            "Run wc in a git repository or another folder, or set WATERCOOLER_DIR.",
        )
    return Place(PLAIN, os.path.join(folder, IN_TREE), None, exists=False)


def _check_was_no_worktree(folder: str, in_tree: str, env: Mapping[str, str]) -> None:
    """Raise StoreMovedError if a folder outside git is in what was a worktree of a
    repository with a store: what is written belongs there. A store ``in_tree`` that is
    in the same worktree is used, because its entries are nowhere else."""
    from wc_core.ledger.git import storefolder  # 0.3 ms, only outside git

    try:
        stores = storefolder.checkouts(env)
    except StorageError:
        return  # reported by those who need the list
    for store in stores:
        checkout = repositories.containing(store)
        if checkout is None or checkout.top != store or not checkout.linked:
            continue
        for admin in repositories.admins_of(checkout):
            top = repositories.checkout_at(admin).path
            is_inside = top and f"{folder}/".startswith(f"{top}/")
            if is_inside and not in_tree.startswith(f"{top}/"):
                raise _lost_worktree_error(top, checkout)


def _lost_worktree_error(top: str, checkout: Repository) -> StoreMovedError:
    main = checkout.common.removesuffix("/.git")
    if not os.path.isdir(top):
        return StoreMovedError(
            f"{top} was a worktree of {main}, and no longer exists.",
            "Change to another worktree.",
        )
    return StoreMovedError(
        f"{top} was a worktree of {main}, and its .git is missing: what is written "
        "here would not be among the threads of that repository.",
        f"Bring it back: git -C {quoted(main)} worktree repair (or remove the folder, "
        "if it is not wanted)",
    )


def _named_place(
    root: str,
    repository: Repository | None,
    env: Mapping[str, str],
    missing_ok: bool,  # noqa: FBT001
) -> Place:
    """The store at ``root``, which WATERCOOLER_DIR names."""
    exists = os.path.isdir(root)
    worktree = repositories.containing(root) if exists else None
    if worktree is not None and worktree.top == root:
        _refuse_reftable(worktree)
    if repository is not None:
        for checkout in repositories.checkouts_of(repository, BRANCH):
            if checkout.path != root or (exists and checkout.finished):
                continue
            # Git has a checkout there on record, so it is not a new store.
            if checkout.finished and not missing_ok:
                raise broken_store_error(repository, checkout, env)
            return Place(BRANCH_STORE, root, repository, False, branch_exists=True)
    if is_checkout(root):
        return Place(BRANCH_STORE, root, repository, exists)
    if exists and _is_unfinished(root):
        raise StoreMissingError(
            f"The store {root} is not completely checked out: another command is still "
            "at it, or was interrupted.",
            "Run in its repository: wc init",
        )
    return Place(NAMED, root, repository, exists)


def _is_unfinished(root: str) -> bool:
    """Whether a folder is a checkout that does not have all files yet."""
    checkout = repositories.containing(root)
    if checkout is None or checkout.top != root or not checkout.linked:
        return False
    return not repositories.checkout_at(checkout.gitdir).finished


def checkout_at(root: str) -> Repository | None:
    """The checkout of the store's branch at ``root``; ``None`` if there is none, or if
    it is unfinished.

    Only stores that are such a checkout are committed by wc.
    """
    checkout = repositories.find(root) if os.path.isdir(root) else None
    if checkout is None or checkout.top != root or checkout.branch != BRANCH:
        return None
    if checkout.linked:
        recorded = repositories.checkout_at(checkout.gitdir)
        is_copy = recorded.path != checkout.top and recorded.trusted
        if is_copy or not recorded.finished:
            return None
    return checkout


def is_checkout(root: str) -> bool:
    """Whether a folder has the store's branch checked out."""
    return checkout_at(root) is not None


def _in_tree_root(
    start: str, repository: Repository | None, env: Mapping[str, str]
) -> str:
    """The root of the in-tree store of a folder; empty if there is none."""
    candidates = _in_tree_candidates(start, repository, env)
    return next(filter(is_store, candidates), "")


def oldest_root(
    start: str, repository: Repository | None, env: Mapping[str, str]
) -> str:
    """The in-tree store of a folder that has only pages, directly in it; empty if there
    is none."""
    candidates = _in_tree_candidates(start, repository, env)
    return next(filter(has_oldest_pages, candidates), "")


def _in_tree_candidates(
    start: str, repository: Repository | None, env: Mapping[str, str]
) -> Iterator[str]:
    """The folders ``.watercooler`` that may be the in-tree store of a folder."""
    home = env.get("HOME", "")
    for folder in _folders_upward(start, repository):
        candidate = f"{folder.rstrip('/')}/{IN_TREE}"
        # A symbolic link in cloned code may lead anywhere.
        is_untrusted = repository is not None and os.path.islink(candidate)
        if os.path.isdir(candidate) and not is_untrusted:
            root = os.path.realpath(candidate)
            if not home or root != os.path.realpath(f"{home}/{IN_TREE}"):
                yield root


def _folders_upward(folder: str, repository: Repository | None) -> Iterator[str]:
    """A folder and those above it, up to the root of the worktree.

    Inside a ``.git`` folder or a bare repository it is only the folder itself, outside
    git all folders up to ``/``.
    """
    top = "/"
    if repository is not None:
        top = repository.top or folder
    yield folder
    while folder not in {top, "/"}:
        folder = os.path.dirname(folder)
        yield folder


def _place_of_repository(repository: Repository, env: Mapping[str, str]) -> Place:
    """The branch store of a repository, which may not exist yet."""
    if not os.path.isdir(repository.gitdir):
        raise StoreMovedError(
            f"{repository.top}/.git points to {repository.gitdir}, which is not there; "
            "git does not work here either.",
            "If the repository was moved, run in its new place: git worktree repair",
        )
    _refuse_reftable(repository)
    # A checkout that was never finished is empty, and will be created again.
    checkouts = [
        checkout
        for checkout in repositories.checkouts_of(repository, BRANCH)
        if checkout.finished
    ]
    for checkout in checkouts:
        if checkout.trusted and checkout.away.startswith("the branch"):
            raise StoreMovedError(
                f"The store's folder {checkout.path} has {checkout.away} checked out.",
                "Nothing of it is lost. Bring its threads back: "
                f"git -C {quoted(checkout.path)} switch {BRANCH}",
            )
        if checkout.trusted:
            return Place(BRANCH_STORE, checkout.path, repository, exists=True)
    for checkout in checkouts:
        if not is_of_another_home(checkout, env):
            raise broken_store_error(repository, checkout, env)
    exists = repositories.has_branch(repository, BRANCH)
    root = _planned_root(repository, env)
    return Place(BRANCH_STORE, root, repository, False, exists)


def _refuse_reftable(repository: Repository) -> None:
    """Raise ReftableError if a repository's refs are not in files: its threads could
    be neither found nor committed."""
    if repositories.has_reftable(repository):
        raise ReftableError(
            f"The repository {repository.top or repository.common} stores its refs as "
            "reftable, which wc cannot read yet. Nothing was read or written.",
            "If it has no linked worktrees: git refs migrate --ref-format=files",
        )


def is_of_another_home(checkout: Checkout, env: Mapping[str, str]) -> bool:
    """Whether a checkout of the store is in the home of someone else, or of another
    machine, such as the host of a container, and cannot be seen here. This home then
    gets one of its own, as in a fresh clone."""
    home, inside, _ = checkout.path.rpartition(f"/{IN_TREE}/worktrees/")
    if not inside or os.path.isdir(checkout.path) or _moved_with_home(checkout, env):
        return False
    own_home = env.get("HOME", "")
    is_own = bool(own_home) and os.path.realpath(own_home) == home
    # The same path may be the home of another machine; this one is empty then.
    return not is_own or not os.path.isdir(f"{own_home}/{IN_TREE}")


def _planned_root(repository: Repository, env: Mapping[str, str]) -> str:
    """The folder in which a repository's store would be checked out."""
    from wc_core.ledger.git import storefolder  # 0.3 ms, most stores are checked out

    return storefolder.planned(repository, env).root


def not_checked_out_error() -> NotFoundError:
    """The error for a store that exists only as a branch; its hint is the fix."""
    return NotFoundError(
        f"This repository has threads on its branch {BRANCH}, but they are not checked "
        "out on this machine.",
        "Check them out: wc init",
    )


def broken_store_error(
    repository: Repository, checkout: Checkout, env: Mapping[str, str]
) -> StoreMissingError | StoreMovedError:
    """The error for an unusable checkout of the store; its hint is the fix."""
    path, admin = checkout.path, checkout.admin
    if not path:
        return StoreMissingError(
            f"Git has lost the place of the store: {admin}/gitdir is empty.",
            f"To check the store out again: rm -r {quoted(admin)} && wc init",
        )
    if moved := _moved_with_home(checkout, env):
        return StoreMovedError(
            f"The store's folder {path} is missing, and {moved} looks like it.",
            f"If it was moved, tell git: git --git-dir={quoted(repository.common)} "
            f"worktree repair {quoted(moved)}",
        )
    if not os.path.isdir(path) or not os.listdir(path):
        return StoreMissingError(
            f"The store's folder {path} is missing; its threads are safe on the "
            f"branch {BRANCH}, apart from what had not been committed.",
            "Bring the folder back if you moved it, or check it out again: wc init",
        )
    if checkout.points_to and os.path.isdir(checkout.points_to):
        return StoreMovedError(
            f"The store {path} belongs to another repository "
            f"({checkout.points_to}); this one looks like a copy of it.",
            f"To give this copy a store of its own: rm -r {quoted(admin)} && wc init",
        )
    # git refuses without a path if it is run in another repository, and with a path if
    # the folder points nowhere.
    argument = f" {quoted(path)}" if checkout.points_to else ""
    return StoreMovedError(
        f"This repository was moved: its store {path} still points to "
        f"{checkout.points_to or 'nowhere'}.",
        "If that is right, tell git: "
        f"git --git-dir={quoted(repository.common)} worktree repair{argument}",
    )


def _moved_with_home(checkout: Checkout, env: Mapping[str, str]) -> str:
    """The current folder of a checkout whose home was moved, with its repository.

    Empty if no folder in the current home belongs to the checkout.
    """
    base = os.path.basename(checkout.path)
    path = f"{env.get('HOME', '')}/{IN_TREE}/worktrees/{base}"
    if os.path.isdir(checkout.path) or not base:
        return ""
    points_to = repositories.pointed_dir(f"{path}/.git")
    if not points_to or os.path.isdir(points_to):
        return ""
    is_same = os.path.basename(points_to) == os.path.basename(checkout.admin)
    return path if is_same else ""
