"""The background process's exchange with the remote: threads, claims."""

from __future__ import annotations

from wc_cli.bridges.carry import automatic
from wc_cli.edits.claims import travel
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import PUSH_IF_SHARED, PUSH_NEVER, Exchanger
from wc_cli.run.entries import losses
from wc_core.base.errors import WcError
from wc_core.base.files import age_of
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.ledger.sync.routes import DueExchange


def exchange_all(root: str, env: Mapping[str, str], due: DueExchange) -> None:
    """Exchange the threads, then the claims. Lost claims are recorded in their threads.
    Raises WcError."""
    rules = settings.load(root, env)
    waiting = Waiting.at_most(queues=False)
    exchanger = Exchanger(root, env, due.remote, waiting)
    push = PUSH_IF_SHARED if rules.push else PUSH_NEVER
    # Agents' branches are fetched as often as the threads, not after each write.
    if rules.fetch_every and age_of(Layout(root).harvest_lock) >= rules.fetch_every:
        automatic.exchange(exchanger, push=push)
    else:
        exchanger.exchange(push=push)
    if rules.push:
        losses.exchange_beside_store(root, env, due.remote)


def is_refused(root: str) -> bool:
    """Whether the last exchange failed so that trying again soon does not help."""
    return automatic.refusal(Layout(root)) != ""


def carry_unsent(root: str, env: Mapping[str, str]) -> None:
    """In a sandbox, have what could not be pushed travel with the code. A failure is
    left to the next command: `wc sync` names it."""
    with contextlib.suppress(WcError, GitError):
        automatic.carry_if_wanted(root, automatic.main_worktree(root), env)


def send_claims(root: str, env: Mapping[str, str]) -> None:
    """Send claims, if there are any. Lost ones are recorded in their threads."""
    losses.record_losses(root, env, travel.send_in_background(root, env).losses)
