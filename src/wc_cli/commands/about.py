"""The commands about wc itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from wc_cli import table
from wc_cli.completion import SCRIPTS
from wc_cli.options import Options, argument, command
from wc_cli.output import say
from wc_core.errors import InvalidInputError
from wc_core.version import __version__

if TYPE_CHECKING:
    from wc_cli.context import Context


class Version(Options):
    """Show the version."""


class Skill(Options):
    """Print the skill that teaches an agent to use wc."""


class Help(Options):
    """Explain wc, or one of its commands."""

    name: str = argument("COMMAND", "A command.", default="", complete="command")


class Completion(Options):
    """Print the completion script for a shell."""

    shell: str = argument(
        "SHELL",
        "bash, zsh or fish; this one if left out.",
        default="",
        complete="shell",
    )


@command(Version)
def version(context: Context, said: Version) -> None:  # noqa: ARG001
    """Show the version."""
    say(f"wc {__version__} (Python {sys.version.split()[0]})")


@command(Skill)
def skill(context: Context, said: Skill) -> None:  # noqa: ARG001
    """Print the skill."""
    from importlib import resources  # imports half of the standard library

    page = resources.files("wc_cli") / "skill" / "watercooler" / "SKILL.md"
    say(page.read_text(encoding="utf-8"))


@command(Help)
def help_(context: Context, said: Help) -> None:  # noqa: ARG001
    """Explain."""
    from wc_cli import app  # Typer writes the help

    if said.name and table.load(said.name) is None:
        raise app.unknown_command(said.name)
    app.run([said.name, "--help"] if said.name else ["--help"])


@command(Completion)
def completion(context: Context, said: Completion) -> None:
    """Print a completion script."""
    shell = said.shell or os.path.basename(context.env.get("SHELL", ""))
    if shell not in SCRIPTS:
        raise InvalidInputError(
            f"There is no completion for {shell or 'an unnamed shell'}.",
            f"Name one: wc completion {'|'.join(SCRIPTS)}",
        )
    say(SCRIPTS[shell])
