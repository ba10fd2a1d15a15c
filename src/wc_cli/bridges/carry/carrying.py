"""Carries the entries that have not arrived at the remote: as a commit on the code
branch that changes no file, or in an outbox.

The commit is made by plumbing: neither the index nor the work tree changes, and no hook
runs. Its branch moves in one step, or not at all. What the branch already carries is
not carried again; what it lost by a rebase, a reset or a squash is.
"""

from __future__ import annotations

import os
from itertools import chain

from wc_cli.bridges.carry import roads
from wc_cli.ledger.branch import commits, owners, trees
from wc_cli.ledger.branch.git import Git, GitError, GitKilledError
from wc_cli.ledger.branch.treepaths import is_log
from wc_cli.ledger.clock import now_ms, random_bits
from wc_cli.ledger.store import authors, durable, locks
from wc_core.base import ulid
from wc_core.base.errors import ConflictError, StorageError
from wc_core.base.files import read_plain
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import carriers
from wc_core.ledger.carry.carriers import RefusedLineError
from wc_core.ledger.git import carried as git_carried
from wc_core.ledger.git import repository
from wc_core.ledger.git.carried import Carried
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.ways import way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_cli.bridges.carry.roads import Road
    from wc_core.ledger.carry.carriers import Line
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.settings import Settings

# Where any remote's branch of the threads may be.
_TRACKING = (f"refs/remotes/**/{BRANCH}", "refs/watercooler/*")
# The last commits of a branch, among which its carriers are searched.
_MAX_COMMITS = 500
# Entries in all carriers of a clone; the rest waits.
_MAX_BYTES = 8 * 1024 * 1024
_TRIES = 5
_GIT_SECONDS = 2.0
_LOCK_SECONDS = 10.0
_NAME_CHARACTERS = 10


class Unsent(NamedTuple):
    """The entries that no remote is known to have: ``lines`` that can be carried, and
    the number ``uncarried`` of others."""

    lines: tuple[Line, ...]
    uncarried: int


def carry(
    root: str, code: Repository, env: Mapping[str, str], *, dry_run: bool = False
) -> Carried:
    """Carry what is committed in the store at ``root`` and has not arrived anywhere, by
    the worktree ``code``.

    Returns what travels afterwards, also what did before; it has no ids if there is
    nothing to carry. Raises ConflictError if there is no way out now, GitError, and
    LockTimeoutError.
    """
    with locks.locked(Layout(root).harvest_lock, "wc sync", _LOCK_SECONDS, root):
        try:
            return _Carrying(root, code, env).run(dry_run=dry_run)
        finally:
            owners.restore(code)


def unsent(root: str, env: Mapping[str, str]) -> Unsent:
    """What `carry` would carry. Raises GitError."""
    git = Git(root, env)
    own_tip = commits.tip(commits.checkout_at(root))
    return _unsent(git, own_tip, settings.load(root, env), Layout(root))


