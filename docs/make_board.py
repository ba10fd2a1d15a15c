#!/usr/bin/env python3
"""Draws docs/board.svg and docs/timeline.svg, the pictures in docs/board.md.

    .venv/bin/python docs/make_board.py

A throwaway repository with the threads of three days; the board is the one that
`wc board` shows, the timeline what `wc timeline --svg` writes.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from wc_cli.run.board import view
from wc_cli.run.board.app import BoardApp
from wc_cli.run.board.cards import CardFilter
from wc_cli.run.board.source import BoardSource
from wc_cli.run.context import Context
from wc_cli.run.main import run
from wc_core.base import ulid
from wc_core.base.layout import Layout
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import FREE, Ball, Entry

DOCS = Path(__file__).resolve().parent
SIZE = (116, 17)
PAT, CLAUDE, CODEX, ALEX = "Pat", "Claude Code (pat)", "Codex@review (pat)", "Alex"
HOUR = 60
# A thread: its topic and title; then for each entry how many minutes ago, by
# whom, where the ball went ("": nowhere, "anyone": free) and the status.
STORY = {
    ("login", "Log in with a passkey"): [
        (70 * HOUR, PAT, CLAUDE, ""),
        (66 * HOUR, CLAUDE, CODEX, ""),
        (50 * HOUR, CODEX, CLAUDE, ""),
        (44 * HOUR, CLAUDE, CODEX, ""),
        (20 * HOUR, CODEX, CLAUDE, ""),
        (3 * HOUR, CLAUDE, PAT, "IN_REVIEW"),
        (18, CODEX, "", ""),
    ],
    ("schema", "Two columns for the key, or one table?"): [
        (61 * HOUR, CODEX, ALEX, ""),
        (60 * HOUR, ALEX, "", "BLOCKED"),
    ],
    ("rounding", "Round half up or half to even?"): [
        (30 * HOUR, CODEX, PAT, ""),
        (29 * HOUR, PAT, CODEX, ""),
        (26 * HOUR, CODEX, CLAUDE, ""),
        (40, CLAUDE, PAT, ""),
    ],
    ("retries", "Three tries, then what?"): [
        (48 * HOUR, CLAUDE, CODEX, ""),
        (9 * HOUR, CODEX, CLAUDE, ""),
    ],
    ("flaky-ci", "It fails one time in forty"): [
        (55 * HOUR, PAT, "anyone", ""),
        (33 * HOUR, CLAUDE, CLAUDE, ""),
        (31 * HOUR, CLAUDE, "anyone", ""),
        (5 * HOUR, CODEX, CODEX, ""),
    ],
    ("rate-limit", "Which calls count?"): [
        (28 * HOUR, CODEX, CLAUDE, ""),
        (7 * HOUR, CLAUDE, "", ""),
    ],
    ("backup-keys", "A second passkey, for a lost phone"): [
        (22 * HOUR, CLAUDE, CODEX, ""),
    ],
    ("old-sessions", "Sign everyone out?"): [
        (36 * HOUR, PAT, ALEX, ""),
        (34 * HOUR, ALEX, PAT, ""),
        (15 * HOUR, PAT, ALEX, ""),
    ],
    ("release-notes", "What do we say about the store?"): [
        (12 * HOUR, PAT, "anyone", ""),
    ],
    ("api-errors", "Codes before words"): [
        (64 * HOUR, ALEX, CODEX, ""),
        (40 * HOUR, CODEX, ALEX, "IN_REVIEW"),
    ],
    ("dark-mode", "Colours for dark screens"): [
        (68 * HOUR, PAT, CLAUDE, ""),
        (58 * HOUR, CLAUDE, PAT, ""),
        (57 * HOUR, PAT, "anyone", "CLOSED"),
    ],
}


def write(root: str) -> None:
    """Write the threads into the store at ``root``."""
    layout, now = Layout(root), time.time_ns() // 1_000_000
    for (topic, title), moves in STORY.items():
        entries: list[Entry] = []
        for ago, agent, to, status in moves:
            moment = now - ago * 60_000
            ball = FREE if to == "anyone" else Ball(to)
            entry = Entry(
                ulid.encode(moment << ulid.RANDOM_BITS | len(entries)),
                topic,
                agent,
                time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment // 1000)),
                title,
                action="say",
                ball=ball if to else None,
                status=status or None,
                parents=tuple(one.id for one in entries[-1:]),
            )
            entries.append(entry)
        os.makedirs(layout.folder(topic))
        lines = [codec.to_line(one, idx) for idx, one in enumerate(entries)]
        Path(layout.log(topic)).write_bytes(b"".join(lines))


async def board(context: Context) -> str:
    """The live board, as SVG."""
    app = BoardApp(BoardSource(context), CardFilter(), view.UNICODE)
    async with app.run_test(size=SIZE) as pilot:
        while not app.cards.board.columns:
            await pilot.pause(0.05)
        await pilot.pause(0.5)
        return app.export_screenshot(title="wc board")


def main() -> None:
    """Draw both."""
    with tempfile.TemporaryDirectory() as folder:
        home = f"{folder}/home"
        os.mkdir(home)
        os.environ.update(
            HOME=home,
            GIT_CONFIG_NOSYSTEM="1",
            WATERCOOLER_AGENT=PAT,
            WATERCOOLER_USER="Pat",
            WATERCOOLER_SYNC="off",
        )
        app = f"{folder}/app"
        subprocess.run(["git", "init", "-q", "-b", "main", app], check=True)  # noqa: S603, S607
        os.chdir(app)
        run(["init"])
        context = Context(dict(os.environ), app)
        write(context.place.root)
        run(["timeline", "--svg", str(DOCS / "timeline.svg")])
        drawn = asyncio.run(board(context))
    # The picture must not load fonts from elsewhere.
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)
    (DOCS / "board.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
