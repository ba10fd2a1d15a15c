"""How coding agents are started with a scripted model, and the calls by which they
edit a file, run a command, and have a sub-agent do it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from tests.clients import installing
from tests.clients.scripted import PROMPT, Call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.clients.scripted import Service

NEW = "changed = True\n"
OLD = "changed = False\n"


class Started(NamedTuple):
    """The command line of an agent, and what it is started with."""

    words: list[str]
    env: dict[str, str]


class CodingAgent(NamedTuple):
    """An agent, by the name of `wc install`. ``edit`` changes a file from `OLD` to
    `NEW` by a tool for edits, and the last of its calls does it; ``shell`` runs a
    command; ``delegate`` starts a sub-agent and waits for it, and ``finish`` ends it.
    """

    client: str
    name: str
    start: Callable[[Service, Path], Started]
    edit: Callable[[Path], tuple[Call, ...]]
    shell: Callable[[str], Call]
    delegate: tuple[Call, ...] = ()
    finish: tuple[Call, ...] = ()


def _merge(file: Path, fields: dict[str, object]) -> None:
    """Add fields to the settings of a client."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept | fields))


def _claude(service: Service, _: Path) -> Started:
    (program,) = installing.agent("@anthropic-ai/claude-code").binary(
        "@anthropic-ai/claude-code-*/claude"
    )
    mode = ("--permission-mode", "bypassPermissions")
    env = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": service.address}
    env["ENABLE_TOOL_SEARCH"] = "false"
    env["IS_SANDBOX"] = "1"  # otherwise root may not
    return Started([program, "-p", PROMPT, *mode], env)


def _gemini(service: Service, home: Path) -> Started:
    gemini = installing.agent("@google/gemini-cli")
    key = {"auth": {"selectedType": "gemini-api-key"}}
    _merge(home / ".gemini/settings.json", {"security": key})
    mode = ("-m", "gemini-2.5-flash", "--approval-mode", "yolo")
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": service.address}
    env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    return Started(gemini.words("gemini", *mode, "-p", PROMPT), env)


def _qwen(service: Service, _: Path) -> Started:
    qwen = installing.agent("@qwen-code/qwen-code")
    mode = ("--auth-type", "openai", "-m", "stand-in", "--approval-mode", "yolo")
    env = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{service.address}/v1"}
    return Started(qwen.words("qwen", *mode, "-p", PROMPT), env)


def _codex(model: str) -> Callable[[Service, Path], Started]:
    def start(service: Service, _: Path) -> Started:
        provider = {
            "name": "stand-in",
            "base_url": f"{service.address}/v1",
            "wire_api": "responses",
            "env_key": "OPENAI_API_KEY",
        }
        fields = (f"{name} = {json.dumps(value)}" for name, value in provider.items())
        words = (
            *("exec", "--dangerously-bypass-hook-trust"),
            *("--dangerously-bypass-approvals-and-sandbox", "-m", model),
            *("-c", f"model_providers.stand-in = {{ {', '.join(fields)} }}"),
            *("-c", 'model_provider = "stand-in"', PROMPT),
        )
        codex = installing.agent("@openai/codex")
        return Started(codex.words("codex", *words), {"OPENAI_API_KEY": "none"})

    return start


def _opencode(provider: str, model: str) -> Callable[[Service, Path], Started]:
    def start(service: Service, home: Path) -> Started:
        opencode = installing.agent("opencode-ai").binary("opencode-*/bin/opencode")
        options = {"baseURL": f"{service.address}/v1", "apiKey": "none"}
        settings = {
            "autoupdate": False,
            "provider": {provider: {"options": options, "models": {model: {}}}},
            "model": f"{provider}/{model}",
            "small_model": f"{provider}/{model}",
        }
        _merge(home / ".config/opencode/opencode.json", settings)
        return Started([*opencode, "run", PROMPT], {})

    return start


