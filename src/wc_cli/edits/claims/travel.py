"""Chooses the remote for a clone's claims, and exchanges them after the store."""

from __future__ import annotations

import math
import time

from wc_cli.edits.claims.registry import Registry
from wc_cli.edits.claims.remote import ClaimsRemote
from wc_cli.edits.claims.transactions import LostRaceError
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.sync import routes
from wc_cli.ledger.sync.exchange import LIMIT_SECONDS
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import LeaseError, WireError
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import remotes
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.edits.claims.record import Claim
    from wc_core.edits.claims.upstreams import Upstream
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.threads.settings import Settings

_TRIES = 5


class ClaimsExchange(NamedTuple):
    """The result of an exchange of claims: ``losses``, this clone's claims that lost
    against another's, and notes for the user."""

    losses: tuple[tuple[Claim, Claim], ...] = ()
    notes: tuple[str, ...] = ()


def claims_remote(
    registry: Registry, rules: Settings, seconds: float = math.inf
) -> ClaimsRemote | None:
    """The remote of this repository's store, if new entries are pushed there
    automatically; claims go where the threads go. Network calls time out as
    usual, but after ``seconds`` at most."""
    root, env = registry.layout.root, registry.env
    checkout = repositories.find(root)
    is_ours = checkout is not None and checkout.common == registry.repository.common
    if rules.sync == "off" or not rules.push or not is_ours:
        return None
    remote = routes.shared_remote(checkout, env)
    if remote is None:
        return None
    return ClaimsRemote(registry, remote, _until(min(LIMIT_SECONDS, seconds)))


def exchange_beside_store(
    root: str, env: Mapping[str, str], remote: Remote, seconds: float = LIMIT_SECONDS
) -> ClaimsExchange:
    """Exchange the claims with a remote, right after the store."""
    checkout = repositories.find(root)
    if checkout is None:
        return ClaimsExchange()
    registry = Registry(checkout, Layout(root), env)
    claims = ClaimsRemote(registry, remote, _until(seconds))
    problem = ""
    for _ in range(_TRIES):
        try:
            with registry.changing(seconds):
                losses = tuple(claims.exchange())
            return ClaimsExchange(losses, tuple(_loss_note(*pair) for pair in losses))
        except (LostRaceError, LeaseError) as error:
            problem = str(error) or "others keep changing them"
        except (WcError, WireError) as error:
            return ClaimsExchange(notes=(f"the claims were not exchanged: {error}",))
    return ClaimsExchange(notes=(f"the claims were not exchanged: {problem}",))


def send_in_background(root: str, env: Mapping[str, str]) -> ClaimsExchange:
    """Send the claims that were renewed or released since the last exchange, if entries
    are pushed automatically. A later process retries what fails."""
    checkout = repositories.find(root)
    if checkout is None:
        return ClaimsExchange()
    rules = settings.load(root, env)
    claims = claims_remote(Registry(checkout, Layout(root), env), rules)
    if claims is not None and claims.unsent():
        return exchange_beside_store(root, env, claims.remote)
    return ClaimsExchange()


def _loss_note(claim: Claim, rival: Claim) -> str:
    return f"{claim.holder} lost the claim on {claim.id} to {rival.holder}"


def fetch_for_check(
    registry: Registry,
    claims: ClaimsRemote | None,
    upstream: Upstream | None,
) -> str:
    """Fetch claims, and the upstream of the current branch. Returns the reason for a
    failure, or an empty string."""
    repository, env = registry.repository, registry.env
    try:
        if claims is not None:
            with registry.changing(LIMIT_SECONDS):
                claims.fetch()
        if upstream is not None and upstream.remote in remotes.names(repository, env):
            remote = remotes.by_name(repository, env, upstream.remote)
            git = Git(repository.common, env, bare=True, until=_until(LIMIT_SECONDS))
            refspec = f"+refs/heads/{upstream.branch}:{upstream.tracking}"
            Wire(git, remote, repository).fetch_refs(refspec)
    except (WireError, WcError, LostRaceError) as error:
        return str(error) or "other processes keep changing the claims"
    return ""


def _until(seconds: float) -> float:
    """The end of a time limit, on the monotonic clock."""
    return time.monotonic() + max(1, seconds)
