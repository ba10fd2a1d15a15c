"""The command that runs an agent without a terminal: the person's own, or that of the
table of agents."""

from __future__ import annotations

import os

from wc_cli.agents import launcher
from wc_cli.agents.runs import writing
from wc_cli.ledger.store import durable
from wc_core.base import agents
from wc_core.base.errors import NotFoundError
from wc_core.base.names import fold
from wc_core.base.programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.configuration.preferences import Preferences

# What a command has in place of the prompt.
PROMPT = "{prompt}"
# Variables by which this process is wc, or by which the caller said who they are.
_INTERNALS = "_WC_"
_SPEAKER = frozenset({"WATERCOOLER_SEAT", "WATERCOOLER_AGENT"})


def command_of(agent: str, own: Preferences) -> tuple[str, ...]:
    """Return the command of an agent, by its canonical name. Raises
    NotFoundError."""
    row = agents.row_of(agent)
    command = _own_command(agent, own) or (row.headless if row is not None else ())
    if command:
        return command
    raise NotFoundError(
        f"It is not known how to run {agent}.",
        f"Say how: wc config --global set run.{_word(agent)} -- PROGRAM …",
    )


def _own_command(agent: str, own: Preferences) -> tuple[str, ...]:
    """Return the person's own command for an agent; empty if there is none."""
    row = agents.row_of(agent)
    spellings = {fold(agent)}
    if row is not None:
        spellings |= {fold(row.client), *map(fold, row.spellings)}
    commands = own.run_commands.items()
    return next((words for word, words in commands if fold(word) in spellings), ())


def _word(agent: str) -> str:
    """Return what the person's preferences call an agent."""
    row = agents.row_of(agent)
    return row.client if row is not None and row.client else fold(agent)


def with_prompt(command: tuple[str, ...], prompt: str) -> list[str]:
    """Return a command with the prompt: in place of ``{prompt}``, else at its end."""
    if any(PROMPT in word for word in command):
        return [word.replace(PROMPT, prompt) for word in command]
    return [*command, prompt]


def require_program(command: tuple[str, ...], env: Mapping[str, str]) -> None:
    """Raise NotFoundError if a command's program is not installed."""
    if not find_program(env, command[0]):
        raise NotFoundError(
            f"{command[0]} is not installed, or not in PATH.",
            "Install it, or name its path: wc config --global set run.AGENT PROGRAM …",
        )


def variables(env: Mapping[str, str], agent: str) -> dict[str, str]:
    """Return the environment of an agent's process: the person's, with its name."""
    return {**person_env(env), "WATERCOOLER_AGENT": agent}


def person_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return the person's environment, without what is only ours."""
    return {
        name: value
        for name, value in env.items()
        if not name.startswith(_INTERNALS) and name not in _SPEAKER
    }


def with_our_program(env: Mapping[str, str], layout: Layout) -> dict[str, str]:
    """Return an environment in which ``wc`` is ours, not the system's word count: an
    agent answers with it. Of our folder it gets only that: others have a Python."""
    present, own = find_program(env, "wc"), launcher.own_program("wc")
    if not own or (present and launcher.is_ours(present, "wc")):
        return {**env}
    folder = f"{writing.made_folder(layout, 'bin').runs}/bin"
    durable.point(f"{folder}/wc", own)
    return {**env, "PATH": f"{folder}:{env.get('PATH', os.defpath)}"}
