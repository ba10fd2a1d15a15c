"""Declarations of a command's arguments and options: one declaration, two parsers.

A command's options are a class with one attribute for each. `parse` reads the usual
command line in microseconds. It leaves everything else to Typer, whose signature
`wc_cli.run.app` builds from the same class. Both distribute the arguments with
`fill_arguments`. A property test checks that both give the same answers.
"""

from __future__ import annotations

from wc_core.base.text import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

TEXT, TEXTS, FLAG, WORDS = "text", "texts", "flag", "words"
NUMBER, POSITION = "number", "position"
CHANGES = "changes"
AUTO, ALWAYS, NEVER = "auto", "always", "never"

_MAX_DIGITS = 18


class Param:
    """A positional argument of a command, or an option with its flags.

    ``kind`` is `TEXT`, `TEXTS` (an option that may be repeated), `FLAG`, `NUMBER`
    (whole, not negative), `POSITION` (whole, a negative one counts from the end),
    `WORDS` (all remaining arguments) or `CHANGES` (the same; some may begin with a
    hyphen).
    ``group`` is the group of options that several commands share, named by the class
    that declares it; empty for an argument or option of one command.
    ``complete`` is the kind of word that shell completion offers, a key of
    `completion.answers._WORDS`. ``numbered``: an argument that is only taken if it
    begins like a number or an entry's id. ``excludes``: the names of options beside
    which it is not given without its flag.
    """

    __slots__ = (
        *("complete", "default", "flags", "help", "kind", "metavar", "name"),
        *("excludes", "group"),
        "numbered",
    )

    def __init__(
        self,
        kind: str,
        flags: tuple[str, ...],
        metavar: str,
        help: str,  # noqa: A002 - the name Typer gives it
        default: Any,
        complete: str,
    ) -> None:
        self.kind = kind
        self.flags = flags
        self.metavar = metavar
        self.help = help
        self.default = default
        self.complete = complete
        self.numbered = False
        self.excludes: tuple[str, ...] = ()
        self.name = self.group = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name, and the name of its group, from the class."""
        self.name = name
        self.group = vars(owner).get("group", "")


REQUIRED: Any = object()


def argument(
    metavar: str,
    help: str,  # noqa: A002
    *,
    default: Any = REQUIRED,
    complete: str = "",
    numbered: bool = False,
) -> Any:
    """Declare a positional argument, required unless it has a ``default``."""
    param = Param(TEXT, (), metavar, help, default, complete)
    param.numbered = numbered
    return param


def words(
    metavar: str,
    help: str,  # noqa: A002
    *,
    default: Any = REQUIRED,
) -> Any:
    """Declare all remaining arguments as a tuple, at least one unless there is a
    ``default``."""
    return Param(WORDS, (), metavar, help, default, "")


def changes(
    metavar: str,
    help: str,  # noqa: A002
    *,
    default: Any = REQUIRED,
) -> Any:
    """Declare all remaining arguments as a tuple, such as ``+x`` and ``-y``, at least
    one unless there is a ``default``."""
    return Param(CHANGES, (), metavar, help, default, "")


def text(
    flag: str,
    metavar: str,
    help: str,  # noqa: A002
    *,
    default: Any = "",
    complete: str = "",
    short: str = "",
) -> Any:
    """Declare an option with a value. The empty string means that it was not given.
    ``short`` is its one-letter spelling, such as ``-t``."""
    return Param(TEXT, _flags(flag, short), metavar, help, default, complete)


def texts(
    flag: str,
    metavar: str,
    help: str,  # noqa: A002
    *,
    short: str = "",
    excludes: tuple[str, ...] = (),
) -> Any:
    """Declare an option with a value that may be given several times, as a tuple."""
    param = Param(TEXTS, _flags(flag, short), metavar, help, (), "")
    param.excludes = excludes
    return param


def _flags(flag: str, short: str) -> tuple[str, ...]:
    return (flag, short) if short else (flag,)


def number(
    flag: str,
    help: str,  # noqa: A002
    *,
    default: int | None = 0,
    short: str = "",
) -> Any:
    """Declare an option with a whole number."""
    return Param(NUMBER, _flags(flag, short), "N", help, default, "")


def position(flag: str, help: str) -> Any:  # noqa: A002
    """Declare an option with a position in a list; -1 is the last item."""
    return Param(POSITION, (flag,), "N", help, 0, "")


def flag(*flags: str, help: str) -> Any:  # noqa: A002
    """Declare an option without a value."""
    return Param(FLAG, flags, "", help, False, "")


class GlobalOptions:
    """What every command takes, before its name or after it."""

    group = "Global options"

    json: bool = flag("--json", help="Answer in JSON.")
    as_name: str = text("--as", "NAME", "Speak as this agent or person.")
    seat: str = text("--seat", "SEAT", "Speak from this seat (a linked worktree).")
    store: str = text(
        "--store", "PATH", "The store to use (default: that of the folder)."
    )
    color: str = text("--color", "WHEN", "auto, always or never.", default=AUTO)


class Options(GlobalOptions):
    """The arguments and options of a command.

    Subclasses declare attributes with `argument`, `text`, `texts`, `number`, `flag` and
    `words`; an instance has their values. The docstring is the help text.

    ``usual`` has the flags that people use, in the order of the help. A command with
    more than ten options has it: its help shows these, and all of them with ``--all``.

    ``bare`` has the names of options whose values may be given without their flags,
    in this order: they take the arguments that are left over, unless they were given.
    An instance has in ``taken_bare`` the names of those that did.
    """

    usual = ""
    bare: tuple[str, ...] = ()
    taken_bare: tuple[str, ...] = ()

    @classmethod
    def params(cls) -> tuple[Param, ...]:
        """Return the declarations: arguments first, then options, each with those of
        base classes last."""
        params: dict[str, Param] = {}
        for owner in cls.__mro__:
            for name, value in vars(owner).items():
                if isinstance(value, Param):
                    params.setdefault(name, value)
        return tuple(sorted(params.values(), key=_is_option))

    @classmethod
    def own(cls) -> tuple[Param, ...]:
        """Return the declarations that are not of a group."""
        return tuple(param for param in cls.params() if not param.group)

    @classmethod
    def groups(cls) -> dict[str, list[Param]]:
        """Return the options by the names of their groups, the global ones first."""
        groups: dict[str, list[Param]] = {GlobalOptions.group: []}
        for param in cls.params():
            if param.group:
                groups.setdefault(param.group, []).append(param)
        return groups

    def __init__(self, values: dict[str, Any]) -> None:
        """Take ``values``, one for each declaration."""
        self.__dict__.update(values)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


class TextOptions(Options):
    """The arguments and options of a command without an answer in JSON."""


def _is_option(param: Param) -> bool:
    return bool(param.flags)


class Declared:
    """A command: the class of its options, and the function that carries it out."""

    __slots__ = ("options", "run")

    def __init__(self, options: type[Options], run: Callable[[Any, Any], None]) -> None:
        self.options = options
        self.run = run


def command(
    options: type[Options],
) -> Callable[[Callable[[Any, Any], None]], Declared]:
    """Declare the decorated function as a command with these options."""

    def declare(run: Callable[[Any, Any], None]) -> Declared:
        return Declared(options, run)

    return declare


def split_leading(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the global options before the command, and the rest of the line."""
    by_flag = {flag: param for param in Options.params() for flag in param.flags}
    end = 0
    while end < len(argv):
        name, joined, _ = argv[end].partition("=")
        if name not in by_flag:
            break
        end += 1 if joined or by_flag[name].kind == FLAG else 2
    return argv[:end], argv[end:]


