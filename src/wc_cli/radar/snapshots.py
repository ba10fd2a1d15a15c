"""Snapshots of worktrees: a commit with what is not committed yet.

An index of its own takes what HEAD has and the changed and new files, and becomes a
tree. Ignored files are not in it, nor those that look like secrets or are very large.
"""

from __future__ import annotations

import hashlib
import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from wc_cli.branch.git import Git
from wc_cli.store import durable
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.git.worktrees import Worktree

# Names of files that often hold keys and passwords.
_SECRETS = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", ".npmrc", ".pypirc"),
    *("*credentials*", "*secret*", "*.keystore", ".htpasswd", "*.tfvars", "*.tfstate"),
)
_MAX_BYTES = 5 << 20
# One author and time for all: the same files are the same commit.
_IDENTITY = {
    f"GIT_{role}_{part}": text
    for role in ("AUTHOR", "COMMITTER")
    for part, text in (
        ("NAME", "wc radar"),
        ("EMAIL", "radar@watercooler.invalid"),
        ("DATE", "@0 +0000"),
    )
}


class TreeSnapshot(NamedTuple):
    """The commit of a snapshot, the ``key`` of the state that it was made of, and the
    files that it leaves out."""

    commit: str
    key: str
    left_out: tuple[str, ...] = ()


class SnapshotMaker:
    """Makes snapshots of worktrees, each with an index of its own that is removed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env

    def take(self, worktree: Worktree, previous: TreeSnapshot | None) -> TreeSnapshot:
        """The snapshot of a worktree: ``known`` if nothing changed since. Raises
        GitError, WcError, OSError."""
        git = Git(worktree.path, self.env)
        status = git.run("status", "--porcelain=v2", "-z", "-uall", "--no-renames")
        paths = [os.fsdecode(path) for path in _changed_paths(status)]
        key = _key(worktree, status, paths)
        if previous is not None and previous.key == key:
            return previous
        left_out = tuple(path for path in paths if _is_left_out(worktree.path, path))
        added = [path for path in paths if path not in left_out]
        if not added:
            return TreeSnapshot(worktree.commit, key, left_out)
        return TreeSnapshot(self._commit(git, worktree, added), key, left_out)

    def _commit(self, git: Git, worktree: Worktree, paths: list[str]) -> str:
        """A commit on HEAD with these files as they are."""
        index = f"{worktree.gitdir}/wc-radar-{os.getpid()}.index"
        env = {"GIT_INDEX_FILE": index}
        feed = b"".join(os.fsencode(path) + b"\0" for path in paths)
        words = ("--add", "--remove", "-z", "--stdin")
        try:
            git.run("read-tree", worktree.commit, env=env)
            git.run("update-index", *words, feed=feed, env=env)
            tree = git.line("write-tree", env=env)
        finally:
            durable.remove(index)
        parent = ("-p", worktree.commit)
        return git.line("commit-tree", tree, *parent, feed=b"wc radar\n", env=_IDENTITY)


def _changed_paths(status: bytes) -> Iterator[bytes]:
    """The paths in the output of git-status(1), porcelain v2 without renames."""
    for record in status.split(b"\0"):
        kind, _, rest = record.partition(b" ")
        fields = {b"1": 7, b"u": 9, b"?": 0}.get(kind)
        if fields is None:
            continue
        path = rest.split(b" ", fields)[-1]
        if not path.endswith(b"/"):  # a repository inside of the worktree
            yield path


def _key(worktree: Worktree, status: bytes, paths: list[str]) -> str:
    """A text that changes with HEAD, what git status says, and each changed file."""
    digest = hashlib.sha256(worktree.commit.encode() + b"\0" + status)
    for path in paths:
        try:
            info = os.lstat(f"{worktree.path}/{path}")
            digest.update(b"%d %d %d\0" % (info.st_mtime_ns, info.st_size, info.st_ino))
        except OSError:
            digest.update(b"gone\0")
    return digest.hexdigest()


def _is_left_out(root: str, path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if any(fnmatchcase(name, pattern) for pattern in _SECRETS):
        return True
    try:
        return os.lstat(f"{root}/{path}").st_size > _MAX_BYTES
    except OSError:
        return False
