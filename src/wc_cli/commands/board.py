"""``wc board``: the threads by holder, live at a terminal, else printed once."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from wc_cli.board import view
from wc_cli.board.cards import CardFilter
from wc_cli.board.source import BoardSource
from wc_cli.board.view import Board, Painter
from wc_cli.clock import now_ms
from wc_cli.commands.words import Speaker
from wc_cli.options import command, flag, number, text
from wc_cli.output import remark, say, say_json
from wc_cli.terminal import render
from wc_core.phrases import counted
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.board.cards import CardColumn
    from wc_cli.context import Context

_WIDTH = 80
_CARDS = 10
_CODES = {
    view.DIM: ("2",),
    view.NAME: ("1",),
    view.MINE: ("1", "33"),
    view.BOLD: ("1",),
    view.NEW: ("32",),
    view.WARNING: ("31",),
}


class BoardWords(Speaker):
    """Show all threads by who holds the ball, live: yours first. Where nobody
    looks it is printed once."""

    filter: str = text("--filter", "WORDS", "Only threads that have all these words.")
    closed: bool = flag("--closed", help="Closed threads too.")
    once: bool = flag("--once", help="Print it once, and end.")
    limit: int = number(
        "--limit", "Printed once: cards in a column (0: all).", default=_CARDS
    )
    write: bool = flag("--write", help="With keys that write, each asked about first.")
    ascii: bool = flag("--ascii", help="Nothing but ASCII.")


@command(BoardWords)
def board(context: Context, said: BoardWords) -> None:
    """Show the board."""
    context.remember()
    source = BoardSource(context)
    wanted = CardFilter(one_line(said.filter), said.closed)
    ascii_only = said.ascii or context.env.get("WATERCOOLER_ASCII", "") not in {"", "0"}
    signs = view.ASCII if ascii_only else view.DRAWN
    live = sys.stdin.isatty() and render.is_for_people(context.env)
    if live and not (said.once or said.json):
        from wc_cli.board import app  # Textual: 200 ms, for a live board alone

        app.run(source, wanted, signs, write=said.write)
        return
    source.refresh()
    source.neighbours()
    columns = source.columns(wanted)
    if said.json:
        now = now_ms()
        shown = [one.to_json(now) for one in columns]
        say_json({"store": context.store, "columns": shown})
        return
    look = render.output_style(context.env)
    lines = _printed(columns, said.limit, signs)
    say("\n".join(_coloured(line, look) for line in lines))
    _remarks(source, columns, said)


def _printed(
    columns: tuple[CardColumn, ...], limit: int, signs: view.BoardSigns
) -> Iterator[list[tuple[str, str]]]:
    """The lines of all columns, as many beside each other as fit."""
    width = shutil.get_terminal_size((_WIDTH, 1)).columns
    count = view.size_of(Board(columns), width, 1).columns
    for start in range(0, len(columns), count):
        shown = columns[start : start + count]
        most = max(len(one.cards) for one in shown)
        height = view.HEAD + view.CARD * max(1, min(most, limit or most))
        whole = Board(shown)
        size = view.size_of(whole, width, height)
        painter = Painter(whole, size, now_ms(), signs, marking=False)
        for y in range(height):
            yield list(painter.line(y))


def _coloured(line: list[tuple[str, str]], look: render.Style) -> str:
    plain = "".join(text for text, _ in line).rstrip()
    if not look.color:
        return plain
    return "".join(look(text, *_CODES.get(style, ())) for text, style in line)


def _remarks(
    source: BoardSource, columns: tuple[CardColumn, ...], said: BoardWords
) -> None:
    """What is not on the board, and why."""
    if source.problem:
        remark(f"threads left out: {one_line(source.problem)}")
    if not source.count:
        remark("No threads here. Start one with: wc new TOPIC --title '…'")
    rest = sum(max(0, len(one.cards) - said.limit) for one in columns)
    if said.limit and rest:
        remark(f"{counted(rest, 'thread')} more: wc board --once --limit 0")
