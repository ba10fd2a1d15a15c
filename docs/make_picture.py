#!/usr/bin/env python3
"""Draws docs/session.svg, the picture in the README, from a real session.

    .venv/bin/python docs/make_picture.py

A throwaway repository with two linked worktrees, an agent's name in each, the real
commands in a real terminal. What they print is what is drawn.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "session.svg"
WIDTH = 104

AGENTS = {"app-wt-login": "Claude Code", "app-wt-review": "Codex"}
# Who works where is drawn once, above; a blank line wherever the agent changes.
SESSION = (
    ("app-wt-login", "wc say login --title 'Passkeys work: please review' --to Codex"),
    ("app-wt-login", "wc-statusline"),
    ("app-wt-review", "wc-statusline"),
    ("app-wt-review", "wc list"),
    (
        "app-wt-review",
        "wc say login --title 'Fine, but one test is missing' --role critic",
    ),
    ("app-wt-login", "wc-statusline"),
    ("app-wt-login", "wc read login --new"),
)
PREPARATION = """\
git init --quiet --initial-branch=main app
cd app
git commit --quiet --allow-empty --message='Start'
git worktree add --quiet -b login ../app-wt-login
git worktree add --quiet -b review ../app-wt-review
"""


class Stage:
    """The throwaway folder and the environment of everything in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        programs = os.path.dirname(sys.executable)
        self.env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": f"{folder}/home",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(WIDTH - 2),
            "WATERCOOLER_SYNC": "off",
            **{f"GIT_{one}_NAME": "dev" for one in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{one}_EMAIL": "dev@localhost" for one in ("AUTHOR", "COMMITTER")},
            "WATERCOOLER_USER": "dev",
        }
        os.mkdir(self.env["HOME"])
        self.run(PREPARATION, ".", "")

    def run(self, command: str, worktree: str, agent: str) -> str:
        """What a command prints in a terminal, colours included."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(  # noqa: S603 (words of ours)
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
    """Some of what was printed; nothing when everybody has left the terminal."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def draw(stage: Stage) -> str:
    """The session as SVG."""
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        legacy_windows=False,
    )
    before = ""
    for worktree, command in SESSION:
        agent = AGENTS[worktree]
        if worktree != before:
            where = f"# {agent}, in the worktree {worktree}"
            console.print(Text(("\n" if before else "") + where, style="dim"))
            before = worktree
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        printed = Text.from_ansi(stage.run(command, worktree, agent).rstrip("\n"))
        console.print(printed, soft_wrap=False)
    svg = console.export_svg(title="two agents, two worktrees, one ball")
    # Not every viewer keeps blanks at the beginning of a line.
    return svg.replace("<text ", '<text xml:space="preserve" ')


def main() -> None:
    """Draw it."""
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(draw(Stage(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
