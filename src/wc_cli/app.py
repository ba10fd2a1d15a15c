"""The Typer application: help, errors in a command line, shell completion.

It is built from the declarations that `wc_cli.options` parses; a property test compares
the two parsers.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import io
import os
import re
import textwrap
from typing import Annotated, Any

import typer
from typer._click.exceptions import ClickException, UsageError
from typer._click.shell_completion import ShellComplete, add_completion_class
from typer._completion_classes import BashComplete, FishComplete, ZshComplete
from typer.completion import shell_complete
from typer.main import get_command

from wc_cli import table
from wc_cli.completion import VARIABLE, completer
from wc_cli.context import execute
from wc_cli.help import overview, showing, texts
from wc_cli.options import (
    CHANGES,
    FLAG,
    NUMBER,
    POSITION,
    REQUIRED,
    TEXTS,
    WORDS,
    Declared,
    Options,
    Param,
    takes_signed_words,
)
from wc_cli.terminal.style import terminal_width
from wc_core.errors import InvalidInputError, WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typer._click.shell_completion import CompletionItem

# With the longest word before it, one line of a terminal with 80 columns.
_HELP_WIDTH = 60
# Typer's own rule for the width of its help.
_MARGIN, _LEAST_WIDTH = 2, 50


def run(argv: Sequence[str]) -> None:
    """Parse ``argv`` with Typer and carry out the command.

    Raises InvalidInputError for an invalid command line, and what the command raises.
    """
    if not argv or argv in (["--help"], ["-h"]):
        showing.show_overview()
        return
    names = [argv[0]] if not argv[0].startswith("-") else []
    if names and table.load(names[0]) is None:
        raise unknown_command(names[0])
    is_help = "--help" in argv or "-h" in argv
    columns = terminal_width()  # while standard output is still the terminal
    shown = io.StringIO()
    try:
        # Typer prints the help itself, without colours.
        with contextlib.redirect_stdout(shown) if is_help else contextlib.nullcontext():
            code = _main(argv, names, columns)
    except UsageError as error:
        command = f" {argv[0]}" if names else ""
        message = _plain_words(error.format_message())
        raise InvalidInputError(message, f"See: wc help{command}") from error
    except ClickException as error:
        raise InvalidInputError(error.format_message()) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except typer.Exit as error:
        code = error.exit_code
    if is_help:
        examples = texts.examples(table.ALIASES.get(argv[0], argv[0]))
        showing.show(_with_examples(shown.getvalue(), examples))
    if code:
        raise InvalidInputError(f"Typer ended with {code}.", "See: wc help")


def command_help(name: str, examples: Sequence[str]) -> str:
    """Return the help of a command, by any of its names, for 80 columns."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        _main([name, "--help"], [name], texts.WIDTH)
    return _with_examples(shown.getvalue(), examples)


def _main(argv: Sequence[str], names: Sequence[str], columns: int) -> int:
    """Carry out a command line with Typer. Returns its exit code."""
    width = min(columns or texts.WIDTH, texts.WIDTH) - _MARGIN
    code: int = get_command(build(names)).main(
        list(argv),
        prog_name="wc",
        standalone_mode=False,
        terminal_width=max(width, _LEAST_WIDTH),
    )
    return code


# What the parser says, and the same for readers who write no programs.
_PLAIN = (
    (r"is not a valid int(?: range)?\.", "is not a whole number."),
    (r"(\S+) is not in the range x>=(\S+)\.$", r"\1 is less than \2."),
    (r"Got unexpected extra argument\(s\) \((.*)\)$", r"Too many arguments: \1"),
)


def _plain_words(message: str) -> str:
    for pattern, plain in _PLAIN:
        message = re.sub(pattern, plain, message, flags=re.DOTALL)
    return message


def _with_examples(options: str, examples: Sequence[str]) -> str:
    """Return the help of a command with examples, if there are any, below its
    options."""
    lines = ["\n\nExamples:", *examples] if examples else []
    return options.rstrip("\n") + "\n  ".join(lines)


def complete() -> None:
    """Print the possible next words, in Typer's completion protocol.

    An invalid line has no continuation, which is not an error.
    """
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell, shell.name)
    commands = get_command(build((*table.COMMANDS, *table.ALIASES)))
    try:
        shell_complete(commands, {}, "wc", VARIABLE, os.environ[VARIABLE])
    except (ClickException, KeyError, ValueError):
        return  # KeyError, ValueError: variables of the protocol are missing


