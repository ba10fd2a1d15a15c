"""How each client asks a hook, and how it wants to be answered.

``text``: what is printed becomes context; ``json``: the context stands in an
object. Who has finished and shall go on is told so in an object everywhere.
Each client's own words, as of November 2026:

- claude: https://code.claude.com/docs/en/hooks
- codex: https://developers.openai.com/codex/hooks, codex-rs/hooks of openai/codex
- qwen: docs/users/features/hooks.md of QwenLM/qwen-code
- gemini: docs/hooks/reference.md of google-gemini/gemini-cli
- cursor: https://cursor.com/docs/agent/hooks
- opencode has none; `wc install` gives it a plugin that asks as Claude Code does
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

START, PROMPT, STOP = "session-start", "user-prompt", "stop"
EVENTS = (START, PROMPT, STOP)


class Dialect(NamedTuple):
    """A client: the agent it is, what it calls our events, and the shapes of
    its answers. A shape that is empty means that the client takes nothing at
    that point. ``session`` is the variable in which the commands of the agent
    find which session is theirs (`wc_core.identity.agents`)."""

    agent: str
    events: tuple[str, str, str] = ("SessionStart", "UserPromptSubmit", "Stop")
    shapes: tuple[str, str, str] = ("text", "text", "block")
    session: str = ""

    def seated(self, env: Mapping[str, str], session: str) -> Mapping[str, str]:
        """The environment that a command of the agent would have: not every
        client tells its hooks which session it is there, too."""
        return {self.session: session, **env} if self.session and session else env

    def answer(self, event: str, text: str) -> str:
        """What to print so that the client takes ``text`` up."""
        where = EVENTS.index(event)
        shape = self.shapes[where]
        if not text or not shape:
            return ""
        if shape == "text":
            return text
        return json.dumps(_SHAPES[shape](text, self.events[where]), ensure_ascii=False)


_SHAPES: Mapping[str, Any] = {
    "block": lambda text, _: {"decision": "block", "reason": text},
    "deny": lambda text, _: {"decision": "deny", "reason": text},
    "context": lambda text, event: {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    },
    "additional": lambda text, _: {"additional_context": text},
    "followup": lambda text, _: {"followup_message": text},
}

DIALECTS: Mapping[str, Dialect] = {
    "claude": Dialect("Claude Code", session="CLAUDE_CODE_SESSION_ID"),
    "codex": Dialect("Codex", session="CODEX_THREAD_ID"),
    "qwen": Dialect("Qwen Code", session="QWEN_CODE_SESSION_ID"),
    "gemini": Dialect(
        "Gemini CLI",
        ("SessionStart", "BeforeAgent", "AfterAgent"),
        ("context", "context", "deny"),
    ),
    # beforeSubmitPrompt can stop a prompt and add nothing to it.
    "cursor": Dialect(
        "Cursor",
        ("sessionStart", "beforeSubmitPrompt", "stop"),
        ("additional", "", "followup"),
    ),
    "opencode": Dialect("opencode", shapes=("text", "text", "text")),
}
_PLAIN = Dialect("")


class HookInput(NamedTuple):
    """What a client says of itself when it asks: the folder, the session, and
    whether the agent only goes on because a hook said so already."""

    folder: str = ""
    session: str = ""
    again: bool = False


def of(client: str) -> Dialect:
    """The dialect of a client; Claude Code's for one we have not heard of."""
    return DIALECTS.get(client, _PLAIN)


def asked(data: bytes) -> HookInput:
    """What is in the JSON that a client sends; nothing in anything else."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return HookInput()
    if not isinstance(fields, dict):
        return HookInput()
    roots = fields.get("workspace_roots")
    folders = (fields.get("cwd"), *(roots if isinstance(roots, list) else ()))
    folder = next((one for one in folders if _is_folder(one)), "")
    names = ("session_id", "sessionId", "conversation_id")
    said = (fields.get(name) for name in names)
    session = next((one for one in said if isinstance(one, str) and one), "")
    # Cursor counts how often it went on: loop_count.
    again = bool(fields.get("stop_hook_active")) or bool(fields.get("loop_count"))
    return HookInput(folder, session, again)


def _is_folder(value: Any) -> bool:
    return isinstance(value, str) and os.path.isdir(value)
