"""Every client that `wc install` knows, in display order.

An agent's client is `CLIENT` in the module named after its word in
`wc_core.base.agents`: ``claude-desktop`` is in `claude_desktop`, and ``continue``, a
keyword of Python, in `continue_`.
"""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword

from wc_cli.agents.install import engine
from wc_cli.agents.install.changes import PARTS, Client, InstallSite, Part
from wc_cli.agents.install.clients import manpages, shells
from wc_cli.agents.install.ledger import Ledger, Owner
from wc_core.base.agents import AGENTS


def module_name(client: str) -> str:
    """The module of a client with this word."""
    name = client.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def _client(name: str) -> Client:
    module = import_module(f"wc_cli.agents.install.clients.{module_name(name)}")
    client: Client = module.CLIENT
    return client


AGENT_CLIENTS = tuple(_client(agent.client) for agent in AGENTS if agent.client)
CLIENTS = (*AGENT_CLIENTS, *shells.CLIENTS, manpages.CLIENT)


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
