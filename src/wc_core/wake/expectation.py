"""Why a ball wakes no one on this machine, as far as is known when it is passed."""

from __future__ import annotations

from wc_core.layout import safe_name
from wc_core.names import parse
from wc_core.wake import switch, waiters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.layout import Layout
    from wc_core.names import Directory


_LASTS_MS = 14 * 24 * 3600_000


def obstacle(layout: Layout, directory: Directory, ball: str, now_ms: int) -> str:
    """Returns why the agent that got a ball is not woken here. Empty for a person, for
    an agent that waits for balls or is working, and if no one has been woken for two
    weeks, because no one expects it then."""
    name = parse(ball)
    if not directory.is_agent(name):
        return ""
    if switch.is_off(layout, now_ms):
        return "waking is off here (wc wake on)"
    key = safe_name(directory.key(name))
    seen_ms = 0
    for waiter in waiters.sessions(layout):
        seen_ms = max(seen_ms, waiter.since_ns // 1_000_000)
        if key in waiter.keys and waiter.is_running and not waiter.is_deaf:
            return ""
    if now_ms - seen_ms > _LASTS_MS:
        return ""
    return f"{name.agent} has no session here that can be woken"
