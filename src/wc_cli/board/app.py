"""The live board: a Textual application over `wc_cli.board.view`.

One widget draws the cards in sight and no others, so that a thousand threads
cost what ten do. Nothing is written but by the keys of ``--write``.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from wc_cli.board import panes, view, watch
from wc_cli.board.keys import Writing
from wc_cli.board.view import Board, Painter
from wc_cli.clock import now_ms
from wc_cli.terminal import worktrees
from wc_cli.terminal.render import Style as Plain
from wc_core.errors import NotFoundError, WcError
from wc_core.phrases import counted
from wc_core.text import clean, one_line

if TYPE_CHECKING:
    from textual import events

    from wc_cli.board.cards import CardFilter
    from wc_cli.board.source import BoardSource
    from wc_cli.board.view import BoardSigns, Size
    from wc_core.views.worktrees import Neighbour

# Seconds between looks at what no watcher tells of: ages, loops, other folders.
LOOK = 5.0
_HUNG_UP = 128 + signal.SIGHUP
_STYLES = {
    view.PLAIN: Style(),
    view.DIM: Style(dim=True),
    view.NAME: Style(bold=True, color="cyan"),
    view.MINE: Style(bold=True, color="yellow"),
    view.BOLD: Style(bold=True),
    view.NEW: Style(bold=True, color="green"),
    view.WARNING: Style(color="red"),
    view.SELECTED: Style(bold=True, reverse=True),
}


def run(
    source: BoardSource, wanted: CardFilter, signs: BoardSigns, *, write: bool
) -> None:
    """Show the board until it is quit.

    Raises NotFoundError when the store disappears, KeyboardInterrupt on
    Ctrl-C; ends by SIGTERM where that came.
    """
    app = BoardApp(source, wanted, signs, write=write)
    threading.Thread(target=_end_with_terminal, daemon=True).start()
    app.run()
    if app.return_code:
        raise WcError("The board ended by a fault of its own.", "Please report it.")
    if app.ended == panes.GONE:
        raise NotFoundError(
            f"The store {source.layout.root} is not there any more.",
            "Look for it with: wc doctor",
        )
    if app.ended == panes.INTERRUPTED:
        raise KeyboardInterrupt
    if app.ended == panes.TERMINATED:
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def _end_with_terminal() -> None:
    """End the process when its terminal is gone, signal or not.

    Textual would go on: it reads nothing without end, and waits for ever to have
    written what nobody takes.
    """
    terminal = select.poll()
    terminal.register(sys.stdin.fileno(), 0)  # nothing but that it hangs up
    terminal.poll()
    os._exit(_HUNG_UP)


class Cards(Widget, can_focus=True):
    """The columns and cards in sight."""

    class Opened(Message):
        """The chosen card is to be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1, 0)"),
        Binding("right,l", "move(1, 0)"),
        Binding("up,k", "move(0, -1)"),
        Binding("down,j", "move(0, 1)"),
        Binding("pageup,ctrl+b", "page(-1)"),
        Binding("pagedown,ctrl+f,space", "page(1)"),
        Binding("home,g", "move(0, -1000000)"),
        Binding("end,G", "move(0, 1000000)"),
        Binding("enter", "open"),
    ]

    def __init__(self, signs: BoardSigns) -> None:
        super().__init__()
        self.board = Board()
        self.signs = signs
        self._painter: Painter | None = None

    @property
    def measures(self) -> Size:
        """The measures of the board as it stands."""
        return view.size_of(self.board, *self.size)

    def show(self, board: Board) -> None:
        """Draw another board."""
        self.board = view.scrolled(board, view.size_of(board, *self.size))
        self._painter = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line of what is in sight."""
        if self._painter is None:
            self._painter = Painter(self.board, self.measures, now_ms(), self.signs)
        base = self.rich_style
        segments = [
            Segment(text, base + _STYLES[style])
            for text, style in self._painter.line(y)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_resize(self) -> None:
        """Keep the chosen card in sight."""
        self.show(self.board)

    def action_move(self, right: int, down: int) -> None:
        """Choose another card."""
        self.show(self.board.moved(right, down))

    def action_page(self, pages: int) -> None:
        """Choose the card that is a screen further."""
        self.show(self.board.moved(0, pages * self.measures.cards))

    def action_open(self) -> None:
        """Open the chosen card."""
        if self.board.chosen is not None:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Choose the card that was clicked; open it when it was chosen."""
        found = view.card_at(self.board, self.measures, event.x, event.y)
        if found is None:
            return
        before = self.board.chosen
        place, row = found
        column = self.board.columns[place]
        rows = {**self.board.rows, column.key: row}
        self.show(self.board._replace(column=place, rows=rows))
        if self.board.chosen == before:
            self.action_open()

    def on_mouse_scroll_down(self) -> None:
        """Go down."""
        self.action_move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        """Go up."""
        self.action_move(0, -1)


