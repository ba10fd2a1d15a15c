"""The commands that read threads: list, read, search, updates, seen and reindex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.entries.paths import searched_path
from wc_cli.options import (
    FLAG,
    TEXTS,
    WORDS,
    argument,
    command,
    flag,
    number,
    position,
    text,
    texts,
    words,
)
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_core.errors import NotFoundError, WcError
from wc_core.phrases import quoted
from wc_core.text import one_line
from wc_core.threads import vocabulary
from wc_core.views import entries as entry_views
from wc_core.views import index
from wc_core.views import search as search_views
from wc_core.views import updates as update_views
from wc_core.views.mentions import Mentions, is_of_kind, is_written_on
from wc_core.views.rows import Filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.context import Context
    from wc_cli.options import Options
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader, Thread
    from wc_core.views.entries import Numbered
    from wc_core.views.overview import Overview
    from wc_core.wake.passes import PassState

# Seconds to wait for a writer. If it takes longer, the next reading moves the cursor.
_PATIENCE = 0.1
_NO_THREADS = "No threads here. Start one with: wc new TOPIC --title '…'"


class FilterOptions(SpeakerOptions):
    """Which threads, and how many of them."""

    ball: str = text(
        "--ball",
        "NAME",
        "Only threads whose ball this name has (or: me, anyone).",
        complete="agent",
    )
    status: str = text("--status", "STATUS", "Only this status.", complete="status")
    tag: tuple[str, ...] = texts(
        "--tag", "TAG", "Only threads with this tag; may be repeated: with all of them."
    )
    limit: int = number("--limit", "At most this many (0: all).")
    cursor: str = text("--cursor", "CURSOR", "Continue where a limited answer ended.")

    def filter(self, *, open_only: bool = False, own: bool = False) -> Filter:
        """Returns the filter for these threads."""
        status = vocabulary.status(self.status)
        ball = "me" if own else self.ball
        return Filter(open_only, ball, status, tags=self.tag)


class ListOptions(FilterOptions):
    """List threads, the latest move first."""

    file: str = text("--file", "PATH", "Only threads about this file or folder.")
    branch: str = text("--branch", "BRANCH", "Only threads that are at this branch.")
    area: str = text("--area", "AREA", "Only threads that belong to this area.")
    open: bool = flag("--open", help="Leave closed threads out.")
    mine: bool = flag("--mine", help="Only threads whose ball is yours.")
    ready: bool = flag("--ready", help="Only threads that you may begin with.")
    blocked: bool = flag("--blocked", help="Only threads that wait for something.")
    columns: str = text(
        "--columns", "NAMES", "Only these columns, such as: topic,ball,title."
    )


class ReadOptions(SpeakerOptions):
    """Show a thread, and mark it as read."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    start: int = position("--from", "Start with this entry; -10: the last ten.")
    limit: int = number("--limit", "At most this many entries (0: all).")
    new: bool = flag("--new", help="Only what is new for you.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    kind: str = text("--kind", "KIND", "Only entries of this kind.", complete="kind")
    peek: bool = flag("--peek", help="Do not mark it as read.")
    raw: bool = flag("--raw", help="Plain text as written, without a pager.")
    history: bool = flag(
        "--history", help="Show every text, also those that were amended or retracted."
    )


class SearchOptions(FilterOptions):
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
    kind: str = text("--kind", "KIND", "Only entries of this kind.", complete="kind")
    severity: str = text(
        "--severity", "LEVEL", "Only those as severe or more so.", complete="severity"
    )


class UpdatesOptions(SpeakerOptions):
    """Show what happened since a time."""

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (90m, 3h, 2d) or an entry's id.",
        default="24h",
    )
    limit: int = number("--limit", "At most this many (0: all).")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    digest: bool = flag("--digest", help="One summary per thread.")


class SeenOptions(SpeakerOptions):
    """Mark a thread as read without showing it."""

    topic: str = argument("TOPIC", "The thread.", default="", complete="topic")
    all: bool = flag("--all", help="Mark every thread as read.")


class ReindexOptions(SpeakerOptions):
    """Write the index page: whose move it is in every thread."""

    closed: bool = flag("--closed", help="Include closed threads.")


