"""What agents are to run when a session starts, a person asks, a turn ends.

What each client has, as of November 2026, and where it is written down:

- Claude Code: ``hooks`` in settings.json (code.claude.com/docs/en/hooks)
- Codex: hooks.json beside config.toml, with the same shape; it asks the person
  once whether a hook is trusted (developers.openai.com/codex/hooks)
- Gemini CLI: ``hooks`` in settings.json, with milliseconds and names of its own
  (docs/hooks/reference.md of google-gemini/gemini-cli)
- Cursor: hooks.json (cursor.com/docs/agent/hooks); nothing can be added to a prompt
- opencode: a plugin, in JavaScript (opencode.ai/docs/plugins)
- Windsurf: hooks that tell the model nothing (docs.windsurf.com, cascade/hooks)
- VS Code, Zed: none

`wc_cli.briefing.dialects` has what they send, and what they want to hear.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wc_cli.briefing.dialects import DIALECTS, EVENTS, PROMPT
from wc_cli.install.changes import (
    JsonAdd,
    JsonSet,
    OwnFile,
    Part,
    executable,
    program,
)
from wc_cli.install.clients import common
from wc_cli.install.clients.agents import codex_folder
from wc_cli.install.clients.claude import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wc_cli.install.changes import Change, InstallSite

# Seconds after which a client gives up on us; we do long before.
_TIMEOUT = 5
_TRUST = "Codex asks once whether the hooks are trusted: /hooks"


def parts(client: str, surroundings: InstallSite) -> tuple[Part, ...]:
    """The hooks of an agent, if it has any."""
    here = surroundings
    if client == "claude":
        path = folder_of(here) / "settings.json"
        return (Part("hooks", tuple(_nested(client, path, here))),)
    if client == "codex":
        path = codex_folder(here) / "hooks.json"
        return (Part("hooks", tuple(_nested(client, path, here)), (_TRUST,)),)
    if client == "gemini":
        path = common.base(here) / ".gemini/settings.json"
        return (Part("hooks", tuple(_nested(client, path, here, 1000))),)
    if client == "cursor":
        return (Part("hooks", tuple(_flat(client, here))),)
    if client == "opencode":
        return (Part("hooks", (_plugin(here),), ("Restart opencode.",)),)
    return ()


def _command(client: str, event: str, here: InstallSite) -> str:
    """What the client runs. What is shared with others has no paths of this
    machine in it."""
    name = "wc" if here.scope == "project" else program("wc", here)
    return f"{name} brief --hook {event} --client {client}"


def _nested(
    client: str, path: Path, here: InstallSite, per_second: int = 1
) -> Iterator[Change]:
    """Groups of handlers by event; a group without a matcher is for all kinds
    of it, a session that was compacted included."""
    for event, name in zip(EVENTS, DIALECTS[client].events, strict=True):
        handler: dict[str, Any] = {
            "type": "command",
            "command": _command(client, event, here),
            "timeout": _TIMEOUT * per_second,
        }
        if client == "gemini":
            handler["name"] = f"watercooler-{event}"
        yield JsonAdd(path, ("hooks", name), {"hooks": [handler]})


def _flat(client: str, here: InstallSite) -> Iterator[Change]:
    path = common.base(here) / ".cursor/hooks.json"
    # A file of another version has other rules: it keeps what it says.
    yield JsonSet(path, ("version",), 1, lambda theirs: theirs)
    for event, name in zip(EVENTS, DIALECTS[client].events, strict=True):
        if event != PROMPT:
            command = _command(client, event, here)
            handler = {"command": command, "timeout": _TIMEOUT}
            yield JsonAdd(path, ("hooks", name), handler)


def _plugin(here: InstallSite) -> OwnFile:
    folder = common.config_folder(here) / "opencode"
    name = executable("wc", here)
    if here.scope == "project":
        folder, name = common.base(here) / ".opencode", "wc"
    text = _PLUGIN.replace("WC_PROGRAM", json.dumps(name))
    return OwnFile(folder / "plugins/watercooler.js", text)


_PLUGIN = """\
// Written by `wc install opencode`; `wc uninstall opencode` removes it.
// Tells the agent what waits for it, by `wc brief --hook`. It fails open.
import { execFile } from "node:child_process"

const ask = (event, cwd, session_id) =>
  new Promise((resolve) => {
    const words = ["brief", "--hook", event, "--client", "opencode"]
    const how = { cwd, timeout: 2000 }
    const child = execFile(WC_PROGRAM, words, how, (error, told) =>
      resolve(error ? "" : told.trim()),
    )
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ cwd, session_id }))
  })

export const Watercooler = async ({ client, directory }) => {
  const begun = new Set()
  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const event = begun.has(session) ? "user-prompt" : "session-start"
      begun.add(session)
      const text = await ask(event, directory, session)
      if (!text) return
      output.parts.push({
        id: `prt_watercooler${Date.now()}`,
        sessionID: session,
        messageID: output.message.id,
        type: "text",
        text,
        synthetic: true,
      })
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.compacted") begun.delete(session)
      if (event.type !== "session.idle" || !begun.has(session)) return
      const text = await ask("stop", directory, session)
      if (!text) return
      const body = { parts: [{ type: "text", text }] }
      await client.session.promptAsync({ path: { id: session }, body }).catch(() => {})
    },
  }
}
"""
