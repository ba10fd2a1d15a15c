"""Command lines that the fast parser rejects, parsed by Typer: mistakes with their
messages, and unusual spellings.

The Typer application of a command is built from the declaration that
`wc_cli.run.options` parses; a property test compares the two parsers. Only public names
of Typer are used.
"""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer
from typer.main import get_command

from wc_cli.run import table
from wc_cli.run.context import execute
from wc_cli.run.help import showing
from wc_cli.run.options import (
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
from wc_core.base.errors import InvalidInputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def run(declared: Declared, argv: Sequence[str]) -> None:
    """Parse ``argv``, which starts with the name of the command, with Typer, and carry
    out the command.

    Raises InvalidInputError for an invalid command line, and what the command raises.
    """
    name = argv[0]

    def call(options: Options) -> None:
        execute(declared, options, table.occasion(name))

    application = build(declared.options, call, lambda: showing.show_command(name))
    try:
        get_command(application).main([*argv[1:]], f"wc {name}", standalone_mode=False)
    except typer.TyperException as error:
        message = _plain_words(error.format_message())
        raise InvalidInputError(message, f"See: wc help {name}") from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error


# Typer's words for too many arguments.
_TOO_MANY = r"Got unexpected extra argument\(s\) \((.*)\)$"


def _plain_words(message: str) -> str:
    return re.sub(_TOO_MANY, r"Too many arguments: \1", message, flags=re.DOTALL)


def build(
    options: type[Options],
    call: Callable[[Options], None],
    show_help: Callable[[], None],
) -> typer.Typer:
    """Return the application of a command: it calls ``call`` with the options of a
    valid line, and ``show_help`` for a line that asks for help."""

    def carry_out(**values: Any) -> None:
        del values[_HELP]
        call(to_options(options, values))

    parameters = [*map(_parameter, options.params()), _help(options, show_help)]
    carry_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    application = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
    )
    signed = takes_signed_words(options)
    settings = {"ignore_unknown_options": signed, "help_option_names": []}
    application.command(context_settings=settings)(carry_out)
    return application


# No declaration has this name.
_HELP = "help_"


def _help(options: type[Options], show_help: Callable[[], None]) -> inspect.Parameter:
    """Return the parameter for help. A command that takes ``-word`` as an argument has
    no one-letter options."""

    def show(value: bool) -> None:  # noqa: FBT001 - as Typer calls it
        if value:
            show_help()
            raise typer.Exit

    flags = ["--help"] if takes_signed_words(options) else ["--help", "-h"]
    option = typer.Option(*flags, is_eager=True, callback=show)
    return inspect.Parameter(
        _HELP,
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, option],
    )


def to_options(options: type[Options], values: dict[str, Any]) -> Options:
    """Return Typer's values as an instance of the class that declares them."""
    for param in options.params():
        if param.kind in {TEXTS, WORDS, CHANGES}:
            values[param.name] = tuple(values[param.name] or ())
    return options(values)


def _whole_number(text: str | int) -> int:
    """Return the number that a text is, or a default as it is."""
    try:
        return int(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a whole number.") from error


def _count(text: str | int) -> int:
    number = _whole_number(text)
    if number < 0:
        raise typer.BadParameter(f"{number} is less than 0.")
    return number


# Typer's own messages about numbers depend on its version.
_PARSERS = {NUMBER: _count, POSITION: _whole_number}


def _parameter(param: Param) -> inspect.Parameter:
    types: dict[str, Any] = {
        FLAG: bool,
        TEXTS: list[str],
        WORDS: list[str],
        CHANGES: list[str],
    }
    kind: Any = types.get(param.kind, str)
    info: Any
    if param.flags:
        info = typer.Option(
            *param.flags,
            metavar=param.metavar or None,
            parser=_PARSERS.get(param.kind),
        )
    else:
        info = typer.Argument(metavar=param.metavar)
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
