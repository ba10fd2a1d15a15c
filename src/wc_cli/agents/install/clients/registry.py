"""Every client that `wc install` knows, in display order."""

from __future__ import annotations

from wc_cli.agents.install import engine
from wc_cli.agents.install.changes import PARTS, Client, InstallSite, Part
from wc_cli.agents.install.clients import claude, codex, opencode, rows, shells
from wc_cli.agents.install.ledger import Ledger, Owner
from wc_core.base.agents import AGENTS

_BY_NAME = {
    client.name: client
    for client in (claude.CLIENT, codex.CLIENT, opencode.CLIENT, *rows.CLIENTS)
}
AGENT_CLIENTS = tuple(_BY_NAME[agent.client] for agent in AGENTS if agent.client)
CLIENTS = (*AGENT_CLIENTS, *shells.CLIENTS, shells.MAN)


def parts(client: Client, site: InstallSite) -> tuple[Part, ...]:
    """All parts of a client, in the order of `PARTS`."""
    return tuple(sorted(client.parts(site), key=lambda part: PARTS.index(part.name)))


def kept_parts(
    client: Client, site: InstallSite, project: str, ledger: Ledger
) -> tuple[Part, ...]:
    """All parts of a client. A part that is installed with full paths keeps them:
    shells differ in PATH, and each would call outdated what another one installed."""
    full = parts(client, site._replace(has_full_paths=True))
    installed = {
        part.name: part
        for part in full
        if engine.part_state(
            ledger, engine.Want(Owner(client.name, part.name, project), part)
        )
        == engine.INSTALLED
    }
    return tuple(installed.get(part.name, part) for part in parts(client, site))
