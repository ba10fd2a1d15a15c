"""What becomes of sessions in the cloud: whether the command has started one, and which
ones have passed their balls."""

from __future__ import annotations

from wc_cli.agents.runs import ending, writing
from wc_cli.agents.runs.cloud import starting
from wc_cli.ledger.clock import now_ms
from wc_core.attention.runs import records
from wc_core.attention.runs.records import FAILED, IN_CLOUD, PASSED, RunRecord
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.runs.ending import RunEnd
    from wc_cli.agents.runs.watching import Run
    from wc_cli.run.context import Context


def decide(at: Context, run: Run, reason: str, *, is_interrupted: bool) -> RunEnd:
    """Decide what happens after the command that starts a session has ended, or was
    ended for a ``reason``, and write that. Raises what an entry raises."""
    record, layout = run.record, Layout(at.place.root)
    session = starting.session_of(at, record)
    if session is not None:
        record = record._replace(
            state=IN_CLOUD, session=session.id, address=session.address
        )
        writing.save(layout, record)
        # It runs, whatever becomes of the entry.
        with contextlib.suppress(WcError):
            starting.note(at, record)
        return ending.RunEnd(record, f"started in the cloud: {session.address}")
    has_failed = (record.exit_status or 0) > 0 and not is_interrupted
    record = record._replace(state=FAILED, reason=reason)
    to = starting.undo(at, record) if has_failed else starting.doubt(at, record)
    handoff_id = at.reader.snapshot(record.topic).state.since
    problem = "did not start in the cloud" if has_failed else starting.DOUBT
    lines = ending.last_lines(at, record.topic)[-1:]
    reason = ": ".join((reason or problem, *lines))
    record = record._replace(reason=reason, given=handoff_id)
    text = f"{reason}; {to} has the ball"
    return ending.conclude(layout, record, text, run.title, "stopped")


def follow(at: Context) -> tuple[dict[str, RunRecord], list[RunEnd]]:
    """Return the sessions that were started from here and have their balls, by topic,
    and what became of those that have passed them since the last time."""
    layout = Layout(at.place.root)
    working, ends = {}, []
    for record in records.all_records(layout):
        if record.state != IN_CLOUD:
            continue
        with contextlib.suppress(WcError):
            state = at.reader.snapshot(record.topic).state
            if starting.has_ball(state, record) and state.status != CLOSED:
                working[record.topic] = record
                continue
            text = f"passed to {state.ball or 'anyone'}"
            text = "closed" if state.status == CLOSED else text
            ended = record._replace(state=PASSED, ended_ms=now_ms())
            ends.append(ending.conclude(layout, ended, text, state.title, "done"))
    return working, ends
