"""Which threads' branches can land, in which order, and why others cannot."""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_cli.agents.landing.returning import SHORT
from wc_cli.agents.runs.places import changed_text, uncommitted_in
from wc_cli.edits.landing.building import (
    REBASE,
    BuiltLanding,
    LandingText,
    builder_on,
    trial_objects,
)
from wc_cli.edits.landing.missing import MissingCommits
from wc_cli.edits.landing.publishing import BasePlace
from wc_cli.edits.landing.rivals import LandingRivals, find_rivals
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.clock import now_ms
from wc_core.attention.runs import records
from wc_core.base.errors import (
    InvalidInputError,
    NotFoundError,
    StorageError,
    WcError,
)
from wc_core.base.layout import BRANCH
from wc_core.base.lean import contextlib
from wc_core.base.lean.functools import cached_property
from wc_core.base.names import parse
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.times import milliseconds
from wc_core.base.values import NamedTuple
from wc_core.edits.radar.landingorder import LandingCandidate, landing_order
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git import config
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.planning.landing import (
    NEWER,
    CountedReview,
    LandingBranches,
    counted_review,
    is_own_work,
    own_landing_obstacles,
)
from wc_core.ledger.planning.obstacles import GATE, Obstacle
from wc_core.ledger.provenance import HERE, Provenance
from wc_core.ledger.threads.landings import NO_LANDING
from wc_core.ledger.threads.model import APPROVED, CLOSED, NO_REVIEW
from wc_core.reading.views.overview import on_own_branch
from wc_core.reading.views.rows import thread_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from wc_cli.run.context import Context
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.planning.landing import LandingThread
    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.rows import ThreadRow

# Codes of obstacles that only git knows: uncommitted changes, a rebase that is not
# finished, no commits, no common history, a branch without the approved commit, work
# that was continued on another branch; or that have come up during a check.
DIRTY, REBASING, MERGED, UNRELATED = "DIRTY", "REBASING", "MERGED", "UNRELATED"
REWRITTEN, MOVED, ELSEWHERE = "REWRITTEN", "MOVED", "ELSEWHERE"
_MAX_NEWER = 20


class LandingRequest(NamedTuple):
    """What `wc land` was asked for: only these ``topics``, by their stored names
    (empty: all that can land); ``onto`` which branch (empty: the base branch); how
    (`building.METHODS`); ``allow_dirty``: also branches whose worktree has uncommitted
    changes. ``commits`` has the commit that a person named for a topic, or the first
    digits of its id: it lands, also if it is newer than what was approved."""

    topics: tuple[str, ...] = ()
    onto: str = ""
    method: str = ""
    allow_dirty: bool = False
    commits: Mapping[str, str] = MappingProxyType({})


