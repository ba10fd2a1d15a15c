"""The sides of a radar: worktrees with their snapshots, and fetched branches."""

from __future__ import annotations

import os

from wc_cli.edits.radar import snapshots
from wc_cli.ledger.branch.git import Git, GitError, GitTimeoutError
from wc_core.attention.status import identityfiles
from wc_core.attention.status.identityfiles import (
    DEFAULT_NAME,
    LAST_WRITER,
    MAIN_WORKTREE,
)
from wc_core.base.agents import AGENTS
from wc_core.base.errors import NotFoundError
from wc_core.base.layout import BRANCH, CLAIMS_BRANCH
from wc_core.base.lean import contextlib
from wc_core.base.names import fold, parse
from wc_core.base.text import one_line
from wc_core.edits.notes import reading
from wc_core.edits.radar.model import Side
from wc_core.ledger.git.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.edits.radar.objects import Objects
    from wc_cli.edits.radar.snapshots import WorktreeState
    from wc_core.base.layout import Layout
    from wc_core.edits.radar.kept import WorktreeRecord
    from wc_core.ledger.git.trunk import BaseBranch
    from wc_core.ledger.git.worktrees import Worktree

# How many files to list for each side.
MAX_FILES = 2000
MAX_BRANCHES = 30
_WIDTH = 60
_SPELLED = {fold(agent.name): agent.name for agent in AGENTS}


def unread_side(worktree: Worktree) -> Side:
    """A worktree, before git has read it."""
    return Side(
        worktree.name,
        path=worktree.path,
        worktree_id=worktree.worktree_id,
        branch=worktree.branch,
        changed_ms=worktree.changed_ms,
        problem=worktree.defect,
    )


