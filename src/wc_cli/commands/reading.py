"""The commands that read threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_cli.clock import now_ms
from wc_cli.commands.words import Speaker
from wc_cli.options import (
    FLAG,
    WORDS,
    argument,
    command,
    flag,
    number,
    text,
    words,
)
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_core.errors import NotFoundError, WcError
from wc_core.phrases import quoted
from wc_core.text import one_line
from wc_core.threads import vocabulary
from wc_core.views import index
from wc_core.views import rows as views
from wc_core.views import search as searching
from wc_core.views import updates as updating
from wc_core.views.mentions import Mentions
from wc_core.views.rows import Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.context import Context
    from wc_cli.options import Options
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader, Thread
    from wc_core.views.rows import Numbered

# Who reads does not wait for who writes; the cursor moves with the next reading.
_PATIENCE = 0.1
_NO_THREADS = "No threads here. Start one with: wc new TOPIC --title '…'"


class Which(Speaker):
    """Which threads, and how much of the answer."""

    ball: str = text(
        "--ball",
        "NAME",
        "Only threads whose ball is there (or: me, anyone).",
        complete="agent",
    )
    status: str = text("--status", "STATUS", "Only this status.", complete="status")
    limit: int = number("--limit", "At most this many (0: all).")
    cursor: str = text("--cursor", "CURSOR", "Continue where a limited answer ended.")

    def filter(self, *, open_only: bool = False, mine: bool = False) -> Filter:
        """The threads meant."""
        status = vocabulary.status(self.status)
        return Filter(open_only, "me" if mine else self.ball, status)


class List(Which):
    """List threads, the latest move first."""

    open: bool = flag("--open", help="Leave closed threads out.")
    mine: bool = flag("--mine", help="Only threads whose ball is yours.")


class ReadOptions(Speaker):
    """Show a thread, and mark it as read."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    start: int = number("--from", "Begin with this entry.")
    limit: int = number("--limit", "At most this many entries (0: all).")
    new: bool = flag("--new", help="Only what is new for you.")
    peek: bool = flag("--peek", help="Do not mark it as read.")
    raw: bool = flag("--raw", help="At a terminal too: text as written, no pager.")


class Search(Which):
    """Find the entries that contain every word, the best matches first."""

    query: tuple[str, ...] = words(
        "QUERY...",
        'Beginnings of words; "a phrase"; title:, body:, topic:, author: before one.',
        default=(),
    )
    file: str = text("--file", "PATH", "Only entries about this file or folder.")
    pr: int = number("--pr", "Only entries about this pull request.")
    commit: str = text("--commit", "ID", "Only entries about this commit.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")


class UpdatesOptions(Speaker):
    """Show what happened since a moment."""

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (90m, 3h, 2d) or an entry's id.",
        default="24h",
    )
    limit: int = number("--limit", "At most this many (0: all).")
    digest: bool = flag("--digest", help="Per thread: what it came to.")


class SeenOptions(Speaker):
    """Mark a thread as read without showing it."""

    topic: str = argument("TOPIC", "The thread.", default="", complete="topic")
    all: bool = flag("--all", help="Mark every thread as read.")


class Reindex(Speaker):
    """Write the index page: whose move it is in every thread."""

    closed: bool = flag("--closed", help="Include closed threads.")


@command(List)
def list_threads(context: Context, said: List) -> None:
    """List threads."""
    context.remember()
    wanted = said.filter(open_only=said.open, mine=said.mine)
    page = context.overview.page(wanted, said.limit, said.cursor)
    standing = context.standing
    if said.json:
        fields = page.to_json(context.store)
        sync = {"sync": standing.to_json()} if standing is not None else {}
        say_json(fields | sync)
        return
    say(render.thread_list(page.rows, now_ms(), render.output_style(context.env)))
    if standing is not None:
        remark(standing.sentence(now_ms()))
    if not page.rows:
        remark(_NO_THREADS)
    if page.cursor:
        remark(f"more: {_again('list', said, cursor=page.cursor)}")
    damaged = [row.topic for row in page.rows if row.damaged]
    if damaged:
        remark(f"damaged: {_together(damaged)} (see: wc doctor)")


def _again(name: str, said: Options, **changed: Any) -> str:
    """The command that goes on where this one ended: everything that was
    said, but for what is ``changed``; it can be pasted."""
    options: list[str] = []
    arguments: list[str] = []
    for param in said.params():
        value = changed.get(param.name, getattr(said, param.name))
        if not param.flags:
            arguments += value if param.kind == WORDS else [value]
        elif param.kind == FLAG:
            options += [param.flags[0]] if value else []
        elif value != param.default:
            options += [param.flags[0], str(value)]
    if any(one.startswith("-") for one in arguments):
        options.append("--")
        arguments, options = options, arguments
    # Cleaned first: what a terminal obeys could take a quote away with it.
    words = [quoted(one_line(one)) for one in (*arguments, *options)]
    return " ".join(("wc", name, *words))


def _together(topics: Iterable[str]) -> str:
    """Topics side by side on one line."""
    return ", ".join(one_line(one) for one in topics)


