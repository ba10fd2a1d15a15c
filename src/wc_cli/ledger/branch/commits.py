"""Makes commits on the store's branch, and reads them.

git-fast-import(1) writes the objects and checks that the branch has not moved. It
touches neither the code's work tree nor any file of the store.
"""

from __future__ import annotations

import os
import time
from itertools import chain

from wc_cli.ledger.branch.git import NO_NETWORK, Git, GitError, GitKilledError
from wc_cli.ledger.branch.packs import StorageOptions
from wc_cli.ledger.store import durable
from wc_core.base.errors import StorageError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import BRANCH
from wc_core.base.lean import hashlib
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.git.repository import Repository

_MAX_PATHS = 400
# Longer than any git process holds a ref's lock.
_REF_LOCK_SECONDS = 0.5
_REPORT = "fast_import_crash_"
# git-fast-import needs a ref for the commit it makes; this one is never created.
_UNSIGNED = "refs/watercooler-unsigned"
_NO_COMMIT = "0" * 40
# Limit for the program that signs.
_SIGNING_SECONDS = 10.0


class CommitChange(NamedTuple):
    """A file to commit: the bytes ``data``, or the ``blob`` that git already has. With
    neither, the file is removed."""

    path: str
    data: bytes | None = None
    blob: str = ""
    mode: str = "100644"


class Committed(NamedTuple):
    """A file on the branch: the id of its blob and its length; or a link or a submodule
    in the place of one."""

    blob: str
    size: int
    is_file: bool = True


class CommitOptions(NamedTuple):
    """The people that a commit names, whether it is signed, and how it is stored."""

    authorship: Authorship
    sign: bool = False
    storage: StorageOptions = StorageOptions()


def checkout_at(root: str) -> Repository:
    """The repository of a store that wc commits. Raises GitError if there is none."""
    checkout = repositories.find(root)
    if checkout is None:
        raise GitError(f"{root} is no longer in git")
    return checkout


def tip(checkout: Repository) -> str:
    """The commit that the branch points to, in a store's checkout.

    Raises GitError if the checkout is on another branch or has disappeared, or if the
    branch cannot be read: a branch without a commit would be another state.
    """
    if checkout.branch == BRANCH:
        try:
            repositories.check_common(checkout)
            return repositories.resolve(checkout, "HEAD", strict=True)
        except OSError as error:
            reason = f"{error.filename or checkout.gitdir}: {error.strerror}"
            raise GitError(f"the branch {BRANCH} cannot be read: {reason}") from error
    if not os.path.lexists(f"{checkout.top}/.git"):
        raise GitError(f"{checkout.top} is no longer in git")
    raise GitError(why_away(checkout))


def why_away(checkout: Repository) -> str:
    """The reason why nothing is committed in a checkout that is not on the store's
    branch, with the command that repairs it."""
    top = one_line(checkout.top)
    problem = f"{top} is not on the branch {BRANCH}"
    if repositories.rebased_branch(checkout.gitdir) == BRANCH:
        return f"{problem} while it is rebased: git rebase --continue, or --abort"
    return f"{problem}: git -C {top} switch {BRANCH}"


def check_unread(root: str) -> None:
    """Raise GitError if a store that seemed to be outside git is not: its git files
    could not be read before."""
    if os.path.lexists(f"{root}/.git"):
        checkout = repositories.find(root)
        if checkout is None or checkout.top != root or checkout.branch == BRANCH:
            raise GitError("git's own files could not be read")


def committed_files(
    git: Git, commit: str, paths: Iterable[str], *, below: tuple[str, ...] = ()
) -> dict[str, Committed]:
    """The files of a commit that are among ``paths`` or in the folders ``below``, by
    path."""
    requested = set(paths)
    # Command lines are limited in length; reading the whole tree costs little more.
    is_long = len(requested) > _MAX_PATHS
    arguments = [] if is_long else [*sorted(requested), *below]
    prefixes = tuple(f"{folder}/" for folder in below)
    files = committed_below(git, commit, *arguments)
    return {
        path: file
        for path, file in files.items()
        if path in requested or path.startswith(prefixes)
    }


