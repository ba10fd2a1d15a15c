"""Reading a git repository's own files, without running git.

Formats: gitrepository-layout(5), git-worktree(1) "DETAILS". A repository is
its common directory, never its folder's name: two repositories may be called
the same.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from wc_core.files import read_plain

_CHANGE_MARK = "-wt-"
_MAX_SYMREFS = 5
# What HEAD says where refs are kept in a format that only git reads (reftable).
_STUB = ".invalid"
# Why git keeps the worktree of a store: by that we know it again.
LOCK_REASON = "the store of wc: its threads live here"


class Repository(NamedTuple):
    """Where we are in git.

    ``common`` is the git directory all worktrees share, ``gitdir`` the one of
    this worktree, ``top`` the root of this worktree (empty in a bare
    repository). All absolute, symlinks resolved.
    """

    common: str
    gitdir: str
    top: str

    @property
    def linked(self) -> bool:
        """Whether this is a linked worktree, not the main one."""
        return self.gitdir != self.common

    @property
    def worktree_id(self) -> str:
        """The name git gave this linked worktree; empty in the main one."""
        return os.path.basename(self.gitdir) if self.linked else ""

    @property
    def name(self) -> str:
        """What people call the repository: its main folder's name."""
        folder, base = os.path.split(self.common)
        name = os.path.basename(folder) if base.startswith(".") else base
        return name.removesuffix(".git") or "repository"

    @property
    def change_id(self) -> str:
        """What a folder named ``<project>-wt-<change-id>`` is about."""
        return change_of(self.top)

    @property
    def branch(self) -> str:
        """The branch checked out here; empty when HEAD is detached."""
        return head_branch(self.gitdir)

    @property
    def rebased(self) -> str:
        """The branch that is being rebased, while HEAD is detached; or empty."""
        for folder in ("rebase-merge", "rebase-apply"):
            text = _read_text(f"{self.gitdir}/{folder}/head-name").partition("\n")[0]
            if text.startswith("refs/heads/"):
                return text.removeprefix("refs/heads/")
        return ""

    @property
    def commit(self) -> str:
        """The commit HEAD is at; empty where there is none or its ref is kept
        in a format only git reads."""
        return resolve(self, "HEAD")


def change_of(top: str) -> str:
    """The change id in the name of a worktree's folder, or nothing."""
    project, mark, change = os.path.basename(top).partition(_CHANGE_MARK)
    return change if project and mark else ""


def find(start: str) -> Repository | None:
    """The repository ``start`` lies in: a worktree, or a bare repository."""
    here = os.path.realpath(start)
    while True:
        dot_git = f"{here}/.git" if here != "/" else "/.git"
        gitdir = _git_dir(dot_git)
        if gitdir:
            return Repository(_common_dir(gitdir), gitdir, here)
        if _is_git_dir(here):
            # Inside a .git folder or a bare repository: no worktree here.
            return Repository(_common_dir(here), here, "")
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _git_dir(dot_git: str) -> str:
    """The git directory that ``.git``, folder or file, stands for."""
    if os.path.isdir(dot_git):
        return os.path.realpath(dot_git) if _is_git_dir(dot_git) else ""
    return pointed_dir(dot_git)


def pointed_dir(dot_git: str) -> str:
    """The folder a ``.git`` file points to, whether or not it is there."""
    text = _read_text(dot_git)
    if not text.startswith("gitdir:"):
        return ""
    target = text.removeprefix("gitdir:").removeprefix(" ").rstrip("\r\n")
    return os.path.realpath(os.path.join(os.path.dirname(dot_git), target))


def _is_git_dir(folder: str) -> bool:
    return os.path.isfile(f"{folder}/HEAD") and (
        os.path.isfile(f"{folder}/commondir")
        or (os.path.isdir(f"{folder}/objects") and os.path.isdir(f"{folder}/refs"))
    )


def _common_dir(gitdir: str) -> str:
    target = _read_text(f"{gitdir}/commondir").rstrip("\r\n")
    return os.path.realpath(os.path.join(gitdir, target)) if target else gitdir


def _read_text(path: str) -> str:
    try:
        # git follows links to its own files; some tools make a .git of them.
        target = os.path.realpath(path) if os.path.islink(path) else path
        # git ends its strings there, and no path can have one.
        text, _, _ = (read_plain(target) or b"").partition(b"\0")
        return os.fsdecode(text)
    except OSError:
        # A file git itself could not read either tells us nothing.
        return ""


def head_branch(gitdir: str) -> str:
    """The branch a git directory's HEAD names; empty when detached."""
    text = _read_text(f"{gitdir}/HEAD").strip()
    target = text.removeprefix("ref:").strip()
    if target == text or not target.startswith("refs/heads/"):
        return ""
    branch = target.removeprefix("refs/heads/")
    return "" if branch == _STUB else branch


def resolve(repository: Repository, ref: str) -> str:
    """The commit a ref is at, read from loose and packed refs."""
    for _ in range(_MAX_SYMREFS):
        place = repository.gitdir if ref == "HEAD" else repository.common
        text = _read_text(f"{place}/{ref}").strip() or _packed(repository, ref)
        target = text.removeprefix("ref:").strip()
        if target == text:
            return text
        ref = target
    return ""


