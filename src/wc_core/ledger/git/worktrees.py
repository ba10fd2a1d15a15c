"""Reads the worktrees of a repository from git's own files, without running git.

Formats: git-worktree(1) "DETAILS", gitrepository-layout(5). The worktree of
the store is left out, and so is that of a check, because they are not the user's.
"""

from __future__ import annotations

import os

from wc_core.base.layout import BRANCH
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Files that git writes at a commit, a checkout, a stash, or when files are added.
_ACTIVITY_FILES = ("HEAD", "index", "logs/HEAD")


class Worktree(NamedTuple):
    """A worktree on git's record.

    ``path`` is its root, links resolved; empty if git has lost it. ``branch``
    is empty if HEAD is detached. Both ``branch`` and ``commit`` are empty if
    ``refs`` names a format of refs that only git reads. ``locked`` is the
    reason of a lock, ``None`` without one. ``defect`` says why the folder is
    not usable, empty if it is. ``changed_ms`` is the time of git's last
    change in the worktree, 0 if unknown.
    """

    path: str
    gitdir: str
    main: bool = False
    branch: str = ""
    commit: str = ""
    locked: str | None = None
    defect: str = ""
    refs: str = ""
    changed_ms: int = 0

    @property
    def worktree_id(self) -> str:
        """Git's name for a linked worktree; empty for the main one."""
        return "" if self.main else os.path.basename(self.gitdir)

    @property
    def rebased(self) -> str:
        """The branch that is being rebased, with HEAD detached; empty if none is."""
        return repositories.rebased_branch(self.gitdir)

    @property
    def change_id(self) -> str:
        """The change id, see `Repository.change_id`."""
        common = os.path.dirname(os.path.dirname(self.gitdir))
        common = self.gitdir if self.main else common
        return Repository(common, self.gitdir, self.path).change_id

    @property
    def name(self) -> str:
        """The display name: its change id, its branch, or its folder."""
        folder = os.path.basename(self.path or self.gitdir)
        return self.change_id or self.branch or folder


def worktrees(repository: Repository, env: Mapping[str, str]) -> list[Worktree]:
    """All worktrees except wc's own: the main one, then by git's names."""
    stores = {
        checkout.admin for checkout in repositories.checkouts_of(repository, BRANCH)
    }
    worktrees = [*_main_worktree(repository, env), *_linked_worktrees(repository)]
    return [
        worktree
        for worktree in worktrees
        if worktree.gitdir not in stores
        and worktree.locked != repositories.CHECK_REASON
    ]


def _main_worktree(
    repository: Repository, env: Mapping[str, str]
) -> Iterator[Worktree]:
    """The main worktree; nothing in a bare repository."""
    common = repository.common
    main = Repository(common, common, "")
    if config.is_true(config.get("core.bare", main, env)):
        return
    top = repository.top if not repository.linked else ""
    folder, base = os.path.split(common)
    setting = config.get("core.worktree", main, env)
    if not top and setting:
        top = os.path.realpath(os.path.join(common, setting))
    elif not top and base == ".git":
        top = folder
    if top:
        yield _with_head(main, Worktree(top, common, main=True))


def _linked_worktrees(repository: Repository) -> Iterator[Worktree]:
    for admin in repositories.admins_of(repository):
        checkout = repositories.checkout_at(admin)
        if not checkout.finished or not os.path.isfile(f"{admin}/HEAD"):
            continue  # git is still creating it, or did not finish
        locked = repositories.lock_reason(admin)
        worktree = Worktree(
            checkout.path, admin, locked=locked, defect=_defect(checkout)
        )
        yield _with_head(Repository(repository.common, admin, checkout.path), worktree)


def _defect(checkout: repositories.Checkout) -> str:
    """Why the folder on git's record is not the worktree; empty if it is."""
    if not checkout.path:
        return "git has lost its place"
    if not os.path.isdir(checkout.path):
        return "its folder is missing"
    if not checkout.points_to:
        return "its folder is no longer a worktree"
    if os.path.realpath(checkout.admin) != checkout.points_to:
        return "its folder belongs to another repository"
    return ""


def _with_head(repository: Repository, worktree: Worktree) -> Worktree:
    """The worktree with its branch, its commit and the time of its last change."""
    branch, commit = repository.branch, repository.commit
    is_unread = not commit and os.path.isdir(f"{repository.common}/reftable")
    paths = (f"{repository.gitdir}/{name}" for name in _ACTIVITY_FILES)
    return worktree._replace(
        branch=branch,
        commit=commit,
        refs="reftable" if is_unread else "",
        changed_ms=max(map(_changed_ms, paths)),
    )


def _changed_ms(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
