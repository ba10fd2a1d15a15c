"""The claims of other clones: fetched, merged with ours, and pushed with leases.

``refs/wc/claims`` of the remote is the truth between clones. Three folders of refs are
compared: what the remote had when both sides were last the same (the base), what it has
now (fetched), and our own. What only we changed is sent; what both changed goes to the
remote. The base moves together with our own refs, so nothing that was not sent is ever
taken for sent, wherever a process dies.

Two claims that overlap may be different refs. So each push of a new claim also moves
``refs/wc/turn``: of two clones that claim at the same moment, one has to look again.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

from wc_cli.branch.git import Git
from wc_cli.sync.wire import Wire
from wc_core.claims import refs, rules
from wc_core.claims.record import FOLDER
from wc_core.claims.rules import RefMove
from wc_core.git.repository import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.claims.registry import Registry
    from wc_core.claims.record import Claim
    from wc_core.git.remotes import Remote

_TURN = "refs/wc/turn"
_DIGITS = 16


def fetched_folder(remote: Remote) -> str:
    """The folder of refs with what was fetched of ``refs/wc`` of a remote."""
    return f"refs/wc/fetched/{_digest(remote)}/"


def _digest(remote: Remote) -> str:
    tracking = remote.tracking.encode(errors="replace")
    return hashlib.sha256(tracking).hexdigest()[:_DIGITS]


class ClaimsRemote:
    """The claims of ``registry`` at ``remote``. No process for the network runs past
    ``until`` on the monotonic clock."""

    def __init__(
        self, registry: Registry, remote: Remote, until: float = math.inf
    ) -> None:
        self.registry = registry
        self.remote = remote
        repository = registry.repository
        git = Git(repository.common, registry.env, bare=True, until=until)
        self.wire = Wire(git, remote, repository)
        self._base = f"refs/wc/base/{_digest(remote)}/"
        self._fetched = fetched_folder(remote)

    def fetch(self) -> tuple[str, ...]:
        """Fetch the claims and merge them with ours. Returns the refs of claims that we
        had, and that another clone has now. Raises WireError, LostRaceError."""
        self.wire.fetch_refs(f"+refs/wc/*:{self._fetched}*")
        common = self.registry.repository.common
        base, ours = self.base(), refs.claim_refs(common)
        theirs = refs.claim_refs(common, f"{self._fetched}claims/")
        merged = rules.merge(base, ours, theirs)
        self.registry.move([*merged.moves, *self._base_moves(base, theirs)])
        return merged.lost

    def base(self) -> dict[str, str]:
        """What the remote had when both sides were last the same, by ref."""
        return refs.claim_refs(self.registry.repository.common, self._base)

    def unsent(self) -> dict[str, str]:
        """Our refs that the remote does not have so, with their commits; empty for one
        that it should no longer have."""
        base = self.base()
        ours = refs.claim_refs(self.registry.repository.common)
        return {
            ref: ours.get(ref, "")
            for ref in sorted({*base, *ours})
            if base.get(ref, "") != ours.get(ref, "")
        }

    def push(
        self,
        moves: Iterable[RefMove],
        *,
        is_claiming: bool,
        branch: tuple[str, ...] = (),
        hooks: str = "",
    ) -> None:
        """Move refs of the remote from the base to what ``moves`` want, then ours.

        With them goes a ``branch``, as refspecs. Raises LeaseError if the remote has
        something else than the base, or if another clone claimed anything since the
        last fetch while this ``is_claiming``; other WireErrors; and LostRaceError.
        """
        moves = tuple(moves)
        base = self.base()
        sent = [move for move in moves if base.get(move.ref, "") != move.new]
        leases = {move.ref: base.get(move.ref, "") for move in sent}
        refspecs = [f"{move.new}:{move.ref}" for move in sent]
        fresh = [move.new for move in sent if move.new]
        if is_claiming and fresh:
            turn = f"{self._fetched}turn"
            leases[_TURN] = resolve(self.registry.repository, turn)
            refspecs.append(f"{fresh[0]}:{_TURN}")
        if refspecs or branch:
            self.wire.push_refs([*branch, *refspecs], leases, hooks)
        pushed = {move.ref: move.new for move in sent}
        after = {**base, **pushed}
        own = [move for move in moves if move.old != move.new]
        self.registry.move([*own, *self._base_moves(base, after)])

    def _base_moves(
        self, base: Mapping[str, str], after: Mapping[str, str]
    ) -> list[RefMove]:
        """How the refs of the base are to move."""
        return [
            RefMove(f"{self._base}{ref.removeprefix(FOLDER)}", old, new)
            for ref in sorted({*base, *after})
            if (old := base.get(ref, "")) != (new := after.get(ref, ""))
        ]

    def exchange(self) -> list[tuple[Claim, Claim]]:
        """Bring what others claimed, and send what we changed without the remote.

        Returns the claims that lost, each with the one that forbids it; they are given
        up. Raises WireError, LostRaceError.
        """
        before = {claim.ref: claim for claim in self.registry.read().claims}
        overwritten = self.fetch()
        book = self.registry.read()
        now = {claim.ref: claim for claim in book.claims}
        lost = [
            (before[ref], now[ref])
            for ref in overwritten
            if ref in before and ref in now and before[ref].holder != now[ref].holder
        ]
        unsent = self.unsent()
        beaten = rules.outvoted(book, unsent)
        dropped = {claim.ref for claim, _ in beaten}
        self.registry.move(RefMove(claim.ref, claim.oid, "") for claim, _ in beaten)
        moves = [
            RefMove(ref, oid, oid) for ref, oid in unsent.items() if ref not in dropped
        ]
        self.push(moves, is_claiming=True)
        return [*lost, *beaten]
