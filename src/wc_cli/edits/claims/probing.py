"""Checks whether a remote takes what claims need: refs below ``refs/wc``, several at
once, and their removal.

One atomic push creates two refs there, and another removes them. They point to a commit
that the remote has, so nothing but their names is sent. They are not claims and move no
turn. Their names are fixed, so the next probe removes what a killed one left.
"""

from __future__ import annotations

from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.sync.wireerrors import (
    DeclinedError,
    LeaseError,
    NotAtomicError,
    WireError,
)
from wc_core.base.layout import CLAIMS_BRANCH
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.repository import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.edits.claims.remote import ClaimsRemote

_REFS = ("refs/wc/probe/1", "refs/wc/probe/2")
# git's own words, in the C locale.
_GONE = b"remote ref does not exist"


class RemoteAbility(NamedTuple):
    """Whether a remote accepts something, and its reason if not; ``None`` if unknown,
    because the remote was not reached or an earlier step failed."""

    refs: bool | None
    atomic: bool | None
    reason: str = ""


def probe(claims: ClaimsRemote) -> RemoteAbility:
    """Probe the remote. Nothing stays there, unless it lets nobody remove refs."""
    commit = resolve(claims.registry.repository, claims.remote.tracking)
    try:
        claims.wire.push_refs([f"+{commit}:{ref}" for ref in _REFS], {})
        _remove(claims)
    except LeaseError:
        pass  # another probe uses the same refs, so the remote takes them
    except NotAtomicError as error:
        return RemoteAbility(refs=None, atomic=False, reason=str(error))
    except DeclinedError as error:
        return RemoteAbility(refs=False, atomic=True, reason=str(error))
    except WireError as error:
        return RemoteAbility(refs=None, atomic=None, reason=str(error))
    return RemoteAbility(refs=True, atomic=True)


def _remove(claims: ClaimsRemote) -> None:
    try:
        claims.wire.push_refs([f":{ref}" for ref in _REFS], {})
    except WireError as error:
        cause = error.__cause__
        if not isinstance(cause, GitError) or _GONE not in cause.err:
            raise


def sentence(claims: ClaimsRemote, ability: RemoteAbility) -> str:
    """The consequence for claims between clones."""
    label = claims.remote.label
    existing = claims.branch.read()
    place = f"in the branch {CLAIMS_BRANCH}"
    if existing is None:
        place += " that the first one makes"
    if ability.atomic is None:
        return f"it is not known whether claims hold between clones: {ability.reason}"
    if not ability.atomic:
        return (
            f"claims are advisory between clones, {place}: {ability.reason}, so git "
            "cannot refuse a push by someone who has lost a claim"
        )
    if existing is not None and (ability.refs or not existing.atomic):
        better = "refs/wc" if ability.refs else "atomic pushes"
        return (
            f"claims hold between clones, {place}; {label} takes {better} by now, so "
            "delete that branch when nothing is claimed: "
            f"git push {label} --delete {CLAIMS_BRANCH}"
        )
    if not ability.refs:
        return f"claims hold between clones, {place}: {ability.reason}"
    return f"claims hold between clones: {label} takes refs/wc and atomic pushes"
