"""Commits on the branch of the store, made with plumbing.

git-fast-import(1) checks that the branch is where we think it is; neither the
repository of the code nor any file of the store is touched.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch.git import Git, GitError, GitKilledError
from wc_cli.store import durable
from wc_core.errors import StorageError
from wc_core.files import names_in, read_plain
from wc_core.git import repository
from wc_core.layout import BRANCH
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.git.repository import Repository

_MAX_PATHS = 400
# Longer than any git holds the lock of a ref.
_MOMENT = 0.5
_REPORT = "fast_import_crash_"
# Never there: git-fast-import wants a name for what it makes.
_UNSIGNED = "refs/watercooler-unsigned"
_NO_COMMIT = "0" * 40
# How long whoever signs may take.
_SIGNING = 10.0


class CommitChange(NamedTuple):
    """A file of the store as it is to be committed: with these bytes, or as the
    ``blob`` that git has already; with neither it goes."""

    path: str
    data: bytes | None = None
    blob: str = ""
    mode: str = "100644"


class Committed(NamedTuple):
    """A file as the branch has it: the id of its blob and its length."""

    blob: str
    size: int


class How(NamedTuple):
    """How a commit is made: signed or not; and what git and git-fast-import
    are told about where it is stored, see `packing.how`."""

    sign: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


PLAIN = How()


def checkout_at(root: str) -> Repository:
    """The repository of a store that wc commits. Raises GitError if there is none."""
    checkout = repository.find(root)
    if checkout is None:
        raise GitError(f"{root} is not in git any more")
    return checkout


def tip(checkout: Repository) -> str:
    """The commit that the branch is at, in a store's checkout.

    Raises GitError if something else is checked out there, or nothing any more.
    """
    if checkout.branch == BRANCH:
        return checkout.commit
    if not os.path.lexists(f"{checkout.top}/.git"):
        raise GitError(f"{checkout.top} is not in git any more")
    raise GitError(why_away(checkout))


def why_away(where: Repository) -> str:
    """Why nothing is committed in a folder that is to have the branch, and
    has something else; with what mends it."""
    top = one_line(where.top)
    said = f"{top} is not on the branch {BRANCH}"
    if repository.rebased_branch(where.gitdir) == BRANCH:
        return f"{said} while it is rebased: git rebase --continue, or --abort"
    return f"{said}: git -C {top} switch {BRANCH}"


def check_unread(root: str) -> None:
    """Raise GitError if a store only looked like one that nobody commits: when
    the disk did not let us read git's files."""
    if os.path.lexists(f"{root}/.git"):
        where = repository.find(root)
        if where is None or where.top != root or where.branch == BRANCH:
            raise GitError("git's own files could not be read")


def committed_files(
    git: Git, commit: str, paths: Iterable[str]
) -> dict[str, Committed]:
    """Those of ``paths`` that ``commit`` has."""
    wanted = set(paths)
    # A command line has room for so many; all of the tree is not much more.
    named = [] if len(wanted) > _MAX_PATHS else sorted(wanted)
    found = committed_below(git, commit, *named)
    return {path: one for path, one in found.items() if path in wanted}


def committed_below(git: Git, commit: str, *paths: str) -> dict[str, Committed]:
    """What ``commit`` has at or below ``paths``; all of it without any."""
    if not commit:
        return {}
    out = git.run("ls-tree", "-z", "-l", "-r", commit, "--", *paths)
    found = {}
    for record in out.split(b"\0"):
        info, _, path = record.partition(b"\t")
        if path:
            _, _, blob, size = info.split()
            found[os.fsdecode(path)] = Committed(blob.decode(), int(size))
    return found


def is_committed(change: CommitChange, have: Mapping[str, Committed]) -> bool:
    """Whether a file is among those that a commit has, with these bytes."""
    there = have.get(change.path)
    if there is None:
        return not change.data
    return blob_id(change.data or b"", there.blob) == there.blob


def empty_tree(git: Git) -> str:
    """The tree with nothing in it, which every repository knows."""
    return git.line("hash-object", "-t", "tree", "--stdin")


def apart(git: Git, ours: str, theirs: str) -> tuple[int, int]:
    """How many commits ``ours`` has that ``theirs``, which may be none, has not,
    and the other way round."""
    if ours == theirs:
        return 0, 0
    if not theirs:
        return int(git.line("rev-list", "--count", ours)), 0
    out = git.line("rev-list", "--left-right", "--count", f"{ours}...{theirs}")
    ahead, behind = out.split()
    return int(ahead), int(behind)


def move(git: Git, ours: str, theirs: str) -> None:
    """Move the branch from ``ours`` to ``theirs``; raises GitError, the branch
    being where it was, if it is not at ``ours``."""
    reason = ("-m", "wc: taken over")
    git.run("update-ref", *reason, f"refs/heads/{BRANCH}", theirs, ours)


