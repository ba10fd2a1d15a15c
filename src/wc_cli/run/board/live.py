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
import threading
import tty

from rich.console import Console
from rich.live import Live
from rich.text import Text

from wc_cli.ledger.clock import now_ms
from wc_cli.run.board import view
from wc_core.base.errors import NotFoundError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.people.activity import turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import ConsoleOptions, RenderResult

    from wc_cli.run.board.cards import CardColumn, CardFilter
    from wc_cli.run.board.source import BoardSource
    from wc_cli.run.board.view import BoardSigns
    from wc_core.edits.claims.record import Claim
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.worktrees import Neighbour

# Seconds between looks at what is not watched: ages, loops, other folders.
REFRESH_EVERY = 5.0
# Milliseconds: how long changes are collected, and between two looks at them.
_DEBOUNCE, _STEP = 200, 20
_FILES = 2
_HOLDERS = 4
_URGENT, _CALM = "bold yellow", "dim"
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
    terminal and ends by that signal. All three wait until a refresh has ended.
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
    if ending == signal.SIGINT:
        raise KeyboardInterrupt
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
        watched = watched or _watch_folders(source, wakeup.ring)
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
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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
        source = self.source
        self._trees = worktree_lines(
            source.neighbours(), source.claims(), source.approvals()
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


def _watch_folders(source: BoardSource, on_change: Callable[[], None]) -> bool:
    """Call ``on_change`` whenever the files of a thread change, from a thread of the
    operating system that ends with the process. Returns whether there is something to
    watch: the board looks at intervals, too."""
    folders = [folder for folder in source.folders if os.path.isdir(folder)]
    if not folders or not all(map(_has_no_links, folders)):
        return False
    threading.Thread(target=_watch, args=(folders, on_change), daemon=True).start()
    return True


def _watch(folders: list[str], on_change: Callable[[], None]) -> None:
    from watchfiles import watch  # 6 ms, after the first paint

    try:
        for _ in watch(
            *folders,
            watch_filter=None,
            debounce=_DEBOUNCE,
            step=_STEP,
            raise_interrupt=False,
        ):
            on_change()
    except (OSError, RuntimeError):
        return


def _has_no_links(folder: str) -> bool:
    """Whether a folder contains no symbolic links: the library would follow them, even
    to the root of the disk."""
    for parent, folders, _ in os.walk(folder):
        if any(os.path.islink(os.path.join(parent, name)) for name in folders):
            return False
    return True


def worktree_lines(
    neighbours: Iterable[Neighbour],
    claims: Iterable[Claim] = (),
    approvals: Iterable[OutdatedApproval] = (),
) -> Text:
    """A line for each pair of worktrees that will conflict, for each approved branch
    that no longer merges, for each participant with claims, and for each loop that is
    running or waits for a human."""
    trees = list(neighbours)
    text = Text(no_wrap=True, overflow="ellipsis")
    lines = (
        *_conflict_lines(trees),
        *(
            (one_line(f"⚠ {item.name} {item.predicate(_FILES)}"), _URGENT)
            for item in approvals
        ),
        *_claim_lines(claims),
        *_loop_lines(trees),
    )
    for line, style in lines:
        text.append("\n " if text.plain else " ")
        text.append(line, style)
    return text


def _conflict_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    named: set[str] = set()
    for tree in trees:
        named.add(tree.worktree.path)
        for conflict in tree.conflicts:
            if conflict.opposite.path not in named:
                text = f"⚠ {tree.name} conflicts {conflict.sentence(_FILES)}"
                yield one_line(text), _URGENT


def _claim_lines(claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    by_holder: dict[str, list[Claim]] = {}
    for claim in claims:
        by_holder.setdefault(claim.holder, []).append(claim)
    for holder, own in list(by_holder.items())[:_HOLDERS]:
        paths = ", ".join(claim.id for claim in own[:_FILES])
        hidden = f" and {len(own) - _FILES} more" if len(own) > _FILES else ""
        yield one_line(f"✎ {holder} edits {paths}{hidden}"), _CALM
    if len(by_holder) > _HOLDERS:
        yield f"✎ {len(by_holder) - _HOLDERS} others: wc claims", _CALM


def _loop_lines(trees: Iterable[Neighbour]) -> Iterator[tuple[str, str]]:
    for tree in trees:
        loop = tree.loop
        if loop and "stale" not in loop:
            line = one_line(f"{tree.name}: loop {turn(loop)} {loop['says']}")
            yield line, _URGENT if "waits_for_human" in loop else _CALM
