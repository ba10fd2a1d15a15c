"""Which store belongs to the place we are in.

The order is the same here and in ``bin/wc-statusline``:

1. ``WATERCOOLER_DIR``
2. an in-tree store: ``.watercooler/`` with ``threads/`` or ``graph/``, upward,
   not past the git root
3. the checkout of the branch ``watercooler/threads``, which git itself records
4. outside git: such a ``.watercooler/`` upward, else ``./.watercooler/``

Nothing is guessed: a checkout that does not point back at this repository
belongs to another one and is an error that says how to mend it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import CorruptError, InvalidInputError
from wc_core.git import repository
from wc_core.layout import BRANCH, IN_TREE
from wc_core.phrases import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.repository import Checkout, Repository

# The four kinds of store, in the order they are looked for.
NAMED, IN_TREE_STORE, BRANCH_STORE, PLAIN = "named", "in-tree", "branch", "plain"


class StoreMissingError(CorruptError):
    """The folder git has on record for the store is not there."""


class StoreMovedError(CorruptError):
    """The store and this repository do not point at each other."""


class Place(NamedTuple):
    """Where we are and which store that means.

    ``root`` is the store's folder, which need not exist yet. ``exists`` says
    whether it does; ``branch_exists`` whether the branch does though nothing
    has it checked out. Only stores of kind ``branch`` are committed by wc.
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
    """The store of the folder ``cwd``.

    Raises StoreMissingError for a checkout that is gone (unless
    ``missing_ok``: then it does not exist), StoreMovedError for one that
    belongs to another repository, InvalidInputError where there can be none.
    """
    where = repository.find(cwd)
    named = env.get("WATERCOOLER_DIR", "")
    if named:
        root = os.path.realpath(os.path.join(cwd, named))
        return _named(root, where, env, missing_ok)
    in_tree = _upward(cwd, where, env)
    if in_tree:
        kind = IN_TREE_STORE if where else PLAIN
        return Place(kind, in_tree, where, exists=True)
    if where is not None:
        try:
            return _of_repository(where, env)
        except StoreMissingError:
            if not missing_ok:
                raise
            root = planned_root(where, env)
            return Place(BRANCH_STORE, root, where, exists=False, branch_exists=True)
    here = os.path.realpath(cwd)
    if here == os.path.realpath(env.get("HOME", "") or "/nonexistent"):
        raise InvalidInputError(
            "The home folder itself cannot hold a store.",
            "Run wc in a git repository or another folder, or set WATERCOOLER_DIR.",
        )
    return Place(PLAIN, os.path.join(here, IN_TREE), None, exists=False)


def _named(
    root: str,
    where: Repository | None,
    env: Mapping[str, str],
    missing_ok: bool,  # noqa: FBT001
) -> Place:
    exists = os.path.isdir(root)
    if where is not None and not exists:
        for one in repository.checkouts_of(where, BRANCH):
            if os.path.realpath(one.path) != root:
                continue
            # Not a new store's name, but that of one that is gone.
            if not missing_ok:
                raise broken(where, one, env)
            return Place(BRANCH_STORE, root, where, exists, branch_exists=True)
    return Place(BRANCH_STORE if is_checkout(root) else NAMED, root, where, exists)


def checkout_at(root: str) -> Repository | None:
    """The checkout of the store's branch at ``root``, if there is one: only such
    stores are committed by wc."""
    checkout = repository.find(root) if os.path.isdir(root) else None
    if checkout is None or checkout.top != root or checkout.branch != BRANCH:
        return None
    return checkout


def is_checkout(root: str) -> bool:
    """Whether a folder has the store's branch checked out."""
    return checkout_at(root) is not None


def _upward(cwd: str, where: Repository | None, env: Mapping[str, str]) -> str:
    """An existing ``.watercooler`` store from ``cwd`` up to the git root."""
    homes = os.path.realpath(f"{env['HOME']}/{IN_TREE}") if env.get("HOME") else ""
    here = os.path.realpath(cwd)
    while True:
        candidate = f"{here.rstrip('/')}/{IN_TREE}"
        # A link that came with somebody's code may lead anywhere.
        foreign = where is not None and os.path.islink(candidate)
        if is_store(candidate) and not foreign:
            root = os.path.realpath(candidate)
            if root != homes:
                return root
        parent = os.path.dirname(here)
        at_top = where is not None and (here == where.top or not where.top)
        if at_top or parent == here:
            return ""
        here = parent


