"""The only code that runs git.

Hooks are off, nothing prompts, and the repository of the code is left alone:
its index, work tree, stash and branches. Commits are made with plumbing
(git-fast-import(1)) that checks the branch is where we think it is.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
from typing import NamedTuple

from wc_cli import durable, locks
from wc_core import discovery, repository
from wc_core.errors import NotFoundError, StorageError
from wc_core.files import names_in, read_plain
from wc_core.layout import ATTRIBUTES, BRANCH, IGNORED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.discovery import Place
    from wc_core.repository import Repository

# git --local-env-vars: what a hook or an alias of another repository leaves
# in the environment must not redirect us.
_LOCAL_VARIABLES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}
    | {"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG"}
    | {"GIT_CONFIG_PARAMETERS", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE"}
    | {"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE"}
    | {"GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_LITERAL_PATHSPECS"}
)
_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.autocrlf=false"),
    *("-c", "core.sparseCheckout=false"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "gc.autoDetach=false"),
    # Its daemon would outlive us, with the lock that it inherits.
    *("-c", "core.fsmonitor=false"),
)
_SECONDS = 60
_MAX_PATHS = 400
# Longer than any git holds the lock of a ref.
_MOMENT = 0.5
_REPORT = "fast_import_crash_"

# The first commit of a store is the same everywhere, so that two clones that
# each start one from nothing still share their history's root.
_ROOT_DATE = "1767225600 +0000"
_ROOT_IDENT = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "Watercooler"),
        ("EMAIL", "watercooler@localhost"),
        ("DATE", _ROOT_DATE),
    )
}


class GitError(Exception):
    """git said no; the text is git's own, without paths of ours."""


class GitKilledError(GitError):
    """git did not end by itself, so it could not tidy up after itself."""


class Git:
    """git in one repository: at ``folder``, or with ``--git-dir``.

    Every git inherits ``handle``, the lock of whoever runs it: it is held
    until the last of them has ended, even if we are killed.
    """

    def __init__(
        self,
        where: str,
        env: Mapping[str, str],
        *,
        bare: bool = False,
        handle: int | None = None,
    ) -> None:
        self.prefix = ("--git-dir", where) if bare else ("-C", where)
        self.inherited = () if handle is None else (handle,)
        clean = {k: v for k, v in env.items() if k not in _LOCAL_VARIABLES}
        self.env = {
            **clean,
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            **_author(env),
        }

    def run(self, *words: str, feed: bytes = b"", env: Mapping[str, str] = {}) -> bytes:
        """What git prints. Raises GitError."""
        try:
            git = subprocess.Popen(  # noqa: S603 - words of ours, no shell
                ["git", *self.prefix, *_OPTIONS, *words],  # noqa: S607
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.env, **env},
                pass_fds=self.inherited,
                # A group of its own: what git starts ends with it.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise GitError("git is not installed") from error
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from error
        with git:
            try:
                out, err = git.communicate(feed, _SECONDS)
            except subprocess.TimeoutExpired as error:
                os.killpg(git.pid, signal.SIGKILL)
                message = f"git {words[0]} took over {_SECONDS} s"
                raise GitKilledError(message) from error
        if git.returncode < 0:
            raise GitKilledError(f"git {words[0]} was killed")
        if git.returncode:
            raise GitError(_reason(err) or f"git {words[0]} failed")
        return out

    def line(self, *words: str, feed: bytes = b"", env: Mapping[str, str] = {}) -> str:
        """What git prints, as one line of text."""
        return os.fsdecode(self.run(*words, feed=feed, env=env)).strip()


def _reason(stderr: bytes) -> str:
    """The sentence of git's that says why: its first fatal one, else its last."""
    lines = [one for one in os.fsdecode(stderr).splitlines() if one.strip()]
    fatal = [one for one in lines if one.startswith(("fatal:", "error:"))]
    return (fatal[:1] or lines[-1:] or [""])[0].removeprefix("fatal: ")


def _author(env: Mapping[str, str]) -> dict[str, str]:
    """Our own variables for whose name stands on commits."""
    result: dict[str, str] = {}
    for ours, part in (("AUTHOR", "NAME"), ("EMAIL", "EMAIL")):
        value = env.get(f"WATERCOOLER_GIT_{ours}", "")
        if value:
            result |= {f"GIT_AUTHOR_{part}": value, f"GIT_COMMITTER_{part}": value}
    return result


def ensure_checkout(place: Place, cwd: str, env: Mapping[str, str]) -> str:
    """Check out the store's branch of a repository, made or adopted; its root.

    The branch is taken as it is, local or already fetched, whoever wrote it.
    Nothing is asked of the network. Raises StorageError with git's reason.
    """
    where = place.repository
    if where is None:
        raise NotFoundError("This is not a git repository.", "Run wc in one.")
    durable.make_folder(os.path.dirname(place.root))
    lock = locks.acquire(f"{place.root}.lock", "wc init", _SECONDS)
    try:
        again = repository.checkouts_of(where, BRANCH)
        if any(one.trusted and one.finished for one in again):
            return discovery.find(cwd, env).root
        unfinished = {one.path for one in again if not one.finished}
        for path in {place.root, *unfinished}:
            _set_unfinished_aside(path, known=path in unfinished)
        recorded = [os.path.realpath(path) for path, _ in repository.worktrees(where)]
        git = Git(where.common, env, bare=True, handle=lock)
        try:
            _ensure_branch(git, where)
            missing = bool(again) or place.root in recorded
            _add_worktree(git, place.root, missing=missing)
        except GitError as error:
            raise StorageError(
                f"The store could not be checked out: {error}.",
                "Run the same command again when that is mended; see also: wc doctor",
            ) from error
    finally:
        os.close(lock)
    return place.root


