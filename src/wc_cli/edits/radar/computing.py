"""Computes the radar of a repository, and stores it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

from wc_cli.edits.radar import merges, sides
from wc_cli.edits.radar.objects import objects_of
from wc_cli.edits.radar.sides import SideReader
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store import durable, locks
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.attention.status import conflictmarks
from wc_core.attention.status.identityfiles import MAIN_WORKTREE
from wc_core.base import names
from wc_core.base.errors import InvalidInputError, NotFoundError, StorageError, WcError
from wc_core.base.files import names_in
from wc_core.base.lean import contextlib
from wc_core.edits.radar import kept, registries
from wc_core.edits.radar.model import (
    HOT,
    REGISTRY,
    SOFT,
    ApprovedBranch,
    Pair,
    Radar,
    SharedFile,
)
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.git.trunk import BaseBranch, find_base
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.views.listing import Listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from wc_cli.edits.radar.merges import MergeResult
    from wc_cli.edits.radar.objects import Objects
    from wc_core.base.layout import Layout
    from wc_core.edits.radar.model import Side
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.git.worktrees import Worktree

# A repository that needs more is too large to be compared.
LIMIT_SECONDS = 60.0
_LOCK_SECONDS = 5.0
_READERS = 4


class RadarSource:
    """Where a radar is computed: a repository, and its store, if there is one."""

    def __init__(
        self, repository: Repository, layout: Layout | None, env: Mapping[str, str]
    ) -> None:
        self.repository = repository
        self.layout = layout
        self.env = env
        # A read-only store must not make the radar fail.
        self.kept_in = layout if layout is not None and _is_writable(layout) else None

    def compute(self, *, remote: bool = False) -> Radar:
        """Compute the radar of the worktrees, and with ``remote`` also of the fetched
        branches. Stores it without these, if the store can be written. Raises
        LockTimeoutError and StorageError."""
        with self._lock():
            fields = kept.load_fields(self.layout) if self.layout is not None else {}
            with self._objects() as objects, _git_errors():
                computation = _Computation(self, objects, fields)
                radar = computation.radar(remote=remote)
            if self.kept_in is not None and not remote:
                _keep(self.kept_in, radar, computation.record())
        return radar

    def compare(self, top: str, name: str) -> Radar:
        """Compare the worktree at ``top`` with another one, named by its name, branch
        or participant, or with any other branch or commit. Raises InvalidInputError,
        NotFoundError, LockTimeoutError, and StorageError if the two cannot be
        compared."""
        with self._lock(), self._objects() as objects:
            computation = _Computation(self, objects, {})
            with _git_errors():
                radar = computation.comparison(top, name)
        _check_compared(radar)
        return radar

    def _objects(self) -> AbstractContextManager[Objects]:
        return objects_of(self.repository.common, self.kept_in)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        if self.kept_in is None:
            yield
            return
        path, root = self.kept_in.radar_lock, self.kept_in.root
        with locks.locked(path, "wc radar", _LOCK_SECONDS, root):
            yield


def _is_writable(layout: Layout) -> bool:
    """Return whether this process can write to ``.local``."""
    folder = layout.local if os.path.isdir(layout.local) else layout.root
    return os.access(folder, os.W_OK)


def _keep(layout: Layout, radar: Radar, record: Mapping[str, Any]) -> None:
    """Store a radar, and the mark of each worktree for its status line. The marks are
    written each time: their age counts."""
    files = LocalFiles(layout)
    files.write("radar.json", kept.encode(radar, record))
    unused = set(names_in(layout.conflict_marks, layout.root))
    for place, side in enumerate(radar.sides):
        mark = conflictmarks.mark_of(radar, place, radar.at_ms)
        if mark is not None:
            name = side.worktree_id or MAIN_WORKTREE
            durable.make_folder(layout.conflict_marks, layout.root, flush=False)
            path = layout.conflict_mark(name)
            durable.replace(path, mark.encode(), layout.root)
            unused.discard(name)
    for name in unused:
        durable.remove(layout.conflict_mark(name), layout.root)


def _check_compared(radar: Radar) -> None:
    """Raise StorageError if the two sides of a radar were not compared, because they
    would seem to have no conflict."""
    problems = [
        f"{side.name} could not be compared: {side.problem}"
        for side in radar.sides
        if side.problem
    ]
    first, second = radar.sides
    names = f"{first.name} and {second.name}"
    if not problems and not radar.pairs and first.commit != second.commit:
        problems.append(f"{names} have no history in common")
    problems += [
        f"{names} could not be compared: {pair.problem}"
        for pair in radar.pairs
        if pair.problem
    ]
    if problems:
        raise StorageError(f"{problems[0]}.", "See all worktrees: wc radar")


@contextlib.contextmanager
def _git_errors() -> Iterator[None]:
    try:
        yield
    except GitError as error:
        raise StorageError(
            f"The worktrees could not be compared: {error}.",
            "Check that git works here: git status",
        ) from error


class _Computation:
    """One computation of a radar. ``fields`` are those of the last stored one; what has
    not changed since is taken from it."""

    def __init__(
        self, source: RadarSource, objects: Objects, fields: Mapping[str, Any]
    ) -> None:
        self.source = source
        self.objects = objects
        self.now_ms = time.time_ns() // 1_000_000
        self.started = time.monotonic()
        self.until = self.started + LIMIT_SECONDS
        previous = kept.decode(fields) or Radar(0)
        record = kept.decode_record(fields if previous.at_ms else {})
        # A commit is merged as recorded, whatever was checked out since.
        self.pairs = {
            _commits(previous.sides, pair): pair
            for pair in previous.pairs
            if not pair.problem
        }
        self.approved = {
            (branch.commit, branch.onto): branch.files for branch in previous.approved
        }
        self.git = self._git(source.repository)
        self.reader = SideReader(self.git, objects, record, previous.sides)

    def _git(self, repository: Repository) -> Git:
        """Git for everything but the snapshots. In a worktree, git obeys its
        .gitattributes, which may define how a file is merged. The current folder may be
        in the threads' worktree, which has its own."""
        env = {**self.source.env, "GIT_NO_LAZY_FETCH": "1"}
        trees = worktrees.worktrees(repository, self.source.env)
        tops = (tree.path for tree in trees if tree.path and not tree.defect)
        top = next(tops, "")
        if top:
            return Git(top, env, until=self.until)
        return Git(repository.common, env, bare=True, until=self.until)

    def record(self) -> dict[str, Any]:
        """The record for the next computation."""
        bases = [[*key, base] for key, base in self.reader.bases.items()]
        states, seconds = dict(self.reader.states), time.monotonic() - self.started
        return {"states": states, "bases": bases[-1000:], "seconds": round(seconds, 2)}

    def radar(self, *, remote: bool) -> Radar:
        """The radar. Raises GitError."""
        base, trees = self._base_and_trees()
        compared = self._read_sides(self._labelled(trees))
        if remote:
            compared += self.reader.branches(base, compared)
        radar = self._compared(sides.with_names(compared), base)
        return radar._replace(approved=self._approved(base))

    def comparison(self, top: str, name: str) -> Radar:
        """The radar of one worktree and one other side."""
        base, trees = self._base_and_trees()
        own = next((tree for tree in trees if tree.path == top), None)
        if own is None:
            raise NotFoundError(
                f"{top} is not a worktree on git's record: it was moved.",
                "Tell git where it is: git worktree repair",
            )
        labelled = list(self._labelled(trees))
        chosen = [
            pair
            for pair in labelled
            if name in {pair[1].name, pair[0].branch, pair[1].agent}
        ]
        # Of several, prefer a readable one, and of these the one on that branch.
        chosen.sort(key=lambda pair: (bool(pair[0].defect), pair[0].branch != name))
        own_pair = next(pair for pair in labelled if pair[0] is own)
        if own_pair in chosen[:1]:
            raise InvalidInputError(
                "Name another branch: this worktree is on "
                f"{own.branch or own_pair[1].name}.",
                "See all pairs: wc radar",
            )
        own_side, *compared = self._read_sides([own_pair, *chosen[:1]])
        compared = compared or [self.reader.commit(name)]
        return self._compared(sides.with_names([own_side, *compared]), base)

    def _base_and_trees(self) -> tuple[BaseBranch, list[Worktree]]:
        source = self.source
        trees = worktrees.worktrees(source.repository, source.env)
        main_branch = next((tree.branch for tree in trees if tree.main), "")
        return find_base(source.repository, main_branch), trees

    def _labelled(self, trees: list[Worktree]) -> Iterator[tuple[Worktree, Side]]:
        """Each worktree with its name and participant, not read yet."""
        layout = self.source.layout
        unread = sides.with_names(map(sides.unread_side, trees))
        for tree, side in zip(trees, unread, strict=True):
            agent = ""
            if layout is not None:
                place = side._replace(name=tree.name)
                agent = sides.who_works_in(layout, place, self.now_ms)
            yield tree, side._replace(agent=agent)

    def _read_sides(self, labelled: Iterable[tuple[Worktree, Side]]) -> list[Side]:
        """The current worktrees. git mostly waits for the file system, so several are
        read at a time."""
        env, until = self.source.env, self.until

        def read(pair: tuple[Worktree, Side]) -> Side:
            return self.reader.worktree(*pair, env, until)

        with ThreadPoolExecutor(_READERS) as pool:
            return list(pool.map(read, labelled))

    def _compared(self, compared: list[Side], base: BaseBranch) -> Radar:
        compared = self.reader.with_files(compared, base)
        pairs = self._pairs(compared, base.name)
        return Radar(self.now_ms, base.name, tuple(compared), pairs)

    def _pairs(self, compared: list[Side], base: str) -> tuple[Pair, ...]:
        """Every pair of sides that can be merged."""
        pairs = [
            Pair(first, second)
            for first in range(len(compared))
            for second in range(first + 1, len(compared))
            if _are_related(compared[first], compared[second], base)
        ]
        old = {
            index: self.pairs[key]
            for index, pair in enumerate(pairs)
            if (key := _commits(compared, pair)) in self.pairs
        }
        unmerged = [pair for index, pair in enumerate(pairs) if index not in old]
        fresh = iter(self._merged(compared, unmerged))
        return tuple(
            pair._replace(files=old[index].files) if index in old else next(fresh)
            for index, pair in enumerate(pairs)
        )

    def _merged(self, compared: list[Side], pairs: list[Pair]) -> list[Pair]:
        """The pairs with the files that both sides change."""
        commits = [
            (compared[pair.first].commit, compared[pair.second].commit)
            for pair in pairs
        ]
        merged = self._merge(commits)
        return [
            pair._replace(files=files, problem=problem)
            for pair, (files, problem) in zip(pairs, merged, strict=True)
        ]

    def _approved(self, base: BaseBranch) -> tuple[ApprovedBranch, ...]:
        """The approved branches, with their conflicts with the base branch. Those that
        cannot be merged for another reason are left out."""
        if self.source.layout is None or not base.commit:
            return ()
        branches = list(
            approved_branches(self.source.layout, self.source.repository, base)
        )
        keys = {(branch.commit, branch.onto) for branch in branches}
        missing = sorted(keys - self.approved.keys())
        merged = zip(missing, self._merge(missing), strict=True)
        conflicts = self.approved | {
            key: tuple(file for file in files if file.kind != SOFT)
            for key, (files, problem) in merged
            if not problem
        }
        return tuple(
            branch._replace(files=conflicts[branch.commit, branch.onto])
            for branch in branches
            if (branch.commit, branch.onto) in conflicts
        )

    def _merge(
        self, commits: list[tuple[str, str]]
    ) -> list[tuple[tuple[SharedFile, ...], str]]:
        """The files that both commits of each pair change, or why they could not be
        merged."""
        results = merges.merge_all(self.git, self.objects, commits)
        requested = [
            (merge.tree, path)
            for merge in results
            for path, _ in merge.conflicts
            if path in merge.marked
        ]
        marked = merges.marked_files(self.git, self.objects, requested)
        return [
            (tuple(_shared_files(merge, marked, pair)), merge.problem)
            for pair, merge in zip(commits, results, strict=True)
        ]