def committed_below(git: Git, commit: str, *paths: str) -> dict[str, Committed]:
    """The files of a commit at or below ``paths``; without paths, all of them. Links
    and submodules, which a push may put anywhere, are no files."""
    if not commit:
        return {}
    out = git.run("ls-tree", "-z", "-l", "-r", commit, "--", *paths)
    files = {}
    for record in out.split(b"\0"):
        info, _, path = record.partition(b"\t")
        if path:
            mode, _, blob, size = info.split()
            length = int(size) if size.isdigit() else 0  # a submodule has none
            is_file = mode.startswith(b"100")
            files[os.fsdecode(path)] = Committed(blob.decode(), length, is_file)
    return files


def is_committed(change: CommitChange, have: Mapping[str, Committed]) -> bool:
    """Return whether ``have``, the files of a commit, include this one with these
    bytes."""
    committed = have.get(change.path)
    if committed is None or not _is_kept(change):
        return committed is None and not change.data and not change.blob
    if change.data is None:
        return change.blob == committed.blob
    return blob_id(change.data, committed.blob) == committed.blob


def empty_tree(git: Git) -> str:
    """The empty tree, which every repository has."""
    return git.line("hash-object", "-t", "tree", "--stdin")


def ahead_behind(git: Git, commit: str, upstream: str) -> tuple[int, int]:
    """The numbers of commits that only ``commit`` has and that only ``upstream`` has.
    ``upstream`` may be empty."""
    if commit == upstream:
        return 0, 0
    if not upstream:
        return int(git.line("rev-list", "--count", commit)), 0
    out = git.line("rev-list", "--left-right", "--count", f"{commit}...{upstream}")
    ahead, behind = out.split()
    return int(ahead), int(behind)


def move_branch(git: Git, old: str, new: str) -> None:
    """Move the branch from the commit ``old`` to ``new``. Raises GitError, and moves
    nothing, if it is not at ``old``."""
    reason = ("-m", "wc: taken over")
    git.run("update-ref", *reason, f"refs/heads/{BRANCH}", new, old)


def blob_id(data: bytes, like: str) -> str:
    """The blob id of ``data``, in the object format of the id ``like``."""
    named = b"blob %d\0%b" % (len(data), data)
    # Nothing here relies on its security.
    return hashlib.new(_algorithm(like), named, usedforsecurity=False).hexdigest()


def _algorithm(like: str) -> str:
    """The hash of git's object format."""
    sha1_length = 40
    return "sha1" if len(like) == sha1_length else "sha256"


def _hash_of(size: int, pieces: Iterable[bytes], like: str) -> str:
    """`blob_id` of ``size`` bytes that come in pieces."""
    # Of much data, the other implementation takes several times as long.
    head = b"blob %d\0" % size
    digest = hashlib.new(_algorithm(like), head, usedforsecurity=True)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def store(git: Git, like: str, size: int, pieces: Callable[[], Iterator[bytes]]) -> str:
    """The id of a blob of ``size`` bytes that comes in pieces, in the object format of
    the id ``like``; it is written unless git has it. Raises GitError, and what the
    ``pieces`` raise."""
    blob = _hash_of(size, pieces(), like)
    try:
        git.run("cat-file", "-e", blob, env=NO_NETWORK)
    except GitKilledError:
        raise
    except GitError:
        head = b"blob\nmark :1\ndata %d\n" % size
        feed = chain([head], pieces(), [b"\nget-mark :1\ndone\n"])
        # Unlike git-hash-object, it takes a large blob from a pipe in pieces.
        words = ("-c", "fastimport.unpackLimit=0", "fast-import", "--done", "--quiet")
        stored = git.line(*words, feed=feed)
        if stored != blob:
            raise GitError("a log changed while it was read") from None
    return blob


