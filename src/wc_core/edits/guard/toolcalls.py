"""The files that a tool call of each client changes: the names of its tools and
arguments.

From the clients' documentation as of November 2026, and from what they send. Gemini
CLI's ``replace`` and Claude Code's ``Edit`` name a path, Codex's ``apply_patch`` has it
in the text of the patch.
"""

from __future__ import annotations

import os

from wc_core.base.values import NamedTuple
from wc_core.edits.guard import patches, shell

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
    a tool that is unknown or does not name them."""
    return tuple(dict.fromkeys(_paths(call)))


def _paths(call: ToolCall) -> Iterator[str]:
    if call.tool in _EDITS:
        for name in _PATH_ARGUMENTS:
            value = call.arguments.get(name)
            if isinstance(value, str) and value and "\0" not in value:
                yield os.path.normpath(os.path.join(call.cwd, value))
    elif call.tool in _PATCHES:
        for value in call.arguments.values():
            for path in patches.paths(value if isinstance(value, str) else ""):
                yield os.path.normpath(os.path.join(call.cwd, path))
    elif call.tool in _SHELLS:
        yield from shell.targets(_command(call.arguments), _folder(call))


def _folder(call: ToolCall) -> str:
    """The folder that a command is run in."""
    names = ("workdir", "working_directory", "directory", "dir_path", "cwd")
    chosen = (call.arguments.get(name) for name in names)
    folder = next((value for value in chosen if isinstance(value, str) and value), "")
    return os.path.join(call.cwd, folder)


def _command(arguments: Mapping[str, Any]) -> str:
    """The command of a tool that runs one: a text, or a list of words, which may be a
    shell with the text of its script."""
    value = arguments.get("command", arguments.get("cmd"))
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ""
    if len(value) == _SHELL_WORDS and value[1] in {"-c", "-lc"}:
        return str(value[2])
    import shlex  # 3 ms, and most commands are texts

    return shlex.join(value)


_SHELL_WORDS = 3
