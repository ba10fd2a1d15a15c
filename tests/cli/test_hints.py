"""Hints lead somewhere: each command that a message of ours names exists and can be
parsed, and where the message appears it does something."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import Machine
from tests.contract.inprocess import Here
from wc_cli.run import table
from wc_cli.run.options import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).resolve().parents[2] / "src"
# `wc` and a word; its arguments end where a sentence goes on.
COMMAND = re.compile(
    r"(?<![\w./`$-])wc (?P<name>[a-z][a-z_-]*)"
    r"(?P<rest>(?: (?:'[^']*'|(?!if |and |or |on )[^\s;,?()|`'\"]+))*)"
)
# Stands for every value in a message: it can be a topic, a name, a file or a number.
VALUE = "1"
# After `wc`, a sentence may go on; these are no commands.
PROSE = {
    *("again", "can", "cannot", "command", "did", "do", "does", "has", "in", "is"),
    *(
        "knows",
        "of",
        "on",
        "parses",
        "refuses",
        "says",
        "than",
        "that",
        "warns",
        "wc-cli",
        "with",
        "wrote",
    ),
}


class Message(NamedTuple):
    """A string of the code that someone may read, with its place."""

    place: str
    text: str


@functools.cache
def messages() -> tuple[Message, ...]:
    """The strings of the code except docstrings; a value in them is `VALUE`."""
    return (*_messages(),)


def _messages() -> Iterator[Message]:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "wc " not in text:
            continue
        tree = ast.parse(text)
        parts = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for value in node.values
            for part in ast.walk(value)
        }
        parts |= {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in parts:
                text = _text(node)
                if "wc " in text:
                    yield Message(f"{path.relative_to(SOURCE)}:{node.lineno}", text)


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    values = (
        str(value.value) if isinstance(value, ast.Constant) else VALUE
        for value in node.values
    )
    return "".join(values)


def test_every_command_that_a_message_names_exists() -> None:
    names = {
        match["name"]
        for message in messages()
        for match in COMMAND.finditer(message.text)
    }
    assert len(names & {*table.COMMANDS}) > len(table.COMMANDS) / 2
    assert names - {*table.COMMANDS, *table.ALIASES} <= PROSE


def directions(text: str) -> Iterator[str]:
    """The commands that a message tells to run: they follow a colon, and end the
    sentence or are followed by another one."""
    for match in COMMAND.finditer(text):
        if text[: match.start()].endswith(": "):
            yield match[0].partition(". ")[0].partition(" [")[0].rstrip(".:")


def test_every_command_that_a_message_proposes_can_be_parsed() -> None:
    proposed = {
        (command, message.place)
        for message in messages()
        for command in directions(message.text)
        if command.split()[1] in table.COMMANDS
        # Templates are in a test of rules; descriptions of tools name no arguments.
        and "{" not in command
        and "wc_observe/mcp/" not in message.place
    }
    assert len(proposed) > 200
    unparsed = [pair for pair in sorted(proposed) if not is_complete(pair[0])]
    assert unparsed == []


def is_complete(command: str) -> bool:
    """Whether a command line can be parsed with a value for each placeholder."""
    _, name, *words = shlex.split(command)
    words = [VALUE if word in {"N", "--1"} else word for word in words]
    declared = table.load(name)
    assert declared is not None
    return parse(declared.options, words) is not None


# --- where they appear --------------------------------------------------------


class Mistake(NamedTuple):
    """A command line that fails or does nothing, and the commands that it proposes."""

    typed: str
    proposed: tuple[str, ...]


# Pat is on `main`, in the worktree of `login`, and has its ball. Codex has the one of
# `slow`, and asks Pat in `api` and in `ui`.
MISTAKES = (
    Mistake("read nope", ("wc list",)),
    Mistake("say login two words", ("wc say login 'two words'",)),
    Mistake("say It works", ("wc new it -m works",)),
    Mistake("say 'It' works", ("wc say 'It works'",)),
    Mistake("say", ("wc say login -m '…'", "wc help say")),
    Mistake("say ''", ("wc say TOPIC -m '…'",)),
    Mistake("new", ("wc help new",)),
    Mistake("new login -m x", ("wc say login -m '…'",)),
    Mistake("new 'A new idea'", ("wc new a-new-idea -m 'A new idea'",)),
    Mistake("answer 'All but IE'", ("wc answer api -m '…'",)),
    Mistake("answer api 9 -m x", ("wc answer api N -m '…'",)),
    Mistake("take login", ("wc say login -m '…'",)),
    Mistake("take slow", ("wc take slow --reason '…'",)),
    Mistake("say slow -m x", ("wc take slow --reason '…'",)),
    Mistake("say old -m x", ("wc say old --reopen -m '…'",)),
    Mistake("use old", ("wc set-status old OPEN",)),
    Mistake("list nothing-like-it", ("wc list nothing-like-it --all",)),
    Mistake("list slow BLOCKED", ("wc list --status BLOCKED",)),
    Mistake("status slow BLOCKED", ("wc set-status slow BLOCKED",)),
    Mistake("link slow api", ("wc link slow waits-for api",)),
    Mistake("say slow --tick 3", ("wc read slow",)),
    Mistake("ready slow --anyway", ("wc ready slow",)),
    Mistake("tag slow", ("wc tag slow TAG",)),
    Mistake("gate slow", ("wc ready slow",)),
    Mistake("guidance", ("wc guidance add --on handoff 'Run the tests first.'",)),
    Mistake("guidance remove", ("wc guidance list",)),
    Mistake("config get nope", ("wc config list",)),
    Mistake("ready login --anyway", ("wc ready login",)),
    Mistake("reopen old", ("wc set-status old OPEN",)),
    Mistake("next", ("wc ready",)),
    Mistake("decisions", ("wc search --kind decision",)),
    Mistake("ask login Codex", ("wc ask login --to Codex -m '…'",)),
    Mistake("wait slow --timeout 0.01", ("wc list --open",)),
    Mistake("help nope", ("wc help --all",)),
)
# What a person puts in the place of a word.
FILLED = {"…": "text", "TOPIC": "login", "TAG": "small", "N": "1", "NAME": "Codex"}


@pytest.fixture
def repo(tmp_path: Path) -> Here:
    machine = Machine(tmp_path)
    repo = Here(machine, machine.repo().path)
    for line in (
        "new login -m 'Log in'",
        "new slow -m 'Search is slow' --branch search --to Codex",
        "new api -m 'Browsers' --branch api",
        "ask api -m 'Which?' --to Pat --as Codex",
        "new ui -m 'Colours' --branch ui",
        "ask ui -m 'Which?' --to Pat --as Codex",
        "new old -m 'An old one'",
        "close old",
    ):
        repo.ok(*shlex.split(line))
    return repo


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.typed)
def test_what_is_proposed_works(repo: Here, mistake: Mistake) -> None:
    done = repo.wc(*shlex.split(mistake.typed))
    for command in mistake.proposed:
        assert command in done.out + done.err
        words = [FILLED.get(word, word) for word in shlex.split(command)[1:]]
        answer = repo.wc(*words)
        assert answer.code == 0, (command, answer)
