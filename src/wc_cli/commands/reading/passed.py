"""How far the ball of a thread has come that someone else has."""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_core.attention.wake.passes import pass_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State


def passed_text(context: Context, state: State) -> str:
    """Return how far someone else's ball has come, as seen on this machine."""
    if context.viewer.holds(state.ball):
        return ""
    passed = pass_state(context.reader, state, context.settings.directory)
    return passed.sentence(now_ms()) if passed is not None else ""
