"""The values of the radar: the branches that were compared, and what each pair shares.

A *side* is a worktree with its uncommitted changes, or a fetched branch. The files of a
pair are of three kinds:

- `HOT`: merging them now gives a conflict
- `SOFT`: both sides change the file, and it merges cleanly
- `REGISTRY`: a conflict in a file that most changes add a line to, such as a changelog
  or a lock file; it is easily resolved, see `wc_core.edits.radar.registries`
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HOT, SOFT, REGISTRY = "hot", "soft", "registry"
KINDS = (HOT, SOFT, REGISTRY)

# Without a change for this long, a worktree is not in use: its conflicts are listed,
# but not reported to anyone.
IDLE_MS = 14 * 24 * 3600 * 1000


class Side(NamedTuple):
    """A worktree, or a fetched branch.

    - ``name``: its name for people, different from that of every other side
    - ``path``: the root of the worktree; empty for a fetched branch
    - ``worktree_id``: git's name of a linked worktree; empty for the main one
    - ``agent``: who works there, such as ``Codex@review``; empty if unknown
    - ``head``: the commit that is checked out
    - ``commit``: the commit that was compared: ``head``, or a snapshot on top of it
    - ``base``: the merge base with the base branch; empty if they have none
    - ``files``: the paths that differ from ``base``, at most `MAX_FILES` of them
    - ``file_count``: how many differ
    - ``left_out``: how many changed files are in no snapshot, because they look like
      secrets or are too large
    - ``changed_ms``: when something was last changed in it
    - ``problem``: why it could not be compared; empty if it was
    """

    name: str
    path: str = ""
    worktree_id: str = ""
    branch: str = ""
    agent: str = ""
    head: str = ""
    commit: str = ""
    base: str = ""
    files: tuple[str, ...] = ()
    file_count: int = 0
    left_out: int = 0
    changed_ms: int = 0
    problem: str = ""

    @property
    def label(self) -> str:
        """The participant who works there, otherwise its name."""
        return self.agent or self.name

    def is_idle(self, now_ms: int) -> bool:
        """Whether nothing has changed in it for a long time."""
        return now_ms - self.changed_ms > IDLE_MS


class SharedFile(NamedTuple):
    """A file that both sides of a pair change: ``kind`` is one of `KINDS`, ``conflict``
    what git calls the conflict, such as "contents" or "modify/delete", ``symbols`` what
    the conflicting lines are in, such as ``Login.check`` or ``def check(self):``."""

    path: str
    kind: str
    conflict: str = ""
    symbols: tuple[str, ...] = ()


class Pair(NamedTuple):
    """Two sides, by their indices in `Radar.sides`, and the files that both change.
    ``problem`` is why they could not be compared."""

    first: int
    second: int
    files: tuple[SharedFile, ...] = ()
    problem: str = ""

    def of_kind(self, kind: str) -> tuple[SharedFile, ...]:
        """The files of a kind."""
        return tuple(file for file in self.files if file.kind == kind)


class ApprovedBranch(NamedTuple):
    """The branch of an open thread that was approved: the commit of the branch, that of
    the base branch, and the files in which merging the two conflicts. ``name`` is the
    thread's display name."""

    topic: str
    name: str
    branch: str
    commit: str
    onto: str
    files: tuple[SharedFile, ...] = ()


class Radar(NamedTuple):
    """The comparison at ``at_ms``. ``base`` is the branch that the others start from,
    for the lists of changed files; empty if there is none. ``pairs`` includes those
    that share no file, ``approved`` those that merge into the base branch."""

    at_ms: int
    base: str = ""
    sides: tuple[Side, ...] = ()
    pairs: tuple[Pair, ...] = ()
    approved: tuple[ApprovedBranch, ...] = ()

    @property
    def outdated(self) -> tuple[ApprovedBranch, ...]:
        """The approved branches that no longer merge into the base branch."""
        return tuple(branch for branch in self.approved if branch.files)

    @property
    def quiet_text(self) -> str:
        """What is to say if no two sides change the same file, as far as is known."""
        if any(side.problem for side in self.sides):
            return "No two of those that could be compared change the same file."
        return "No two of them change the same file."

    def pairs_of(self, side: int) -> Iterator[tuple[Side, Pair]]:
        """The pairs of one side, each with the other side."""
        for pair in self.pairs:
            if side in {pair.first, pair.second}:
                opposite = pair.second if pair.first == side else pair.first
                yield self.sides[opposite], pair

    def side_at(self, path: str) -> int | None:
        """The side whose worktree is at ``path``."""
        places = (i for i, side in enumerate(self.sides) if side.path == path)
        return next(places, None) if path else None

    def alarms(self, side: int, now_ms: int) -> list[tuple[Side, SharedFile]]:
        """The conflicts of one side to report to its people: the hot files that it
        shares with each side that is not idle."""
        if self.sides[side].is_idle(now_ms):
            return []
        return [
            (opposite, file)
            for opposite, pair in self.pairs_of(side)
            if not opposite.is_idle(now_ms)
            for file in pair.of_kind(HOT)
        ]
