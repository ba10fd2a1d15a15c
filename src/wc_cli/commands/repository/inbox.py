"""``wc inbox``: what needs the viewer, in all repositories of this machine."""

from __future__ import annotations

import sys
import time

from wc_cli.bridges import elsewhere
from wc_cli.commands.common import no_threads_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import Options, command, flag, number, texts
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import inbox as inbox_rendering
from wc_cli.run.terminal.style import output_style
from wc_core.attention.inbox import stores as inbox_stores
from wc_core.attention.inbox import view as inbox_views
from wc_core.attention.inbox.view import InboxOwner
from wc_core.base.phrases import shown_path
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.attention.inbox.stores import InboxStore
    from wc_core.attention.inbox.view import Inbox

_LIMIT = 30
# With --watch: seconds between checks for changes, and until ages are out of date.
_POLL_SECONDS, _REDRAW_SECONDS = 1.0, 60.0
_CLEAR = "\033[H\033[2J\033[3J"


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
    stores = _stores(context, options)
    answer = inbox_views.inbox(stores, owner, options.limit)
    _print_inbox(context, options, answer)
    printed_at = time.monotonic()
    mark = inbox_views.inbox_fingerprint(stores, owner) if options.watch else ()
    while options.watch:
        time.sleep(_POLL_SECONDS)
        stores = _stores(context, options)
        before, mark = mark, inbox_views.inbox_fingerprint(stores, owner)
        is_old = _is_drawn(options) and time.monotonic() - printed_at > _REDRAW_SECONDS
        if mark == before and not is_old:
            continue
        fresh = inbox_views.inbox(stores, owner, options.limit)
        if fresh != answer or is_old:
            answer, printed_at = fresh, time.monotonic()
            _print_inbox(context, options, answer)


def _is_drawn(options: InboxOptions) -> bool:
    """Whether each inbox overwrites the previous one, on a terminal."""
    return options.watch and not options.json and sys.stdout.isatty()


def _stores(context: Context, options: InboxOptions) -> list[InboxStore]:
    """The stores to read."""
    stores = inbox_stores.known_stores(context.cwd, context.env)
    elsewhere.refresh(stores, context.env)
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
    return inbox_rendering.inbox_text(answer, viewer, now_ms(), style)


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
