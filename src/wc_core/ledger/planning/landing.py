"""Whether a thread's branch can land, and if not, why. The command, lists, the page and
the server's tools all use this.

What only git knows is not part of it: whether the branch has commits that the base
branch lacks, and whether its worktree has uncommitted changes.
"""

from __future__ import annotations

from itertools import dropwhile

from wc_core.base.layout import BRANCH
from wc_core.base.lean.functools import partial
from wc_core.base.names import OTHERS, fold, parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import LAND_NEEDS
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.trunk import find_base
from wc_core.ledger.planning.obstacles import BALL, STATUS, WAITS, Obstacle
from wc_core.ledger.provenance import APPROVE, HERE, may
from wc_core.ledger.threads.model import (
    APPROVED,
    BLOCKED,
    CLOSED,
    NO_REVIEW,
    outcome_text,
    reviewed,
)
from wc_core.ledger.threads.revisions import RETRACT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_core.base.names import Directory
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.provenance import Provenance
    from wc_core.ledger.threads.landings import Landing
    from wc_core.ledger.threads.model import Review
    from wc_core.ledger.threads.reader import Thread

READY_TO_LAND = "ready to land"
CHANGED_SINCE = "approved, changed since"
_NEEDS_APPROVED, _NEEDS_CLOSED, _ = LAND_NEEDS
# Codes of obstacles, beside those of `wc_core.ledger.planning.obstacles`: its
# review; its branch is none, or is not here; there is no branch to land on; it has
# landed, and perhaps its branch has changed since; its approval names no commit, or the
# branch has others since.
REVIEW, BRANCH_MISSING, BASE_MISSING = "REVIEW", "BRANCH", "BASE"
HAS_LANDED, HAS_CHANGED = "LANDED", "CHANGED"
UNNAMED, NEWER = "APPROVAL", "NEWER"


class LandingThread(NamedTuple):
    """What is asked of a thread: ``ownership`` says whose its ball is for a viewer
    (`names.Directory.whose`), ``waits`` what it waits for, in words, and ``reason``
    why its approval does not count here."""

    status: str
    ball: str | None
    ownership: str
    branch: str
    review: Review
    landing: Landing
    waits: tuple[str, ...] = ()
    reason: str = ""


class CountedReview(NamedTuple):
    """The review of a thread as far as it counts on this machine, and why its approval
    does not; empty if it does, or if there is none."""

    review: Review
    reason: str = ""


def counted_review(
    thread: Thread, provenance: Provenance, is_named: Callable[[str], bool]
) -> CountedReview:
    """Return the latest approval of a thread that may have it land here: one that a
    person gave in this clone, or whose author ``is_named`` by a setting of this
    machine. A request for changes after it, or a change of the status, ends it."""
    latest = thread.state.review
    if latest.outcome != APPROVED:
        return CountedReview(latest)
    retracted = {e.supersedes for e in thread.entries if e.action == RETRACT}
    entries = dropwhile(lambda item: item.id != latest.id, reversed(thread.entries))
    for entry in entries:
        if entry.outcome == APPROVED and entry.id not in retracted:
            origin = provenance.of(thread, entry.id)
            if may(APPROVE, origin, partial(is_named, entry.agent)):
                return CountedReview(reviewed(NO_REVIEW, entry, latest.of))
        elif entry.outcome or entry.status:
            break
    origin = provenance.of(thread, latest.id)
    reason = f"it was {latest.text}, which no person has confirmed"
    if origin.kind != HERE:
        reason = f"it was {latest.text}, which {origin.text('done')}"
    return CountedReview(latest._replace(outcome=""), reason)


def is_own_work(thread: Thread, branch: str, directory: Directory) -> bool:
    """Return whether the agent that approved a branch has worked on it, in any seat:
    it passed the ball of the thread on from there, or gets it back."""
    review = thread.state.review
    workers = [
        entry.agent
        for entry in thread.entries
        if entry.ball is not None and not entry.outcome and entry.code_branch == branch
    ]

    def agent_of(name: str) -> str:
        return fold(directory.canonical(parse(name)).agent)

    reviewer = agent_of(review.run_by or review.by)
    return reviewer in {agent_of(name) for name in (*workers, review.of) if name}


