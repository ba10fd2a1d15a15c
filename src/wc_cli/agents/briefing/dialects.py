"""How each client calls a hook, and what answer it expects.

``text``: the output becomes context. ``json``: the context is a field of an object. To
keep an agent from stopping, every client expects an object. The clients' documentation
(November 2026):

- claude: https://code.claude.com/docs/en/hooks
- codex: https://developers.openai.com/codex/hooks, codex-rs/hooks of openai/codex
- qwen: docs/users/features/hooks.md of QwenLM/qwen-code
- gemini: docs/hooks/reference.md of google-gemini/gemini-cli
- cursor: https://cursor.com/docs/hooks; it does not say that a prompt takes a context,
  but Cursor 3.20 takes one
- opencode has none; `wc install` adds a plugin that calls us as Claude Code does
- copilot: docs.github.com/copilot (hooks reference). In a trusted folder it runs the
  project's ``.claude/settings.json``, as of 1.0.102
"""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base.agents import AGENTS, row_of
from wc_core.base.lean import json
from wc_core.base.names import SPELLINGS, fold
from wc_core.base.values import NamedTuple
from wc_core.people.identity.environment import agents_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START, PROMPT, STOP = "session-start", "user-prompt", "stop"
BEFORE, AFTER = "before-tool", "after-tool"
EVENTS = (START, PROMPT, STOP)
# The tools of Claude Code with which a session goes to another worktree.
MOVES = ("EnterWorktree", "ExitWorktree")
# The guard's hooks, which `wc install` adds as a separate part.
TOOL_EVENTS = (BEFORE, AFTER)


class Dialect(NamedTuple):
    """A client: its agent, its names for our events, and the shapes of its answers.

    An empty shape means that the client accepts no answer at that point.
    ``login_shell``: it runs commands in a login shell, which sets PATH again.
    ``tool_events`` and ``tool_shapes`` are those of `TOOL_EVENTS`; empty if the
    client's tool hooks pass nothing to the model. ``refusal`` is the shape in which it
    takes the refusal of a tool call; empty: as a failure with the reason.
    """

    agent: str
    events: tuple[str, str, str] = ("SessionStart", "UserPromptSubmit", "Stop")
    shapes: tuple[str, str, str] = ("text", "text", "block")
    login_shell: bool = False
    tool_events: tuple[str, ...] = ()
    tool_shapes: tuple[str, str] = ("", "context")
    refusal: str = ""

    def with_session(self, env: Mapping[str, str], session: str) -> Mapping[str, str]:
        """Return the environment that a command of the agent would have. Not every
        client sets the session variable for its hooks."""
        variables = (row.session for row in AGENTS if row.name == self.agent)
        variable = next(variables, "")
        return {variable: session, **env} if variable and session else env

    def answer(self, event: str, text: str) -> str:
        """Return the output that passes ``text`` to the client."""
        names = (*self.events, *(self.tool_events or TOOL_EVENTS))
        position = (*EVENTS, *TOOL_EVENTS).index(event)
        shape = (*self.shapes, *self.tool_shapes)[position]
        if not text or not shape:
            return ""
        if shape == "text":
            return text
        return _shaped(shape, text, names[position])

    def refuse(self, text: str) -> str:
        """Return the output that refuses the call of a tool; empty if the client wants
        a failure."""
        return _shaped(self.refusal, text) if self.refusal else ""


def _shaped(shape: str, text: str, event: str = "") -> str:
    return json.dumps(_SHAPES[shape](text, event), ensure_ascii=False)


_SHAPES: Mapping[str, Any] = {
    "block": lambda text, _: {"decision": "block", "reason": text},
    "deny": lambda text, _: {"decision": "deny", "reason": text},
    "context": lambda text, event: {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    },
    "additional": lambda text, _: {"additional_context": text},
    "prompt": lambda text, _: {"continue": True, "additional_context": text},
    "followup": lambda text, _: {"followup_message": text},
    "flat": lambda text, _: {"additionalContext": text},
    "decision": lambda text, _: {
        "permissionDecision": "deny",
        "permissionDecisionReason": text,
    },
    "permission": lambda text, _: {
        "permission": "deny",
        "user_message": text,
        "agent_message": text,
    },
}

