"""Reads a git repository's own files, without running git.

Formats: gitrepository-layout(5), git-worktree(1) "DETAILS". A repository is
identified by its common directory, never by the name of its folder: two
repositories may have the same name.
"""

from __future__ import annotations

import errno
import os

from wc_core.base.files import read_plain
from wc_core.base.text import is_hexadecimal
from wc_core.base.values import NamedTuple

_CHANGE_MARK = "-wt-"
_MAX_SYMREFS = 5
# The branch in HEAD if refs are in a format that only git reads (reftable).
_STUB = ".invalid"
# The reason with which the worktree of a store is locked, and recognized.
LOCK_REASON = "the store of wc: its threads live here"
# The reason with which git-worktree(1) locks a worktree until it has all files.
UNFINISHED = "initializing"
# The same for the worktree in which what lands is checked.
CHECK_REASON = "wc land checks here what would land"


class Repository(NamedTuple):
    """A git repository, as seen from one of its worktrees.

    ``common`` is the git directory that all worktrees share, ``gitdir`` the
    one of this worktree, and ``top`` the root of this worktree (empty in a
    bare repository). All paths are absolute, with symlinks resolved.
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
        """Git's name for this linked worktree; empty in the main one."""
        return os.path.basename(self.gitdir) if self.linked else ""

    @property
    def name(self) -> str:
        """The display name: that of the main worktree's folder."""
        folder, base = os.path.split(self.common)
        name = os.path.basename(folder) if base.startswith(".") else base
        return name.removesuffix(".git") or "repository"

    @property
    def change_id(self) -> str:
        """The change id of a folder named ``<project>-wt-<change-id>``, or the name
        that a client gave the linked worktree that it made."""
        return change_of(self.top) or client_change(self)

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty if HEAD is detached."""
        return head_branch(self.gitdir)

    @property
    def rebased(self) -> str:
        """The branch that is being rebased, with HEAD detached; empty if none is."""
        return rebased_branch(self.gitdir)

    @property
    def working_branch(self) -> str:
        """The branch that is checked out or being rebased; empty if HEAD is detached
        for another reason."""
        return working_branch(self.gitdir)

    @property
    def commit(self) -> str:
        """The commit of HEAD; empty if it has none, or one that only git can read."""
        return resolve(self, "HEAD")


def has_reftable(repository: Repository) -> bool:
    """Whether the refs are in a format that only git reads (reftable)."""
    return _read_text(f"{repository.common}/HEAD").strip().endswith(f"/{_STUB}")


def is_object_id(text: str) -> bool:
    """Whether a text can be the id of an object: SHA-1 or SHA-256, in full."""
    return is_hexadecimal(text, 40, 64)


def change_of(top: str) -> str:
    """The change id in the name of a worktree's folder, or the empty string."""
    project, mark, change = os.path.basename(top).partition(_CHANGE_MARK)
    return change if project and mark else ""


# Where clients make worktrees for their sessions.
_WORKTREES = "worktrees"


def client_change(repository: Repository, *, for_good: bool = False) -> str:
    """The name that a client gave a worktree, by its folder; empty if no client made
    it. ``for_good``: only if it has the name whatever branch is checked out.

    - ``app.worktrees/NAME``: Copilot CLI
    - ``.claude/worktrees/NAME``, and those of Gemini CLI and Qwen Code; in a folder
      that is not hidden only with the branch ``worktree-NAME``
    - ``.codex/worktrees/NAME/app``, in another folder only with HEAD detached
    - ``.cursor/worktrees/app/NAME``
    """
    if not repository.linked:
        return ""
    parent, name = os.path.split(repository.top)
    parent, folder = os.path.split(parent)
    if folder.endswith(f".{_WORKTREES}"):
        return name
    client, above = os.path.split(parent)
    if folder == _WORKTREES:
        is_hidden, needed = above.startswith("."), f"worktree-{name}"
    elif above == _WORKTREES and repository.name in {name, folder}:
        is_hidden, needed = os.path.basename(client).startswith("."), ""
        name = folder if name == repository.name else name
    else:
        return ""
    if is_hidden:
        return name
    return name if not for_good and repository.working_branch == needed else ""


def find(start: str) -> Repository | None:
    """The repository that a folder is in: a worktree, or a bare repository."""
    return containing(os.path.realpath(start))


def containing(folder: str) -> Repository | None:
    """The repository that a folder is in, of whose path no part is a link."""
    while True:
        dot_git = f"{folder}/.git" if folder != "/" else "/.git"
        gitdir = _git_dir(dot_git)
        if gitdir:
            return Repository(_common_dir(gitdir), gitdir, folder)
        if _is_git_dir(folder):
            # Inside a .git folder or a bare repository there is no worktree. One that
            # is a part of another's files came with them: its configuration names
            # programs, which git would start.
            outer = containing(os.path.dirname(folder))
            is_part = outer is not None and outer.top and outer.common != folder
            return outer if is_part else Repository(_common_dir(folder), folder, "")
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _git_dir(dot_git: str) -> str:
    """The git directory for a ``.git`` folder or file; empty if it is none."""
    if os.path.isdir(dot_git):
        if not _is_git_dir(dot_git):
            return ""
        return os.path.realpath(dot_git) if os.path.islink(dot_git) else dot_git
    return pointed_dir(dot_git)


