"""Recognizes agents' sessions in the cloud, on machines that are thrown away, and
decides whether entries are carried from them."""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.keys import ASK, AUTO, CARRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.ledger.threads.settings import Settings

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


def is_agents(branch: str, patterns: Iterable[str]) -> bool:
    """Whether a branch is that of an agent: patterns have at most one ``*``, as those
    of git's refspecs."""
    return any(_matches(branch, pattern) for pattern in patterns)


def _matches(branch: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    if not star or "*" in end:
        return branch == pattern
    is_long = len(branch) >= len(start) + len(end)
    return is_long and branch.startswith(start) and branch.endswith(end)


def mode(rules: Settings, env: Mapping[str, str]) -> str:
    """Whether entries are carried, by the repository's setting, which a person's own
    can only narrow.

    ``off``, ``ask``: only by ``wc carry``, or ``auto``, which it is only in a sandbox,
    and only if writes are pushed without someone's word, too.
    """
    chosen = min(rules.carry, preferences.load(env).carry, key=CARRY.index)
    is_automatic = rules.push and current(env) is not None
    return ASK if chosen == AUTO and not is_automatic else chosen
