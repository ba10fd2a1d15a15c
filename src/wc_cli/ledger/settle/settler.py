"""Settling: renders and commits what is already safely on disk.

A write ends with a log on disk. Settling then renders edges and markdown, and commits
them to the orphan branch. A marker file per thread shows that there is something to
settle: it is made before the entry, and removed only when a commit has the complete
log. So nothing is lost if a process dies: the next one finds the marker.
"""

from __future__ import annotations

import os
import time
from types import MappingProxyType

from wc_cli.ledger.branch import commits, owners
from wc_cli.ledger.branch.commits import CommitChange
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.index import keeping
from wc_cli.ledger.merge.logs import split_torn
from wc_cli.ledger.settle import reports, usergit
from wc_cli.ledger.settle.committer import Committer, RenderedThread
from wc_cli.ledger.settle.follower import Follower
from wc_cli.ledger.settle.spared import spared_lines
from wc_cli.ledger.store import (
    authors,
    durable,
    locks,
    pending,
    rendering,
    seatnames,
    sharedlines,
)
from wc_cli.ledger.store.upkeep import Upkeep
from wc_core.base.errors import CorruptError, LockTimeoutError, NotFoundError, WcError
from wc_core.base.files import Folder, size_of
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import discovery, repository
from wc_core.ledger.summaries import kept
from wc_core.ledger.threads import model
from wc_core.ledger.threads.longlines import expanded, expanded_size, has_long
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.ledger.merge.joining import Joining
    from wc_cli.ledger.settle.committer import OnCommit
    from wc_core.ledger.threads.reader import Thread

# A burst of writes becomes one commit. It ends when nothing was written for this long,
# or for longer if others write as well, because writes are less frequent on a busy
# machine. A separate limit bounds this wait.
_BURST_SECONDS = 0.05
_CROWD_SECONDS = 0.2
_ROUNDS = 50
# Seconds to wait for a user's git command in the folder.
_USER_GIT_SECONDS = 1.0


class Settlement(NamedTuple):
    """The result of settling: ``problems`` by thread, "" for the store itself, the
    ``settled`` topics, those of them ``written`` here, and whether two histories were
    ``joined``. ``failed`` is why
    they were not; ``outvoted`` lists files of ours that were replaced by the other
    side's version. ``unread`` has the reason for each thread or file that is not
    applied, because it is too large."""

    problems: Mapping[str, str] = MappingProxyType({})
    joined: bool = False
    outvoted: tuple[str, ...] = ()
    failed: str = ""
    settled: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    unread: Mapping[str, str] = MappingProxyType({})


