"""Which commit an approval is about, and whether its author can have seen it.

What `wc review` last showed to whom is kept in git's common folder, where neither a
push nor a sync writes: ``watercooler/shown/FIRST ENTRY PARTICIPANT``, a line with the
commit and the branch.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch.git import NO_NETWORK, Git, GitError
from wc_cli.ledger.store import durable
from wc_core.base.errors import ConflictError, WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import BRANCH, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.review.points import work_branch
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.planning.landing import LandingBranches
from wc_core.ledger.provenance import HERE, Provenance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.provenance import EntryOrigin
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.people.identity.viewer import Viewer

SHORT = 10
# Longer than any review.
_MAX_AGE_SECONDS = 30 * 24 * 3600
_MAX_BYTES = 1 << 12


class Approval(NamedTuple):
    """What an approval is about: the ``commit`` of a ``branch``. Both are empty for a
    thread without a branch of its own, the commit if the branch is not here."""

    branch: str = ""
    commit: str = ""

    @property
    def text(self) -> str:
        """What was approved, for the receipt; empty if that is nothing."""
        if not self.commit:
            return ""
        branch = f" of branch {self.branch}" if self.branch else ""
        return f"approved {self.commit[:SHORT]}{branch}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What its author should know."""
        if self.commit or not self.branch:
            return ()
        reason = f"there is no branch {self.branch} here"
        return (f"{reason}, so this approval names no commit, and nothing can land",)


NO_APPROVAL = Approval()


class Reviewer(NamedTuple):
    """Who reviews: the participant, and the ``author`` as in their entries."""

    viewer: Viewer
    author: str


def approval_of(
    draft: Draft,
    reader: StoreReader,
    reviewer: Reviewer,
    repository: Repository | None,
    env: Mapping[str, str],
) -> Approval:
    """What a draft approves: the commit of the branch of its thread in a repository.

    Raises ConflictError if the branch is not where its author left it, or not where
    ``wc review`` showed it to the reviewer; a commit among the references of the draft
    that is the branch's says that it was seen nevertheless.
    """
    topic = reader.lookup(draft.topic)
    if repository is None or topic is None:
        return NO_APPROVAL
    thread = reader.thread(topic)
    for entry in thread.entries:
        if draft.key and entry.key == draft.key:  # nothing will be written
            return Approval("", entry.approved_commit)
    branch = reviewed_branch(thread, reviewer.author, repository)
    commit = repositories.branch_commit(repository, branch) if branch else ""
    if not repositories.is_object_id(commit):
        return Approval(branch)
    if commit not in draft.commit_refs:
        origin = Provenance(reader.layout).of_branch(thread, branch)
        approval = Approval(branch, commit)
        _check_seen(thread, approval, origin, reviewer, repository, env)
    return Approval(branch, commit)


def reviewed_branch(thread: Thread, author: str, repository: Repository) -> str:
    """The branch whose work a reviewer looks at now; empty if it is none of its own."""
    base = LandingBranches(repository).onto
    state = thread.state
    branch = work_branch(state.branch, thread.entries, author.__eq__, base)
    return "" if branch in {base, BRANCH} else branch


