"""Runs what the documentation shows, as it stands.

Only what a reader sees is run. A fenced block names its language, and after it may
say one of two words:

- ``fresh``: start again, with another home folder and another repository; the text
  before the block says so as well;
- ``elsewhere``: do not run it; it takes a network, another machine, a while.

``sh`` is run line by line, ``console`` as well (its commands stand behind ``$``)
and what it prints is compared, ``python`` is a script. A command that is to fail
says so: ``# exit 4``.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.conftest import Done, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
# Pages beside docs/. Templates of GitHub's are none: they are forms. Neither is the
# changelog: commands, options and pages that it names may be gone.
TOP_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
# The repository that a page begins in: in the home folder, as docs/README.md says.
REPOSITORY = "home/app"
# Whose home folder paths are in, on the pages.
HOME = "/home/pat"

_FENCE = re.compile(r"^```([\w-]*) ?(.*)$")
_PROMPT = re.compile(r"^(?:([\w.-]+) )?\$ (.*)$")
_EXIT = re.compile(r"\s+# exit (\d+)$")
_COMMENT = re.compile(r"\s+# .*$")
# What only a shell understands.
_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#\n]")
_OURS = {"wc", "wc-cli", "./bin/wc"}
_SHOWN_ALIKE = (
    # Ids, times, hashes and ages are others each time. Hashes come before ages:
    # 249734d is a commit, not a number of days, and one may be all letters.
    (re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b"), "ID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{7,40}\b"), "HASH"),
    (
        re.compile(r"\b(?:just now|now|\d+(?:\.\d+)? ?(?:ms|s|min|m|h|d)( ago)?)\b"),
        "AGE",
    ),
    (re.compile(r" +"), " "),
)


class Block(NamedTuple):
    """A fenced block: where it begins, what is in it, and what the page says between
    the block before and this one."""

    page: str
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    before: str = ""

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


class Step(NamedTuple):
    """A command, the terminal it is typed into, how it ends; what it prints,
    where that is said."""

    command: str
    terminal: str = ""
    exit_code: int = 0
    shown: str | None = None


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[Block] = []
    before: list[str] = []
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if fence := _FENCE.match(line):
            inside = "".join(f"{one}\n" for one in _until(lines, "```"))
            words = tuple(fence[2].split())
            said = " ".join(before)
            found.append(Block(page, number, fence[1], words, inside, said))
            before.clear()
        else:
            before.append(line)
    return found


def _until(lines: Iterator[tuple[int, str]], end: str) -> Iterator[str]:
    for _, line in lines:
        if line == end:
            return
        yield line


def steps(block: Block) -> list[Step]:
    """The commands of a block of ``sh`` or ``console``."""
    if block.language == "console":
        return [*_typed(block.text)]
    if "<<" in block.text:
        return [Step(f"set -e\n{block.text}")]
    joined = block.text.replace("\\\n", " ")
    lines = (one for one in joined.splitlines() if one and not one.startswith("#"))
    return [_step(one) for one in lines]


def _step(line: str, terminal: str = "", shown: str | None = None) -> Step:
    code = _EXIT.search(line)
    command = _EXIT.sub("", line)
    return Step(command, terminal, int(code[1]) if code else 0, shown)


def _typed(text: str) -> Iterator[Step]:
    """What stands behind the prompts, each with the lines below it."""
    typed: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        prompt = _PROMPT.match(line)
        if prompt:
            typed.append((prompt[1] or "", prompt[2], []))
        elif typed and typed[-1][1].endswith("\\"):
            terminal, command, _ = typed.pop()
            typed.append((terminal, f"{command[:-1]} {line.strip()}", []))
        else:
            assert typed, f"output without a command: {line}"
            typed[-1][2].append(line)
    for terminal, command, shown in typed:
        yield _step(command, terminal, "\n".join(shown))


def alike(text: str) -> str:
    """A text without what is different each time."""
    for pattern, word in _SHOWN_ALIKE:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def matches(shown: str, printed: str) -> bool:
    """Whether this is what was shown; ``…`` is any text of a line, and a line
    of its own any lines."""
    pattern = re.escape(alike(shown))
    pattern = re.sub(r"(?m)^…\n", "(?:.*\n)*?", f"{pattern}\n".replace("\\\n", "\n"))
    pattern = pattern.replace("…", "[^\n]*")
    return re.fullmatch(pattern, f"{alike(printed)}\n") is not None


class Terminal:
    """A folder and the variables someone exported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env: dict[str, str] = {}