class Settler:
    """Settles the store at ``root``, one process at a time: the caller holds the git
    lock, whose open file is ``handle``."""

    def __init__(
        self,
        root: str,
        env: Mapping[str, str],
        handle: int | None = None,
        on_commit: OnCommit | None = None,
    ) -> None:
        self.env = env
        self.on_commit = on_commit
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env)
        self.checkout = repository.find(self.layout.root)
        self.follower = self._follower(handle)
        self.problems: dict[str, str] = {}
        # The threads whose log on the branch is too large; a join may change that.
        self.unread: set[str] = set()
        self.settled: set[str] = set()
        self.written: set[str] = set()

    def _follower(self, handle: int | None) -> Follower | None:
        """The follower of the branch; ``None`` for a store that wc does not commit."""
        root = self.layout.root
        checkout = discovery.checkout_at(root)
        if checkout is None:
            return None
        sharedlines.ignore_stores(root)  # an older wc did not
        git = Git(root, self.env, handle=handle)
        return Follower(self.upkeep, git, checkout, self.env)

    def run(self, patience: float = 0.0, joining: Joining | None = None) -> Settlement:
        """Settle until nothing is left, except what cannot be settled now; then join
        the branch with another one, and settle the result.

        Waits each time at most ``patience`` seconds for a burst of writes to end.
        """
        if self.checkout is not None:
            # Balls come from other clones, too.
            seatnames.note_all(self.checkout)
        with self._recorded([""], "not tidied up"):
            if self.follower is not None:
                self.follower.recover()
            self.upkeep.sweep()
        obstacle = self._complete_user_operation(patience)
        if obstacle:
            self.problems |= dict.fromkeys(["", *self.unsettled()], obstacle)
            reports.write_report(self.layout, self.problems)
            return Settlement(self.problems, failed=obstacle if joining else "")
        self._catch_up()
        self._settle_all(patience)
        result = Settlement()
        if joining is not None and self.follower is not None:
            result = self._join(self.follower, joining)
            for topic in self.unread:
                self.problems.pop(topic, None)
            self._catch_up()
            self._settle_all(patience, after_join=True)
        reports.write_report(self.layout, self.problems)
        unread = self.follower.unread if self.follower is not None else {}
        return result._replace(
            problems=self.problems,
            settled=frozenset(self.settled),
            written=frozenset(self.written),
            unread=unread,
        )

    def _complete_user_operation(self, patience: float) -> str:
        """Complete a merge that a user left unfinished. Returns the reason if
        committing must wait, or an empty string."""
        operation = usergit.current_operation(
            self.checkout, self.layout.root, max(patience, _USER_GIT_SECONDS)
        )
        if operation.obstacle:
            return f"not committed: {operation.obstacle}"
        if operation.abandoned and self.follower is not None:
            return self.follower.complete_operation()
        return ""

    def _catch_up(self) -> None:
        if self.follower is not None:
            with self._recorded([""], "not taken in"):
                self.problems |= self.follower.catch_up()

    def _join(self, follower: Follower, joining: Joining) -> Settlement:
        try:
            return Settlement({}, *follower.join(joining))
        except (GitError, OSError, ValueError) as error:
            return Settlement(failed=f"not joined: {error}")

    def _settle_all(self, patience: float, *, after_join: bool = False) -> None:
        for turn in range(_ROUNDS):
            self._await_calm(patience)
            topics = [topic for topic in self.unsettled() if topic not in self.problems]
            # The shared files are committed once, even without any thread.
            if topics or not (after_join or turn):
                self._settle(topics)
            if not topics:
                break

    def _await_calm(self, seconds: float) -> None:
        """Wait until no log grows, at most this many seconds."""
        deadline = time.monotonic() + seconds
        pause = _BURST_SECONDS
        sizes = None
        # An unreadable log becomes a problem when it is settled.
        with contextlib.suppress(WcError, OSError):
            while time.monotonic() < deadline:
                before, sizes = sizes, self._log_sizes()
                if sizes == before:
                    return
                if before is not None:
                    pause = _CROWD_SECONDS
                time.sleep(pause)

    def _log_sizes(self) -> dict[str, int]:
        """The length of each log that awaits settling."""
        root = self.layout.root
        return {
            topic: size_of(self.layout.log(topic), root) for topic in self.unsettled()
        }

    @contextlib.contextmanager
    def _recorded(self, topics: list[str], failure: str) -> Iterator[None]:
        """Record an error in the block as the problem of these threads. They keep their
        markers, and the other threads are settled."""
        try:
            yield
        except (WcError, GitError, OSError, ValueError) as error:
            self.problems |= dict.fromkeys(topics, f"{failure}: {error}")

    def unsettled(self) -> list[str]:
        """The threads that await settling."""
        return pending.unsettled_topics(self.layout)

    def _settle(self, topics: list[str]) -> None:
        threads = []
        with self.upkeep.local.stamp.held_back():
            for topic in topics:
                with self._recorded([topic], "not rendered"):
                    try:
                        threads.append(self._render(topic))
                    except NotFoundError:
                        self._forget(topic)
        names = [thread.topic for thread in threads]
        with self._recorded(names or [""], "not committed"):
            self._commit(threads)
        if self.follower is not None and not self.follower.in_step:
            # If a user removes something from the branch now, that would not be noticed
            # later.
            reason = "committed, but not everything on the branch is in the folder yet"
            self.problems = dict.fromkeys(topics, reason) | self.problems
        for thread in threads:
            if thread.topic not in self.problems:
                with self._recorded([thread.topic], "not finished"):
                    self._remove_marker(thread)
                    if not self.reader.is_hidden(thread.topic):
                        self.settled.add(thread.topic)

    def _render(self, topic: str) -> RenderedThread:
        """Render a thread from its log. Returns the files to commit."""
        if self.follower is not None:
            self.follower.restore_spared(topic)
        self.upkeep.refresh(topic)
        thread = self.reader.thread(topic)
        if thread.snapshot.log_size < 0:
            raise CorruptError("its log is missing", "See: wc doctor")
        if thread.snapshot.meta.newer:
            raise CorruptError("a newer wc wrote it", "Upgrade wc on this machine.")
        if not model.written_by_wc(thread.entries):
            return RenderedThread(topic, thread.log.size, ())  # another tool keeps it
        projections = rendering.render_thread(self.layout, thread)
        page = self.layout.page(topic)
        durable.make_folder(os.path.dirname(page), self.layout.root)
        for path in (self.layout.edges(topic), page):
            durable.replace_if_changed(path, projections[path], self.layout.root)
        complete, _ = split_torn(thread.data)
        contents = dict(projections)
        if summaries := self._summaries(topic):
            contents[self.layout.summaries(topic)] = summaries
        files = [self._change(path, data) for path, data in contents.items()]
        files.insert(0, self._log_change(thread, complete))
        size = thread.log.size
        unknown = thread.snapshot.unknown
        return RenderedThread(topic, size, tuple(files), summaries, complete, unknown)

    def _log_change(self, thread: Thread, complete: bytes) -> CommitChange:
        """The log of a thread as a file to commit. A line that is too long to be read
        is stored in pieces."""
        change = self._change(self.layout.log(thread.topic), complete)
        if self.follower is None or not has_long(complete):
            return change
        text = self.reader.log_text(thread.topic)
        if text is None or not text.data.startswith(complete):
            raise CorruptError("its log was replaced", "It is settled again soon.")

        def pieces() -> Iterator[bytes]:
            return expanded(complete, [text])

        with self.follower.guarded():
            size = expanded_size(complete)
            blob = commits.store(self.follower.git, self.follower.at, size, pieces)
        return change._replace(data=None, blob=blob)

    def _summaries(self, topic: str) -> bytes:
        """The complete lines of a thread's summaries file; none if something else is in
        its place, or if the branch's lines are not applied yet."""
        if self.follower is not None and not self.follower.in_step:
            return b""
        with (
            contextlib.suppress(OSError),
            Folder(self.layout.folder(topic), self.layout.root) as folder,
        ):
            return kept.bytes_in(folder, self.layout.summaries(topic))
        return b""

    def _change(self, path: str, data: bytes) -> CommitChange:
        return CommitChange(self.layout.relative(path), data)

    def _commit(self, threads: list[RenderedThread]) -> None:
        """Commit everything that the branch does not have yet."""
        if self.follower is None:
            commits.check_unread(self.layout.root)
            return
        committer = Committer(self.follower, self.upkeep, self.env, self.on_commit)
        try:
            committer.commit(threads)
        finally:
            self.problems |= committer.problems
            self.unread |= committer.unread

    def _remove_marker(self, thread: RenderedThread) -> None:
        """Remove a thread's marker, unless in the meantime its log grew or lost
        entries, or it was summarised."""
        topic = thread.topic
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(topic):
            size = size_of(self.layout.log(topic), self.layout.root)
            # Outside git, nothing was removed that would have to be restored.
            lacks = self.follower is not None and spared_lines(self.upkeep, topic)
            grew = bool(thread.files) and (
                self._summaries(topic) != thread.summaries
                or self.reader.meta(topic).unknown != thread.unknown
            )
            if size == thread.log_size and not lacks and not grew:
                authors.forget(self.layout, topic)
                is_hidden = self.reader.is_hidden(topic)
                if not is_hidden:
                    keeping.note_settled(self.layout, topic)
                # What came with the branch leaves an empty marker.
                marker = self.upkeep.marker(topic)
                is_ours = self.follower is None or size_of(marker, self.layout.root) > 0
                if is_ours and not is_hidden:
                    self.written.add(topic)
                durable.remove(marker, self.layout.root)

    def _forget(self, topic: str) -> None:
        """Remove the marker of a thread whose first entry was never written."""
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(topic):
            if not self.reader.has(topic):
                authors.forget(self.layout, topic)
                durable.remove(self.upkeep.marker(topic), self.layout.root)


