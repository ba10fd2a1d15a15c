"""Recognizes agents' sessions in the cloud, on machines that are thrown away."""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Declares a place that is not in the table; its value is the name.
VARIABLE = "WATERCOOLER_SANDBOX"
_MAX_NAME = 40


class Sandbox(NamedTuple):
    """A place where agents work on a machine that is thrown away: recognized by a
    ``variable`` that has the ``value``, or any if that is empty."""

    name: str
    variable: str
    value: str = ""


# Each variable with the place where it is documented or was seen.
SANDBOXES = (
    # code.claude.com/docs/en/claude-code-on-the-web
    Sandbox("Claude Code in the cloud", "CLAUDE_CODE_REMOTE", "true"),
    # Seen in its sessions: hermanwikner/codex-web-environment and others.
    Sandbox(
        "Codex cloud",
        "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
        "codex_web_agent",
    ),
    # watson/is-ci#28
    Sandbox("Copilot coding agent", "COPILOT_AGENT_ACTION"),
)


def current(env: Mapping[str, str]) -> Sandbox | None:
    """The place that this environment belongs to; ``None`` on an ordinary machine."""
    if declared := one_line(env.get(VARIABLE, "")).strip():
        return Sandbox(declared[:_MAX_NAME], VARIABLE)
    for sandbox in SANDBOXES:
        value = env.get(sandbox.variable, "")
        if value and sandbox.value in {"", value}:
            return sandbox
    return None
