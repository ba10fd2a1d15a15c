"""What is the same for every tool and resource."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError

from tests.measuring import paused
from tests.observe.stores import MODES, NOW_MS, Session, Store, error_of
from wc_cli.run import table
from wc_core.base.errors import ConflictError
from wc_core.base.toolnames import INSTEAD, PREFIX, TOOLS
from wc_core.ledger.threads.model import (
    ACTIONS,
    ENTRY_TYPES,
    KINDS,
    ROLES,
    SEVERITIES,
    STATUSES,
)
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp import server
from wc_observe.mcp.instructions import SHORT, guide
from wc_observe.mcp.refusals import (
    RefusedCallError,
    allowed_values,
    guarded,
    invalid_arguments,
)
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_types import Resource, ResourceTemplate, Tool

    from tests.observe.stores import Mode

FULL = guide(local=True)


def offered(mode: Mode) -> tuple[list[Tool], list[Resource], list[ResourceTemplate]]:
    async def ask() -> tuple[list[Tool], list[Resource], list[ResourceTemplate]]:
        server = build_server(ServerContext("/", {}, lambda: 0))
        async with Client(server, mode=mode) as client:
            return (
                await client.list_tools(),
                await client.list_resources(),
                await client.list_resource_templates(),
            )

    return asyncio.run(ask())


@pytest.mark.parametrize("mode", MODES)
def test_what_is_offered(mode: Mode) -> None:
    tools, resources, templates = offered(mode)
    assert sorted(tool.name for tool in tools) == sorted(
        PREFIX + name for name in TOOLS
    )
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        # Of a tool that only reads, this says nothing; the world is open by default.
        assert tool.annotations.idempotent_hint is None
        assert tool.annotations.open_world_hint is None
        # For people: words, and no prefix.
        assert re.fullmatch("[A-Z][a-z]+( [a-zA-Z]+)*", tool.title or "")
        assert tool.description
        assert tool.meta is None
    assert {"Health", "Who am I", "Read thread"} < {tool.title for tool in tools}
    assert len(tools) <= 12
    assert size(tools) <= 8_000
    assert {str(one.uri) for one in resources} == {
        "watercooler://instructions",
        "watercooler://threads",
        "watercooler://index",
        "watercooler://worktrees",
    }
    assert [one.uri_template for one in templates] == [
        "watercooler://threads/{topic}",
        "watercooler://threads/{topic}/{entry}",
        "watercooler://loop/{change_id}",
    ]


def size(tools: Sequence[Tool]) -> int:
    """The bytes of the result of ``tools/list``."""
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    text = json.dumps({"tools": listed}, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode())


def test_each_thing_is_said_once() -> None:
    tools, _, _ = offered("auto")
    for tool in tools:
        schema = tool.input_schema
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, parameter in schema["properties"].items():
            # Some clients drop a parameter without a type.
            assert isinstance(parameter["type"], str), (tool.name, name)
            assert not {"title", "anyOf"} & parameter.keys(), (tool.name, name)


def test_the_short_answers_say_the_same_in_both_forms(
    store: Store, env: dict[str, str]
) -> None:
    store.thread("plan")
    env["WATERCOOLER_AGENT"] = "Codex"
    session, reader = (
        Session(store.root.parent, env, client) for client in ("codex", "mcp")
    )
    for tool, arguments in (
        ("health", {}),
        ("health", {"vocabulary": True}),
        ("whoami", {}),
    ):
        text = reader.text(tool, **arguments)
        assert len(text) < 1000
        for fact in facts(session.fields(tool, **arguments) | {"client": "mcp"}):
            assert fact in text, (tool, fact)


def facts(value: Any) -> list[str]:
    """The texts in a JSON value, but those said in other words."""
    if isinstance(value, dict):
        left_out = {"agent", "tag", "seat", "exists"}
        return [f for k, v in value.items() if k not in left_out for f in facts(v)]
    if isinstance(value, list):
        return [fact for one in value for fact in facts(one)]
    return [value] if isinstance(value, str) else []


def test_the_vocabulary(session: Session) -> None:
    assert session.fields("health", vocabulary=True)["vocabulary"] == {
        "statuses": list(STATUSES),
        "roles": list(ROLES),
        "types": list(ENTRY_TYPES),
        "kinds": list(KINDS),
        "severities": list(SEVERITIES),
        "actions": list(ACTIONS),
    }


def test_health_of_a_store_with_everything_wrong(
    store: Store, session: Session
) -> None:
    store.thread("good")
    store.thread("closed", store.give("closed", None, status="CLOSED"))
    store.thread("bad")
    with open(store.layout.log("bad"), "ab") as log:
        log.write(b"\x00garbage\n")
    Path(store.layout.log("worse")).mkdir(parents=True)
    Path(store.layout.unsettled).mkdir(parents=True)
    for topic in ("good", "closed"):
        Path(store.layout.unsettled, topic).touch()
    report = {"at": "2026-01-01T00:00:00Z", "problem": "git said \x1b[31mno", "x": 1}
    Path(store.layout.settling).write_text(json.dumps(report))
    Path(store.layout.config).write_text("[ball]\nenforce = 'maybe'\n")
    found = session.fields("health")
    assert not found["ok"]
    assert found["threads"] == {
        "total": 4,
        "by_status": {"OPEN": 2, "CLOSED": 1, "?": 1},
    }
    assert [one["topic"] for one in found["damaged"]] == ["bad", "worse"]
    assert found["unsettled"] == 2
    assert [one.partition(":")[0] for one in found["problems"]] == [
        "damaged",
        "settling",
        "config.toml",
    ]
    assert "settling: git said no. See: wc doctor" in found["problems"]
    session.client = "mcp"
    assert session.text("health").startswith("health: there are problems\n")


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (b"", "it left a report that cannot be read"),
        (b"{", "it left a report that cannot be read"),
        (b'{"other": 1}', '{"other": 1}'),
        (b'"just text"', "just text"),
        (b"[]", "[]"),
        (b'{"problem": 7}', '{"problem": 7}'),
    ],
)
def test_any_report_of_settling_is_shown(
    store: Store, session: Session, report: bytes, told: str | None
) -> None:
    Path(store.layout.local).mkdir()
    Path(store.layout.settling).write_bytes(report)
    found = session.fields("health")
    expected = [] if told is None else [f"settling: {told}. See: wc doctor"]
    assert found.get("problems", []) == expected


def test_health_of_a_folder_that_is_not_a_store(
    store: Store, session: Session, tmp_path: Path
) -> None:
    Path(store.layout.threads).parent.mkdir(parents=True)
    Path(store.layout.threads).symlink_to(tmp_path)
    Path(store.layout.local).mkdir()
    Path(store.layout.settling).mkdir()
    found = session.fields("health")
    assert found["problems"][0].startswith("CORRUPT: ")
    Path(store.layout.threads).unlink()
    found = session.fields("health")
    assert found["problems"][0].startswith("STORAGE: ")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("list_threads", {"limit": 0}, "limit: a whole number from 1 to 500"),
        ("list_threads", {"limit": 501}, "limit: a whole number from 1 to 500"),
        ("list_threads", {"limit": "many"}, "limit: a whole number from 1 to 500"),
        ("list_threads", {"format": "xml"}, 'format: one of "markdown", "json"'),
        ("list_threads", {"open_only": "perhaps"}, "open_only: true or false"),
        ("list_threads", {"ball": ["me"]}, "ball: text"),
        ("list_threads", {"colour": 1}, "list_threads takes: open_only, ball, ready, "),
        ("read_thread", {}, "topic: text"),
        ("read_thread", {"topic": None}, "topic: text"),
        (
            "read_thread",
            {"topic": "x", "from_entry": 1.5},
            "from_entry: a whole number",
        ),
        ("search_threads", {"query": "x", "status": "NEW"}, '"OPEN", "IN_REVIEW"'),
        ("health", {"verbose": True}, "health takes: vocabulary"),
        ("whoami", {"verbose": True}, "whoami takes: no arguments"),
        ("list_threads", {"cursor": "nonsense"}, "Use the cursor of the previous page"),
        (
            "search_threads",
            {"query": "x", "cursor": "zz"},
            "Use the cursor of the previous page",
        ),
    ],
)
def test_errors_for_bad_arguments_say_what_is_allowed(
    store: Store, session: Session, tool: str, arguments: dict[str, Any], words: str
) -> None:
    store.thread("x")
    told = session.error(tool, **arguments)
    assert told["code"] == "INVALID_INPUT"
    assert words in told["hint"]
    assert "pydantic" not in told["message"] + told["hint"]


def test_a_long_argument_is_not_repeated(session: Session) -> None:
    told = session.error("list_threads", format="x" * 10_000)
    assert len(told["message"]) < 200


def test_arguments_refused_for_another_reason() -> None:
    assert invalid_arguments("some_tool", None, {}).code == "INVALID_INPUT"
    assert allowed_values({"type": "object"}) == "object"
    assert allowed_values({"anyOf": [{"type": "null"}]}) == "a value"


def test_an_unknown_tool(session: Session) -> None:
    told = session.error("write_thread")
    assert told["code"] == "NOT_FOUND"
    assert "watercooler_v1_read_thread" in told["hint"]


@pytest.mark.parametrize("prefix", [PREFIX, ""])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("say", "This server only reads. In a shell: wc say TOPIC -m TITLE -b TEXT"),
        ("ack", "This server only reads. In a shell: wc ack TOPIC -m TITLE"),
        ("create_thread", "This server only reads. In a shell: wc new TOPIC -m TITLE"),
        ("list_roles", "Call watercooler_v1_health(vocabulary=true)."),
        ("get_entry", "Call watercooler_v1_read_thread(topic, entry)."),
        ("get_conflicts", 'Call watercooler_v1_list_edits(show="conflicts").'),
    ],
)
def test_a_tool_of_another_server(
    session: Session, prefix: str, name: str, hint: str
) -> None:
    error = called_as(session, prefix + name)
    assert error["message"] == f"There is no tool '{prefix}{name}'."
    assert error["hint"] == hint


def test_a_tool_without_its_prefix(session: Session) -> None:
    error = called_as(session, "list_threads")
    assert error["hint"] == "Call watercooler_v1_list_threads."


def called_as(session: Session, name: str) -> dict[str, str]:
    """The error of a call by exactly this name."""

    async def ask() -> dict[str, str]:
        start = ServerContext(str(session.folder), session.env, lambda: NOW_MS)
        async with Client(build_server(start)) as client:
            result = await client.call_tool_mcp(name, {"topic": "plan"})
            return error_of(result)

    return asyncio.run(ask())


def test_every_name_of_another_server_has_an_answer() -> None:
    for name, instead in INSTEAD.items():
        assert name not in TOOLS
        words = instead.split()
        if words[0] == "wc":
            assert words[1] in table.COMMANDS
        else:
            assert instead.partition("(")[0] in TOOLS


def test_a_bug_is_reported_without_its_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> str:
        raise RuntimeError("/etc/secret")

    with pytest.raises(RefusedCallError) as refused:
        guarded(broken)()
    assert refused.value.error.code == "INTERNAL"
    assert "secret" not in refused.value.error.message + refused.value.error.hint
    assert "RuntimeError" in refused.value.error.message
    assert "/etc/secret" in caplog.text


def test_our_own_errors_pass_through() -> None:
    def refusing() -> str:
        raise ConflictError("No.", "Yes.")

    with pytest.raises(RefusedCallError) as refused:
        guarded(refusing)()
    assert refused.value.error.code == "CONFLICT"


@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        ("threads/nope", "NOT_FOUND", 'There is no thread "nope"'),
        ("threads/..%2F..%2Fetc%2Fpasswd", "NOT_FOUND", "There is no thread"),
        ("threads/%00", "NOT_FOUND", "There is no thread"),
    ],
)
def test_errors_of_resources_are_ours_too(
    store: Store, session: Session, address: str, code: str, words: str
) -> None:
    store.thread("plan")
    with pytest.raises(McpError) as raised:
        session.read(address)
    assert raised.value.error.message.startswith(f"{code}: {words}")
    assert raised.value.error.data["error"]["code"] == code
    assert raised.value.error.code == -32602


def test_a_resource_that_does_not_exist(session: Session) -> None:
    with pytest.raises(McpError) as raised:
        session.read("nothing")
    told = raised.value.error.data["error"]
    assert told["code"] == "NOT_FOUND"
    assert "'watercooler://nothing'" in told["message"]
    assert "watercooler://threads/{topic}, " in told["hint"]


def test_the_guide_can_be_relied_on(session: Session) -> None:
    assert session.read("instructions") == FULL
    assert len(FULL) < 5_500
    # 83 tokens of 4 characters: every session pays them.
    assert len(SHORT) <= 330
    offers = {spec.name: spec.answer for spec in server.USUAL_SPECS}
    called = re.findall(r"`([a-z_]+)\(([^)`]*)\)`", FULL)
    assert len(called) >= 8
    for tool, words in called:
        taken = inspect.signature(offers[tool]).parameters
        for word in re.findall(r"([a-z_]+)(?:=|,|$)", re.sub(r'"[^"]*"', "", words)):
            assert word in {*taken, "true"}, (tool, word)
    taken_by = map(inspect.signature, offers.values())
    known = {name for one in taken_by for name in one.parameters}
    for name in re.findall(r"`([a-z]+(?:_[a-z]+)*)`", FULL):
        assert name in {*offers, *known, *WORDS}, name
    for word in (*STATUSES, *ROLES, *ENTRY_TYPES):
        assert word in FULL


# What the guide has in the form of a tool and is none.
WORDS = {"truncated", "anyone", "forked", "wc"}


def test_the_commands_of_the_guide_are_wcs() -> None:
    """Each can be understood, with the options that it shows."""
    texts = re.findall(r"(?:^    |`)wc ([a-z-]+)([^\n`]*)", FULL, re.MULTILINE)
    assert len(texts) > 10
    for name, rest in texts:
        declared = table.load(name)
        assert declared is not None, name
        flags = {flag for one in declared.options.params() for flag in one.flags}
        assert set(re.findall(r"--[a-z]+", rest.partition("  ")[0])) <= flags
    for flag in re.findall(r"`(--[a-z]+)", FULL):
        say, new = table.load("say"), table.load("new")
        assert say is not None
        assert new is not None
        params = (*say.options.params(), *new.options.params())
        assert flag in {one for param in params for one in param.flags}, flag


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_store_that_may_not_be_read(store: Store, session: Session) -> None:
    store.thread("plan")
    os.chmod(store.layout.threads, 0)
    try:
        assert session.error("list_threads")["code"] == "STORAGE"
        found = session.fields("health")
        assert not found["ok"]
    finally:
        os.chmod(store.layout.threads, 0o700)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store that takes long to read."""
    store = Store(tmp_path_factory.mktemp("many") / "store")
    with paused():
        for number in range(3000):
            store.thread(f"topic-{number}", store.entry("t", "x"), meta=False)
    return store


@pytest.mark.parametrize("mode", MODES)
def test_long_calls_report_their_progress(
    many: Store, env: dict[str, str], mode: Mode
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def ask() -> None:
        place = env | {"WATERCOOLER_DIR": str(many.root)}
        start = ServerContext(str(many.root.parent), place, lambda: NOW_MS)
        async with Client(build_server(start), mode=mode) as client:
            await client.call_tool(
                "watercooler_v1_list_threads", {}, progress_handler=hear
            )

    asyncio.run(ask())
    assert told
    assert all(total == 3000 and done < 3000 for done, total, _ in told)
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert told[0][2] == f"{told[0][0]:.0f} of 3000 threads read"
