"""``wc board``: the threads by holder of the ball; live on a terminal, otherwise
printed once."""

from __future__ import annotations

import shutil
import sys

from wc_cli.commands.common import no_threads_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.board import view
from wc_cli.run.board.cards import CardFilter
from wc_cli.run.board.source import BoardSource
from wc_cli.run.board.view import Painter
from wc_cli.run.options import Options, command, flag, number, text
from wc_cli.run.output import remark, say_exact, say_json
from wc_cli.run.terminal.style import Style, agent_codes, is_for_people, output_style
from wc_core.base.phrases import counted
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.board.cards import CardColumn
    from wc_cli.run.context import Context
    from wc_core.base.names import Directory

_WIDTH = 80
_CARDS = 10
_CODES = {
    view.DIM: ("2",),
    view.NAME: ("1",),
    view.YOURS: ("1", "33"),
    view.BOLD: ("1",),
    view.NEW: ("32",),
    view.WARNING: ("31",),
}


class BoardOptions(Options):
    """Show all threads by holder, yours first. When output is not a terminal, it is
    printed once."""

    filter: str = text(
        "--filter", "WORDS", "Only threads that contain all these words."
    )
    closed: bool = flag("--closed", help="Include closed threads.")
    once: bool = flag("--once", help="Print it once and exit.")
    limit: int = number(
        "--limit",
        "When printed once: cards per column (0: all).",
        default=_CARDS,
        short="-n",
    )
    ascii: bool = flag("--ascii", help="Only ASCII characters.")


@command(BoardOptions)
def board(context: Context, options: BoardOptions) -> None:
    """Show the board."""
    context.remember()
    source = BoardSource(context)
    # Programs get all threads.
    folds = not options.json
    card_filter = CardFilter(one_line(options.filter), options.closed, folds)
    signs = view.ASCII if options.ascii else view.UNICODE
    live = sys.stdin.isatty() and is_for_people(context.env)
    if live and not (options.once or options.json):
        from wc_cli.run.board import live as live_board  # Rich, only for a live board

        live_board.run(source, card_filter, signs)
        return
    source.refresh()
    source.neighbours()
    columns = source.columns(card_filter)
    if options.json:
        now = now_ms()
        fields = [column.to_json(now) for column in columns]
        say_json({"store": context.store, "columns": fields})
        return
    style = output_style(context.env)
    lines = _board_lines(columns, options.limit, signs, context.settings.directory)
    say_exact("\n".join(_with_colors(line, style) for line in lines))
    _print_remarks(context, source, columns, options)


def _board_lines(
    columns: tuple[CardColumn, ...],
    limit: int,
    signs: view.BoardSigns,
    directory: Directory,
) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of all columns, as many side by side as fit."""
    width = shutil.get_terminal_size((_WIDTH, 1)).columns
    count = view.layout_size(len(columns), width, 1).columns
    for start in range(0, len(columns), count):
        row = columns[start : start + count]
        most = max(len(column.cards) for column in row)
        height = view.HEAD + view.CARD * max(1, min(most, limit or most))
        size = view.layout_size(len(row), width, height)
        painter = Painter(row, size, now_ms(), signs, directory)
        for y in range(height):
            yield list(painter.line(y))


def _with_colors(line: list[tuple[str, str]], style: Style) -> str:
    plain = "".join(text for text, _ in line).rstrip()
    if not style.color:
        return plain
    return "".join(style(text, *_codes(role)) for text, role in line)


def _codes(role: str) -> tuple[str, ...]:
    if role.startswith(view.AGENT):
        return agent_codes(int(role.removeprefix(view.AGENT)))
    return _CODES.get(role, ())


def _print_remarks(
    context: Context,
    source: BoardSource,
    columns: tuple[CardColumn, ...],
    options: BoardOptions,
) -> None:
    """Print what the board left out, and why."""
    if source.problem:
        remark(f"threads left out: {one_line(source.problem)}")
    if source.travels:
        remark(source.travels)
    if not source.count:
        remark(no_threads_text(context))
    left_out = sum(max(0, len(column.cards) - options.limit) for column in columns)
    if options.limit and left_out:
        remark(f"{counted(left_out, 'thread')} more: wc board --once --limit 0")