def pointed_dir(dot_git: str) -> str:
    """The folder that a ``.git`` file points to, whether or not it exists."""
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


def check_common(repository: Repository) -> None:
    """Raise OSError if the file that names the common directory could not be read when
    the repository was found, so that all refs seem to be missing."""
    path = f"{repository.gitdir}/commondir"
    if not repository.linked and os.path.lexists(path):
        raise OSError(errno.EIO, "could not be read", path)


def _read_text(path: str, *, strict: bool = False) -> str:
    """The text of one of git's files; empty if it is missing. If it cannot be read, it
    is empty as well, or OSError is raised if ``strict``."""
    try:
        # git follows links to its own files, and some tools make .git a link.
        target = os.path.realpath(path) if os.path.islink(path) else path
        # For git a zero byte is the end of a string, and no path can have one.
        text, _, _ = (read_plain(target) or b"").partition(b"\0")
        return os.fsdecode(text)
    except OSError:
        if strict:
            raise
        return ""


def head_branch(gitdir: str) -> str:
    """The branch in HEAD of a git directory; empty if HEAD is detached."""
    text = _read_text(f"{gitdir}/HEAD").strip()
    target = text.removeprefix("ref:").strip()
    if target == text or not target.startswith("refs/heads/"):
        return ""
    branch = target.removeprefix("refs/heads/")
    return "" if branch == _STUB else branch


def resolve(repository: Repository, ref: str, *, strict: bool = False) -> str:
    """The commit of a ref, from loose and packed refs; empty if there is none.

    If one of git's files cannot be read, the result may be empty as well; if
    ``strict``, OSError is raised.
    """
    for _ in range(_MAX_SYMREFS):
        if ".." in ref:
            return ""  # no ref has that, and as a path it would lead elsewhere
        place = repository.gitdir if ref == "HEAD" else repository.common
        text = _read_text(f"{place}/{ref}", strict=strict).strip()
        text = text or _packed_refs(repository, strict=strict).get(ref, "")
        target = text.removeprefix("ref:").strip()
        if target == text:
            return text
        ref = target
    return ""


def target_of(repository: Repository, ref: str) -> str:
    """The ref that a symbolic ref points to; empty if it is not symbolic."""
    text = _read_text(f"{repository.common}/{ref}").strip()
    target = text.removeprefix("ref:").strip()
    return "" if target == text else target


def _packed_refs(repository: Repository, *, strict: bool = False) -> dict[str, str]:
    """The commit of each packed ref, by the ref's name."""
    path = f"{repository.common}/packed-refs"
    # Not splitlines(): a ref's name may have characters that end a line there.
    lines = _read_text(path, strict=strict).split("\n")
    pairs = (line.partition(" ") for line in lines)
    return {name: commit for commit, _, name in pairs if name.startswith("refs/")}


def has_branch(repository: Repository, branch: str) -> bool:
    """Whether a branch exists: local, or fetched from any remote."""
    if resolve(repository, f"refs/heads/{branch}"):
        return True
    return bool(remote_branches(repository, branch))


def branch_commit(repository: Repository, branch: str) -> str:
    """The commit of a branch: local, otherwise fetched; empty if there is none."""
    refs = (
        f"refs/remotes/{remote}/{branch}"
        for remote in remote_branches(repository, branch)
    )
    local = resolve(repository, f"refs/heads/{branch}")
    return local or next(filter(None, (resolve(repository, ref) for ref in refs)), "")


def branches_in_the_way(repository: Repository, branch: str) -> list[str]:
    """The branches beside which git cannot make ``branch``, sorted: ``a`` and ``a/b``
    cannot both exist."""
    prefix = f"{repository.common}/refs/heads/"
    parents = [branch[:at] for at, letter in enumerate(branch) if letter == "/"]
    children = {
        f"{folder}/{name}".removeprefix(prefix)
        for folder, _, names in os.walk(f"{prefix}{branch}")
        for name in names
    }
    packed = f"refs/heads/{branch}/"
    children |= {
        name.removeprefix("refs/heads/")
        for name in _packed_refs(repository)
        if name.startswith(packed)
    }
    names = (*parents, *children)
    return sorted(name for name in names if resolve(repository, f"refs/heads/{name}"))


def remote_branches(repository: Repository, branch: str) -> list[str]:
    """The remotes from which ``branch`` has been fetched, sorted.

    ``refs/remotes/a/b/<branch>`` belongs to the remote ``a/b`` if there is
    one; otherwise it is another branch of the remote ``a``.
    """
    prefix, suffix = f"{repository.common}/refs/remotes/", f"/{branch}"
    candidates = {
        folder.removeprefix(prefix)
        for folder, _, _ in os.walk(prefix)
        if os.path.isfile(f"{folder}{suffix}")
    }
    candidates |= {
        name.removeprefix("refs/remotes/").removesuffix(suffix)
        for name in _packed_refs(repository)
        if name.startswith("refs/remotes/") and name.endswith(suffix)
    }
    config_text = _read_text(f"{repository.common}/config")
    return sorted(
        name
        for name in candidates
        if name and ("/" not in name or f'"{name}"' in config_text)
    )