class _Carrying:
    def __init__(self, root: str, code: Repository, env: Mapping[str, str]) -> None:
        self.env = env
        self.code = code
        self.layout = Layout(root)
        self.store_git = Git(root, env)
        self.git = Git(code.top or code.common, env)
        self.rules = settings.load(root, env)
        self.own_tip = commits.tip(commits.checkout_at(root))

    def run(self, *, dry_run: bool) -> Carried:
        unsent_entries = _unsent(
            *(self.store_git, self.own_tip, self.rules, self.layout), self.code.branch
        )
        previous = git_carried.load(self.layout)
        if not unsent_entries.lines:
            if not dry_run:
                self._forget(previous)
            return Carried(uncarried=unsent_entries.uncarried)
        road = roads.find(self.code, self.env, self.rules.agents_branches)
        result = Carried(
            self.own_tip,
            tuple(line.id for line in unsent_entries.lines),
            road.branch,
            top=self.code.top,
            remote=road.remote,
            uncarried=unsent_entries.uncarried,
        )
        if road.remote:
            carrier = self._carrier(road, unsent_entries.lines, dry_run=dry_run)
            result = self._with_tracked(result._replace(carrier=carrier))
        else:
            outbox = self._outbox(previous, unsent_entries.lines, dry_run=dry_run)
            result = result._replace(outbox=outbox)
        if not dry_run:
            self._record(result)
        return result

    def _carrier(self, road: Road, lines: Sequence[Line], *, dry_run: bool) -> str:
        """Have the branch carry these lines. Returns its last carrier."""
        roads.await_git(self.code, _GIT_SECONDS)
        ref = f"refs/heads/{road.branch}"
        for _ in range(_TRIES):
            head = self.git.line("rev-parse", "--verify", f"{ref}^{{commit}}")
            present, latest = _carried_on(self.git, head)
            missing = [line for line in lines if line.data not in present]
            if not missing or dry_run:
                return latest
            tip = self._commit(head, missing)
            if self._move(ref, tip, head):
                return tip
        raise ConflictError(
            f"The branch {road.branch} moves too often to carry entries now.",
            "Your entries are safe here. Try again: wc sync --carry",
        )

    def _move(self, ref: str, tip: str, head: str) -> bool:
        """Move the branch from one commit to another. Returns False if it is no longer
        there: an agent has just made a commit."""
        self._remove_left_lock(ref)
        durable.touch(self.layout.carrying, self.layout.root)
        try:
            self.git.run("update-ref", "-m", "wc: carry entries", ref, tip, head)
        except GitKilledError:
            raise  # its lock may be left
        except GitError:
            durable.remove(self.layout.carrying, self.layout.root)
            if self.git.line("rev-parse", ref) == head:
                raise
            return False
        durable.remove(self.layout.carrying, self.layout.root)
        return True

    def _remove_left_lock(self, ref: str) -> None:
        """Remove the locks of a git process of ours that was killed while moving the
        branch. No other one is running: the caller holds the lock of carrying."""
        if os.path.lexists(self.layout.carrying):
            since_ns = os.lstat(self.layout.carrying).st_mtime_ns
            for path in (f"{self.code.common}/{ref}", f"{self.code.gitdir}/HEAD"):
                commits.remove_left_lock(f"{path}.lock", since_ns)

    def _with_tracked(self, result: Carried) -> Carried:
        """The result with the remote's state of the branch, as of the last fetch or
        push."""
        tracked = repository.resolve(self.code, result.tracking)
        pushed = False
        if tracked and result.carrier:
            words = ("merge-base", "--is-ancestor", result.carrier, tracked)
            with contextlib.suppress(GitError):
                self.git.run(*words)
                pushed = True
        return result._replace(tracked=tracked, pushed=pushed)

    def _commit(self, head: str, lines: Iterable[Line]) -> str:
        """Make the commits that carry these lines on top of ``head``, in no branch yet.
        Returns the last one."""
        authorship = authors.current(self.layout, self.code, self.env)
        person = commits.person_variables(authorship)
        tree = self.git.line("rev-parse", f"{head}^{{tree}}")
        for message in carriers.messages(list(lines)):
            words = ("commit-tree", "-p", head, "-F", "-", tree)
            head = self.git.line(*words, feed=message, env=person)
        return head

    def _outbox(
        self, previous: Carried | None, lines: Sequence[Line], *, dry_run: bool
    ) -> str:
        """Write these lines to the outbox of this clone. Returns its path in the work
        tree."""
        name = previous.outbox if previous is not None else ""
        if not name:
            now = ulid.successor("", now_ms(), random_bits())
            name = f"{carriers.OUTBOX}/{now[-_NAME_CHARACTERS:].lower()}.jsonl"
        top = self.code.top
        path = f"{top}/{name}"
        if _is_ignored(self.git, name):
            raise ConflictError(
                f"git ignores {name}, so it cannot carry entries.",
                "Take the folder out of .gitignore, then: wc sync --carry",
            )
        data = carriers.outbox(lines)
        if not dry_run and _read(path, top) != data:
            durable.make_folder(os.path.dirname(path), top)
            _replace(path, data, top)
        return name

    def _record(self, result: Carried) -> None:
        data = f"{dumps(result._asdict())}\n".encode()
        durable.replace(self.layout.carried, data, self.layout.root)

    def _forget(self, previous: Carried | None) -> None:
        """Remove the outbox and the record if everything has arrived."""
        if previous is None:
            return
        if previous.outbox and previous.top == self.code.top:
            path = f"{self.code.top}/{previous.outbox}"
            if os.path.isfile(path):
                durable.remove(path, self.code.top)
        durable.remove(self.layout.carried, self.layout.root)


