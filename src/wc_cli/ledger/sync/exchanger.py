"""Exchanges the branch with a remote: fetch, join, push, and again after a lost race.

The queue is the commits that the remote lacks. Nothing of ours is ever discarded, and
nothing is force-pushed. An exchange has its own lock, so a remote that hangs blocks
neither writing nor settling.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch import commits, compare, owners, packs, trees
from wc_cli.ledger.branch.git import Git, GitError, GitTimeoutError
from wc_cli.ledger.merge.joining import Joining
from wc_cli.ledger.settle import reports, settler
from wc_cli.ledger.store import lockowners, locks
from wc_cli.ledger.sync import report
from wc_cli.ledger.sync.exchange import Exchange, pause_seconds
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import (
    RefusedError,
    RejectedError,
    UnreachableError,
    WireError,
)
from wc_core.base.errors import (
    ConflictError,
    LockTimeoutError,
    OfflineError,
    StorageError,
    WcError,
)
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import freshness, repository
from wc_core.ledger.git.freshness import Freshness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

    from wc_cli.ledger.settle.committer import OnCommit
    from wc_cli.ledger.settle.settler import Settlement
    from wc_cli.ledger.sync.exchange import Waiting
    from wc_cli.ledger.sync.wire import Push
    from wc_core.ledger.git.remotes import Remote

# When to push: always, because the user requested it; if the remote already has the
# branch; never.
PUSH_ALWAYS, PUSH_IF_SHARED, PUSH_NEVER = "always", "if shared", "never"

# Tries at a remote that refuses although it has nothing new.
_TRIES = 8
_MAX_NAMED = 5


def _do_nothing() -> None:
    """Wait for nothing."""


class Fetched(NamedTuple):
    """The commit of the remote's branch, empty if there is none; the fetched packs, and
    notes for the user."""

    commit: str
    packs: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class Turn(NamedTuple):
    """The state of an exchange between two attempts to push.

    ``own_tip`` and ``remote_tip`` are the commits of our branch and the remote's.
    ``ahead`` counts the commits that the remote lacked before; ``pushed``: it was
    supposed to get them.
    """

    result: Exchange
    own_tip: str
    remote_tip: str = ""
    ahead: int = 0
    pushed: bool = False


class Exchanger:
    """Exchanges the store at ``root`` with ``remote``. Its network processes never
    outlive the deadline of ``waiting``."""

    def __init__(
        self, root: str, env: Mapping[str, str], remote: Remote, waiting: Waiting
    ) -> None:
        self.env = env
        self.remote = remote
        self.waiting = waiting
        self.layout = Layout(root)
        # Called before a fetch, which must not meet another one.
        self.before_fetch: Callable[[], None] = _do_nothing

    def preview(self, *, new_store: bool = False) -> Exchange:
        """The result that an exchange would have. As with any write and fetch, files on
        disk are committed, and the tracking ref moves.

        In a ``new_store``, everything counts as received. Raises OfflineError,
        ConflictError, StorageError, LockTimeoutError.
        """
        with self._connected() as (git, wire):
            result = Exchange(self.remote.label).with_settlement(self._settle())
            fetched = self._fetch(git, wire)
            remote_tip, own_tip = fetched.commit, commits.tip(wire.repository)
            self._record(own_tip, remote_tip)
            ahead, behind = commits.ahead_behind(git, own_tip, remote_tip)
            if behind:
                self._check_store(git, remote_tip)
            start = "" if new_store else own_tip
            comes = behind or new_store
            return result.with_notes(*fetched.notes)._replace(
                came=compare.count_new(git, start, remote_tip) if comes else {},
                went=compare.count_new(git, remote_tip, own_tip) if ahead else {},
                joined=bool(ahead and behind),
                ahead=ahead,
                behind=behind,
            )

    def exchange(self, *, new_store: bool = False, push: str = PUSH_ALWAYS) -> Exchange:
        """Fetch what the remote has, and send what it lacks, if ``push`` says so.

        In a ``new_store``, everything counts as received. Raises OfflineError if the
        remote cannot be reached or refuses, ConflictError if its branch is not a store,
        StorageError, LockTimeoutError. Local entries stay on disk and committed.
        """
        with self._connected() as (git, wire):
            result = Exchange(self.remote.label)
            if push == PUSH_ALWAYS and not new_store:
                result, sent = self._settle_and_push(git, wire)
                if sent:
                    return result
            else:
                result = result.with_settlement(self._settle())
            own_tip = commits.tip(wire.repository)
            turn = self._take_turns(git, wire, Turn(result, own_tip), push)
            arrived = self._arrived(git, wire, turn)
            self._record(turn.own_tip, arrived.commit)
            result = turn.result.with_notes(*arrived.notes)
            if not result.behind and not new_store:
                return result
            start = "" if new_store else own_tip
            came = compare.count_new(git, start, turn.remote_tip)
            topics = () if new_store else tuple(came.keys() & result.went.keys())
            notes = self._notes_on_beginnings(git, topics, own_tip, turn.remote_tip)
            return result._replace(came=came).with_notes(*notes)

    def _notes_on_beginnings(
        self, git: Git, topics: tuple[str, ...], own_tip: str, remote_tip: str
    ) -> Iterator[str]:
        """Yield a note about those of the threads that were begun on both sides."""
        base = trees.merge_base(git, own_tip, remote_tip) if topics else ""
        if not base:
            return
        logs = {
            os.path.relpath(self.layout.log(topic), self.layout.root): topic
            for topic in topics
        }
        older_logs = trees.items(git, base, logs)
        names = sorted(topic for path, topic in logs.items() if path not in older_logs)
        if names:
            listed = ", ".join(names[:_MAX_NAMED]) + ", …" * (len(names) > _MAX_NAMED)
            places = f"here and at {self.remote.label}"
            yield f"{listed}: begun {places}; its entries are in one thread now"

    def _settle_and_push(self, git: Git, wire: Wire) -> tuple[Exchange, bool]:
        """Settle, and push without fetching. Returns the result, and whether the remote
        accepted everything."""
        with FirstPush(git, wire, self.layout) as first_push:
            settlement = self._settle(on_commit=first_push.begin)
            result = Exchange(self.remote.label).with_settlement(settlement)
            own_tip = commits.tip(wire.repository)
            sent = first_push.result(own_tip)
        if sent is None:
            return result, False
        self._record(own_tip, own_tip)
        result = result._replace(went=sent.went, ahead=sent.ahead)
        return result.with_notes(*sent.notes), True

    def _take_turns(self, git: Git, wire: Wire, turn: Turn, push: str) -> Turn:
        """Fetch and send until the remote accepts. Raises RejectedError if other clones
        were faster until the time was over."""
        lost_races, futile_tries = 0, 0
        while True:
            started, known_tip = time.monotonic(), turn.remote_tip
            turn = self._bring(git, wire, turn)
            try:
                return self._send(git, wire, turn, push)
            except RejectedError:
                lost_races += 1
                is_new = turn.remote_tip != known_tip
                futile_tries = 0 if is_new else futile_tries + 1
                round_seconds = time.monotonic() - started
                spare_seconds = self.waiting.seconds - round_seconds
                if futile_tries >= _TRIES or spare_seconds <= 0:
                    raise
                # Another clone was faster: let it have its turn.
                time.sleep(min(pause_seconds(lost_races, round_seconds), spare_seconds))

    def _bring(self, git: Git, wire: Wire, turn: Turn) -> Turn:
        """Fetch, and join our branch with the remote's."""
        fetched = self._fetch(git, wire)
        result = turn.result.with_notes(*fetched.notes)
        ahead, behind = commits.ahead_behind(git, turn.own_tip, fetched.commit)
        if behind:
            self._check_store(git, fetched.commit)
            result = result.with_settlement(self._settle(fetched))
            result = result._replace(behind=result.behind + behind)
        own_tip = commits.tip(wire.repository)
        return Turn(result, own_tip, fetched.commit, ahead)

    def _send(self, git: Git, wire: Wire, turn: Turn, push: str) -> Turn:
        """Push what the remote lacks, if ``push`` says so."""
        own_tip, remote_tip = turn.own_tip, turn.remote_tip
        if push == PUSH_NEVER:
            return turn
        if push == PUSH_IF_SHARED and not _is_shared(wire, own_tip, remote_tip):
            return turn
        went: Mapping[str, int] = {}
        if own_tip != remote_tip:
            self.waiting.tell(f"Sending to {self.remote.label} …")
            went = compare.count_new(git, remote_tip, own_tip)
            try:
                wire.push(own_tip)
            except RefusedError as error:
                if went:
                    raise
                note = f"{error}; the entries of this clone have arrived otherwise"
                return turn._replace(result=turn.result.with_notes(note))
        result = turn.result._replace(went=went, ahead=turn.ahead)
        return turn._replace(result=result, pushed=True)

    def _arrived(self, git: Git, wire: Wire, turn: Turn) -> Fetched:
        """The commit of the remote's branch after a push, at the place from which it is
        fetched."""
        if not turn.pushed or turn.own_tip == turn.remote_tip:
            return Fetched(turn.remote_tip)
        if not wire.goes_elsewhere:
            return Fetched(turn.own_tip)
        fetched = self._fetch(git, wire)
        if fetched.commit == turn.own_tip:
            return fetched
        note = (
            f"git fetches {self.remote.label} from another place than it pushes to, "
            "and the push is not visible there yet"
        )
        return fetched._replace(notes=(*fetched.notes, note))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[Git, Wire]]:
        """Hold the exchange lock during the block, and yield a git that inherits it.

        An error is recorded for readers, and raised as the error for the user.
        """
        handle = self._lock()
        try:
            root, deadline = self.layout.root, self.waiting.deadline
            git = Git(root, self.env, handle=handle, until=deadline)
            yield git, Wire(git, self.remote, commits.checkout_at(root))
        except WireError as error:
            lasting = not isinstance(error, UnreachableError | RejectedError)
            self._record_failure(str(error), error.hint, lasting=lasting)
            raise exchange_error(self.remote, error) from error
        except GitTimeoutError as error:
            hint = "Your entries are safe here; the next sync sends them."
            self._record_failure(str(error), hint, lasting=False)
            raise OfflineError(f"{self.remote.label}: {error}.", hint) from error
        except GitError as error:
            self._record_failure(str(error), "", lasting=True)
            raise StorageError(
                f"The exchange with {self.remote.label} failed: {error}.",
                "Your entries are safe here. See what is wrong: wc doctor",
            ) from error
        except ConflictError as error:
            self._record_failure(error.message, error.hint, lasting=True)
            raise
        finally:
            owners.restore(repository.find(self.layout.root))
            os.close(handle)

    def _lock(self) -> int:
        """Take the exchange lock. Raises LockTimeoutError."""
        seconds = self.waiting.seconds if self.waiting.queues else 0.0
        path = self.layout.sync_lock
        try:
            return locks.acquire(path, "wc sync", seconds, self.layout.root)
        except LockTimeoutError as error:
            raise LockTimeoutError(
                f"Another exchange is under way: {lockowners.current_holder(path)}.",
                "It sends what you wrote as well. To wait for it: wc sync --timeout 60",
            ) from error

    def _fetch(self, git: Git, wire: Wire) -> Fetched:
        """Fetch the remote's branch, and update its tracking ref."""
        self.before_fetch()
        self.waiting.tell(f"Fetching from {self.remote.label} …")
        checkout, tracking = wire.repository, self.remote.tracking
        before = repository.resolve(checkout, tracking)
        packs_before = packs.pack_names(checkout)
        packed = packs.keeps_packs(checkout, self.env)
        commit = wire.fetch(packed=packed)
        new_packs = packs.pack_names(checkout) - packs_before if packed else frozenset()
        if not commit and before:
            git.run("update-ref", "-d", tracking)
            return Fetched("", new_packs, (lost_text(self.remote),))
        if commit and before and commits.ahead_behind(git, before, commit)[0]:
            return Fetched(commit, new_packs, (rewritten_text(self.remote),))
        return Fetched(commit, new_packs)

    def _check_store(self, git: Git, remote_tip: str) -> None:
        """Raise ConflictError if the remote's branch is not a store, even if the user
        fetched it."""
        if trees.is_store(git, remote_tip):
            return
        git.run("update-ref", "-d", self.remote.tracking)
        raise no_store_error(self.remote)

    def _settle(
        self, fetched: Fetched | None = None, on_commit: OnCommit | None = None
    ) -> Settlement:
        """Commit the files on disk, and join the ``fetched`` commit. Entries that
        cannot be committed now are left for later, as problems of the result."""
        joining = self._joining(fetched) if fetched is not None else None
        seconds = self.waiting.seconds
        settlement = settler.settle(
            self.layout.root, self.env, seconds, joining, on_commit
        )
        if settlement is None:
            by = reports.settler_at_work(self.layout) or "another process is doing it"
            raise LockTimeoutError(
                f"The store could not be settled: {by}.",
                "Your entries are safe here. Run the same command again.",
            )
        if settlement.failed:
            raise GitError(settlement.failed)
        return settlement

    def _joining(self, fetched: Fetched) -> Joining:
        # Others read the commit's message, so it must not contain an address.
        named = self.remote.tracking.startswith("refs/remotes/")
        origin = self.remote.label if named else "another repository"
        return Joining(fetched.commit, origin, tuple(sorted(fetched.packs)))

    def _record(self, own_tip: str, remote_tip: str) -> None:
        report.record_success(self.layout, self.env, self.remote, own_tip, remote_tip)

    def _record_failure(self, problem: str, hint: str, *, lasting: bool) -> None:
        failure = report.Failure(problem, hint, lasting)
        report.record_failure(self.layout, self.env, self.remote, failure)


