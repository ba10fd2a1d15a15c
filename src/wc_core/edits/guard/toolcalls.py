"""The files that a tool call of each client changes: the names of its tools and
arguments.

From the clients' documentation as of November 2026, and from what they send. Gemini
CLI's ``replace`` and Claude Code's ``Edit`` name a path, Codex's ``apply_patch`` has it
in the text of the patch.
"""

from __future__ import annotations

import os

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_PATH_ARGUMENTS = ("file_path", "filePath", "notebook_path", "absolute_path", "path")
_EDITS = frozenset(
    {
        *("Write", "Edit", "MultiEdit", "NotebookEdit"),  # Claude Code
        *("write_file", "replace"),  # Gemini CLI; the first of Qwen Code, too
        *("write", "edit"),  # opencode; the second of Qwen Code, too
        "notebook_edit",  # Qwen Code
        *("StrReplace", "EditNotebook", "Delete"),  # Cursor, with Write
    }
)
_PATCHES = frozenset({"apply_patch", "patch"})
# The files that a patch for `apply_patch` names. The flag is part of the pattern: the
# name re.MULTILINE would import `re`.
_PATCHED = re.compile(
    r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$"
)
# What their commands change is seen afterwards.
_SHELLS = frozenset(
    {
        *("Bash", "bash"),  # Claude Code, Codex, opencode
        "Shell",  # Cursor
        *("shell", "local_shell", "exec_command", "unified_exec"),  # Codex
        "run_shell_command",  # Gemini CLI, Qwen Code
    }
)


class ToolCall(NamedTuple):
    """A tool that an agent calls in the folder ``cwd``, with its arguments."""

    tool: str
    arguments: Mapping[str, Any]
    cwd: str


def is_edit(call: ToolCall) -> bool:
    """Whether a tool edits files, rather than runs a command."""
    return call.tool in _EDITS | _PATCHES


def may_write(call: ToolCall) -> bool:
    """Whether the tool can change files at all."""
    return is_edit(call) or call.tool in _SHELLS


def paths(call: ToolCall) -> tuple[str, ...]:
    """The absolute paths of the files that a call changes, without repetition; none for
    a tool that is unknown or does not name them, such as one that runs a command."""
    return tuple(dict.fromkeys(_paths(call)))


def _paths(call: ToolCall) -> Iterator[str]:
    if call.tool in _EDITS:
        for name in _PATH_ARGUMENTS:
            value = call.arguments.get(name)
            if isinstance(value, str) and value and "\0" not in value:
                yield os.path.normpath(os.path.join(call.cwd, value))
    elif call.tool in _PATCHES:
        for value in call.arguments.values():
            for match in _PATCHED.finditer(value if isinstance(value, str) else ""):
                yield os.path.normpath(os.path.join(call.cwd, match[1]))
