"""The background process's exchange with the remote: threads, claims, activity."""

from __future__ import annotations

from wc_cli.claims import travel
from wc_cli.entries import beside, losses
from wc_cli.sync.exchange import Waiting
from wc_cli.sync.exchanger import PUSH_IF_SHARED, PUSH_NEVER, Exchanger
from wc_core.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.sync.routes import DueExchange


def exchange_all(root: str, env: Mapping[str, str], due: DueExchange) -> None:
    """Exchange the threads, then the claims and the activity. Lost claims are recorded
    in their threads. Raises WcError."""
    rules = settings.load(root, env)
    waiting = Waiting.at_most(rules.limit, queues=False)
    exchanger = Exchanger(root, env, due.remote, waiting)
    exchanger.exchange(push=PUSH_IF_SHARED if rules.push else PUSH_NEVER)
    if rules.push:
        beside.exchange_beside_store(root, env, due.remote, rules.limit)


def send_claims(root: str, env: Mapping[str, str]) -> None:
    """Send claims, if there are any. Lost ones are recorded in their threads."""
    losses.record_losses(root, env, travel.send_in_background(root, env).losses)
