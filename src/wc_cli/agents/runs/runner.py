"""The loop of ``wc run``: which threads agents are started for, when it looks again,
and when it ends."""

from __future__ import annotations

import os
import time
from types import MappingProxyType

from wc_cli.agents.runs import deciding, ending, reserving, writing
from wc_cli.agents.runs.choosing import Chooser, ThreadChangedError
from wc_cli.agents.runs.landing import RunLanding
from wc_cli.agents.runs.starting import RunStarter
from wc_cli.agents.runs.watching import RunWatcher
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.store import durable
from wc_core.attention.runs import records, waiting
from wc_core.attention.runs.records import FAILED, STOPPED
from wc_core.attention.runs.waiting import WaitingThreads
from wc_core.base import processes
from wc_core.base.errors import ClaimedError, FindingsError, WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_cli.agents.runs.choosing import RunCandidate, RunRequest
    from wc_cli.agents.runs.ending import RunEnd
    from wc_cli.agents.runs.watching import Run
    from wc_cli.run.context import Context
    from wc_core.attention.runs.records import RunRecord

# Between two looks at what runs; when nothing runs, at the store.
_TICK, _IDLE_TICK = 0.03, 1.0
# So long, what a look has found is started without another one.
_KNOWN_SECONDS = 5.0
# Everything is looked at again after so many seconds, even if nothing has changed.
_LOOK_SECONDS = 30.0
# How many failures in a row end it all.
_MAX_FAILURES = 3
# Stands in the place of an agent where something lands.
_LANDER = "wc land"


class RunLimits(NamedTuple):
    """How many agents run at once; whether there is only one pass; until when new ones
    are started (on the monotonic clock); how long each may run, in seconds."""

    most: int
    once: bool
    until: float
    seconds: float


class RunEvent(NamedTuple):
    """Something that happened to a thread's run: ``name`` is ``started``, ``passed``,
    ``asked``, ``failed``, ``stopped``, ``removed``, ``landed`` or ``skipped``."""

    name: str
    topic: str
    agent: str
    text: str
    fields: Mapping[str, Any] = MappingProxyType({})


