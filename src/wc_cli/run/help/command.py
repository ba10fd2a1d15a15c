"""The help of one command, from its declaration."""

from __future__ import annotations

import os

from wc_cli.run import table
from wc_cli.run.help.layout import definitions, help_width, wrapped
from wc_cli.run.options import FLAG, REQUIRED, TEXTS, TextOptions, takes_signed_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.run.options import Options, Param

# What `wc help` takes to explain the options that commands share.
OPTIONS = "options"
_BEFORE_OR_AFTER = (
    "Every command takes the global options, before its name or after it. Every "
    "command that writes an entry takes those of careful writers."
)
# The examples of a command with many options.
_FEW = 3
_EXAMPLES = os.path.join(os.path.dirname(__file__), "examples.txt")


def command_help(name: str, columns: int = 0, *, is_all: bool = False) -> str:
    """Return the help of a command, by any of its names; empty if there is no such
    command. A command with many options shows the usual ones, and all if ``is_all``.
    ``columns`` is the width of the terminal, 0 if there is none."""
    declared = table.load(name)
    if declared is None:
        return ""
    real = table.ALIASES.get(name, name)
    width = help_width(columns)
    arguments = [param for param in declared.options.own() if not param.flags]
    usual, hidden = _options(declared.options, is_all=is_all)
    lines = wrapped(_usage(name, arguments), width, "", " " * 9)
    for paragraph in description(declared.options).split("\n\n"):
        lines += ["", *wrapped(paragraph, width, "  ", "  ")]
    if arguments:
        lines += ["", "Arguments:"]
        lines += definitions(map(_argument, arguments), width)
    lines += ["", "Options:"]
    rows = [*map(_option, usual), _help_option(declared.options)]
    lines += definitions(rows, width)
    lines += ["", *_group_lines(declared.options, width, is_short=hidden > 0)]
    if hidden:
        lines.append(f"{hidden} more: wc help {real} --all")
    shown = examples(real)[: _FEW if hidden else None]
    lines += ["", "Examples:", *(f"  {line}" for line in shown)]
    return "\n".join(lines)


def _group_lines(options: type[Options], width: int, *, is_short: bool) -> list[str]:
    """Return a line for each group of options, for short help only the global ones."""
    lines = []
    for group, params in options.groups().items():
        flags = [param.flags[0] for param in params]
        if issubclass(options, TextOptions) and "--json" in flags:
            flags.remove("--json")
        lines += wrapped(f"{group}: {' '.join(flags)} (wc help {OPTIONS})", width)
    return lines[:1] if is_short else lines


def options_page(columns: int = 0) -> str:
    """Return the help of the options that commands share."""
    width = help_width(columns)
    declared = table.load("say")
    lines = wrapped(_BEFORE_OR_AFTER, width)
    for group, params in declared.options.groups().items() if declared else ():
        lines += ["", f"{group}:", *definitions(map(_option, params), width)]
    return "\n".join(lines)


def description(options: type[Options]) -> str:
    """Return the description of a command: one line for each paragraph."""
    paragraphs = (options.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def examples(name: str) -> list[str]:
    """Return the examples of a command, one command line each."""
    with open(_EXAMPLES, encoding="utf-8") as file:
        return list(_lines_of(name, file))


def _lines_of(name: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines whose last command is ``wc NAME``."""
    for line in lines:
        words = line.rpartition("| ")[2].split()
        if words[:2] == ["wc", name]:
            yield line.rstrip("\n")


def _usage(name: str, arguments: Iterable[Param]) -> str:
    words = (
        param.metavar if param.default is REQUIRED else f"[{param.metavar}]"
        for param in arguments
    )
    return " ".join(["Usage: wc", name, "[OPTIONS]", *words])


def _options(options: type[Options], *, is_all: bool) -> tuple[list[Param], int]:
    """Return the options to show, and the number of those that are left out."""
    params = [param for param in options.own() if param.flags]
    if is_all or not options.usual:
        return params, 0
    by_flag = {flag: param for param in params for flag in param.flags}
    usual = [by_flag[flag] for flag in options.usual.split()]
    return usual, len(params) - len(usual)


def _argument(param: Param) -> tuple[str, str]:
    return param.metavar, param.help


def _option(param: Param) -> tuple[str, str]:
    flags = ", ".join(sorted(param.flags, key=len))
    text = param.help
    if param.default is REQUIRED:
        text += " Required."
    elif param.default and param.kind not in {FLAG, TEXTS}:
        text += f" [default: {param.default}]"
    return f"{flags} {param.metavar}".rstrip(), text


def _help_option(options: type[Options]) -> tuple[str, str]:
    """Return the option for help. A command that takes words such as ``-h`` has no
    short one."""
    flags = "--help" if takes_signed_words(options) else "-h, --help"
    return flags, "Show this help."
