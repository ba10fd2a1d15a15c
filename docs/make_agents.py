"""Text that is generated from the table of agents and from the clients of `wc install`.

Each is a block between two marker lines in a file that is otherwise written by hand:
the tables of docs/identity.md and docs/install.md, and the shell scripts' knowledge of
agents.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from blocks import replaced

from wc_cli.agents.install.changes import InstallSite
from wc_cli.agents.install.clients import registry
from wc_core.base.agents import (
    AGENTS,
    CONVENTION,
    OLDER_CONVENTION,
    SESSION_VARIABLES,
    VARIABLES,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_core.base.agents import Agent

ROOT = Path(__file__).resolve().parent.parent

# Settings of every client, as a user of all of them has.
HOME = ROOT / "tests/cli/install/home"

# Notes about agents in docs/identity.md.
NOTES = {
    "Cursor": "its terminal agent and `cursor-agent`",
    "VS Code": "the terminals of Copilot's agent",
}
SESSION_NOTES = {
    "Claude Code": "sub-agents share it",
    "Codex": "sub-agents have their own",
}


def files() -> dict[Path, str]:
    """Each file with its path."""
    blocks = (
        ("docs/identity.md", "agents", identity_table()),
        ("docs/install.md", "user files", install_table("user")),
        ("docs/install.md", "project files", install_table("project")),
        ("bin/test", "agents", [f"agents='{' '.join(first_words())}'"]),
        ("bin/wc-statusline", "agents", script_agents()),
    )
    texts: dict[Path, str] = {}
    for name, block, lines in blocks:
        path = ROOT / name
        text = texts.get(path) or path.read_text(encoding="utf-8")
        texts[path] = replaced(text, block, lines)
    return texts


def identity_table() -> Iterator[str]:
    """The agents that are recognized, with their variables, the first that counts
    first."""
    yield "| agent | by | its session is identified by |"
    yield "|---|---|---|"
    agents = {agent.name: agent for agent in AGENTS}
    for name, pairs in groupby(VARIABLES, key=lambda pair: pair[1]):
        yield _identity_row(agents[name], [variable for variable, _ in pairs])
    for agent in AGENTS:
        if agent.programs and not agent.variables:
            yield _identity_row(agent, ())
    yield f"| whichever agent it names, such as `openhands` | `{CONVENTION}` | |"
    variable, word = OLDER_CONVENTION
    yield f"| {word.capitalize()} | `{variable}={word}` | |"


def _identity_row(agent: Agent, variables: Iterable[str]) -> str:
    title = ", ".join(filter(None, (agent.name, NOTES.get(agent.name))))
    words = [f"`{variable}`" for variable in variables]
    words += [f"its program `{program}`" for program in agent.programs]
    by = ", ".join(words)
    session = f"`{agent.session}`" if agent.session else ""
    session = "; ".join(filter(None, (session, SESSION_NOTES.get(agent.name))))
    return f"| {title} | {by} | {session} |".replace("|  |", "| |")


def install_table(scope: str) -> Iterator[str]:
    """The files of each client and part, in a home or in a project."""
    folder, prefix = (HOME, "~/") if scope == "user" else (HOME / "project", "")
    site = InstallSite(HOME, {}, "linux", HOME / "project", None, scope)
    yield "| client | part | file |"
    yield "|---|---|---|"
    for client in registry.AGENT_CLIENTS:
        if scope not in client.scopes:
            continue
        name = f"`{client.name}` "
        parts: dict[str, list[str]] = {}
        for part in registry.parts(client, site):
            paths = dict.fromkeys(change.path for change in part.changes)
            files = [path for path in paths if path.parent.name != "references"]
            listed = ", ".join(f"`{prefix}{p.relative_to(folder)}`" for p in files)
            parts.setdefault(listed, []).append(part.name)
        for listed, names in parts.items():
            yield f"| {name}| {', '.join(names)} | {listed} |"
            name = ""


def first_words() -> list[str]:
    """The first words of the variables that agents set for their commands."""
    variables = (
        *(variable for variable, _ in VARIABLES),
        *(*SESSION_VARIABLES, CONVENTION, OLDER_CONVENTION[0]),
    )
    return sorted({variable.partition("_")[0] for variable in variables})


_PER_LINE = 3


def script_agents() -> Iterator[str]:
    """Which variables of agents are set, into $agent, and the ids of sessions where
    each has a seat of its own, into $session."""
    letters = zip(VARIABLES, ascii_lowercase, strict=False)
    words = [f"${{{variable}:+{letter}}}" for (variable, _), letter in letters]
    yield 'agent="\\'
    for line in batched(words, _PER_LINE):
        yield f"{''.join(line)}\\"
    # With its length, a value cannot be taken for a letter, or for the next one.
    yield f':${{#{CONVENTION}}}.${{{CONVENTION}-}},${{{OLDER_CONVENTION[0]}-}}"'
    yield '[ "${WATERCOOLER_SEAT-}" != session ] || session="\\'
    ids = [f"${{{variable}-}}" for variable in SESSION_VARIABLES]
    *earlier, final = batched(ids, _PER_LINE)
    for line in earlier:
        yield f"{','.join(line)},\\"
    yield f'{",".join(final)}"'


def batched(words: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Like `itertools.batched`, which Python 3.11 lacks."""
    for start in range(0, len(words), size):
        yield words[start : start + size]
