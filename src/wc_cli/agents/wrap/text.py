"""The leftovers of a session, in words."""

from __future__ import annotations

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.agents.wrap.leftovers import Leftovers
    from wc_cli.run.terminal.style import Style

_BOLD = "1"
_MAX_LINES, _WIDTH = 12, 100


def leftovers_text(leftovers: Leftovers, style: Style) -> str:
    """Return the leftovers, as a heading and lines for each kind."""
    if leftovers.is_empty:
        return "Nothing is left behind."
    return "\n".join(_lines(leftovers, style))


def _lines(leftovers: Leftovers, style: Style) -> Iterator[str]:
    yield from _section(
        f"You hold {counted(len(leftovers.balls), 'ball')}:",
        [
            " · ".join(
                fact
                for fact in (
                    row.name,
                    row.waits_text or row.status_text,
                    row.way_text,
                    row.title,
                )
                if fact
            )
            for row in leftovers.balls
        ],
        style,
    )
    yield from _section(
        f"You have claimed {counted(len(leftovers.claims), 'thing')}:",
        leftovers.claims,
        style,
    )
    yield from _section(
        "Questions to you:",
        [
            f"{item.topic} · {item.asker} {via_text(item.via)}".rstrip()
            + f": {item.title}"
            for item in leftovers.questions.items
        ],
        style,
    )
    worktree = leftovers.worktree
    place = f" on {one_line(worktree.branch)}" if worktree.branch else ""
    yield from _section(f"Not committed{place}:", worktree.changed, style)
    if worktree.unpushed:
        yield style(f"{counted(worktree.unpushed, 'commit')}{place} not pushed", _BOLD)
    if leftovers.unsaved is not None:
        yield style(one_line(leftovers.unsaved.sentence), _BOLD)


def _section(
    heading: str, lines: list[str] | tuple[str, ...], style: Style
) -> Iterator[str]:
    if not lines:
        return
    yield style(heading, _BOLD)
    yield from (f"  {one_line(line, _WIDTH)}" for line in lines[:_MAX_LINES])
    if len(lines) > _MAX_LINES:
        yield f"  and {len(lines) - _MAX_LINES} more"
