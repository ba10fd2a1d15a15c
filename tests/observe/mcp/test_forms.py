"""What of an answer reaches the model of each client, by what the client shows."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client
from mcp_types import Implementation

from tests.observe.every_call import CALLS as EVERY_CALL
from tests.observe.stores import MODES, NOW_MS, Session, Store, only_text
from wc_core.base.toolnames import OLDER_TOOLS, PREFIX, TOOLS
from wc_observe.answers.jsontext import VARIABLE
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

    from tests.observe.stores import Mode

# A name that each client gives itself, and what it shows to its model.
CLIENTS = {
    "claude-code": "structured",
    "codex-mcp-client": "structured",
    "cursor-vscode": "structured",
    "Visual Studio Code": "structured",
    "gemini-cli-mcp-client": "text",
    "qwen-code": "text",
    "opencode": "text",
    "claude-ai": "text",
    "github-copilot-developer": "both",
    "mcp": "unknown",
    "some-editor": "unknown",
}
# What answers without a format: the same in a few words, in both parts.
SHORT = {"health", "whoami", "list_vocabulary", "reindex"}
CALLS: dict[str, dict[str, Any]] = {
    "list_threads": {},
    "read_thread": {"topic": "plan"},
    "get_entry": {"topic": "plan", "index": 0},
    "list_edits": {},
    "list_updates": {"since": "52w"},
    "search_threads": {"query": "secretly"},
    "get_ball_history": {"topic": "plan"},
    "get_stats": {},
    "check_status": {"symbols": ["a.py"]},
    "list_claims": {},
    "list_ready": {},
    "explain_readiness": {"topic": "plan"},
    "get_neighbors": {"target": "a.py"},
    "list_activity": {},
    "get_conflicts": {},
    "list_worktrees": {},
    "get_loop_status": {},
    "get_team_status": {},
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


def shown(result: CallToolResult, part: str) -> str:
    """What a client that shows this part puts before its model."""
    structured = (
        ""
        if result.structured_content is None
        else json.dumps(result.structured_content)
    )
    text = only_text(result)
    return {
        "text": text,
        "structured": structured or text,
        "both": text + structured,
        "unknown": text + structured,
    }[part]


def test_every_tool_is_asked_here() -> None:
    assert {*CALLS, *SHORT} == {*TOOLS, *OLDER_TOOLS}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("client", "part"), CLIENTS.items())
@pytest.mark.parametrize("form", ["markdown", "json"])
def test_an_answer_reaches_the_model_once(
    store: Store, env: dict[str, str], client: str, part: str, mode: Mode, form: str
) -> None:
    store.thread("plan", store.entry("plan", f"We {BODY}.", title="Known"))
    tools, answers = ask(store, env, client, mode, format=form)
    # No client's model sees them, and with one each answer must be structured.
    assert not any(tool.output_schema for tool in tools)
    for name, result in answers.items():
        assert not result.is_error, (name, result)
        assert (result.structured_content is not None) == (form == "json")
    for name in ("read_thread", "get_entry", "list_updates"):
        assert shown(answers[name], part).count(BODY) == 1, (name, answers[name])


@pytest.mark.parametrize(
    ("client", "setting", "is_in_text"),
    [
        ("gemini-cli-mcp-client", None, True),
        ("gemini-cli-mcp-client", "", True),
        ("gemini-cli-mcp-client", "on", True),
        ("gemini-cli-mcp-client", " OFF ", False),
        ("gemini-cli-mcp-client", "perhaps", True),
        ("claude-code", None, False),
        ("claude-code", "on", True),
        ("some-editor", None, False),
        ("some-editor", "On", True),
        ("some-editor", "off", False),
        ("github-copilot-developer", None, False),
        ("github-copilot-developer", "on", False),
    ],
)
def test_json_is_in_the_text_where_only_that_is_shown_or_as_the_user_says(
    store: Store,
    env: dict[str, str],
    client: str,
    setting: str | None,
    *,
    is_in_text: bool,
) -> None:
    store.thread("plan", store.entry("plan", "Größe: 🎾"))
    if setting is not None:
        env = env | {VARIABLE: setting}
    _, answers = ask(store, env, client, "auto", format="json")
    for name, result in answers.items():
        text = only_text(result)
        if is_in_text:
            assert json.loads(text) == result.structured_content, name
            assert "\n" not in text
        else:
            assert text.endswith(
                'in the structured content; as text: format="markdown"'
            )
    assert ("Größe: 🎾" in only_text(answers["read_thread"])) == is_in_text


def test_a_setting_that_means_nothing_is_reported(
    store: Store, session: Session
) -> None:
    store.thread("plan")
    session.env[VARIABLE] = "yes"
    (problem,) = session.fields("health")["problems"]
    assert problem == "WATERCOOLER_JSON_TEXT is 'yes', which is neither on nor off."
    for fine in ("on", "OFF", ""):
        session.env[VARIABLE] = fine
        assert session.fields("health")["ok"]


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
