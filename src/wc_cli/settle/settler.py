"""Settling: what follows a write that is already safe.

Edges and markdown are rendered, the orphan branch gets its commit. A marker
file per thread says that there is something to do; it is made before the
entry is and removed only when a commit holds all of the log, so a helper that
dies loses nothing: the next one finds the marker.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch import commits, messages
from wc_cli.branch.commits import CommitChange
from wc_cli.branch.compare import compared
from wc_cli.branch.git import Git, GitError
from wc_cli.settle import applier, usergit
from wc_cli.settle.follower import Follower
from wc_cli.store import durable, locks, pending
from wc_cli.store.upkeep import Upkeep
from wc_core.errors import CorruptError, LockTimeoutError, NotFoundError, WcError
from wc_core.files import read_plain, size_of
from wc_core.git import discovery
from wc_core.layout import GUIDANCE
from wc_core.phrases import counted
from wc_core.threads import model
from wc_core.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.merge.join import Joining
    from wc_core.threads.model import Entry

# A burst of writes becomes one commit: its end is when nothing was written for
# this long, but nothing waits longer than that for its commit.
_BURST_SECONDS = 0.05
_ROUNDS = 50
# What all threads share.
_SHARED = (".gitattributes", ".gitignore", "config.toml", GUIDANCE)
# Seconds until somebody's git in the folder has ended.
_PATIENCE = 1.0


class Settled(NamedTuple):
    """One thread rendered from ``log_size`` bytes of its log."""

    topic: str
    log_size: int
    changes: tuple[CommitChange, ...]


class Settlement(NamedTuple):
    """What a settling came to: what could not be done, by thread, and whether
    two histories became one. ``failed`` says why they did not; ``outvoted``
    names files of ours that the other side's version took the place of."""

    problems: Mapping[str, str] = {}
    joined: bool = False
    outvoted: tuple[str, ...] = ()
    failed: str = ""


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
        self.follower = Follower(self.upkeep, self.git, env) if self.git else None
        self.problems: dict[str, str] = {}

    def run(self, patience: float = 0.0, joining: Joining | None = None) -> Settlement:
        """Settle until nothing is left or what is left cannot be now, each
        time waiting at most ``patience`` seconds for a burst to end; then join
        the branch with another, and settle what came of it."""
        with self._problem_of([""], "not tidied up"):
            if self.follower is not None:
                self.follower.recover()
            self.upkeep.sweep()
        held = self._let_visitors_go(patience)
        if held:
            self.problems |= dict.fromkeys(["", *self.unsettled()], held)
            pending.write_report(self.layout, self.problems)
            return Settlement(self.problems, failed=held if joining else "")
        self._catch_up()
        self._settle_all(patience)
        outcome = Settlement()
        if joining is not None and self.follower is not None:
            outcome = self._join(self.follower, joining)
            self._catch_up()
            self._settle_all(patience, again=True)
        pending.write_report(self.layout, self.problems)
        return outcome._replace(problems=self.problems)

    def _let_visitors_go(self, patience: float) -> str:
        """Have finished what somebody's git left half-done; why nothing can be
        committed now, or nothing."""
        found = usergit.visit(self.layout.root, max(patience, _PATIENCE))
        if found.hold:
            return f"not committed: {found.hold}"
        if found.left and self.follower is not None:
            return self.follower.finish()
        return ""

    def _catch_up(self) -> None:
        if self.follower is not None:
            with self._problem_of([""], "not taken in"):
                self.problems |= self.follower.catch_up()

    def _join(self, follower: Follower, joining: Joining) -> Settlement:
        try:
            return Settlement({}, *follower.join(joining))
        except (GitError, OSError, ValueError) as error:
            return Settlement(failed=f"not joined: {error}")

    def _settle_all(self, patience: float, *, again: bool = False) -> None:
        for turn in range(_ROUNDS):
            self._await_calm(patience)
            topics = [one for one in self.unsettled() if one not in self.problems]
            # What all threads share is looked at once, with or without any.
            if topics or not (again or turn):
                self._settle(topics)
            if not topics:
                break

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
        return pending.unsettled_topics(self.layout)

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
        if self.follower is not None and not self.follower.in_step:
            # What somebody takes out of the branch now would not be noticed.
            why = "committed, but not all that the branch has is taken in"
            self.problems = dict.fromkeys(topics, why) | self.problems
        for one in settled:
            if one.topic not in self.problems:
                with self._problem_of([one.topic], "not finished"):
                    self._clear(one)

    def _project(self, topic: str) -> Settled:
        """Render a thread from its log; the bytes to be committed."""
        from wc_cli.store import rendering  # who only exchanges does without

        if self.follower is not None:
            self.follower.give_back_spared(topic)
        self.upkeep.refresh(topic)
        thread = self.reader.thread(topic)
        if thread.snapshot.log_size < 0:
            raise CorruptError("its log is missing", "See: wc doctor")
        if thread.snapshot.meta.newer:
            raise CorruptError("a newer wc wrote it", "Upgrade wc on this machine.")
        if not model.written_by_wc(thread.entries):
            return Settled(topic, thread.log.size, ())  # as its own tool keeps it
        wanted = rendering.render_thread(self.layout, thread)
        durable.make_folder(self.layout.pages, self.layout.root)
        for path in (self.layout.edges(topic), self.layout.page(topic)):
            durable.replace_if_changed(path, wanted[path], self.layout.root)
        log = thread.log
        whole = {self.layout.log(topic): thread.data[: log.complete], **wanted}
        changes = tuple(CommitChange(self._relative(p), d) for p, d in whole.items())
        return Settled(topic, log.size, changes)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)

    def _commit(self, settled: list[Settled]) -> None:
        """One commit for everything that the branch does not have yet."""
        if self.git is None or self.follower is None:
            commits.check_unread(self.layout.root)
            return
        where, parent = commits.tip(self.layout.root)
        if parent != self.follower.at:
            raise GitError("somebody moved the branch at this moment")
        # What was not taken in would be undone by what is still there.
        names = self._shared() if self.follower.in_step else ()
        shared = [
            CommitChange(
                name, read_plain(f"{self.layout.root}/{name}", self.layout.root) or b""
            )
            for name in names
        ]
        changes = [*shared, *(change for one in settled for change in one.changes)]
        have = commits.committed_files(self.git, parent, [one.path for one in changes])
        entries = self._news(self.git, settled, have)
        settled = [one for one in settled if one.topic not in self.problems]
        changes = [*shared, *(change for one in settled for change in one.changes)]
        changed = [one for one in changes if not commits.is_committed(one, have)]
        made = parent
        if changed:
            topics = [one.topic for one in settled]
            code_repo = messages.code_repo(where, self.env)
            message = messages.message_for(entries, topics, code_repo)
            parents = (parent,) if parent else ()
            with self.follower.noted():
                how = self.follower.how(where)
                made = commits.commit(self.git, changed, message, parents, how)
        if not changed and not settled:
            return
        if problem := self.follower.committed(where, parent, made):
            self.problems[""] = problem

    def _shared(self) -> tuple[str, ...]:
        """The files that all threads share; settings that cannot be used stay
        here: they would stop everybody who writes."""
        damage = self.upkeep.rules.damage
        if damage is None or damage.file not in _SHARED:
            return _SHARED
        self.problems[""] = f"not committed: {damage.file}: {damage.message}"
        return tuple(one for one in _SHARED if one != damage.file)

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
            if not one.changes:
                continue
            log = one.changes[0].path
            data = one.changes[0].data or b""
            new, lost = compared(git, one.topic, data, have.get(log))
            if lost:
                entries = counted(lost, "entry", "entries")
                message = f"{log} lacks {entries} that the branch has"
                self.problems[one.topic] = f"not committed: {message}"
            else:
                found += [(one.topic, entry) for entry in new]
        return found

    def _clear(self, one: Settled) -> None:
        """Remove the marker unless something was appended meanwhile, or taken
        away."""
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(one.topic):
            size = size_of(self.layout.log(one.topic), self.layout.root)
            # Outside git nobody took anything away that would be given back.
            follows = self.follower is not None
            lacks = follows and applier.missing(self.upkeep, one.topic)
            if size == one.log_size and not lacks:
                durable.remove(self.upkeep.marker(one.topic), self.layout.root)

    def _forget(self, topic: str) -> None:
        """Remove the marker of a thread whose first entry was never written."""
        with contextlib.suppress(LockTimeoutError), self.upkeep.lock(topic):
            if not self.reader.has(topic):
                durable.remove(self.upkeep.marker(topic), self.layout.root)


