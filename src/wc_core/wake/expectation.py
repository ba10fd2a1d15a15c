"""Why a ball wakes nobody on this machine, as far as is known when it is passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.layout import safe_name
from wc_core.names import parse
from wc_core.wake import switch, waiters

if TYPE_CHECKING:
    from wc_core.layout import Layout
    from wc_core.names import Directory


def obstacle(layout: Layout, directory: Directory, ball: str, now_ms: int) -> str:
    """Returns why the agent that got a ball is not woken here; empty for a person, for
    an agent that waits for balls or is at work, and where nobody is woken at all."""
    name = parse(ball)
    if not directory.is_agent(name):
        return ""
    if switch.is_off(layout, now_ms):
        return "waking is off here (wc wake on)"
    key = safe_name(directory.key(name))
    sessions = (waiter for waiter in waiters.running(layout) if not waiter.is_deaf)
    if any(key in waiter.keys for waiter in sessions):
        return ""
    return f"{name.agent} has no session here that can be woken"
