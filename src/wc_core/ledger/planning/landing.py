"""Whether a thread's branch can land, and if not, why. The command, lists, the page and
the server's tools all use this.

What only git knows is not part of it: whether the branch has commits that the base
branch lacks, and whether its worktree has uncommitted changes.
"""

from __future__ import annotations

from wc_core.base.layout import BRANCH
from wc_core.base.names import OTHERS
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import LAND_NEEDS
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.trunk import find_base
from wc_core.ledger.planning.obstacles import BALL, STATUS, WAITS, Obstacle
from wc_core.ledger.threads.model import APPROVED, BLOCKED, CLOSED, outcome_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.landings import Landing
    from wc_core.ledger.threads.model import Review

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
    (`names.Directory.whose`), ``waits`` what it waits for, in words."""

    status: str
    ball: str | None
    ownership: str
    branch: str
    review: Review
    landing: Landing
    waits: tuple[str, ...] = ()


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
    """Yield why a thread's branch cannot land now; nothing if it can."""
    yield from own_landing_obstacles(thread, branches, needs)
    for words in thread.waits:
        yield Obstacle(WAITS, f"it waits for {words}", words=words)


def approval_obstacle(thread: LandingThread, tip: str, needs: str) -> Obstacle | None:
    """Why the commit ``tip`` of a thread's branch may not land, although it is approved
    or need not be: an approval is about one commit, and only that one lands."""
    if thread.review.outcome != APPROVED:
        return None
    if thread.review.commit == tip:
        return None
    if thread.review.commit:
        text = f"{thread.branch} has changed since it was approved"
        return Obstacle(NEWER, text)
    if needs != _NEEDS_APPROVED:
        return None
    return Obstacle(UNNAMED, "it was approved before wc recorded which commit")


def own_landing_obstacles(
    thread: LandingThread, branches: LandingBranches, needs: str
) -> Iterator[Obstacle]:
    """Yield why a thread's branch cannot land now, apart from what it waits for."""
    outcome = thread.review.outcome
    if needs == _NEEDS_APPROVED and outcome != APPROVED:
        yield Obstacle(REVIEW, outcome_text(outcome) or "it is not approved")
    if needs == _NEEDS_CLOSED and thread.status != CLOSED:
        yield Obstacle(STATUS, "it is not closed")
    if thread.status == BLOCKED:
        yield Obstacle(STATUS, "it is BLOCKED")
    if thread.ownership == OTHERS and thread.status != CLOSED:
        yield Obstacle(BALL, f"its ball is {thread.ball}'s")
    yield from _branch_obstacles(thread, branches, needs)


def _branch_obstacles(
    thread: LandingThread, branches: LandingBranches, needs: str
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
        elif reason := approval_obstacle(thread, tip, needs):
            yield reason
