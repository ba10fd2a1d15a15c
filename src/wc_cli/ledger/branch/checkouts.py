"""Checking out the store's branch, which is created or taken from a remote first.

The code's repository is not touched: its index, work tree, stash and branches stay as
they are.
"""

from __future__ import annotations

import os
import time
from types import MappingProxyType

from wc_cli.ledger.branch import commits, firstfiles, owners, trees
from wc_cli.ledger.branch.git import Git, GitError, GitKilledError
from wc_cli.ledger.store import applied, durable, locks, sharedlines
from wc_cli.ledger.store.applied import Applied
from wc_cli.ledger.store.sharedlines import SHARED
from wc_core.base.errors import ConflictError, NotFoundError, StorageError
from wc_core.base.files import names_in
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config, discovery, remotes, storefolder
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.repository import Repository

_LOCK_SECONDS = 60

# What git writes of a checkout before it writes what is checked out.
_FIRST_FILES = frozenset({"HEAD", "commondir", "gitdir", "locked"})

# Every store has the same first commit, so two clones that each start a store still
# share the root of their history.
_ROOT_PERSON = "Watercooler <watercooler@localhost> 1767225600 +0000"
_ROOT_MESSAGE = "Start the store of threads\n"
_ROOT_FILES = tuple((name, f"{line}\n") for name, line in SHARED)


class MadeCheckout(NamedTuple):
    """The root of a store's checkout, and the folders of other repositories that were
    renamed to make room for it: each as (old name, new name).

    ``unwritten`` are the files of the branch that are not in the checkout, with the
    reasons.
    """

    root: str
    set_aside: tuple[tuple[str, str], ...] = ()
    unwritten: Mapping[str, str] = MappingProxyType({})


def ensure_checkout(
    place: Place, cwd: str, env: Mapping[str, str], until: float = 0.0
) -> MadeCheckout:
    """Check out the store's branch of a repository, and create it if there is none.

    An existing branch, local or fetched, is used unchanged. The network is not used,
    except for the objects that a partial clone lacks, and ``until`` then at most, on
    the monotonic clock, if that is given.
    Raises StorageError with git's reason, before anything is made if other branches
    are in the way.
    """
    repository = place.repository
    if repository is None:
        raise NotFoundError("This is not a git repository.", "Run wc in one.")
    refuse_obstructed_branch(repository)
    named = place.root if env.get("WATERCOOLER_DIR") else ""
    first = named or storefolder.first_choice(repository, env)
    durable.make_folder(os.path.dirname(first))
    sharedlines.ignore_stores(first)
    # Everyone who makes this store takes the same lock, whichever folder they choose.
    lock = locks.acquire(f"{first}.lock", "wc init", _LOCK_SECONDS)
    try:
        checkouts = repositories.checkouts_of(repository, BRANCH)
        if any(checkout.trusted and checkout.finished for checkout in checkouts):
            return MadeCheckout(discovery.find(cwd, env).root)
        git = Git(repository.common, env, bare=True, handle=lock)
        if until:
            git.until = until
        try:
            _remove_begun_records(repository, os.path.dirname(first))
            return _check_out(git, repository, named, env)
        except (GitError, OSError) as error:
            raise StorageError(
                f"The store could not be checked out: {error}.",
                "Run the same command again once that is fixed; see also: wc doctor",
            ) from error
    finally:
        owners.restore(repository)
        os.close(lock)


def refuse_obstructed_branch(repository: Repository) -> None:
    """Raise StorageError if git cannot make the store's branch beside another one."""
    obstacles = repositories.branches_in_the_way(repository, BRANCH)
    if obstacles:
        name = obstacles[0]
        new_name = f"{name.replace('/', '-')}-old"
        renaming = f"git branch -m {quoted(name)} {quoted(new_name)}"
        raise StorageError(
            f"The branch {name} is in the way: git cannot make {BRANCH} beside it.",
            f"Rename it, and run the same command again: {renaming}",
        )


def _check_out(
    git: Git, repository: Repository, named: str, env: Mapping[str, str]
) -> MadeCheckout:
    """Make a checkout at ``named``, or by default at the planned folder. The caller
    holds the lock."""
    # A git of wc may have been killed while it made the branch or the checkout.
    commits.remove_left_branch_lock(repository)
    checkouts = repositories.checkouts_of(repository, BRANCH)
    unfinished = {item.path for item in checkouts if not item.finished}
    for path in unfinished:
        _set_unfinished_aside(path, known_to_git=True)
    _ensure_branch(git, repository, env)
    set_aside: tuple[tuple[str, str], ...] = ()
    if not named:
        set_aside = tuple(_set_orphans_aside(repository, env))
    root = named or storefolder.planned(repository, env).root
    _set_unfinished_aside(root, known_to_git=False)
    worktrees = repositories.worktrees(repository)
    recorded = {os.path.realpath(path) for path, _ in worktrees}
    # git keeps a locked record of a checkout that was removed; replacing it takes two
    # -f.
    force = ["-f", "-f"] if checkouts or root in recorded else []
    # Locked as git locks it while it is working: whatever happens from now on, the
    # checkout counts as unfinished until it has all files.
    lock = ("--lock", "--reason", repositories.UNFINISHED)
    words = (*force, "--quiet", "--no-checkout", *lock, root, BRANCH)
    try:
        git.run(*path_options(repository, env), "worktree", "add", *words)
    except GitKilledError:
        raise
    except GitError:
        # A hook that fails is all that can go wrong once git has made it.
        if not _is_checked_out(git, root):
            raise
    return MadeCheckout(root, set_aside, _fill(git, root, env))


