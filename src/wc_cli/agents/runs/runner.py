"""The loop of ``wc run``: starts agents for their balls, watches them, and decides what
happens when they end."""

from __future__ import annotations

import os
import signal
import time
from types import MappingProxyType

from wc_cli.agents.runs import (
    commands,
    ending,
    loopfile,
    prompt,
    reserving,
)
from wc_cli.agents.runs.choosing import Chooser, RunCandidate, RunRequest
from wc_cli.agents.runs.cloud import planning, starting
from wc_cli.agents.runs.cloud.terminal import TerminalProcess
from wc_cli.agents.runs.landing import RunLanding
from wc_cli.agents.runs.output import RunOutput
from wc_cli.agents.runs.process import AgentProcess
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable, locks
from wc_cli.run.context import Context
from wc_cli.run.entries import receipts
from wc_core.attention.runs import records, waiting
from wc_core.attention.runs.records import (
    ASKED,
    FAILED,
    IN_CLOUD,
    PASSED,
    RUNNING,
    STARTING,
    STOPPED,
    RunRecord,
)
from wc_core.attention.runs.waiting import WaitingThreads
from wc_core.base import processes
from wc_core.base.errors import ClaimedError, ConflictError, FindingsError, WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.text import one_line
from wc_core.base.times import span
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED, initial_state
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from wc_cli.agents.runs.cloud.planning import CloudPlan
    from wc_cli.agents.runs.places import RunPlace
    from wc_core.ledger.threads.model import State

# Between two looks at what runs; when nothing runs, at the store.
_TICK, _IDLE_TICK = 0.03, 1.0
# So long, what a look has found is started without another one.
_KNOWN_SECONDS = 5.0
# Between two looks at what was spent.
_COUNT_SECONDS = 1.0
# Everything is looked at again after so many seconds, even if nothing has changed.
_LOOK_SECONDS = 30.0
# After an interrupt, an agent has so many seconds to end its turn.
_GRACE_SECONDS = 15.0
# How often an agent is started for one ball, and how many failures in a row end it all.
_MAX_TRIES = 2
_MAX_FAILURES = 3
_LOCK_SECONDS = 30.0
# Stands in the place of an agent where something lands.
_LANDER = "wc land"


class RunLimits(NamedTuple):
    """How many agents run at once; whether there is only one pass; until when new ones
    are started (on the monotonic clock); how long each may run, in seconds, and the
    command that starts one in the cloud."""

    most: int
    once: bool
    until: float
    seconds: float
    cloud_seconds: float = 120.0


class RunEvent(NamedTuple):
    """Something that happened to a thread's run: ``name`` is ``started``, ``passed``,
    ``asked``, ``failed``, ``stopped``, ``removed``, ``landed`` or ``skipped``."""

    name: str
    topic: str
    agent: str
    text: str
    fields: Mapping[str, Any] = MappingProxyType({})


class _ChangedError(ConflictError):
    """A thread has changed since it was looked at."""


