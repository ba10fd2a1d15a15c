"""Settling: what follows a write that is already safe.

Edges and markdown are rendered, the orphan branch gets its commit. A marker
file per thread says that there is something to do; it is made before the
entry is and removed only when a commit holds all of the log, so a helper that
dies loses nothing: the next one finds the marker.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import NamedTuple

from wc_cli import commits, durable, locks, messages, rendering
from wc_cli.commits import Change
from wc_cli.comparing import compared
from wc_cli.git import Git, GitError, GitKilledError
from wc_cli.upkeep import Upkeep
from wc_core import codec, discovery, repository
from wc_core.errors import (
    CorruptError,
    LockTimeoutError,
    NotFoundError,
    WcError,
)
from wc_core.files import names_in, read_plain, size_of
from wc_core.layout import BRANCH, topic_of
from wc_core.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.layout import Layout
    from wc_core.model import Entry

# A burst of writes becomes one commit: its end is when nothing was written for
# this long, but nothing waits longer than that for its commit.
_BURST_SECONDS = 0.05
_LONGEST_BURST_SECONDS = 1.0
_ROUNDS = 50
_OVERDUE_SECONDS = 60
_NICENESS = 10


class Settled(NamedTuple):
    """One thread rendered from ``log_size`` bytes of its log."""

    topic: str
    log_size: int
    changes: tuple[Change, ...]


class Settler:
    """Settles the store at ``root``; one at a time, by its git lock."""

    def __init__(
        self, root: str, env: Mapping[str, str], handle: int | None = None
    ) -> None:
        """``handle`` is the git lock, which the caller holds."""
        self.env = env
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env)
        self.git = (
            Git(self.layout.root, env, handle=handle)
            if discovery.is_checkout(self.layout.root)
            else None
        )
        self.problems: dict[str, str] = {}

    def run(self, patience: float = 0.0) -> None:
        """Settle until nothing is left or what is left cannot be now, each
        time waiting at most ``patience`` seconds for a burst to end."""
        with self._problem_of([""], "not tidied up"):
            self._recover()
            self.upkeep.sweep()
        for _ in range(_ROUNDS):
            self._await_calm(patience)
            topics = [one for one in self.unsettled() if one not in self.problems]
            self._settle(topics)
            if not topics:
                break
        self._report()

    def _await_calm(self, seconds: float) -> None:
        """Wait until nothing is written any more, at most so long."""
        deadline = time.monotonic() + seconds
        sizes = None
        # What cannot be looked at says so when it is settled.
        with contextlib.suppress(WcError, OSError):
            while time.monotonic() < deadline:
                before, sizes = sizes, self._sizes()
                if sizes == before:
                    return
                time.sleep(_BURST_SECONDS)

    def _sizes(self) -> dict[str, int]:
        """How long the logs are that await settling."""
        root = self.layout.root
        return {one: size_of(self.layout.log(one), root) for one in self.unsettled()}

    def _recover(self) -> None:
        """Finish what was begun by a git of ours that was killed."""
        try:
            since_ns = os.stat(self.layout.committing).st_mtime_ns
        except FileNotFoundError:
            return
        where = repository.find(self.layout.root)
        if where is not None:
            commits.remove_left_locks(where, since_ns)
            commits.remove_reports(where)
        durable.remove(self.layout.committing, self.layout.root)

    @contextlib.contextmanager
    def _problem_of(self, topics: list[str], what: str) -> Iterator[None]:
        """What goes wrong in the block is noted for these threads: they keep
        their markers, the others go on."""
        try:
            yield
        except (WcError, GitError, OSError, ValueError) as error:
            self.problems |= dict.fromkeys(topics, f"{what}: {error}")

    def unsettled(self) -> list[str]:
        """The threads that await settling."""
        return unsettled(self.layout)

    def _settle(self, topics: list[str]) -> None:
        settled = []
        for topic in topics:
            with self._problem_of([topic], "not rendered"):
                try:
                    settled.append(self._project(topic))
                except NotFoundError:
                    self._forget(topic)
        with self._problem_of([one.topic for one in settled] or [""], "not committed"):
            self._commit(settled)
        for one in settled:
            if one.topic not in self.problems:
                with self._problem_of([one.topic], "not finished"):
                    self._clear(one)

    def _project(self, topic: str) -> Settled:
        """Render a thread from its log; the bytes to be committed."""
        self.upkeep.refresh(topic)
        thread = self.reader.thread(topic)
        if thread.snapshot.log_size < 0:
            raise CorruptError("its log is missing", "See: wc doctor")
        if thread.snapshot.meta.newer:
            raise CorruptError("a newer wc wrote it", "Upgrade wc on this machine.")
        wanted = rendering.of_thread(self.layout, thread)
        for path in (self.layout.edges(topic), self.layout.page(topic)):
            self.upkeep.put(path, wanted[path])
        log = thread.log
        whole = {self.layout.log(topic): thread.data[: log.complete], **wanted}
        changes = tuple(Change(self._relative(p), d) for p, d in whole.items())
        return Settled(topic, log.size, changes)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)

    def _commit(self, settled: list[Settled]) -> None:
        """One commit for everything that the branch does not have yet."""
        if self.git is None:
            self._check_committable()
            return
        where, parent = commits.tip(self.layout.root)
        shared = [
            Change(
                name, read_plain(f"{self.layout.root}/{name}", self.layout.root) or b""
            )
            for name in (".gitattributes", ".gitignore", "config.toml")
        ]
        changes = [*shared, *(change for one in settled for change in one.changes)]
        have = commits.committed_files(self.git, parent, [one.path for one in changes])
        entries = self._news(self.git, settled, have)
        settled = [one for one in settled if one.topic not in self.problems]
        changes = [*shared, *(change for one in settled for change in one.changes)]
        changed = [one for one in changes if not _is_committed(one, have)]
        if changed:
            topics = [one.topic for one in settled]
            code_repo = messages.code_repo(where, self.env)
            message = messages.message_for(entries, topics, code_repo)
            with self._noted():
                commits.commit(self.git, changed, message, parent)
        if not changed and not settled:
            return
        try:
            commits.refresh_index(self.git, where)
            commits.tidy(self.git)
        except GitError as error:
            # The commit is made; that it is all tidy is not a part of it.
            self.problems[""] = f"committed, but not tidy: {error}"

    def _check_committable(self) -> None:
        """Whoever stands at another commit in the folder of a branch's store
        finds there what was never committed: raises GitError, so that it is
        when they are back."""
        where = repository.find(self.layout.root)
        linked = os.path.isfile(f"{self.layout.root}/.git")
        if linked and where is not None and repository.has_branch(where, BRANCH):
            raise GitError(f"{self.layout.root} is not on the branch {BRANCH}")

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        """Note that git is at work, for whoever comes after us if it, or we
        with it, are killed."""
        durable.touch(self.layout.committing, self.layout.root)
        try:
            yield
        except GitKilledError:
            raise
        except GitError:
            where = repository.find(self.layout.root)
            if where is not None:
                commits.remove_reports(where)
            durable.remove(self.layout.committing, self.layout.root)
            raise
        durable.remove(self.layout.committing, self.layout.root)

    def _news(
        self, git: Git, settled: list[Settled], have: Mapping[str, commits.Committed]
    ) -> list[tuple[str, Entry]]:
        """The entries this commit is the first to have, with their topics.

        A log that lacks entries which the branch has is not committed:
        somebody, or an unfinished checkout, took them away, and a commit
        would make that good.
        """
        found: list[tuple[str, Entry]] = []
        for one in settled:
            log = one.changes[0].path
            data = one.changes[0].data
            new, lost = compared(git, one.topic, data, have.get(log))
            if lost:
                message = f"{log} lacks {lost} entries that the branch has"
                self.problems[one.topic] = f"not committed: {message}"
            else:
                found += [(one.topic, entry) for entry in new]
        return found

    def _clear(self, one: Settled) -> None:
        """Remove the marker unless something was appended meanwhile."""
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(one.topic):
            if size_of(self.layout.log(one.topic), self.layout.root) == one.log_size:
                durable.remove(self.upkeep.marker(one.topic), self.layout.root)

    def _forget(self, topic: str) -> None:
        """Remove the marker of a thread whose first entry was never written."""
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(topic):
            if not self.reader.has(topic):
                durable.remove(self.upkeep.marker(topic), self.layout.root)

    def _report(self) -> None:
        """Leave what could not be done for receipts, doctor and health."""
        if self.problems:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            problem = next(iter(self.problems.values()))
            fields = {"at": now, "problem": problem, "threads": self.problems}
            data = f"{codec.dumps(fields)}\n".encode()
            try:
                self.upkeep.put(self.layout.settling, data)
            except WcError:
                # A full disk has room for a name: see `trouble`. What is in
                # its place says itself that all is not well.
                with contextlib.suppress(WcError):
                    durable.touch(self.layout.settling, self.layout.root)
        else:
            with contextlib.suppress(WcError):  # a folder in its place: likewise
                durable.remove(self.layout.settling, self.layout.root)


def _is_committed(change: Change, have: Mapping[str, commits.Committed]) -> bool:
    there = have.get(change.path)
    if there is None:
        return not change.data
    return commits.blob_id(change.data, there.blob) == there.blob


def unsettled(layout: Layout) -> list[str]:
    """The threads of a store that await settling."""
    return [topic_of(name) for name in names_in(layout.unsettled, layout.root)]


def is_overdue(layout: Layout) -> bool:
    """Whether a thread has waited for longer than any helper takes."""
    for name in names_in(layout.unsettled, layout.root):
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - os.stat(f"{layout.unsettled}/{name}").st_mtime
            if age > _OVERDUE_SECONDS:
                return True
    return False


def settle(root: str, env: Mapping[str, str], seconds: float = 0.0) -> bool:
    """Settle a store, waiting at most ``seconds`` for another that does.

    False where somebody else is at it: they will see our markers.
    """
    layout = StoreReader(root).layout
    if not os.path.isdir(layout.unsettled):
        return True  # the store is gone: nothing is made in its place
    while True:
        try:
            handle = locks.acquire(layout.git_lock, "settling", seconds, layout.root)
        except LockTimeoutError:
            return False
        if _settle_once(root, env, handle):
            return True


def _settle_once(
    root: str, env: Mapping[str, str], handle: int, patience: float = 0.0
) -> bool:
    """Settle under the git lock, which is released; whether nothing is left
    that can be done."""
    settler = Settler(root, env, handle)
    try:
        settler.run(patience)
    finally:
        os.close(handle)
    # A writer that found the lock held relies on us to look once more.
    return not set(settler.unsettled()) - set(settler.problems)


def held_up(layout: Layout) -> str:
    """Who is at settling, in words; empty where nobody is."""
    with contextlib.suppress(WcError):
        handle = locks.try_acquire(layout.git_lock, layout.root)
        if handle is None:
            return f"{locks.holder_of(layout.git_lock)} is at it"
        os.close(handle)
    return ""


class Trouble(NamedTuple):
    """What settling could not do when it last tried, at ``at``."""

    at: str
    problem: str


def trouble(root: str) -> Trouble | None:
    """What settling last could not do; ``None`` when all is well."""
    layout = StoreReader(root).layout
    try:
        data = read_plain(layout.settling, layout.root)
        if data is None:
            return None
        if not data:
            return Trouble("an unknown time", "there was no room to write down what")
        fields = json.loads(data)
        return Trouble(str(fields["at"]), str(fields["problem"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Trouble("an unknown time", "its report cannot be read")


def main() -> None:
    """Run as a detached helper: ``python -m wc_cli.settling ROOT [HANDLE]``, the
    handle being the git lock, inherited from whoever started us."""
    root, *inherited = sys.argv[1:]
    os.chdir(root)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    env = dict(os.environ)
    for handle in map(int, inherited):
        os.set_inheritable(handle, False)
        locks.sign(handle, "settling")
        if _settle_once(root, env, handle, _LONGEST_BURST_SECONDS):
            return
    settle(root, env)


if __name__ == "__main__":
    main()