class _CommandComplete(ShellComplete):
    """Completion for lines that start with one of our commands. Any other line is for
    the system's ``wc``, and takes files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return nothing for a line of the system's ``wc``."""
        if args and table.load(args[0]) is None:
            return []
        items = super().get_completions(args, incomplete)
        for item in items:
            item.help = item.help and _short_help(item.help)
        return items


def _short_help(sentence: str) -> str:
    """Returns what fits beside a word in a list of completions. What zsh is given is
    quoted twice, so no word has an apostrophe of ASCII."""
    text = sentence.partition(";")[0].rstrip(".").replace("'", "\u2019")
    return textwrap.shorten(text, _HELP_WIDTH, placeholder=" …")


class _Zsh(_CommandComplete, ZshComplete):
    """Typer's completion for zsh."""


class _Fish(_CommandComplete, FishComplete):
    """Typer's completion for fish."""


class _Bash(_CommandComplete, BashComplete):
    """Typer's completion for bash, which inserts words unchanged: the blanks and
    brackets in agents' names must be escaped."""

    def format_completion(self, item: CompletionItem) -> str:
        """Return the word with backslashes."""
        return re.sub(r"([^\w@%+=:,./-])", r"\\\1", str(item.value))


def unknown_command(name: str) -> WcError:
    """Return the error for a command that does not exist, with similar names."""
    near = difflib.get_close_matches(name, table.COMMANDS, 3)
    hint = f"Did you mean: {', '.join(near)}? " if near else ""
    return InvalidInputError(
        f"There is no command {name!r}.", f"{hint}List them with: wc help"
    )


def build(names: Sequence[str] = ()) -> typer.Typer:
    """Return the application, with the named commands or with all of them."""
    application = typer.Typer(
        name="wc",
        help=overview.INTRO,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @application.callback()
    def intro() -> None:
        pass

    intro.__doc__ = overview.INTRO
    for name in names or table.COMMANDS:
        _add_command(application, name)
    return application


def _add_command(application: typer.Typer, name: str) -> None:
    real = table.ALIASES.get(name, name)
    declared = table.load(real)
    if declared is None:
        raise AssertionError(name)
    description = inspect.getdoc(declared.options) or ""
    application.command(
        name,
        help=description,
        short_help=overview.first_sentence(description),  # Typer would cut it off
        rich_help_panel=table.COMMANDS[real].panel,
        hidden=name in table.ALIASES,
        context_settings=context_settings(declared.options),
    )(_callback(declared, table.occasion(real)))


def context_settings(options: type[Options]) -> dict[str, Any]:
    """Return the settings of a command. A command that takes ``-word`` as an argument
    has no one-letter options."""
    if not takes_signed_words(options):
        return {}
    return {"ignore_unknown_options": True, "help_option_names": ["--help"]}


def _callback(declared: Declared, occasion: str) -> Callable[..., None]:
    """Return a function with the signature from which Typer makes a command."""

    def call(**values: Any) -> None:
        execute(declared, to_options(declared.options, values), occasion)

    call.__signature__ = signature(declared.options)  # type: ignore[attr-defined]
    return call


def to_options(options: type[Options], values: dict[str, Any]) -> Options:
    """Return Typer's values as an instance of the class that declares them."""
    for param in options.params():
        if param.kind in {TEXTS, WORDS, CHANGES}:
            values[param.name] = tuple(values[param.name] or ())
    return options(values)


def signature(options: type[Options]) -> inspect.Signature:
    """Return a signature with one annotated parameter for each declaration."""
    return inspect.Signature([_parameter(param) for param in options.params()])


def _parameter(param: Param) -> inspect.Parameter:
    types: dict[str, Any] = {
        FLAG: bool,
        NUMBER: int,
        POSITION: int,
        TEXTS: list[str],
        WORDS: list[str],
        CHANGES: list[str],
    }
    kind: Any = types.get(param.kind, str)
    complete = completer(param.complete)
    info: Any
    if param.flags:
        info = typer.Option(
            *param.flags,
            help=param.help,
            metavar=param.metavar or None,
            show_default=bool(param.default),
            autocompletion=complete,
            min=0 if param.kind == NUMBER else None,
        )
    else:
        info = typer.Argument(
            help=param.help,
            metavar=param.metavar,
            show_default=False,
            autocompletion=complete,
        )
    default = param.default
    if default is REQUIRED:
        default = inspect.Parameter.empty
    elif param.kind in {TEXTS, WORDS, CHANGES}:
        default = None
    return inspect.Parameter(
        param.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )
