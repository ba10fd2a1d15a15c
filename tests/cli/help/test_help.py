"""The help: of all commands, of each, and how it is shown."""

from __future__ import annotations

import inspect
import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine
from wc_cli import app, table
from wc_cli.help import overview, showing, texts
from wc_cli.terminal.style import Style

if TYPE_CHECKING:
    from tests.conftest import Repo


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository in which nothing is written."""
    return Machine(tmp_path_factory.mktemp("quiet")).repo()


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command(quiet: Repo, words: list[str]) -> None:
    out = quiet.ok(*words).out
    assert "Whose move is it?" in out
    for name in table.COMMANDS:
        assert re.search(rf"^  {name} ", out, re.MULTILINE), name
    assert "set_status" not in out
    assert not re.search(r"[\w,:]\.\.\.$", out, re.MULTILINE)  # whole sentences


def test_help_begins_with_where_to_start(quiet: Repo) -> None:
    out = quiet.ok("help").out
    assert out.index("Start here:") < out.index("Pass the ball:") < out.index("Read:")
    assert "IN_REVIEW" in out
    assert "implementer" in out
    assert "Closure" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("columns", [0, 40, 55, 60, 79, 80, 200])
def test_the_help_is_as_wide_as_the_terminal(columns: int) -> None:
    lines = overview.overview(overview.summaries(), columns).splitlines()
    assert max(map(len, lines)) <= min(columns or 80, 80)
    assert {line.rpartition("  ")[2].strip() for line in lines} >= {"wc demo"}


def test_every_command_is_in_a_group_of_the_help() -> None:
    grouped = [name for names in overview.groups().values() for name in names]
    assert sorted(grouped) == sorted(table.COMMANDS)


def test_the_help_has_a_sentence_about_each_command() -> None:
    for name, summary in overview.summaries().items():
        declared = table.load(name)
        description = inspect.getdoc(declared.options) if declared else None
        assert description is not None
        assert " ".join(description.split()).startswith(summary.rstrip(".")), name
    assert [*overview.summaries()] == [*table.COMMANDS]


def test_help_of_a_command_ends_with_examples(quiet: Repo) -> None:
    out = quiet.ok("help", "set_status").out
    _, _, examples = out.partition("\nExamples:\n")
    lines = examples.splitlines()
    assert lines
    assert all(line.startswith("  ") and "wc set-status " in line for line in lines)
    assert [name for name in table.COMMANDS if not texts.examples(name)] == []


@pytest.mark.parametrize("name", [*table.COMMANDS, *table.ALIASES])
def test_the_written_help_is_that_of_typer(name: str) -> None:
    examples = texts.examples(table.ALIASES.get(name, name))
    assert texts.written(name) == app.command_help(name, examples)


def test_the_written_overview_is_up_to_date() -> None:
    assert texts.written_overview() == overview.overview(overview.summaries())


@pytest.mark.parametrize("name", ["COMMAND", "say [OPTIONS]", "sa", "--help"])
def test_no_help_is_written_for_other_words(quiet: Repo, name: str) -> None:
    assert texts.written(name) == ""
    assert "There is no command" in quiet.fails(2, "help", "--", name)


@pytest.mark.parametrize("name", ["", "COMMAND", "raed"])
def test_no_command_no_help(quiet: Repo, name: str) -> None:
    assert "There is no command" in quiet.fails(2, name, "--help")


def test_a_short_option_that_can_be_an_argument_is_no_request_for_help(
    quiet: Repo,
) -> None:
    assert "Missing argument 'TAG...'" in quiet.fails(2, "tag", "-h")


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (80, 80), (200, 80)])
@pytest.mark.parametrize("words", [["help"], ["help", "list"], ["list", "--help"]])
def test_help_fits_the_terminal(
    quiet: Repo, words: list[str], columns: int, width: int
) -> None:
    shown = at_terminal(quiet, words, columns).partition("Examples:")[0]
    assert width - 6 < max(map(len, shown.splitlines())) <= width


def at_terminal(repo: Repo, words: list[str], columns: int) -> str:
    """What a command prints on a terminal of this width, without colours or a pager."""
    machine = repo.machine
    ours, theirs = pty.openpty()
    columns_and_pager = {"COLUMNS": str(columns), "PAGER": "cat", "TERM": "dumb"}
    with subprocess.Popen(
        [*machine.wc_words, *words],
        cwd=repo.path,
        env={**machine.env, **columns_and_pager},
        stdout=theirs,
    ):
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 1 << 16):
                shown += more
        except OSError:
            pass  # the terminal was closed
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_help_has_colours_at_a_terminal() -> None:
    text = "Usage: wc say\n\n  Add it.\n\nOptions:\n  --to NAME  To.\n  say   Add it."
    shown = showing.colored(text, Style(color=True))
    assert shown == (
        "\x1b[1mUsage:\x1b[0m wc say\n\n  Add it.\n\n\x1b[1mOptions:\x1b[0m\n"
        "  \x1b[36m--to\x1b[0m NAME  To.\n  \x1b[36msay\x1b[0m   Add it."
    )
    assert showing.colored(text, Style(color=False)) == text


@pytest.mark.parametrize("name", ["say", "list", "set_status", "search"])
def test_help_of_a_command(quiet: Repo, name: str) -> None:
    said = quiet.ok("help", name)
    assert said.out.startswith(f"Usage: wc {name} ")
    assert quiet.ok(name, "--help").out == said.out
    assert quiet.ok(name, "-h").out == said.out
    assert quiet.ok(name, "word", "--help").out == said.out
    assert said.err == ""


def test_help_of_what_is_not_a_command(quiet: Repo) -> None:
    assert "Did you mean: tree, read, related?" in quiet.fails(2, "help", "reed")
