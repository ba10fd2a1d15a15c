"""Counts what a session has spent since its last hook, and for which thread.

That is the thread in which its agent last wrote during the turn; otherwise the latest
one whose ball it held when the turn began; otherwise the one whose ball it holds;
otherwise none. A ball for any agent of its kind counts only if it holds none.

Only what is added to a transcript after the first hook counts, because a resumed or
copied session may begin with text that was counted before.
"""

from __future__ import annotations

from wc_cli.ledger.store import durable
from wc_core.attention.status import holders
from wc_core.base.errors import WcError
from wc_core.base.files import read_from, size_of
from wc_core.base.layout import safe_name
from wc_core.base.lean.contextlib import suppress
from wc_core.base.ulid import timestamp_ms
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.people.cost import ledger, usage
from wc_core.people.cost.ledger import SessionCost, Spent
from wc_core.people.cost.usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.proposals import Draft

_CHUNK = 1 << 20
_MARGIN_NS = 2_000_000_000


class HookCall(NamedTuple):
    """A hook of a session: when, where its transcript is, and whether a turn begins (at
    a prompt), ends, or ended and continues because of the hook's answer."""

    now_ms: int
    transcript: str = ""
    begins: bool = False
    ends: bool = False
    again: bool = False
    goes_on: bool = False


def record(
    context: Context, session: str, call: HookCall, late: Callable[[], bool]
) -> None:
    """Count what the session has spent up to now.

    Raises StorageError and CorruptError, and OSError for the transcript.
    """
    layout = context.reader.layout
    path = f"{layout.cost}/{safe_name(session)}"
    agent = str(context.viewer.identity.name)
    recorded = cost = ledger.load(layout, path)
    if cost is None:
        durable.make_folder(layout.cost, layout.root, flush=False)
        cost = SessionCost(agent, _size(call.transcript))
        if not cost.offset:
            cost = cost._replace(meter=usage.Meter(total=Usage()))
    topic = _topic(context, cost) if call.ends else cost.topic
    cost = _read_on(cost._replace(agent=agent), topic, call.transcript, late)
    if call.ends and cost.began_ms:
        ms = max(0, call.now_ms - cost.began_ms)
        cost = cost.with_spent(topic, Spent(turns=int(not call.again), ms=ms))
    if call.begins or call.ends:
        runs = call.begins or (call.goes_on and cost.began_ms)
        cost = cost._replace(began_ms=call.now_ms if runs else 0)
    cost = cost._replace(topic=topic if call.ends else _held(context))
    if cost != recorded:  # the start of a session after a compaction changes nothing
        durable.replace(path, ledger.encode(cost), layout.root)
    if call.ends:
        note_if_spent(context, topic)


def _size(transcript: str) -> int:
    return max(0, size_of(transcript)) if transcript else 0


def _read_on(
    cost: SessionCost, topic: str, transcript: str, late: Callable[[], bool]
) -> SessionCost:
    """Count what was added to a transcript, as far as there is time; the next hook
    continues from there."""
    size = _size(transcript)
    if size < cost.offset:  # another file: unknown how much of it was counted
        return cost._replace(offset=size, meter=usage.Meter()) if transcript else cost
    while cost.offset < size and not late():
        data = read_from(transcript, "", cost.offset, _CHUNK)
        end = data.rfind(b"\n") + 1
        if not end:
            if len(data) < _CHUNK:
                break  # the line is still being written
            end = len(data)  # not of a line that counts
        added, meter = usage.count(data[:end], cost.meter)
        cost = cost._replace(offset=cost.offset + end, meter=meter)
        cost = cost.with_spent(topic, Spent(added))
    return cost


def _topic(context: Context, cost: SessionCost) -> str:
    """The thread to which an ended turn counts."""
    viewer, reader = context.viewer, context.reader
    written = []
    if cost.began_ms:
        since = cost.began_ms * 1_000_000 - _MARGIN_NS
        for ball in holders.changed_balls(reader.layout, since):
            with suppress(WcError):
                state = reader.snapshot(ball.topic).state
                is_new = timestamp_ms(state.last_id) >= cost.began_ms
                if is_new and viewer.is_me(state.updated_by):
                    written.append((state.last_id, state.topic))
    return max(written)[1] if written else cost.topic or _held(context)


def _held(context: Context) -> str:
    """The thread whose ball the agent has held for the shortest time; otherwise the
    latest whose ball is for any agent of its kind; otherwise empty."""
    viewer = context.viewer
    for folders in (holders.own_folders_of(viewer), holders.folders_of(viewer)):
        for held in holders.latest_balls(context.ball_names.of(folders), 1):
            return held.topic
    return ""


def note_if_spent(context: Context, topic: str) -> bool:
    """Record in a thread that its budget is spent, and hand its ball to a person: once
    for each budget, whoever notices it. Returns whether anything was written. Raises
    what writing an entry raises."""
    reader = context.reader
    if not topic or not reader.has(topic):
        return False
    state = reader.snapshot(topic).state
    if not state.budget or state.status == CLOSED:
        return False
    from wc_core.people.cost import budgets  # 0.1 ms, only where one is set

    tokens = budgets.spent(ledger.rows(ledger.all_costs(reader.layout)), topic)
    if tokens < state.budget:
        return False
    key = f"budget-{state.budget_id}"
    if any(entry.key == key for entry in reader.thread(topic).entries):
        return False
    context.writer().write(_draft(context, state, tokens, key), context.source)
    return True


def _draft(context: Context, state: State, tokens: int, key: str) -> Draft:
    # 0.3 ms, once for each budget
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.people.cost import budgets

    me, directory = context.identity.name, context.settings.directory
    title = f"The budget is spent: {tokens:,} of {state.budget:,} tokens"
    person = budgets.person_for(state, me, directory)
    is_there = state.ball is not None and directory.same(state.ball, person)
    if is_there or (state.ball is None and person == "anyone"):
        return Draft(state.topic, "ack", title, key=key)
    body = "To continue, raise it: wc budget TOPIC TOKENS, and pass the ball back."
    reason = "the budget is spent"
    draft = Draft(state.topic, "handoff", title, body, key=key, reason=reason)
    return draft._replace(to=person, force=True)