def _commits(compared: Sequence[Side], pair: Pair) -> frozenset[str]:
    return frozenset((compared[pair.first].commit, compared[pair.second].commit))


def _are_related(first: Side, second: Side, base: str) -> bool:
    """Return whether two sides can be merged, and differ. If only one of them shares
    history with the base branch, they share none."""
    if not first.commit or not second.commit or first.commit == second.commit:
        return False
    return not base or bool(first.base) == bool(second.base)


def _shared_files(
    merge: MergeResult,
    marked: Mapping[tuple[str, str], bytes],
    commits: tuple[str, str],
) -> Iterator[SharedFile]:
    """The files that both sides change: those in conflict first."""
    for path, conflict in merge.conflicts:
        kind = REGISTRY if registries.hint(path) else HOT
        content = marked.get((merge.tree, path), b"")
        names = merges.conflict_symbols(path, content, *commits) if kind == HOT else ()
        yield SharedFile(path, kind, conflict, names)
    for path in merge.merged:
        yield SharedFile(path, SOFT)


def approved_branches(
    layout: Layout, repository: Repository, base: BaseBranch
) -> Iterator[ApprovedBranch]:
    """The approved branches of a store that are in this repository, without their
    conflicts. Those of unreadable threads are left out."""
    reader = StoreReader(layout.root)
    nobody = Viewer(Identity(names.parse(""), ""), names.Directory())
    try:
        rows = Listing(reader, nobody).rows()
    except WcError:
        return
    for row in rows:
        if row.review.outcome != APPROVED or row.status == CLOSED:
            continue
        with contextlib.suppress(WcError):
            branch = approved_branch(reader.thread(row.topic), base.name)
            commit = repositories.branch_commit(repository, branch) if branch else ""
            if commit and branch != base.name:
                yield ApprovedBranch(row.topic, row.name, branch, commit, base.commit)
