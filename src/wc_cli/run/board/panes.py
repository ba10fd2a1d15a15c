"""The screens of the live board besides the cards: a thread, a text, a question."""

from __future__ import annotations

import asyncio
from typing import Protocol, runtime_checkable

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from wc_cli.ledger.clock import now_ms
from wc_cli.run.board.keys import COMMANDS, CommandRunner, needs_confirmation
from wc_cli.run.terminal import entrytext, markdown
from wc_cli.run.terminal.style import Style
from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.reading.views import entries as entry_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from textual import events
    from textual.app import ComposeResult

    from wc_cli.run.board.cards import Card
    from wc_cli.run.board.helplines import Help
    from wc_cli.run.board.source import BoardSource
    from wc_core.ledger.threads.reader import Thread

# Reasons to exit, other than the quit key.
GONE, INTERRUPTED, TERMINATED = "gone", "interrupted", "terminated"
KEYS = {
    "i": "say",
    "n": "new",
    "a": "ack",
    "d": "done",
    "p": "handoff",
    "t": "take",
    "s": "status",
    "m": "seen",
}
FOOT = " ? help  q quit  / filter  enter open  ↑↓←→ choose"
WRITING_FOOT = " ? help  q quit  i say  n new  s status  / filter  enter open"
# Entries rendered initially; earlier ones on request.
_ENTRIES_AT_ONCE = 20
CSS = """
Screen, Vertical, Static, Input, VerticalScroll { background: ansi_default; }
Screen { color: ansi_default; }
#top { height: 1; text-style: bold; }
#worktrees { height: auto; max-height: 4; display: none; }
#message { height: auto; display: none; text-style: bold; padding: 0 1; }
#foot { height: 1; text-style: dim; }
Cards { height: 1fr; }
#filter { display: none; border: none; height: 1; padding: 0 1; }
#head { height: auto; margin-bottom: 1; }
ThreadView { height: 1fr; scrollbar-size-vertical: 1; background: ansi_default;
  scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default;
  scrollbar-color-hover: ansi_white; scrollbar-background-hover: ansi_default;
  scrollbar-color-active: ansi_white; scrollbar-background-active: ansi_default; }
TextScreen, AskScreen { align: center middle; background: ansi_default; }
#box { width: 90%; max-width: 90; height: auto; max-height: 90%; padding: 0 1;
  border: round ansi_bright_black; }
#box Static { height: auto; }
#box Input { border: none; height: 1; }
VerticalScroll { height: auto; max-height: 80vh; }
"""


@runtime_checkable
class CanAsk(Protocol):
    """An application that can ask the user for a command's arguments."""

    def ask_for(self, name: str, topic: str) -> None:
        """Ask for the arguments of a command on a thread, and for confirmation."""


class ThreadView(ScrollView, can_focus=True):
    """Entries as lines; only the visible ones are drawn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down"),
        Binding("k", "scroll_up"),
        Binding("g", "scroll_home"),
        Binding("G", "scroll_end"),
        Binding("space", "page_down"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Strip] = []

    def show(self, lines: list[Strip], width: int) -> None:
        """Replace the lines."""
        self.lines = lines
        self.virtual_size = Size(width, len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        place = self.scroll_offset.y + y
        base = self.rich_style
        if place >= len(self.lines):
            return Strip.blank(self.size.width, base)
        line = self.lines[place].apply_style(base)
        return line.adjust_cell_length(self.size.width, base)


class ThreadScreen(Screen[None]):
    """A rendered thread, which updates as entries are added."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,left,h,backspace", "back"),
        Binding("e", "earlier"),
        *(Binding(key, f"write('{name}')") for key, name in KEYS.items()),
    ]

    def __init__(self, source: BoardSource, card: Card) -> None:
        super().__init__()
        self.source = source
        self.topic = card.topic
        self.body = ThreadView()
        self._new_count = card.row.new_for_you
        self._first = -1
        self._drawn: tuple[int, ...] = ()

    def compose(self) -> ComposeResult:
        """The head, the entries, messages and the bottom line."""
        with Vertical():
            yield Static(id="head")
            yield self.body
            yield Static(id="message")
            yield Static(" q back  e earlier  ↑↓ scroll", id="foot")

    def on_mount(self) -> None:
        """Read the thread."""
        self.body.focus()
        self.call_after_refresh(self.reload, None)

    def on_resize(self) -> None:
        """Render the thread for the new width."""
        if self._first >= 0:
            self.reload(None)

    def reload(self, topics: set[str] | None) -> None:
        """Read the thread again if it is among these topics; None stands for all."""
        if topics is None or self.topic in topics:
            self.run_worker(self._load(), exclusive=True)

    async def _load(self, *, earlier: int = 0) -> None:
        try:
            thread = await asyncio.to_thread(self.source.reader.thread, self.topic)
        except WcError as error:
            self.query_one("#head", Static).update(Text(one_line(error.message)))
            return
        first_load = self._first < 0
        if first_load:
            self._first = max(0, len(thread.entries) - _ENTRIES_AT_ONCE)
        self._first = max(0, self._first - earlier)
        at_end = self.body.scroll_offset.y >= self.body.max_scroll_y
        before = len(self.body.lines)
        width = max(20, self.size.width - 2)
        drawn = (thread.snapshot.log_size, len(thread.entries), self._first, width)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        lines, new = await asyncio.to_thread(self._render_entries, thread, width)
        self._show_head(thread)
        self.body.show(lines, width)
        if first_load:
            self.body.scroll_to(y=new, animate=False)
        elif earlier:
            self.body.scroll_relative(y=len(lines) - before, animate=False)
        elif at_end:
            self.body.scroll_end(animate=False)

    def _show_head(self, thread: Thread) -> None:
        text = entrytext.thread_head(thread, Style(color=False))
        title, _, facts = text.partition("\n")
        head = Text(title, "bold")
        head.append(f"\n{facts}", "not bold")
        if self._first:
            head.append(f"\n{self._first} earlier: e", "dim")
        self.query_one("#head", Static).update(head)

    def _render_entries(self, thread: Thread, width: int) -> tuple[list[Strip], int]:
        """Return the lines from the first shown entry on, and the line where the
        entries that are new to the viewer start."""
        console = markdown.console_of(self.source.context.env, width)
        lines: list[Strip] = []
        count = len(thread.entries)
        new, now = -1, now_ms()
        first_new = max(self._first, count - max(1, self._new_count))
        visible = [
            item for item in entry_views.numbered(thread) if item.idx >= self._first
        ]
        for entry in visible:
            if new < 0 and (entry.idx >= first_new or entry is visible[-1]):
                new = len(lines)
            entry_lines = markdown.rendered_lines(
                console, markdown.rendered_entry(entry, now)
            )
            lines += [*map(Strip, entry_lines), Strip([])]
        return lines, max(0, new)

    async def action_earlier(self) -> None:
        """Show more of the earlier entries."""
        if self._first > 0:
            await self._load(earlier=_ENTRIES_AT_ONCE)

    def action_write(self, name: str) -> None:
        """Ask for a command on this thread, even if another card is chosen by then."""
        if isinstance(self.app, CanAsk):
            self.app.ask_for(name, self.topic)

    def action_back(self) -> None:
        """Return to the board."""
        self.dismiss()


