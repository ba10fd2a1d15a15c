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
from wc_cli.agents.install.changes import Add, Part, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from wc_cli.agents.install.changes import InstallSite

# Seconds after which a client gives up waiting; `wc brief --hook` ends long before.
TIMEOUT = 5


def parts(
    client: str,
    path: Path,
    site: InstallSite,
    matcher: str,
    *notes: str,
    moves: str = "",
    form: Callable[[str, str, str], dict[str, Any]] | None = None,
) -> tuple[Part, Part]:
    """The hooks for each of our events, and the guard of claims around the tools whose
    names match (empty: all tools).

    After the tools that match ``moves``, the session is elsewhere. ``form`` makes the
    item in the client's list from a command, a label and a matcher; without it, a
    `group`.
    """
    # wc-cli, because a client may find the system's wc first.
    brief, guard = (program(name, site) for name in ("wc-cli", "wc-guard"))
    around = tuple(zip(TOOL_EVENTS, DIALECTS[client].tool_events, strict=True))
    hooks = list(zip(EVENTS, DIALECTS[client].events, strict=True))
    if moves:
        hooks.append((AFTER, dict(around)[AFTER]))

    def hook(name: str, *fields: str) -> Add:
        return Add(path, ("hooks", name), (form or group)(*fields))

    commands = (
        hook(
            name,
            f"{brief} brief --hook {event} --client {client}",
            event,
            moves if event == AFTER else "",
        )
        for event, name in hooks
    )
    guards = (
        hook(name, f"{guard} {event} {client}", f"guard-{name}", matcher)
        for event, name in around
    )
    return Part("hooks", tuple(commands), notes), Part("guard", tuple(guards), notes)


def group(command: str, label: str = "", matcher: str = "") -> dict[str, Any]:  # noqa: ARG001
    """A group of handlers for an event, in Claude Code's format. One without a matcher
    applies to all kinds of the event, including a session after compaction."""
    handler = {"type": "command", "command": command, "timeout": TIMEOUT}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}


def wake(client: str, path: Path, site: InstallSite, note: str, **fields: Any) -> Part:
    """A hook that waits for the session's balls at the end of a turn."""
    command = f"{program('wc-cli', site)} wait --hook wake --client {client}"
    item = {"hooks": [{"type": "command", "command": command, **fields}]}
    return Part("wake", (Add(path, ("hooks", "Stop"), item),), (note,))
