"""The worktrees of a repository, by git's own files: nothing runs.

Formats: git-worktree(1) "DETAILS", gitrepository-layout(5). The worktree of
the store is none of the user's and left out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_core.git import config, repository
from wc_core.git.repository import Repository
from wc_core.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What git writes at a commit, a checkout, a stash, or when files are added.
_TOUCHED = ("HEAD", "index", "logs/HEAD")


class Worktree(NamedTuple):
    """A worktree that git knows of.

    ``path`` is its root, links resolved, empty where git has lost it.
    ``branch`` is empty where HEAD is detached, and both it and ``commit``
    where ``refs`` names a format of refs that only git reads. ``locked`` is
    the reason, ``None`` for one that is not. ``gone`` says why its folder
    cannot be taken at its word; empty where all is well. ``changed_ms`` is
    when git last changed something in it, 0 where that is unknown.
    """

    path: str
    gitdir: str
    main: bool = False
    branch: str = ""
    commit: str = ""
    locked: str | None = None
    gone: str = ""
    refs: str = ""
    changed_ms: int = 0

    @property
    def change_id(self) -> str:
        """What a folder named ``<project>-wt-<change-id>`` is about."""
        return repository.change_of(self.path)

    @property
    def name(self) -> str:
        """What people call it: its change, its branch, or its folder."""
        folder = os.path.basename(self.path or self.gitdir)
        return self.change_id or self.branch or folder


def worktrees(where: Repository, env: Mapping[str, str]) -> list[Worktree]:
    """Every worktree but the store's: the main one first, then by the names
    that git has for them."""
    stores = {one.admin for one in repository.checkouts_of(where, BRANCH)}
    found = [*_main(where, env), *_linked(where)]
    return [one for one in found if one.gitdir not in stores]


def _main(where: Repository, env: Mapping[str, str]) -> Iterator[Worktree]:
    """The main worktree; none in a bare repository."""
    common = where.common
    own = Repository(common, common, "")
    if config.is_true(config.get("core.bare", own, env)):
        return
    top = where.top if not where.linked else ""
    folder, base = os.path.split(common)
    said = config.get("core.worktree", own, env)
    if not top and said:
        top = os.path.realpath(os.path.join(common, said))
    elif not top and base == ".git":
        top = folder
    if top:
        yield _told(own, Worktree(top, common, main=True))


def _linked(where: Repository) -> Iterator[Worktree]:
    for admin in repository.admins_of(where):
        one = repository.checkout_at(admin)
        if not one.finished or not os.path.isfile(f"{admin}/HEAD"):
            continue  # still being made, or nothing that git made
        locked = repository.lock_reason(admin)
        there = Worktree(one.path, admin, locked=locked, gone=_gone(one))
        yield _told(Repository(where.common, admin, one.path), there)


def _gone(one: repository.Checkout) -> str:
    """Why a folder on record is not the worktree; empty where it is."""
    if not one.path:
        return "git has lost its place"
    if not os.path.isdir(one.path):
        return "its folder is missing"
    if not one.points_to:
        return "its folder is no worktree any more"
    if os.path.realpath(one.admin) != one.points_to:
        return "its folder belongs to another repository"
    return ""


def _told(own: Repository, one: Worktree) -> Worktree:
    """The worktree with what its git directory says."""
    branch, commit = own.branch, own.commit
    unread = not commit and os.path.isdir(f"{own.common}/reftable")
    return one._replace(
        branch=branch,
        commit=commit,
        refs="reftable" if unread else "",
        changed_ms=max(_changed_ms(f"{own.gitdir}/{name}") for name in _TOUCHED),
    )


def _changed_ms(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
