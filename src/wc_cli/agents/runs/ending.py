"""The end of a run: the entry that gives its ball away, and its record."""

from __future__ import annotations

from wc_cli.agents.runs import writing
from wc_cli.agents.runs.output import RunOutput
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import span
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import counterparts
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.run.context import Context
    from wc_core.attention.runs.records import RunRecord

_LAST_LINES, _LINE = 8, 200


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