class LandingBranches:
    """The branches of a repository as its refs say: the one that others land on, and
    the commits of the others. ``onto`` is the base branch, unless it is named; empty if
    there is none."""

    def __init__(self, repository: Repository | None, onto: str = "") -> None:
        self._repository = repository
        self._tips: dict[str, str] = {}
        self.onto = onto
        if repository is not None and not onto:
            # What is checked out in the main worktree, or the default of a bare one.
            own = repositories.head_branch(repository.common)
            self.onto = find_base(repository, own).name

    def tip(self, branch: str) -> str:
        """The commit of a local branch; empty if there is none."""
        if self._repository is None or not branch:
            return ""
        if branch not in self._tips:
            ref = f"refs/heads/{branch}"
            self._tips[branch] = repositories.resolve(self._repository, ref)
        return self._tips[branch]


def landing_obstacles(
    thread: LandingThread, branches: LandingBranches, needs: str
) -> Iterator[Obstacle]:
    """Yield why a thread's branch cannot land now unless a person names it; nothing if
    it can."""
    yield from own_landing_obstacles(thread, branches, needs)
    for words in thread.waits:
        yield Obstacle(WAITS, f"it waits for {words}", words=words)


def approval_obstacle(
    thread: LandingThread, tip: str, *, must_be_approved: bool
) -> Obstacle | None:
    """Why the commit ``tip`` of a thread's branch may not land, although it is approved
    or need not be: an approval is about one commit, and only that one lands."""
    if thread.review.outcome != APPROVED:
        return None
    if thread.review.commit == tip:
        return None
    if thread.review.commit:
        text = f"{thread.branch} has changed since it was approved"
        return Obstacle(NEWER, text)
    if not must_be_approved:
        return None
    return Obstacle(UNNAMED, "its approval names no commit")


def own_landing_obstacles(
    thread: LandingThread,
    branches: LandingBranches,
    needs: str,
    *,
    by_name: bool = False,
) -> Iterator[Obstacle]:
    """Yield why a thread's branch cannot land now, apart from what it waits for.

    What the store says that it ``needs`` can come with a push. So a thread has to be
    approved, whatever it says, unless a person lands it ``by_name``.
    """
    if thread.landing.commit:
        on_branch = list(_branch_obstacles(thread, branches, must_be_approved=False))
        if any(item.code in {HAS_LANDED, HAS_CHANGED} for item in on_branch):
            yield from on_branch
            return
    outcome = thread.review.outcome
    must_be_approved = needs == _NEEDS_APPROVED or not by_name
    if must_be_approved and outcome != APPROVED:
        text = thread.reason or outcome_text(outcome) or "it is not approved"
        yield Obstacle(REVIEW, text)
    if needs == _NEEDS_CLOSED and thread.status != CLOSED:
        yield Obstacle(STATUS, "it is not closed")
    if thread.status == BLOCKED:
        yield Obstacle(STATUS, "it is BLOCKED")
    if thread.ownership == OTHERS and thread.status != CLOSED:
        yield Obstacle(BALL, f"its ball is {thread.ball}'s")
    yield from _branch_obstacles(thread, branches, must_be_approved=must_be_approved)


def _branch_obstacles(
    thread: LandingThread, branches: LandingBranches, *, must_be_approved: bool
) -> Iterator[Obstacle]:
    branch = thread.branch
    if not branches.onto:
        yield Obstacle(BASE_MISSING, "there is no branch to land on")
    elif not branch:
        yield Obstacle(BRANCH_MISSING, "it belongs to no branch")
    elif branch == BRANCH:
        text = f"it belongs to {branch}, which holds the threads"
        yield Obstacle(BRANCH_MISSING, text)
    elif branch == branches.onto:
        yield Obstacle(BRANCH_MISSING, f"it belongs to {branch} itself")
    else:
        tip = branches.tip(branch)
        if thread.landing.commit and tip in {"", thread.landing.tip}:
            yield Obstacle(HAS_LANDED, f"it has landed on {thread.landing.onto}")
        elif thread.landing.commit:
            # Its approval was about what has landed. Reopening it forgets both.
            onto = thread.landing.onto
            text = f"it has landed on {onto}, and {branch} has changed since"
            yield Obstacle(HAS_CHANGED, text)
        elif not tip:
            text = f"its branch {branch} is not in this repository"
            yield Obstacle(BRANCH_MISSING, text)
        elif reason := approval_obstacle(
            thread, tip, must_be_approved=must_be_approved
        ):
            yield reason