class Checkout(NamedTuple):
    """A worktree that has a certain branch checked out, or should have.

    ``path`` is its root, ``admin`` the folder with git's record of it.
    ``points_to`` is the git directory in ``<path>/.git``: equal to ``admin``
    if all is well, empty if there is no such file. ``finished`` is false
    while git is still making the worktree, or died during that. ``away`` says
    what is checked out instead of the branch: "a rebase" of it, "another
    commit", or another branch; empty if all is well.
    """

    path: str
    admin: str
    points_to: str
    finished: bool = True
    away: str = ""

    @property
    def trusted(self) -> bool:
        """Whether the worktree and git's record of it point to each other."""
        return self.points_to == self.admin


def checkouts_of(repository: Repository, branch: str) -> list[Checkout]:
    """The worktrees that have ``branch`` checked out, the main one first.

    After them come worktrees that will return to it: in the middle of a rebase of the
    branch, or locked by wc, which uses them only for this branch.
    """
    checkouts = []
    folder, base = os.path.split(repository.common)
    away = _away_from(repository.common, branch)
    if base == ".git" and away is not None:
        common = repository.common
        checkouts.append(Checkout(folder, common, common, away=away))
    for admin in admins_of(repository):
        away = _away_from(admin, branch)
        if away is not None:
            checkouts.append(checkout_at(admin, away))
    return sorted(checkouts, key=lambda checkout: bool(checkout.away))


def admins_of(repository: Repository) -> list[str]:
    """The folders with git's records of linked worktrees, sorted."""
    folder = f"{repository.common}/worktrees"
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    except OSError:
        return []  # a repository without linked worktrees has no such folder


def has_linked_besides(repository: Repository, branch: str) -> bool:
    """Whether there are linked worktrees besides one that has ``branch`` checked
    out."""
    admins = admins_of(repository)
    if len(admins) == 1:
        return _away_from(admins[0], branch) is None
    return bool(admins)


def checkout_at(admin: str, away: str = "") -> Checkout:
    """The linked worktree that the folder ``admin`` is git's record of."""
    target = _read_text(f"{admin}/gitdir").rstrip("\n")
    dot_git = os.path.join(admin, target) if target else ""
    path = os.path.realpath(os.path.dirname(dot_git)) if dot_git else ""
    finished = lock_reason(admin) != UNFINISHED
    return Checkout(path, admin, pointed_dir(f"{path}/.git"), finished, away)


def is_begun(admin: str) -> bool:
    """Whether git has written nothing but zeros as the HEAD of a linked worktree: it
    was killed before it wrote what is checked out there."""
    return set(_read_text(f"{admin}/HEAD").strip()) == {"0"}


def lock_reason(admin: str) -> str | None:
    """The reason of a linked worktree's lock, maybe empty; ``None`` without a lock."""
    path = f"{admin}/locked"
    return _read_text(path).strip() if os.path.lexists(path) else None


def _away_from(gitdir: str, branch: str) -> str | None:
    """What a worktree of ``branch`` has checked out instead; empty if it is the branch.

    ``None`` for a worktree that is unrelated to the branch.
    """
    head = head_branch(gitdir)
    if head == branch:
        return ""
    if not head and rebased_branch(gitdir) == branch:
        return "a rebase"
    if lock_reason(gitdir) == LOCK_REASON:
        return f"the branch {head}" if head else "another commit"
    return None


def rebased_branch(gitdir: str) -> str:
    """The branch that git-rebase(1) is rebasing in a worktree; empty if none."""
    for folder in ("rebase-merge", "rebase-apply"):
        name = _read_text(f"{gitdir}/{folder}/head-name").strip()
        if name.startswith("refs/heads/"):
            return name.removeprefix("refs/heads/")
    return ""


def working_branch(gitdir: str) -> str:
    """The branch that is checked out or being rebased in a worktree; empty if none."""
    return head_branch(gitdir) or rebased_branch(gitdir)


def worktrees(repository: Repository) -> list[tuple[str, str]]:
    """The root and the branch of each linked worktree on git's record. The branch may
    be one that is being rebased."""
    trees = linked_worktrees(repository)
    return [(tree.top, tree.working_branch) for tree in trees]


def linked_worktrees(repository: Repository) -> list[Repository]:
    """The repository as seen from each linked worktree on git's record."""
    trees = []
    for admin in admins_of(repository):
        target = _read_text(f"{admin}/gitdir").rstrip("\n")
        path = os.path.dirname(os.path.join(admin, target))
        trees.append(Repository(repository.common, admin, path))
    return trees