@command(ListOptions)
def list_threads(context: Context, options: ListOptions) -> None:
    """List threads."""
    columns = render.chosen_columns(options.columns)
    context.remember()
    thread_filter = options.filter(open_only=options.open, own=options.mine)
    thread_filter = thread_filter._replace(
        branch=options.branch, ready=options.ready, waiting=options.blocked
    )
    overview = context.overview
    thread_filter, unreadable = _about_file(context, overview, options, thread_filter)
    if options.area:
        from wc_core.areas import threads  # 2 ms, only to ask for an area

        areas = context.settings.areas
        thread_filter = threads.in_area(overview, areas, options.area, thread_filter)
    page = overview.page(thread_filter, options.limit, options.cursor)
    standing = context.standing
    if options.json:
        fields = page.to_json(context.store)
        sync = {"sync": standing.to_json()} if standing is not None else {}
        say_json(fields | sync | ({"unreadable": unreadable} if unreadable else {}))
        return
    style = render.output_style(context.env)
    say(render.thread_list(page.rows, now_ms(), style, columns))
    if standing is not None:
        remark(standing.sentence(now_ms()))
    if not page.rows:
        remark("No thread matches." if overview.reader.topics() else _NO_THREADS)
    if page.cursor:
        remark(f"more: {_command_line('list', options, cursor=page.cursor)}")
    if unreadable:
        remark(f"not searched: {_topic_list(unreadable)} (see: wc doctor)")
    damaged = [row.name for row in page.rows if row.damaged]
    if damaged:
        remark(f"damaged: {_topic_list(damaged)} (see: wc doctor)")


def _about_file(
    context: Context, overview: Overview, options: ListOptions, criteria: Filter
) -> tuple[Filter, list[str]]:
    """Returns the filter for threads about the file of the options, if there is one,
    and the threads that could not be searched."""
    if not options.file:
        return criteria, []
    scan = search_views.Scan(overview.reader)
    about = Mentions(searched_path(options.file, context))
    topics, matches = search_views.threads_about(scan, overview.reader, about)
    return criteria._replace(topics=topics), list(matches.unreadable)


def _command_line(name: str, options: Options, **changed: Any) -> str:
    """Returns the command line that continues where this one ended: the same options
    except for those that are ``changed``, quoted for a shell."""
    flags: list[str] = []
    arguments: list[str] = []
    for param in options.params():
        value = changed.get(param.name, getattr(options, param.name))
        if not param.flags:
            arguments += value if param.kind == WORDS else [value]
        elif param.kind == FLAG:
            flags += [param.flags[0]] if value else []
        elif param.kind == TEXTS:
            flags += [word for item in value for word in (param.flags[0], item)]
        elif value != param.default:
            flags += [param.flags[0], str(value)]
    if any(word.startswith("-") for word in arguments):
        flags.append("--")
        arguments, flags = flags, arguments
    # Cleaned first: removing an escape sequence later could remove a quote with it.
    words = [quoted(one_line(word)) for word in (*arguments, *flags)]
    return " ".join(("wc", name, *words))


def _topic_list(topics: Iterable[str]) -> str:
    """Returns the topics on one line."""
    return ", ".join(one_line(topic) for topic in topics)


@command(ReadOptions)
def read(context: Context, options: ReadOptions) -> None:
    """Show a thread."""
    reader = context.reader
    thread = reader.thread(reader.find(options.topic))
    entries = entry_views.numbered(thread, history=options.history)
    if options.new:
        cursor = reader.cursor(thread.state.topic, context.viewer.key)
        new = entry_views.new_ids(thread, context.viewer, cursor)
        entries = [entry for entry in entries if entry.entry.id in new]
    start = entry_views.first_index(options.start, len(thread.entries))
    branch, kind = options.branch.strip(), vocabulary.kind(options.kind)
    entries = [
        entry
        for entry in entries
        if entry.idx >= start and is_written_on(entry.entry, branch)
        if is_of_kind(entry.entry, kind)
    ]
    left_out = entries[options.limit :] if options.limit else []
    entries = entries[: options.limit] if options.limit else entries
    if options.json:
        fields = entry_views.read_json(thread, context.store, entries, left_out)
        passed = _pass_state(context, thread.state)
        say_json(fields | ({"pass": passed.to_json()} if passed else {}))
    else:
        _print_thread(context, thread, entries, raw=options.raw)
        if (branch or kind) and not entries:
            remark("No entry matches.")
        if left_out:
            following = _command_line("read", options, start=left_out[0].idx)
            remark(f"{len(left_out)} more: {following}")
    if not (options.peek or left_out or branch or kind):
        _mark_as_read(context, thread.state)


def _print_thread(
    context: Context, thread: Thread, entries: list[Numbered], *, raw: bool
) -> None:
    style = render.output_style(context.env)
    is_theirs = not context.viewer.holds(thread.state.ball)
    passed = _pass_state(context, thread.state) if is_theirs else None
    words = passed.sentence(now_ms()) if passed is not None else ""
    head = render.thread_head(thread, style, words)
    if raw or not render.is_for_people(context.env):
        say(
            "\n\n".join([head, *(render.entry_text(entry, style) for entry in entries)])
        )
        return
    from wc_cli.terminal import pager  # 20 ms, only on a terminal

    # Agents run commands on terminals too, and would hang in a pager.
    command = pager.pager_command(context.env) if context.identity.person else ""
    pager.page_parts(_rendered_parts(context, head, entries), command, context.env)


def _pass_state(context: Context, state: State) -> PassState | None:
    """Returns how far the ball has come with its holder, as seen on this machine."""
    from wc_core.wake import passes  # 1 ms, not for the other commands that read

    return passes.pass_state(context.reader, state, context.settings.directory)