class SideReader:
    """Reads the sides of a repository. ``record`` is the state of the worktrees at the
    last radar, ``previous`` its sides."""

    def __init__(
        self,
        git: Git,
        objects: Objects,
        record: WorktreeRecord,
        previous: Iterable[Side],
    ) -> None:
        self.git = git
        self.objects = objects
        self.record = record
        self.previous = {(side.commit, side.base): side for side in previous}
        self.bases = dict(record.bases)
        self.states: dict[str, tuple[str, str]] = {}

    def worktree(
        self, worktree: Worktree, side: Side, env: Mapping[str, str], until: float
    ) -> Side:
        """The side ``side`` for the current worktree. An unreadable one has a
        problem."""
        if worktree.defect or not worktree.path:
            return side
        repository = Repository(self.objects.common, worktree.gitdir, worktree.path)
        git = snapshots.worktree_git(repository, env, until)
        try:
            state = snapshots.read_state(git, worktree.path)
            side = side._replace(
                head=state.head,
                left_out=state.left_out,
                changed_ms=max(side.changed_ms, state.changed_ns // 1_000_000),
            )
            if not state.head:
                return side._replace(problem="has no commit yet")
            return side._replace(commit=self._snapshot(git, side, state))
        except GitTimeoutError:
            raise
        except GitError as error:
            return side._replace(problem=f"git cannot read it: {error}")

    def _snapshot(self, git: Git, side: Side, state: WorktreeState) -> str:
        """The commit of a worktree: the recorded one, if nothing has changed."""
        digest, commit = self.record.states.get(side.path, ("", ""))
        is_same = bool(state.digest) and digest == state.digest
        if not (is_same and (not state.paths or self.objects.has_snapshot(commit))):
            commit = snapshots.take(git, state, self.objects, side.worktree_id)
        self.states[side.path] = (state.digest, commit)
        return commit

    def with_files(self, sides: list[Side], base: BaseBranch) -> list[Side]:
        """The sides with their merge base and the files that differ from it. Raises
        GitError."""
        with_bases = [
            side._replace(base=self._merge_base(side, base)) if side.commit else side
            for side in sides
        ]
        requested = [
            (side.commit, side.base)
            for side in with_bases
            if side.base
            and side.commit != side.base
            and (side.commit, side.base) not in self.previous
        ]
        lists = self._changed_files(list(dict.fromkeys(requested)))
        return [_with_list(side, lists, self.previous) for side in with_bases]

    def _merge_base(self, side: Side, base: BaseBranch) -> str:
        if not base.commit or side.head == base.commit:
            return base.commit and side.head
        key = (side.head, base.commit)
        if key not in self.bases:
            try:
                commits = self.git.line("merge-base", *key)
            except GitTimeoutError:
                raise
            except GitError:
                commits = ""  # they share no history
            self.bases[key] = commits.partition("\n")[0]
        return self.bases[key]

    def _changed_files(
        self, requested: list[tuple[str, str]]
    ) -> dict[tuple[str, str], list[str]]:
        """The paths in which pairs of commits differ."""
        if not requested:
            return {}
        # git takes more commits on a line as parents of the first.
        feed = "".join(f"{commit} {base}\n" for commit, base in requested).encode()
        env = self.objects.merge_env
        output = self.git.run("diff-tree", "--stdin", *_DIFF, feed=feed, env=env)
        bases = dict(requested)
        lists: dict[tuple[str, str], list[str]] = {}
        tokens = iter(output.split(b"\0"))
        for token in tokens:
            if len(token) > 1:
                commit = token.decode()
                current = lists.setdefault((commit, bases[commit]), [])
            elif token:
                current.append(os.fsdecode(next(tokens)))
        return lists

    def commit(self, name: str) -> Side:
        """A branch, or anything else that git resolves to a commit. Raises
        NotFoundError and GitError."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        try:
            commit = self.git.line(*words, f"{name}^{{commit}}")
        except GitTimeoutError:
            raise
        except GitError as error:
            raise NotFoundError(
                f"There is no worktree, branch or commit {name!r}.",
                "See what there is: wc worktrees; git branch --all",
            ) from error
        seconds = self.git.line("show", "-s", "--format=%ct", commit)
        return Side(name, head=commit, commit=commit, changed_ms=int(seconds) * 1000)

    def branches(self, base: BaseBranch, own: Iterable[Side]) -> Iterator[Side]:
        """The fetched branches that are not merged, the latest first. Raises
        GitError."""
        local = {side.branch for side in own}
        words = ["for-each-ref", "--sort=-committerdate", _FORMAT, "refs/remotes"]
        if base.commit:
            words.insert(1, f"--no-merged={base.commit}")
        count = 0
        for line in self.git.line(*words).splitlines():
            ref, commit, seconds = line.split(" ")
            name = ref.removeprefix("refs/remotes/")
            branch = name.partition("/")[2]
            if (
                branch in {BRANCH, CLAIMS_BRANCH, "HEAD", *local}
                or count == MAX_BRANCHES
            ):
                continue
            count += 1
            changed_ms = int(seconds) * 1000
            yield Side(
                name, branch=name, head=commit, commit=commit, changed_ms=changed_ms
            )


_DIFF = ("-r", "-z", "--no-renames", "--name-status")
_FORMAT = "--format=%(refname) %(objectname) %(committerdate:unix)"


def _with_list(
    side: Side,
    lists: Mapping[tuple[str, str], list[str]],
    previous: Mapping[tuple[str, str], Side],
) -> Side:
    key = (side.commit, side.base)
    if key in lists:
        paths = lists[key]
        return side._replace(files=tuple(paths[:MAX_FILES]), file_count=len(paths))
    if side.base and side.commit != side.base and key in previous:
        old = previous[key]
        return side._replace(files=old.files, file_count=old.file_count)
    return side


def with_names(sides: Iterable[Side]) -> list[Side]:
    """The sides with unique names: equal names get a number."""
    named: list[Side] = []
    used_names: set[str] = set()
    for side in sides:
        name, number = side.name, 1
        while name in used_names:
            number += 1
            name = f"{side.name} ({number})"
        used_names.add(name)
        named.append(side._replace(name=name))
    return named


def who_works_in(layout: Layout, side: Side, now_ms: int) -> str:
    """The agent that wrote last in a worktree, such as ``Codex@review``: a note, an
    entry or a file; otherwise one that ran ``wc`` there. Empty if none is known. People
    are in all worktrees."""
    worktree = side.worktree_id or MAIN_WORKTREE
    agents = identityfiles.keys_in(layout, worktree)
    agents.pop(DEFAULT_NAME, None)
    if agents.get(LAST_WRITER):
        return _participant(agents[LAST_WRITER], side)
    here = reading.place_of(layout, side.path)
    for note in reading.current_notes(layout, now_ms):
        if note.place == here:
            return _participant(note.agent, side)
    folder = f"{layout.local}/me/{worktree}"
    times = {}
    for name in filter(agents.get, agents):
        with contextlib.suppress(OSError):
            times[os.lstat(f"{folder}/{name}").st_mtime_ns] = agents[name]
    return _participant(times[max(times)] if times else "", side)


def _participant(text: str, side: Side) -> str:
    if not text:
        return ""
    name = parse(text)
    agent = _SPELLED.get(fold(name.agent), name.agent)
    return one_line(f"{agent}@{name.seat or side.name}", _WIDTH)