class Run(NamedTuple):
    """A run that is watched: its record, its process, the agent's context, the thread's
    title and budget (0: none), when it must end (on the monotonic clock), and what had
    been spent before."""

    record: RunRecord
    process: AgentProcess
    at: Context
    title: str
    budget: int
    end: float
    tokens_before: int

    @property
    def topic(self) -> str:
        """Its thread."""
        return self.record.topic


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
        self.runs: dict[str, Run] = {}
        # What was started in the cloud from here and has not answered.
        self.in_cloud: dict[str, RunRecord] = {}
        self.waiting: list[RunCandidate] = []
        # Why it ends before it is asked to; empty if it does not.
        self.problem = ""
        self.started = 0
        # How many runs failed, in all and since the last that did not.
        self.failed = 0
        self._failures = 0
        self._interrupts = 0
        self._stop_at = 0.0
        self._done: set[str] = set()
        self._stamp: bytes | None = None
        # Whether something has changed here that the stamp does not show.
        self._must_look = True
        self._looked_at = self._counted_at = 0.0
        # Our process, and what was last noted of the threads that wait.
        self._me = os.getpid(), processes.started(os.getpid()) or 0
        self._noted: dict[str, str] = {}

    # --- the loop -----------------------------------------------------------------

    def interrupt(self) -> None:
        """Have the agents end their turns; the second time, end them."""
        self._interrupts += 1
        if self.landing is not None:
            self.landing.stop()

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

    def run(self, show: Callable[[Runner], None]) -> None:
        """Run until everything is done, the time is over, or it is interrupted.
        ``show`` is called again and again."""
        self._adopt()
        try:
            while True:
                self._watch()
                self._tell_landings()
                if not self.is_stopping and self._may_start:
                    if self._is_due():
                        self._look()
                    self._start_all()
                self._note_waiting()
                show(self)
                is_busy = bool(self.runs) or self._is_landing
                if not is_busy and (self.is_stopping or self._is_over()):
                    return
                time.sleep(_TICK if is_busy else _IDLE_TICK)
        finally:
            self._remove_notes()

    @property
    def _may_start(self) -> bool:
        """Whether another look may lead to a start: there is room here, or what is in
        the cloud may have made some there."""
        is_about_cloud = bool(self.in_cloud) or any(
            candidate.cloud is not None for candidate in self.waiting
        )
        return is_about_cloud or self._has_room(cloud=False)

    def _has_room(self, *, cloud: bool) -> bool:
        """Return whether one more may be started here, or in the cloud."""
        count = sum(run.record.is_cloud == cloud for run in self.runs.values())
        count += len(self.in_cloud) if cloud else 0
        return count < self._limits.most

    def _may_be_started(self, candidate: RunCandidate) -> bool:
        """Return whether there is room for a candidate. Here, there will be."""
        return candidate.cloud is None or self._has_room(cloud=True)

    @property
    def _is_landing(self) -> bool:
        return self.landing is not None and self.landing.is_at_work

    def _tell_landings(self) -> None:
        """Tell what has landed, or why not."""
        results = self.landing.results() if self.landing is not None else ()
        for fields in results:
            self._must_look = True
            error = fields.get("error")
            if error is None:
                names = ("commit", "ball", "paths")
                more = {name: fields[name] for name in names if name in fields}
                state, topic = str(fields["state"]), str(fields["topic"])
                text = str(fields["text"])
                self._tell(RunEvent(state, topic, _LANDER, text, more))
            elif error["code"] != FindingsError.code:  # each of those was told
                self._tell(RunEvent("failed", "…", _LANDER, str(error["message"])))

    def _is_over(self) -> bool:
        """Return whether the only pass is over."""
        if not self._limits.once or self._must_look:
            return False
        return not any(
            not candidate.obstacle
            and candidate.topic not in self._done
            and self._may_be_started(candidate)
            for candidate in self.waiting
        )

    def _is_due(self) -> bool:
        """Return whether to look at the threads: something was written since, or it is
        time. Not yet, if what the last look found can still be started."""
        if self._startable() and time.monotonic() - self._looked_at < _KNOWN_SECONDS:
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
        chooser = Chooser(context, self._request)
        self.waiting = [
            candidate
            for candidate in chooser.candidates()
            if candidate.topic not in self.runs and not self._was_shown(candidate)
        ]
        self._chooser = chooser
        self._remove_worktrees(chooser)
        self._follow_cloud(context)
        if self.landing is not None:
            self.landing.start(context.overview.rows())

    def _was_shown(self, candidate: RunCandidate) -> bool:
        """Return whether the only pass is over for a thread: what came of it was
        told."""
        is_done = self._limits.once and candidate.topic in self._done
        return is_done and bool(candidate.obstacle)

    def _startable(self) -> list[RunCandidate]:
        """Return the threads that can be started now, as of the last look."""
        return [
            candidate
            for candidate in self.waiting
            if not candidate.obstacle
            and not self._is_taken(candidate)
            and self._has_room(cloud=candidate.cloud is not None)
            and not (self._limits.once and candidate.topic in self._done)
        ]

    def _note_waiting(self) -> None:
        """Note what is not started, and why, for all who show threads."""
        is_open = not self.is_stopping
        reasons = {
            candidate.topic: candidate.obstacle
            for candidate in self.waiting
            if is_open and candidate.agent
        }
        if reasons != self._noted:
            self._noted = reasons
            noted = WaitingThreads(*self._me, reasons)
            path = waiting.path_of(self.layout, os.getpid())
            with contextlib.suppress(WcError):
                durable.make_folder(self.layout.runs, self.layout.root, flush=False)
                durable.replace(path, noted.to_bytes(), self.layout.root)

    def _remove_notes(self) -> None:
        """Remove our notes, and those of a `wc run` that was killed."""
        own = waiting.path_of(self.layout, os.getpid())
        for path in waiting.paths(self.layout):
            if path == own or not waiting.is_current(path, self.layout):
                with contextlib.suppress(WcError):
                    durable.remove(path, self.layout.root)

    def _start_all(self) -> None:
        while not self.is_stopping:
            candidate = next(iter(self._startable()), None)
            if candidate is None:
                return
            self.waiting.remove(candidate)
            self._done.add(candidate.topic)
            try:
                self._start(candidate)
            except _ChangedError:
                self._done.discard(candidate.topic)
                self._must_look = True
            except WcError as error:
                self._fail_to_start(candidate, error)

    def _is_taken(self, candidate: RunCandidate) -> bool:
        """Return whether an agent works in a candidate's worktree, or on its branch,
        for which there was no worktree before."""
        place = candidate.place
        return place is not None and any(
            run.record.worktree == place.path
            or (bool(place.branch) and run.record.branch == place.branch)
            for run in self.runs.values()
        )

    def _fail_to_start(self, candidate: RunCandidate, error: WcError) -> None:
        text = one_line(error.message)
        self.waiting.append(candidate._replace(obstacle=text.rstrip(".")))
        if isinstance(error, ClaimedError):
            return  # another machine runs it
        self._tell(RunEvent("failed", candidate.topic, candidate.agent, text))
        self._note_failure()

    def _note_failure(self) -> None:
        self.failed += 1
        self._failures += 1
        if self._failures >= _MAX_FAILURES and not self.problem:
            self.problem = f"{_MAX_FAILURES} runs in a row failed"

    # --- starting -----------------------------------------------------------------

    def _start(self, candidate: RunCandidate) -> None:
        """Start the agent of a thread. Raises a WcError if that fails; then its ball is
        where it was."""
        chooser = self._chooser
        holder = f"wc run ({os.getpid()})"
        with locks.locked(
            self.layout.runs_lock, holder, _LOCK_SECONDS, self.layout.root
        ):
            earlier = records.load(self.layout, candidate.topic)
            if earlier is not None and (earlier.is_alive or earlier.is_watched):
                return  # another `wc run` was faster
            claimer = chooser.agent_context(candidate.agent, "")
            place = candidate.place
            # From here on, the next `wc run` finds what a killed one has left.
            record = self._planned(candidate, place, earlier) if place else None
            if record is not None:
                self._save(record)
            try:
                reserving.reserve(claimer, candidate.topic, self._limits.seconds)
            except WcError:
                self._forget_start(candidate.topic)
                raise
            try:
                if candidate.cloud is not None:
                    self._start_in_cloud(candidate, candidate.cloud)
                elif record is not None:
                    self._start_here(candidate, record)
            except WcError:
                reserving.release(claimer, candidate.topic)
                self._forget_start(candidate.topic)
                raise

    def _start_here(self, candidate: RunCandidate, record: RunRecord) -> None:
        """Start an agent in the worktree of its thread."""
        chooser, place = self._chooser, candidate.place
        if place is None:
            raise ConflictError("It has no place.", "Try again.")
        chooser.places.add(place)
        loopfile.ignore(chooser.places.repository)
        at = chooser.agent_context(candidate.agent, place.path)
        self._launch(candidate, at, self._begin(candidate.state, at, record))

    def _start_in_cloud(self, candidate: RunCandidate, plan: CloudPlan) -> None:
        """Start the command that starts an agent in the cloud. The threads and the
        branch are at the remote then, and the entry that says so, too."""
        at = self._fresh()
        starting.exchange(at)
        if at.reader.snapshot(candidate.topic).state != candidate.state:
            raise _ChangedError(candidate.topic, "")
        planning.push(at, self._chooser.places, plan)
        record = RunRecord(
            candidate.topic,
            starting.session_name(candidate.agent),
            "",
            plan.branch,
            STARTING,
            now_ms(),
            since=candidate.state.since,
            previous=candidate.state.ball or "",
            runner=self._me[0],
            runner_begin=self._me[1],
            is_cloud=True,
            commit=plan.commit,
        )
        self._save(record)
        starting.pass_to_session(at, candidate.state, plan)
        record = record._replace(since=at.reader.snapshot(candidate.topic).state.since)
        self._save(record)
        if not starting.share(at, record):
            raise _ChangedError(candidate.topic, "")
        started = starting.launch(at, record, plan)
        record = record._replace(state=RUNNING, pid=started.pid, begin=started.begin)
        self._save(record)
        started.release()
        self._watch_run(record, started, at, candidate.state)

    def _forget_start(self, topic: str) -> None:
        """Record that a run that was about to start did not."""
        record = records.load(self.layout, topic)
        is_own = record is not None and record.runner == self._me[0]
        if record is not None and is_own and record.state == STARTING:
            self._save_stopped(record)

    def _save_stopped(self, record: RunRecord) -> None:
        """Record that a run did not start; its worktree may have been made."""
        is_made = record.is_made and os.path.isdir(record.worktree)
        stopped = record._replace(state=STOPPED, ended_ms=now_ms(), is_made=is_made)
        self._save(stopped)

    def _planned(
        self, candidate: RunCandidate, place: RunPlace, earlier: RunRecord | None
    ) -> RunRecord:
        """Return the record of a run that is about to start."""
        state = candidate.state
        is_again = (
            earlier is not None
            and earlier.state == FAILED
            and earlier.since == state.since
        )
        return RunRecord(
            candidate.topic,
            self._chooser.author_in(candidate.agent, place),
            place.path,
            place.branch,
            STARTING,
            now_ms(),
            since=state.since,
            previous=(earlier.previous if earlier and is_again else state.ball or ""),
            tries=(earlier.tries + 1 if earlier and is_again else 1),
            runner=self._me[0],
            runner_begin=self._me[1],
            is_made=bool(place.add)
            or bool(earlier and earlier.is_made and earlier.worktree == place.path),
        )

    def _begin(self, seen: State, at: Context, record: RunRecord) -> RunRecord:
        """Take the ball of a thread, as it was ``seen``, for its agent's seat. Returns
        the record of the run."""
        state, branch = at.reader.snapshot(record.topic).state, record.branch
        if state != seen:
            raise _ChangedError(record.topic, "")
        moves = bool(branch) and state.branch != branch
        draft = Draft(state.topic, "take", f"Started by wc run on {branch}")
        if moves:
            draft = draft._replace(thread_branch=branch)
        if state.ball == at.identity.author:
            draft = draft._replace(action="move", title=f"Moved to {branch}")
        if draft.action == "take" or moves:
            self._write(at, draft)
        since = at.reader.snapshot(state.topic).state.since
        record = record._replace(agent=at.identity.author, since=since)
        self._save(record)
        return record

    def _write(self, at: Context, draft: Draft) -> None:
        receipt = at.writer(renews=False).write(draft, at.source)
        receipts.settle_after_write(at, receipt)

    def _launch(self, candidate: RunCandidate, at: Context, record: RunRecord) -> None:
        """Start the process of a run that has begun. Raises ConflictError if it cannot
        be started; then the ball is given back."""
        thread = at.reader.thread(record.topic)
        text = prompt.prompt_text(
            at.identity.author, thread.state, thread.entries, again=record.tries > 1
        )
        words = commands.with_prompt(candidate.command, text)
        env = commands.variables(self.env, candidate.agent)
        env = commands.with_our_program(env, self.layout)
        try:
            log = RunOutput.of(self.layout, record.topic, self.env).open()
            try:
                started = AgentProcess.start(words, record.worktree, env, log)
            finally:
                os.close(log)
        except (OSError, ValueError) as error:
            record = record._replace(state=FAILED, ended_ms=now_ms(), reason=str(error))
            self._save(record)
            ending.give_back(at, record, ())
            raise ConflictError(
                f"{words[0]} could not be started: {error}.", "Try it by hand."
            ) from error
        record = record._replace(state=RUNNING, pid=started.pid, begin=started.begin)
        self._save(record)
        started.release()
        self._watch_run(record, started, at, thread.state)
        self.started += 1
        self._tell(_event("started", record, f"started in {record.worktree}"))

    def _watch_run(
        self, record: RunRecord, started: AgentProcess, at: Context, state: State
    ) -> None:
        elapsed = max(0, now_ms() - record.started_ms) / 1000
        self.runs[record.topic] = Run(
            record,
            started,
            at,
            state.title,
            state.budget,
            time.monotonic() + self._seconds_of(record) - elapsed,
            ending.tokens_of(self.layout, record.topic) - record.tokens,
        )
        loopfile.write(record, state.title, "running", now_ms())

    def _seconds_of(self, record: RunRecord) -> float:
        """Return how long a run may take."""
        limits = self._limits
        return limits.cloud_seconds if record.is_cloud else limits.seconds

    def _save(self, record: RunRecord) -> None:
        durable.make_folder(self.layout.runs, self.layout.root, flush=False)
        path = records.path_of(self.layout, record.topic)
        durable.replace(path, record.to_bytes(), self.layout.root)

    def tokens_of(self, run: Run) -> int:
        """Return the tokens that a run has taken so far, 0 if that is unknown."""
        return max(0, ending.tokens_of(self.layout, run.topic) - run.tokens_before)

    # --- what an earlier one left ---------------------------------------------------

    def _adopt(self) -> None:
        """Watch what a ``wc run`` that was killed has left: what still runs, and what
        has ended since."""
        context = self._fresh()
        chooser = Chooser(context, self._request)
        self._chooser = chooser
        for record in records.all_records(self.layout):
            if not record.is_open or record.is_watched:
                continue
            if not record.pid:
                # It was killed before it started the agent.
                self._save_stopped(record)
                agent = parse(record.agent).agent
                reserving.release(chooser.agent_context(agent, ""), record.topic)
                if record.is_cloud:
                    with contextlib.suppress(WcError):
                        starting.undo(context, record)
                continue
            own = record._replace(runner=self._me[0], runner_begin=self._me[1])
            self._save(own)
            agent = parse(record.agent).agent
            folder = record.worktree if os.path.isdir(record.worktree) else ""
            at = chooser.agent_context(agent, folder)
            state = initial_state(record.topic)
            with contextlib.suppress(WcError):
                state = at.reader.snapshot(record.topic).state
            started = AgentProcess(record.pid, record.begin)
            self._watch_run(own, started, at, state)

    def _remove_worktrees(self, chooser: Chooser) -> None:
        """Remove the worktrees that were made for threads that are closed, if nothing
        in them is uncommitted."""
        reader = chooser.context.reader
        for record in records.all_records(self.layout):
            if not record.is_made or record.is_open:
                continue
            with contextlib.suppress(WcError, GitError):
                closed = reader.snapshot(record.topic).state.status == CLOSED
                if closed and chooser.places.remove(record.worktree):
                    self._save(record._replace(is_made=False))
                    text = f"removed {record.worktree}; its branch stays"
                    self._tell(_event("removed", record, text))

    # --- watching -----------------------------------------------------------------

    def _watch(self) -> None:
        """Look at everything that runs."""
        if self._interrupts and not self._stop_at:
            self._stop_at = time.monotonic() + _GRACE_SECONDS
            for run in self.runs.values():
                run.process.send(signal.SIGINT)
        is_late = self._stop_at and time.monotonic() >= self._stop_at
        now = time.monotonic()
        counts = now - self._counted_at >= _COUNT_SECONDS
        if counts:
            self._counted_at = now
        for run in [*self.runs.values()]:
            RunOutput.of(self.layout, run.topic, self.env).limit()
            if isinstance(run.process, TerminalProcess) and run.process.copy():
                self._notice_session(run, run.process)
            if run.process.has_ended:
                self._end(run, "")
            elif self._interrupts > 1 or is_late:
                run.process.send(signal.SIGKILL)
            elif not self._interrupts:
                self._limit(run, counts=counts)

    def _limit(self, run: Run, *, counts: bool) -> None:
        """End a run that has taken too long, or, if it ``counts`` what was spent, whose
        budget is spent."""
        reason = ""
        if time.monotonic() >= run.end:
            seconds = self._seconds_of(run.record)
            reason = f"took longer than {span(int(seconds))}"
        elif counts and 0 < run.budget <= ending.tokens_of(self.layout, run.topic):
            reason = "has spent its budget"
        if reason:
            run.process.end_group()
            self._end(run, reason)

    def _end(self, run: Run, reason: str) -> None:
        """Decide what happens after a run has ended."""
        del self.runs[run.topic]
        run.process.end_group()
        RunOutput.of(self.layout, run.topic, self.env).finish()
        self._must_look = True
        record = run.record._replace(
            ended_ms=now_ms(),
            exit_status=run.process.exit_status,
            tokens=self.tokens_of(run),
        )
        at = self._context_of(record, run.at)
        agent = parse(record.agent).agent
        reserving.release(self._chooser.agent_context(agent, ""), record.topic)
        try:
            if record.is_cloud:
                self._decide_start(run, record, self._fresh(), reason)
            else:
                self._decide(run, record, at, reason)
        except WcError as error:
            self._finish(record, FAILED, one_line(error.message), run.title, "stopped")
            self._note_failure()

    def _context_of(self, record: RunRecord, before: Context) -> Context:
        """Return the context of a run, as new: the agent may have removed its
        worktree, or left its branch."""
        folder = before.cwd if os.path.isdir(before.cwd) else self._fresh().cwd
        name = parse(record.agent)
        env = commands.variables(self.env, name.agent)
        if name.seat:
            env["WATERCOOLER_SEAT"] = name.seat
        return Context(env, folder, Asked(name.agent))

    def _decide(self, run: Run, record: RunRecord, at: Context, reason: str) -> None:
        spent = ending.is_budget_spent(at, record.topic)
        at = Context(at.env, at.cwd, at.asked)
        outcome = ending.outcome_of(at, record)
        if outcome.state in {PASSED, ASKED}:
            self._failures = 0
            if spent:
                outcome = outcome._replace(text="stopped: its budget is spent")
            status = _loop_status(at, outcome)
            self._finish(record, outcome.state, outcome.text, run.title, status)
            return
        changed = self._changed(record)
        if self._interrupts:
            to = ending.give_back(at, record, changed)
            text = f"its ball is {to}'s again"
            self._finish(record, STOPPED, text, run.title, "stopped")
            return
        lines = ending.last_lines(at, record.topic)
        is_limited = bool(record.exit_status) and ending.is_rate_limit(lines)
        if is_limited:
            reason = "the model's provider refuses more for now (a rate limit)"
        if not reason and not os.path.isdir(record.worktree):
            reason = "its worktree is gone"
        if not reason and record.tries < _MAX_TRIES:
            text = f"{outcome.text}; it is started again"
            self._finish(record, FAILED, text, run.title, "running")
            self._done.discard(record.topic)
            return
        reason = reason or f"{outcome.text}, {record.tries} times"
        record = record._replace(reason=reason)
        to = ending.give_to_person(at, record, changed)
        handoff_id = at.reader.snapshot(record.topic).state.since
        record = record._replace(given=handoff_id)
        text = f"{reason}; {to} has the ball"
        self._finish(record, FAILED, text, run.title, "waiting:human")
        self._note_failure()
        if is_limited:
            self.problem = reason

    # --- in the cloud ---------------------------------------------------------------

    def _notice_session(self, run: Run, started: TerminalProcess) -> None:
        """End a command that has said which session it started."""
        if starting.session_of(run.at, run.record) is not None:
            started.end_softly()

    def _decide_start(
        self, run: Run, record: RunRecord, at: Context, reason: str
    ) -> None:
        """Decide what happens after the command that starts a session has ended."""
        session = starting.session_of(at, record)
        if session is not None:
            self._failures = 0
            self.started += 1
            record = record._replace(session=session.id, address=session.address)
            record = record._replace(state=IN_CLOUD)
            self._save(record)
            self.in_cloud[record.topic] = record
            # It runs, whatever becomes of the entry.
            with contextlib.suppress(WcError):
                starting.note(at, record)
            text = f"started in the cloud: {session.address}"
            self._tell(_event("started", record, text))
            return
        has_failed = (record.exit_status or 0) > 0 and not self._interrupts
        record = record._replace(reason=reason)
        to = starting.undo(at, record) if has_failed else starting.doubt(at, record)
        handoff_id = at.reader.snapshot(record.topic).state.since
        record = record._replace(given=handoff_id)
        problem = "did not start in the cloud" if has_failed else starting.DOUBT
        lines = ending.last_lines(at, record.topic)[-1:]
        record = record._replace(reason=": ".join((reason or problem, *lines)))
        text = f"{record.reason}; {to} has the ball"
        self._finish(record, FAILED, text, run.title, "stopped")
        self._note_failure()

    def _follow_cloud(self, context: Context) -> None:
        """Notice which sessions in the cloud have passed their balls."""
        self.in_cloud = {}
        for record in records.all_records(self.layout):
            if record.state != IN_CLOUD:
                continue
            with contextlib.suppress(WcError):
                state = context.reader.snapshot(record.topic).state
                if starting.has_ball(state, record) and state.status != CLOSED:
                    self.in_cloud[record.topic] = record
                    continue
                text = f"passed to {state.ball or 'anyone'}"
                text = "closed" if state.status == CLOSED else text
                ended = record._replace(ended_ms=now_ms())
                self._finish(ended, PASSED, text, state.title, "done")

    def _finish(
        self, record: RunRecord, state: str, text: str, title: str, status: str
    ) -> None:
        record = record._replace(state=state, reason=record.reason or text)
        try:
            self._save(record)
        except WcError as error:
            # The next `wc run` finds it, and that it has ended.
            self.problem = self.problem or one_line(error.message.rstrip("."))
        loopfile.write(record, title, status, now_ms())
        self._tell(_event(state, record, text))

    def _changed(self, record: RunRecord) -> list[str]:
        with contextlib.suppress(WcError):
            return self._chooser.places.changed(record.worktree)
        return []


def _loop_status(at: Context, outcome: ending.RunOutcome) -> str:
    """Return the status of the loop of a run that has passed the ball or asked."""
    if outcome.thread.status == CLOSED:
        return "done"
    ball = outcome.thread.ball
    is_agent = ball is not None and at.settings.directory.is_agent(parse(ball))
    return "waiting:agent" if is_agent and outcome.state == PASSED else "waiting:human"


def _event(name: str, record: RunRecord, text: str) -> RunEvent:
    fields = {
        "worktree": record.worktree,
        "branch": record.branch,
        "try": record.tries,
        "pid": record.pid or None,
        "exit_status": record.exit_status,
        "tokens": record.tokens or None,
        "session": record.session or None,
        "address": record.address or None,
    }
    fields = {key: value for key, value in fields.items() if value is not None}
    return RunEvent(name, record.topic, record.agent, text, fields)