def takes_signed_words(options: type[Options]) -> bool:
    """Return whether a word that begins with one hyphen may be an argument."""
    return any(param.kind == CHANGES for param in options.params())


def parse(options: type[Options], argv: Sequence[str]) -> Options | None:
    """Return the options in ``argv`` if it is an ordinary, complete command line, and
    ``None`` for everything that is left to Typer."""
    params = options.params()
    by_flag = {spelling: param for param in params for spelling in param.flags}
    values = {param.name: param.default for param in params}
    signed = takes_signed_words(options)
    arguments: list[str] = []
    remaining = iter(argv)
    for word in remaining:
        if word == "--":
            arguments.extend(remaining)
        elif len(word) > 1 and word[0] == "-":
            name, joined, value = word.partition("=")
            param = by_flag.get(name)
            if param is None and signed and word[1] != "-":
                arguments.append(word)
                continue
            if param is None or (joined and not name.startswith("--")):
                return None
            parsed = _option_value(param, value if joined else None, remaining)
            if parsed is None:
                return None
            if param.kind == TEXTS:
                parsed = (*values[param.name], parsed)
            values[param.name] = parsed
        else:
            arguments.append(word)
    if fill_arguments(options, arguments, values) or REQUIRED in values.values():
        return None
    return options(values)


def _option_value(param: Param, joined: str | None, remaining: Any) -> Any:
    """Return the value of an option, ``None`` if there is no valid one."""
    if param.kind == FLAG:
        return True if joined is None else None
    value = next(remaining, None) if joined is None else joined
    if value is None or param.kind in {TEXT, TEXTS}:
        return value
    digits = value.removeprefix("-") if param.kind == POSITION else value
    size = whole_number(digits, _MAX_DIGITS)
    return -size if size is not None and digits != value else size


def fill_arguments(
    options: type[Options], arguments: Sequence[str], values: dict[str, Any]
) -> list[str]:
    """Assign the arguments of a command line to the parameters, and then to the options
    that may be given without their flags. Returns those that are left over: then
    something is wrong."""
    surplus = list(arguments)
    params = options.params()
    for param in params:
        if param.flags:
            break
        if param.kind in {WORDS, CHANGES}:
            values[param.name] = tuple(surplus) or param.default
            return []
        if surplus and not (param.numbered and not _is_numbered(surplus[0])):
            values[param.name] = surplus.pop(0)
    by_name = {param.name: param for param in params}
    bare_names = []
    for name in options.bare:
        param = by_name[name]
        excluded = any(map(values.get, param.excludes))
        if surplus and values[name] == param.default and not excluded:
            value = surplus.pop(0)
            values[name] = (value,) if param.kind == TEXTS else value
            bare_names.append(name)
    if bare_names:
        values["taken_bare"] = tuple(bare_names)
    return surplus


def _is_numbered(word: str) -> bool:
    return word[:1] in {*"#0123456789"} and len(word.split()) == 1
