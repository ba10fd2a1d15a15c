"""What a participant would leave behind now: balls, claims, questions to them, and work
that is not committed or not pushed."""

from __future__ import annotations

import os

from wc_cli.bridges.carry.unsaved import Unsaved, unsaved
from wc_cli.edits.claims.holding import ClaimHolder, Holding
from wc_cli.edits.claims.registry import Registry
from wc_cli.ledger.branch.git import OWN_FILES, Git, GitError
from wc_core.base.layout import Layout
from wc_core.base.names import MINE
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.reading.views.remarks import QuestionSection, questions_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.reading.views.rows import ThreadRow

_MAX_QUESTIONS = 20
_MAX_FILES = 50
# Folders of what programs fetch or make again.
_REMADE = frozenset(
    {"node_modules", "__pycache__", ".venv", "venv"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache"}
)


class UnsavedWork(NamedTuple):
    """The state of a worktree: its ``branch``, the paths that ``git status`` lists, and
    the number of unpushed commits. ``problem`` is why git could not find out."""

    branch: str = ""
    changed: tuple[str, ...] = ()
    unpushed: int = 0
    problem: str = ""


class Leftovers(NamedTuple):
    """What a participant holds. ``claims`` are the ids of those in this worktree.
    ``unsaved`` are entries that would be lost with a sandbox."""

    balls: tuple[ThreadRow, ...] = ()
    claims: tuple[str, ...] = ()
    questions: QuestionSection = QuestionSection()
    worktree: UnsavedWork = UnsavedWork()
    unsaved: Unsaved | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left behind."""
        return self.unsaved is None and not any(self.counts())

    def counts(self) -> Iterator[str]:
        """Yield the number of each kind, except zero: ``2 balls``."""
        pairs = (
            (len(self.balls), "ball", "balls"),
            (len(self.claims), "claim", "claims"),
            (self.questions.total, "question to you", "questions to you"),
            (len(self.worktree.changed), "uncommitted file", "uncommitted files"),
            (self.worktree.unpushed, "unpushed commit", "unpushed commits"),
            (
                self.unsaved.entries if self.unsaved else 0,
                "entry only here",
                "entries only here",
            ),
        )
        for count, noun, plural in pairs:
            if count:
                yield counted(count, noun, plural)

    def to_json(self) -> dict[str, Any]:
        """Return the leftovers as JSON."""
        return {
            "balls": [row.to_json() for row in self.balls],
            "claims": list(self.claims),
            **self.questions.to_json(),
            "branch": self.worktree.branch,
            "uncommitted": list(self.worktree.changed),
            "unpushed": self.worktree.unpushed,
            **({"unsaved": self.unsaved.sentence} if self.unsaved else {}),
        }


def gather(context: Context) -> Leftovers:
    """Return what the viewer would leave behind in this worktree."""
    worktree = worktree_state(context)
    if not context.place.exists:
        return Leftovers(worktree=worktree)
    rows = context.overview.rows()
    balls = (row for row in rows if row.ownership == MINE and row.status != CLOSED)
    return Leftovers(
        tuple(balls),
        tuple(own_claims(context)),
        questions_to(context.reader, context.viewer, _MAX_QUESTIONS),
        worktree,
        _unsaved(context),
    )


def _unsaved(context: Context) -> Unsaved | None:
    place = context.place
    return unsaved(place.root, place.repository, context.env, carries=False)


def own_claims(context: Context) -> list[str]:
    """Return the ids of the viewer's claims in this worktree."""
    repository = context.place.repository
    layout = Layout(context.place.root)
    if repository is None or not os.path.isdir(layout.held):
        return []
    registry = Registry(repository, layout, context.env)
    holder = ClaimHolder.of(context.viewer, repository, "")
    return [claim.id for claim in Holding(registry, holder, 0).own(registry.read())]


def worktree_state(context: Context) -> UnsavedWork:
    """Return the uncommitted and unpushed work in the current worktree."""
    repository = context.place.repository
    if repository is None or not repository.top:
        return UnsavedWork()
    git = Git(repository.top, context.env)
    try:
        listed = git.run("status", "--porcelain=v1", "-z", "--no-renames", *OWN_FILES)
        unpushed = 0
        if repository.commit and git.line("remote"):
            words = ("rev-list", "--count", repository.commit, "--not", "--remotes")
            unpushed = int(git.line(*words))
    except GitError as error:
        return UnsavedWork(repository.working_branch, problem=str(error))
    paths = os.fsdecode(listed).split("\0")
    changed = [path[len("XY ") :] for path in paths if path]
    return UnsavedWork(repository.working_branch, tuple(changed[:_MAX_FILES]), unpushed)


def ignored_files(top: str, env: Mapping[str, str]) -> list[str]:
    """Return the paths in a worktree that git ignores, of folders only the name, and
    without those that programs make again; none if git cannot read it."""
    words = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    try:
        listed = Git(top, env).run("ls-files", *words)
    except GitError:
        return []
    paths = os.fsdecode(listed).split("\0")
    return [path for path in paths if path and not _REMADE & {*path.split("/")}]