class LandingChoice(NamedTuple):
    """A thread, as a row, the commit ``tip`` of its branch, the ``commit`` of it that
    lands, and how many commits the base branch lacks of that. ``obstacles`` are why it
    cannot land, ``after`` are the topics that have to land before it. ``newer`` counts
    the commits of the branch since the one that lands."""

    row: ThreadRow
    tip: str = ""
    commit: str = ""
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
        is_reviewed = review.outcome == APPROVED and review.commit == self.commit
        by = review.by if is_reviewed else ""
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
    """Looks at the threads and branches of a repository once. ``note`` is called with
    what it does now."""

    def __init__(
        self,
        context: Context,
        request: LandingRequest,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        repository = context.place.repository
        if repository is None:
            raise InvalidInputError(
                "Only branches of a git repository can land.",
                "Run it in the repository of the code.",
            )
        self.context = context
        self.note = note
        self.repository: Repository = repository
        self.request = request
        self.branches = LandingBranches(repository, request.onto)
        self.base = self._base()
        signs = config.get("commit.gpgSign", repository, context.env)
        self.sign = config.is_true(signs)
        self.trees = self.base.trees
        self.rivals = LandingRivals()
        self._provenance = Provenance(context.reader.layout)
        self._land_by = preferences.load(context.env).land_by
        # Why approvals do not count, by topic, and those of agents that a person
        # confirms by landing the thread by name.
        self._uncounted: dict[str, str] = {}
        self.confirmed: dict[str, str] = {}

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
        try:
            return self._choices()
        finally:
            self.note("")

    def _choices(self) -> list[LandingChoice]:
        topics = set(self.request.topics)
        reader, onto = self.context.reader, self.branches.onto
        rows = [
            on_own_branch(reader, row, onto)
            if row.topic in topics or row.review.outcome == APPROVED
            else row
            for row in self.context.overview.rows()
        ]
        rows_to_land = [
            self._from_log(row)
            for row in rows
            if (row.topic in topics if topics else self._is_about(row))
        ]
        self.note("looking at the branches")
        plan = self.context.overview.plan()
        choices = [self._look(row, plan) for row in rows_to_land]
        with self._git_errors():
            choices = self._with_commits(choices)
        choices = _without_blocked(choices, plan)
        able = [choice for choice in choices if not choice.obstacles]
        unable = [choice for choice in choices if choice.obstacles]
        return [*self.ordered(able), *unable]

    @cached_property
    def lands_by_name(self) -> bool:
        """Whether a person lands these threads by name: that is their word for it."""
        return bool(self.request.topics) and self.context.is_person

    def _from_log(self, row: ThreadRow) -> ThreadRow:
        """Return a row as the log has it, because a push can contain any other file,
        with its review as far as it counts here."""
        try:
            thread = self.context.reader.thread(row.topic)
        except WcError:
            return row._replace(review=NO_REVIEW)
        reader, viewer = self.context.reader, self.context.viewer
        fresh = thread_row(reader, thread.snapshot, viewer)._replace(waits=row.waits)
        own = on_own_branch(reader, fresh, self.branches.onto)
        counted = self._counted(thread, own.branch)
        self._uncounted[row.topic] = counted.reason
        return own._replace(review=counted.review)

    def _counted(self, thread: Thread, branch: str) -> CountedReview:
        """Return the review of a thread as far as it counts for landing it. If a person
        lands it by name, that of another agent does: the person confirms it."""
        review, topic = thread.state.review, thread.state.topic
        counted = counted_review(thread, self._provenance, self._is_named)
        if counted.reason and self.context.place.kind != BRANCH_STORE:
            # Nothing is recorded of a store that wc does not commit.
            command = f"wc config --global set land.by {quoted(review.by)}"
            reason = f"{counted.reason}; to have it count: {command}"
            return counted._replace(reason=reason)
        is_here = self._provenance.of(thread, review.id).kind == HERE
        if not (counted.reason and is_here and self.lands_by_name):
            return counted
        directory = self.context.settings.directory
        record = records.load(self.context.reader.layout, topic)
        reviewer = parse(review.run_by or review.by).agent
        is_runner = record is not None and directory.same(
            parse(record.agent).agent, reviewer
        )
        if is_runner or is_own_work(thread, branch, directory):
            reason = f"it was {review.text}, who worked on it"
            return counted._replace(reason=reason)
        self.confirmed[topic] = review.text
        return CountedReview(review)

    def _is_named(self, author: str) -> bool:
        """Return whether this person lets an author's approvals from elsewhere
        count."""
        names, directory = self._land_by, self.context.settings.directory
        return any(directory.matches(name, parse(author)) for name in names)

    def _own_obstacles(
        self, row: ThreadRow, branches: LandingBranches
    ) -> Iterator[Obstacle]:
        """Yield why a branch cannot land, apart from what it waits for."""
        needs = self.context.settings.land_needs
        thread = self._thread(row, branches)
        return own_landing_obstacles(
            thread, branches, needs, by_name=self.lands_by_name
        )

    def _is_about(self, row: ThreadRow) -> bool:
        """Return whether a thread is worth a line: it has a branch of its own here, and
        is open, or was approved and has not landed."""
        if row.branch in {"", self.branches.onto} or not self.branches.tip(row.branch):
            return False
        is_over = row.status == CLOSED and row.review.outcome != APPROVED
        needs_closed = self.context.settings.land_needs == "closed"
        return (needs_closed or not is_over) and not row.landing.is_over

    def _look(self, row: ThreadRow, plan: ThreadPlan) -> LandingChoice:
        reasons = list(self._own_obstacles(row, self.branches))
        tip = self.branches.tip(row.branch)
        waits = plan.waits(row.topic)
        reasons += [item for item in waits if item.code == GATE]
        after = frozenset(item.topic for item in waits if item.code != GATE)
        return LandingChoice(row, tip, tip, 0, tuple(reasons), after)

    def _with_commits(self, choices: Sequence[LandingChoice]) -> list[LandingChoice]:
        """Return the choices, those that could land with the commit that does, and with
        the obstacles that only git knows. Raises GitError and NotFoundError."""
        able = [
            choice
            for choice in choices
            if choice.tip and {item.code for item in choice.obstacles} <= {NEWER}
        ]
        tips = [choice.tip for choice in able]
        missing = MissingCommits(self.base.git(), self.base.commit, tips)
        in_worktree = self._worktree_obstacles({item.row.branch for item in able})
        decided = {
            choice.topic: self._with_commit(choice, missing, in_worktree)
            for choice in able
        }
        return [decided.get(choice.topic, choice) for choice in choices]

    def _with_commit(
        self,
        choice: LandingChoice,
        missing: MissingCommits,
        in_worktree: Mapping[str, Sequence[Obstacle]],
    ) -> LandingChoice:
        """Decide which commit of a branch may land, and if none may, why: what was
        approved, or what a person has named. Raises GitError and NotFoundError."""
        row, tip = choice.row, choice.tip
        named = self.request.commits.get(row.topic, "")
        is_approved = row.review.outcome == APPROVED and row.review.commit
        approved = row.review.commit if is_approved else tip
        commit = self._named_commit(choice, named, missing) if named else approved
        own = missing.of(tip)
        newer = len(missing.without_carriers(own - missing.of(commit)))
        reasons = list(in_worktree.get(row.branch, ()))
        if not self._leads_to(approved, tip, missing):
            text = f"{row.branch} no longer has {approved[:SHORT]}, which was approved"
            reasons.append(Obstacle(REWRITTEN, text))
        elif not missing.shares_history(tip):
            text = f"{row.branch} and {self.base.name} share no history"
            reasons.append(Obstacle(UNRELATED, text))
        elif newer and not named:
            text = f"{counted(newer, 'commit')} since it was approved"
            reasons.append(Obstacle(NEWER, text))
        elif not missing.of(commit):
            reasons.append(self._merged(row))
        return choice._replace(
            commit=commit,
            commit_count=len(missing.of(commit)),
            obstacles=tuple(reasons),
            newer=newer,
        )

    def _merged(self, row: ThreadRow) -> Obstacle:
        """Return that the base branch has all commits of a thread's branch: perhaps
        because the work was continued on another one. Raises GitError."""
        text = f"{self.base.name} has all commits of {row.branch}"
        entries = self.context.reader.thread(row.topic).entries
        apart = {"", self.base.name, BRANCH}
        latest = next(
            (e for e in reversed(entries) if e.code_branch not in apart), None
        )
        if latest is None or latest.code_branch == row.branch:
            return Obstacle(MERGED, text)
        branch = latest.code_branch
        tip = self.branches.tip(branch) or latest.code_commit
        if self.base.contains(self.base.commit, tip):
            return Obstacle(MERGED, text)
        text = f"{text}, but the last entry was written on {branch}, which has others"
        return Obstacle(ELSEWHERE, text, words=branch)

    def newer_commits(self, choice: LandingChoice) -> list[str]:
        """Return the commits of a branch since the one that lands, in words, the newest
        first. Raises StorageError."""
        words = ("log", "--no-show-signature", f"--max-count={_MAX_NEWER}")
        span = (choice.tip, f"^{choice.commit}", f"^{self.base.commit}")
        with self._git_errors():
            output = self.base.git().run(*words, "--format=%h %s", *span, "--")
        return [one_line(line) for line in os.fsdecode(output).splitlines()]

    def _leads_to(self, commit: str, tip: str, missing: MissingCommits) -> bool:
        """Return whether a branch has a commit."""
        return commit in {tip, *missing.of(tip)} or self.base.contains(tip, commit)

    def _named_commit(
        self, choice: LandingChoice, digits: str, missing: MissingCommits
    ) -> str:
        """Return the commit that a person named by the first digits of its id. Raises
        NotFoundError if it is none of the branch's, or more than one."""
        own = missing.of(choice.tip)
        matching = [commit for commit in own if commit.startswith(digits)]
        if len(matching) != 1:
            branch, base = one_line(choice.row.branch), one_line(self.base.name)
            count = "more than one commit" if matching else "no commit"
            raise NotFoundError(
                f"{branch} has {count} {digits} that {base} lacks.",
                f"See its commits: git log {base}..{branch}",
            )
        return matching[0]

    def _thread(self, row: ThreadRow, branches: LandingBranches) -> LandingThread:
        """Return what is asked of a thread. A landing that was undone does not count:
        someone has reset the branch since."""
        landing = row.landing
        if landing.commit and branches.tip(row.branch) == landing.tip:
            is_kept = self.base.is_kept(landing.commit, landing.onto, if_absent=True)
            row = row if is_kept else row._replace(landing=NO_LANDING)
        reason = self._uncounted.get(row.topic, "")
        return row.as_landing(CountedReview(row.review, reason))

    def obstacles_since(self, choice: LandingChoice) -> list[Obstacle]:
        """Return why a choice can no longer land: its check may have taken long. What
        is not committed in its worktree makes no difference by now."""
        rows = self.context.overview.rows()
        row = next((row for row in rows if row.topic == choice.topic), None)
        if row is None:
            return [Obstacle(MOVED, "its thread is gone")]
        row = self._from_log(row)
        branches = LandingBranches(self.repository, self.base.name)
        reasons = [
            item
            for item in self._own_obstacles(row, branches)
            # That there are newer commits was known.
            if item.code != NEWER or row.review.commit != choice.row.review.commit
        ]
        waits = self.context.overview.plan().waits(row.topic)
        reasons += [item for item in waits if item.topic not in choice.after]
        if row.branch != choice.row.branch:
            reasons.append(Obstacle(MOVED, f"it belongs to {row.branch} now"))
        elif not reasons and branches.tip(row.branch) != choice.tip:
            reasons.append(Obstacle(MOVED, f"{row.branch} has moved"))
        elif not reasons and row.review.id != choice.row.review.id:
            reasons.append(Obstacle(MOVED, "it was reviewed again"))
        return reasons

    def _worktree_obstacles(
        self, branches: Collection[str]
    ) -> dict[str, list[Obstacle]]:
        """Return what is in the way in the worktrees of branches. Raises GitError."""
        reasons: dict[str, list[Obstacle]] = {}
        trees = [tree for tree in self.trees if not tree.defect]
        for tree in self.trees:
            if (branch := tree.rebased) in branches:
                text = f"{branch} is being rebased"
                reasons.setdefault(branch, []).append(Obstacle(REBASING, text))
        if self.request.allow_dirty:
            return reasons
        trees = [tree for tree in trees if tree.branch in branches]
        gits = {tree.path: self.base.git(tree.path) for tree in trees}
        for number, changed in enumerate(uncommitted_in(gits)):
            tree = trees[number]
            self.note(f"looking at worktree {number + 1} of {len(trees)}")
            if changed:
                text = f"its worktree has uncommitted changes: {changed_text(changed)}"
                reasons.setdefault(tree.branch, []).append(Obstacle(DIRTY, text))
        return reasons

    # --- in which order -----------------------------------------------------------

    def ordered(self, choices: Sequence[LandingChoice]) -> list[LandingChoice]:
        """Return the choices in the order in which they land: what they wait for first,
        then the fewest conflicts, then the oldest. Raises StorageError."""
        if len(choices) < 2:  # noqa: PLR2004 - nothing to order
            return list(choices)
        by_topic = {choice.topic: choice for choice in choices}
        self.rivals = self._find_rivals(choices)
        candidates = [
            LandingCandidate(
                choice.topic,
                choice.after,
                _since_ms(choice.row),
                merges=choice.topic in self.rivals.merging,
            )
            for choice in choices
        ]
        pairs = self.rivals.pairs
        order = landing_order(candidates, lambda *pair: frozenset(pair) in pairs)
        return [by_topic[candidate.topic] for candidate in order]

    def _find_rivals(self, choices: Sequence[LandingChoice]) -> LandingRivals:
        """Find out which branches conflict with the base branch and with each other.
        Raises StorageError."""
        self.note(f"comparing {counted(len(choices), 'branch', 'branches')}")
        base, env = self.base.commit, self.context.env
        commits = {choice.topic: choice.commit for choice in choices}
        with self._git_errors(), trial_objects(self.repository) as objects:
            missing = MissingCommits(self.base.git(), base, commits.values())
            with builder_on(self.repository, base, env, objects, sign=False) as at:
                return find_rivals(at.git, objects, base, commits, missing)

    def predictions(
        self, choices: Sequence[LandingChoice]
    ) -> Iterator[LandingPrediction]:
        """Yield what landing these one after the other would give; nothing is changed.
        Raises StorageError."""
        try:
            yield from self._predictions(choices)
        finally:
            self.note("")

    def _predictions(
        self, choices: Sequence[LandingChoice]
    ) -> Iterator[LandingPrediction]:
        names = {choice.topic: choice.row.name for choice in choices}
        landed: list[str] = []
        failed: set[str] = set()
        commit, env = self.base.commit, self.context.env
        with (
            self._git_errors(),
            trial_objects(self.repository) as objects,
            builder_on(self.repository, commit, env, objects, sign=False) as first,
        ):
            tips = [choice.commit for choice in choices]
            is_plain = self.method != REBASE and first.is_plain(commit, tips)
            for number, choice in enumerate(choices, 1):
                self.note(f"merging {number} of {len(choices)}")
                missing = sorted(names[topic] for topic in choice.after & failed)
                if missing:
                    failed.add(choice.topic)
                    yield LandingPrediction(choice, BuiltLanding(), (), tuple(missing))
                    continue
                if is_plain:
                    built = first.try_merge(commit, choice.commit, self.method)
                else:
                    place = builder_on(
                        self.repository, commit, env, objects, sign=False
                    )
                    with place as at:
                        built = at.build(
                            commit, choice.commit, self.method, choice.text
                        )
                rivals = [] if built.commit else self.rivals.of(choice.topic, landed)
                yield LandingPrediction(
                    choice, built, tuple(names[topic] for topic in rivals)
                )
                if built.commit:
                    landed.append(choice.topic)
                    commit = built.commit
                else:
                    failed.add(choice.topic)

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
