"""Finds out what waits to land, see `wc_core.ledger.planning.unlanded`.

A thread no longer waits once the base branch, here or as last fetched, has its commits,
or merging them would change nothing: most teams squash on their host. Neither does one
whose branch is gone here and at the remote, or whose pull request is known to be
merged.
"""

from __future__ import annotations

import os

from wc_cli.edits.landing.building import trial_objects
from wc_cli.edits.landing.missing import MissingCommits
from wc_cli.edits.landing.publishing import BasePlace
from wc_cli.edits.radar import merges
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.store import locks
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import WcError
from wc_core.base.layout import BRANCH
from wc_core.base.lean import contextlib
from wc_core.base.lean.functools import partial
from wc_core.base.names import parse
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git import discovery
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.freshness import freshness
from wc_core.ledger.planning import unlanded
from wc_core.ledger.planning.landing import LandingBranches, counted_review
from wc_core.ledger.planning.nextmoves import APPROVE, LAND, NextMove
from wc_core.ledger.provenance import HERE, Provenance
from wc_core.ledger.threads import counterparts, settings
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.people.identity import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread

_PATIENCE_SECONDS = 2.0
_REVIEWED = """SELECT topic FROM threads WHERE more LIKE '%"review"%'"""


def refresh(
    reader: StoreReader, env: Mapping[str, str], topics: Collection[str] | None = None
) -> None:
    """Look again at these threads and at those that were waiting to land; without
    ``topics``, at all that are approved. Failures are left to the next time."""
    layout, root = reader.layout, reader.layout.root
    repository = repositories.find(root)
    if repository is None:
        return
    with contextlib.suppress(WcError, OSError, GitError):
        lock = f"{layout.local}/locks/unlanded"
        with locks.locked(lock, "looking at branches", _PATIENCE_SECONDS, root):
            earlier = unlanded.load(layout)
            if topics is None or earlier is None:
                candidates: Collection[str] = _approved(reader)
            else:
                candidates = {*earlier, *topics}
            moves = _Branches(reader, repository, env).moves(candidates)
            local = LocalFiles(layout)
            data = unlanded.encode(moves)
            if not local.write(os.path.basename(layout.unlanded), data):
                os.utime(layout.unlanded, follow_symlinks=False)
            local.stamp.renew()


def _approved(reader: StoreReader) -> set[str]:
    """Return the threads that may be approved."""
    fresh = freshness(reader)
    try:
        rows = fresh.cache.ask(_REVIEWED) if fresh.cache is not None else []
    except UnusableCacheError:
        return {*reader.topics()}
    return {*fresh.direct, *(topic for (topic,) in rows)}


class _Branches:
    """The branches of a repository, for the threads of its store."""

    def __init__(
        self, reader: StoreReader, repository: Repository, env: Mapping[str, str]
    ) -> None:
        self._reader = reader
        self._repository = repository
        self._directory = settings.load(reader.layout.root, env).directory
        user = resolve.winning_rule(resolve.user_rules(env, repository)).value
        self._user = parse(user)
        self._provenance = Provenance(reader.layout)
        self._land_by = preferences.load(env).land_by
        self._base = BasePlace(repository, env, LandingBranches(repository).onto)

    def moves(self, topics: Iterable[str]) -> dict[str, NextMove]:
        """Return the moves that closed threads wait for, by topic. Raises GitError."""
        threads: dict[str, tuple[Thread, str]] = {}
        for topic in sorted(topics):
            with contextlib.suppress(WcError):
                state = self._reader.snapshot(topic).state
                tip = "" if state.status != CLOSED else self._tip(topic, state)
                if tip and len(threads) < unlanded.MOST:
                    threads[topic] = (self._reader.thread(topic), tip)
        all_tips = tips = frozenset(tip for _, tip in threads.values())
        bases = self._bases() if tips else []
        lacks = [MissingCommits(self._base.git(), base, all_tips) for base in bases]
        for base, missing in zip(bases, lacks, strict=True):
            tips -= self._landed(base, tips, missing)
        return {
            topic: self._move(thread, tip, lacks[0])
            for topic, (thread, tip) in threads.items()
            if bases and tip in tips
        }

    def _tip(self, topic: str, state: State) -> str:
        """Return the commit of the branch of an approved thread that has not landed, as
        far as its log says; empty for another. Raises WcError."""
        if state.review.outcome != APPROVED or state.landing.is_over:
            return ""
        thread, onto = self._reader.thread(topic), self._base.name
        branch = approved_branch(thread, onto)
        if branch in {"", onto, BRANCH}:
            return ""
        return repositories.branch_commit(self._repository, branch)

    def _bases(self) -> list[str]:
        """Return the commits of the base branch, here and as last fetched."""
        onto = self._base.name
        names = repositories.remote_branches(self._repository, onto)
        remote = [f"refs/remotes/{name}/{onto}" for name in names]
        refs = (f"refs/heads/{onto}", *remote, f"refs/remotes/{onto}")
        commits = map(partial(repositories.resolve, self._repository), refs)
        return [*dict.fromkeys(filter(None, commits))]

    def _landed(
        self, base: str, tips: Iterable[str], missing: MissingCommits
    ) -> set[str]:
        """Return the commits that a base has, or all of whose changes it has. Raises
        GitError."""
        landed = {tip for tip in tips if not missing.of(tip)}
        unlanded_tips = sorted(set(tips) - landed)
        git = self._base.git()
        tree = git.line("rev-parse", f"{base}^{{tree}}") if unlanded_tips else ""
        with trial_objects(self._repository) as objects:
            merged = merges.merge_all(
                git, objects, [(base, tip) for tip in unlanded_tips]
            )
        for tip, result in zip(unlanded_tips, merged, strict=True):
            if result.tree == tree and not (result.conflicts or result.problem):
                landed.add(tip)
        return landed

    def _move(self, thread: Thread, tip: str, missing: MissingCommits) -> NextMove:
        """Return the move that a branch waits for: to land it if a person has approved
        what it has now, otherwise to approve it. Raises GitError."""
        state, latest = thread.state, thread.state.review
        counted = counted_review(thread, self._provenance, self._is_named)
        review = latest if counted.reason else counted.review
        origin = self._provenance.of(thread, latest.id)
        is_agents = bool(review.run_by) or self._directory.is_agent(parse(review.by))
        if is_agents or (origin.kind == HERE and not origin.by_person):
            person = counterparts.person_for(state, self._user, self._directory)
            return NextMove(APPROVE, person, latest.id, review.by_text)
        newer = missing.of(tip) - missing.of(review.commit)
        is_there = review.commit in missing.of(tip)
        is_current = is_there and not missing.without_carriers(newer)
        # With a push, anyone can say so by this person's name.
        is_false = bool(counted.reason) and self._is_own(review.by)
        if is_current and not is_false:
            return NextMove(LAND, review.by, latest.id)
        return NextMove(APPROVE, review.by, latest.id, review.by_text)

    def _is_own(self, author: str) -> bool:
        """Return whether an author has this person's name, in a store whose entries are
        recorded."""
        is_recorded = discovery.checkout_at(self._reader.layout.root) is not None
        return is_recorded and self._directory.same(author, str(self._user))

    def _is_named(self, author: str) -> bool:
        return any(
            self._directory.matches(name, parse(author)) for name in self._land_by
        )