def settle(
    root: str,
    env: Mapping[str, str],
    seconds: float = 0.0,
    joining: Joining | None = None,
    on_commit: OnCommit | None = None,
) -> Settlement | None:
    """Settle a store, waiting at most ``seconds`` for another process that settles.
    ``on_commit`` is called with the branch's commit as soon as it has one.

    Returns ``None`` if that process is still working: it will see our markers.
    """
    layout = StoreReader(root).layout
    if not os.path.isdir(layout.unsettled):
        return Settlement()  # the store is gone and must not be made again
    result = None
    for _ in range(_ROUNDS):
        try:
            handle = locks.acquire(layout.git_lock, "settling", seconds, layout.root)
        except LockTimeoutError:
            return None
        latest, finished = _settle_held(
            Settler(root, env, handle, on_commit), handle, joining=joining
        )
        result = latest if result is None else result._replace(problems=latest.problems)
        if finished:
            break
        joining = None
    return result


def settle_once(
    root: str,
    env: Mapping[str, str],
    handle: int,
    patience: float = 0.0,
) -> tuple[Settlement, bool]:
    """Settle under the git lock, and release it.

    Returns the result, and whether everything that can be settled now is.
    """
    return _settle_held(Settler(root, env, handle), handle, patience)


def _settle_held(
    settler: Settler,
    handle: int,
    patience: float = 0.0,
    joining: Joining | None = None,
) -> tuple[Settlement, bool]:
    try:
        result = settler.run(patience, joining)
    finally:
        owners.restore(settler.checkout)
        os.close(handle)
    # A writer that found the lock held relies on us to check again.
    return result, not set(settler.unsettled()) - set(settler.problems)
