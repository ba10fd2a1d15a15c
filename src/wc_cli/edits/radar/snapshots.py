"""Snapshots of worktrees: commits of everything that has changed.

A snapshot is made in a separate index, so that neither the index nor a file of the
worktree is touched. It leaves out ignored files, files that look like secrets, and
large ones.
"""

from __future__ import annotations

import os
import stat
import time

from wc_cli.ledger.branch.git import NO_NETWORK, OWN_FILES, Git
from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple
from wc_core.edits.radar.secrets import looks_secret
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.edits.radar.objects import Objects
    from wc_core.ledger.git.repository import Repository

# Larger than any source file.
MAX_BYTES = 8 << 20
# More untracked files, or more bytes in them, aren't someone's work but a folder that
# should be ignored.
_MAX_UNTRACKED = 2000
_MAX_UNTRACKED_BYTES = 64 << 20
# Coarser than the clock of any known file system: files that changed later than this
# may change again without a trace.
_MARGIN_NS = 100_000_000
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z"),
    *("--untracked-files=all", "--no-renames", *OWN_FILES),
)
# How many words precede the path in each kind of line.
_WORDS_BEFORE = {b"1": 8, b"u": 10, b"?": 1}
# The address of the author of all snapshots.
SNAPSHOT_AUTHOR = "watercooler@localhost"
_IDENT = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "Watercooler"),
        ("EMAIL", SNAPSHOT_AUTHOR),
        # Equal content must give equal commits: results are cached by commit id.
        ("DATE", "1767225600 +0000"),
    )
}


class WorktreeState(NamedTuple):
    """The state of a worktree, from git.

    - ``head``: the commit that is checked out; empty before the first one
    - ``paths``: the changed paths, as bytes relative to its top
    - ``left_out``: how many changed files must not get into a snapshot
    - ``changed_ns``: the latest change of any of them, 0 if unknown
    - ``digest``: equal as long as nothing changes; empty if that is unknown
    """

    head: str = ""
    paths: tuple[bytes, ...] = ()
    left_out: int = 0
    changed_ns: int = 0
    digest: str = ""


def worktree_git(repository: Repository, env: Mapping[str, str], until: float) -> Git:
    """Git in a worktree, with the user's settings for how files are read."""
    names = ("core.autocrlf", "core.sparsecheckout")
    values = config.get_all(names, repository, env)
    options = [f"{name}={value}" for name, value in values.items() if value]
    words = tuple(word for option in options for word in ("-c", option))
    return Git(repository.top, {**env, **NO_NETWORK}, until=until, options=words)


def read_state(git: Git, top: str) -> WorktreeState:
    """The changes in the worktree at ``top``. Raises GitError."""
    now_ns = time.time_ns()
    output = git.run(*_STATUS)
    digest = hashlib.new("sha256", output, usedforsecurity=False)
    head = ""
    changes: list[bytes] = []
    untracked: list[bytes] = []
    for line in output.split(b"\0"):
        kind = line[:1]
        if line.startswith(b"# branch.oid "):
            oid = line.rpartition(b" ")[2].decode()
            head = "" if oid == "(initial)" else oid
        elif kind in _WORDS_BEFORE:
            chosen = untracked if kind == b"?" else changes
            chosen.append(line.split(b" ", _WORDS_BEFORE[kind])[-1])
    paths, left_out, latest = [], 0, 0
    if _are_too_many(untracked, top):
        left_out, untracked = len(untracked), []
    for path in (*changes, *untracked):
        place = os.path.join(os.fsencode(top), path)
        info = _info(place)
        if info is not None:
            stamp = f"{info.st_mtime_ns} {info.st_size} {info.st_ino} {info.st_mode}\n"
            digest.update(stamp.encode())
            latest = max(latest, info.st_mtime_ns)
        if _may_be_kept(path, info) and _is_readable(place, info):
            paths.append(path)
        else:
            left_out += 1
    settled = latest < now_ns - _MARGIN_NS
    key = digest.hexdigest() if settled else ""
    return WorktreeState(head, tuple(paths), left_out, latest, key)


def _are_too_many(untracked: list[bytes], top: str) -> bool:
    """Return whether untracked files are too many or too large in total. A single large
    file does not count: it never gets into a snapshot."""
    if len(untracked) > _MAX_UNTRACKED:
        return True
    places = (os.path.join(os.fsencode(top), path) for path in untracked)
    infos = filter(None, map(_info, places))
    sizes = (info.st_size for info in infos if info.st_size <= MAX_BYTES)
    return sum(sizes) > _MAX_UNTRACKED_BYTES


def _info(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _may_be_kept(path: bytes, info: os.stat_result | None) -> bool:
    """Return whether the content of a changed file may get into a snapshot. A path that
    ends in a slash is a separate repository."""
    if path.endswith(b"/") or looks_secret(os.fsdecode(path)):
        return False
    if info is None or stat.S_ISDIR(info.st_mode):  # deleted, or a submodule
        return True
    is_small_file = stat.S_ISREG(info.st_mode) and info.st_size <= MAX_BYTES
    return is_small_file or stat.S_ISLNK(info.st_mode)


def _is_readable(place: bytes, info: os.stat_result | None) -> bool:
    """Return whether git can read a changed file. An unreadable one would make the
    whole snapshot fail."""
    is_file = info is not None and stat.S_ISREG(info.st_mode)
    return not is_file or os.access(place, os.R_OK)


def take(git: Git, state: WorktreeState, objects: Objects, name: str) -> str:
    """Make the snapshot of a worktree. Returns its commit: HEAD, if nothing has
    changed.

    ``name`` is a file name that no concurrent snapshot has. Raises GitError.
    """
    if not state.paths:
        return state.head
    env = objects.snapshot_env(f"{objects.temporary}/index-{name}")
    return commit_of(git, state, env)


def commit_of(git: Git, state: WorktreeState, env: Mapping[str, str]) -> str:
    """The commit of a worktree, made in the index from ``env``: HEAD, if nothing has
    changed. Raises GitError."""
    if not state.paths:
        return state.head
    git.run("read-tree", state.head, env=env)
    feed = b"".join(_terminated(state.paths))
    git.run("update-index", *_UPDATE, feed=feed, env=env)
    tree = git.line("write-tree", env=env)
    words = ("commit-tree", tree, "-p", state.head)
    return git.line(*words, feed=b"uncommitted changes\n", env={**env, **_IDENT})


_UPDATE = ("--add", "--remove", "--replace", "-z", "--stdin")


def _terminated(paths: tuple[bytes, ...]) -> Iterator[bytes]:
    for path in paths:
        yield path
        yield b"\0"