def settle(
    root: str,
    env: Mapping[str, str],
    seconds: float = 0.0,
    joining: Joining | None = None,
) -> Settlement | None:
    """Settle a store, waiting at most ``seconds`` for another that does.

    ``None`` where somebody else is at it: they will see our markers.
    """
    layout = StoreReader(root).layout
    if not os.path.isdir(layout.unsettled):
        return Settlement()  # the store is gone: nothing is made in its place
    outcome = None
    for _ in range(_ROUNDS):
        try:
            handle = locks.acquire(layout.git_lock, "settling", seconds, layout.root)
        except LockTimeoutError:
            return None
        found, done = settle_once(root, env, handle, joining=joining)
        outcome = found if outcome is None else outcome._replace(problems=found[0])
        if done:
            break
        joining = None
    return outcome


def settle_once(
    root: str,
    env: Mapping[str, str],
    handle: int,
    patience: float = 0.0,
    joining: Joining | None = None,
) -> tuple[Settlement, bool]:
    """Settle under the git lock, which is released; what it came to, and
    whether nothing is left that can be done."""
    settler = Settler(root, env, handle)
    try:
        outcome = settler.run(patience, joining)
    finally:
        os.close(handle)
    # A writer that found the lock held relies on us to look once more.
    return outcome, not set(settler.unsettled()) - set(settler.problems)