def path_options(repository: Repository, env: Mapping[str, str]) -> tuple[str, ...]:
    """The options for `git worktree add` with which git records absolute paths, unless
    the repository has relative ones: the first of these changes the format of the
    repository, which no git before 2.48 can open then."""
    key = "extensions.relativeWorktrees"
    has_relative = config.get(key, repository, env)
    return () if has_relative else ("-c", "worktree.useRelativePaths=false")


def _is_checked_out(git: Git, root: str) -> bool:
    """Return whether git has made a worktree with the store's branch at ``root``."""
    with contextlib.suppress(GitError):
        return Git(root, git.env).line("symbolic-ref", "HEAD") == f"refs/heads/{BRANCH}"
    return False


def _fill(git: Git, root: str, env: Mapping[str, str]) -> Mapping[str, str]:
    """Write the files of a checkout, and finish it. Returns the paths that were not
    written, with the reasons."""
    checkout = commits.checkout_at(root)
    commit = commits.tip(checkout)
    unwritten = firstfiles.write_files(git, checkout, commit, env)
    # Another home may move the branch at any time; its changes are applied later.
    applied.note(Layout(root), Applied(commit, applied.index_ns(checkout)))
    lock = f"{checkout.gitdir}/locked"
    durable.write_new(f"{lock}.wc", repositories.LOCK_REASON.encode(), flush=True)
    os.replace(f"{lock}.wc", lock)
    # Before anything is written here: after a power cut it must not seem unfinished.
    durable.flush_folder(checkout.gitdir)
    return unwritten


def unwritten_text(unwritten: Mapping[str, str]) -> str:
    """The paths that a checkout of the branch does not have, in words: the first of
    each kind."""
    examples = {reason: path for path, reason in reversed([*unwritten.items()])}
    parts = [one_line(f"{path} {reason}") for reason, path in examples.items()]
    files = counted(len(unwritten), "file")
    return f"{BRANCH} has {files} that are not checked out: {', '.join(parts[::-1])}"


def _remove_begun_records(repository: Repository, folder: str) -> None:
    """Remove git's records of checkouts in a folder for stores that it had only begun
    when it was killed: with a commit of zeros, which makes each `git fetch` fail."""
    for admin in repositories.admins_of(repository):
        checkout = repositories.checkout_at(admin)
        if checkout.finished or os.path.dirname(checkout.path) != folder:
            continue
        if not repositories.is_begun(admin) or {*os.listdir(admin)} - _FIRST_FILES:
            continue
        for name in os.listdir(admin):
            os.unlink(f"{admin}/{name}")
        os.rmdir(admin)


def _set_orphans_aside(
    repository: Repository, env: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Rename the orphaned folders that occupy the place of this repository's store.
    Yields their old and new names."""
    date = time.strftime("%Y-%m-%d")
    for path in storefolder.planned(repository, env).orphans:
        # Its .git may name the record that git is about to make, and would be taken for
        # ours.
        if not os.path.islink(path) and os.path.lexists(f"{path}/.git"):
            os.rename(f"{path}/.git", f"{path}/.git.orphaned")
        aside = storefolder.name_aside(path, date)
        os.rename(path, aside)
        yield path, aside


def _set_unfinished_aside(path: str, *, known_to_git: bool) -> None:
    """Rename a checkout whose creation was interrupted.

    The lock is held, so no other process is creating it. A checkout that git does not
    know yet is empty; a folder with other content may be a store.
    """
    if not os.path.isdir(path):
        return
    if known_to_git or names_in(path) == [".git"]:
        os.rename(path, f"{path}.unfinished-{time.time_ns()}")


def _ensure_branch(git: Git, repository: Repository, env: Mapping[str, str]) -> None:
    if repositories.resolve(repository, f"refs/heads/{BRANCH}"):
        return
    commit = _fetched_commit(repository, env)
    if commit and not trees.is_store(git, commit):
        raise ConflictError(
            f"The fetched branch {BRANCH} is not a store.",
            "Rename it at the remote, or use another repository: WATERCOOLER_GIT_REPO",
        )
    if commit:
        git.run("update-ref", f"refs/heads/{BRANCH}", commit, "")
        return
    try:
        git.run("fast-import", "--done", "--quiet", feed=_root_stream())
    except GitError:
        commits.remove_reports(repository.common)
        raise


def _fetched_commit(repository: Repository, env: Mapping[str, str]) -> str:
    """The commit of the fetched branch; empty if none was fetched."""
    remote = remotes.find(repository, env)
    if remote is not None:
        return repositories.resolve(repository, remote.tracking)
    for name in repositories.remote_branches(repository, BRANCH):
        return repositories.resolve(repository, f"refs/remotes/{name}/{BRANCH}")
    return ""


def _root_stream() -> bytes:
    """The input of git-fast-import that creates the branch with its first commit. This
    starts two processes; creating the objects one by one would start five."""
    parts = [f"commit refs/heads/{BRANCH}\n"]
    parts += (f"{role} {_ROOT_PERSON}\n" for role in ("author", "committer"))
    parts.append(_data_block(_ROOT_MESSAGE))
    for name, text in _ROOT_FILES:
        parts += (f"M 100644 inline {name}\n", _data_block(text))
    return "".join((*parts, "done\n")).encode()


def _data_block(text: str) -> str:
    return f"data {len(text)}\n{text}\n"
