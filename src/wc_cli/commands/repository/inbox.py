"""``wc inbox``: what needs the viewer, in all repositories of this machine."""

from __future__ import annotations

import math
import sys
import time
from types import MappingProxyType

from wc_cli.bridges import elsewhere
from wc_cli.commands.common import no_threads_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, command, flag, number, texts
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal.labels import says_more, short_name
from wc_cli.run.terminal.style import output_style, terminal_width
from wc_cli.run.widths import cut_to_width, left_to_right, width_of
from wc_core.attention.inbox import stores as inbox_stores
from wc_core.attention.inbox import view as inbox_views
from wc_core.attention.inbox.items import INPUT, KINDS, MOVE, OFFERED
from wc_core.attention.inbox.view import InboxOwner
from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import command_line, one_line
from wc_core.base.times import age_text, seconds_between
from wc_core.ledger.configuration import preferences
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.attention.inbox.stores import InboxStore
    from wc_core.attention.inbox.view import Inbox, InboxEntry
    from wc_core.people.identity.viewer import Viewer

_LIMIT = 30
# With --watch: seconds between checks for changes, and until ages are out of date.
_POLL_SECONDS, _REDRAW_SECONDS = 1.0, 60.0
_CLEAR = "\033[H\033[2J\033[3J"
_BOLD, _DIM, _YELLOW = "1", "2", "33"
_LEAST_TITLE = 12
_HEADINGS = MappingProxyType(
    {INPUT: "INPUT REQUIRED", MOVE: "MY MOVE", OFFERED: "OFFERED"}
)


class InboxOptions(Options):
    """Show what needs you in all repositories of this machine: questions to you, your
    balls, and those offered to you."""

    excluded: tuple[str, ...] = texts(
        "--not", "NAME", "Leave out this repository: its name or path; repeatable."
    )
    limit: int = number(
        "--limit", "At most this many (0: all).", default=_LIMIT, short="-n"
    )
    watch: bool = flag("--watch", help="Show it again on every change, until ^C.")


@command(InboxOptions)
def inbox(context: Context, options: InboxOptions) -> None:
    """Show what needs the viewer."""
    owner = InboxOwner(context.env, context.asked, context.evidence.started_by)
    answer: Inbox | None = None
    mark: tuple[object, ...] = ()
    printed_at = -math.inf
    while True:
        known = inbox_stores.known_stores(context.cwd, context.env)
        stores = _chosen(context, options, known)
        before, mark = mark, inbox_views.inbox_fingerprint(stores)
        is_old = _is_drawn(options) and time.monotonic() - printed_at > _REDRAW_SECONDS
        if answer is None or mark != before or is_old:
            elsewhere.refresh(known, context.env)
            fresh = inbox_views.inbox(stores, owner, options.limit)
            if fresh != answer or is_old:
                answer, printed_at = fresh, time.monotonic()
                _print_inbox(context, options, answer)
        if not options.watch:
            return
        time.sleep(_POLL_SECONDS)


def _is_drawn(options: InboxOptions) -> bool:
    """Whether each inbox overwrites the previous one, on a terminal."""
    return options.watch and not options.json and sys.stdout.isatty()


def _chosen(
    context: Context, options: InboxOptions, stores: Sequence[InboxStore]
) -> list[InboxStore]:
    """The stores to read."""
    personal = preferences.load(context.env)
    if personal.problem:
        remark(one_line(f"note: {personal.problem}"))
    return inbox_stores.chosen_stores(
        stores, options.excluded, personal.left_out, context.env
    )


def print_own_inbox(context: Context) -> None:
    """Print what needs the viewer in this repository alone, for a person."""
    stores = inbox_stores.known_stores(context.cwd, context.env)
    current = [store for store in stores if store.is_current]
    owner = InboxOwner(context.env, context.asked, context.evidence.started_by)
    answer = inbox_views.inbox(current, owner)
    say(_text(context, answer))
    if not answer.counts and not answer.unreadable:
        remark(no_threads_text(context))
    elif not answer.total:
        remark("Nothing needs you here. In all repositories: wc inbox")
    _remark_unreadable(context, answer)


def _text(context: Context, answer: Inbox) -> str:
    style, viewer = output_style(context.env), context.viewer
    return inbox_text(answer, viewer, now_ms(), style)


def _print_inbox(context: Context, options: InboxOptions, answer: Inbox) -> None:
    if options.json:
        say_json(answer.to_json())
        return
    text = _text(context, answer)
    say(f"{_CLEAR}{text}" if _is_drawn(options) else text)
    if not (answer.counts or answer.unreadable or options.excluded):
        remark(f"{answer.empty_text} Start one with: wc new TOPIC -m '…'")
    elif not answer.total:
        remark(answer.empty_text)
    if answer.more:
        remark(f"{answer.more} more: wc inbox --limit 0")
    _remark_unreadable(context, answer)


def _remark_unreadable(context: Context, answer: Inbox) -> None:
    for line in context.former_targets:
        remark(f"note: {line}")
    for store in answer.unreadable:
        folder = shown_path(store.folder, context.env)
        remark(one_line(f"not read: {store.name} ({folder}): {store.problem}"))


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
