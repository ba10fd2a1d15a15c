"""The command itself, as clients start it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests import forking, measuring
from tests.observe.stores import MODES
from wc_core.base.toolnames import TOOLS
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.stores import Mode, Store

SOURCES = Path(__file__).parents[2] / "src"
COMMAND = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "from wc_observe.main import main; main()",
]


HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "codex-mcp-client", "version": "1"},
    },
}

# What is imported when it ends.
MODULES = (
    "import sys\nfrom wc_observe.main import main\n"
    "try:\n main()\nfinally:\n sys.stderr.write(repr(sorted(sys.modules)))"
)


def environment(env: dict[str, str]) -> dict[str, str]:
    return env | {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}


def run(
    env: dict[str, str], *arguments: str, said: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        check=False,
        env=measuring.measured(environment(env)),
        input=said,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(env: dict[str, str], flag: str) -> None:
    done = run(env, flag)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: wc-observe")
    assert done.stderr == ""


def test_version(env: dict[str, str]) -> None:
    done = run(env, "--version")
    assert (done.returncode, done.stdout) == (0, f"wc-observe {__version__}\n")


@pytest.mark.parametrize("package", ["wc_cli", "wc_observe"])
def test_the_packages_can_be_run(env: dict[str, str], package: str) -> None:
    version = {"wc_cli": "version", "wc_observe": "--version"}[package]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", package, version],
        check=True,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert __version__ in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        *(["serve"], ["--port", "1"], ["--version", "x"]),
        *(["--all-stores", "--version"], ["--tools", "all"]),
    ],
)
def test_other_arguments_are_refused(env: dict[str, str], arguments: list[str]) -> None:
    done = run(env, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("wc-observe: cannot use ")
    assert "usage: wc-observe" in done.stderr


def test_over_http_no_store_but_the_served_ones_is_read(env: dict[str, str]) -> None:
    done = run(env, "--transport", "http", "--all-stores")
    assert done.returncode == 2
    assert "--all-stores" in done.stderr


def test_the_end_of_input_ends_it_without_a_word(env: dict[str, str]) -> None:
    done = run(env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_person_at_a_terminal_is_told_what_it_waits_for(env: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"\x04")
    done = subprocess.run(
        COMMAND,
        check=False,
        env=environment(env),
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=60,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stdout) == (0, "")
    assert "waiting for an MCP client" in done.stderr
    assert "wc-observe web" in done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_a_real_client(store: Store, env: dict[str, str], mode: Mode) -> None:
    store.thread("plan", store.entry("plan", "Schöne Grüße \u2028 🎾"))

    async def ask() -> None:
        transport = StdioTransport(
            COMMAND[0],
            COMMAND[1:],
            env=measuring.measured(environment(env)),
            cwd=str(store.root.parent),
            keep_alive=False,
        )
        async with Client(transport, mode=mode, roots=[]) as client:
            assert len(await client.list_tools()) == len(TOOLS)
            found = await client.call_tool(
                "watercooler_v1_list_threads", {"format": "json"}
            )
            fields = json.loads(getattr(found.content[0], "text", ""))
            assert fields["threads"][0]["topic"] == "plan"
            text = await client.read_resource("watercooler://threads/plan")
            assert "> Schöne Grüße \n>  🎾" in getattr(text[0], "text", "")
            # A write by another process shows in the very next call.
            store.append("plan", store.entry("plan", "Just now."))
            entry = await client.call_tool(
                "watercooler_v1_read_thread", {"topic": "plan", "entry": "-1"}
            )
            assert "> Just now." in getattr(entry.content[0], "text", "")

    asyncio.run(ask())


def say(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    line = json.dumps({"jsonrpc": "2.0"} | message) + "\n"
    pipe(process.stdin).write(line.encode())
    pipe(process.stdin).flush()


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


@pytest.fixture(params=[False])
def started(
    request: pytest.FixtureRequest, store: Store, env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A server that has just answered initialize, in a folder with a store;
    started as anyone starts it where a test asks for that."""
    surroundings = environment(env)
    words = COMMAND if request.param else forking.observing(surroundings)
    # A project's own settings for the same framework must not reach the server.
    (store.root.parent / ".env").write_text("FASTMCP_LOG_LEVEL=nonsense\n")
    with subprocess.Popen(
        words,
        env=surroundings,
        cwd=store.root.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        say(process, HELLO)
        answer = json.loads(pipe(process.stdout).readline())
        assert answer["result"]["serverInfo"]["version"] == __version__
        assert "watercooler://instructions" in answer["result"]["instructions"]
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)]
)
def test_signals_end_it_at_once(
    started: subprocess.Popen[bytes], number: signal.Signals, status: int
) -> None:
    os.kill(started.pid, number)
    assert started.wait(timeout=10) == status
    assert pipe(started.stderr).read() == b""


@pytest.mark.parametrize("started", [True, False], indirect=True)
def test_closing_its_input_ends_it(started: subprocess.Popen[bytes]) -> None:
    _, errors = started.communicate(timeout=20)
    assert (started.returncode, errors) == (0, b"")


