"""``wc updates``: the entries of all threads that were written since a time."""

from __future__ import annotations

from wc_cli.commands.reading.options import UpdatesOptions
from wc_cli.commands.reading.paging import (
    command_line,
    print_marked,
    readable_states,
    topic_list,
)
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import command
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import entrytext
from wc_cli.run.terminal.style import output_style
from wc_core.base.text import one_line
from wc_core.reading.views import updates as update_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.context import Context
    from wc_core.reading.views.updates import Updates


@command(UpdatesOptions)
def updates(context: Context, options: UpdatesOptions) -> None:
    """Show what happened."""
    if options.only_marks:
        states = readable_states(context.reader)
        print_marked(context, states, in_json=options.json)
        return
    overview = context.overview
    news = update_views.updates(
        overview,
        options.since,
        now_ms(),
        options.limit,
        branch=options.branch.strip(),
        open_engine=lambda: context.search_engine(overview),
    )
    if options.json:
        say_json(news.to_json(context.store))
        return
    style = output_style(context.env)
    lines = (
        entrytext.update_line(topic, items, style)
        for topic, items in update_views.joined(news.entries)
    )
    say("\n".join(lines))
    if remarks := "\n".join(_remarks(options, news)):
        remark(remarks)


def _remarks(options: UpdatesOptions, news: Updates) -> Iterator[str]:
    """Yield the lines below the entries: how many more there are, and what could not be
    read."""
    if not news.entries:
        yield one_line(f"Nothing since {options.since}.")
    if news.more:
        following = command_line("updates", options, since=news.next_since)
        yield f"{news.more} more: {following}"
    if news.unreadable:
        yield f"not read: {topic_list(news.unreadable)} (see: wc doctor)"
