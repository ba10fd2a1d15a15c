"""What became of a run: whether its agent passed the ball or asked, and if not, giving
the ball to a person."""

from __future__ import annotations

import re

from wc_cli.agents.cost.recording import note_if_spent
from wc_cli.agents.runs.output import RunOutput
from wc_cli.run.entries import receipts
from wc_core.attention.runs.records import ASKED, FAILED, PASSED, RunRecord
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import span
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.cost import budgets, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State

_LAST_LINES, _LINE = 8, 200
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


def outcome_of(at: Context, record: RunRecord) -> RunOutcome:
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


def tokens_of(layout: Layout, topic: str) -> int:
    """Return the tokens that were spent on a thread on this machine."""
    return budgets.spent(ledger.rows(ledger.all_costs(layout)), topic)


def is_rate_limit(lines: Sequence[str]) -> bool:
    """Return whether the last lines of an output name a limit of the model's
    provider."""
    return any(_RATE_LIMIT.search(line) for line in lines)


def last_lines(at: Context, topic: str) -> list[str]:
    """Return the last lines of the output of a thread's agent."""
    output = RunOutput.of(Layout(at.place.root), topic, at.env)
    return output.last_lines(_LAST_LINES)


def give_to_person(at: Context, record: RunRecord, changed: Sequence[str]) -> str:
    """Pass the ball of a failed run to the person who asked, with how it ended. Returns
    who has it then. Raises what a handoff raises."""
    state = at.reader.snapshot(record.topic).state
    me, directory = at.identity.name, at.settings.directory
    person = budgets.person_for(state, me, directory)
    draft = Draft(
        record.topic,
        "handoff",
        f"Handoff to {person}: {record.reason}"[:_LINE],
        "\n".join(_report(at, record, changed)),
        to=person,
        force=True,
        reason=record.reason,
    )
    return _written(at, draft) or "nobody"


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
        _written(at, Draft(record.topic, "ack", title, body))
        return state.ball or "nobody"
    draft = Draft(record.topic, "handoff", title, body)
    to = record.previous or "anyone"
    draft = draft._replace(to=to, force=True, reason=reason)
    return _written(at, draft) or "nobody"


def _written(at: Context, draft: Draft) -> str | None:
    """Write an entry as an agent; return who has the ball then."""
    receipt = at.writer(renews=False).write(draft, at.source)
    return receipts.settle_after_write(at, receipt).ball


def _report(at: Context, record: RunRecord, changed: Sequence[str]) -> Iterator[str]:
    """Yield how a run ended, as markdown."""
    seconds = max(0, record.ended_ms - record.started_ms) // 1000
    status = record.exit_status
    ended = "ended" if status is None else f"exit status {status}"
    if status is not None and status < 0:
        ended = f"ended by signal {-status}"
    facts = [ended, f"after {span(seconds)}"]
    if record.tokens:
        facts.append(f"{record.tokens:,} tokens")
    if record.tries > 1:
        facts.append(f"started {counted(record.tries, 'time')}")
    yield f"- {', '.join(facts)}"
    if record.branch and not record.is_cloud:
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


def is_budget_spent(at: Context, topic: str) -> bool:
    """Return whether a thread's budget is spent; then record that, and its ball goes to
    a person."""
    try:
        return note_if_spent(at, topic)
    except WcError:
        return False
