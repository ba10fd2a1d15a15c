"""Starting the agent of a thread, and finding what a ``wc run`` that was killed has
started.

A process is started in steps, so that a kill between any two of them starts nothing
twice and loses no ball: the record, the claim, the entry, the process, which waits,
its number in the record, and only then the agent.
"""

from __future__ import annotations

import os

from wc_cli.agents.runs import (
    commands,
    ending,
    prompt,
    reserving,
    writing,
)
from wc_cli.agents.runs.choosing import ThreadChangedError
from wc_cli.agents.runs.output import RunOutput
from wc_cli.agents.runs.process import AgentProcess
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import locks
from wc_core.attention.runs import records
from wc_core.attention.runs.records import FAILED, RUNNING, STARTING, RunRecord
from wc_core.base.errors import ConflictError, WcError
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import initial_state
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.runs.choosing import Chooser, RunCandidate
    from wc_cli.agents.runs.places import RunPlace
    from wc_cli.run.context import Context
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State

_LOCK_SECONDS = 30.0


class StartedRun(NamedTuple):
    """A run that was started: its record, its process, the context of who writes for it
    and the state of its thread."""

    record: RunRecord
    process: AgentProcess
    at: Context
    thread: State


class RunStarter:
    """Starts agents in one repository. ``seconds`` is how long one may run."""

    def __init__(self, layout: Layout, seconds: float) -> None:
        self._layout = layout
        self._seconds = seconds

    def start(self, candidate: RunCandidate, chooser: Chooser) -> StartedRun | None:
        """Start the agent of a thread, as the ``chooser`` saw it. Returns ``None`` if
        another ``wc run`` was faster. Raises ThreadChangedError, and a WcError if that
        fails; then its ball is where it was."""
        holder = f"wc run ({os.getpid()})"
        layout = self._layout
        with locks.locked(layout.runs_lock, holder, _LOCK_SECONDS, layout.root):
            earlier = records.load(layout, candidate.topic)
            if earlier is not None and (earlier.is_alive or earlier.is_watched):
                return None
            # From here on, the next `wc run` finds what a killed one has left.
            record = _planned(candidate, earlier, chooser)
            writing.save(layout, record)
            claimer = chooser.agent_context(candidate.agent, "")
            try:
                reserving.reserve(claimer, candidate.topic, self._seconds)
            except WcError:
                self._forget(candidate.topic, earlier)
                raise
            try:
                return self._release(self._start_waiting(candidate, record, chooser))
            except WcError:
                reserving.release(claimer, candidate.topic)
                self._forget(candidate.topic, earlier)
                raise

    def _start_waiting(
        self, candidate: RunCandidate, record: RunRecord, chooser: Chooser
    ) -> StartedRun:
        """Start a process that waits to become the agent. Raises a WcError if that
        fails."""
        place = candidate.place
        if place is not None:
            return self._start_here(candidate, place, record, chooser)
        raise ConflictError("It has no place.", "Try again.")

    def _release(self, started: StartedRun) -> StartedRun:
        """Record the process of a run, and let it become its program."""
        process = started.process
        record = started.record._replace(
            state=RUNNING, pid=process.pid, begin=process.begin
        )
        writing.save(self._layout, record)
        process.release()
        return started._replace(record=record)

    def _forget(self, topic: str, earlier: RunRecord | None) -> None:
        """Record that a run that was about to start did not: an ``earlier`` one is the
        latest again."""
        record = records.load(self._layout, topic)
        is_own = record is not None and record.runner == os.getpid()
        if record is not None and is_own and record.state == STARTING:
            writing.save_stopped(self._layout, record, earlier)

    def _start_here(
        self,
        candidate: RunCandidate,
        place: RunPlace,
        record: RunRecord,
        chooser: Chooser,
    ) -> StartedRun:
        """Start an agent in the worktree of its thread. Raises ConflictError if its
        process cannot be started; then the ball is given back."""
        if not chooser.places.is_current(place):
            raise ThreadChangedError(record.topic, "")
        chooser.places.add(place)
        at = chooser.agent_context(candidate.agent, place.path)
        record = self._begin(candidate.state, at, record, place)
        thread = at.reader.thread(record.topic)
        text = prompt.prompt_text(
            at.identity.author, thread.state, thread.entries, again=record.tries > 1
        )
        words = commands.with_prompt(candidate.command, text)
        env = commands.with_our_program(at.env, self._layout)
        try:
            log = RunOutput.of(self._layout, record.topic, at.env).open()
            try:
                process = AgentProcess.start(words, record.worktree, env, log)
            finally:
                os.close(log)
        except (OSError, ValueError) as error:
            record = record._replace(state=FAILED, ended_ms=now_ms(), reason=str(error))
            writing.save(self._layout, record)
            ending.give_back(at, record, ())
            raise ConflictError(
                f"{words[0]} could not be started: {error}.", "Try it by hand."
            ) from error
        return StartedRun(record, process, at, thread.state)

    def _begin(
        self, expected: State, at: Context, record: RunRecord, place: RunPlace
    ) -> RunRecord:
        """Take the ball of a thread in the ``expected`` state for its agent's seat.
        Returns the record of the run."""
        state, branch = at.reader.thread(record.topic).state, record.branch
        if state != expected:
            raise ThreadChangedError(record.topic, "")
        moves = bool(branch) and state.branch != branch
        origin = place.origin_text
        draft = Draft(state.topic, "take", f"Started by wc run on {branch}{origin}")
        if moves:
            draft = draft._replace(thread_branch=branch)
        if state.ball == at.identity.author:
            draft = draft._replace(action="move", title=f"Moved to {branch}{origin}")
        if draft.action == "take" or moves:
            writing.write_entry(at, draft)
        since = at.reader.snapshot(state.topic).state.since
        record = record._replace(agent=at.identity.author, since=since)
        writing.save(self._layout, record)
        return record

    def adopt(self, record: RunRecord, chooser: Chooser) -> StartedRun | None:
        """Take over what a ``wc run`` that was killed has left. Returns ``None`` if
        that had not started its agent."""
        agent = parse(record.agent).agent
        if not record.pid:
            reserving.release(chooser.agent_context(agent, ""), record.topic)
            writing.save_stopped(self._layout, record)
            return None
        record = writing.owned(record)
        writing.save(self._layout, record)
        folder = record.worktree if os.path.isdir(record.worktree) else ""
        at = chooser.agent_context(agent, folder)
        state = initial_state(record.topic)
        with contextlib.suppress(WcError):
            state = at.reader.snapshot(record.topic).state
        process = AgentProcess(record.pid, record.begin)
        return StartedRun(record, process, at, state)


def _planned(
    candidate: RunCandidate, earlier: RunRecord | None, chooser: Chooser
) -> RunRecord:
    """Return the record of a run that is about to start, after an ``earlier`` one of
    the same thread."""
    state, place = candidate.state, candidate.place
    record = RunRecord(
        candidate.topic,
        candidate.agent,
        "",
        "",
        STARTING,
        now_ms(),
        since=state.since,
        previous=state.ball or "",
        made_worktree=earlier.made_worktree if earlier is not None else "",
    )
    record = writing.owned(record)
    if place is not None:
        author = chooser.author_in(candidate.agent, place)
        record = record._replace(agent=author, worktree=place.path, branch=place.branch)
    if place is not None and place.add:
        record = record._replace(made_worktree=place.path)
    if earlier is None or (earlier.state, earlier.since) != (FAILED, state.since):
        return record
    return record._replace(previous=earlier.previous, tries=earlier.tries + 1)
