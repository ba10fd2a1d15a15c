"""Which remote the claims of a clone are exchanged with, and exchanging them beside the
store."""

from __future__ import annotations

import math
import time

from wc_cli.branch.git import Git
from wc_cli.claims import probing
from wc_cli.claims.registry import Registry
from wc_cli.claims.remote import ClaimsRemote
from wc_cli.claims.transactions import LostRaceError
from wc_cli.sync import routes
from wc_cli.sync.wire import Wire
from wc_cli.sync.wireerrors import LeaseError, WireError
from wc_core.errors import WcError
from wc_core.git import remotes
from wc_core.git import repository as repositories
from wc_core.layout import Layout
from wc_core.threads import settings
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.claims.record import Claim
    from wc_core.claims.upstreams import Upstream
    from wc_core.git.remotes import Remote
    from wc_core.threads.settings import Settings

_TRIES = 5


class ClaimsExchange(NamedTuple):
    """What an exchange of claims did: the claims of this clone that ``losses`` names
    lost against another one, and notes for the user."""

    losses: tuple[tuple[Claim, Claim], ...] = ()
    notes: tuple[str, ...] = ()


def claims_remote(
    registry: Registry, rules: Settings, seconds: float = math.inf
) -> ClaimsRemote | None:
    """The remote that has the store of this repository, if what is written is pushed
    there by itself; claims go where the threads go. It is waited for as long as the
    settings say, but no longer than ``seconds``."""
    root, env = registry.layout.root, registry.env
    checkout = repositories.find(root)
    is_ours = checkout is not None and checkout.common == registry.repository.common
    if rules.sync == "off" or not rules.push or not is_ours:
        return None
    remote = routes.shared_remote(checkout, env)
    if remote is None:
        return None
    return ClaimsRemote(registry, remote, _until(min(rules.limit, seconds)))


def probe_remote(registry: Registry, rules: Settings, seconds: float) -> str:
    """Try what the remote takes. Returns what follows for claims between clones; empty
    if they go to no remote."""
    claims = claims_remote(registry, rules, seconds)
    if claims is None:
        return ""
    ability = probing.probe(claims)
    if ability.refs is not None or ability.atomic is not None:
        claims.declined.forget()
    return probing.sentence(claims, ability)


def exchange_beside_store(
    root: str, env: Mapping[str, str], remote: Remote, seconds: float
) -> ClaimsExchange:
    """Exchange the claims with a remote with which the store was exchanged just now."""
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
    """Send the claims that were renewed or given up since the last exchange, if what is
    written is sent by itself. What fails is tried again by a later process."""
    checkout = repositories.find(root)
    if checkout is None:
        return ClaimsExchange()
    rules = settings.load(root, env)
    claims = claims_remote(Registry(checkout, Layout(root), env), rules)
    if claims is not None and claims.unsent():
        return exchange_beside_store(root, env, claims.remote, rules.limit)
    return ClaimsExchange()


def _loss_note(claim: Claim, rival: Claim) -> str:
    return f"{claim.holder} lost the claim on {claim.id} to {rival.holder}"


def fetch_for_check(
    registry: Registry,
    claims: ClaimsRemote | None,
    upstream: Upstream | None,
    seconds: float,
) -> str:
    """Fetch claims, and the upstream of the current branch. Returns why that failed, or
    an empty string."""
    repository, env = registry.repository, registry.env
    try:
        if claims is not None:
            with registry.changing(seconds):
                claims.fetch()
        if upstream is not None and upstream.remote in remotes.names(repository, env):
            remote = remotes.by_name(repository, env, upstream.remote)
            git = Git(repository.common, env, bare=True, until=_until(seconds))
            refspec = f"+refs/heads/{upstream.branch}:{upstream.tracking}"
            Wire(git, remote, repository).fetch_refs(refspec)
    except (WireError, WcError, LostRaceError) as error:
        return str(error) or "other processes keep changing the claims"
    return ""


def _until(seconds: float) -> float:
    """The end of a time limit, on the monotonic clock."""
    return time.monotonic() + max(1, seconds)
