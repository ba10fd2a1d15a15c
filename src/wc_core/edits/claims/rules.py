"""Who may claim what: pure functions from the existing claims to the necessary changes
of refs.

Claims on the same target conflict unless both only read, or one has expired. The next
claim on the same target removes an expired one.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.edits.claims.record import READ, Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from wc_core.edits.claims.book import Book

    IsMine = Callable[[str], bool]


class RefMove(NamedTuple):
    """A ref to move from the commit ``old`` to ``new``; an empty value means no ref."""

    ref: str
    old: str
    new: str


class Change(NamedTuple):
    """A ref to move from the commit ``old``, empty if it must not exist, to that of a
    claim; ``None`` removes the ref."""

    ref: str
    old: str
    claim: Claim | None = None


class ClaimPlan(NamedTuple):
    """The changes that carry out a request, all or none of them.

    - ``conflicts``: the claims of others that forbid it; then there are no changes
    - ``replaced``: the claims of others that it removes
    - ``renewed``: the ids that were the holder's own already
    """

    changes: tuple[Change, ...] = ()
    conflicts: tuple[Claim, ...] = ()
    replaced: tuple[Claim, ...] = ()
    renewed: tuple[str, ...] = ()


def plan_claims(
    book: Book, wishes: Sequence[Claim], is_mine: IsMine, *, takeover: bool = False
) -> ClaimPlan:
    """The plan for claiming all of ``wishes``. A ``takeover`` removes conflicting
    claims."""
    changes: dict[str, Change] = {}
    conflicts: dict[str, Claim] = {}
    replaced: dict[str, Claim] = {}
    renewed = []
    for wish in wishes:
        for claim in book.overlapping(wish.target):
            if is_mine(claim.holder):
                if claim.id == wish.id:
                    renewed.append(wish.id)
                    changes[claim.ref] = Change(claim.ref, claim.oid)
            elif not forbids(claim, wish):
                continue
            elif takeover or not book.binds(claim):
                replaced[claim.ref] = claim
                changes[claim.ref] = Change(claim.ref, claim.oid)
            else:
                conflicts[claim.ref] = claim
    if conflicts:
        return ClaimPlan(conflicts=tuple(conflicts.values()))
    for wish in wishes:
        changes[wish.ref] = Change(wish.ref, book.refs.get(wish.ref, ""), wish)
    return ClaimPlan(
        tuple(changes.values()),
        replaced=tuple(replaced.values()),
        renewed=tuple(dict.fromkeys(renewed)),
    )


def forbids(claim: Claim, wish: Claim) -> bool:
    """Whether someone else's claim forbids another on the same target."""
    return not (claim.mode == READ and wish.mode == READ)


def plan_release(claims: Iterable[Claim]) -> ClaimPlan:
    """The plan for releasing claims."""
    return ClaimPlan(tuple(Change(claim.ref, claim.oid) for claim in claims))


def plan_renewal(claims: Iterable[Claim]) -> ClaimPlan:
    """The plan for renewing claims, which get a new nonce each."""
    renewed = tuple(claims)
    changes = tuple(Change(claim.ref, claim.oid, claim) for claim in renewed)
    return ClaimPlan(changes, renewed=tuple(claim.id for claim in renewed))


# --- this clone and its remote ----------------------------------------------------


class Merge(NamedTuple):
    """The changes that a remote's claims require here.

    - ``moves``: of the refs of this clone
    - ``lost``: refs for which the remote has another value than the one to push
    """

    moves: tuple[RefMove, ...]
    lost: tuple[str, ...]


def merge(
    base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str]
) -> Merge:
    """The changes to apply from a remote that has ``theirs``. ``base`` is the state
    when both sides were equal. Local changes stay for the next push. If both sides
    changed a ref, the remote's version wins, because it decides between clones."""
    moves, lost = [], []
    for ref in sorted({*base, *ours, *theirs}):
        old, own, new = (refs.get(ref, "") for refs in (base, ours, theirs))
        if new not in {old, own}:
            moves.append(RefMove(ref, own, new))
            if own not in {old, ""}:
                lost.append(ref)
    return Merge(tuple(moves), tuple(lost))


def outvoted(book: Book, unsent: Container[str]) -> list[tuple[Claim, Claim]]:
    """The claims made without the remote that another clone's claims there forbid, each
    with one of these."""
    return [
        (claim, rival)
        for claim in book.claims
        if claim.ref in unsent and (rival := rival_of(book, claim, unsent)) is not None
    ]


def rival_of(book: Book, claim: Claim, unsent: Container[str] = ()) -> Claim | None:
    """The first claim of someone else that forbids a claim, ignoring one whose ref is
    ``unsent``."""
    for rival in book.overlapping(claim.target):
        is_other = rival.ref not in unsent and rival.holder != claim.holder
        if is_other and forbids(rival, claim) and book.binds(rival):
            return rival
    return None