def _is_shared(wire: Wire, own_tip: str, remote_tip: str) -> bool:
    """Return whether the place to push to already has the branch."""
    if own_tip == remote_tip or not remote_tip:
        return remote_tip != ""
    return wire.is_known(own_tip)


def no_store_error(remote: Remote) -> ConflictError:
    """The error for a remote whose branch is not a store."""
    return ConflictError(
        f"{remote.label} has a branch {BRANCH} that is not a store.",
        "Nothing was changed. Rename it there, or use another repository: "
        "WATERCOOLER_GIT_REPO",
    )


def exchange_error(remote: Remote, error: WireError) -> WcError:
    """The error for the user: the remote is unreachable or refuses, or the fault is on
    our side."""
    text = str(error)
    if not text.startswith(remote.label):
        text = f"{remote.label}: {text}"
    is_remote = isinstance(error, UnreachableError | RefusedError | RejectedError)
    return (OfflineError if is_remote else StorageError)(f"{text}.", error.hint)


class Sent(NamedTuple):
    """The number of sent entries, by thread, and of commits; and notes for the user."""

    went: Mapping[str, int]
    ahead: int
    notes: tuple[str, ...] = ()


class FirstPush:
    """The push of an exchange before any fetch, unless the remote's state is unknown
    because the last exchange failed or left something open. It ends with the block in
    which it is used, unless it was waited for."""

    def __init__(self, git: Git, wire: Wire, layout: Layout) -> None:
        self._git = git
        self._wire = wire
        self._expected = "" if wire.goes_elsewhere else _expected_tip(layout, wire)
        self._push: Push | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        if self._push is not None:
            self._push.__exit__(*details)

    def begin(self, own_tip: str) -> None:
        """Start to push a commit that was just made: the rest of settling takes a fifth
        as long as a push. `result` retries a failure."""
        with contextlib.suppress(WireError):
            self._start(own_tip)

    def _start(self, own_tip: str) -> Push | None:
        if self._push is None and self._expected not in {"", own_tip}:
            self._push = self._wire.start_push(own_tip)
        return self._push

    def result(self, own_tip: str) -> Sent | None:
        """Push ``own_tip``, unless that has begun, and wait for it to end.

        Returns ``None`` if a fetch must come next: there was nothing to send, or the
        push failed. Raises WireError if the time is over.
        """
        try:
            push = self._start(own_tip)
            if push is None:
                return None
            # During the push: it takes three git processes.
            sent = _count(self._git, self._expected, own_tip)
            before = push.result()
            if push.commit != own_tip:
                self._wire.push(own_tip)
        except WireError as error:
            if (
                isinstance(error, UnreachableError)
                and time.monotonic() >= self._git.until
            ):
                raise
            return None
        if before and self._expected.startswith(before):
            return sent
        remote = self._wire.remote
        return _surprising(self._git, remote, self._expected, before, own_tip)


