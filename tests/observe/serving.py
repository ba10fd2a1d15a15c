"""A server over HTTP as its own process, and those whom it asks about tokens."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import httpx2
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp_types import Implementation

from tests import forking, measuring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_types import CallToolResult

    from tests.observe.stores import Mode

ROOT = Path(__file__).parents[2]
PROGRAM = "from wc_observe.main import main; main()"
# What the older protocol begins with, and what every request has to accept.
HEADERS = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "codex-mcp-client", "version": "1"},
    },
}


def environment(env: dict[str, str]) -> dict[str, str]:
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    return env | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


_PIPE_BYTES = 1 << 20


class Served:
    """A server that is listening; ``base`` is its address, ``out`` what it has
    printed in the end."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            # It warns of each invalid call, and would wait for someone to read that.
            fcntl.fcntl(pipe(process.stderr), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        first = pipe(process.stderr).readline()
        found = re.search(r"listening on (http://\S+)", first)
        assert found, first + pipe(process.stderr).read()
        pipe(process.stderr).readline()
        self.base = found[1]
        self.out = ""
        self.port = int(self.base.rpartition(":")[2])
        # Certificates would be loaded for nothing: there is no TLS here.
        self.http = httpx2.Client(verify=False, trust_env=False, timeout=20)

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit status, and what else it said."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """The same for one that has been told already."""
        self.out, rest = self.process.communicate(timeout=30)
        return self.process.returncode, rest

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.http.get(self.base + path, headers=headers)

    def hello(
        self, path: str = "/mcp", token: str = "", **headers: str
    ) -> httpx2.Response:
        """The answer to a client of the older protocol that begins a session."""
        told = HEADERS | bearer(token) | headers
        return self.http.post(self.base + path, json=HELLO, headers=told)

    def client(
        self, path: str = "/mcp", token: str = "", mode: Mode = "auto", **rest: Any
    ) -> Client[Any]:
        transport = StreamableHttpTransport(
            self.base + path, headers=bearer(token) or None
        )
        name = rest.pop("name", "claude-code")
        info = Implementation(name=name, version="1")
        return Client(transport, mode=mode, client_info=info, **rest)

    def call(self, tool: str, arguments: Any = None, **rest: Any) -> CallToolResult:
        """The result of one call, in a session of its own."""

        async def ask() -> CallToolResult:
            async with self.client(**rest) as client:
                name = f"watercooler_v1_{tool}"
                found: CallToolResult = await client.call_tool_mcp(
                    name, arguments or {}
                )
                return found

        return asyncio.run(ask())

    def fields(self, tool: str, arguments: Any = None, **rest: Any) -> dict[str, Any]:
        """The structured content of one call's answer."""
        result = self.call(tool, arguments, **rest)
        assert result.structured_content is not None, result
        return dict(result.structured_content)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


@contextlib.contextmanager
def serving(
    folder: Path, env: dict[str, str], *options: str, program: list[str] | None = None
) -> Iterator[Served]:
    """A server in this folder, on a port of its own."""
    surroundings = environment(env)
    if program is None:
        surroundings = measuring.measured(surroundings)
        program = [*forking.observing(surroundings), "--transport", "http"]
    with subprocess.Popen(
        [*program, "--port", "0", *options],
        env=surroundings,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            served = Served(process)
            with served.http:
                yield served
        finally:
            # It notes what it ran when it ends by itself.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def refused(
    folder: Path, env: dict[str, str], *options: str, program: str = PROGRAM
) -> tuple[int, str]:
    """The exit status of a server that does not start, and what it says."""
    surroundings = environment(env)
    if program == PROGRAM:
        surroundings = measuring.measured(surroundings)
        command = forking.observing(surroundings)
    else:
        command = [sys.executable, "-c", program]
    done = subprocess.run(
        [*command, "--transport", "http", "--port=0", *options],
        check=False,
        env=surroundings,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


class StandIn(ThreadingHTTPServer):
    """Someone else's server, on loopback. ``answer`` maps a path and a token
    to a status, fields and headers; ``asked`` is what it was asked."""

    def __init__(self, answer: Callable[[str, str], tuple[int, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        status, fields = self.server.answer(self.path, token)
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def standing_in(answer: Callable[[str, str], tuple[int, Any]]) -> Iterator[StandIn]:
    server = StandIn(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