def test_what_stands_for_it_takes_it_along(started: subprocess.Popen[bytes]) -> None:
    """See `tests.standin`: nobody is left who has the other ends."""
    started.kill()
    assert pipe(started.stdout).read() == b""


NOT_JSON, NO_MESSAGE = -32700, -32600


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json}", NOT_JSON),
        (b"hello", NOT_JSON),
        (b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"', NOT_JSON),
        (b"\xff\xfe", NOT_JSON),
        (b"[" * 100_000, NOT_JSON),
        (b"{" + b"x" * 2_000_000, NOT_JSON),
        (b"[]", NO_MESSAGE),
        (b"null", NO_MESSAGE),
        (b'{"id": 2}', NO_MESSAGE),
        (b'{"jsonrpc": "1.0", "id": 2, "method": "tools/list"}', NO_MESSAGE),
    ],
)
def test_a_line_that_is_not_a_message_is_answered(
    started: subprocess.Popen[bytes], line: bytes, code: int
) -> None:
    """And everything after it, too; an empty line means nothing."""
    for _ in range(2):
        pipe(started.stdin).write(b"\n  \r\n" + line + b"\n")
    say(started, {"id": 7, "method": "ping"})
    answers = [json.loads(pipe(started.stdout).readline()) for _ in range(3)]
    for answer in answers[:2]:
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", None)
        assert answer["error"]["code"] == code
        assert len(answer["error"]["message"]) < 100
    assert answers[2] == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert started.poll() is None


def test_the_first_line_may_be_no_message(store: Store, env: dict[str, str]) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    done = subprocess.run(
        COMMAND,
        check=False,
        env=environment(env),
        cwd=store.root.parent,
        input="garbage\n" * 20 + json.dumps(message) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("error", {}).get("code") for one in answers[:20]] == [NOT_JSON] * 20
    assert answers[20]["result"]["serverInfo"]["name"] == "watercooler"
    assert (done.returncode, done.stderr) == (0, "")


def test_half_a_character_is_answered_as_well(started: subprocess.Popen[bytes]) -> None:
    call = {"name": "watercooler_v1_read_thread", "arguments": {"topic": "\ud83d"}}
    say(started, {"id": 2, "method": "tools/call", "params": call})
    answer = json.loads(pipe(started.stdout).readline())
    error = answer["result"]["structuredContent"]["error"]
    assert error["message"] == 'There is no thread "\ufffd".'


def test_a_client_that_is_gone_gets_no_traceback(
    started: subprocess.Popen[bytes],
) -> None:
    pipe(started.stdout).close()
    say(started, {"method": "notifications/initialized"})
    say(started, {"id": 2, "method": "tools/list"})
    pipe(started.stdin).close()
    assert started.wait(timeout=20) == 0
    assert b"Traceback" not in pipe(started.stderr).read()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
# With a setting of FastMCP, it answers the first request as well.
@pytest.mark.parametrize("own", [{}, {"FASTMCP_MASK_ERROR_DETAILS": "true"}])
def test_answers_that_cannot_be_written_end_it_with_a_reason(
    arguments: list[str], own: dict[str, str], env: dict[str, str]
) -> None:
    line = json.dumps({"jsonrpc": "2.0"} | HELLO)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            check=False,
            env=measuring.measured(environment(env | own)),
            input=f"{line}\n".encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    assert done.returncode == 7
    reason = b"wc-observe: Standard input or output failed: No space left on device.\n"
    assert done.stderr.endswith(reason)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "arguments"),
    [
        *(("<&-", ""), (">&-", ""), (">&-", "web")),
        *((">&-", "--help"), (">&-", "--version")),
    ],
)
def test_a_closed_stream_ends_it_with_a_reason(
    closed: str, arguments: str, env: dict[str, str]
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {arguments} {closed}', "sh", *COMMAND],
        check=False,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    reason = b"wc-observe: Standard input or output failed: Bad file descriptor.\n"
    assert (done.returncode, done.stderr) == (7, reason)


def test_the_folder_it_was_started_in_may_be_gone(
    tmp_path: Path, env: dict[str, str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = (
        "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *COMMAND],
        check=False,
        env=environment(env),
        cwd=gone,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_http_needs_is_not_imported_for_others(env: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MODULES, "--transport", "stdio"],
        check=True,
        env=environment(env),
        input="\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "'wc_observe.mcp.tools'" in done.stderr
    for heavy in ("wc_observe.http", "prometheus_client"):
        assert f"'{heavy}" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status"), [(["--help"], 0), (["--version"], 0), (["x"], 2)]
)
def test_what_needs_no_server_imports_none(
    env: dict[str, str], arguments: list[str], status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *arguments],
        check=False,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status
    for heavy in ("fastmcp", "typer", "argparse", "asyncio"):
        assert f"'{heavy}'" not in done.stderr
