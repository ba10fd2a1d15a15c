"""opencode.

Sources: opencode.ai/docs (config, mcp-servers, permissions, plugins, skills), and the
program itself.
"""

from __future__ import annotations

import json

from wc_cli.agents.install.changes import (
    USER_AND_PROJECT,
    Client,
    OwnFile,
    Part,
    Set,
    launched,
)
from wc_cli.agents.install.clients import common
from wc_cli.agents.install.permissions import prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from wc_cli.agents.install.changes import InstallSite

_RESTART = "Restart opencode."


def _user_folder(site: InstallSite) -> Path:
    return common.config_folder(site) / "opencode"


def _is_present(site: InstallSite) -> bool:
    return common.is_present(site, ("opencode",)) or _user_folder(site).is_dir()


def _config_file(site: InstallSite) -> Path:
    """The settings file that exists, or the usual one."""
    folders = [_user_folder(site)]
    if site.scope == "project":
        folders = [common.base_folder(site), common.base_folder(site) / ".opencode"]
    for folder in folders:
        for name in ("opencode.jsonc", "opencode.json"):
            if (folder / name).exists():
                return folder / name
    return folders[0] / "opencode.json"


def _parts(site: InstallSite) -> tuple[Part, ...]:
    config = _config_file(site)
    server = {"type": "local", "command": [common.server_program(site)]}
    change = common.json_server(config, ("mcp",), {**server, "enabled": True})
    parts = [
        Part("server", (change,), (_RESTART,)),
        common.shared_skill(site),
        Part("hooks", (_plugin(site),), (_RESTART,)),
    ]
    if site.scope == "user":
        parts.append(Part("wake", (_wake_plugin(site),), (_RESTART,)))
    # Without this setting, opencode never asks before a command.
    rules = common.json_value(config, "permission", "bash")
    if isinstance(rules, str | dict):
        ours = prefixes(site)
        parts.append(Part("permissions", _permission_changes(config, rules, ours)))
    return tuple(parts)


def _permission_changes(
    config: Path, rules: Any, allowed: tuple[str, ...]
) -> tuple[Set, ...]:
    """Our rules after the existing ones: the last rule that matches counts."""
    keys = ("permission", "bash")
    ours = {f"{prefix} *": "allow" for prefix in allowed}

    def compose(rules: Any) -> Any:
        """A setting for all commands, converted to a rule, with our rules after it."""
        return rules if isinstance(rules, dict) else {"*": rules} | ours

    if isinstance(rules, str) or rules == compose(rules.get("*")):
        return (Set(config, keys, {}, compose),)
    return tuple(Set(config, (*keys, rule), "allow") for rule in ours)


def _plugin(site: InstallSite) -> OwnFile:
    folder = _user_folder(site)
    if site.scope == "project":
        folder = common.base_folder(site) / ".opencode"
    return OwnFile(folder / "plugins/watercooler.js", _filled(_PLUGIN, site))


def _wake_plugin(site: InstallSite) -> OwnFile:
    path = _user_folder(site) / "plugins/watercooler-wake.js"
    return OwnFile(path, _filled(_WAKE_PLUGIN, site))


def _filled(text: str, site: InstallSite) -> str:
    for word, name in (("WC_PROGRAM", "wc-cli"), ("WC_GUARD", "wc-guard")):
        text = text.replace(word, json.dumps(launched(name, site)))
    return text


_WAKE_PLUGIN = """\
// Written by `wc install opencode --with wake`; `wc uninstall opencode` removes it.
// Starts a turn of an idle session when a ball comes to it. Fails open.
import { spawn } from "node:child_process"

// The output of `wc wait` when a ball has come; empty if it ended for another reason.
// As in Claude Code, stop_hook_active says that a reminder had begun this turn.
const wait = (cwd, session_id, stop_hook_active) =>
  new Promise((resolve) => {
    const words = ["wait", "--hook", "wake", "--client", "opencode"]
    const child = spawn(WC_PROGRAM, words, { cwd, stdio: ["pipe", "pipe", "ignore"] })
    let output = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text) => (output += text))
    child.on("error", () => resolve(""))
    child.on("close", (code) => resolve(code === 0 ? output.trim() : ""))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ cwd, session_id, stop_hook_active }))
  })

export const WatercoolerWake = async ({ client, directory }) => ({
  event: async ({ event }) => {
    const session = event.properties?.sessionID
    if (event.type !== "session.idle" || !session) return
    const isReminded = globalThis.watercoolerReminders?.begun.has(session) ?? false
    const found = await client.session.get({ path: { id: session } }).catch(() => null)
    // A sub-agent reports to its agent.
    if (!found?.data || found.data.parentID) return
    const text = await wait(directory, session, isReminded)
    if (!text) return
    const body = { parts: [{ type: "text", text }] }
    await client.session.promptAsync({ path: { id: session }, body }).catch(() => {})
  },
})
"""


_PLUGIN = """\
// Written by `wc install opencode`; `wc uninstall opencode` removes it.
// Tells the agent what waits for it, with `wc brief --hook`, and protects files that
// others have claimed, with `wc-guard`. Fails open.
import { execFile } from "node:child_process"

const ask = (event, cwd, session_id) =>
  new Promise((resolve) => {
    const words = ["brief", "--hook", event, "--client", "opencode"]
    const how = { cwd, timeout: 2000 }
    const child = execFile(WC_PROGRAM, words, how, (error, stdout) =>
      resolve(error ? "" : stdout.trim()),
    )
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ cwd, session_id }))
  })

// The guard's answer: whether it refuses the call, and its message.
const guard = (event, cwd, session_id, tool_name, tool_input) =>
  new Promise((resolve) => {
    const how = { cwd, timeout: 5000 }
    const child = execFile(WC_GUARD, [event, "opencode"], how, (error, text, reason) =>
      resolve({ refused: error?.code === 2, text: (error ? reason : text).trim() }),
    )
    child.on("error", () => resolve({ refused: false, text: "" }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ cwd, session_id, tool_name, tool_input }))
  })

// The sessions whose next turn, and whose last one, a reminder began. Our other plugin
// has to know them.
const reminders = { sent: new Set(), begun: new Set() }
globalThis.watercoolerReminders = reminders

export const Watercooler = async ({ client, directory }) => {
  const started = new Set()
  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const event = started.has(session) ? "user-prompt" : "session-start"
      started.add(session)
      if (reminders.sent.delete(session)) reminders.begun.add(session)
      else reminders.begun.delete(session)
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
    "tool.execute.before": async (input, output) => {
      const { sessionID, tool } = input
      const answer = await guard("before-tool", directory, sessionID, tool, output.args)
      if (answer.refused) throw new Error(answer.text)
    },
    "tool.execute.after": async (input, output) => {
      const { sessionID, tool, args } = input
      const answer = await guard("after-tool", directory, sessionID, tool, args ?? {})
      if (!answer.refused && answer.text) output.output += `\n\n${answer.text}`
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.compacted") started.delete(session)
      if (event.type !== "session.idle" || !started.has(session)) return
      const text = await ask("stop", directory, session)
      if (!text) return
      reminders.sent.add(session)
      const body = { parts: [{ type: "text", text }] }
      const prompt = client.session.promptAsync({ path: { id: session }, body })
      await prompt.catch(() => reminders.sent.delete(session))
    },
  }
}
"""


CLIENT = Client("opencode", _is_present, USER_AND_PROJECT, _parts)