class BoardApp(App[None]):
    """The board of a store."""

    ENABLE_COMMAND_PALETTE = False
    CSS = panes.CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave"),
        Binding("ctrl+c", "leave('interrupted')", priority=True),
        Binding("slash", "filter"),
        Binding("escape", "unfilter"),
        Binding("c", "closed"),
        Binding("w", "worktrees"),
        Binding("r", "look"),
        Binding("question_mark,f1", "help"),
        *(Binding(key, f"write('{name}')") for key, name in panes.KEYS.items()),
    ]

    def __init__(
        self,
        source: BoardSource,
        wanted: CardFilter,
        signs: BoardSigns,
        *,
        write: bool = False,
    ) -> None:
        super().__init__(ansi_color=True)
        self.source = source
        self.wanted = wanted
        self.writing = Writing(source.context) if write else None
        self.cards = Cards(signs)
        self.found: list[Neighbour] = []
        self.ended = ""
        self.heard = ""
        self.reading = asyncio.Lock()

    def compose(self) -> ComposeResult:
        """A line above, the cards, what to find, a line below."""
        with Vertical():
            yield Static(id="top")
            yield Static(id="loops")
            yield self.cards
            yield Input(
                self.wanted.words, placeholder="words to filter by", id="filter"
            )
            yield Static(id="said")
            yield Static(panes.FOOT, id="foot")

    async def on_mount(self) -> None:
        """Read what is there, and listen for what changes."""
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(one, self.action_leave, panes.TERMINATED)
        self.cards.focus()
        self.run_worker(self._follow())
        self.set_interval(LOOK, self.action_look)

    async def _follow(self) -> None:
        """Follow the store: all of it once, then what changes."""
        await self._renew(None)
        while True:
            async for topics in watch.changes(self.source, self._hears):
                await self._renew(topics)
            await asyncio.sleep(LOOK)  # there may be more to watch by then

    def _hears(self, problem: str) -> None:
        self.heard = problem

    async def _renew(self, topics: set[str] | None) -> None:
        """Read these threads (None: those that changed), and show it."""
        if self.source.is_gone:
            self.action_leave(panes.GONE)
            return
        async with self.reading:
            await asyncio.to_thread(self.source.refresh, topics)
            if topics is None:
                _, self.found = await asyncio.to_thread(self.source.neighbours)
        self.draw()
        for screen in self.screen_stack:
            if isinstance(screen, panes.ThreadScreen):
                screen.renew(topics)

    def draw(self) -> None:
        """Show what is known now."""
        columns = self.source.columns(self.wanted)
        self.cards.show(self.cards.board.renewed(columns))
        self.query_one("#top", Static).update(self._top())
        loops = self.query_one("#loops", Static)
        text = self._loops()
        loops.display = bool(text.plain)
        loops.update(text)

    def _top(self) -> Text:
        source = self.source
        author = source.context.identity.author
        mine = next((len(c.cards) for c in self.cards.board.columns if c.mine), 0)
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {one_line(author)}", "bold")
        text.append(f" · {mine} of {counted(source.count, 'thread')} yours")
        if not source.count:
            text.append(" · start one with: wc new TOPIC --title '…'")
        if self.wanted.words:
            text.append(f" · /{one_line(self.wanted.words)}", "bold")
        if self.writing is not None:
            text.append(" · writing", "bold yellow")
        for problem in filter(None, (source.problem, self.heard)):
            text.append(f" · {one_line(problem)}", "red")
        return text

    def _loops(self) -> Text:
        """A line for each loop that runs, or waits for somebody."""
        text = Text(no_wrap=True, overflow="ellipsis")
        for one in self.found:
            if one.loop is None or one.loop.seen.stale:
                continue
            said = one_line(f"{one.name}: loop {one.loop.turn} {one.loop.says}")
            style = "bold yellow" if one.loop.waits_for_human else "dim"
            text.append("\n " if text.plain else " ")
            text.append(said, style)
        return text

    async def action_look(self) -> None:
        """Look at everything again."""
        await self._renew(None)

    def action_leave(self, how: str = "") -> None:
        """End."""
        self.ended = how
        self.exit()

    # --- what is shown -------------------------------------------------------

    def action_filter(self) -> None:
        """Ask for words."""
        box = self.query_one("#filter", Input)
        box.display = True
        self.screen.set_focus(box)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the threads that have these words."""
        if event.input.id == "filter":
            self.wanted = self.wanted._replace(words=event.value)
            self.draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the words, and go back to the cards."""
        if event.input.id == "filter":
            event.input.display = False
            self.screen.set_focus(self.cards)

    def action_unfilter(self) -> None:
        """Forget the words."""
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self.screen.set_focus(self.cards)

    def action_closed(self) -> None:
        """Show closed threads, or hide them."""
        self.wanted = self.wanted._replace(closed=not self.wanted.closed)
        self.draw()

    def on_cards_opened(self) -> None:
        """Open the chosen thread."""
        card = self.cards.board.chosen
        if card is not None:
            self.push_screen(panes.ThreadScreen(self.source, card))

    def action_help(self) -> None:
        """Say which keys there are."""
        text = panes.help_text(writing=self.writing is not None)
        self.push_screen(panes.TextScreen("Keys", text))

    async def action_worktrees(self) -> None:
        """Show what goes on in each worktree."""
        look, found = await asyncio.to_thread(self.source.neighbours)
        text = worktrees.worktrees_text(found, look, Plain(color=False))
        shown = text or "There is no git repository here."
        self.push_screen(panes.TextScreen("Worktrees", shown))

    # --- writing -------------------------------------------------------------

    def action_write(self, name: str) -> None:
        """Ask what to write of the chosen thread, and whether to."""
        card = self.cards.board.chosen
        if card is not None:
            self.ask(name, card.topic)

    def ask(self, name: str, topic: str) -> None:
        """Ask what to write of a thread, and whether to."""
        if self.writing is None:
            self.tell("Keys that write: wc board --write")
        else:
            asking = panes.AskScreen(name, topic, self.writing)
            self.push_screen(asking, self._wrote)

    async def _wrote(self, receipt: str | None) -> None:
        """Show the receipt of what was written."""
        if receipt:
            self.tell(receipt)
            await self._renew(None)

    def tell(self, text: str) -> None:
        """Say something in the last lines, until the next key."""
        for said in self.screen.query("#said").results(Static):
            said.update(Text(clean(text)))
            said.display = bool(text)

    def on_key(self, event: events.Key) -> None:
        """What was said has been read; a key that was typed before the words to
        filter by had the focus is one of them."""
        self.tell("")
        box = self.query_one("#filter", Input)
        if box.display and event.character and event.is_printable:
            box.insert_text_at_cursor(event.character)
            event.prevent_default()
