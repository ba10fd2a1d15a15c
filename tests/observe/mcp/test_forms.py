"""In which part each client gets an answer: as text or as structured content."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client
from mcp_types import Implementation

from tests.observe.every_call import CALLS as EVERY_CALL
from tests.observe.stores import MODES, NOW_MS, Session, Store, only_text
from wc_core.base.toolnames import PREFIX, TOOLS
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.forms import IN_STRUCTURED
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

    from tests.observe.stores import Mode

# A name that each client gives itself, and the part of an answer that it gets.
CLIENTS = {
    "claude-code": "structured",
    "codex-mcp-client": "structured",
    "cursor-vscode": "structured",
    "Visual Studio Code": "structured",
    "gemini-cli-mcp-client": "text",
    "qwen-code": "text",
    "opencode": "text",
    "claude-ai": "text",
    "github-copilot-developer": "text",
    "mcp": "text",
    "some-editor": "text",
}
# What answers without a format, in a few words.
SHORT = {"health", "whoami", "reindex"}
CALLS: dict[str, dict[str, Any]] = {
    "list_threads": {},
    "read_thread": {"topic": "plan"},
    "list_edits": {},
    "list_updates": {"since": "52w"},
    "search_threads": {"query": "secretly"},
    "get_stats": {},
    "check_status": {"symbols": ["a.py"]},
    "get_neighbors": {"target": "a.py"},
    "list_worktrees": {},
}
# What is behind a model's back: the payload, wherever it is.
BODY = "secretly agreed"


def ask(
    store: Store, env: dict[str, str], client: str, mode: Mode, **arguments: Any
) -> tuple[list[Tool], dict[str, CallToolResult]]:
    """The tools as this client sees them, and its answers."""

    async def talk() -> tuple[list[Tool], dict[str, CallToolResult]]:
        start = ServerContext(str(store.root.parent), env, lambda: NOW_MS)
        info = Implementation(name=client, version="1")
        async with Client(build_server(start), mode=mode, client_info=info) as one:
            tools = await one.list_tools()
            return tools, {
                name: await one.call_tool_mcp(PREFIX + name, words | arguments)
                for name, words in CALLS.items()
            }

    return asyncio.run(talk())


def payload(result: CallToolResult) -> str:
    """What an answer has, in the one part that has it; both count."""
    text = only_text(result)
    if result.structured_content is None:
        return text
    assert text == IN_STRUCTURED
    return json.dumps(result.structured_content, ensure_ascii=False)


def test_every_tool_is_asked_here() -> None:
    assert {*CALLS, *SHORT} == {*TOOLS}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("client", "part"), CLIENTS.items())
@pytest.mark.parametrize("form", ["markdown", "json"])
def test_an_answer_is_in_one_part(
    store: Store, env: dict[str, str], client: str, part: str, mode: Mode, form: str
) -> None:
    store.thread("plan", store.entry("plan", f"We {BODY}. Größe: 🎾", title="Known"))
    tools, answers = ask(store, env, client, mode, format=form)
    # No client's model sees them, and with one each answer must be structured.
    assert not any(tool.output_schema for tool in tools)
    is_structured = form == "json" and part == "structured"
    for name, result in answers.items():
        assert not result.is_error, (name, result)
        assert (result.structured_content is not None) == is_structured, name
        if form == "json":
            assert json.loads(payload(result)), name
            assert "\n" not in payload(result)
    for name in ("read_thread", "list_updates"):
        assert payload(answers[name]).count(BODY) == 1, (name, answers[name])
        assert "Größe: 🎾" in payload(answers[name])


@pytest.mark.parametrize(("client", "part"), CLIENTS.items())
def test_short_answers_and_errors_are_in_one_part(
    store: Store, env: dict[str, str], client: str, part: str
) -> None:
    store.thread("plan")
    session = Session(store.root.parent, env, client)
    for name in ("health", "whoami"):
        result = session.call(name)
        assert (result.structured_content is not None) == (part == "structured")
        assert '"you": "' in payload(result) or "you: " in payload(result)
    # Of these clients, only one shows the structured content of an error.
    for name in ("read_thread", "say"):
        result = session.call(name, topic="nowhere")
        assert result.is_error
        assert "NOT_FOUND" in payload(result)
        is_structured = result.structured_content is not None
        assert is_structured == (client == "codex-mcp-client")


@pytest.mark.parametrize(
    "client",
    [
        "claude-code",
        "gemini-cli-mcp-client",
        pytest.param("mcp", marks=pytest.mark.long),
    ],
)
def test_every_call_has_an_answer(
    store: Store, env: dict[str, str], client: str
) -> None:
    store.thread("plan", *(store.entry("plan") for _ in range(3)))
    session = Session(store.root.parent, env, client)
    for result in session.calls(*EVERY_CALL):
        assert only_text(result)
