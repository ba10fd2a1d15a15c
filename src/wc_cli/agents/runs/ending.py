"""The end of a run: the entry that gives its ball away, and its record."""

from __future__ import annotations

import os
import re

from wc_cli.agents.runs import commands, writing
from wc_cli.agents.runs.output import RunOutput
from wc_cli.run.context import Context
from wc_core.attention.runs.records import ASKED, FAILED, PASSED, STOPPED, RunRecord
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import span
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import counterparts
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.agents.runs.choosing import Chooser
    from wc_cli.agents.runs.watching import Run
    from wc_core.ledger.threads.model import State

_LAST_LINES, _LINE = 8, 200
# How often an agent is started for one ball.
_MAX_TRIES = 2
# What clients print when the provider of their model refuses more for now.
_RATE_LIMIT = re.compile(
    r"rate.?limit|too many requests|\b429\b|usage limit|quota (?:is )?exceeded"
    r"|limit (?:has been )?reached|overloaded",
    re.IGNORECASE,
)


class RunEnd(NamedTuple):
    """What was decided about a run that has ended: its record, and in words.
    ``is_again``: its agent is started again. ``problem`` is why nothing more is to
    be started; empty if that may go on."""

    record: RunRecord
    text: str
    is_again: bool = False
    problem: str = ""


def conclude(layout: Layout, record: RunRecord, text: str) -> RunEnd:
    """Record how a run has ended, in words."""
    record = record._replace(reason=record.reason or text)
    problem = ""
    try:
        writing.save(layout, record)
    except WcError as error:
        # The next `wc run` finds it, and that it has ended.
        problem = one_line(error.message.rstrip("."))
    return RunEnd(record, text, problem=problem)


def last_lines(at: Context, topic: str) -> list[str]:
    """Return the last lines of the output of a thread's agent."""
    output = RunOutput.of(Layout(at.place.root), topic, at.env)
    return output.last_lines(_LAST_LINES)


def give_to_person(at: Context, record: RunRecord, changed: Sequence[str]) -> str:
    """Pass the ball of a failed run to the person who asked, with how it ended. Returns
    who has it then. Raises what a handoff raises."""
    state = at.reader.snapshot(record.topic).state
    me, directory = at.identity.name, at.settings.directory
    person = counterparts.person_for(state, me, directory)
    draft = Draft(
        record.topic,
        "handoff",
        f"Handoff to {person}: {record.reason}"[:_LINE],
        "\n".join(_report(at, record, changed)),
        to=person,
        force=True,
        reason=record.reason,
    )
    return writing.write_entry(at, draft).ball or "nobody"


def give_back(
    at: Context,
    record: RunRecord,
    changed: Sequence[str],
    title: str = "Stopped before it was finished",
    reason: str = "",
) -> str:
    """Return the ball of a run that was stopped to where it was before. Returns who has
    it then. Raises what a handoff raises."""
    state = at.reader.snapshot(record.topic).state
    is_there = state.ball == record.agent or at.viewer.holds(state.ball)
    if not is_there or state.status == CLOSED:
        return state.ball or "nobody"
    body = "\n".join(_report(at, record, changed))
    if state.ball == record.previous:
        writing.write_entry(at, Draft(record.topic, "ack", title, body))
        return state.ball or "nobody"
    draft = Draft(record.topic, "handoff", title, body)
    to = record.previous or "anyone"
    draft = draft._replace(to=to, force=True, reason=reason)
    return writing.write_entry(at, draft).ball or "nobody"


