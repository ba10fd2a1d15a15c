"""Exchanging the branch with a remote: fetch, join, push, again if need be.

There is no queue: commits that the remote has not got are one. Nothing that
is ours is ever given up, and nothing is forced on the remote. Whoever
exchanges holds a lock of its own, so a remote that hangs holds up nobody who
writes or settles.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.branch import commits, compare, packs, trees
from wc_cli.branch.git import Git, GitError, GitTimeoutError
from wc_cli.settle import settler
from wc_cli.store import durable, locks, pending
from wc_cli.sync import sending
from wc_cli.sync.wire import Wire
from wc_cli.sync.wireerrors import (
    RefusedError,
    RejectedError,
    UnreachableError,
    WireError,
)
from wc_core.errors import (
    ConflictError,
    LockTimeoutError,
    OfflineError,
    StorageError,
    WcError,
)
from wc_core.git import freshness, repository
from wc_core.git.freshness import Freshness
from wc_core.layout import BRANCH, Layout
from wc_core.threads.codec import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wc_core.git.remotes import Remote
    from wc_core.git.repository import Repository

# What is pushed: everything, for somebody asked for it; everything where the
# remote has the branch; nothing.
ASKED, KNOWN, NEVER = "asked", "known", "never"

_TRIES = 8
_JITTER = 0.2


class Exchange(NamedTuple):
    """What an exchange came to.

    ``came`` and ``went`` count entries by thread, ``behind`` and ``ahead`` the
    commits that they, or other files, came and went in. ``joined`` says that
    two histories became one, ``outvoted`` names files of ours that the other
    side's version took the place of.
    """

    remote: str
    came: Mapping[str, int] = {}
    went: Mapping[str, int] = {}
    joined: bool = False
    outvoted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ahead: int = 0
    behind: int = 0

    @property
    def moved(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.came or self.ahead or self.behind or self.notes)

    def to_json(self) -> dict[str, Any]:
        """The shape of an exchange."""
        fields = self._asdict()
        return {**fields, "came": dict(self.came), "went": dict(self.went)}


def _quiet(text: str) -> None:
    """Tell nobody."""


class Waiting(NamedTuple):
    """How somebody waits: ``until`` when on the monotonic clock, ``in_line``
    for others who exchange or not, and what they are told meanwhile."""

    until: float
    in_line: bool = True
    tell: Callable[[str], None] = _quiet

    @property
    def seconds(self) -> float:
        """How long still."""
        return max(0.0, self.until - time.monotonic())


class Traveller:
    """Exchanges the store at ``root`` with ``remote``; nothing it starts of a
    network runs for longer than is waited for."""

    def __init__(
        self, root: str, env: Mapping[str, str], remote: Remote, waiting: Waiting
    ) -> None:
        self.env = env
        self.remote = remote
        self.waiting = waiting
        self.layout = Layout(root)
        self.notes: list[str] = []
        self.outvoted: list[str] = []
        self.joined = False
        self.packs: set[str] = set()

    def look(self, *, anew: bool = False) -> Exchange:
        """What an exchange would come to. What is on disk is committed, and the
        tracking ref moves, as after any write and fetch.

        Raises OfflineError, ConflictError, StorageError, LockTimeoutError.
        """
        with self._travelling() as git:
            self._settle()
            theirs = self._fetch(git)
            ours = commits.tip(self._where())
            self._note(ours, theirs)
            ahead, behind = commits.ahead_behind(git, ours, theirs)
            if behind:
                self._check_store(git, theirs)
            start = "" if anew else ours
            came = compare.count_new(git, start, theirs) if behind or anew else {}
            went = compare.count_new(git, theirs, ours) if ahead else {}
            self.joined = bool(ahead and behind)
            return self._exchange(came, went, (ahead, behind))

    def exchange(self, *, anew: bool = False, push: str = ASKED) -> Exchange:
        """Bring what the remote has, send what it has not, if `push` says so;
        in a store made ``anew`` all that it has came just now.

        Raises OfflineError where the remote cannot be reached or refuses,
        ConflictError where its branch is not a store, StorageError,
        LockTimeoutError; what was written stays, on disk and committed.
        """
        with self._travelling() as git:
            self._settle()
            start = commits.tip(self._where())
            if push == ASKED and not anew and (sent := self._sent_first(git, start)):
                return sent
            ours, start = start, "" if anew else start
            brought = 0
            for attempt in range(_TRIES):
                theirs = self._fetch(git)
                ahead, behind = commits.ahead_behind(git, ours, theirs)
                if behind:
                    self._check_store(git, theirs)
                    self._settle(theirs)
                    brought += behind
                ours = commits.tip(self._where())
                try:
                    wanted = push == ASKED or (
                        push == KNOWN and self._is_known(git, ours, theirs)
                    )
                    went = self._push(git, ours, theirs) if wanted else {}
                except RejectedError as error:
                    reason = error
                    # Another clone was faster: let it have its turn.
                    time.sleep(random.uniform(0, _JITTER) * (attempt + 1))  # noqa: S311 - no secret
                    continue
                self._note(ours, self._arrived(git, ours, theirs, wanted=wanted))
                came = compare.count_new(git, start, theirs) if brought or anew else {}
                return self._exchange(came, went, (ahead if wanted else 0, brought))
            raise reason

    def _arrived(self, git: Git, ours: str, theirs: str, *, wanted: bool) -> str:
        """Where the branch is now that one fetches from."""
        if not wanted or ours == theirs:
            return theirs
        if not Wire(git, self.remote).goes_elsewhere:
            return ours
        theirs = self._fetch(git)
        if theirs != ours:
            self.notes.append(
                f"git pushes to another place than it fetches from as "
                f"{self.remote.shown}; it went there, and has not arrived here"
            )
        return theirs

    def _is_known(self, git: Git, ours: str, theirs: str) -> bool:
        """Whether the remote has the branch, wherever a push goes to."""
        if ours == theirs or not theirs:
            return theirs != ""
        return Wire(git, self.remote).is_known(ours)

    def _sent_first(self, git: Git, ours: str) -> Exchange | None:
        """The exchange without a look at what the remote has, see `sending`."""
        sent = sending.at_once(git, self.remote, self.layout, ours)
        if sent is None:
            return None
        self.notes += sent.notes
        self._note(ours, ours)
        return self._exchange({}, sent.went, (sent.ahead, 0))

    def _exchange(
        self,
        came: Mapping[str, int],
        went: Mapping[str, int],
        apart: tuple[int, int],
    ) -> Exchange:
        return Exchange(
            self.remote.shown,
            came,
            went,
            joined=self.joined,
            outvoted=tuple(self.outvoted),
            notes=tuple(self.notes),
            ahead=apart[0],
            behind=apart[1],
        )

    @contextlib.contextmanager
    def _travelling(self) -> Iterator[Git]:
        """The lock of travelling, and a git that inherits it; what goes wrong
        is noted, and raised as what it means to whoever asked."""
        root = self.layout.root
        seconds = self.waiting.seconds if self.waiting.in_line else 0.0
        path = self.layout.travel_lock
        try:
            handle = locks.acquire(path, "wc sync", seconds, root)
        except LockTimeoutError as error:
            raise LockTimeoutError(
                f"Another exchange is under way: {locks.holder_of(path)}.",
                "It sends what you wrote as well. To wait for it: wc sync --timeout 60",
            ) from error
        try:
            yield Git(root, self.env, handle=handle, until=self.waiting.until)
        except WireError as error:
            lasting = not isinstance(error, UnreachableError | RejectedError)
            self._note_failure(str(error), error.hint, lasting=lasting)
            raise told(self.remote, error) from error
        except GitTimeoutError as error:
            hint = "Your entries are safe here; the next sync sends them."
            self._note_failure(str(error), hint, lasting=False)
            raise OfflineError(f"{self.remote.shown}: {error}.", hint) from error
        except GitError as error:
            self._note_failure(str(error), "", lasting=True)
            raise StorageError(
                f"The exchange with {self.remote.shown} failed: {error}.",
                "Your entries are safe here. See what is wrong: wc doctor",
            ) from error
        except ConflictError as error:
            self._note_failure(error.message, error.hint, lasting=True)
            raise
        finally:
            os.close(handle)

    def _fetch(self, git: Git) -> str:
        """The commit the remote's branch is at; empty where it has none."""
        self.waiting.tell(f"Fetching from {self.remote.shown} …")
        where = self._where()
        had = repository.resolve(where, self.remote.tracking)
        before = packs.pack_names(where)
        packed = packs.keeps_packs(where, self.env)
        theirs = Wire(git, self.remote).fetch(packed=packed)
        self.packs |= packs.pack_names(where) - before if packed else set()
        if not theirs:
            if had:
                git.run("update-ref", "-d", self.remote.tracking)
                self.notes.append(sending.lost(self.remote))
            return ""
        if theirs == had:
            return theirs
        if had and commits.ahead_behind(git, had, theirs)[0]:
            self.notes.append(sending.rewritten(self.remote))
        return theirs

    def _check_store(self, git: Git, theirs: str) -> None:
        """Raise ConflictError if what the remote has there is not a store,
        whoever fetched it."""
        if trees.is_store(git, theirs):
            return
        git.run("update-ref", "-d", self.remote.tracking)
        raise no_store(self.remote)

    def _where(self) -> Repository:
        return commits.checkout_at(self.layout.root)

    def _settle(self, theirs: str = "") -> None:
        """Commit what is on disk, join ``theirs``; entries that cannot be
        committed now stay for later, and are mentioned."""
        joining = None
        if theirs:
            from wc_cli.merge.join import Joining  # most have nothing to join

            # An address is nobody's business who reads the commit elsewhere.
            named = self.remote.tracking.startswith("refs/remotes/")
            whence = self.remote.shown if named else "another repository"
            joining = Joining(theirs, whence, tuple(sorted(self.packs)))
        seconds = self.waiting.seconds
        done = settler.settle(self.layout.root, self.env, seconds, joining)
        if done is None:
            by = pending.settler_at_work(self.layout) or "somebody else is at it"
            raise LockTimeoutError(
                f"The store could not be settled: {by}.",
                "Your entries are safe here. Run the same command again.",
            )
        if done.failed:
            raise GitError(done.failed)
        self.joined = self.joined or done.joined
        self.outvoted += done.outvoted
        for topic, problem in done.problems.items():
            note = f"{topic}: {problem}" if topic else problem
            if note not in self.notes:
                self.notes.append(note)

    def _push(self, git: Git, ours: str, theirs: str) -> dict[str, int]:
        """Send what the remote has not got; how many entries, by thread."""
        if ours == theirs:
            return {}
        self.waiting.tell(f"Sending to {self.remote.shown} …")
        Wire(git, self.remote).push(ours)
        return compare.count_new(git, theirs, ours)

    def _note(self, ours: str, theirs: str) -> None:
        """Leave for readers how fresh the store is."""
        git = Git(self.layout.root, self.env)
        apart = commits.ahead_behind(git, ours, theirs)
        self._leave(Freshness(self.remote.shown, _now(), ours, theirs, *apart))

    def _note_failure(self, problem: str, hint: str, *, lasting: bool) -> None:
        """Leave for readers, and for whoever tries again, what went wrong."""
        shown = self.remote.shown
        known = freshness.load(self.layout) or Freshness()
        if known.remote != shown:
            known = Freshness(shown)
        with contextlib.suppress(GitError):
            where = self._where()
            ours = commits.tip(where)
            theirs = repository.resolve(where, self.remote.tracking)
            ahead, behind = commits.ahead_behind(Git(where.top, self.env), ours, theirs)
            known = known._replace(ours=ours, theirs=theirs)
            known = known._replace(ahead=ahead, behind=behind)
        self._leave(
            known._replace(
                problem=problem.removeprefix(f"{shown}: "),
                hint=hint,
                failed_at=_now(),
                failures=known.failures + 1,
                lasting=lasting,
            )
        )

    def _leave(self, found: Freshness) -> None:
        data = f"{dumps(found._asdict())}\n".encode(errors="replace")
        with contextlib.suppress(WcError):  # it is a convenience
            durable.replace(self.layout.travel, data, self.layout.root)


def no_store(remote: Remote) -> ConflictError:
    """That what the remote has is not taken for threads."""
    return ConflictError(
        f"{remote.shown} has a branch {BRANCH} that is not a store.",
        "Nothing was changed. Rename it there, or use another repository: "
        "WATERCOOLER_GIT_REPO",
    )


def told(remote: Remote, error: WireError) -> WcError:
    """What it means to whoever asked: a remote that does not do as it is asked,
    or a fault on our side."""
    said = str(error)
    if not said.startswith(remote.shown):
        said = f"{remote.shown}: {said}"
    there = isinstance(error, UnreachableError | RefusedError | RejectedError)
    return (OfflineError if there else StorageError)(f"{said}.", error.hint)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
