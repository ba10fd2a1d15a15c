"""Every client, in the order they are shown."""

from __future__ import annotations

from wc_cli.install.changes import PARTS, Client, InstallSite, Part
from wc_cli.install.clients import agents, claude, editors, hooks, shells

_AGENTS = (*claude.CLIENTS, *agents.CLIENTS, *editors.CLIENTS)
CLIENTS: tuple[Client, ...] = (*_AGENTS, *shells.CLIENTS)


def parts(client: Client, here: InstallSite) -> tuple[Part, ...]:
    """All parts of a client, with its hooks, in the order of `PARTS`."""
    found = [*client.parts(here)]
    if client in _AGENTS and not (client.name == "claude" and claude.has_plugin(here)):
        found += hooks.parts(client.name, here)
    return tuple(sorted(found, key=lambda one: PARTS.index(one.name)))