def _set_unfinished_aside(path: str, *, known: bool) -> None:
    """Move away a checkout whose making was interrupted; nobody else is at it,
    for we hold the lock. One that git does not know yet is empty: a folder
    with anything in it may be somebody's store."""
    if not os.path.isdir(path):
        return
    if known or names_in(path) == [".git"]:
        os.rename(path, f"{path}.unfinished-{time.time_ns()}")


def _ensure_branch(git: Git, where: Repository) -> None:
    if repository.resolve(where, f"refs/heads/{BRANCH}"):
        return
    remotes = repository.remote_branches(where, BRANCH)
    if remotes:
        chosen = "origin" if "origin" in remotes else remotes[0]
        commit = git.line("rev-parse", f"refs/remotes/{chosen}/{BRANCH}")
    else:
        commit = _root_commit(git)
    git.run("update-ref", f"refs/heads/{BRANCH}", commit, "")


def _root_commit(git: Git) -> str:
    lines = []
    for name, text in ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)):
        blob = git.line("hash-object", "-w", "--stdin", feed=f"{text}\n".encode())
        lines.append(f"100644 blob {blob}\t{name}\n")
    tree = git.line("mktree", feed="".join(lines).encode())
    message = b"Start the store of threads\n"
    return git.line("commit-tree", tree, feed=message, env=_ROOT_IDENT)


def _add_worktree(git: Git, root: str, *, missing: bool) -> None:
    # Forced twice: git keeps the record of a checkout that is gone, locked.
    force = ["-f", "-f"] if missing else []
    git.run("worktree", "add", *force, "--quiet", root, BRANCH)
    reason = "the store of wc: its threads live here"
    git.run("worktree", "lock", "--reason", reason, root)


class Change(NamedTuple):
    """A file of the store as it is to be committed."""

    path: str
    data: bytes


class Committed(NamedTuple):
    """A file as the branch has it: the id of its blob and its length."""

    blob: str
    size: int


def tip(root: str) -> tuple[Repository, str]:
    """The repository of a checkout and the commit its branch is at."""
    where = repository.find(root)
    if where is None or where.branch != BRANCH:
        raise GitError(f"{root} does not have the branch {BRANCH} checked out")
    return where, where.commit


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


def blob_id(data: bytes, like: str) -> str:
    """The id git gives ``data``, in the hash that ``like`` is one of."""
    sha1_length = 40
    # The hash of git's object format, not a matter of security.
    algorithm = "sha1" if len(like) == sha1_length else "sha256"
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def commit(git: Git, changes: list[Change], message: str, parent: str) -> None:
    """Put one commit on the branch, if it still is at ``parent``.

    Raises GitError, the branch being where it was: for a branch that moved,
    an identity git does not have, a repository that cannot be written.
    """
    author = git.line("var", "GIT_AUTHOR_IDENT")
    committer = git.line("var", "GIT_COMMITTER_IDENT")
    parts = [f"commit refs/heads/{BRANCH}\n".encode()]
    parts.append(f"author {author}\ncommitter {committer}\n".encode(errors="replace"))
    parts.append(_data(message.encode(errors="replace")))
    if parent:
        parts.append(f"from {parent}\n".encode())
    for change in changes:
        parts.append(b"M 100644 inline " + _quoted(change.path) + b"\n")
        parts.append(_data(change.data))
    parts.append(b"done\n")
    git.run("fast-import", "--done", "--quiet", feed=b"".join(parts))


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
        # -i: the files are newer than the index, and that is all right.
        git.run("read-tree", "-i", "-m", "HEAD", env={"GIT_INDEX_FILE": copy})
        os.replace(copy, index)
    except (OSError, StorageError) as error:
        raise GitError(f"the index cannot be written: {error}") from error


def tidy(git: Git) -> None:
    """Run git's own automatic maintenance, when it thinks it is time."""
    git.run("gc", "--auto", "--quiet")


def version(env: Mapping[str, str]) -> tuple[int, ...]:
    """The version of git, as numbers. Raises GitError without git."""
    words = Git(os.sep, env).line("version").split()
    numbers = words[2].split(".") if len(words) > 2 else []  # noqa: PLR2004
    return tuple(int(one) for one in numbers if one.isdecimal())


def tracked(root: str, folder: str, env: Mapping[str, str]) -> list[str]:
    """The files below ``folder`` that a checkout has under version control."""
    out = Git(root, env).run("ls-files", "-z", "--", folder)
    return [os.fsdecode(one) for one in out.split(b"\0") if one]