def _rendered_parts(
    context: Context, head: str, entries: list[Numbered]
) -> Iterator[str]:
    """Yields the head and the entries as a terminal shows them."""
    from wc_cli.terminal import markdown  # Rich: 200 ms, only on a terminal

    console = markdown.console_of(context.env, render.terminal_width())
    now = now_ms()
    yield f"{head}\n"
    for entry in entries:
        yield "\n" + markdown.terminal_text(
            console, markdown.rendered_entry(entry, now)
        )


def _mark_as_read(context: Context, state: State) -> None:
    """Move the read cursor. If the store cannot be written, print a note."""
    try:
        context.writer().mark_read(state, _PATIENCE)
    except (WcError, OSError) as error:
        remark(one_line(f"note: not marked as read: {error}"))


@command(SeenOptions)
def seen(context: Context, options: SeenOptions) -> None:
    """Mark as read."""
    reader = context.reader
    if options.all:
        states = _readable_states(reader)
    else:
        topic = reader.find(vocabulary.required(options.topic, "topic"))
        states = [reader.snapshot(topic).state]
    if states:  # nothing to mark is no reason to make a store
        writer = context.writer()
        for state in states:
            writer.mark_read(state)
    topics = [state.name for state in states]
    if options.json:
        say_json({"store": context.store, "seen": topics})
    else:
        say(f"seen: {_topic_list(topics) or 'nothing'}")


def _readable_states(reader: StoreReader) -> list[State]:
    """Returns the states of the threads that can be read, and remarks on the others."""
    states = []
    for topic in reader.topics():
        try:
            states.append(reader.snapshot(topic).state)
        except NotFoundError:
            continue  # gone since it was listed, or never begun
        except WcError as error:
            remark(one_line(f"not marked as read: {topic}: {error}"))
    return states


@command(SearchOptions)
def search(context: Context, options: SearchOptions) -> None:
    """Search."""
    query = " ".join(options.query)
    path = searched_path(options.file, context)
    about = Mentions(path, options.pr, options.commit, options.branch)
    about = about._replace(kind=options.kind, severity=options.severity)
    thread_filter = options.filter()
    question = search_views.Question(
        query, thread_filter, options.limit, options.cursor, about
    )
    overview = context.overview
    hits = search_views.search(search_views.Scan(overview.reader), overview, question)
    if options.json:
        say_json(hits.to_json(context.store, query))
        return
    style = render.output_style(context.env)
    say("\n".join(render.hit_text(hit, style) for hit in hits.hits))
    following = (
        _command_line("search", options, cursor=hits.cursor) if hits.cursor else ""
    )
    remark(f"{hits.total} found" + (f", more: {following}" if following else ""))
    if hits.unreadable:
        remark(f"not searched: {_topic_list(hits.unreadable)} (see: wc doctor)")


@command(UpdatesOptions)
def updates(context: Context, options: UpdatesOptions) -> None:
    """Show what happened."""
    if options.digest:
        _print_digest(context, options)
        return
    news = update_views.updates(
        context.overview,
        options.since,
        now_ms(),
        options.limit,
        branch=options.branch.strip(),
    )
    if options.json:
        say_json(news.to_json(context.store))
        return
    style = render.output_style(context.env)
    say(
        "\n".join(
            render.update_line(topic, entry, style) for topic, entry in news.entries
        )
    )
    if not news.entries:
        remark(one_line(f"Nothing since {options.since}."))
    if news.more:
        following = _command_line("updates", options, since=news.next_since)
        remark(f"{news.more} more: {following}")
    if news.unreadable:
        remark(f"not read: {_topic_list(news.unreadable)} (see: wc doctor)")


def _print_digest(context: Context, options: UpdatesOptions) -> None:
    """Print a summary of each thread that changed."""
    news = update_views.digest(
        context.overview,
        options.since,
        now_ms(),
        options.limit,
        branch=options.branch.strip(),
    )
    if options.json:
        say_json(news.to_json(context.store))
        return
    style = render.output_style(context.env)
    say("\n".join(render.news_text(thread, style) for thread in news.threads))
    if not news.threads:
        remark(one_line(f"Nothing since {options.since}."))
    if news.more:
        following = _command_line("updates", options, limit=0)
        remark(f"{news.more} more: {following}")
    if news.unreadable:
        remark(f"not read: {_topic_list(news.unreadable)} (see: wc doctor)")


@command(ReindexOptions)
def reindex(context: Context, options: ReindexOptions) -> None:
    """Write the index page."""
    rows = context.overview.rows()
    if not context.place.exists:
        if options.json:
            say_json({"store": context.store, "path": None})
        else:
            remark(_NO_THREADS)
        return
    page = index.render_index(rows, closed=options.closed)
    writer = context.writer()
    path = writer.write_index(page.encode(errors="replace"))
    if options.json:
        say_json({"store": context.store, "path": path})
    else:
        say(writer.layout.index_page)
