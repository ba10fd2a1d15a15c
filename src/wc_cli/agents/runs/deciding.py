"""What happens after an agent has ended here: whether it passed the ball or asked, and
if not, whether it is started again, or who gets the ball."""

from __future__ import annotations

import os
import re

from wc_cli.agents.runs import commands, ending
from wc_cli.run.context import Context
from wc_core.attention.runs.records import ASKED, FAILED, PASSED, STOPPED, RunRecord
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.agents.runs.choosing import Chooser
    from wc_cli.agents.runs.ending import RunEnd
    from wc_cli.agents.runs.watching import Run
    from wc_core.ledger.threads.model import State

# How often an agent is started for one ball.
_MAX_TRIES = 2
# What clients print when the provider of their model refuses more for now.
_RATE_LIMIT = re.compile(
    r"rate.?limit|too many requests|\b429\b|usage limit|quota (?:is )?exceeded"
    r"|limit (?:has been )?reached|overloaded",
    re.IGNORECASE,
)


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
        return ending.conclude(chooser.layout, record, outcome.text)
    changed: list[str] = []
    with contextlib.suppress(WcError):
        changed = chooser.places.changed(record.worktree)
    if is_interrupted:
        to = ending.give_back(at, record, changed)
        record, text = record._replace(state=STOPPED), f"its ball is {to}'s again"
        return ending.conclude(chooser.layout, record, text)
    record = record._replace(state=FAILED)
    lines = ending.last_lines(at, record.topic)
    is_limited = bool(record.exit_status) and _is_rate_limit(lines)
    if is_limited:
        reason = "the model's provider refuses more for now (a rate limit)"
    if not reason and not os.path.isdir(record.worktree):
        reason = "its worktree is gone"
    if not reason and record.tries < _MAX_TRIES:
        text = f"{outcome.text}; it is started again"
        end = ending.conclude(chooser.layout, record, text)
        return end._replace(is_again=True)
    reason = reason or f"{outcome.text}, {record.tries} times"
    record = record._replace(reason=reason)
    to = ending.give_to_person(at, record, changed)
    record = record._replace(given=at.reader.snapshot(record.topic).state.since)
    text = f"{reason}; {to} has the ball"
    end = ending.conclude(chooser.layout, record, text)
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
