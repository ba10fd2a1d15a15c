"""The agent that we run inside, told by what agents set in the environment of
the commands they run.

What a *terminal* sets for everything in it says nothing of an agent:
``TERM_PROGRAM``, ``ZED_TERM``, ``CURSOR_TRACE_ID`` and ``VSCODE_*`` are there for
the person at the keyboard as well. Each variable here comes with where it is
said that an agent, and only that agent, sets it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wc_core.names import FREE_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Where an agent has started another one, the variables of both are set, and
# nothing in the environment tells which is the inner one. So those that others
# start come before those that start them: programs for the terminal, then Claude
# Code, which often runs them, then what runs in an editor.
AGENT_VARIABLES: tuple[tuple[str, str], ...] = (
    # openai/codex, codex-rs/protocol/src/shell_environment.rs: each command.
    ("CODEX_THREAD_ID", "Codex"),
    # openai/codex, codex-rs/core/src/spawn.rs: in its sandbox on macOS.
    ("CODEX_SANDBOX", "Codex"),
    # google-gemini/gemini-cli, docs/tools/shell.md.
    ("GEMINI_CLI", "Gemini CLI"),
    # npm @qwen-code/qwen-code 0.24.4: the environment of its shell tool.
    ("QWEN_CODE", "Qwen Code"),
    # npm opencode-ai 1.18.33: process.env.OPENCODE at its start.
    ("OPENCODE", "opencode"),
    # charmbracelet/crush#2484.
    ("CRUSH", "Crush"),
    # aaif-goose/goose#3911, "Variables Controlled by goose" in its guide.
    ("GOOSE_TERMINAL", "Goose"),
    # earendil-works/pi#2867, docs/environment-variables.md.
    ("PI_CODING_AGENT", "Pi"),
    # Seen in kiro-cli 2.6.1: dynatrace-oss/dtctl#282.
    ("KIRO_SESSION_ID", "Kiro"),
    # Seen in copilot 1.0.63: dynatrace-oss/dtctl#288; Azure/azure-dev#8249.
    ("COPILOT_CLI", "Copilot CLI"),
    # cursor.com/docs/agent/terminal, for its editor and for cursor-agent.
    ("CURSOR_AGENT", "Cursor"),
    # anthropics/claude-code#531; 2.1.330 sets it for hooks and status lines, too.
    ("CLAUDECODE", "Claude Code"),
    # microsoft/vscode#316267: terminals of Copilot's agent alone.
    ("COPILOT_AGENT", "VS Code"),
    # cline/cline, src/.../terminal/TerminalRegistry.ts (#7858).
    ("CLINE_ACTIVE", "Cline"),
    # firebase/firebase-tools#10457.
    ("ANTIGRAVITY_AGENT", "Antigravity"),
)

# What several agents set by agreement, the agent's name being the value, with a
# version behind it or not: npm @vercel/detect-agent. Claude Code 2.1.330 says
# claude-code_2-1-330_agent; pi, crush and openhands say just that.
CONVENTION = "AI_AGENT"
_SLUG = re.compile(r"[a-z][a-z0-9._-]{0,39}")
_NOBODY = FREE_WORDS | {"me", "true", "yes", "on", "false", "no", "off"}

# An older agreement, on a word so common that only one value counts, the one
# that has no variable of its own: aaif-goose/goose#7017.
AMP = ("AGENT", "amp")

# The session that a command belongs to. Sub-agents of Codex have a thread each;
# those of Claude Code share the session. Sources: as above; goose#7072.
SESSION_VARIABLES = (
    "CODEX_THREAD_ID",
    "QWEN_CODE_SESSION_ID",
    "AGENT_SESSION_ID",
    "KIRO_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "CLAUDE_CODE_SESSION_ID",
)
_SESSION_CHARACTERS = 6
_SESSION = re.compile(r"[a-z0-9_-]{1,6}")


def found(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that name an agent and the agents they name, those that
    count first first."""
    for variable, agent in AGENT_VARIABLES:
        if env.get(variable):
            yield variable, agent
    word = by_convention(env)
    if word:
        yield CONVENTION, word
    if env.get(AMP[0]) == AMP[1]:
        yield AMP


def by_convention(env: Mapping[str, str]) -> str:
    """The agent that ``AI_AGENT`` names, without its version; else empty."""
    word = re.split(r"[@/]|_(?=[0-9])", env.get(CONVENTION, ""), maxsplit=1)[0]
    return word if _SLUG.fullmatch(word) and word not in _NOBODY else ""


def session(env: Mapping[str, str]) -> str:
    """The end of the id of the session we run in, which tells it from others;
    empty where there is none, or one of an unknown form."""
    said = next((env[one] for one in SESSION_VARIABLES if env.get(one)), "")
    end = said[-_SESSION_CHARACTERS:]
    return end if _SESSION.fullmatch(end) else ""
