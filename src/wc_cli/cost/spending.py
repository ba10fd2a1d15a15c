"""Handing the ball to a person when the budget of a thread is spent."""

from __future__ import annotations

from wc_core.cost import budgets, ledger
from wc_core.threads.model import CLOSED
from wc_core.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.threads.model import State


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
    tokens = budgets.spent(ledger.rows(ledger.all_costs(reader.layout)), topic)
    if tokens < state.budget:
        return False
    key = f"budget-{state.budget_id}"
    if any(entry.key == key for entry in reader.thread(topic).entries):
        return False
    context.writer().write(_draft(context, state, tokens, key), context.source)
    return True


def _draft(context: Context, state: State, tokens: int, key: str) -> Draft:
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
