"""Every client that `wc install` knows, in display order.

An agent's client is `CLIENT` in the module named after its word in `wc_core.agents`:
``claude-desktop`` is in `claude_desktop`.
"""

from __future__ import annotations

from importlib import import_module

from wc_cli.install.changes import PARTS, Client, InstallSite, Part
from wc_cli.install.clients import manpages, shells
from wc_core.agents import AGENTS


def _client(name: str) -> Client:
    module = import_module(f"wc_cli.install.clients.{name.replace('-', '_')}")
    client: Client = module.CLIENT
    return client


AGENT_CLIENTS = tuple(_client(agent.client) for agent in AGENTS if agent.client)
CLIENTS = (*AGENT_CLIENTS, *shells.CLIENTS, manpages.CLIENT)


def parts(client: Client, site: InstallSite) -> tuple[Part, ...]:
    """All parts of a client, in the order of `PARTS`."""
    return tuple(sorted(client.parts(site), key=lambda part: PARTS.index(part.name)))
