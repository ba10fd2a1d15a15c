#!/usr/bin/env python3
"""Draws docs/session.svg, the picture in the README, from a real session.

    .venv/bin/python docs/make_picture.py

Runs the real commands in a real terminal, in a throwaway repository with two linked
worktrees and an agent's name in each, and draws what they print: a window for each
agent, time from top to bottom, and the ball where it is passed.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "session.svg"

# A window: characters, and their size.
COLUMNS = 54
CHARACTER, LINE, SIZE = 8.43, 21.0, 14
PADDING, BAR, GAP, MARGIN = 16, 38, 76, 4
WINDOW = COLUMNS * CHARACTER + 2 * PADDING
WIDTH = 2 * WINDOW + GAP + 2 * MARGIN

EMOJI = "🎾"

AGENTS = {"app-wt-login": "Claude Code", "app-wt-review": "Codex"}
THROW = """\
wc say login --role implementer --to Codex \\
    -m 'Passkeys work, please review'"""
RETURN = """\
wc say login --role critic \\
    -m 'Fine. One test is missing: no passkey'"""
# What the client of an idle agent runs; its end is the beginning of a turn.
WAITS = "wc wait --hook wake --client claude"
WOKEN = "Idle until the ball came. It wakes Claude Code:"
# The last value of a scene: whether the ball goes to the other window afterwards.
SESSION = (
    (
        "app-wt-login",
        (
            THROW,
            "wc-statusline --color=always",
        ),
        True,
    ),
    (
        "app-wt-review",
        (
            "wc-statusline --color=always",
            "wc list",
            RETURN,
        ),
        True,
    ),
    (
        "app-wt-login",
        (WAITS, "wc-statusline --color=always"),
        False,
    ),
)
PREPARATION = """\
git init --quiet --initial-branch=main app
cd app
git commit --quiet --allow-empty --message='Start'
git worktree add --quiet -b login ../app-wt-login
git worktree add --quiet -b review ../app-wt-review
"""
STYLE = f"""\
text {{ font: {SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas,
  "DejaVu Sans Mono", monospace; white-space: pre; fill: #c9d1d9 }}
.name {{ font: 600 14px system-ui, -apple-system, "Segoe UI", sans-serif }}
.where {{ font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #8b949e }}
.ball {{ fill: #d4e157 }}
.seam {{ fill: none; stroke: #f9fbe7; stroke-width: 1.6 }}
.prompt {{ fill: #3fb950; font-weight: 600 }}
.typed {{ fill: #f0f6fc; font-weight: 600 }}
.dim {{ fill: #8b949e }}
.bold {{ fill: #f0f6fc; font-weight: 600 }}
.line {{ fill: #e3b341; font-weight: 600 }}
.window {{ fill: #0d1117; stroke: #30363d }}
.bar {{ fill: #161b22 }}
.lit {{ fill: #e3b341; fill-opacity: 0.12 }}
.flight {{ fill: none; stroke: #d29922; stroke-width: 2.5; stroke-dasharray: 1 7;
  stroke-linecap: round }}
.arrow {{ fill: #d29922 }}
"""


class Stage:
    """The throwaway folder and the environment of its commands."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        programs = os.path.dirname(sys.executable)
        self.env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": f"{folder}/home",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(COLUMNS),
            "PAGER": "cat",
            "WATERCOOLER_SYNC": "off",
            **{f"GIT_{one}_NAME": "Pat" for one in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{one}_EMAIL": "pat@localhost" for one in ("AUTHOR", "COMMITTER")},
            "WATERCOOLER_USER": "pat",
        }
        os.mkdir(self.env["HOME"])
        self.run(PREPARATION, ".", "")
        self.idle: subprocess.Popen[str] | None = None

    def be_idle(self, worktree: str) -> None:
        """Run in the background what the client of an idle agent runs."""
        self.idle = subprocess.Popen(  # noqa: S603 (our own command)
            ["/bin/sh", "-c", WAITS],
            cwd=f"{self.folder}/{worktree}",
            env={**self.env, "WATERCOOLER_AGENT": AGENTS[worktree]},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self.idle.stdin is not None:
            self.idle.stdin.write('{"session_id": "picture"}')
            self.idle.stdin.close()
            self.idle.stdin = None

    def what_wakes(self) -> list[str]:
        """What came for the idle agent: the lines about the ball."""
        if self.idle is None:
            raise SystemExit("nobody is idle")
        _, text = self.idle.communicate(timeout=60)
        first, _, others = text.partition("Your move:\n")
        if not others:
            raise SystemExit(f"nobody was woken: {first}")
        return ["Your move:", *others.partition("\n\n")[0].split("\n")]

    def run(self, command: str, worktree: str, agent: str) -> str:
        """Run a command in a terminal. Returns its output, colours included."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(  # noqa: S603 (our own command)
            ["/bin/sh", "-e", "-c", command],
            cwd=f"{self.folder}/{worktree}",
            env={**self.env, "WATERCOOLER_AGENT": agent},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            output = b"".join(iter(lambda: read(ours), b""))
        os.close(ours)
        if process.returncode:
            raise SystemExit(f"this failed: {command}\n{output.decode()}")
        return output.decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    """Read output of the terminal; empty once all processes have closed it."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


class Line(NamedTuple):
    """A line in a window: pieces of text with their classes; ``lit`` is the
    line of the prompt."""

    pieces: tuple[tuple[str, str], ...]
    lit: bool = False


def lines(stage: Stage, worktree: str, command: str) -> Iterator[Line]:
    """The typed command, and its output."""
    if command == WAITS:
        yield Line(((WOKEN, "dim"),))
        console = Console(width=COLUMNS)
        for sentence in stage.what_wakes():
            for part in Text(sentence).wrap(console, COLUMNS):
                yield Line(((part.plain.rstrip(), ""),))
        return
    printed = stage.run(command, worktree, AGENTS[worktree]).rstrip("\n")
    if command.startswith("wc-statusline"):
        # Shown above the prompt; nobody types this command.
        yield Line(((Text.from_ansi(printed).plain, "line"),), lit=True)
        return
    first, *rest = command.split("\n")
    yield Line((("$ ", "prompt"), (first, "typed")))
    yield from (Line(((f"  {one}", "typed"),)) for one in rest)
    console = Console(width=COLUMNS, force_terminal=True, legacy_windows=False)
    for part in Text.from_ansi(printed).wrap(console, COLUMNS):
        pieces = (
            (piece.text.rstrip("\n"), look(piece.style))
            for piece in part.render(console)
        )
        yield Line(tuple(one for one in pieces if one[0]))


def look(style: Style | None) -> str:
    """The CSS class of a piece."""
    if style is None:
        return ""
    return "bold" if style.bold else "dim" if style.dim else ""


def left_of(worktree: str) -> float:
    """The left edge of a window."""
    return MARGIN + [*AGENTS].index(worktree) * (WINDOW + GAP)


def written(line: Line, left: float, top: float) -> Iterator[str]:
    """A line in a window."""
    if line.lit:
        yield (
            f'<rect class="lit" x="{left + 1:.1f}" y="{top - 15:.1f}" '
            f'width="{WINDOW - 2:.1f}" height="{LINE:.1f}"/>'
        )
    column = left + PADDING
    for text, kind in line.pieces:
        wide = cell_len(text) * CHARACTER
        if text.startswith(EMOJI):
            # Drawn, because not every viewer has a font with it.
            yield ball(column + 8, top - 5, 7.5)
            skipped = cell_len(EMOJI) * CHARACTER
            column, wide = column + skipped, wide - skipped
            text = text.removeprefix(EMOJI)  # noqa: PLW2901
        yield (
            f'<text class="{kind}" x="{column:.1f}" y="{top:.1f}" '
            f'textLength="{wide:.1f}" xml:space="preserve">{escape(text)}</text>'
        )
        column += wide


def window(worktree: str, height: float) -> Iterator[str]:
    """The frame of an agent's terminal."""
    left = left_of(worktree)
    box = f'x="{left:.1f}" y="{MARGIN}" width="{WINDOW:.1f}"'
    yield f'<rect class="window" {box} height="{height:.1f}" rx="10"/>'
    yield f'<path class="bar" d="{bar(left)}"/>'
    middle = MARGIN + BAR / 2 + 5
    name = AGENTS[worktree]
    yield f'<text class="name" x="{left + PADDING:.1f}" y="{middle}">{name}</text>'
    yield (
        f'<text class="where" x="{left + WINDOW - PADDING:.1f}" y="{middle}" '
        f'text-anchor="end">worktree {worktree}</text>'
    )


def bar(left: float) -> str:
    """The top of a window, with its round corners."""
    right, low = left + WINDOW - 0.5, MARGIN + BAR
    left, high = left + 0.5, MARGIN + 0.5
    return (
        f"M{left:.1f} {low}V{high + 10}a10 10 0 0 1 10 -10H{right - 10:.1f}"
        f"a10 10 0 0 1 10 10V{low}Z"
    )


def flight(worktree: str, top: float) -> Iterator[str]:
    """The ball on its way to the other window."""
    side = 1 if worktree == next(iter(AGENTS)) else -1
    middle = MARGIN + WINDOW + GAP / 2
    start, end = middle - side * (GAP / 2 - 5), middle + side * (GAP / 2 - 9)
    low = top + LINE
    yield (
        f'<path class="flight" d="M{start:.1f} {top:.1f}'
        f'Q{middle:.1f} {top - 44:.1f} {end:.1f} {low - 6:.1f}"/>'
    )
    yield (
        f'<path class="arrow" d="M{end + side * 7:.1f} {low + 3:.1f}'
        f'l{-side * 13} -5l{side * 10} -7Z"/>'
    )
    yield ball(middle, top - 17, 12)


def ball(across: float, down: float, radius: float) -> str:
    """A tennis ball around a point."""
    reach, bend = 0.78 * radius, 0.3 * radius
    seams = "".join(
        f'<path class="seam" d="M{across + side * reach:.1f} {down - 0.6 * radius:.1f}'
        f"Q{across + side * bend:.1f} {down:.1f} "
        f'{across + side * reach:.1f} {down + 0.6 * radius:.1f}"/>'
        for side in (-1, 1)
    )
    spot = f'cx="{across:.1f}" cy="{down:.1f}" r="{radius}"'
    return f'<circle class="ball" {spot}/>{seams}'


def draw(stage: Stage) -> str:
    """The session as SVG."""
    drawn: list[str] = []
    top = MARGIN + BAR + LINE + 4
    for worktree, commands, goes in SESSION:
        for command in commands:
            if command == RETURN:
                stage.be_idle(next(iter(AGENTS)))
            for line in lines(stage, worktree, command):
                drawn.extend(written(line, left_of(worktree), top))
                top += LINE
            top += 5
        if goes:
            drawn.extend(flight(worktree, top - LINE))
    height = top - MARGIN - LINE / 2
    frames = [part for worktree in AGENTS for part in window(worktree, height)]
    body = "\n".join([*frames, *drawn])
    size = f"{WIDTH:.0f} {height + 2 * MARGIN:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}">\n'
        f"<title>Two agents, two worktrees, one ball</title>\n"
        f"<style>\n{STYLE}</style>\n{body}\n</svg>\n"
    )


def main() -> None:
    """Draw it."""
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(draw(Stage(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
