"""The live board: a Textual application on top of `wc_cli.run.board.view`.

A single widget draws only the visible cards, so a thousand threads cost the same as
ten. Only the keys of ``--write`` write anything.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from wc_cli.ledger.clock import now_ms
from wc_cli.run.board import panes, view, watch
from wc_cli.run.board.helplines import Help
from wc_cli.run.board.keys import CommandRunner, edits
from wc_cli.run.board.typeahead import TypeAheadApp
from wc_cli.run.board.view import Board, Painter
from wc_cli.run.board.worktreelines import worktree_lines
from wc_cli.run.terminal import worktrees
from wc_cli.run.terminal.style import Style as Plain
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.phrases import counted
from wc_core.base.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events

    from wc_cli.run.board.cards import CardFilter
    from wc_cli.run.board.source import BoardSource
    from wc_cli.run.board.view import BoardSigns, Size
    from wc_core.base.names import Directory
    from wc_core.edits.claims.record import Claim
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.worktrees import Neighbour

# Seconds between refreshes of what is not watched: ages, loops, other folders.
REFRESH_EVERY = 5.0
_EXIT_ON_HANGUP = 128 + signal.SIGHUP
_STYLES = {
    view.PLAIN: Style(),
    view.DIM: Style(dim=True),
    view.NAME: Style(bold=True, color="cyan"),
    view.YOURS: Style(bold=True, color="yellow"),
    view.BOLD: Style(bold=True),
    view.NEW: Style(bold=True, color="green"),
    view.WARNING: Style(color="red"),
    view.SELECTED: Style(bold=True, reverse=True),
}


def _style(name: str) -> Style:
    if name.startswith(view.AGENT):
        color = Color.from_ansi(int(name.removeprefix(view.AGENT)))
        return Style(color="bright_white", bgcolor=color)
    return _STYLES[name]


def run(
    source: BoardSource, card_filter: CardFilter, signs: BoardSigns, *, write: bool
) -> None:
    """Show the board until the user quits.

    Raises NotFoundError if the store disappears, and KeyboardInterrupt on Ctrl-C. On
    SIGTERM, the process restores the terminal and then ends by that signal.
    """
    app = BoardApp(source, card_filter, signs, write=write)
    threading.Thread(target=_exit_on_hangup, daemon=True).start()
    app.run()
    if app.return_code:
        raise WcError("The board failed because of a bug.", "Please report it.")
    if app.end_reason == panes.GONE:
        raise NotFoundError(
            f"The store {source.layout.root} is no longer there.",
            "Look for it with: wc doctor",
        )
    if app.end_reason == panes.INTERRUPTED:
        raise KeyboardInterrupt
    if app.end_reason == panes.TERMINATED:
        sys.stdout.flush()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def _exit_on_hangup() -> None:
    """Exit the process when its terminal is closed, even if no signal arrives.

    Textual would not exit: it would read from the closed terminal forever, and wait for
    its output to be read.
    """
    terminal = select.poll()
    terminal.register(sys.stdin.fileno(), 0)  # only a hang-up
    terminal.poll()
    os._exit(_EXIT_ON_HANGUP)


class Cards(Widget, can_focus=True):
    """The visible columns and cards."""

    class Opened(Message):
        """The user opened the chosen card."""

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

    def __init__(self, signs: BoardSigns, directory: Directory) -> None:
        super().__init__()
        self.board = Board()
        self.signs = signs
        self.directory = directory
        self._painter: Painter | None = None

    @property
    def layout_size(self) -> Size:
        """The layout of the current board on this widget."""
        return view.layout_size(self.board, *self.size)

    def show(self, board: Board) -> None:
        """Draw a new version of the board."""
        self.board = view.scroll_to_chosen(board, view.layout_size(board, *self.size))
        self._painter = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        if self._painter is None:
            self._painter = Painter(
                self.board,
                self.layout_size,
                now_ms(),
                self.signs,
                directory=self.directory,
            )
        base = self.rich_style
        segments = [
            Segment(text, base + _style(style)) for text, style in self._painter.line(y)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_resize(self) -> None:
        """Scroll so that the chosen card stays visible."""
        self.show(self.board)

    def action_move(self, right: int, down: int) -> None:
        """Choose the card that is this many columns and rows away."""
        self.show(self.board.moved(right, down))

    def action_page(self, pages: int) -> None:
        """Choose the card this many screens further."""
        self.show(self.board.moved(0, pages * self.layout_size.cards))

    def action_open(self) -> None:
        """Open the chosen card."""
        if self.board.chosen is not None:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked card, or open it if it was chosen already."""
        clicked = view.card_at(self.board, self.layout_size, event.x, event.y)
        if clicked is None:
            return
        previous = self.board.chosen
        place, row = clicked
        column = self.board.columns[place]
        rows = {**self.board.rows, column.key: row}
        self.show(self.board._replace(column=place, rows=rows))
        if self.board.chosen == previous:
            self.action_open()

    def on_mouse_scroll_down(self) -> None:
        """Choose the next card."""
        self.action_move(0, 1)

    def on_mouse_scroll_up(self) -> None:
        """Choose the previous card."""
        self.action_move(0, -1)