class Session:
    """A reader of a page, who types what it shows.

    ``stands_for`` says what the page's words in capitals are here.
    """

    def __init__(self, root: Path, stands_for: Mapping[str, str]) -> None:
        self.machine = Machine(root)
        self.repo = self.machine.repo(REPOSITORY)
        self.stands_for = stands_for
        self.terminals: dict[str, Terminal] = {"": Terminal(self.repo.path)}
        # Nor is there a hurry, where many tests share the machine.
        self.machine.env |= {"USER": "pat"}
        # A reader has the model of this machine, which other tests do without.
        del self.machine.env["WATERCOOLER_MEANING"]
        self._install()

    def _install(self) -> None:
        """Our programs on PATH, as they are when they were installed."""
        folder = self.machine.root / "programs"
        folder.mkdir()
        for name in ("wc", "wc-statusline", "wc-guard"):
            shutil.copy(ROOT / "bin" / name, folder)
        for name, module in (("wc-cli", "wc_cli"), ("wc-observe", "wc_observe")):
            path = folder / name
            path.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
            path.chmod(0o755)
        self.machine.env["PATH"] = f"{folder}:{self.machine.env['PATH']}"

    def terminal(self, name: str) -> Terminal:
        """The terminal in a folder beside that of the first one, or the first one."""
        if name not in self.terminals:
            beside = self.terminals[""].folder.parent
            self.terminals[name] = Terminal(beside / name)
        return self.terminals[name]

    def run(self, block: Block) -> None:
        """Do what a block says; a difference is an AssertionError."""
        if block.language == "python":
            words = [sys.executable, "-c", block.text]
            done = self.machine.run(words, self.terminal("").folder)
            assert not done.code, f"{block.place}: {done.err}"
            return
        for step in steps(block):
            at = self.terminal(step.terminal)
            command = step.command
            for word, meaning in self.stands_for.items():
                pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
                if re.search(pattern, command):
                    meant = meaning.format(home=self.machine.home, repo=self.repo)
                    command = re.sub(pattern, meant, command)
            done = self._type(command, at)
            # A terminal shows both streams in the order of writing. Here they are
            # read apart.
            printed, other = (
                self._as_of_pat(said)
                for said in (done.err + done.out, done.out + done.err)
            )
            told = f"{block.place}: {command}\n{printed}"
            assert done.code == step.exit_code, f"exit {done.code} at {told}"
            if step.shown is not None:
                same = matches(step.shown, printed) or matches(step.shown, other)
                assert same, f"not as shown at {told}"

    def _as_of_pat(self, printed: str) -> str:
        """What was printed, with the paths that the pages have."""
        return printed.replace(f"{self.machine.home}/", f"{HOME}/")

    def _type(self, command: str, at: Terminal) -> Done:
        first = command.partition(" ")[0]
        if first in {"cd", "export"}:
            return self._change(command, at)
        env = {**at.env}
        plain = _COMMENT.sub("", command)
        words = [] if _SHELL.search(_unquoted(plain)) else shlex.split(plain)
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        if words and words[0] in _OURS:
            argv = [*self.machine.wc_words, *words[1:]]
            return self.machine.run(argv, at.folder, env=env)
        return self.machine.run(["sh", "-c", command], at.folder, env=env)

    def _change(self, command: str, at: Terminal) -> Done:
        """Change the folder, or export a variable."""
        words = shlex.split(_COMMENT.sub("", command))
        if words[0] == "export":
            name = words[1].partition("=")[0]
            said = f'{command} && printf %s "${name}"'
            done = self.machine.run(["sh", "-c", said], at.folder, env=at.env)
            at.env[name] = done.out
            return done._replace(out="")
        said = f"{command} && pwd"
        done = self.machine.run(["sh", "-c", said], at.folder, env=at.env)
        at.folder = Path(done.out.strip())
        return done._replace(out="")


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)