def _check_seen(
    thread: Thread,
    approval: Approval,
    origin: EntryOrigin,
    reviewer: Reviewer,
    repository: Repository,
    env: Mapping[str, str],
) -> None:
    """Raise ConflictError if a reviewer cannot have seen what they approve. ``origin``
    is that of what says that the thread belongs to the branch."""
    branch, commit = approval
    git = Git(repository.common, {**env, **NO_NETWORK}, bare=True)
    name, place = quoted(thread.name), f"{one_line(branch)} is at {commit[:SHORT]} here"
    hint = f"Look at what is there: wc review {name}"
    latest = _latest_work(thread, branch, reviewer)
    if latest is not None and _is_behind(git, repository, approval, latest.code_commit):
        number = [entry.id for entry in thread.entries].index(latest.id)
        raise ConflictError(
            f"{place}, without {latest.code_commit[:SHORT]}, where "
            f"{one_line(latest.agent)} wrote #{number}.",
            f"Fetch it, then: wc review {name}. If the branch was rewritten since: "
            f"wc say {name} --approve --commit {commit[:SHORT]}",
        )
    shown_branch, last_seen = _shown(thread, reviewer.viewer, repository)
    if shown_branch == branch and not _contains(git, last_seen, commit):
        raise ConflictError(
            f"{place}, and wc review showed you {last_seen[:SHORT]}.", hint
        )
    if shown_branch not in {"", branch}:
        raise ConflictError(
            f"{name} belongs to {one_line(branch)} now, and wc review showed you "
            f"{one_line(shown_branch)}.",
            hint,
        )
    if not shown_branch and origin.kind != HERE:
        raise ConflictError(
            f"It {origin.text('said')} that {name} belongs to {one_line(branch)}.", hint
        )


def _latest_work(thread: Thread, branch: str, reviewer: Reviewer) -> Entry | None:
    """The latest entry that someone else wrote on the branch, with a commit."""
    entry: Entry
    for entry in reversed(thread.entries):
        has_commit = repositories.is_object_id(entry.code_commit)
        is_own = reviewer.viewer.is_me(entry.agent)
        if has_commit and entry.code_branch == branch and not is_own:
            return entry
    return None


def _is_behind(git: Git, repository: Repository, approval: Approval, work: str) -> bool:
    """Return whether the commit ``work`` of a branch has not arrived in it here: it is
    elsewhere, or only in a fetched branch. What was here and was rewritten has."""
    if _contains(git, approval.commit, work):
        return False
    if not _contains(git, work, work):
        return True
    branch = approval.branch
    remotes = repositories.remote_branches(repository, branch)
    refs = [f"refs/remotes/{remote}/{branch}" for remote in remotes]
    if not any(_contains(git, ref, work) for ref in refs):
        return False
    with contextlib.suppress(GitError):
        log = git.line("rev-list", "--walk-reflogs", f"refs/heads/{branch}")
        return work not in log.split()
    return True


def _contains(git: Git, commit: str, ancestor: str) -> bool:
    """Return whether a commit is here, and has another among its ancestors."""
    with contextlib.suppress(GitError):
        git.run("merge-base", "--is-ancestor", ancestor, commit)
        return True
    return False


# --- what wc review showed ------------------------------------------------------------


def note_shown(
    thread: Thread, viewer: Viewer, repository: Repository, approval: Approval
) -> None:
    """Remember that a participant was shown a branch as it was at a commit, as far as
    this can be written."""
    path = _path(thread, viewer, repository)
    folder, half = os.path.dirname(path), f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError, WcError):
        durable.make_folder(folder, flush=False)
        data = os.fsencode(f"{approval.commit} {approval.branch}\n")
        durable.write_new(half, data)
        durable.move(half, path, "")
        limit = time.time() - _MAX_AGE_SECONDS
        for name in os.listdir(folder):
            if os.stat(f"{folder}/{name}").st_mtime < limit:
                durable.remove(f"{folder}/{name}")


def _shown(thread: Thread, viewer: Viewer, repository: Repository) -> tuple[str, str]:
    """The branch that a participant was shown, and its commit; both empty if none."""
    data = b""
    with contextlib.suppress(OSError):
        path = _path(thread, viewer, repository)
        data = read_plain(path, limit=_MAX_BYTES) or b""
    commit, _, branch = os.fsdecode(data).rstrip("\n").partition(" ")
    return (branch, commit) if repositories.is_object_id(commit) else ("", "")


def _path(thread: Thread, viewer: Viewer, repository: Repository) -> str:
    name = safe_name(f"{thread.state.topic} {viewer.key}")
    return f"{repository.common}/watercooler/shown/{name}"