def _unsent(
    git: Git, own_tip: str, rules: Settings, layout: Layout, branch: str = ""
) -> Unsent:
    """The entries of the commit ``own_tip`` that no tracking ref has. Those that were
    harvested travel already, but with ``branch`` only as long as it has them."""
    if not own_tip:
        return Unsent((), 0)
    refs = git.run("for-each-ref", "--format=%(objectname)", *_TRACKING)
    tips = refs.decode().split() or [commits.empty_tree(git)]
    first, *others = (_lines_beyond(git, tip, own_tip) for tip in tips)
    by_id: dict[str, Line] = {}
    size = uncarried = 0
    for data in first.intersection(*others):
        try:
            line = carriers.checked(data, rules.directory)
        except RefusedLineError:
            uncarried += 1
            continue
        if way(layout, line.id) not in {"", branch}:
            continue
        size += len(data)
        if size > _MAX_BYTES:
            uncarried += 1
        else:
            by_id[line.id] = line
    return Unsent(tuple(by_id[key] for key in sorted(by_id)), uncarried)


def _lines_beyond(git: Git, old: str, new: str) -> set[bytes]:
    """The lines of logs that the commit ``new`` has and ``old`` lacks."""
    pairs = {
        path: (before, after)
        for path, (before, after) in trees.differences(git, old, new).items()
        if is_log(path) and after is not None and after.is_file
    }
    items = [item for item in chain(*pairs.values()) if item and item.is_file]
    blobs = trees.blobs(git, [item.blob for item in items])
    lines: set[bytes] = set()
    for before, after in pairs.values():
        old_lines: set[bytes] = set()
        if before is not None and before.is_file:
            old_lines = set(blobs[before.blob].splitlines())
        if after is not None:
            new_lines = {*blobs[after.blob].splitlines()} - old_lines
            lines |= {line.strip() for line in new_lines if line.strip()}
    return lines


def _carried_on(git: Git, head: str) -> tuple[set[bytes], str]:
    """The lines that the last commits of a branch carry, and its last carrier."""
    words = ("--format=%H%n%B%x00", f"--max-count={_MAX_COMMITS}")
    out = git.run("log", *words, "--no-show-signature", head)
    lines: set[bytes] = set()
    latest = ""
    for record in out.split(b"\0"):
        commit, _, message = record.strip().partition(b"\n")
        if carriers.is_carrier(message):
            latest = latest or commit.decode()
            lines.update(carriers.lines_of(message))
    return lines, latest


def _is_ignored(git: Git, path: str) -> bool:
    try:
        git.run("check-ignore", "--quiet", "--", path)
    except GitError:
        return False
    return True


def _read(path: str, top: str) -> bytes | None:
    try:
        return read_plain(path, top)
    except OSError:
        return None


def _replace(path: str, data: bytes, top: str) -> None:
    """Replace a file of the work tree atomically, and flush it. Raises
    StorageError."""
    half = f"{path}.new"
    try:
        durable.remove(half, top)
        durable.write_new(half, data, flush=True)
    except OSError as error:
        raise StorageError(f"{half} could not be written: {error}.", "") from error
    durable.move(half, path, top)
