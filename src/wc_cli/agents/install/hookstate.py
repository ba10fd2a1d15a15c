"""What is wrong with what was installed, for `wc doctor`: hooks that would not run, and
rules and skills of another version."""

from __future__ import annotations

import os
from pathlib import Path

from wc_cli.agents.install import disk, engine
from wc_cli.agents.install.clients import common, registry
from wc_cli.agents.install.engine import Want
from wc_cli.agents.install.formats import toml
from wc_cli.agents.install.ledger import Ledger, Owner
from wc_core.base.errors import WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.agents.install.changes import Client, InstallSite

# Parts of the commands of our hooks for Codex, whatever their path.
_OURS = ("--client codex", "-tool codex")
HOOK_PARTS = ("hooks", "wake")
# They name commands and tools, of which some go with a version.
_NAMING_PARTS = ("permissions", "tools", "skill")


def hook_problems(site: InstallSite) -> Iterator[str]:
    """Yield what keeps the installed hooks of the user's clients from running: they
    were changed, removed or switched off, or are not trusted."""
    ledger = Ledger(site.home)
    owners = {owner for owner in ledger.owners() if not owner.project}
    for client in registry.CLIENTS:
        names = [part for part in HOOK_PARTS if Owner(client.name, part, "") in owners]
        if not names:
            continue
        for name, state in _states(ledger, client, HOOK_PARTS, site):
            if state not in {engine.INSTALLED, engine.FOREIGN}:
                yield f"{client.title}: its {name} are {state}: wc install --check"
        if "wake" in names and "hooks" not in names and not _brings_hooks(client, site):
            yield (
                f"{client.title} can be woken, but lacks the hooks that report "
                "when it is working: "
                f"wc install {client.name} --only hooks"
            )
        if client.name == "codex":
            yield from _untrusted(site)
        if client.name == "claude" and _are_off(site):
            yield (
                "Claude Code does not run hooks: disableAllHooks is true in its "
                "settings"
            )


def other_versions(site: InstallSite) -> Iterator[str]:
    """Yield each client of the user whose rules or skill name other commands and tools
    than this version: what went, for example."""
    ledger = Ledger(site.home)
    for client in registry.CLIENTS:
        states = _states(ledger, client, _NAMING_PARTS, site)
        names = [name for name, state in states if state == engine.OUTDATED]
        if names:
            yield (
                f"{client.title} has {' and '.join(names)} of another version of wc: "
                f"wc install {client.name}"
            )


def _states(
    ledger: Ledger, client: Client, names: tuple[str, ...], site: InstallSite
) -> Iterator[tuple[str, str]]:
    """Yield the user's installed parts among these of a client, with their states."""
    for part in registry.kept_parts(client, site, "", ledger):
        owner = Owner(client.name, part.name, "")
        if part.name in names and owner in ledger.owners():
            yield part.name, engine.part_state(ledger, Want(owner, part))


def _brings_hooks(client: Client, site: InstallSite) -> bool:
    """Whether something else, such as a plugin, provides the client's hooks."""
    return all(part.name != "hooks" for part in registry.parts(client, site))


def _are_off(site: InstallSite) -> bool:
    folder = site.env.get("CLAUDE_CONFIG_DIR", "") or f"{site.home}/.claude"
    path = site.home / folder / "settings.json"
    return common.json_value(path, "disableAllHooks") is True


def _untrusted(site: InstallSite) -> Iterator[str]:
    """Yield a line if Codex has not been told to trust our hooks: it then silently
    skips them.

    Codex keeps a hash for each hook, by file, event and position. The hash is not
    checked, because how it is computed is not documented.
    """
    folder = site.home / (site.env.get("CODEX_HOME", "") or ".codex")
    path = os.path.realpath(folder / "hooks.json")
    trusted = _trusted(folder / "config.toml")
    untrusted = [
        event
        for event, position in _positions(path)
        if f"{path}:{event}:{position}:0" not in trusted
    ]
    if untrusted:
        yield (
            f"Codex does not trust the hooks {', '.join(sorted(set(untrusted)))} yet, "
            "and runs none of them; in Codex: /hooks"
        )


def _trusted(path: Path) -> Mapping[str, Any]:
    try:
        state = toml.find((disk.read(str(path)) or b"").decode(), ("hooks", "state"))
    except (WcError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _positions(path: str) -> Iterator[tuple[str, int]]:
    """Yield each of our hooks: its event in Codex's spelling, and the number of its
    group."""
    events = common.json_value(Path(path), "hooks")
    for event, groups in events.items() if isinstance(events, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if any(words in str(group) for words in _OURS):
                yield _snake_case(event), number


def _snake_case(event: str) -> str:
    """``UserPromptSubmit`` as ``user_prompt_submit``."""
    words = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in event)
    return words.lstrip("_")