def _report(at: Context, record: RunRecord, changed: Sequence[str]) -> Iterator[str]:
    """Yield how a run ended, as markdown."""
    seconds = max(0, record.ended_ms - record.started_ms) // 1000
    status = record.exit_status
    ended = "ended" if status is None else f"exit status {status}"
    if status is not None and status < 0:
        ended = f"ended by signal {-status}"
    facts = [ended, f"after {span(seconds)}"]
    if record.tries > 1:
        facts.append(f"started {counted(record.tries, 'time')}")
    yield f"- {', '.join(facts)}"
    if record.branch:
        yield f"- its work is on the branch `{one_line(record.branch)}`"
    if changed:
        named = ", ".join(f"`{one_line(path)}`" for path in changed[:_LAST_LINES])
        hidden = len(changed) - _LAST_LINES
        yield f"- not committed: {named}" + (
            f" and {hidden} more" if hidden > 0 else ""
        )
    lines = last_lines(at, record.topic)
    if lines:
        yield from ("- its last lines:", "")
        yield from (f"      {one_line(line, _LINE)}" for line in lines)
        yield ""
    yield f"Its whole output: `wc run log {one_line(record.topic)}`"


class RunOutcome(NamedTuple):
    """How a run ended (`records.PASSED` and others), the thread's state then, and the
    reason in words."""

    state: str
    thread: State
    text: str


def decide(chooser: Chooser, run: Run, reason: str, *, is_interrupted: bool) -> RunEnd:
    """Decide what happens after a run has ended, or was ended for a ``reason``, and
    write that. ``is_interrupted``: the person has stopped it. Raises what an entry
    raises."""
    record = run.record
    at = _context_of(record, run.at.cwd, chooser)
    outcome = _outcome_of(at, record)
    if outcome.state in {PASSED, ASKED}:
        record = record._replace(state=outcome.state)
        return conclude(chooser.layout, record, outcome.text)
    changed: list[str] = []
    with contextlib.suppress(WcError):
        changed = chooser.places.changed(record.worktree)
    if is_interrupted:
        to = give_back(at, record, changed)
        record, text = record._replace(state=STOPPED), f"its ball is {to}'s again"
        return conclude(chooser.layout, record, text)
    record = record._replace(state=FAILED)
    lines = last_lines(at, record.topic)
    is_limited = bool(record.exit_status) and _is_rate_limit(lines)
    if is_limited:
        reason = "the model's provider refuses more for now (a rate limit)"
    if not reason and not os.path.isdir(record.worktree):
        reason = "its worktree is gone"
    if not reason and record.tries < _MAX_TRIES:
        text = f"{outcome.text}; it is started again"
        end = conclude(chooser.layout, record, text)
        return end._replace(is_again=True)
    reason = reason or f"{outcome.text}, {record.tries} times"
    record = record._replace(reason=reason)
    to = give_to_person(at, record, changed)
    record = record._replace(given=at.reader.snapshot(record.topic).state.since)
    text = f"{reason}; {to} has the ball"
    end = conclude(chooser.layout, record, text)
    return end._replace(problem=reason) if is_limited else end


def _context_of(record: RunRecord, folder: str, chooser: Chooser) -> Context:
    """Return the context of a run that began in a folder, as new: the agent may have
    removed its worktree, or left its branch."""
    name = parse(record.agent)
    env = commands.variables(chooser.context.env, name.agent)
    if name.seat:
        env["WATERCOOLER_SEAT"] = name.seat
    folder = folder if os.path.isdir(folder) else chooser.context.cwd
    return Context(env, folder, Asked(name.agent))


def _outcome_of(at: Context, record: RunRecord) -> RunOutcome:
    """Return what became of a run, by its thread: ``at`` is the agent's context, and
    the run has ended. Raises a WcError for a thread that cannot be read."""
    state = at.reader.snapshot(record.topic).state
    questions = [
        question
        for question in state.questions
        if question.id >= record.since and at.viewer.is_me(question.asker)
    ]
    if state.status == CLOSED:
        return RunOutcome(PASSED, state, "closed")
    if questions:
        return RunOutcome(ASKED, state, f"asked {questions[-1].asked}")
    if state.ball is None:
        return RunOutcome(PASSED, state, "left the ball free")
    if not at.viewer.holds(state.ball):
        return RunOutcome(PASSED, state, f"passed to {state.ball}")
    return RunOutcome(FAILED, state, "ended with the ball")


def _is_rate_limit(lines: Sequence[str]) -> bool:
    """Return whether the last lines of an output name a limit of the model's
    provider."""
    return any(_RATE_LIMIT.search(line) for line in lines)