def _patch_text(file: Path) -> str:
    """A patch that names a file by its path from the top of the repository."""
    lines = ("*** Begin Patch", f"*** Update File: {file.parent.name}/{file.name}")
    hunk = ("@@", f"-{OLD.strip()}", f"+{NEW.strip()}", "*** End Patch")
    return "\n".join((*lines, *hunk))


def _script(call: str) -> Call:
    """A call within a script, which the newer models of Codex write."""
    return Call("exec", f"text(await tools.{call})", "functions")


_TASK = {"description": "change it", "prompt": "Change the other file."}
_CODEX_TASK = {"task_name": "other_file", "message": _TASK["prompt"]}

CLAUDE = CodingAgent(
    "claude",
    "Claude Code",
    _claude,
    lambda file: (
        Call("Read", {"file_path": str(file)}),
        Call("Edit", {"file_path": str(file), "old_string": OLD, "new_string": NEW}),
    ),
    lambda command: Call("Bash", {"command": command, "description": "run"}),
    (
        Call(
            "Agent",
            {**_TASK, "subagent_type": "general-purpose", "run_in_background": False},
        ),
    ),
)
GEMINI = CodingAgent(
    "gemini",
    "Gemini CLI",
    _gemini,
    lambda file: (
        Call(
            "replace",
            {
                "file_path": str(file),
                "old_string": OLD,
                "new_string": NEW,
                "instruction": "change it",
            },
        ),
    ),
    lambda command: Call("run_shell_command", {"command": command}),
    (Call("invoke_agent", {"agent_name": "generalist", "prompt": _TASK["prompt"]}),),
    (Call("complete_task", {"result": {"response": "Done."}}),),
)
QWEN = CodingAgent(
    "qwen",
    "Qwen Code",
    _qwen,
    lambda file: (
        Call("read_file", {"file_path": str(file)}),
        Call(
            "edit",
            {"file_path": str(file), "old_string": OLD, "new_string": NEW},
        ),
    ),
    lambda command: Call(
        "run_shell_command", {"command": command, "is_background": False}
    ),
)
CODEX = CodingAgent(
    "codex",
    "Codex",
    _codex("gpt-5.5"),
    lambda file: (Call("apply_patch", _patch_text(file)),),
    lambda command: Call("exec_command", {"cmd": command}),
)
# Its newer models write scripts, which call the tools.
CODEX_SCRIPTS = CodingAgent(
    "codex",
    "Codex",
    _codex("gpt-6-sol"),
    lambda file: (_script(f"apply_patch({json.dumps(_patch_text(file))})"),),
    lambda command: _script(f"exec_command({json.dumps({'cmd': command})})"),
    (
        Call("spawn_agent", {**_CODEX_TASK, "fork_turns": "none"}, "collaboration"),
        Call("wait_agent", {"timeout_ms": 20_000}, "collaboration"),
    ),
)
_OPENCODE_TASK = (Call("task", {**_TASK, "subagent_type": "general"}),)
OPENCODE = CodingAgent(
    "opencode",
    "opencode",
    _opencode("anthropic", "stand-in"),
    lambda file: (
        Call("read", {"filePath": str(file)}),
        Call("edit", {"filePath": str(file), "oldString": OLD, "newString": NEW}),
    ),
    lambda command: Call("bash", {"command": command, "description": "run"}),
    _OPENCODE_TASK,
)
# OpenAI's models are given another tool for edits.
OPENCODE_PATCHES = OPENCODE._replace(
    start=_opencode("openai", "gpt-5"),
    edit=lambda file: (Call("apply_patch", {"patchText": _patch_text(file)}),),
)
AGENTS = {
    "claude": CLAUDE,
    "gemini": GEMINI,
    "qwen": QWEN,
    "codex": CODEX,
    "codex-scripts": CODEX_SCRIPTS,
    "opencode": OPENCODE,
    "opencode-patches": OPENCODE_PATCHES,
}
