"""The claims of other clones: fetched, merged with ours, and pushed with leases.

``refs/wc/claims`` of the remote is authoritative between clones. Three folders of refs
are compared: the remote's when both sides were last equal (the base), the remote's now
(fetched), and our own. Our changes are sent; if both sides changed a ref, the remote
wins. The base moves together with our own refs, so wherever a process dies, an unsent
change never counts as sent.

Two claims that overlap may be different refs. So each push of a new claim also moves
``refs/wc/turn``: if two clones claim at the same moment, one of them has to look again.

A remote that takes no such refs, or no atomic pushes, has no claims: they hold in each
clone alone.
"""

from __future__ import annotations

import math
import os
import time

from wc_cli.edits.claims.transactions import LostRaceError
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import (
    DeclinedError,
    SilentError,
    UnreachableError,
    WireError,
)
from wc_core.base.files import read_plain
from wc_core.base.lean import hashlib
from wc_core.edits.claims import refs, rules
from wc_core.edits.claims.record import FOLDER
from wc_core.edits.claims.rules import RefMove
from wc_core.ledger.git.repository import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_cli.edits.claims.registry import Registry
    from wc_core.base.layout import Layout
    from wc_core.edits.claims.record import Claim
    from wc_core.ledger.git.remotes import Remote

_TURN = "refs/wc/turn"
_COMBINED = "refs/wc/combined/"
_DIGITS = 16
_ASKING_SECONDS = 5.0
_REMEMBERED_SECONDS = 24 * 3600
_HINT = "The next wc claim tries again; else after a day."


def fetched_folder(remote: Remote) -> str:
    """The folder of refs for the fetched ``refs/wc`` of a remote."""
    return f"refs/wc/fetched/{digest_of(remote)}/"


def digest_of(remote: Remote) -> str:
    """The key of a remote in the names of refs and files."""
    tracking = remote.tracking.encode(errors="replace")
    return hashlib.new("sha256", tracking, usedforsecurity=False).hexdigest()[:_DIGITS]


