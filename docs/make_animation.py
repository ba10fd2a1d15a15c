#!/usr/bin/env python3
"""Draws docs/board-animated.svg: the live board while agents pass balls.

    .venv/bin/python docs/make_animation.py

A throwaway repository with two linked worktrees. The board of a person stays open
while the agents' commands run in other processes; after each command, the board that
shows it is one frame. Text that all frames share is drawn once. Where nothing may
move, the picture is the last frame.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

from rich.cells import cell_len

from wc_cli.run.board import view
from wc_cli.run.board.app import BoardApp
from wc_cli.run.board.cards import CardFilter
from wc_cli.run.board.source import BoardSource
from wc_cli.run.context import Context

DOCS = Path(__file__).resolve().parent
NAMESPACE = "http://www.w3.org/2000/svg"
PICTURE = DOCS / "board-animated.svg"
SIZE = (104, 12)
# Of the terminal that Textual draws: the width of a character and the height of a line.
CELL, LINE = 12.2, 24.4
SECONDS = 3.0  # of a frame
MARGIN, TOP, CAPTION = 18, 16, 46

PERSON, CLAUDE, CODEX = "Pat", "Claude Code", "Codex"
WORKTREES = {PERSON: "app", CLAUDE: "app-wt-login", CODEX: "app-wt-review"}
BEGINNING = (
    (CLAUDE, "new retries -m 'Three tries, then what?'"),
    (CODEX, "new flaky-ci -m 'It fails one time in forty'"),
    (CODEX, "new schema -m 'One table or two?' --to Pat"),
    (PERSON, f"new login -m 'Log in with a passkey' --to '{CLAUDE}@login'"),
)
# Who runs which command. Each is a frame; the first frame is before all of them.
SESSION = (
    (CLAUDE, "say login -m 'Done, please review' --to Codex@review"),
    (CODEX, "done login --request-changes -m 'One test is missing'"),
    (CLAUDE, "say login -m 'Added it'"),
    (CODEX, "done login --approve"),
)


def wc(folder: str, agent: str, words: str) -> None:
    """Run a command of wc as an agent in its worktree."""
    subprocess.run(  # noqa: S602 (our own words)
        f"{sys.executable} -m wc_cli {words}",
        shell=True,
        check=True,
        cwd=f"{folder}/{WORKTREES[agent]}",
        env=os.environ | {"WATERCOOLER_AGENT": agent},
        stdout=subprocess.DEVNULL,
    )


def prepare(folder: str) -> None:
    """Make the repository, its worktrees and the first threads."""
    home = f"{folder}/home"
    os.mkdir(home)
    os.environ.update(
        HOME=home,
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_NAME="Pat",
        GIT_AUTHOR_EMAIL="pat@example.org",
        GIT_COMMITTER_NAME="Pat",
        GIT_COMMITTER_EMAIL="pat@example.org",
        WATERCOOLER_AGENT=PERSON,
        WATERCOOLER_USER=PERSON,
        WATERCOOLER_SYNC="off",
        PYTHONPATH=str(DOCS.parent / "src"),
    )
    git = "git init -q -b main app && cd app && git commit -q --allow-empty -m Start"
    for worktree in ("login", "review"):
        git += f" && git worktree add -q -b {worktree} ../app-wt-{worktree}"
    subprocess.run(git, shell=True, check=True, cwd=folder)  # noqa: S602
    for agent, words in BEGINNING:
        wc(folder, agent, words)


async def frames(folder: str) -> list[str]:
    """The board before the session and after each of its commands, as SVG."""
    context = Context(dict(os.environ), f"{folder}/app")
    app = BoardApp(BoardSource(context), CardFilter(), view.UNICODE)
    drawn: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        while not app.cards.board.columns:
            await pilot.pause(0.05)
        await pilot.pause(0.5)
        drawn.append(app.export_screenshot())
        for agent, words in SESSION:
            await asyncio.to_thread(wc, folder, agent, words)
            for _ in range(200):
                await pilot.pause(0.05)
                if pieces(app.export_screenshot()) != pieces(drawn[-1]):
                    break
            else:
                message = f"the board does not show: {words}"
                raise SystemExit(message)
            await pilot.pause(0.5)
            drawn.append(app.export_screenshot())
    return drawn


def pieces(drawn: str) -> list[str]:
    """The texts and backgrounds of a board that Textual drew, from back to front."""
    rules = re.findall(r"\.\S+-(r\d+) \{ fill: #(\w+);?(.*?) \}", drawn)
    styles = {
        name: f"c{fill}{' bold' * ('bold' in rest)}" for name, fill, rest in rules
    }
    root = ET.fromstring(drawn)  # noqa: S314 (Textual drew it)
    matrix = next(group for group in root.iter() if "clip-path" in group.attrib)
    parts: list[str] = []
    for element in matrix.iter():
        tag = element.tag.rpartition("}")[2]
        if tag not in {"rect", "text"}:
            continue
        x, y = float(element.get("x", 0)), float(element.get("y", 0))
        if tag == "rect":
            fill, width = element.get("fill", ""), float(element.get("width", 0))
            parts.append(
                f'<rect fill="{fill}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                'height="24.6"/>'
            )
        elif (text := (element.text or "").replace("\xa0", " ")).strip():
            x += CELL * (len(text) - len(text.lstrip()))
            text = text.strip()
            style = styles[element.get("class", "").rpartition("-")[2]]
            parts.append(
                f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" '
                f'textLength="{cell_len(text) * CELL:.1f}">{escape(text)}</text>'
            )
    return parts


def caption(number: int) -> str:
    """The command that led to a frame, below the board."""
    y = TOP + SIZE[1] * LINE + CAPTION - 16
    if not number:
        return (
            f'<text class="who" x="{MARGIN}" y="{y:.0f}">Pat has wc board open.</text>'
        )
    agent, words = SESSION[number - 1]
    return (
        f'<text x="{MARGIN}" y="{y:.0f}"><tspan class="who">{agent} </tspan>'
        f'<tspan class="prompt">$ </tspan>wc {escape(words)}</text>'
    )


def picture(boards: list[list[str]]) -> str:
    """One SVG of all frames."""
    width = SIZE[0] * CELL + 2 * MARGIN
    height = TOP + SIZE[1] * LINE + CAPTION
    shared = set(boards[0]).intersection(*boards[1:])
    share = 100 / len(boards)
    fills = sorted(set(re.findall(r'class="c(\w+)', "".join(map("".join, boards)))))
    lines = [
        f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {width:.0f} {height:.0f}">',
        "<title>The live board while two agents pass balls</title>",
        "<style>",
        "text { font: 20px ui-monospace, SFMono-Regular, Menlo, Consolas,",
        '  "DejaVu Sans Mono", monospace; white-space: pre; fill: #c5c8c6 }',
        ".who { fill: #68a0b3; font-weight: bold } .prompt { fill: #98a84b }",
        ".bold { font-weight: bold }",
        *(f".c{fill} {{ fill: #{fill} }}" for fill in fills),
        ".frame { opacity: 0 } .last { opacity: 1 }",
        "@media (prefers-reduced-motion: no-preference) {",
        f"  .frame {{ animation: show {len(boards) * SECONDS:g}s step-end infinite }}",
        f"  @keyframes show {{ 0% {{ opacity: 1 }} {share:.3f}% {{ opacity: 0 }} }}",
        *(
            f"  .f{number} {{ animation-delay: {number * SECONDS:g}s }}"
            for number in range(1, len(boards))
        ),
        # The last frame waits for its turn like the others.
        "  .last { opacity: 0 }",
        "}",
        "</style>",
        f'<rect fill="#1d1f21" width="{width:.0f}" height="{height:.0f}" rx="10"/>',
        f'<g transform="translate({MARGIN} {TOP})">',
        *(piece for piece in boards[0] if piece in shared),
        "</g>",
    ]
    for number, board in enumerate(boards):
        last = " last" if number == len(boards) - 1 else ""
        own = [piece for piece in board if piece not in shared]
        lines += [
            f'<g class="frame f{number}{last}">',
            f'<g transform="translate({MARGIN} {TOP})">',
            *own,
            "</g>",
            caption(number),
            "</g>",
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    """Draw it."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        drawn = asyncio.run(frames(folder))
    PICTURE.write_text(picture([pieces(board) for board in drawn]), encoding="utf-8")


if __name__ == "__main__":
    main()
