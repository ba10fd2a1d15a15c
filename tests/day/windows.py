"""A person's windows in tmux, each a login shell in one of the worktrees.

The shell's own files are those of a person: a prompt that shows the exit status and
the number of the prompt, and a PATH that is set after everything else, as the files of
Debian and of many frameworks do.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.conftest import Machine

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0
_COLUMNS, _LINES = 132, 50

# By shell: how a login shell starts, and its files. `_prompt` counts.
_PATH = 'PATH="$HOME/.local/bin:$PATH"\n'
SHELLS: dict[str, tuple[str, dict[str, str]]] = {
    "bash": (
        "bash -l",
        {
            ".bashrc": (
                "PROMPT_COMMAND='_code=$?; _number=$((_number + 1))'\n"
                "PS1='[$_code] \\W $_number> '\n"
            ),
            ".bash_profile": f". ~/.bashrc\n{_PATH}",
        },
    ),
    "zsh": (
        "zsh -l",
        {
            ".zshrc": (
                "setopt prompt_subst interactive_comments\n"
                "precmd() { _number=$((_number + 1)) }\n"
                "PROMPT='[%?] %1~ $_number> '\n"
            ),
            ".zlogin": _PATH,
        },
    ),
    "fish": (
        "fish -l",
        {
            ".config/fish/config.fish": (
                "set -g fish_greeting\n"
                "set -g _number 1\n"
                "function _count --on-event fish_postexec\n"
                "    set -g _number (math $_number + 1)\n"
                "end\n"
                "function fish_prompt\n"
                "    set -l code $status\n"
                '    echo "[$code] "(basename $PWD)" $_number> "\n'
                "end\n"
                "fish_add_path --global ~/.local/bin\n"
            ),
        },
    ),
}
_PROMPT = re.compile(r"^\[(\d+)\] (\S+) (\d+)> ?(.*)$", re.MULTILINE)
_KEY = re.compile(r"<([A-Z][A-Za-z-]*)>")
# What a terminal says that nobody wants to see, whatever was typed.
_NEVER = ("Traceback", "bug in Watercooler", "command not found", "Unknown command")


class Screen(NamedTuple):
    """What stands below a line that was typed: the text, and the exit status, which is
    ``None`` where no prompt follows."""

    text: str
    code: int | None


class Windows:
    """The windows of a person who uses one kind of shell."""

    def __init__(self, machine: Machine, shell: str) -> None:
        self.machine = machine
        self.shell = shell
        for program in ("tmux", shell):
            if shutil.which(program) is None:
                pytest.skip(f"{program} IS NOT INSTALLED: a day in {shell} is untested")
        self._start, files = SHELLS[shell]
        for name, text in files.items():
            path = machine.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._add_programs()
        self._socket = str(machine.root / "tmux")
        self._numbers: dict[str, int] = {}

    def _add_programs(self) -> None:
        """Add our programs to ~/.local/bin, as installers put them there."""
        folder = self.machine.home / ".local/bin"
        folder.mkdir(parents=True)
        for name in ("wc", "wc-statusline", "wc-guard"):
            shutil.copy(ROOT / "bin" / name, folder)
        for name, module in (
            ("wc-cli", "wc_cli.start"),
            ("wc-observe", "wc_observe.main"),
        ):
            path = folder / name
            path.write_text(
                f"#!{sys.executable}\nimport sys\nfrom {module} import main\n"
                'if __name__ == "__main__":\n    sys.exit(main())\n'
            )
            path.chmod(0o755)

    def _tmux(self, *words: str) -> str:
        # LC_ALL of the machine: what is captured is UTF-8.
        done = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *words],
            env=self.machine.env,
            capture_output=True,
            check=True,
            timeout=SECONDS,
        )
        return done.stdout.decode()

    def close(self) -> None:
        """End the server and all its shells."""
        if os.path.exists(self._socket):
            self._tmux("kill-server")

    def do(
        self, name: str, typed: str, awaited: Iterable[str], *, stays: bool
    ) -> Screen:
        """Type into a window, which is opened first if need be, and Enter unless the
        last thing typed is a key.

        Returns what is then shown, up to the next prompt. If it ``stays`` where it is,
        returns what stands from the line on as soon as all that is awaited is there.
        """
        if name not in self._numbers:
            screen = self._open(name)
            if not typed:
                return screen
        parts = _KEY.split(typed if typed.endswith(">") else f"{typed}<Enter>")
        for index, part in enumerate(parts):
            literal = () if index % 2 else ("-l", "--")
            if part:
                self._tmux("send-keys", "-t", f"day:{name}", *literal, part)
        return self._line(name, awaited) if stays else self._at_prompt(name)

    def _open(self, name: str) -> Screen:
        """Open a window in the folder of that name; returns its first screen."""
        folder = self.machine.root / name
        size = ("-x", str(_COLUMNS), "-y", str(_LINES))
        window = ("-n", name, "-c", str(folder), self._start)
        if self._numbers:
            self._tmux("new-window", "-d", "-t", "day", *window)
        else:
            config = ("-f", "/dev/null")
            self._tmux(*config, "new-session", "-d", "-s", "day", *size, *window)
        self._numbers[name] = 0
        return self._at_prompt(name)

    def _until(self, name: str, is_there: Callable[[str], bool]) -> str:
        """Returns all that a window shows, and has shown, when it is there."""
        look = ("capture-pane", "-p", "-J", "-S", "-", "-t", f"day:{name}")
        end = time.monotonic() + SECONDS
        while not is_there(text := self._tmux(*look)):
            if time.monotonic() > end:
                pytest.fail(f"{self.shell}, {name}: waited too long at\n{text}")
            time.sleep(0.04)
        return text

    def _line(self, name: str, awaited: Iterable[str]) -> Screen:
        def shown(text: str) -> str:
            prompt = _prompts(text)[self._numbers[name]]
            return " ".join(text[prompt.start(4) :].split())

        text = self._until(name, lambda text: all(a in shown(text) for a in awaited))
        return Screen(shown(text), None)

    def _at_prompt(self, name: str) -> Screen:
        number = self._numbers[name] + 1
        text = self._until(name, lambda text: number in _prompts(text))
        self._numbers[name] = number
        prompt, before = _prompts(text)[number], _prompts(text).get(number - 1)
        shown = text[before.end() if before else 0 : prompt.start()]
        for word in _NEVER:
            assert word not in shown, f"{self.shell}, {name}:\n{shown}"
        return Screen(shown.strip("\n"), int(prompt[1]))


def _prompts(text: str) -> dict[int, re.Match[str]]:
    """The prompts of a window by their numbers, each with what was typed there."""
    return {int(match[3]): match for match in _PROMPT.finditer(text)}