def _packed(repository: Repository, ref: str) -> str:
    return _packed_refs(repository).get(ref, "")


def _packed_refs(repository: Repository) -> dict[str, str]:
    """The commit of each packed ref; a ref's name may have odd characters."""
    lines = _read_text(f"{repository.common}/packed-refs").split("\n")
    pairs = (line.partition(" ") for line in lines)
    return {name: commit for commit, _, name in pairs if name.startswith("refs/")}


def has_branch(repository: Repository, branch: str) -> bool:
    """Whether the branch is there: local, or fetched from any remote."""
    if resolve(repository, f"refs/heads/{branch}"):
        return True
    return bool(remote_branches(repository, branch))


def remote_branches(repository: Repository, branch: str) -> list[str]:
    """The remotes from which ``branch`` has been fetched, sorted.

    ``refs/remotes/a/b/<branch>`` is of the remote ``a/b`` only where there is
    one; else it is another branch of the remote ``a``.
    """
    prefix, suffix = f"{repository.common}/refs/remotes/", f"/{branch}"
    found = {
        folder.removeprefix(prefix)
        for folder, _, _ in os.walk(prefix)
        if os.path.isfile(f"{folder}{suffix}")
    }
    found |= {
        name.removeprefix("refs/remotes/").removesuffix(suffix)
        for name in _packed_refs(repository)
        if name.startswith("refs/remotes/") and name.endswith(suffix)
    }
    known = _read_text(f"{repository.common}/config")
    return sorted(
        one for one in found if one and ("/" not in one or f'"{one}"' in known)
    )


class Checkout(NamedTuple):
    """A worktree that has a certain branch checked out.

    ``path`` is its root, ``admin`` the folder git keeps about it.
    ``points_to`` is the git directory ``<path>/.git`` names: equal to
    ``admin`` where all is well, empty where there is no such file.
    ``finished`` is false while git is still making it, or died at that.
    ``away`` says what it stands at instead of the branch: "a rebase" of it,
    "another commit", or another branch; empty where all is well.
    """

    path: str
    admin: str
    points_to: str
    finished: bool = True
    away: str = ""

    @property
    def trusted(self) -> bool:
        """Whether both sides name each other."""
        return self.points_to == self.admin


def checkouts_of(repository: Repository, branch: str) -> list[Checkout]:
    """Every worktree that has ``branch`` checked out, the main one first; then
    those that are away from it and to come back: in the middle of a rebase of
    the branch, or locked by us, for it is what they are for."""
    found = []
    folder, base = os.path.split(repository.common)
    away = _away(repository.common, branch)
    if base == ".git" and away is not None:
        common = repository.common
        found.append(Checkout(folder, common, common, away=away))
    for admin in admins_of(repository):
        away = _away(admin, branch)
        if away is not None:
            found.append(checkout_at(admin, away))
    return sorted(found, key=lambda one: bool(one.away))


def admins_of(repository: Repository) -> list[str]:
    """The folders that git keeps about linked worktrees, sorted."""
    folder = f"{repository.common}/worktrees"
    try:
        return [f"{folder}/{one}" for one in sorted(os.listdir(folder))]
    except OSError:
        return []  # a repository without linked worktrees has no such folder


def checkout_at(admin: str, away: str = "") -> Checkout:
    """The linked worktree that one of these folders is about."""
    target = _read_text(f"{admin}/gitdir").rstrip("\n")
    dot_git = os.path.join(admin, target) if target else ""
    path = os.path.realpath(os.path.dirname(dot_git)) if dot_git else ""
    # What git-worktree(1) writes there before it has all the files.
    finished = lock_reason(admin) != "initializing"
    return Checkout(path, admin, pointed_dir(f"{path}/.git"), finished, away)


def lock_reason(admin: str) -> str | None:
    """Why a linked worktree is locked, which may be empty; ``None`` for one
    that is not."""
    path = f"{admin}/locked"
    return _read_text(path).strip() if os.path.lexists(path) else None


def _away(gitdir: str, branch: str) -> str | None:
    """What a worktree of the branch stands at instead of it; ``None`` for one
    that has nothing to do with the branch."""
    head = head_branch(gitdir)
    if head == branch:
        return ""
    if not head and rebased_branch(gitdir) == branch:
        return "a rebase"
    if lock_reason(gitdir) == LOCK_REASON:
        return f"the branch {head}" if head else "another commit"
    return None


def rebased_branch(gitdir: str) -> str:
    """The branch that git-rebase(1) has begun to rebase here; or nothing."""
    for folder in ("rebase-merge", "rebase-apply"):
        name = _read_text(f"{gitdir}/{folder}/head-name").strip()
        if name.startswith("refs/heads/"):
            return name.removeprefix("refs/heads/")
    return ""


def worktrees(repository: Repository) -> list[tuple[str, str]]:
    """(root, branch) of every linked worktree git knows of."""
    found = []
    for admin in admins_of(repository):
        target = _read_text(f"{admin}/gitdir").rstrip("\n")
        path = os.path.dirname(os.path.join(admin, target))
        found.append((path, head_branch(admin)))
    return found