def _of_repository(where: Repository, env: Mapping[str, str]) -> Place:
    if not os.path.isdir(where.gitdir):
        raise StoreMovedError(
            f"{where.top}/.git points to {where.gitdir}, which is not there; "
            "git does not work here either.",
            "If the repository was moved, run in its new place: git worktree repair",
        )
    # One that was never finished holds nothing yet: it is made anew.
    found = [one for one in repository.checkouts_of(where, BRANCH) if one.finished]
    for checkout in found:
        if checkout.trusted and checkout.away.startswith("the branch"):
            raise StoreMovedError(
                f"The store's folder {checkout.path} has {checkout.away} checked out.",
                "Nothing of it is lost. Bring its threads back: "
                f"git -C {quoted(checkout.path)} switch {BRANCH}",
            )
        if checkout.trusted:
            return Place(BRANCH_STORE, checkout.path, where, exists=True)
    if found:
        raise broken(where, found[0], env)
    exists = repository.has_branch(where, BRANCH)
    return Place(BRANCH_STORE, planned_root(where, env), where, False, exists)


def broken(
    where: Repository, checkout: Checkout, env: Mapping[str, str]
) -> StoreMissingError | StoreMovedError:
    """The error for a checkout of the store that cannot be used, with the
    command that mends it."""
    path, admin = checkout.path, checkout.admin
    if not path:
        return StoreMissingError(
            f"Git has lost the place of the store: {admin}/gitdir is empty.",
            f"To check the store out anew: rm -r {quoted(admin)} && wc init",
        )
    if moved := _moved_along(checkout, env):
        return StoreMovedError(
            f"The store's folder {path} is missing, and {moved} looks like it.",
            f"If it was moved, tell git: git --git-dir={quoted(where.common)} "
            f"worktree repair {quoted(moved)}",
        )
    if not os.path.isdir(path) or not os.listdir(path):
        return StoreMissingError(
            f"The store's folder {path} is missing; its threads are safe on the "
            f"branch {BRANCH}, apart from what had not been committed.",
            "Bring the folder back if you moved it, or check it out anew: wc init",
        )
    if checkout.points_to and os.path.isdir(checkout.points_to):
        return StoreMovedError(
            f"The store {path} belongs to another repository "
            f"({checkout.points_to}); this one looks like a copy of it.",
            f"To give this copy a store of its own: rm -r {quoted(admin)} && wc init",
        )
    # git complains without a path where it is run in another repository, and
    # with one where there is nothing that points anywhere.
    which = f" {quoted(path)}" if checkout.points_to else ""
    return StoreMovedError(
        f"This repository was moved: its store {path} still points to "
        f"{checkout.points_to or 'nowhere'}.",
        "If that is right, tell git: "
        f"git --git-dir={quoted(where.common)} worktree repair{which}",
    )


def _moved_along(checkout: Checkout, env: Mapping[str, str]) -> str:
    """The folder in this home that belonged to a checkout which is gone: the
    home folder was moved, the repository with it."""
    base = os.path.basename(checkout.path)
    path = f"{env.get('HOME', '')}/{IN_TREE}/worktrees/{base}"
    if os.path.isdir(checkout.path) or not base:
        return ""
    points_to = repository.pointed_dir(f"{path}/.git")
    same = os.path.basename(points_to) == os.path.basename(checkout.admin)
    return path if points_to and same and not os.path.isdir(points_to) else ""


def planned_root(where: Repository, env: Mapping[str, str]) -> str:
    """Where the checkout of a repository's store will be made.

    Raises InvalidInputError without a HOME to put it in.
    """
    import hashlib  # only until the store exists

    home = env.get("HOME", "")
    if not home:
        raise InvalidInputError(
            "HOME is not set, so there is no place for the store.",
            "Set HOME, or WATERCOOLER_DIR to the folder that shall hold it.",
        )
    digest = hashlib.sha256(os.fsencode(where.common)).hexdigest()[:12]
    folder = f"watercooler-{where.name}-{digest}"
    return os.path.realpath(f"{home}/{IN_TREE}/worktrees/{folder}")
