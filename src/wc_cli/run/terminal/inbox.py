"""The inbox as terminal text."""

from __future__ import annotations

from types import MappingProxyType

from wc_cli.run.terminal.labels import says_more, short_name
from wc_cli.run.terminal.style import terminal_width
from wc_cli.run.widths import cut_to_width, left_to_right, width_of
from wc_core.attention.inbox.items import INPUT, KINDS, MOVE, OFFERED
from wc_core.base.phrases import counted
from wc_core.base.text import command_line, one_line
from wc_core.base.times import age_text, seconds_between
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.terminal.style import Style
    from wc_core.attention.inbox.view import Inbox, InboxEntry
    from wc_core.people.identity.viewer import Viewer

_BOLD, _DIM, _YELLOW = "1", "2", "33"
_LEAST_TITLE = 12
_HEADINGS = MappingProxyType(
    {INPUT: "INPUT REQUIRED", MOVE: "MY MOVE", OFFERED: "OFFERED"}
)


def inbox_text(inbox: Inbox, viewer: Viewer, now_ms: int, style: Style) -> str:
    """Return two lines for each item, grouped by kind: what it is, and the command that
    answers it. On a terminal, names are as short as the viewer needs them, and the
    title is cut so that the first line fits."""
    limit = terminal_width()
    lines: list[str] = []
    for kind in KINDS:
        entries = [entry for entry in inbox.entries if entry.item.kind == kind]
        if entries:
            lines.append(style(_HEADINGS[kind], _YELLOW if kind == INPUT else _DIM))
        for entry in entries:
            by = short_name(entry.item.by, viewer) if limit else entry.item.by
            lines.append(style(_item_line(entry, by, now_ms, limit), _BOLD))
            lines.append(f"    {style(command_line(entry.command), _DIM)}")
    return "\n".join(lines)


def _item_line(entry: InboxEntry, by: str, now_ms: int, limit: int) -> str:
    item, count = entry.item, entry.item.more_questions
    place = one_line(f"{entry.store.name}: {item.topic}")
    title = left_to_right(one_line(item.title)) if limit else one_line(item.title)
    verb = "asks" if item.question else "approved it" if item.move else "passed it"
    facts = [
        *([f"and {counted(count, 'more question')}"] if count else []),
        *([f"{by} {verb}"] if by else []),
        *([via_text(item.via)] if item.via else []),
        *([f"to {item.move}"] if item.move else []),
        *([item.status] if item.kind == INPUT and not item.question else []),
    ]
    if item.since_ms is not None:
        facts.append(age_text(seconds_between(item.since_ms, now_ms)))
    facts = [*map(one_line, facts)]
    if limit:
        room = limit - width_of(f"  {' · '.join([place, '', *facts])}")
        is_shown = room >= _LEAST_TITLE and says_more(item.title, item.topic)
        title = cut_to_width(title, room) if is_shown else ""
    line = f"  {' · '.join([place, *([title] if title or not limit else []), *facts])}"
    return cut_to_width(line, limit) if limit else line
