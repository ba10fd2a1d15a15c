"""The server while FastMCP is loading, which a gate holds until a test opens it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from tests.observe.front.asking import enveloped, hello, line
from wc_core.base.toolnames import PREFIX
from wc_observe.front.opening import open_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.stores import Store

SOURCES = Path(__file__).parents[3] / "src"
GATED = """
import os, sys
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
def hook(event, args):
    named = event == "open" and isinstance(args[0], str) and args[0] != os.devnull
    if named and args[2] & WRITING:
        sys.stderr.write(f"writes:{args[0]} ")
sys.addaudithook(hook)
class Gate:
    def find_spec(self, name, path=None, target=None):
        if name == "fastmcp":
            sys.meta_path.remove(self)
            sys.stderr.write(" ".join(sys.modules))
            sys.stderr.flush()
            os.read(int(os.environ["GATE"]), 1)
sys.meta_path.insert(0, Gate())
from wc_observe.main import main
main()
"""
# Each takes longer to import than the front takes to answer.
HEAVY = {"asyncio", "inspect", "dataclasses", "pydantic", "mcp", "importlib.metadata"}
INFO = {"name": "codex-mcp-client", "version": "1"}


class Starting:
    """A server whose import of FastMCP waits."""

    def __init__(self, process: subprocess.Popen[bytes], gate: int) -> None:
        self.process, self._gate = process, gate

    @property
    def input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def open_gate(self) -> None:
        os.write(self._gate, b"\n")

    def say(self, *messages: dict[str, Any]) -> None:
        self.input.write(b"".join(map(line, messages)))
        self.input.flush()

    def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.output.readline())
        return message

    def errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


@contextmanager
def starting(env: dict[str, str], folder: Path) -> Iterator[Starting]:
    source, gate = os.pipe()
    surroundings = {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
    surroundings["GATE"] = str(source)
    try:
        with subprocess.Popen(
            [sys.executable, "-W", "error", "-c", GATED],
            env=env | surroundings,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[source],
        ) as process:
            yield Starting(process, gate)
            process.kill()
    finally:
        os.close(source)
        os.close(gate)


@pytest.fixture
def server(env: dict[str, str], store: Store) -> Iterator[Starting]:
    store.thread("plan")
    with starting(env, store.root.parent) as server:
        yield server


def call(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": PREFIX + tool, "arguments": arguments}
    return {"id": number, "method": "tools/call", "params": params}


def test_what_came_before_is_answered_afterwards(
    server: Starting, tmp_path: Path
) -> None:
    """With its roots, its name and its cancellations."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    opening, initialized = hello("2025-06-18", INFO)
    opening["params"]["capabilities"] = {"roots": {"listChanged": True}}
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    server.say(opening, initialized, call(1, "whoami"), call(2, "list_threads"))
    server.say(cancelled, {"id": "list", "method": "tools/list"})
    assert server.hear()["result"]["protocolVersion"] == "2025-06-18"
    listed = {tool["name"]: tool for tool in server.hear()["result"]["tools"]}
    assert f"{PREFIX}list_threads" in listed
    server.open_gate()
    answers: dict[Any, Any] = {}
    while 1 not in answers:
        message = server.hear()
        if message.get("method") == "roots/list":
            root = {"uri": elsewhere.as_uri()}
            server.say({"id": message["id"], "result": {"roots": [root]}})
        elif "method" not in message:
            answers[message["id"]] = message
    told = answers[1]["result"]["structuredContent"]
    assert (told["agent"], told["folder"]) == ("Codex", str(elsewhere))
    server.say({"id": 3, "method": "ping"}, {"id": 4, "method": "tools/list"})
    while 4 not in answers:
        message = server.hear()
        answers[message.get("id")] = message
    # Nothing was answered twice, and what was cancelled not with a result.
    assert answers.keys() <= {1, 2, 3, 4, None}
    assert "result" not in answers.get(2, {})
    assert answers[3]["result"] == {}
    server.input.close()
    assert server.process.wait(20) == 0
    assert server.output.read() == b""


def test_the_stateless_protocol_is_handed_over_as_well(server: Starting) -> None:
    server.say(enveloped("server/discover", "2026-07-28", INFO))
    assert server.hear()["result"]["supportedVersions"] == ["2026-07-28"]
    request = enveloped("tools/call", "2026-07-28", INFO)
    request["params"] |= call(0, "list_threads", format="json")["params"]
    server.say(request, {"id": 9, "method": "initialize", "params": {}})
    server.open_gate()
    answers = {message["id"]: message for message in (server.hear(), server.hear())}
    result = answers["tools/call"]["result"]
    assert result["structuredContent"]["threads"][0]["topic"] == "plan"
    # A handshake is refused: this client has begun without one.
    assert answers[9]["error"]["data"] == {"supported": ["2026-07-28"]}
    server.input.close()
    assert server.process.wait(20) == 0
    errors = server.errors()
    assert "writes:" not in errors
    modules = {*errors.split()}
    assert "wc_observe.front.opening" in modules
    assert modules & HEAVY == set()


def begin(server: Starting) -> None:
    server.say(*hello("2025-11-25", INFO))
    assert "result" in server.hear()


def test_a_client_that_only_looks_waits_for_nothing(server: Starting) -> None:
    begin(server)
    server.say({"id": 1, "method": "prompts/list"})
    server.input.close()
    assert server.hear()["id"] == 1
    assert server.process.wait(20) == 0


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)]
)
def test_signals_end_it_while_it_loads(
    server: Starting, number: signal.Signals, status: int
) -> None:
    begin(server)
    server.say(call(1, "whoami"))
    server.process.send_signal(number)
    assert server.process.wait(20) == status
    assert "Traceback" not in server.errors()


def test_a_client_that_is_gone_ends_it_while_it_loads(server: Starting) -> None:
    begin(server)
    server.output.close()
    server.say({"id": 1, "method": "tools/list"})
    assert server.process.wait(20) == 0
    assert "Traceback" not in server.errors()


def desk_for(env: dict[str, str]) -> object:
    return open_desk(env, all_stores=False, leave=lambda _: None)


@pytest.mark.parametrize(
    "env",
    [
        {"FASTMCP_INCLUDE_FASTMCP_META": "false"},
        {"fastmcp_mask_error_details": "true"},
        {"FASTMCP_ENV_FILE": ".env"},
    ],
)
def test_the_real_server_answers_where_settings_change_it(env: dict[str, str]) -> None:
    assert desk_for(env) is None
