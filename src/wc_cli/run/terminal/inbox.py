"""The inbox as terminal text."""

from __future__ import annotations

from types import MappingProxyType

from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width
from wc_core.attention.inbox.items import INPUT, KINDS, MOVE, OFFERED
from wc_core.base.phrases import counted
from wc_core.base.text import command_line, one_line
from wc_core.base.times import age_text, seconds_between

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.terminal.style import Style
    from wc_core.attention.inbox.view import Inbox, InboxEntry

_BOLD, _DIM, _YELLOW = "1", "2", "33"
_HEADINGS = MappingProxyType(
    {INPUT: "INPUT REQUIRED", MOVE: "MY MOVE", OFFERED: "OFFERED"}
)


def inbox_text(inbox: Inbox, now_ms: int, style: Style) -> str:
    """Return two lines for each item, grouped by kind: what it is, and the command that
    answers it. Only the first line is cut to the terminal's width."""
    return "\n".join(
        line
        for kind in KINDS
        for line in _section(
            kind,
            [entry for entry in inbox.entries if entry.item.kind == kind],
            now_ms,
            style,
        )
    )


def _section(
    kind: str, entries: list[InboxEntry], now_ms: int, style: Style
) -> Iterator[str]:
    if not entries:
        return
    yield style(_HEADINGS[kind], _YELLOW if kind == INPUT else _DIM)
    limit = terminal_width()
    for entry in entries:
        line = _item_line(entry, now_ms)
        yield style(cut_to_width(line, limit) if limit else line, _BOLD)
        yield f"    {style(command_line(entry.command), _DIM)}"


def _item_line(entry: InboxEntry, now_ms: int) -> str:
    item = entry.item
    count = item.more_questions
    verb = "asks" if item.question else "passed it"
    facts = [
        f"{entry.store.name}: {item.topic}",
        item.title,
        *([f"and {counted(count, 'more question')}"] if count else []),
        *([f"{item.by} {verb}"] if item.by else []),
        *([item.status] if item.kind == INPUT and not item.question else []),
    ]
    if item.since_ms is not None:
        facts.append(age_text(seconds_between(item.since_ms, now_ms)))
    return f"  {' · '.join(map(one_line, facts))}"
