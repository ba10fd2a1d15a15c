#!/usr/bin/env python3
"""Writes what follows from the code: docs/commands.md, docs/api.md, the messages of
docs/troubleshooting.md, the manual pages, what the server answers while it starts, and
blocks in other files about agents and commands. From docs/bench.json, a saved run of
bin/bench, it writes the tables and plots of the pages about speed; from docs/long.json,
the saved results of bin/test --long, the table of docs/reliability.md.

    docs/make_reference.py            write them
    docs/make_reference.py --check    exit 1 if they are out of date

Commands, options and exit codes come from the code; the words around them and
the examples stand in reference_words.py. An example that wc would not understand is
an error.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from reference_words import (  # noqa: E402 (beside this script)
    BEFORE,
    CAREFUL,
    ENDLESS,
    ENVIRONMENT,
    EXAMPLES,
    EXIT_TEXT,
    GLOBAL,
    INTRO,
    REMARKS,
)

from wc_cli.agents.cloud.places import PLACES  # noqa: E402
from wc_cli.commands import common  # noqa: E402
from wc_cli.run import options, table  # noqa: E402 (the checkout's own)
from wc_cli.run.help.overview import first_sentence  # noqa: E402
from wc_core.base import errors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.run.options import Options, Param

PAGE = ROOT / "docs" / "commands.md"
HELP = ROOT / "src/wc_cli/run/help"

# What the page says about each group of options.
SHARED = {options.GlobalOptions.group: GLOBAL, common.LockOptions.group: CAREFUL}


def panels() -> dict[str, list[str]]:
    """The commands by panel, in the order of the help."""
    found: dict[str, list[str]] = {}
    for name, command in table.COMMANDS.items():
        found.setdefault(command.panel, []).append(name)
    return found


def declared(name: str) -> type[Options]:
    """The declaration of a command."""
    command = table.load(name)
    if command is None:
        raise SystemExit(f"there is no command {name}")
    return command.options


def sentence(command: type[Options]) -> str:
    """The description of a command, on one line."""
    return " ".join((inspect.getdoc(command) or "").split())


def usage(name: str, command: type[Options]) -> str:
    """The usage line: the arguments and the required options."""
    words = ["wc", name]
    params = command.params()
    for param in params:
        required = param.default is options.REQUIRED
        if not param.flags:
            words.append(param.metavar if required else f"[{param.metavar}]")
        elif required:
            words.append(spelling(param))
    return " ".join(words) + (
        " [OPTION...]" if any(one.flags for one in params) else ""
    )


def spelling(param: Param) -> str:
    """An option with its flags and value."""
    return " ".join([", ".join(param.flags), param.metavar]).strip()


def option_rows(params: Iterable[Param]) -> Iterator[str]:
    """A table of options or arguments."""
    for param in params:
        default = ""
        if param.default is options.REQUIRED:
            default = " Required."
        elif param.default and param.kind != options.WORDS:
            default = f" Default: `{param.default}`."
        help_text = param.help.replace("|", "\\|")
        yield f"| `{spelling(param)}` | {help_text}{default} |\n"


def option_table(params: Iterable[Param]) -> str:
    """The rows with a heading; empty if there are none."""
    rows = list(option_rows(params))
    return "".join(["| option | meaning |\n|---|---|\n", *rows]) if rows else ""


def aliases(name: str) -> list[str]:
    """The other names of a command."""
    return [alias for alias, real in table.ALIASES.items() if real == name]


def section(name: str) -> Iterator[str]:
    """The section of one command."""
    command = declared(name)
    also = aliases(name)
    yield f"\n### wc {name}\n\n{sentence(command)}"
    others = " or ".join(f"`wc {alias}`" for alias in also)
    yield f" Also written {others}.\n" if also else "\n"
    yield f"\n    {usage(name, command)}\n"
    if name in REMARKS:
        yield f"\n{REMARKS[name]}\n"
    own = option_table(command.own())
    yield f"\n{own}" if own else ""
    yield examples((*BEFORE.get(name, ()), *EXAMPLES.get(name, ())), "sh")
    yield examples(ENDLESS.get(name, ()), "sh elsewhere")


def examples(lines: Iterable[str], kind: str) -> str:
    """The examples as a block; empty if there are none."""
    text = "".join(f"{line}\n" for line in lines)
    return f"\n```{kind}\n{text}```\n" if text else ""


def shared_sections() -> Iterator[str]:
    """The options that many commands have."""
    for group, params in declared("say").groups().items():
        yield f"\n### {group}\n\n{SHARED[group]}\n\n{option_table(params)}"


def exit_codes() -> Iterator[str]:
    """The table of exit codes."""
    yield "\n| exit | code | when |\n|---|---|---|\n| 0 | | done |\n"
    bug = "a bug: a short message, and the path of a file with the details"
    yield f"| 1 | {errors.WcError.code} | {bug} |\n"
    known = errors.WcError.__subclasses__()
    for error in sorted(known, key=lambda one: one.exit_code):
        when = (inspect.getdoc(error) or "").rstrip(".")
        yield f"| {error.exit_code} | {error.code} | {when[0].lower()}{when[1:]} |\n"
    yield "| 130 | | the command was interrupted with ^C |\n"


def check_examples() -> None:
    """Raise SystemExit for an example that wc does not understand, and for a command
    without any."""
    for name in table.COMMANDS:
        if name not in EXAMPLES and name not in ENDLESS:
            raise SystemExit(f"wc {name} has no example in docs/reference_words.py")
    for name, lines in (*EXAMPLES.items(), *ENDLESS.items()):
        for line in lines:
            words = shlex.split(line.rpartition("| ")[2])
            known = words[:2] == ["wc", name]
            if not known or options.parse(declared(name), words[2:]) is None:
                raise SystemExit(f"this example is wrong: {line}")


def page() -> str:
    """All of docs/commands.md."""
    check_examples()
    parts = [INTRO]
    for panel, names in panels().items():
        parts.append(f"\n## {panel}\n\n| command | what it does |\n|---|---|\n")
        for name in names:
            says = sentence(declared(name))
            parts.append(f"| [`wc {name}`](#wc-{name}) | {says} |\n")
        for name in names:
            parts.extend(section(name))
    parts += ["\n## Options that many commands have\n", *shared_sections()]
    parts += [f"\n{EXIT_TEXT}", *exit_codes(), f"\n{ENVIRONMENT}"]
    return "".join(parts)


def help_examples(name: str) -> tuple[str, ...]:
    """The examples of a command, for its help."""
    return (*EXAMPLES.get(name, ()), *ENDLESS.get(name, ()))


def examples_text() -> str:
    """The examples of all commands, for the help: one command line each."""
    lines = [line for name in table.COMMANDS for line in help_examples(name)]
    return "".join(f"{line}\n" for line in lines)


def command_summaries() -> dict[str, str]:
    """The first sentence about each command, for the help."""
    return {name: first_sentence(sentence(declared(name))) for name in table.COMMANDS}


def summaries_text() -> str:
    """The summaries, one command a line."""
    return "".join(f"{name} {text}\n" for name, text in command_summaries().items())


def pages() -> dict[Path, str]:
    """Each page with its path."""
    import make_agents
    import make_api
    import make_benchmarks
    import make_commands
    import make_declared
    import make_long
    import make_man  # imports this module
    import make_map
    import make_messages
    import make_paid
    import make_settings

    declared = make_declared.files()
    benchmarks = make_benchmarks.files()
    benchmarks[make_paid.PAGE] = make_paid.with_table(
        benchmarks[make_paid.PAGE], declared[make_declared.PAGE]
    )
    return {
        PAGE: page(),
        make_api.PAGE: make_api.page(),
        make_messages.PAGE: make_messages.page(),
        **make_man.pages(),
        **make_agents.files(),
        **benchmarks,
        **make_commands.files(),
        **declared,
        **make_long.files(),
        **make_map.files(),
        **make_settings.files(),
        HELP / "examples.txt": examples_text(),
        HELP / "summaries.txt": summaries_text(),
        **cloud_examples(),
    }


def cloud_examples() -> dict[Path, str]:
    """The files of ``wc cloud``, for those who read the documentation."""
    return {ROOT / "docs/examples" / place.file: place.template for place in PLACES}


def main() -> int:
    """Write the pages, or check them."""
    for path, text in pages().items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path} is out of date: run docs/make_reference.py\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