@command(ReadOptions)
def read(context: Context, said: ReadOptions) -> None:
    """Show a thread."""
    reader = context.reader
    thread = reader.thread(reader.find(said.topic))
    shown = views.numbered(thread)
    if said.new:
        cursor = reader.cursor(thread.state.topic, context.viewer.key)
        new = views.new_ids(thread, context.viewer, cursor)
        shown = [one for one in shown if one.entry.id in new]
    shown = [one for one in shown if one.idx >= said.start]
    rest = shown[said.limit :] if said.limit else []
    shown = shown[: said.limit] if said.limit else shown
    if said.json:
        say_json(views.read_json(thread, context.store, shown, rest))
    else:
        _print(context, thread, shown, raw=said.raw)
        if rest:
            more = _again("read", said, start=rest[0].idx)
            remark(f"{len(rest)} more: {more}")
    if not said.peek and not rest:
        _mark(context, thread.state)


def _print(
    context: Context, thread: Thread, shown: list[Numbered], *, raw: bool
) -> None:
    look = render.output_style(context.env)
    head = render.thread_head(thread, look)
    if raw or not render.is_for_people(context.env):
        say("\n\n".join([head, *(render.entry_text(one, look) for one in shown)]))
        return
    from wc_cli.terminal import pager  # rich and subprocess, for a terminal alone

    # Agents run commands at terminals too, and would hang in a pager.
    command = pager.pager_command(context.env) if context.identity.person else ""
    pager.page_parts(_rendered(context, head, shown), command, context.env)


def _rendered(context: Context, head: str, shown: list[Numbered]) -> Iterator[str]:
    """The head and the entries as a terminal gets them."""
    from wc_cli.terminal import markdown

    console = markdown.console_of(context.env, render.terminal_width())
    now = now_ms()
    yield f"{head}\n"
    for one in shown:
        yield "\n" + markdown.terminal_text(console, markdown.rendered_entry(one, now))


def _mark(context: Context, state: State) -> None:
    """Move the read cursor, where the store can be written."""
    try:
        context.writer().mark_read(state, _PATIENCE)
    except (WcError, OSError) as error:
        remark(one_line(f"note: not marked as read: {error}"))


@command(SeenOptions)
def seen(context: Context, said: SeenOptions) -> None:
    """Mark as read."""
    reader = context.reader
    if said.all:
        states = _readable(reader)
    else:
        topic = reader.find(vocabulary.required(said.topic, "topic"))
        states = [reader.snapshot(topic).state]
    if states:  # nothing to mark is no reason to make a store
        writer = context.writer()
        for state in states:
            writer.mark_read(state)
    topics = [state.topic for state in states]
    if said.json:
        say_json({"store": context.store, "seen": topics})
    else:
        say(f"seen: {_together(topics) or 'nothing'}")


def _readable(reader: StoreReader) -> list[State]:
    """Every thread that can be read; what cannot is said."""
    found = []
    for topic in reader.topics():
        try:
            found.append(reader.snapshot(topic).state)
        except NotFoundError:
            continue  # gone since it was listed, or never begun
        except WcError as error:
            remark(one_line(f"not marked as read: {topic}: {error}"))
    return found


@command(Search)
def search(context: Context, said: Search) -> None:
    """Search."""
    query = " ".join(said.query)
    about = Mentions(said.file, said.pr, said.commit, said.branch)
    where = said.filter()
    question = searching.Question(query, where, said.limit, said.cursor, about)
    overview = context.overview
    hits = searching.search(searching.Scan(overview.reader), overview, question)
    if said.json:
        say_json(hits.to_json(context.store, query))
        return
    look = render.output_style(context.env)
    say("\n".join(render.hit_text(one, look) for one in hits.hits))
    more = _again("search", said, cursor=hits.cursor) if hits.cursor else ""
    remark(f"{hits.total} found" + (f", more: {more}" if more else ""))
    if hits.unreadable:
        remark(f"not searched: {_together(hits.unreadable)} (see: wc doctor)")


@command(UpdatesOptions)
def updates(context: Context, said: UpdatesOptions) -> None:
    """Show what happened."""
    if said.digest:
        _digest(context, said)
        return
    found = updating.updates(context.overview, said.since, now_ms(), said.limit)
    if said.json:
        say_json(found.to_json(context.store))
        return
    look = render.output_style(context.env)
    say("\n".join(render.update_line(topic, one, look) for topic, one in found.entries))
    if not found.entries:
        remark(one_line(f"Nothing since {said.since}."))
    if found.more:
        more = _again("updates", said, since=found.next_since)
        remark(f"{found.more} more: {more}")
    if found.unreadable:
        remark(f"not read: {_together(found.unreadable)} (see: wc doctor)")


def _digest(context: Context, said: UpdatesOptions) -> None:
    """What the threads came to that moved."""
    found = updating.digest(context.overview, said.since, now_ms(), said.limit)
    if said.json:
        say_json(found.to_json(context.store))
        return
    look = render.output_style(context.env)
    say("\n".join(render.news_text(one, look) for one in found.threads))
    if not found.threads:
        remark(one_line(f"Nothing since {said.since}."))
    if found.more:
        remark(f"{found.more} more: wc updates --digest --since {quoted(said.since)}")
    if found.unreadable:
        remark(f"not read: {_together(found.unreadable)} (see: wc doctor)")


@command(Reindex)
def reindex(context: Context, said: Reindex) -> None:
    """Write the index page."""
    rows = context.overview.rows()
    if not context.place.exists:
        if said.json:
            say_json({"store": context.store, "path": None})
        else:
            remark(_NO_THREADS)
        return
    page = index.render_index(rows, closed=said.closed)
    writer = context.writer()
    path = writer.write_index(page.encode(errors="replace"))
    if said.json:
        say_json({"store": context.store, "path": path})
    else:
        say(writer.layout.index_page)
