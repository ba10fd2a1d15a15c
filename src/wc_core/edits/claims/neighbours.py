"""The effect of other participants' claims on neighbours: files that a target uses, and
files that use it."""

from __future__ import annotations

from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.ids import ClaimId, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.edits.claims.record import Claim
    from wc_core.edits.graph.model import FileUse, Graph, Neighbourhood

NEIGHBOR_DEPENDENCY, NEIGHBOR_DEPENDENT = "NEIGHBOR_DEPENDENCY", "NEIGHBOR_DEPENDENT"
GRAPH_STALE, GRAPH_UNAVAILABLE = "GRAPH_STALE", "GRAPH_UNAVAILABLE"
_SHOWN = 3


class NeighborFact(NamedTuple):
    """A code, its target, a sentence, and the claim that it is about, if any."""

    code: str
    target: str
    text: str
    claim: Claim | None = None


def facts(
    targets: Sequence[ClaimId],
    graph: Graph | None,
    head: str,
    claims: Sequence[Claim],
) -> Iterator[NeighborFact]:
    """The known neighbours of the targets, at the commit ``head``; ``graph`` was stored
    earlier. ``claims`` are those of others that exclude editing."""
    names = ", ".join(map(str, targets[:_SHOWN]))
    command = f"wc neighbors {quoted(str(targets[0])) if targets else '.'}"
    if graph is None:
        text = f"The neighbours of {names} are not known here: {command}"
        yield NeighborFact(GRAPH_UNAVAILABLE, "", text)
        return
    if graph.head != head:
        text = f"The neighbours of {names} are those at another commit: {command}"
        yield NeighborFact(GRAPH_STALE, "", text)
    for target in targets:
        neighbourhood = graph.neighbourhood(target.path, target.symbol)
        if neighbourhood is None:
            text = f"The neighbours of {target} are not known: it was not parsed."
            yield NeighborFact(GRAPH_UNAVAILABLE, str(target), text)
        else:
            others = [claim for claim in claims if not claim.target.overlaps(target)]
            yield from _of_target(target, neighbourhood, others)


def _of_target(
    target: ClaimId, neighbourhood: Neighbourhood, claims: Sequence[Claim]
) -> Iterator[NeighborFact]:
    """The claims on the neighbours of a target; for a hub, one sentence for each
    direction."""
    for code, uses, verb in (
        (NEIGHBOR_DEPENDENCY, neighbourhood.uses, "is used by"),
        (NEIGHBOR_DEPENDENT, neighbourhood.used_by, "uses"),
    ):
        concerned = [claim for claim in claims if _concerns(claim, code, uses)]
        if neighbourhood.is_hub and len(concerned) > _SHOWN:
            names = ", ".join(label(claim.id) for claim in concerned[:_SHOWN])
            text = f"Others edit {len(concerned)} neighbours of {target}: {names}, …"
            yield NeighborFact(code, str(target), text, concerned[0])
            continue
        for claim in concerned:
            text = f"{claim.holder} edits {label(claim.id)}, which {verb} {target}."
            yield NeighborFact(code, str(target), text, claim)


def _concerns(claim: Claim, code: str, uses: Sequence[FileUse]) -> bool:
    """Whether a claim is on one of the neighbours. A claim on a symbol concerns files
    that mention it, which only matters for what is used."""
    claimed = claim.target
    name = claimed.symbol.rpartition(".")[2] if code == NEIGHBOR_DEPENDENCY else ""
    return any(
        ClaimId(claimed.path).covers(ClaimId(use.path))
        and (not name or name in use.names)
        for use in uses
    )
