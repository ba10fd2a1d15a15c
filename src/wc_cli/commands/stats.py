"""``wc stats``: how the ball of a thread moved, or figures of a whole store."""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_cli.run.entries import localtopic
from wc_cli.run.options import Options, argument, command, flag, number, text
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import render
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import InvalidInputError
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import holder_text
from wc_core.reading.views import history, stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.base.phrases import Table


class StatsOptions(Options):
    """Show who had the ball of a thread and for how long. With --all, or if this
    worktree has no open thread, or several, show figures of all threads: balls, stale
    ones, authors."""

    topic: str = argument(
        "TOPIC",
        "The thread (default: the one that the prompt shows).",
        default=None,
        complete="topic",
    )
    all: bool = flag("--all", help="Show figures of all threads (always, in JSON).")
    stale_after: str = text(
        "--stale-after",
        "AGE",
        f"For figures of all: when a ball is stale (default: {stats.STALE_AFTER}).",
    )
    limit: int = number(
        "--limit",
        "At most this many rows in a list (0: all).",
        default=stats.ROWS,
        short="-n",
    )


@command(StatsOptions)
def show_stats(context: Context, options: StatsOptions) -> None:
    """Show the history of one thread, or the figures of all."""
    if options.all and options.topic:
        raise InvalidInputError(
            "A topic and --all exclude each other.", "Use one of them: wc help stats"
        )
    if not _is_about_all(options):
        _fill_if_only(context, options)
    stale_ms = stats.stale_after_ms(options.stale_after or stats.STALE_AFTER)
    style = output_style(context.env)
    if options.topic is not None:
        fields = _history_json(context, options)
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
        remark("there is more: --limit 0 shows everything")


def _is_about_all(options: StatsOptions) -> bool:
    return bool(options.all or options.stale_after or options.json)


def _fill_if_only(context: Context, options: StatsOptions) -> None:
    """Fill in the topic as `fill_topic` does, but leave it out if no thread or several
    are open: the figures need no topic."""
    if options.topic is not None:
        return
    threads = localtopic.prompt_threads(context)
    if len(threads) == 1:
        options.topic = threads[0].topic


def _history_json(context: Context, options: StatsOptions) -> dict[str, Any]:
    reader = context.reader
    thread = reader.thread(reader.find(options.topic))
    spells = history.thread_history(thread, now_ms(), context.settings.directory)
    return spells.to_json(thread, context.store, options.limit)


def history_lines(fields: dict[str, Any], style: Style) -> list[str]:
    """Return the history shape as lines: a summary, then one for each spell."""
    ball = f"ball: {holder_text(fields['ball'])}"
    facts = [fields["status"], ball, *history.history_facts(fields)]
    spells = [
        {**spell, "since": render.shown_stamp(spell["since"])}
        for spell in fields["spells"]
    ]
    return [
        style(one_line(f"{fields['topic']}: {fields['title']}"), "1"),
        one_line(" · ".join(facts)),
        *(f"damage: {one_line(damage)}" for damage in fields.get("damage", ())),
        *_table_lines(history.history_table({**fields, "spells": spells}), style),
    ]


def figure_lines(fields: dict[str, Any], style: Style) -> list[str]:
    """Return the stats shape as lines: how many threads there are, then its tables."""
    total, by_status = stats.stats_total(fields)
    lines = [one_line(f"{total}: {by_status}" if by_status else total)]
    for table in stats.stats_tables(fields):
        lines += _table_lines(table, style)
    if note := stats.stats_note(fields):
        lines += ["", note]
    return lines


def _table_lines(table: Table, style: Style) -> list[str]:
    return ["", *render.table_lines(table, style)] if table.rows else []
