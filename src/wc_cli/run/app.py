"""Command lines that the fast parser rejects, parsed by Typer: mistakes with their
messages, and unusual spellings.

The Typer application of a command is built from the declaration that
`wc_cli.run.options` parses; a property test compares the two parsers. Typer parses the
options; the arguments are distributed by `options.fill_arguments`. Only public names of
Typer are used.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.main import get_command

from wc_cli.run import table
from wc_cli.run.context import execute
from wc_cli.run.help import showing
from wc_cli.run.options import (
    FLAG,
    NUMBER,
    POSITION,
    REQUIRED,
    TEXTS,
    Declared,
    Options,
    Param,
    fill_arguments,
    takes_signed_words,
)
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted

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
        raise InvalidInputError(
            error.format_message(), f"See: wc help {name}"
        ) from error
    except ArgumentsError as error:
        hint = error.hint(name) or f"See: wc help {name}"
        raise InvalidInputError(str(error), hint) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error


class ArgumentsError(Exception):
    """Arguments are missing or left over.

    ``correction`` are the arguments that were probably meant, if that is known.
    """

    def __init__(self, message: str, correction: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.correction = correction

    def hint(self, name: str) -> str:
        """The command line that was probably meant; empty if that is not known."""
        if not self.correction:
            return ""
        words = " ".join(map(quoted, self.correction))
        return f"Quote a text of several words: wc {name} {words}"


def build(
    options: type[Options],
    call: Callable[[Options], None],
    show_help: Callable[[], None],
) -> typer.Typer:
    """Return the application of a command: it calls ``call`` with the options of a
    valid line, and ``show_help`` for a line that asks for help. For a line whose
    arguments are wrong it raises ArgumentsError."""

    def carry_out(**values: Any) -> None:
        del values[_HELP]
        arguments = values.pop(_ARGUMENTS) or []
        call(to_options(options, values, arguments))

    declared = [_option(param) for param in options.params() if param.flags]
    parameters = [_arguments(), *declared, _help(options, show_help)]
    carry_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    application = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
    )
    signed = takes_signed_words(options)
    settings = {"ignore_unknown_options": signed, "help_option_names": []}
    application.command(context_settings=settings)(carry_out)
    return application


# No declaration has these names.
_ARGUMENTS, _HELP = "arguments_", "help_"


def _arguments() -> inspect.Parameter:
    """Return the parameter for all arguments."""
    return inspect.Parameter(
        _ARGUMENTS,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[list[str], typer.Argument()],
    )


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


def to_options(
    options: type[Options], values: dict[str, Any], arguments: Sequence[str]
) -> Options:
    """Return Typer's values, and the arguments, as an instance of the class that
    declares them. Raises ArgumentsError if they do not fit."""
    params = options.params()
    for param in params:
        if not param.flags:
            values[param.name] = param.default
        elif param.kind == TEXTS:
            values[param.name] = tuple(values[param.name] or ())
        elif param.default is REQUIRED and values[param.name] is None:
            values[param.name] = REQUIRED
    surplus = fill_arguments(options, arguments, values)
    if surplus:
        raise _left_over(options, arguments, surplus, values.get("taken_bare", ()))
    for param in params:
        if values[param.name] is REQUIRED:
            kind = "option" if param.flags else "argument"
            name = param.flags[0] if param.flags else param.metavar
            raise ArgumentsError(f"Missing {kind} {name!r}.")
    return options(values)


def _left_over(
    options: type[Options],
    arguments: Sequence[str],
    surplus: Sequence[str],
    bare_names: Sequence[str],
) -> ArgumentsError:
    """The error for arguments that are left over although the options in ``bare_names``
    took some: usually a text without quotation marks."""
    by_name = {param.name: param for param in options.params()}
    correction: tuple[str, ...] = ()
    is_quoted = any(len(word.split()) > 1 for word in surplus)
    if bare_names and by_name[bare_names[-1]].kind == TEXTS and not is_quoted:
        before = len(arguments) - len(surplus) - 1
        correction = (*arguments[:before], " ".join(arguments[before:]))
    return ArgumentsError(f"Too many arguments: {' '.join(surplus)}", correction)


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
def _position(text: str | int) -> int:
    """Return a position, which may be written as receipts name an entry: ``#2``."""
    return _whole_number(text.removeprefix("#") if isinstance(text, str) else text)


_PARSERS = {NUMBER: _count, POSITION: _position}


def _option(param: Param) -> inspect.Parameter:
    types: dict[str, Any] = {FLAG: bool, TEXTS: list[str]}
    kind: Any = types.get(param.kind, str)
    info = typer.Option(
        *param.flags, metavar=param.metavar or None, parser=_PARSERS.get(param.kind)
    )
    default = param.default
    if default is REQUIRED or param.kind == TEXTS:
        default = None
    return inspect.Parameter(
        param.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )
