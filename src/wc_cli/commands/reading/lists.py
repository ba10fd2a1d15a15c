"""``wc list`` and ``wc reindex``: many threads, one line each."""

from __future__ import annotations

from itertools import islice

from wc_cli.commands.common import no_threads_text
from wc_cli.commands.reading.filtering import FilterOptions
from wc_cli.commands.reading.paging import command_line, topic_list
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import (
    Options,
    command,
    flag,
    text,
    words,
)
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import render
from wc_cli.run.terminal.style import is_terminal
from wc_core.base.errors import InvalidInputError
from wc_core.base.lean.functools import partial
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.times import age_ms, rfc3339, since_id
from wc_core.ledger.threads.model import STATUSES
from wc_core.reading.views import index
from wc_core.reading.views.rows import Filter, RowPage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.ledger.summaries.latest import LatestWords
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow

# The first is the order without --sort; `age` puts the oldest first.
SORT_KEYS = ("recent", "age", "topic", "ball", "status", "title")
_MAX_LOST = 3
_NO_MATCH = "No thread matches."


class ListOptions(FilterOptions):
    """List open threads, the latest move first."""

    usual = "--mine --open --ball --status --tag --since --file --all --limit"

    words: tuple[str, ...] = words(
        "WORD...",
        "Only with these words in topic, title or ball, or with +TAG.",
        default=(),
    )
    all: bool = flag("--all", "-a", help="Include closed threads.")
    author: str = text(
        "--author", "NAME", "Only threads in which NAME wrote last.", complete="agent"
    )
    stale: str = text(
        "--stale", "AGE", "Only threads without an entry for AGE, such as 3d."
    )
    since: str = text(
        "--since",
        "WHEN",
        "Only with an entry after a time, an age (3h), a day (monday) or an id.",
    )
    sort: str = text(
        "--sort",
        "KEY",
        f"Sort by {', '.join(SORT_KEYS)}.",
        default="",
        complete="list order",
    )
    file: str = text("--file", "PATH", "Only threads about this file or folder.")
    branch: str = text("--branch", "BRANCH", "Only threads of this branch.")
    open: bool = flag("--open", help="Leave out closed threads (the default).")
    mine: bool = flag("--mine", help="Only threads that wait for you.")
    ready: bool = flag("--ready", help="Only threads that you can start.")
    blocked: bool = flag("--blocked", help="Only threads that wait for something.")
    columns: str = text(
        "--columns", "NAMES", "Only these columns, such as: topic,ball,title."
    )
    summaries: bool = flag("--summaries", help="Add what was said last in each thread.")


class ReindexOptions(Options):
    """Write the index page: whose move it is in every thread."""

    closed: bool = flag("--closed", help="Include closed threads.")


@command(ListOptions)
def list_threads(context: Context, options: ListOptions) -> None:
    """List threads."""
    columns = render.chosen_columns(options.columns)
    context.remember()
    thread_filter = _thread_filter(options)
    overview = context.overview
    thread_filter, unreadable = _about_file(context, overview, options, thread_filter)
    page = _page(overview, thread_filter, options)
    standing = context.standing
    latest_words = _latest_words(overview, page.rows) if options.summaries else []
    if options.json:
        fields = page.to_json(context.store)
        for thread, latest in zip(fields["threads"], latest_words, strict=False):
            thread.update(latest.to_json())
        sync: dict[str, Any] = {"sync": standing.to_json()} if standing else {}
        if standing is None and context.unasked:
            sync = {"unasked": context.unasked}
        say_json(fields | sync | ({"unreadable": unreadable} if unreadable else {}))
        return
    say(render.thread_list(context, page.rows, columns, latest_words))
    if standing is not None:
        remark(standing.sentence(now_ms()))
    if not (page.rows or overview.reader.topics()):
        remark(no_threads_text(context))
        return
    if standing is None and context.unasked:
        remark(context.unasked)
    if not page.rows:
        remark(_empty_text(options))
    _print_omissions(options, page, unreadable)
    _print_lost(context, page.rows)


def _print_lost(context: Context, rows: Sequence[ThreadRow]) -> None:
    """Print which balls are for seats that no worktree has, and how to move them."""
    if not any("@" in (row.ball or "") for row in rows):
        return
    from wc_cli.run.entries.lostseats import LostSeats  # 3 ms, only for balls at seats

    seats = LostSeats(context)
    held = [row.topic for row in rows if row.ball and seats.has(row.ball)]
    for state in islice(seats.lost(held), _MAX_LOST):
        name, ball = one_line(state.name), one_line(state.ball or "")
        remark(f"{name}: no worktree has the seat of {ball}: {seats.command(state)}")


def _print_omissions(
    options: ListOptions, page: RowPage, unreadable: Sequence[str]
) -> None:
    """Print which threads are left out, were not searched, or are damaged."""
    if rest := _rest_text(options, page):
        remark(rest)
    if unreadable:
        remark(f"not searched: {topic_list(unreadable)} (see: wc doctor)")
    damaged = [row.name for row in page.rows if row.damaged]
    if damaged:
        remark(f"damaged: {topic_list(damaged)} (see: wc doctor)")