class BoardApp(TypeAheadApp):
    """The board application."""

    ENABLE_COMMAND_PALETTE = False
    CSS = panes.CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave"),
        Binding("ctrl+c", "leave('interrupted')", priority=True),
        Binding("slash", "filter"),
        Binding("escape", "unfilter"),
        Binding("c", "closed"),
        Binding("w", "worktrees"),
        Binding("v", "plan"),
        Binding("r", "refresh"),
        Binding("question_mark,f1", "help"),
        *(Binding(key, f"write('{name}')") for key, name in panes.KEYS.items()),
    ]

    def __init__(
        self,
        source: BoardSource,
        card_filter: CardFilter,
        signs: BoardSigns,
        *,
        write: bool = False,
    ) -> None:
        super().__init__()
        self.source = source
        self.card_filter = card_filter
        self.runner = CommandRunner(source.context) if write else None
        self.cards = Cards(signs, source.context.settings.directory)
        self.neighbours: list[Neighbour] = []
        self.claims: tuple[Claim, ...] = ()
        self.approvals: tuple[OutdatedApproval, ...] = ()
        self.end_reason = ""
        self.watch_problem = ""
        self.read_lock = asyncio.Lock()

    def compose(self) -> ComposeResult:
        """The top line, loops, the cards, the filter, messages and the bottom line."""
        with Vertical():
            yield Static(id="top")
            yield Static(id="worktrees")
            yield self.cards
            yield Input(
                self.card_filter.words, placeholder="words to filter by", id="filter"
            )
            yield Static(id="message")
            is_writing = self.runner is not None
            foot = panes.WRITING_FOOT if is_writing else panes.FOOT
            yield Static(foot, id="foot")

    async def on_mount(self) -> None:
        """Start reading the store and watching it for changes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.action_leave, panes.TERMINATED)
        self.cards.focus()
        self.run_worker(self._follow())
        self.set_interval(REFRESH_EVERY, self.action_refresh)

    async def _follow(self) -> None:
        """Read the whole store once, then every change."""
        await self._refresh_board(None)
        while True:
            async for topics in watch.changes(self.source, self._set_watch_problem):
                await self._refresh_board(topics)
            await asyncio.sleep(REFRESH_EVERY)  # the folders may exist by then

    def _set_watch_problem(self, problem: str) -> None:
        self.watch_problem = problem

    async def _refresh_board(self, topics: set[str] | None) -> None:
        """Read these threads again and redraw; None reads all that changed."""
        if self.source.is_gone:
            self.action_leave(panes.GONE)
            return
        async with self.read_lock:
            await asyncio.to_thread(self.source.refresh, topics)
            if topics is None:
                _, self.neighbours = await asyncio.to_thread(self.source.neighbours)
                self.claims = await asyncio.to_thread(self.source.claims)
                self.approvals = await asyncio.to_thread(self.source.approvals)
        self.update_widgets()
        for screen in self.screen_stack:
            if isinstance(screen, panes.ThreadScreen):
                screen.reload(topics)

    def update_widgets(self) -> None:
        """Update the widgets from what has been read."""
        if not self.query("#top"):
            return  # they are gone: a change arrived while the board was closing
        columns = self.source.columns(self.card_filter)
        self.cards.show(self.cards.board.with_columns(columns))
        self.query_one("#top", Static).update(self._top_line())
        trees = self.query_one("#worktrees", Static)
        text = worktree_lines(self.neighbours, self.claims, self.approvals)
        trees.display = bool(text.plain)
        trees.update(text)

    def _top_line(self) -> Text:
        source = self.source
        author = source.context.identity.author
        columns = self.cards.board.columns
        yours = sum(len(column.cards) for column in columns if column.is_yours)
        shown = sum(len(column.cards) for column in columns)
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {one_line(author)}", "bold")
        text.append(f" · {yours} of {counted(shown, 'thread')} yours")
        if not source.count:
            text.append(" · start one with: wc new TOPIC -m '…'")
        if self.card_filter.words:
            text.append(f" · /{one_line(self.card_filter.words)}", "bold")
        if self.runner is not None:
            text.append(" · writing", "bold yellow")
        if source.travels:
            text.append(f" · {source.travels}", "yellow")
        for problem in filter(None, (source.problem, self.watch_problem)):
            text.append(f" · {one_line(problem)}", "red")
        return text

    async def action_refresh(self) -> None:
        """Check all threads and worktrees again."""
        await self._refresh_board(None)

    def action_leave(self, how: str = "") -> None:
        """Exit, and remember the reason."""
        self.end_reason = how
        self.exit()

    # --- showing ----------------------------------------------------------

    def action_filter(self) -> None:
        """Open the filter's input box."""
        box = self.query_one("#filter", Input)
        box.display = True
        self.screen.set_focus(box)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show only the threads that contain these words."""
        if event.input.id == "filter":
            self.card_filter = self.card_filter._replace(words=event.value)
            self.update_widgets()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter and return to the cards."""
        if event.input.id == "filter":
            event.input.display = False
            self.screen.set_focus(self.cards)

    def action_unfilter(self) -> None:
        """Remove the filter."""
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self.screen.set_focus(self.cards)

    def action_closed(self) -> None:
        """Show or hide closed threads."""
        self.card_filter = self.card_filter._replace(closed=not self.card_filter.closed)
        self.update_widgets()

    def on_cards_opened(self) -> None:
        """Open the chosen thread."""
        card = self.cards.board.chosen
        if card is not None:
            self.push_screen(panes.ThreadScreen(self.source, card))

    def action_help(self) -> None:
        """Show the keys."""
        keys = Help(writing=self.runner is not None)
        self.push_screen(panes.TextScreen("Keys", keys))

    async def action_worktrees(self) -> None:
        """Show the state of each worktree."""
        query, neighbours = await asyncio.to_thread(self.source.neighbours)
        text = worktrees.worktrees_text(neighbours, query, Plain(color=False))
        message = text or "There is no git repository here."
        self.push_screen(panes.TextScreen("Worktrees", Text(message)))

    async def action_plan(self) -> None:
        """Show which threads belong to which, and what each waits for."""
        text = await asyncio.to_thread(self.source.plan_text)
        message = text or "No thread has a link."
        self.push_screen(panes.TextScreen("Plan", Text(message)))

    # --- writing -------------------------------------------------------------

    def action_write(self, name: str) -> None:
        """Ask for what a command on the chosen thread needs, or a new one."""
        card = self.cards.board.chosen
        if card is not None or name == "new":
            self.ask_for(name, "" if card is None else card.topic)

    def ask_for(self, name: str, topic: str) -> None:
        """Ask for the arguments of a command on a thread, and for confirmation, and
        run it."""
        if self.runner is None:
            self.show_message("Keys that write: wc board --write")
        elif name == "say":
            self.run_worker(self._run_command(self.runner.arguments(name, topic, "")))
        else:
            about = "" if name == "new" else topic
            self.push_screen(
                panes.AskScreen(name, about, self.runner), self._run_command
            )

    async def _run_command(self, words: list[str] | None) -> None:
        """Run a command, in the terminal if it opens the editor, and show its output
        and what it changed."""
        if words is None or self.runner is None:
            return
        if edits(words[0]):
            receipt = self._run_in_editor(self.runner, words)
        else:
            receipt = await asyncio.to_thread(self.runner.run, words)
        self.show_message(receipt)
        await self._refresh_board(None)
        if words[0] == "new":
            self.cards.show(self.cards.board.with_chosen(words[-1]))

    def _run_in_editor(self, runner: CommandRunner, words: list[str]) -> str:
        """Run a command that opens the editor. The board leaves the terminal to the
        editor and pauses until it is closed."""
        try:
            with self.suspend():
                return runner.run_at_terminal(words)
        except SuspendNotSupported:
            return f"No editor can open here. Run: {runner.command_line(words)}"

    def show_message(self, text: str) -> None:
        """Show a message above the bottom line until the next key."""
        for message in self.screen.query("#message").results(Static):
            message.update(Text(clean(text)))
            message.display = bool(text)

    def on_key(self) -> None:
        """Hide the message."""
        self.show_message("")