def blob_id(data: bytes, like: str) -> str:
    """The id git gives ``data``, in the hash that ``like`` is one of."""
    sha1_length = 40
    # The hash of git's object format, not a matter of security.
    algorithm = "sha1" if len(like) == sha1_length else "sha256"
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def commit(
    git: Git,
    changes: Iterable[CommitChange],
    message: str,
    parents: tuple[str, ...],
    how: How = PLAIN,
) -> str:
    """Put one commit on the branch, if it still is at the first of ``parents``:
    with these changes to the tree of that. Its id.

    Raises GitError, the branch being where it was: for a branch that moved,
    an identity git does not have, a repository that cannot be written, a
    signature that cannot be had.
    """
    author = git.line("var", "GIT_AUTHOR_IDENT")
    committer = git.line("var", "GIT_COMMITTER_IDENT")
    ref = _UNSIGNED if how.sign else f"refs/heads/{BRANCH}"
    parts = [f"commit {ref}\nmark :1\n".encode()]
    parts.append(f"author {author}\ncommitter {committer}\n".encode(errors="replace"))
    parts.append(_data(message.encode(errors="replace")))
    for word, parent in zip(("from", "merge"), parents, strict=False):
        parts.append(f"{word} {parent}\n".encode())
    # A folder that becomes a file, or the other way round: what goes, first.
    parts += map(_told, sorted(changes, key=_stays))
    if how.sign:
        # What it stored is in no ref: a tree is all that is wanted.
        parts.append(f'\nls :1 ""\nreset {_UNSIGNED}\n'.encode())
        parts.append(
            b"from %b\n\n" % (b"0" * len(parents[0] if parents else _NO_COMMIT))
        )
    else:
        parts.append(b"\nget-mark :1\n")
    parts.append(b"done\n")
    words = (*how.before, "fast-import", "--done", "--quiet", *how.after)
    out = git.line(*words, feed=b"".join(parts))
    if not how.sign:
        return out
    signed = _signed(git, out.split()[2], message, parents)
    git.run("update-ref", f"refs/heads/{BRANCH}", signed, *parents[:1])
    return signed


def _signed(git: Git, tree: str, message: str, parents: tuple[str, ...]) -> str:
    """A commit with the user's signature; whoever is asked for it has little
    time, and no terminal. Raises GitError."""
    patient, git.until = git.until, min(git.until, time.monotonic() + _SIGNING)
    words = [word for parent in parents for word in ("-p", parent)]
    try:
        feed = message.encode(errors="replace")
        return git.line("commit-tree", "-S", *words, tree, feed=feed)
    except GitKilledError as error:
        # git had nothing in hand that it could leave behind.
        raise GitError(f"no signature: {error}") from error
    finally:
        git.until = patient


def _stays(change: CommitChange) -> bool:
    return change.data is not None or bool(change.blob)


def _told(change: CommitChange) -> bytes:
    """A change in the words of git-fast-import."""
    path = _quoted(change.path)
    if change.data is not None:
        told = b"M %b inline %b\n" % (change.mode.encode(), path)
        return told + _data(change.data)
    if change.blob:
        return f"M {change.mode} {change.blob} ".encode() + path + b"\n"
    return b"D %b\n" % path


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """A path in fast-import's C style, every unusual byte in octal."""
    raw = os.fsencode(path)
    quoted = (
        bytes([one]) if 0x20 <= one < 0x7F and one not in b'"\\' else b"\\%03o" % one  # noqa: PLR2004
        for one in raw
    )
    return b'"' + b"".join(quoted) + b'"'


def remove_left_locks(where: Repository, since_ns: int) -> None:
    """Remove the locks that a git of ours, killed while it moved the branch at
    ``since_ns`` or later, left there for good.

    The caller holds the lock that every git of ours inherits, so none is at
    work; anybody else's lives for a moment only.
    """
    for path in (
        f"{where.common}/refs/heads/{BRANCH}.lock",
        f"{where.gitdir}/HEAD.lock",
    ):
        left = _changed_ns(path)
        if left >= since_ns:
            time.sleep(_MOMENT)
            if _changed_ns(path) == left:
                durable.remove(path)
    # What keeps git from ever packing again what git-fast-import left.
    folder = f"{where.common}/objects/pack"
    for name in names_in(folder):
        path = f"{folder}/{name}"
        if not name.endswith(".keep") or _changed_ns(path) < since_ns:
            continue
        if (read_plain(path) or b"").strip() == b"fast-import":
            durable.remove(path)


def remove_reports(where: Repository) -> None:
    """Remove what git-fast-import leaves for us to read when it fails."""
    for name in names_in(where.gitdir):
        if name.startswith(_REPORT):
            durable.remove(f"{where.gitdir}/{name}")


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return -1


def refresh_index(git: Git, where: Repository) -> None:
    """Make the checkout's index agree with its branch, so that ``git status``
    there is clean; no file is touched.

    git works on a copy: were it killed, its lock file would stay, and nobody
    could tell it from the lock of somebody at work. Raises GitError.
    """
    index, copy = f"{where.gitdir}/index", f"{where.gitdir}/index.wc"
    try:
        for left in (copy, f"{copy}.lock"):
            durable.remove(left)
        data = read_plain(index)
        if data is not None:
            durable.write_new(copy, data)
        # -i: the files are newer than the index, and that is all right; --reset:
        # so are conflicts that somebody's merge left there.
        git.run("read-tree", "-i", "--reset", "HEAD", env={"GIT_INDEX_FILE": copy})
        os.replace(copy, index)
    except (OSError, StorageError) as error:
        raise GitError(f"the index cannot be written: {error}") from error


def tracked(root: str, folder: str, env: Mapping[str, str]) -> list[str]:
    """The files below ``folder`` that a checkout has under version control."""
    out = Git(root, env).run("ls-files", "-z", "--", folder)
    return [os.fsdecode(one) for one in out.split(b"\0") if one]
