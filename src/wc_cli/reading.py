"""The commands that read threads."""

from __future__ import annotations

from wc_cli import render
from wc_cli.context import now_ms, remark, say, say_json
from wc_cli.options import argument, command, flag, number, text, words
from wc_cli.writing import Speaker
from wc_core import index, views, vocabulary
from wc_core import search as searching
from wc_core import updates as updating
from wc_core.errors import NotFoundError, WcError
from wc_core.views import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.model import State
    from wc_core.reader import StoreReader, Thread
    from wc_core.views import Numbered


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

    def filter(self, *, open_only: bool = False) -> Filter:
        """The threads meant."""
        status = vocabulary.status(self.status)
        return Filter(open_only, self.ball, status)


class List(Which):
    """List threads, the latest move first."""

    open: bool = flag("--open", help="Leave closed threads out.")
    mine: bool = flag("--mine", help="Only threads whose ball is yours.")


class Read(Speaker):
    """Show a thread, and mark it as read."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    start: int = number("--from", "Begin with this entry.")
    limit: int = number("--limit", "At most this many entries (0: all).")
    new: bool = flag("--new", help="Only what is new for you.")
    peek: bool = flag("--peek", help="Do not mark it as read.")


class Search(Which):
    """Find the entries that contain every word."""

    query: tuple[str, ...] = words("QUERY...", "Words to look for.")


class Updates(Speaker):
    """Show what happened since a moment."""

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (90m, 3h, 2d) or an entry's id.",
        default="24h",
    )
    limit: int = number("--limit", "At most this many (0: all).")


class Seen(Speaker):
    """Mark a thread as read without showing it."""

    topic: str = argument("TOPIC", "The thread.", default="", complete="topic")
    all: bool = flag("--all", help="Mark every thread as read.")


class Reindex(Speaker):
    """Write the index page: whose move it is in every thread."""

    closed: bool = flag("--closed", help="Include closed threads.")


@command(List)
def list_threads(context: Context, said: List) -> None:
    """List threads."""
    if said.mine:
        said.ball = "me"
    context.remember()
    wanted = said.filter(open_only=said.open)
    page = views.page(context.reader, context.viewer, wanted, said.limit, said.cursor)
    if said.json:
        say_json(page.to_json(context.store))
        return
    say(render.thread_list(page.rows, now_ms(), render.style(context.env)))
    if not page.rows:
        remark("No threads here. Start one with: wc new TOPIC --title '…'")
    if page.cursor:
        remark(f"more: wc list --cursor '{page.cursor}'")
    damaged = [row.topic for row in page.rows if row.damaged]
    if damaged:
        remark(f"damaged: {', '.join(damaged)} (see: wc doctor)")


@command(Read)
def read(context: Context, said: Read) -> None:
    """Show a thread."""
    reader = context.reader
    thread = reader.thread(views.find_topic(reader, said.topic))
    shown = views.numbered(thread)
    if said.new:
        cursor = reader.cursor(thread.state.topic, context.viewer.key)
        new = views.new_ids(thread, context.identity.author, cursor)
        shown = [one for one in shown if one.entry.id in new]
    shown = [one for one in shown if one.idx >= said.start]
    rest = shown[said.limit :] if said.limit else []
    shown = shown[: said.limit] if said.limit else shown
    if said.json:
        say_json(views.read_json(thread, context.store, shown, rest))
    else:
        _print(context, thread, shown, rest)
    if not said.peek and not rest:
        _mark(context, thread.state)


def _print(
    context: Context,
    thread: Thread,
    shown: list[Numbered],
    rest: list[Numbered],
) -> None:
    look = render.style(context.env)
    parts = [render.thread_head(thread, look)]
    parts += [render.entry(one, look) for one in shown]
    say("\n\n".join(parts))
    if rest:
        topic = thread.state.topic
        remark(f"{len(rest)} more: wc read {topic} --from {rest[0].idx}")


def _mark(context: Context, state: State) -> None:
    """Move the read cursor, where the store can be written."""
    try:
        context.writer().mark_read(state)
    except (WcError, OSError) as error:
        remark(f"note: not marked as read: {error}")


@command(Seen)
def seen(context: Context, said: Seen) -> None:
    """Mark as read."""
    reader = context.reader
    if said.all:
        states = _readable(reader)
    else:
        topic = views.find_topic(reader, vocabulary.named(said.topic, "topic"))
        states = [reader.snapshot(topic).state]
    writer = context.writer()
    for state in states:
        writer.mark_read(state)
    topics = [state.topic for state in states]
    if said.json:
        say_json({"store": context.store, "seen": topics})
    else:
        say(f"seen: {', '.join(topics) or 'nothing'}")


def _readable(reader: StoreReader) -> list[State]:
    """Every thread that can be read; what cannot is said."""
    found = []
    for topic in reader.topics():
        try:
            found.append(reader.snapshot(topic).state)
        except NotFoundError:
            continue  # gone since it was listed, or never begun
        except WcError as error:
            remark(f"not marked as read: {topic}: {error}")
    return found


@command(Search)
def search(context: Context, said: Search) -> None:
    """Search."""
    query = " ".join(said.query)
    question = searching.Question(query, said.filter(), said.limit, said.cursor)
    hits = searching.search(context.reader, context.viewer, question)
    if said.json:
        say_json(hits.to_json(context.store, query))
        return
    look = render.style(context.env)
    say("\n".join(render.hit(one, look) for one in hits.hits))
    remark(f"{hits.total} found" + (", " + _more(hits.cursor) if hits.cursor else ""))
    if hits.unreadable:
        remark(f"not searched: {', '.join(hits.unreadable)} (see: wc doctor)")


def _more(cursor: str) -> str:
    return f"more: --cursor {cursor}"


@command(Updates)
def updates(context: Context, said: Updates) -> None:
    """Show what happened."""
    found = updating.updates(
        context.reader, context.viewer, said.since, now_ms(), said.limit
    )
    if said.json:
        say_json(found.to_json(context.store))
        return
    look = render.style(context.env)
    say("\n".join(render.update(topic, one, look) for topic, one in found.found))
    if not found.found:
        remark(f"Nothing since {said.since}.")
    if found.more:
        remark(f"{found.more} more: wc updates --since {found.next_since}")
    if found.unreadable:
        remark(f"not read: {', '.join(found.unreadable)} (see: wc doctor)")


@command(Reindex)
def reindex(context: Context, said: Reindex) -> None:
    """Write the index page."""
    rows = views.rows(context.reader, context.viewer)
    page = index.render(rows, closed=said.closed)
    writer = context.writer()
    writer.upkeep.put(writer.layout.index_page, page.encode(errors="replace"))
    if said.json:
        say_json({"store": context.store, "path": writer.layout.index_page})
    else:
        say(writer.layout.index_page)