class Runner:
    """Starts and watches agents in one repository. ``fresh`` makes a context, ``tell``
    is called with each event. ``lands``: what is ready to land is landed, too."""

    def __init__(
        self,
        fresh: Callable[[], Context],
        request: RunRequest,
        limits: RunLimits,
        tell: Callable[[RunEvent], None],
        *,
        lands: bool = False,
    ) -> None:
        self._fresh = fresh
        self._request = request
        self._limits = limits
        self._tell = tell
        context = fresh()
        self.layout = Layout(context.reader.layout.root)
        self.env = context.env
        self.landing: RunLanding | None = None
        if lands:
            self.landing = RunLanding(self.layout, self.env, context.cwd)
        self._starter = RunStarter(self.layout, limits.seconds)
        self.watcher = RunWatcher(self.layout, self.env, limits.seconds)
        self.queue = _StartQueue(self.watcher.runs, limits.most, once=limits.once)
        self._notes = _WaitNotes(self.layout)
        # Why it ends before it is asked to; empty if it does not.
        self.problem = ""
        self.started = 0
        # How many runs failed, in all and since the last that did not.
        self.failed = 0
        self._failures = 0
        self._interrupts = 0
        self._stamp: bytes | None = None
        # Whether something has changed here that the stamp does not show.
        self._must_look = True
        self._looked_at = 0.0

    # --- what is seen of it ---------------------------------------------------------

    @property
    def is_interrupted(self) -> bool:
        """Whether the agents were asked to end their turns."""
        return self._interrupts > 0

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more is started."""
        return bool(
            self._interrupts or self.problem or time.monotonic() >= self._limits.until
        )

    # --- the loop -------------------------------------------------------------------

    def interrupt(self) -> None:
        """Have the agents end their turns; the second time, end them."""
        self._interrupts += 1
        if self.landing is not None:
            self.landing.stop()

    def run(self, show: Callable[[Runner], None]) -> None:
        """Run until everything is done, the time is over, or it is interrupted.
        ``show`` is called again and again."""
        self._adopt()
        try:
            while True:
                for run, reason in self.watcher.ended(self._interrupts):
                    self._end(run, reason)
                self._tell_landings()
                if not self.is_stopping and self.queue.has_room:
                    if self._is_due():
                        self._look()
                    self._start_all()
                self._notes.write({} if self.is_stopping else self.queue.reasons)
                show(self)
                is_busy = bool(self.watcher.runs) or self._is_landing
                if not is_busy and (self.is_stopping or self._is_over()):
                    return
                is_waiting = not (is_busy or self._must_look)
                time.sleep(_IDLE_TICK if is_waiting else _TICK)
        finally:
            self._notes.remove()

    def _adopt(self) -> None:
        """Watch what a ``wc run`` that was killed has left: what still runs, and what
        has ended since."""
        self._chooser = Chooser(self._fresh(), self._request)
        for record in records.all_records(self.layout):
            if record.is_open and not record.is_watched:
                started = self._starter.adopt(record, self._chooser)
                if started is not None:
                    self.watcher.add(started)

    @property
    def _is_landing(self) -> bool:
        return self.landing is not None and self.landing.is_at_work

    # --- looking --------------------------------------------------------------------

    def _is_over(self) -> bool:
        """Return whether the only pass is over."""
        return self.queue.is_over and not self._must_look

    def _is_due(self) -> bool:
        """Return whether to look at the threads: something was written since, or it is
        time. Not yet, if what the last look found can still be started."""
        if self.queue.can_take and time.monotonic() - self._looked_at < _KNOWN_SECONDS:
            return False
        stamp = None
        with contextlib.suppress(OSError):
            stamp = read_plain(self.layout.line_stamp, self.layout.root)
        now = time.monotonic()
        # Without a stamp, the store is being written.
        is_same = stamp == self._stamp and stamp is not None
        pause = _LOOK_SECONDS if is_same else _IDLE_TICK
        if not self._must_look and now - self._looked_at < pause:
            return False
        self._stamp, self._looked_at, self._must_look = stamp, now, False
        return True

    def _look(self) -> None:
        """Look at the threads, and tidy up after those that are closed."""
        context = self._fresh()
        self._chooser = Chooser(context, self._request)
        self.queue.replace(self._chooser.candidates())
        self._remove_worktrees()
        if self.landing is not None:
            self.landing.start(context.overview.rows())

    def _remove_worktrees(self) -> None:
        """Remove the worktrees that were made for threads that are closed, if nothing
        in them is uncommitted."""
        reader = self._chooser.context.reader
        for record in records.all_records(self.layout):
            path = record.made_worktree
            if not path or record.is_open:
                continue
            with contextlib.suppress(WcError, GitError):
                closed = reader.snapshot(record.topic).state.status == CLOSED
                if closed and self._chooser.places.remove(path):
                    writing.save(self.layout, record._replace(made_worktree=""))
                    branch = record.branch if record.worktree == path else ""
                    removed = record._replace(worktree=path, branch=branch)
                    text = f"removed {path}; its branch stays"
                    self._tell_run("removed", removed, text)

    # --- starting -------------------------------------------------------------------

    def _start_all(self) -> None:
        while not self.is_stopping:
            candidate = self.queue.take()
            if candidate is None:
                return
            try:
                self._start(candidate)
            except ThreadChangedError:
                self.queue.give_another_turn(candidate.topic)
                self._must_look = True
            except WcError as error:
                self._fail_to_start(candidate, error)

    def _start(self, candidate: RunCandidate) -> None:
        """Start the agent of a thread. Raises what `RunStarter.start` raises."""
        started = self._starter.start(candidate, self._chooser)
        if started is None:
            return  # another `wc run` was faster
        self.watcher.add(started)
        record = started.record
        self.started += 1
        self._tell_run("started", record, f"started in {record.worktree}")

    def _fail_to_start(self, candidate: RunCandidate, error: WcError) -> None:
        text = one_line(error.message)
        self.queue.refuse(candidate, text.rstrip("."))
        if isinstance(error, ClaimedError):
            return  # another machine runs it
        self._tell(RunEvent("failed", candidate.topic, candidate.agent, text))
        self._note_failure()

    # --- when one ends --------------------------------------------------------------

    def _end(self, run: Run, reason: str) -> None:
        """Have it decided what happens after a run has ended."""
        self._must_look = True
        record, is_interrupted = run.record, self.is_interrupted
        agent = parse(record.agent).agent
        reserving.release(self._chooser.agent_context(agent, ""), record.topic)
        try:
            end = deciding.decide(
                self._chooser, run, reason, is_interrupted=is_interrupted
            )
        except WcError as error:
            record, text = record._replace(state=FAILED), one_line(error.message)
            end = ending.conclude(self.layout, record, text)
        self._tell_end(end)
        self._count(end)

    def _count(self, end: RunEnd) -> None:
        """Note what follows for other runs."""
        topic, state = end.record.topic, end.record.state
        if end.is_again:
            self.queue.give_another_turn(topic)
        elif state == FAILED:
            self._note_failure()
        elif state != STOPPED:
            self._failures = 0

    def _note_failure(self) -> None:
        self.failed += 1
        self._failures += 1
        if self._failures >= _MAX_FAILURES and not self.problem:
            self.problem = f"{_MAX_FAILURES} runs in a row failed"

    # --- telling --------------------------------------------------------------------

    def _tell_run(self, name: str, record: RunRecord, text: str) -> None:
        """Tell what happened to a run."""
        fields = {
            "worktree": record.worktree,
            "branch": record.branch,
            "try": record.tries,
            "pid": record.pid or None,
            "exit_status": record.exit_status,
        }
        fields = {key: value for key, value in fields.items() if value is not None}
        self._tell(RunEvent(name, record.topic, record.agent, text, fields))

    def _tell_end(self, end: RunEnd) -> None:
        """Tell what was decided about a run."""
        self.problem = self.problem or end.problem
        self._tell_run(end.record.state, end.record, end.text)

    def _tell_landings(self) -> None:
        """Tell what has landed, or why not."""
        results = self.landing.results() if self.landing is not None else ()
        for fields in results:
            self._must_look = True
            error = fields.get("error")
            if error is None:
                names = ("commit", "ball", "paths")
                details = {name: fields[name] for name in names if name in fields}
                state, topic = str(fields["state"]), str(fields["topic"])
                text = str(fields["text"])
                self._tell(RunEvent(state, topic, _LANDER, text, details))
            elif error["code"] != FindingsError.code:  # each of those was told
                self._tell(RunEvent("failed", "…", _LANDER, str(error["message"])))


class _WaitNotes:
    """The notes of this process, in the store of a ``layout``. A failure stops no
    run."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = waiting.path_of(layout, os.getpid())
        self._noted: Mapping[str, str] = {}

    def write(self, reasons: Mapping[str, str]) -> None:
        """Note the reasons, by topic, if they have changed."""
        if reasons == self._noted:
            return
        self._noted = reasons
        pid = os.getpid()
        noted = WaitingThreads(pid, processes.started(pid) or 0, reasons)
        with contextlib.suppress(WcError):
            root = writing.made_folder(self._layout).root
            durable.replace(self._path, noted.to_bytes(), root)

    def remove(self) -> None:
        """Remove them, and those of a ``wc run`` that was killed."""
        for path in waiting.paths(self._layout):
            if path == self._path or not waiting.is_current(path, self._layout):
                with contextlib.suppress(WcError):
                    durable.remove(path, private_layout(self._layout).root)


