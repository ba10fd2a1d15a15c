"""The board's lines about worktrees: conflicts, claims and loops."""

from __future__ import annotations

from rich.text import Text

from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.edits.claims.record import Claim
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.worktrees import Neighbour

_FILES = 2
_HOLDERS = 4
_URGENT, _CALM = "bold yellow", "dim"


def worktree_lines(
    neighbours: Iterable[Neighbour],
    claims: Iterable[Claim] = (),
    approvals: Iterable[OutdatedApproval] = (),
) -> Text:
    """A line for each pair of worktrees that will conflict, for each approved branch
    that no longer merges, for each participant with claims, and for each loop that is
    running or waits for a human."""
    trees = list(neighbours)
    text = Text(no_wrap=True, overflow="ellipsis")
    lines = (
        *_conflict_lines(trees),
        *(
            (one_line(f"⚠ {item.name} {item.predicate(_FILES)}"), _URGENT)
            for item in approvals
        ),
        *_claim_lines(claims),
        *_loop_lines(trees),
    )
    for line, style in lines:
        text.append("\n " if text.plain else " ")
        text.append(line, style)
    return text


def _conflict_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    named: set[str] = set()
    for tree in trees:
        named.add(tree.worktree.path)
        for conflict in tree.conflicts:
            if conflict.opposite.path not in named:
                text = f"⚠ {tree.name} conflicts {conflict.sentence(_FILES)}"
                yield one_line(text), _URGENT


def _claim_lines(claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    by_holder: dict[str, list[Claim]] = {}
    for claim in claims:
        by_holder.setdefault(claim.holder, []).append(claim)
    for holder, own in list(by_holder.items())[:_HOLDERS]:
        paths = ", ".join(claim.id for claim in own[:_FILES])
        hidden = f" and {len(own) - _FILES} more" if len(own) > _FILES else ""
        yield one_line(f"✎ {holder} edits {paths}{hidden}"), _CALM
    if len(by_holder) > _HOLDERS:
        yield f"✎ {len(by_holder) - _HOLDERS} others: wc claims", _CALM


def _loop_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    for tree in trees:
        loop = tree.loop
        if loop is not None and not loop.state_age.stale:
            line = one_line(f"{tree.name}: loop {loop.turn} {loop.summary}")
            yield line, _URGENT if loop.waits_for_human else _CALM