class TextScreen(ModalScreen[None]):
    """A text, or the help, in a box."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,w,v", "back")
    ]

    def __init__(self, title: str, content: Text | Help) -> None:
        super().__init__()
        self._content = (title, content)

    def compose(self) -> ComposeResult:
        """The box."""
        title, content = self._content
        with Vertical(id="box") as box:
            box.border_title = title
            with VerticalScroll():
                yield Static(content)

    def action_back(self) -> None:
        """Close the box."""
        self.dismiss()


class AskScreen(ModalScreen[list[str]]):
    """Ask for a command's argument, then for confirmation of the command line, if the
    command needs one. Returns the command's words."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back"),
        Binding("y", "yes"),
        Binding("n", "back"),
    ]

    def __init__(self, name: str, topic: str, runner: CommandRunner) -> None:
        super().__init__()
        self._action = name
        self._thread = topic
        self._runner = runner
        self._arguments: list[str] = []

    def compose(self) -> ComposeResult:
        """The question, or only the confirmation."""
        field = COMMANDS[self._action][1]
        about = f": {one_line(self._thread)}" if self._thread else ""
        choices = "   ".join(f"{letter} {word}" for letter, word in field.choices)
        with Vertical(id="box") as box:
            box.border_title = Text(f"{self._action}{about}").markup
            yield Static(Text(field.question), id="question")
            yield Input(field.default, id="answer")
            yield Static(Text(choices, "bold"), id="command")

    def on_mount(self) -> None:
        """Ask the question, if the command has one."""
        field = COMMANDS[self._action][1]
        box = self.query_one("#answer", Input)
        if field.choices:
            box.display = False
        elif field.question:
            box.focus()
        else:
            self._take("")

    def on_key(self, event: events.Key) -> None:
        """Handle a letter that answers the question."""
        choices = dict(COMMANDS[self._action][1].choices)
        if not self._arguments and event.character in choices:
            event.stop()
            self._take(choices[event.character])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Handle the answer."""
        event.stop()
        self._take(event.value.strip())

    def _take(self, answer: str) -> None:
        """Ask for confirmation of the command with this answer, if it needs one."""
        if not (self._thread or answer):
            self.dismiss(None)  # no topic for a new thread
            return
        self._arguments = self._runner.arguments(self._action, self._thread, answer)
        if not needs_confirmation(self._action, answer):
            self.dismiss(self._arguments)
            return
        box = self.query_one("#answer", Input)
        box.display = False
        self.set_focus(None)
        self.query_one("#question", Static).update(Text("Run this?  y  n"))
        command_line = Text(self._runner.command_line(self._arguments), "bold")
        self.query_one("#command", Static).update(command_line)

    def action_yes(self) -> None:
        """Confirm the command."""
        if self._arguments:
            self.dismiss(self._arguments)

    def action_back(self) -> None:
        """Close the box without running anything."""
        self.dismiss(None)
