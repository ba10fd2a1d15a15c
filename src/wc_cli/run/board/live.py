"""The live board: one screen that follows the store until ``q``. It only reads."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import sys
import termios
import tty

from rich.console import Console
from rich.live import Live
from rich.text import Text

from wc_cli.ledger.clock import now_ms
from wc_cli.run.board import view, watch
from wc_cli.run.board.worktreelines import worktree_lines
from wc_core.base.errors import NotFoundError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import ConsoleOptions, RenderResult

    from wc_cli.run.board.cards import CardColumn, CardFilter
    from wc_cli.run.board.source import BoardSource
    from wc_cli.run.board.view import BoardSigns

# Seconds between looks at what is not watched: ages, loops, other folders.
REFRESH_EVERY = 5.0
_FOOT = " q: quit · in the browser: wc open"
_STYLES = {
    view.PLAIN: "",
    view.DIM: "dim",
    view.NAME: "bold cyan",
    view.YOURS: "bold yellow",
    view.BOLD: "bold",
    view.NEW: "bold green",
    view.WARNING: "red",
}


def run(source: BoardSource, card_filter: CardFilter, signs: BoardSigns) -> None:
    """Show the board until the user quits.

    Raises NotFoundError if the store disappears, and KeyboardInterrupt on Ctrl-C. On
    SIGTERM and SIGHUP, and when the terminal is closed, the process restores the
    terminal and ends by that signal.
    """
    source.refresh()
    screen = _Screen(source, card_filter, signs)
    wakeup = _Wakeup()
    with _keys(), _live(screen) as live:
        try:
            ending = _follow(screen, live, wakeup)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            ending = signal.SIGHUP  # the terminal was closed while it was written to
    if ending:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        signal.signal(ending, signal.SIG_DFL)
        os.kill(os.getpid(), ending)


def _follow(screen: _Screen, live: Live, wakeup: _Wakeup) -> int:
    """Redraw after each change. Returns the signal to end by; 0 if the user quits."""
    source, watched = screen.source, False
    while True:
        if source.is_gone:
            raise NotFoundError(
                f"The store {source.layout.root} is no longer there.",
                "Look for it with: wc doctor",
            )
        screen.read()
        live.refresh()
        watched = watched or watch.start(source, wakeup.ring)
        keyboard = sys.stdin.fileno()
        ready, _, _ = select.select([keyboard, wakeup.end], [], [], REFRESH_EVERY)
        if wakeup.end in ready and (ending := wakeup.answer()):
            return ending
        if keyboard in ready:
            pressed = _pressed(keyboard)
            if pressed is None:
                return signal.SIGHUP  # the terminal was closed
            if b"q" in pressed:
                return 0
        source.refresh()


def _pressed(keyboard: int) -> bytes | None:
    """The keys that were typed; ``None`` if there is no terminal any longer."""
    with contextlib.suppress(OSError):
        return os.read(keyboard, 1 << 10) or None
    return None


class _Wakeup:
    """A pair of sockets that ends a wait: for the watcher, and for signals, after which
    the terminal is restored first."""

    def __init__(self) -> None:
        self.end, self._bell = socket.socketpair()
        self.end.setblocking(False)
        self._bell.setblocking(False)
        self._ending = 0
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end_by)
        signal.signal(signal.SIGWINCH, lambda *_: self.ring())

    def ring(self) -> None:
        """End the wait."""
        with contextlib.suppress(OSError):
            self._bell.send(b".")

    def _end_by(self, number: int, _frame: object) -> None:
        self._ending = number
        self.ring()

    def answer(self) -> int:
        """Forget the wake-ups. Returns the signal that ends the board; 0 if none."""
        with contextlib.suppress(BlockingIOError):
            self.end.recv(1 << 10)
        return self._ending


@contextlib.contextmanager
def _keys() -> Iterator[None]:
    """Keys arrive at once and are not shown; Ctrl-C still interrupts."""
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard, termios.TCSANOW)  # keeps what was typed ahead
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):  # it may be closed
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _live(screen: _Screen) -> Iterator[Live]:
    # The size is the terminal's: variables do not follow it.
    env = screen.source.context.env
    known = {key: env[key] for key in env if key not in {"COLUMNS", "LINES"}}
    console = Console(
        force_terminal=True,
        no_color=bool(env.get("NO_COLOR")),
        highlight=False,
        _environ=known,
    )
    live = Live(screen, console=console, screen=True, auto_refresh=False)
    live.start()
    try:
        yield live
    finally:
        with contextlib.suppress(OSError):  # it may be closed
            live.stop()


class _Screen:
    """What is on the screen: the columns, and what stands above them."""

    def __init__(
        self, source: BoardSource, card_filter: CardFilter, signs: BoardSigns
    ) -> None:
        self.source = source
        self._card_filter = card_filter
        self._signs = signs
        self._trees = Text()

    def read(self) -> None:
        """Read what stands above the columns."""
        _, neighbours = self.source.neighbours()
        self._trees = worktree_lines(
            neighbours, self.source.claims(), self.source.approvals()
        )

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        """Draw it, on exactly the lines that there are."""
        width, height = console.size
        columns = self.source.columns(self._card_filter)
        above = [self._top_line(columns)]
        if self._trees.plain:
            above += self._trees.split("\n")[: max(0, height // 3)]
        room = max(view.HEAD, height - len(above) - 1)
        painter = view.Painter(
            columns,
            view.layout_size(len(columns), width, room),
            now_ms(),
            self._signs,
            self.source.context.settings.directory,
        )
        board = [
            Text.assemble(*((text, _style(role)) for text, role in painter.line(y)))
            for y in range(room)
        ]
        lines = [*above, *board, Text(_FOOT, "dim")][:height]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        yield Text("\n").join(lines)

    def _top_line(self, columns: tuple[CardColumn, ...]) -> Text:
        source = self.source
        yours = sum(len(column.cards) for column in columns if column.is_yours)
        shown = sum(len(column.cards) for column in columns)
        text = Text(f" {one_line(source.context.identity.author)}", "bold")
        text.append(f" · {yours} of {counted(shown, 'thread')} yours", "not bold")
        if not source.count:
            text.append(" · start one with: wc new TOPIC -m '…'", "not bold")
        if source.travels:
            text.append(f" · {source.travels}", "not bold yellow")
        if source.problem:
            text.append(f" · {one_line(source.problem)}", "not bold red")
        return text


def _style(role: str) -> str:
    if role.startswith(view.AGENT):
        return f"bright_white on color({role.removeprefix(view.AGENT)})"
    return _STYLES[role]
