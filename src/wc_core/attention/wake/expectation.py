"""Why a ball wakes no one on this machine, as far as is known when it is passed."""

from __future__ import annotations

from wc_core.attention.wake import switch, waiters
from wc_core.attention.wake.senders import Waking
from wc_core.base.errors import WcError
from wc_core.base.layout import safe_name
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.attention.wake.waiters import Waiter
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.reader import StoreReader


_LASTS_MS = 14 * 24 * 3600_000


class PassedBall(NamedTuple):
    """The ball of ``topic`` that ``sender`` has passed to ``holder``, on a machine
    whose `[wake] from` is ``allowed``."""

    topic: str
    holder: str
    sender: str
    allowed: tuple[str, ...]


def obstacle(
    reader: StoreReader, directory: Directory, ball: PassedBall, now_ms: int
) -> str:
    """Returns why the agent that got a ball is not woken here. Empty for a person, for
    an agent that waits for balls or is working, and if no one has been woken for two
    weeks, because no one expects it then."""
    name = parse(ball.holder)
    if not directory.is_agent(name):
        return ""
    layout = reader.layout
    if switch.is_off(layout, now_ms):
        return "waking is off here (wc wake on)"
    key = safe_name(directory.key(name))
    seen_ms, held_back = 0, False
    for waiter in waiters.sessions(layout):
        seen_ms = max(seen_ms, waiter.since_ns // 1_000_000)
        if key in waiter.keys and waiter.is_running and not waiter.is_deaf:
            if not waiter.is_waiting or _may_wake(reader, directory, ball, waiter):
                return ""
            held_back = True
    if held_back:
        return f"balls of {ball.sender} wake no one here (wc config get wake.from)"
    if now_ms - seen_ms > _LASTS_MS:
        return ""
    return f"{name.agent} has no session here that can be woken"


def _may_wake(
    reader: StoreReader, directory: Directory, ball: PassedBall, waiter: Waiter
) -> bool:
    """Returns whether the ball may wake a session. It was passed just now, so it did
    not come with a carrier."""
    name = parse(waiter.agent)
    identity = Identity(name, "waiter", behind=waiter.person or name.tag)
    waking = Waking(reader, Viewer(identity, directory), ball.allowed)
    try:
        thread = reader.thread(ball.topic)
    except WcError:
        return False
    return bool(waking.verdict(thread))
