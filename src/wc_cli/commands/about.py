"""The commands about wc itself: its version, help, completion and skill."""

from __future__ import annotations

import os
import sys

import wc_cli
from wc_cli.run.completion.scripts import SCRIPTS
from wc_cli.run.help.showing import show_overview, show_topic
from wc_cli.run.options import TextOptions, argument, command, flag
from wc_cli.run.output import say, say_exact
from wc_core.base.errors import InvalidInputError
from wc_core.base.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_SKILL = f"{os.path.dirname(wc_cli.__file__)}/agents/skill/watercooler"
_PAGES = f"{_SKILL}/references"


class VersionOptions(TextOptions):
    """Show the version."""


class SkillOptions(TextOptions):
    """Print the skill that teaches an agent to use wc, or one of the pages that it
    names."""

    page: str = argument(
        "PAGE", "A page, such as: writing, edits.", default="", complete="skill page"
    )


class HelpOptions(TextOptions):
    """Explain wc, a group of its commands, or one of them."""

    name: str = argument(
        "COMMAND", "A command or a group.", default="", complete="command or group"
    )
    all: bool = flag("--all", help="All commands, or all options of the command.")


class CompletionOptions(TextOptions):
    """Print the completion script for a shell."""

    shell: str = argument(
        "SHELL",
        "bash, zsh or fish (default: this shell).",
        default="",
        complete="shell",
    )


@command(VersionOptions)
def version(context: Context, options: VersionOptions) -> None:  # noqa: ARG001
    """Show the version."""
    say(f"wc {__version__} (Python {sys.version.split()[0]})")


@command(SkillOptions)
def skill(context: Context, options: SkillOptions) -> None:  # noqa: ARG001
    """Print the skill or a page of it."""
    path = f"{_PAGES}/{options.page}.md" if options.page else f"{_SKILL}/SKILL.md"
    pages = sorted(name.removesuffix(".md") for name in os.listdir(_PAGES))
    if options.page and options.page not in pages:
        raise InvalidInputError(
            f"The skill has no page {options.page!r}.",
            f"Name one of these: {', '.join(pages)}",
        )
    with open(path, encoding="utf-8") as file:
        say_exact(file.read())


@command(HelpOptions)
def show_help(context: Context, options: HelpOptions) -> None:  # noqa: ARG001
    """Print the help."""
    if options.name:
        show_topic(options.name, is_all=options.all)
    else:
        show_overview(is_all=options.all)


@command(CompletionOptions)
def completion(context: Context, options: CompletionOptions) -> None:
    """Print a completion script."""
    shell = options.shell or os.path.basename(context.env.get("SHELL", ""))
    if shell not in SCRIPTS:
        raise InvalidInputError(
            f"There is no completion for {shell or 'an unnamed shell'}.",
            f"Name one: wc completion {'|'.join(SCRIPTS)}",
        )
    say_exact(SCRIPTS[shell])
