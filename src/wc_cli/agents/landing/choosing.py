"""Which threads' branches can land, in which order, and why others cannot."""

from __future__ import annotations

import itertools
import tempfile

from wc_cli.agents.runs.places import changed_text, uncommitted
from wc_cli.edits.landing.building import (
    BuiltLanding,
    LandingText,
    MergePlace,
    builder_on,
)
from wc_cli.edits.landing.publishing import BasePlace
from wc_cli.edits.radar import merges
from wc_cli.edits.radar.objects import alternates
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.clock import now_ms
from wc_core.base.errors import InvalidInputError, NotFoundError, StorageError
from wc_core.base.layout import BRANCH
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.base.times import milliseconds
from wc_core.base.values import NamedTuple
from wc_core.edits.radar.landingorder import LandingCandidate, landing_order
from wc_core.ledger.git import config
from wc_core.ledger.planning.landing import LandingBranches, own_landing_obstacles
from wc_core.ledger.planning.obstacles import GATE, Obstacle
from wc_core.ledger.threads.landings import NO_LANDING
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.reading.views.overview import on_own_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.run.context import Context
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.planning.landing import LandingThread
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.reading.views.rows import ThreadRow

# Codes of obstacles that only git knows: uncommitted changes, a rebase that is not
# finished, no commits, no common history; or that have come up during a check.
DIRTY, REBASING, MERGED, UNRELATED = "DIRTY", "REBASING", "MERGED", "UNRELATED"
MOVED = "MOVED"
# The base branch, among the topics whose branches land on it.
_BASE = ""


class LandingRequest(NamedTuple):
    """What `wc land` was asked for: only these ``topics``, by their stored names
    (empty: all that can land); ``onto`` which branch (empty: the base branch); how
    (`building.METHODS`); ``allow_dirty``: also branches whose worktree has uncommitted
    changes."""

    topics: tuple[str, ...] = ()
    onto: str = ""
    method: str = ""
    allow_dirty: bool = False


class LandingChoice(NamedTuple):
    """A thread, as a row, the commit ``tip`` of its branch and how many commits of it
    the base branch lacks. ``obstacles`` are why it cannot land, ``after`` are the
    topics that have to land before it. ``newer`` counts the commits since it was
    approved, if that is known."""

    row: ThreadRow
    tip: str = ""
    commit_count: int = 0
    obstacles: tuple[Obstacle, ...] = ()
    after: frozenset[str] = frozenset()
    newer: int = 0

    @property
    def topic(self) -> str:
        """The thread, by its stored name."""
        return self.row.topic

    @property
    def text(self) -> LandingText:
        """The words of its landing."""
        review = self.row.review
        by = review.by if review.outcome == APPROVED else ""
        return LandingText(self.row.name, self.row.title, self.row.branch, by)


class LandingPrediction(NamedTuple):
    """What landing a thread after those before it would give. ``rivals`` are the names
    of those of them with which it conflicts, ``failed`` those that it waits for and
    that would not land."""

    choice: LandingChoice
    built: BuiltLanding
    rivals: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def lands(self) -> bool:
        """Whether it would land."""
        return bool(self.built.commit) and not self.failed