class ClaimsRemote:
    """The claims of ``registry`` at ``remote``. No network process runs past ``until``
    on the monotonic clock."""

    def __init__(
        self, registry: Registry, remote: Remote, until: float = math.inf
    ) -> None:
        self.registry = registry
        self.remote = remote
        repository = registry.repository
        git = Git(repository.common, registry.env, bare=True, until=until)
        self.wire = Wire(git, remote, repository)
        self._base = f"refs/wc/base/{digest_of(remote)}/"
        self._fetched = fetched_folder(remote)
        layout = registry.layout
        self.declined = Declined(layout, layout.declined_claims(digest_of(remote)))

    def fetch(self) -> tuple[str, ...]:
        """Fetch the claims and merge them with ours. Returns the refs of claims that we
        had and another clone has now. Raises WireError, LostRaceError."""
        # If the remote is someone's working repository, it also has their snapshots.
        patterns = (f"+refs/wc/*:{self._fetched}*", "^refs/wc/seen/*")
        self.wire.fetch_refs(*patterns)
        self._forget_combined()
        common = self.registry.repository.common
        base, ours = self.base(), refs.claim_refs(common)
        theirs = refs.claim_refs(common, f"{self._fetched}claims/")
        merged = rules.merge(base, ours, theirs)
        self.registry.move([*merged.moves, *self._base_moves(base, theirs)])
        return merged.lost

    def _forget_combined(self) -> None:
        """Let what an earlier version kept in a branch of the remote count as ours and
        unsent: it would otherwise seem to have been removed there."""
        combined = f"{_COMBINED}{digest_of(self.remote)}/claims"
        if tip := resolve(self.registry.repository, combined):
            removals = self._base_moves(self.base(), {})
            self.registry.move([*removals, RefMove(combined, tip, "")])

    def base(self) -> dict[str, str]:
        """The remote's refs when both sides were last equal."""
        return refs.claim_refs(self.registry.repository.common, self._base)

    def unsent(self) -> dict[str, str]:
        """Our refs that differ from the remote's, with their commits; an empty commit
        for a ref that it should remove."""
        base = self.base()
        ours = refs.claim_refs(self.registry.repository.common)
        return {
            ref: ours.get(ref, "")
            for ref in sorted({*base, *ours})
            if base.get(ref, "") != ours.get(ref, "")
        }

    def push(self, moves: Iterable[RefMove], *, is_claiming: bool) -> None:
        """Move refs of the remote from the base to the values in ``moves``, then ours.
        Raises LeaseError if the remote differs from the base, or if another clone
        claimed anything since the last fetch while this ``is_claiming``; other
        WireErrors; and LostRaceError."""
        moves = tuple(moves)
        base = self.base()
        sent = [move for move in moves if base.get(move.ref, "") != move.new]
        if sent:
            self._send(sent, base, is_claiming=is_claiming)
        after = {**base, **{move.ref: move.new for move in sent}}
        own = [move for move in moves if move.old != move.new]
        self.registry.move([*own, *self._base_moves(base, after)])

    def _send(
        self, sent: Sequence[RefMove], base: Mapping[str, str], *, is_claiming: bool
    ) -> None:
        """Push claims, all or none."""
        leases = {move.ref: base.get(move.ref, "") for move in sent}
        refspecs = [f"{move.new}:{move.ref}" for move in sent]
        fresh = [move.new for move in sent if move.new]
        if is_claiming and fresh:
            leases[_TURN] = resolve(self.registry.repository, f"{self._fetched}turn")
            refspecs.append(f"{fresh[0]}:{_TURN}")
        try:
            self.wire.push_refs(refspecs, leases)
        except DeclinedError as error:
            self.declined.remember(error)
            raise
        self.declined.forget()

    def has_arrived(self, moves: Iterable[RefMove], error: UnreachableError) -> bool:
        """Return whether the remote has what a push without an answer wanted: only the
        remote's refs count. Raises SilentError, from the push's ``error``, if the
        remote does not answer."""
        until = time.monotonic() + _ASKING_SECONDS
        try:
            ClaimsRemote(self.registry, self.remote, until).fetch()
        except (WireError, LostRaceError) as problem:
            raise SilentError(str(error), error.hint) from problem
        ours = refs.claim_refs(self.registry.repository.common)
        return all(ours.get(move.ref, "") == move.new for move in moves)

    def _base_moves(
        self, base: Mapping[str, str], after: Mapping[str, str]
    ) -> list[RefMove]:
        """The moves of the base's refs."""
        return [
            RefMove(f"{self._base}{ref.removeprefix(FOLDER)}", old, new)
            for ref in sorted({*base, *after})
            if (old := base.get(ref, "")) != (new := after.get(ref, ""))
        ]

    def exchange(self) -> list[tuple[Claim, Claim]]:
        """Fetch what others claimed, and send what we changed without the remote.
        Returns our claims that lost, each with the one that excludes it; they are
        released. Raises WireError, LostRaceError."""
        before = {claim.ref: claim for claim in self.registry.read().claims}
        overwritten = self.fetch()
        book = self.registry.read()
        replaced = [before[ref] for ref in overwritten if ref in before]
        lost = [
            (claim, rival)
            for claim in replaced
            if (rival := rules.rival_of(book, claim))
        ]
        unsent = self.unsent()
        beaten = rules.outvoted(book, unsent)
        dropped = {claim.ref for claim, _ in beaten}
        self.registry.move(RefMove(claim.ref, claim.oid, "") for claim, _ in beaten)
        moves = [
            RefMove(ref, oid, oid) for ref, oid in unsent.items() if ref not in dropped
        ]
        if moves:
            self.declined.raise_again()
        self.push(moves, is_claiming=True)
        return [*lost, *beaten]


class Declined:
    """The error of a remote that takes no claims, or no notes, remembered for a day in
    a file below ``.local``, so that not every exchange tries it. ``wc claim`` and ``wc
    release`` always try."""

    def __init__(self, layout: Layout, path: str) -> None:
        self.layout = layout
        self.path = path
        self.name = os.path.relpath(self.path, layout.local)

    @property
    def is_recent(self) -> bool:
        """Whether there was an error in the last day."""
        try:
            return abs(time.time() - os.lstat(self.path).st_mtime) < _REMEMBERED_SECONDS
        except OSError:
            return False

    def raise_again(self) -> None:
        """Raise the DeclinedError of the last day, if there was one."""
        if self.is_recent:
            text = read_plain(self.path, self.layout.root) or b""
            raise DeclinedError(os.fsdecode(text), _HINT)

    def remember(self, error: DeclinedError) -> None:
        """Remember an error, if the store has been made."""
        if os.path.isdir(self.layout.local):
            # Writing the error again does not change its age.
            self.forget()
            LocalFiles(self.layout).write(self.name, os.fsencode(str(error)))

    def forget(self) -> None:
        """Let the next exchange try again."""
        if os.path.lexists(self.path):
            LocalFiles(self.layout).remove(self.name)