def commit(
    git: Git,
    changes: Iterable[CommitChange],
    message: str,
    parents: tuple[str, ...],
    options: CommitOptions,
) -> str:
    """Commit these changes to the first parent's tree on the branch. Returns its id.

    Raises GitError if the branch is not at the first of ``parents``, if the repository
    cannot be written or the commit cannot be signed; the branch has not moved then.
    """
    ref = _UNSIGNED if options.sign else f"refs/heads/{BRANCH}"
    variables = person_variables(options.authorship)
    parts = [_header(git, variables, ref, message, parents)]
    # Removals first: a folder may become a file, or vice versa.
    parts += map(_fast_import_line, sorted(changes, key=_is_kept))
    if options.sign:
        # Only the tree is needed: the signed commit is made from it afterwards.
        no_commit = b"0" * len(parents[0] if parents else _NO_COMMIT)
        parts.append(f'\nls :1 ""\nreset {_UNSIGNED}\n'.encode())
        parts.append(b"from %b\n\n" % no_commit)
    else:
        parts.append(b"\nget-mark :1\n")
    parts.append(b"done\n")
    storage = options.storage
    words = (*storage.git, "fast-import", "--done", "--quiet", *storage.fast_import)
    out = git.line(*words, feed=parts, env=variables)
    if not options.sign:
        return out
    tree = out.split()[2]
    signed = _signed_commit(git, tree, message, parents, options.authorship)
    git.run("update-ref", f"refs/heads/{BRANCH}", signed, *parents[:1], env=variables)
    return signed


def person_variables(authorship: Authorship) -> dict[str, str]:
    """Git's variables for the author and the committer of a commit."""
    author, committer = authorship.author, authorship.committer
    return {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": committer.name,
        "GIT_COMMITTER_EMAIL": committer.email,
    }


def _header(
    git: Git,
    variables: Mapping[str, str],
    ref: str,
    message: str,
    parents: tuple[str, ...],
) -> bytes:
    """The header of a commit in git-fast-import's format."""
    author = _ident(git, "AUTHOR", variables)
    committer = _ident(git, "COMMITTER", variables)
    parts = [f"commit {ref}\nmark :1\n".encode()]
    parts.append(f"author {author}\ncommitter {committer}\n".encode(errors="replace"))
    parts.append(_data_block(message.encode(errors="replace")))
    for word, parent in zip(("from", "merge"), parents, strict=False):
        parts.append(f"{word} {parent}\n".encode())
    return b"".join(parts)


def _ident(git: Git, role: str, variables: Mapping[str, str]) -> str:
    """A person with the current time, as commits name them. Asks git only for a name it
    would change or refuse, or if the time comes from elsewhere."""
    name, email = variables[f"GIT_{role}_NAME"], variables[f"GIT_{role}_EMAIL"]
    if f"GIT_{role}_DATE" not in git.env and _is_plain(name) and _is_plain(email):
        offset = time.strftime("%z", time.localtime())
        return f"{name} <{email}> {int(time.time())} {offset}"
    return git.line("var", f"GIT_{role}_IDENT", env=variables)


def _is_plain(text: str) -> bool:
    """Return whether git would use a name or an address unchanged."""
    ends = f"{text[:1]}{text[-1:]}"
    return text.isprintable() and ends.isalnum() and not set(text) & {"<", ">"}


def _signed_commit(
    git: Git, tree: str, message: str, parents: tuple[str, ...], authorship: Authorship
) -> str:
    """Make a commit signed by its committer, dated now. Returns its id.

    The program that signs has no terminal and little time. Raises GitError.
    """
    deadline = git.until
    git.until = min(deadline, time.monotonic() + _SIGNING_SECONDS)
    words = [word for parent in parents for word in ("-p", parent)]
    try:
        return git.line(
            *_signing_options(authorship),
            *("commit-tree", "-S", *words, tree),
            feed=message.encode(errors="replace"),
            env=person_variables(authorship),
        )
    except GitKilledError as error:
        # Nothing was being written, so there is nothing to tidy up.
        raise GitError(f"no signature: {error}") from error
    finally:
        git.until = deadline


def _signing_options(authorship: Authorship) -> tuple[str, ...]:
    """Git's options for the key of an authorship. Names the format and the key even if
    git would find them, because this process may be configured differently."""
    signing, key = authorship.format or "openpgp", authorship.key
    if not key and signing != "ssh":
        key = str(authorship.committer)  # as git chooses gpg's
    options = ("-c", f"gpg.format={signing}")
    return (*options, "-c", f"user.signingKey={key}") if key else options