class LandingChooser:
    """Looks at the threads and branches of a repository once."""

    def __init__(self, context: Context, request: LandingRequest) -> None:
        repository = context.place.repository
        if repository is None:
            raise InvalidInputError(
                "Only branches of a git repository can land.",
                "Run it in the repository of the code.",
            )
        self.context = context
        self.repository: Repository = repository
        self.request = request
        self.branches = LandingBranches(repository, request.onto)
        self.base = self._base()
        signs = config.get("commit.gpgSign", repository, context.env)
        self.sign = config.is_true(signs)
        self.trees = self.base.trees

    def _base(self) -> BasePlace:
        onto = self.branches.onto
        if onto == BRANCH:
            raise InvalidInputError(
                f"{BRANCH} holds the threads, so no branch can land on it.",
                "Name another one: wc land --onto BRANCH",
            )
        base = BasePlace(self.repository, self.context.env, onto)
        if not onto or not base.commit:
            raise NotFoundError(
                f"There is no branch {one_line(onto) or 'main'} to land on.",
                "Name one: wc land --onto BRANCH",
            )
        return base

    @property
    def method(self) -> str:
        """How branches land."""
        return self.request.method or self.context.settings.land_method

    # --- which --------------------------------------------------------------------

    def choices(self) -> list[LandingChoice]:
        """Return the threads that were named, or all that have a branch of their own
        here, those that can land in the order in which they land, then the unable.
        Raises StorageError."""
        topics = set(self.request.topics)
        reader, onto = self.context.reader, self.branches.onto
        rows = [
            on_own_branch(reader, row, onto)
            if row.topic in topics or row.review.outcome == APPROVED
            else row
            for row in self.context.overview.rows()
        ]
        rows_to_land = [
            row
            for row in rows
            if (row.topic in topics if topics else self._is_about(row))
        ]
        plan = self.context.overview.plan()
        with self._git_errors():
            choices = [self._look(row, plan) for row in rows_to_land]
        choices = _without_blocked(choices, plan)
        able = [choice for choice in choices if not choice.obstacles]
        unable = [choice for choice in choices if choice.obstacles]
        return [*self.ordered(able), *unable]

    def _is_about(self, row: ThreadRow) -> bool:
        """Return whether a thread is worth a line: it has a branch of its own here, and
        is open, or was approved and has not landed."""
        if row.branch in {"", self.branches.onto} or not self.branches.tip(row.branch):
            return False
        is_over = row.status == CLOSED and row.review.outcome != APPROVED
        needs_closed = self.context.settings.land_needs == "closed"
        return (needs_closed or not is_over) and not row.landing.commit

    def _look(self, row: ThreadRow, plan: ThreadPlan) -> LandingChoice:
        needs = self.context.settings.land_needs
        thread = self._thread(row, self.branches)
        reasons = list(own_landing_obstacles(thread, self.branches, needs))
        tip = self.branches.tip(row.branch)
        waits = plan.waits(row.topic)
        reasons += [item for item in waits if item.code == GATE]
        after = frozenset(item.topic for item in waits if item.code != GATE)
        choice = LandingChoice(row, tip, 0, tuple(reasons), after)
        if reasons or not tip:
            return choice
        reasons += self._worktree_obstacles(row.branch)
        words = ("rev-list", "--count", f"^{self.base.commit}", tip)
        count = int(self.base.git().line(*words))
        if not count:
            text = f"{self.base.name} has all commits of {row.branch}"
            reasons.append(Obstacle(MERGED, text))
        elif not self.base.shares_history(tip):
            text = f"{row.branch} and {self.base.name} share no history"
            reasons.append(Obstacle(UNRELATED, text))
        newer = self._newer(row, tip) if count else 0
        return choice._replace(
            commit_count=count, obstacles=tuple(reasons), newer=newer
        )

    def _thread(self, row: ThreadRow, branches: LandingBranches) -> LandingThread:
        """Return what is asked of a thread. A landing that was undone does not count:
        someone has reset the branch since."""
        landing = row.landing
        if landing.commit and branches.tip(row.branch) == landing.tip:
            is_kept = self.base.is_kept(landing.commit, landing.onto, if_absent=True)
            row = row if is_kept else row._replace(landing=NO_LANDING)
        return row.as_landing()

    def obstacles_since(self, choice: LandingChoice) -> list[Obstacle]:
        """Return why a choice can no longer land: its check may have taken long. What
        is not committed in its worktree makes no difference by now."""
        rows = self.context.overview.rows()
        row = next((row for row in rows if row.topic == choice.topic), None)
        if row is None:
            return [Obstacle(MOVED, "its thread is gone")]
        row = on_own_branch(self.context.reader, row, self.base.name)
        branches = LandingBranches(self.repository, self.base.name)
        needs = self.context.settings.land_needs
        thread = self._thread(row, branches)
        reasons = list(own_landing_obstacles(thread, branches, needs))
        waits = self.context.overview.plan().waits(row.topic)
        reasons += [item for item in waits if item.topic not in choice.after]
        if row.branch != choice.row.branch:
            reasons.append(Obstacle(MOVED, f"it belongs to {row.branch} now"))
        elif not reasons and branches.tip(row.branch) != choice.tip:
            reasons.append(Obstacle(MOVED, f"{row.branch} has moved"))
        return reasons

    def _worktree_obstacles(self, branch: str) -> Iterator[Obstacle]:
        for tree in self.trees:
            if tree.rebased == branch:
                yield Obstacle(REBASING, f"{branch} is being rebased")
            if tree.branch != branch or tree.defect or self.request.allow_dirty:
                continue
            changed = uncommitted(self.base.git(tree.path), tree.path)
            if changed:
                text = f"its worktree has uncommitted changes: {changed_text(changed)}"
                yield Obstacle(DIRTY, text)

    def _newer(self, row: ThreadRow, tip: str) -> int:
        """Return how many commits of a branch are newer than its approval: those since
        the last entry from that branch before it."""
        if row.review.outcome != APPROVED:
            return 0
        commit = ""
        for entry in self.context.reader.thread(row.topic).entries:
            if entry.id == row.review.id:
                break
            if entry.code_branch == row.branch and entry.code_commit:
                commit = entry.code_commit
        if not commit:
            return 0
        try:
            words = ("rev-list", "--count", f"^{commit}", f"^{self.base.commit}", tip)
            return int(self.base.git().line(*words))
        except GitError:
            return 0  # the commit is not here

    # --- in which order -----------------------------------------------------------

    def ordered(self, choices: Sequence[LandingChoice]) -> list[LandingChoice]:
        """Return the choices in the order in which they land: what they wait for first,
        then the fewest conflicts, then the oldest. Raises StorageError."""
        if len(choices) < 2:  # noqa: PLR2004 - nothing to order
            return list(choices)
        by_topic = {choice.topic: choice for choice in choices}
        counts = self._conflict_counts(choices)
        candidates = [
            LandingCandidate(
                choice.topic,
                choice.after,
                _since_ms(choice.row),
                merges=not counts[frozenset((choice.topic, _BASE))],
            )
            for choice in choices
        ]
        order = landing_order(candidates, lambda *pair: counts[frozenset(pair)])
        return [by_topic[candidate.topic] for candidate in order]

    def _conflict_counts(
        self, choices: Sequence[LandingChoice]
    ) -> dict[frozenset[str], int]:
        """Return in how many files each two branches conflict, and each with the base
        branch, whose topic is empty."""
        tips = {_BASE: self.base.commit} | {item.topic: item.tip for item in choices}
        pairs = list(itertools.combinations(tips, 2))
        with self._git_errors(), self._trial_objects() as objects:
            builder = builder_on(
                self.repository, self.base.commit, self.context.env, objects, sign=False
            )
            with builder as at:
                commits = [(tips[first], tips[second]) for first, second in pairs]
                results = merges.merge_all(at.git, objects, commits)
        return {
            frozenset(pair): len(result.conflicts)
            for pair, result in zip(pairs, results, strict=True)
        }

    def predictions(
        self, choices: Sequence[LandingChoice]
    ) -> Iterator[LandingPrediction]:
        """Yield what landing these one after the other would give; nothing is changed.
        Raises StorageError."""
        names = {choice.topic: choice.row.name for choice in choices}
        landed: list[LandingChoice] = []
        failed: set[str] = set()
        commit, env = self.base.commit, self.context.env
        with self._git_errors(), self._trial_objects() as objects:
            for choice in choices:
                missing = sorted(names[topic] for topic in choice.after & failed)
                if missing:
                    failed.add(choice.topic)
                    yield LandingPrediction(choice, BuiltLanding(), (), tuple(missing))
                    continue
                builder = builder_on(self.repository, commit, env, objects, sign=False)
                with builder as at:
                    built = at.build(commit, choice.tip, self.method, choice.text)
                    tips = [(earlier.tip, choice.tip) for earlier in landed]
                    against = [] if built.commit else tips
                    results = merges.merge_all(at.git, objects, against)
                rivals = tuple(
                    earlier.row.name
                    for earlier, result in zip(landed, results, strict=False)
                    if result.conflicts
                )
                yield LandingPrediction(choice, built, rivals)
                if built.commit:
                    landed.append(choice)
                    commit = built.commit
                else:
                    failed.add(choice.topic)

    @contextlib.contextmanager
    def _trial_objects(self) -> Iterator[MergePlace]:
        """A place for objects that nobody needs afterwards."""
        own = f"{self.repository.common}/objects"
        with tempfile.TemporaryDirectory(prefix="wc-land-") as folder:
            yield MergePlace(
                {
                    "GIT_OBJECT_DIRECTORY": folder,
                    "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates(own),
                }
            )

    @contextlib.contextmanager
    def _git_errors(self) -> Iterator[None]:
        try:
            yield
        except GitError as error:
            raise StorageError(
                f"The branches could not be compared: {error}.",
                "Check that git works here: git status",
            ) from error


def _without_blocked(
    choices: Sequence[LandingChoice], plan: ThreadPlan
) -> list[LandingChoice]:
    """Return the choices; one that waits for a thread that cannot land now gets that as
    an obstacle, and so on."""
    choices = list(choices)
    while True:
        able = {choice.topic for choice in choices if not choice.obstacles}
        again = [
            choice._replace(obstacles=_waits(choice, plan, able))
            if choice.topic in able
            else choice
            for choice in choices
        ]
        if again == choices:
            return choices
        choices = again


def _waits(
    choice: LandingChoice, plan: ThreadPlan, able: Iterable[str]
) -> tuple[Obstacle, ...]:
    waits = plan.waits(choice.topic)
    return tuple(item for item in waits if item.topic and item.topic not in able)


def _since_ms(row: ThreadRow) -> int:
    """Return since when a thread has waited to land."""
    return milliseconds(row.updated_at) or now_ms()