DIALECTS: Mapping[str, Dialect] = {
    "claude": Dialect(
        "Claude Code",
        tool_events=("PreToolUse", "PostToolUse"),
        tool_shapes=("context", "context"),
    ),
    "codex": Dialect(
        "Codex",
        login_shell=True,
        tool_events=("PreToolUse", "PostToolUse"),
        tool_shapes=("context", "context"),
    ),
    # Before a tool, it passes on a context only with a decision of the hook's own.
    "qwen": Dialect("Qwen Code", tool_events=("PreToolUse", "PostToolUse")),
    "gemini": Dialect(
        "Gemini CLI",
        ("SessionStart", "BeforeAgent", "AfterAgent"),
        ("context", "context", "deny"),
        tool_events=("BeforeTool", "AfterTool"),
    ),
    "cursor": Dialect(
        "Cursor",
        ("sessionStart", "beforeSubmitPrompt", "stop"),
        ("additional", "prompt", "followup"),
        tool_events=("preToolUse", "postToolUse"),
        tool_shapes=("", "additional"),
        refusal="permission",
    ),
    "opencode": Dialect(
        "opencode",
        shapes=("text", "text", "text"),
        tool_events=("tool.execute.before", "tool.execute.after"),
        tool_shapes=("", "text"),
    ),
}
# Clients that run the hooks of others; `wc install` writes none for them.
_GUESTS: Mapping[str, Dialect] = {
    "copilot": Dialect(
        "Copilot CLI",
        shapes=("flat", "flat", "block"),
        tool_shapes=("", "flat"),
        refusal="decision",
    ),
}
_PLAIN = Dialect("")


class HookInput(NamedTuple):
    """A client's input to a hook: folder, session, whether the agent is only running
    because a hook made it continue, the tool that it calls, and the sub-agent that
    calls it, if any."""

    folder: str = ""
    session: str = ""
    again: bool = False
    tool: str = ""
    arguments: Mapping[str, Any] = MappingProxyType({})
    subagent: str = ""


def dialect_of(client: str) -> Dialect:
    """Return the dialect of a client; Claude Code's for an unknown one."""
    return DIALECTS.get(client) or _GUESTS.get(client, _PLAIN)


def client_of_hook(client: str, env: Mapping[str, str]) -> str:
    """Return the client that runs a hook, by the variables that it sets: some run the
    hooks that were written for ``client``.

    The variables of an agent that usually starts ``client`` may be inherited, and so
    may any beside those of ``client`` itself, except those of a client that is known to
    run the hooks of others.
    """
    own = row_of(dialect_of(client).agent)
    if own is None or SPELLINGS.get(fold(env.get("WATERCOOLER_AGENT", ""))) == own.name:
        return client
    is_own = any(env.get(variable) for variable in own.variables)
    for _, agent in agents_in(env):
        row = row_of(agent)
        if row is None or row.nesting >= own.nesting:
            continue
        if not is_own or row.client in _GUESTS:
            return row.client or fold(row.name)
    return client


def parse_input(data: bytes) -> HookInput:
    """Parse the JSON that a client sends. Returns an empty input for anything else."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return HookInput()
    if not isinstance(fields, dict):
        return HookInput()
    roots = fields.get("workspace_roots")
    tool, response = str(fields.get("tool_name", "")), fields.get("tool_response")
    entered = response.get("worktreePath") if isinstance(response, dict) else None
    entered = entered if tool == "EnterWorktree" else None
    folders = (entered, fields.get("cwd"), *(roots if isinstance(roots, list) else ()))
    folder = next((value for value in folders if _is_folder(value)), "")
    names = ("session_id", "sessionId", "conversation_id")
    candidates = (fields.get(name) for name in names)
    session = next(
        (value for value in candidates if isinstance(value, str) and value), ""
    )
    # Cursor counts how often it continued: loop_count.
    again = bool(fields.get("stop_hook_active")) or bool(fields.get("loop_count"))
    arguments = fields.get("tool_input")
    return HookInput(
        folder,
        session,
        again,
        tool,
        arguments if isinstance(arguments, dict) else {},
        str(fields.get("agent_id") or ""),
    )


def _is_folder(value: Any) -> bool:
    return isinstance(value, str) and os.path.isdir(value)