def _is_kept(change: CommitChange) -> bool:
    return change.data is not None or bool(change.blob)


def _fast_import_line(change: CommitChange) -> bytes:
    """A change in git-fast-import's format."""
    path = _quoted_path(change.path)
    if change.data is not None:
        line = b"M %b inline %b\n" % (change.mode.encode(), path)
        return line + _data_block(change.data)
    if change.blob:
        return f"M {change.mode} {change.blob} ".encode() + path + b"\n"
    return b"D %b\n" % path


def _data_block(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted_path(path: str) -> bytes:
    """A path in fast-import's C style, with every unusual byte in octal."""
    quoted = (
        bytes([byte])
        if 0x20 <= byte < 0x7F and byte not in b'"\\'  # noqa: PLR2004 - ASCII
        else b"\\%03o" % byte
        for byte in os.fsencode(path)
    )
    return b'"' + b"".join(quoted) + b'"'


def remove_left_locks(repository: Repository, since_ns: int) -> None:
    """Remove the locks left by a git process of wc that was killed while moving the
    branch, at ``since_ns`` or later.

    Every git process of wc inherits the lock that the caller holds, so none is running.
    A user's git holds such a lock only for a moment.
    """
    remove_left_branch_lock(repository, since_ns)
    remove_left_lock(f"{repository.gitdir}/HEAD.lock", since_ns)
    # git never repacks a pack that git-fast-import has marked to be kept.
    folder = f"{repository.common}/objects/pack"
    for name in names_in(folder):
        path = f"{folder}/{name}"
        if not name.endswith(".keep") or _changed_ns(path) < since_ns:
            continue
        if (read_plain(path) or b"").strip() == b"fast-import":
            durable.remove(path)


def remove_left_branch_lock(repository: Repository, since_ns: int = 0) -> None:
    """Like `remove_left_locks`, for the lock of the branch alone."""
    remove_left_lock(f"{repository.common}/refs/heads/{BRANCH}.lock", since_ns)


def remove_left_lock(path: str, since_ns: int) -> None:
    """Remove the lock of a ref that a git process of wc left at ``since_ns`` or later,
    if it stays unchanged for longer than git holds one."""
    changed_ns = _changed_ns(path)
    if changed_ns >= since_ns:
        time.sleep(_REF_LOCK_SECONDS)
        if _changed_ns(path) == changed_ns:
            durable.remove(path)


def remove_reports(gitdir: str) -> None:
    """Remove the crash reports that git-fast-import writes when it fails."""
    for name in names_in(gitdir):
        if name.startswith(_REPORT):
            durable.remove(f"{gitdir}/{name}")


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return -1


def refresh_index(
    git: Git, repository: Repository, unwritten: Iterable[str] = ()
) -> None:
    """Make the checkout's index match its branch, so that ``git status`` there is
    clean. No file is touched. Raises GitError.

    The paths ``unwritten`` are marked as files that are not to be in the folder.

    git works on a copy: killed while writing the index itself, it would leave a lock
    file that looks like a running git's.
    """
    index, copy = f"{repository.gitdir}/index", f"{repository.gitdir}/index.wc"
    try:
        for path in (copy, f"{copy}.lock"):
            durable.remove(path)
        data = read_plain(index)
        if data is not None:
            durable.write_new(copy, data)
        # -i: the files may be newer than the index. --reset: drop the conflicts of a
        # merge that a user left there.
        env = {"GIT_INDEX_FILE": copy}
        git.run("read-tree", "-i", "--reset", "HEAD", env=env)
        if feed := "".join(f"{path}\0" for path in unwritten):
            words = ("update-index", "-z", "--skip-worktree", "--stdin")
            git.run(*words, feed=os.fsencode(feed), env=env)
        os.replace(copy, index)
    except (OSError, StorageError) as error:
        raise GitError(f"the index cannot be written: {error}") from error
