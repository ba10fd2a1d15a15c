"""The command that runs an agent without a terminal: the person's own, or that of the
table of agents."""

from __future__ import annotations

import os

from wc_cli.agents import launcher
from wc_cli.agents.runs import writing
from wc_cli.agents.runs.cloud.addresses import ANY_ADDRESS
from wc_cli.ledger.store import durable
from wc_core.base import agents
from wc_core.base.agents import CloudCommands
from wc_core.base.errors import NotFoundError
from wc_core.base.names import fold
from wc_core.base.programs import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.configuration.preferences import Preferences

# What a command has in place of the prompt; in the cloud, also in place of the branch
# that the session begins with, and of the environment that the person set.
PROMPT, BRANCH, ENVIRONMENT = "{prompt}", "{branch}", "{environment}"
# What that environment has in place of the owner and name of the repository.
REPOSITORY = "{repository}"
# At the end of the name of an agent, in the person's preferences: its commands for the
# cloud.
_CLOUD, _DIFF = "-cloud", "-diff"
_UNKNOWN = CloudCommands((), ANY_ADDRESS)
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


def cloud_commands_of(agent: str, own: Preferences) -> CloudCommands:
    """Return the commands that start an agent in the cloud, and get its result. Raises
    NotFoundError."""
    row = agents.row_of(agent)
    usual = row.cloud if row is not None and row.cloud is not None else _UNKNOWN
    start = _own_command(agent, own, _CLOUD) or usual.start
    diff = _own_command(agent, own, _DIFF) or usual.diff
    if start:
        return usual._replace(start=start, diff=diff)
    raise NotFoundError(
        f"It is not known how to start {agent} in the cloud.",
        f"Say how: wc config --global set run.{_word(agent)}-cloud -- PROGRAM …",
    )


def _own_command(agent: str, own: Preferences, ending: str = "") -> tuple[str, ...]:
    """Return the person's own command for an agent; empty if there is none."""
    row = agents.row_of(agent)
    spellings = {fold(agent)}
    if row is not None:
        spellings |= {fold(row.client), *map(fold, row.spellings)}
    keys = {f"{spelling}{ending}" for spelling in spellings if spelling}
    return next(
        (words for word, words in own.run_commands.items() if fold(word) in keys), ()
    )


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
