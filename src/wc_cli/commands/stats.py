"""``wc stats``: how the ball of a thread went round, or a store in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_cli.clock import now_ms
from wc_cli.commands.common import SpeakerOptions
from wc_cli.options import argument, command, number, text
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.moves import holder_text
from wc_core.views import history, stats

if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_cli.terminal.render import Style
    from wc_core.phrases import Table


class StatsOptions(SpeakerOptions):
    """Show who had the ball of a thread and for how long; without a topic,
    the figures of all threads: balls, stale ones, authors."""

    topic: str = argument("TOPIC", "The thread.", default="", complete="topic")
    stale_after: str = text(
        "--stale-after",
        "AGE",
        "A ball held for longer is stale.",
        default=stats.STALE_AFTER,
    )
    limit: int = number(
        "--limit", "At most this many rows in a list (0: all).", default=stats.ROWS
    )


@command(StatsOptions)
def show(context: Context, options: StatsOptions) -> None:
    """Show the one or the other."""
    stale_ms = stats.stale_after_ms(options.stale_after)
    style = render.output_style(context.env)
    if options.topic:
        fields = _history(context, options)
        lines = history_lines(fields, style)
    else:
        figures = stats.store_stats(context.reader, context.viewer, now_ms(), stale_ms)
        fields = figures.to_json(context.store, options.limit)
        lines = figure_lines(fields, style)
    if options.json:
        say_json(fields)
        return
    say("\n".join(lines))
    if fields.get("truncated"):
        remark("there is more: --limit 0 shows all of it")


def _history(context: Context, options: StatsOptions) -> dict[str, Any]:
    reader = context.reader
    thread = reader.thread(reader.find(options.topic))
    ball_history = history.thread_history(thread, now_ms(), context.settings.directory)
    return ball_history.to_json(thread, context.store, options.limit)


def history_lines(fields: dict[str, Any], style: Style) -> list[str]:
    """The history shape: what it comes to, and a line for each spell."""
    ball = f"ball: {holder_text(fields['ball'])}"
    facts = [fields["status"], ball, *history.history_facts(fields)]
    return [
        style(one_line(f"{fields['topic']}: {fields['title']}"), "1"),
        one_line(" · ".join(facts)),
        *(f"damage: {one_line(one)}" for one in fields.get("damage", ())),
        *_table(history.history_table(fields), style),
    ]


def figure_lines(fields: dict[str, Any], style: Style) -> list[str]:
    """The stats shape: how many threads there are, and its tables."""
    threads, recent = fields["threads"], fields["recent"]
    each = ", ".join(f"{n} {one}" for one, n in threads["by_status"].items())
    lines = [
        one_line(counted(threads["total"], "thread") + (f": {each}" if each else ""))
    ]
    for one in stats.stats_tables(fields):
        lines += _table(one, style)
    if recent["threads"] < threads["total"]:
        read = counted(recent["threads"], "thread")
        lines += ["", f"authors and bounces: of the {read} that moved last"]
    return lines


def _table(shown: Table, style: Style) -> list[str]:
    return ["", *render.table_lines(shown, style)] if shown.rows else []
