"""``wc read``: a thread with its entries, and its read mark."""

from __future__ import annotations

from wc_cli.commands.common import fill_topic
from wc_cli.commands.reading.options import ReadOptions
from wc_cli.commands.reading.paging import print_marked, rest_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import command
from wc_cli.run.output import remark, say, say_exact, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import is_for_people, output_style, terminal_width
from wc_cli.run.widths import wrapped
from wc_core.attention.wake.passes import pass_fields, pass_state
from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.ledger.threads import vocabulary
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views.spans import SpanQuery, thread_span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.index.parts import ThreadPart
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.spans import ThreadSpan

# Seconds to wait for a writer. If it takes longer, the next read moves the cursor.
_PATIENCE = 0.1
# Above the first new entry, where the pager starts.
_NEW_MARK = "── new ──"


@command(ReadOptions)
def read(context: Context, options: ReadOptions) -> None:
    """Show a thread."""
    options.start_at_last()
    fill_topic(context, options)
    reader = context.reader
    if options.only_marks:
        state = reader.snapshot(reader.find(options.topic)).state
        print_marked(context, [state], in_json=options.json)
        return
    branch, kind = options.branch.strip(), vocabulary.kind(options.kind)
    query = SpanQuery(
        options.start, options.limit, options.new, options.history, branch, kind
    )
    topic = reader.find(options.topic)
    span = thread_span(reader, topic, query, context.viewer)
    thread, entries, left_out, following = span
    is_part = bool(
        left_out or branch or kind or options.summary_only or options.commits
    )
    if options.commits:
        from wc_cli.commands.reading import commits  # 3 ms, only for commits

        commits.print_commits(context, span, in_json=options.json)
    elif options.summary_only:
        _print_summaries(context, options, span)
    elif options.json:
        fields = entry_views.read_json(thread, context.store, entries, following)
        passed = pass_fields(reader, thread.state, context.settings.directory)
        say_json(fields | passed)
    else:
        _print_thread(context, thread, entries, raw=options.raw)
    if not options.json:
        _remark_rest(options, span)
    # Summarised entries do not count as read.
    if not (options.peek or is_part):
        _mark_as_read(context, thread.state)


def _remark_rest(options: ReadOptions, span: ThreadSpan) -> None:
    if (options.branch or options.kind) and not span.entries:
        remark("No entry matches.")
    elif not span.entries and options.start > 0:
        last = span.thread.state.entry_count - 1
        remark(f"No entry is numbered {options.start} or higher; the last is {last}.")
    if span.left_out_count:
        remark(rest_text(options, span))


def _print_summaries(context: Context, options: ReadOptions, span: ThreadSpan) -> None:
    """Print the entries with summaries instead of texts."""
    # 2 ms, only for summaries.
    from wc_core.ledger.summaries.choosing import summary_of
    from wc_core.ledger.summaries.kept import read_kept

    state = span.thread.state
    kept = read_kept(context.reader.layout, state.topic)
    pairs = [(entry, summary_of(entry.entry, kept)) for entry in span.entries]
    if options.json:
        head = entry_views.read_json(span.thread, context.store, [], span.following)
        entries = [entry.to_summary_json(summary) for entry, summary in pairs]
        passed = pass_fields(context.reader, state, context.settings.directory)
        say_json(head | {"entries": entries} | passed)
        return
    style = output_style(context.env)
    head_text = entrytext.thread_head(span.thread, style, passed_text(context, state))
    texts = [entrytext.summary_text(entry, summary, style) for entry, summary in pairs]
    say("\n".join([head_text, "", *texts]))


def _print_thread(
    context: Context, thread: Thread | ThreadPart, entries: list[Numbered], *, raw: bool
) -> None:
    style = output_style(context.env)
    head = entrytext.thread_head(thread, style, passed_text(context, thread.state))
    if raw or not is_for_people(context.env):
        texts = (entrytext.entry_text(entry, style, is_raw=raw) for entry in entries)
        say_exact("\n\n".join([head, *texts]))
        return
    from wc_cli.run.terminal import pager  # 20 ms, only on a terminal

    # Agents run commands on terminals, too, and would hang in a pager.
    command = pager.pager_command(context.env) if context.identity.person else ""
    first_new = _first_new(context, thread, entries)
    title = thread.state.title
    parts = _rendered_parts(context, (head, title), entries, first_new)
    begin = _NEW_MARK if first_new >= 0 else ""
    pager.page_parts(parts, command, context.env, begin=begin)


def _first_new(
    context: Context, thread: Thread | ThreadPart, entries: list[Numbered]
) -> int:
    """Return the position of the first unread entry; -1 if none of the shown entries is
    old, or none is new."""
    viewer = context.viewer
    read = context.reader.cursor(thread.state.topic, viewer.key).entry_count
    new = (
        entry.idx
        for entry in entries
        if entry.idx >= read and not viewer.is_me(entry.entry.agent)
    )
    first = next(new, -1)
    return first if entries and first > entries[0].idx else -1


def _rendered_parts(
    context: Context, above: tuple[str, str], entries: list[Numbered], first_new: int
) -> Iterator[str]:
    """Yield the head and the entries as a terminal shows them, with a mark above the
    first new one. ``above`` is the head, and the title in it."""
    from wc_cli.run.terminal import markdown  # Rich: 200 ms, only on a terminal

    head, title = above
    console = markdown.console_of(context.env, terminal_width())
    now = now_ms()
    yield f"{wrapped(head, terminal_width())}\n"
    style = output_style(context.env)
    for entry in entries:
        if entry.idx == first_new:
            yield f"\n{style(_NEW_MARK, '33')}\n"
        yield "\n" + markdown.terminal_text(
            console, markdown.rendered_entry(entry, now, title)
        )


def _mark_as_read(context: Context, state: State) -> None:
    """Move the read cursor. If the store cannot be written, print a note."""
    try:
        context.writer().mark_read(state, _PATIENCE)
    except (WcError, OSError) as error:
        remark(one_line(f"note: not marked as read: {error}"))


def passed_text(context: Context, state: State) -> str:
    """Return how far someone else's ball has come, as seen on this machine."""
    if context.viewer.holds(state.ball):
        return ""
    passed = pass_state(context.reader, state, context.settings.directory)
    return passed.sentence(now_ms()) if passed is not None else ""
