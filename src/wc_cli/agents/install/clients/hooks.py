"""Hooks: what agents run when a session starts, a prompt is sent, a turn ends.

What each client has, as of November 2026, and where it is documented:

- Claude Code: ``hooks`` in settings.json (code.claude.com/docs/en/hooks)
- Codex: hooks.json beside config.toml, in the same form; it asks the user once
  whether a hook is trusted (developers.openai.com/codex/hooks)
- Gemini CLI: ``hooks`` in settings.json, with milliseconds and its own names
  (docs/hooks/reference.md of google-gemini/gemini-cli)
- Cursor: hooks.json (cursor.com/docs/hooks)
- opencode: a plugin, in JavaScript (opencode.ai/docs/plugins)
- Windsurf: hooks that tell the model nothing (docs.windsurf.com, cascade/hooks)
- VS Code, Zed: none

`wc_cli.agents.briefing.dialects` has what they send, and which answers they accept.
"""

from __future__ import annotations

from wc_cli.agents.briefing.dialects import AFTER, DIALECTS, EVENTS, TOOL_EVENTS
from wc_cli.agents.install.changes import JsonAdd, Part, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from wc_cli.agents.install.changes import InstallSite

# Seconds after which a client gives up waiting; `wc brief --hook` ends long before.
TIMEOUT = 5


def hook_commands(client: str, site: InstallSite) -> Iterator[tuple[str, str, str]]:
    """Yield each of our events with the client's name for it and the command to run:
    wc-cli, because a client may find the system's wc first. A project's files are
    shared with others, so they contain no path of this machine."""
    word = "wc-cli" if site.scope == "project" else program("wc-cli", site)
    for event, name in zip(EVENTS, DIALECTS[client].events, strict=True):
        yield event, name, f"{word} brief --hook {event} --client {client}"


def guard_commands(client: str, site: InstallSite) -> Iterator[tuple[str, str]]:
    """Yield the client's name for each event around a tool, with the command to run."""
    word = "wc-guard" if site.scope == "project" else program("wc-guard", site)
    for event, name in zip(TOOL_EVENTS, DIALECTS[client].tool_events, strict=True):
        yield name, f"{word} {event} {client}"


def grouped_guard(
    client: str, path: Path, site: InstallSite, matcher: str, *notes: str
) -> Part:
    """The guard of claims, around the tools whose names match; empty: all tools."""
    changes = []
    for name, command in guard_commands(client, site):
        handler = {"type": "command", "command": command, "timeout": TIMEOUT}
        group: dict[str, Any] = {"matcher": matcher} if matcher else {}
        changes.append(JsonAdd(path, ("hooks", name), {**group, "hooks": [handler]}))
    return Part("guard", tuple(changes), notes)


def wake_command(client: str, site: InstallSite) -> str:
    """The command that waits for the session's balls at the end of a turn."""
    return f"{program('wc-cli', site)} wait --hook wake --client {client}"


def grouped_hooks(
    client: str, path: Path, site: InstallSite, *notes: str, moves: str = ""
) -> Part:
    """Hooks in Claude Code's format: groups of handlers for each event. A group without
    a matcher applies to all kinds of the event, including a session after
    compaction. After the tools that match ``moves``, the session is elsewhere."""
    changes = []
    for _, name, command in hook_commands(client, site):
        handler = {"type": "command", "command": command, "timeout": TIMEOUT}
        changes.append(hook_group(path, name, handler))
    if moves:
        word = "wc-cli" if site.scope == "project" else program("wc-cli", site)
        command = f"{word} brief --hook {AFTER} --client {client}"
        handler = {"type": "command", "command": command, "timeout": TIMEOUT}
        name = DIALECTS[client].tool_events[TOOL_EVENTS.index(AFTER)]
        group = {"matcher": moves, "hooks": [handler]}
        changes.append(JsonAdd(path, ("hooks", name), group))
    return Part("hooks", tuple(changes), notes)


def hook_group(path: Path, name: str, handler: dict[str, Any]) -> JsonAdd:
    """A group with one handler, for the event that the client calls ``name``."""
    return JsonAdd(path, ("hooks", name), {"hooks": [handler]})
