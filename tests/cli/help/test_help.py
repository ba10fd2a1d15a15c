"""The help: of all commands, of each, and how it is shown."""

from __future__ import annotations

import inspect
import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Machine
from wc_cli.commands.common import WriteOptions
from wc_cli.run import table
from wc_cli.run.help import command, layout, overview, showing
from wc_cli.run.options import REQUIRED
from wc_cli.run.terminal.style import Style

if TYPE_CHECKING:
    from tests.conftest import Repo

# As many options as the help of a command shows.
MOST_OPTIONS = 10


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository in which nothing is written."""
    return Machine(tmp_path_factory.mktemp("quiet")).repo()


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_says_where_to_start(quiet: Repo, words: list[str]) -> None:
    out = quiet.ok(*words).out
    assert "Who has the ball, and who will conflict?" in out
    assert out.index("Start here:") < out.index("Groups of commands:")
    for name in overview.groups():
        assert len(re.findall(rf"^  {name} ", out, re.MULTILINE)) == 1, name
    assert "wc help --all" in out
    assert len(out.splitlines()) <= 30
    assert "\x1b" not in out


def test_help_lists_every_command_when_asked(quiet: Repo) -> None:
    out = quiet.ok("help", "--all").out
    for name in table.COMMANDS:
        assert re.search(rf"^  {name} ", out, re.MULTILINE), name
    assert "set_status" not in out
    assert not re.search(r"[\w,:]\.\.\.$", out, re.MULTILINE)  # whole sentences
    assert out.index("Start here:") < out.index("Pass the ball:") < out.index("Read:")
    assert "IN_REVIEW" in out
    assert "implementer" in out
    assert "Closure" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", overview.groups())
def test_help_of_a_group(quiet: Repo, name: str) -> None:
    group = overview.groups()[name]
    lines = quiet.ok("help", name).out.splitlines()
    assert lines[0] == f"{group.title}:"
    assert [line.split()[0] for line in lines if re.match(r"  \S", line)] == [
        *group.names
    ]
    assert lines[-1].endswith("wc help COMMAND")
    assert f"There is no command {name!r}" in quiet.fails(2, name, "--help")


def test_no_group_has_the_name_of_a_command() -> None:
    assert not {*overview.groups()} & {*table.COMMANDS, *table.ALIASES}


@pytest.mark.parametrize("columns", [0, 40, 55, 60, 79, 80, 200])
def test_the_help_is_as_wide_as_the_terminal(columns: int) -> None:
    pages = [
        overview.overview(overview.summaries(), columns),
        overview.start_page(columns),
    ]
    for page in pages:
        lines = page.splitlines()
        assert max(map(len, lines)) <= min(columns or 80, 80)
        assert {line.rpartition("  ")[2].strip() for line in lines} >= {"wc demo"}


def test_every_command_is_in_a_group_of_the_help() -> None:
    grouped = [name for group in overview.groups().values() for name in group.names]
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
    assert [name for name in table.COMMANDS if not command.examples(name)] == []


@pytest.mark.parametrize("name", [*table.COMMANDS, *table.ALIASES])
def test_the_help_of_a_command_has_ten_options_and_all_when_asked(name: str) -> None:
    declared = table.load(name)
    assert declared is not None
    options = [param for param in declared.options.own() if param.flags]
    whole = command.command_help(name, is_all=True)
    for param in declared.options.own():
        assert param.metavar in whole
        is_required = param.flags and param.default is REQUIRED
        words = f"{param.help} {'Required.' if is_required else ''}"
        assert " ".join(words.split()) in " ".join(whole.split()), param.name
    assert shown_options(whole) == {flag for one in options for flag in one.flags}
    text = command.command_help(name)
    if len(options) <= MOST_OPTIONS:
        assert not declared.options.usual
        assert text == whole
        return
    usual = declared.options.usual.split()
    assert 5 < len(usual) <= MOST_OPTIONS
    assert len(set(usual)) == len(usual)
    assert shown_options(text) >= set(usual)
    assert text.count("--help") == 1
    real = table.ALIASES.get(name, name)
    assert f"\n{len(options) - len(usual)} more: wc help {real} --all\n" in text
    required = {one.flags[0] for one in options if one.default is REQUIRED}
    assert required <= set(usual)


def shown_options(text: str) -> set[str]:
    """The flags that a help text lists, without those for help."""
    options = text.partition("\nOptions:\n")[2].partition("\n\n")[0]
    lines = re.findall(r"^  (-\S.*?)(?:  |$)", options, re.MULTILINE)
    flags = {
        flag for line in lines for flag in re.findall(r"(?:^|, )(--?[\w-]+)", line)
    }
    return flags - {"--help", "-h"}


def test_help_shows_all_options_when_asked(quiet: Repo) -> None:
    text = quiet.ok("say", "--help").out
    assert len(text.splitlines()) <= 24
    assert "--lock-timeout" not in text
    assert "--lock-timeout" in quiet.ok("help", "say", "--all").out
    assert "(Possible options: --all" in quiet.fails(2, "help", "say", "--al")


def test_a_page_explains_the_options_of_many_commands(quiet: Repo) -> None:
    page = quiet.ok("help", "options").out
    for params in WriteOptions.groups().values():
        assert params
        for param in params:
            assert re.search(
                rf"^  {param.flags[0]} {param.metavar}", page, re.MULTILINE
            )
    assert "--json" in quiet.ok("list", "--help").out
    assert "--json" not in quiet.ok("version", "--help").out


@given(
    st.lists(st.text(st.characters(codec="ascii", categories=["L", "P"]), min_size=1)),
    st.integers(10, 100),
)
def test_wrapped_lines_have_every_word_and_fit(words: list[str], width: int) -> None:
    lines = layout.wrapped(" ".join(words), width, "* ", "    ")
    assert " ".join(lines).split() == ["*", *words]
    for line in lines:
        assert len(line) <= width or len(line.split()[-1]) + 4 > width
    assert all(line.startswith("    ") for line in lines[1:])


@pytest.mark.parametrize("name", ["COMMAND", "say [OPTIONS]", "sa", "--help"])
def test_there_is_no_help_for_other_words(quiet: Repo, name: str) -> None:
    assert command.command_help(name) == ""
    assert "There is no command" in quiet.fails(2, "help", "--", name)


@pytest.mark.parametrize("name", ["", "COMMAND", "raed"])
def test_no_command_no_help(quiet: Repo, name: str) -> None:
    assert "There is no command" in quiet.fails(2, name, "--help")


def test_a_short_option_that_can_be_an_argument_is_no_request_for_help(
    quiet: Repo,
) -> None:
    assert 'no thread "-h"' in quiet.fails(3, "tag", "-h")


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (80, 80), (200, 80)])
@pytest.mark.parametrize(
    "words",
    [["help"], ["help", "reading"], ["help", "list", "--all"], ["search", "--help"]],
)
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
    assert "Did you mean: tree, read" in quiet.fails(2, "help", "reed")