class _StartQueue:
    """The threads that wait for their agents while others have their ``runs``: at most
    ``most``. With ``once`` each gets one turn."""

    def __init__(self, runs: Mapping[str, Run], most: int, *, once: bool) -> None:
        self._runs = runs
        self._most = most
        self._once = once
        self._done: set[str] = set()
        self.waiting: list[RunCandidate] = []

    def replace(self, candidates: Iterable[RunCandidate]) -> None:
        """Have the threads of another look wait. A thread that has had its turn and
        cannot be started is left out: what came of that was told."""
        self.waiting = [
            candidate
            for candidate in candidates
            if candidate.topic not in self._runs
            and not (candidate.obstacle and self._is_done(candidate))
        ]

    def take(self) -> RunCandidate | None:
        """Return a thread that can be started now, and give it its turn; ``None`` if
        there is none."""
        candidate = next(filter(self._can_start, self.waiting), None)
        if candidate is not None:
            self.waiting.remove(candidate)
            self._done.add(candidate.topic)
        return candidate

    def refuse(self, candidate: RunCandidate, obstacle: str) -> None:
        """Have a thread wait that could not be started, because of an obstacle."""
        self.waiting.append(candidate._replace(obstacle=obstacle))

    def give_another_turn(self, topic: str) -> None:
        """Let a thread be started again once it waits, even if each gets one turn."""
        self._done.discard(topic)

    @property
    def can_take(self) -> bool:
        """Whether a thread can be started now."""
        return any(map(self._can_start, self.waiting))

    @property
    def has_room(self) -> bool:
        """Whether one more may be started."""
        return len(self._runs) < self._most

    @property
    def is_over(self) -> bool:
        """Whether each thread that could be started has had its turn."""
        return self._once and not any(
            not candidate.obstacle and not self._is_done(candidate)
            for candidate in self.waiting
        )

    @property
    def reasons(self) -> dict[str, str]:
        """Why agents are not started, by topic; empty for a thread that only waits for
        its turn."""
        agents = (candidate for candidate in self.waiting if candidate.agent)
        return {candidate.topic: candidate.obstacle for candidate in agents}

    def _can_start(self, candidate: RunCandidate) -> bool:
        return not (
            candidate.obstacle
            or self._is_done(candidate)
            or self._is_taken(candidate)
            or not self.has_room
        )

    def _is_done(self, candidate: RunCandidate) -> bool:
        return self._once and candidate.topic in self._done

    def _is_taken(self, candidate: RunCandidate) -> bool:
        """Return whether an agent works in a candidate's worktree, or on its branch,
        for which there was no worktree before."""
        place = candidate.place
        return place is not None and any(
            run.record.worktree == place.path
            or (bool(place.branch) and run.record.branch == place.branch)
            for run in self._runs.values()
        )