def _count(git: Git, old: str, new: str) -> Sent:
    """The counts for a push that moves a remote from the commit ``old`` to ``new``."""
    ahead, _ = commits.ahead_behind(git, new, old)
    return Sent(compare.count_new(git, old, new), ahead)


def _surprising(
    git: Git, remote: Remote, expected: str, before: str, own_tip: str
) -> Sent:
    """The result for a remote whose branch was not at ``expected`` but at ``before``;
    empty if it had none."""
    notes: tuple[str, ...] = (lost_text(remote),)
    if before:
        name = f"{before}^{{commit}}"
        before = git.line("rev-parse", "--verify", "--quiet", name)
        lost, _ = commits.ahead_behind(git, expected, before)
        notes = (rewritten_text(remote),) if lost else ()
    return _count(git, before, own_tip)._replace(notes=notes)


def _expected_tip(layout: Layout, wire: Wire) -> str:
    """The commit of the remote's branch after the last exchange; empty if the remote
    may well have something new, or if that exchange failed."""
    state = freshness.load(layout) or Freshness()
    if state.remote == wire.remote.label and (state.behind or state.problem):
        return ""
    return repository.resolve(wire.repository, wire.remote.tracking)


def lost_text(remote: Remote) -> str:
    """The note about a remote that had the branch and lost it."""
    return f"{remote.label} no longer had the branch"


def rewritten_text(remote: Remote) -> str:
    """The note about a remote that lacks commits it had."""
    return f"the history of {remote.label} was rewritten; everything here is kept"