def _thread_filter(options: ListOptions) -> Filter:
    """Return which threads are wanted: closed ones with ``--all``, or if the status
    says so."""
    if options.all and options.open:
        raise InvalidInputError(
            "--all and --open exclude each other.", "Use one of them."
        )
    open_only = options.open or not (options.all or options.status)
    thread_filter = options.filter(open_only=open_only)
    return thread_filter._replace(
        branch=options.branch,
        due=options.mine,
        ready=options.ready,
        waiting=options.blocked,
        author=options.author,
        quiet_since=_quiet_since(options.stale),
        since=since_id(options.since, now_ms()) if options.since else "",
        words=" ".join(options.words),
    )


def _quiet_since(age: str) -> str:
    """Return the time that was ``age`` ago; empty without an age."""
    if not age:
        return ""
    length = age_ms(age)
    if length is None:
        raise InvalidInputError(f"{age!r} is not an age.", "Write 90m, 12h, 3d or 2w.")
    return rfc3339(max(0, now_ms() - length))


def _page(overview: Overview, criteria: Filter, options: ListOptions) -> RowPage:
    """Return the threads to show, in the requested order."""
    if options.sort not in {"", *SORT_KEYS}:
        raise InvalidInputError(
            f"{options.sort!r} is not a key to sort by.",
            f"One of: {', '.join(SORT_KEYS)}",
        )
    if options.sort in {"", SORT_KEYS[0]}:
        return overview.page(criteria, options.limit, options.cursor)
    if options.cursor:
        raise InvalidInputError(
            "--cursor only continues a list in its default order.",
            "Leave out --sort, or show more with --limit.",
        )
    rows = overview.page(criteria, 0).rows
    ordered = sorted(rows, key=lambda row: _sort_value(row, options.sort))
    return RowPage(tuple(ordered[: options.limit or None]), total=len(ordered))


def _sort_value(row: ThreadRow, key: str) -> tuple[str, str]:
    values = {
        "age": row.updated_at,
        "topic": row.name.casefold(),
        "ball": (row.ball or "").casefold(),
        "status": row.status,
        "title": row.title.casefold(),
    }
    return values[key], row.name


def _rest_text(options: ListOptions, page: RowPage) -> str:
    """Return how many threads are left out, and the command that shows them: all at a
    terminal, the next page for programs. Empty if none is."""
    hidden = page.total - len(page.rows)
    if page.cursor and (options.cursor or not is_terminal()):
        return f"more: {command_line('list', options, cursor=page.cursor)}"
    if not hidden or options.cursor:
        return ""
    # 0 is the default, but the preferences may have another one.
    return f"{hidden} more: {command_line('list', options, limit=0)} --limit 0"


def _empty_text(options: ListOptions) -> str:
    """Return the message if none of the threads is listed."""
    if options.mine:
        return "None of these threads waits for you."
    if status := _typed_status(options):
        return status
    if options.all or options.status:
        return _NO_MATCH
    with_closed = command_line("list", options, open=False, all=True)
    return f"{_NO_MATCH} Include closed ones: {with_closed}"


def _typed_status(options: ListOptions) -> str:
    """Return what to write instead, if the last word is a status; else empty."""
    *words, final = options.words or ("",)
    status = final.upper().replace("-", "_")
    if status not in STATUSES:
        return ""
    text = f"{_NO_MATCH} Those that are {status}: wc list --status {status}"
    if len(words) == 1:
        topic = quoted(one_line(words[0]))
        text += f"; to change the status: wc set-status {topic} {status}"
    return text


def _latest_words(overview: Overview, rows: Iterable[ThreadRow]) -> list[LatestWords]:
    """Return who said something last in each thread, and its summary."""
    from wc_core.ledger.summaries.latest import latest_words  # 3 ms, only for summaries

    return [latest_words(overview.reader, row.topic, row.title) for row in rows]


def _about_file(
    context: Context, overview: Overview, options: ListOptions, criteria: Filter
) -> tuple[Filter, list[str]]:
    """Return the filter for threads about the options' file, if any, and the threads
    that could not be searched."""
    if not options.file:
        return criteria, []
    from wc_cli.commands.reading import filefilter  # 1 ms, only to filter by file

    topics, unreadable = filefilter.threads_about_file(context, overview, options.file)
    return criteria._replace(topics=topics), unreadable


@command(ReindexOptions)
def reindex(context: Context, options: ReindexOptions) -> None:
    """Write the index page."""
    rows = context.overview.rows()
    if not context.place.exists:
        if options.json:
            say_json({"store": context.store, "path": None})
        else:
            remark(no_threads_text(context))
        return
    writer = context.writer()
    link = partial(index.page_link, layout=writer.layout)
    page = index.render_index(rows, closed=options.closed, link=link)
    path = writer.write_index(page.encode(errors="replace"))
    if options.json:
        say_json({"store": context.store, "path": path})
    else:
        say(writer.layout.index_page)
