"""What one caller may take, and how the server leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import struct
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import mcp.server.streamable_http
import pytest

from tests.observe.serving import HEADERS, HELLO, Served, bearer, serving
from tests.observe.stores import Store, only_text
from wc_observe.http.limits import MAX_BODY, Buckets
from wc_observe.http.listening import (
    WaitingConnections,
    caller_of,
    leave_out_closed_streams,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "watercooler_v1_list_threads", "arguments": {}},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("limits")


@pytest.fixture(scope="module")
def env(place: Path) -> dict[str, str]:
    return {"HOME": str(place / "home"), "USER": "pat", "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture(scope="module")
def store(place: Path) -> Store:
    store = Store(place / ".watercooler")
    store.thread("plan", store.entry("plan", "word " * 700))
    return store


@pytest.fixture(scope="module")
def server(store: Store, env: dict[str, str]) -> Iterator[Served]:
    """Open to this machine, with limits one can reach."""
    with serving(
        store.root.parent,
        env,
        *("--rate", "50", "--max-sessions", "3", "--idle", "2"),
        *("--max-connections", "12", "--timeout", "1"),
    ) as served:
        yield served


def eventually(is_true: Callable[[], bool]) -> bool:
    """Whether it comes true within ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(httpx2.TransportError):
            if is_true():
                return True
        time.sleep(0.05)
    return False


def number(server: Served, name: str, *, absent: float | None = None) -> float:
    """One number of those for Prometheus."""
    page = server.get("/metrics").text
    found = [one for one in page.splitlines() if one.startswith(f"{name} ")]
    if not found and absent is not None:
        return absent
    assert found, page
    return float(found[0].rpartition(" ")[2])


def test_someone_on_this_machine_is_not_the_user_who_started_it(
    server: Served, store: Store
) -> None:
    found = server.fields("whoami")
    assert (found["you"], found["tag"], found["source"]) == (
        "Claude Code",
        "",
        "client",
    )
    assert "subject" not in found
    assert "plan" in only_text(server.call("list_threads", roots=["file:///"]))
    assert str(store.root) not in only_text(server.call("health"))


def test_a_request_that_is_too_long_is_refused(server: Served) -> None:
    long = b"x" * MAX_BODY
    for content in (long + b"x", iter([long, b"x"])):
        answer = server.http.post(
            f"{server.base}/mcp", content=content, headers=HEADERS
        )
        assert answer.status_code == 413
    assert "plan" in only_text(server.call("list_threads"))


def test_sessions_are_limited_and_end_when_nobody_uses_them(server: Served) -> None:
    def opened() -> float:
        return number(server, 'wc_sessions{store="store"}')

    assert eventually(lambda: opened() == 0)
    sessions = [new(server) for _ in range(2)]
    with listening(server, sessions[0]), listening(server, sessions[1]):
        # Half of those of a store are for one caller, and both of them are in use.
        refused = server.hello()
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) == 2
        assert "Too many open sessions" in refused.text
        # The stateless protocol has none and goes on; so does one that ends.
        assert "plan" in only_text(server.call("list_threads"))
        ended = server.http.delete(f"{server.base}/mcp", headers=sessions[0])
        assert ended.status_code == 200
        assert server.hello().status_code == 200
    # The clients are gone without a word.
    assert eventually(lambda: opened() == 0)


def listening(server: Served, session: dict[str, str]) -> Any:
    """A stream of a session, for as long as it is open."""
    return server.http.stream("GET", f"{server.base}/mcp", headers=session)


def is_known(server: Served, session: dict[str, str]) -> bool:
    """Whether a session is there still; this uses it."""
    answer = server.http.post(f"{server.base}/mcp", json=CALL, headers=session)
    assert answer.status_code in {200, 404}
    return answer.status_code == 200


def test_an_idle_session_of_a_token_makes_room_for_its_next(
    store: Store, env: dict[str, str], tmp_path: Path
) -> None:
    tokens = [f"token-of-{name}-0123456789" for name in ("alex", "kim", "sam")]
    file = tmp_path / "tokens"
    file.write_text("\n".join(tokens))
    options = ("--auth", "token", "--token-file", str(file), "--max-sessions", "4")
    with serving(store.root.parent, env, *options) as server:

        def opened(token: str) -> dict[str, str]:
            answers: list[httpx2.Response] = []

            def is_open() -> bool:
                answers.append(server.hello(token=token))
                # A session is in use for a moment after its answer.
                return answers[-1].status_code == 200

            assert eventually(is_open)
            known = answers[-1].headers["mcp-session-id"]
            return HEADERS | bearer(token) | {"mcp-session-id": known}

        alex, kim, sam = tokens
        first, second = opened(alex), opened(alex)
        others = [opened(kim)]
        # One token locks nobody out, however many sessions it opens.
        assert is_known(server, first)
        third = opened(alex)
        assert not is_known(server, second)
        assert is_known(server, first)
        assert is_known(server, third)
        with listening(server, first):
            fourth = opened(alex)
            assert not is_known(server, third)
            others.append(opened(kim))
            # Where the store is full, whoever has most gives one.
            others.append(opened(sam))
            assert not is_known(server, fourth) or not is_known(server, others[0])
            assert is_known(server, first)
        for token in tokens * 3:
            opened(token)


def test_a_stream_whose_client_vanishes_is_gone(server: Served) -> None:
    def streams() -> float:
        return number(server, 'wc_http_under_way{kind="stream"}')

    assert eventually(lambda: server.hello().status_code == 200)
    session = server.hello().headers["mcp-session-id"]
    before = streams()
    with raw(server) as stream:
        stream.sendall(
            f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
            f"Mcp-Session-Id: {session}\r\n\r\n".encode()
        )
        assert b"200 OK" in stream.recv(1000)
        assert eventually(lambda: streams() == before + 1)
    assert eventually(lambda: streams() == before)


@contextlib.contextmanager
def raw(server: Served, buffer: int = 0) -> Iterator[socket.socket]:
    """A connection without any client library."""
    with socket.socket() as connection:
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(20)
        connection.connect(("127.0.0.1", server.port))
        yield connection


def was_dropped(connection: socket.socket) -> bool:
    """Whether the other side closes without an answer."""
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"


def test_half_a_request_is_not_waited_for(server: Served) -> None:
    with raw(server) as nothing, raw(server) as head, raw(server) as body:
        head.sendall(HEALTH[:25])
        body.sendall(POST)
        assert was_dropped(nothing)
        assert was_dropped(head)
        assert was_dropped(body)


def test_a_second_half_request_is_not_waited_for_either(server: Served) -> None:
    with raw(server) as connection:
        connection.sendall(HEALTH + HEALTH[:20])
        answer = connection.recv(1000)
        while b"}" not in answer:
            answer += connection.recv(1000)
        assert was_dropped(connection)


def test_who_does_not_read_is_dropped(server: Served) -> None:
    one = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with raw(server, buffer=4096) as connection:
        connection.setblocking(False)
        # Until nothing more can be sent: the server waits for its reader.
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                connection.send(one * 20)
            except BlockingIOError:
                time.sleep(0.05)
            except (ConnectionResetError, BrokenPipeError):
                break
        assert time.monotonic() < end
    assert eventually(lambda: server.get("/healthz").status_code == 200)


HALVES = {"nothing": b"", "a head": HEALTH[:25], "a body": POST}


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_half_open_connections_of_one_caller_block_nobody(
    store: Store, env: dict[str, str], half: bytes
) -> None:
    """They come from this machine, as everyone does, and would stay for a minute."""
    options = ("--max-connections", "20", "--timeout", "60")
    with (
        serving(store.root.parent, env, *options) as server,
        contextlib.ExitStack() as stack,
    ):
        opened = []
        for _ in range(60):
            opened.append(stack.enter_context(raw(server)))
            opened[-1].sendall(half)
        began = time.monotonic()
        for _ in range(3):
            with httpx2.Client(verify=False, timeout=5) as fresh:
                assert fresh.get(f"{server.base}/healthz").status_code == 200
        assert "plan" in only_text(server.call("list_threads"))
        assert time.monotonic() - began < 10
        # Those that have waited longest are closed; of the rest, none has to be.
        assert was_dropped(opened[0])
        assert was_dropped(opened[-10])
        assert len([one for one in opened if is_open(one)]) <= 5


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def test_the_oldest_of_a_caller_goes_and_of_the_largest_where_all_are_full() -> None:
    waiting: WaitingConnections[str] = WaitingConnections(8)  # 2 for each, 6 for all
    assert [waiting.begin(one, "127.0.0.1") for one in ("a", "b")] == [None, None]
    assert waiting.begin("c", "127.0.0.9") == "a"
    waiting.end("a", "127.0.0.1")
    waiting.end("b", "127.0.0.1")
    assert waiting.begin("b", "::1") is None
    assert waiting.begin("d", "::ffff:127.0.0.1") == "c"
    assert waiting.begin("e", "192.0.2.1") is None
    # Nobody has more than their share; together there are too many.
    many: WaitingConnections[int] = WaitingConnections(4)
    closed = [many.begin(count, f"198.51.100.{count}") for count in range(6)]
    assert closed == [None, None, None, 0, 0, 0]
    many.end(0, "198.51.100.0")
    many.end(7, "198.51.100.0")


def test_a_proxy_that_is_trusted_has_the_share_of_all() -> None:
    waiting: WaitingConnections[int] = WaitingConnections(8, ["192.0.2.1"])
    first = [waiting.begin(count, "192.0.2.1") for count in range(7)]
    assert first == [None] * 6 + [0]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("127.0.0.1", "127.8.8.8", True),
        ("127.0.0.1", "::1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2:3", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "not an address", False),
    ],
)
def test_who_an_address_belongs_to(first: str, second: str, *, same: bool) -> None:
    assert (caller_of(first) == caller_of(second)) is same


def test_a_client_that_leaves_causes_no_traceback(
    store: Store, env: dict[str, str]
) -> None:
    """Wherever it is in its request, with or without a goodbye."""
    accept = "Accept: application/json, text/event-stream\r\n"
    kind = "Content-Type: application/json\r\n"
    body = json.dumps(HELLO).encode()
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{accept}{kind}"
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n5\r\nabc".encode()
    modern = head.encode() + b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ping\r\n"
    modern += b"Content-Length: 100\r\n\r\n{"
    stream = f"GET /mcp HTTP/1.1\r\nHost: localhost\r\n{accept}".encode()
    with serving(store.root.parent, env) as server:
        session = server.hello().headers["mcp-session-id"].encode()
        stream += b"Mcp-Session-Id: " + session + b"\r\n\r\n"
        begun = [whole[:-1], whole[: -len(body)], whole, chunked, modern, stream]
        for sent in begun:
            for linger in (False, True):
                with raw(server) as connection:
                    connection.sendall(sent)
                    if linger:  # closing it then resets it
                        end = struct.pack("ii", 1, 0)
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, end)
        assert eventually(
            lambda: number(server, 'wc_http_under_way{kind="stream"}') == 0
        )
        assert "plan" in only_text(server.call("list_threads"))
        assert number(server, 'wc_http_responses_total{status="500"}', absent=0) == 0
        assert server.end() == (0, "")


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (anyio.ClosedResourceError(), False),
        (ExceptionGroup("", [anyio.BrokenResourceError()]), False),
        (ExceptionGroup("", [anyio.ClosedResourceError(), ValueError()]), True),
        (ValueError(), True),
        (None, True),
    ],
)
def test_a_request_after_the_end_of_its_session_causes_no_traceback(
    error: Exception | None, caplog: pytest.LogCaptureFixture, *, logged: bool
) -> None:
    leave_out_closed_streams()
    leave_out_closed_streams()
    sdk = logging.getLogger(mcp.server.streamable_http.__name__)
    sdk.error("SSE response error", exc_info=error)
    assert ("SSE response error" in caplog.text) is logged
    (installed,) = sdk.filters
    sdk.removeFilter(installed)


def test_too_many_requests_have_to_wait(store: Store, env: dict[str, str]) -> None:
    # A rate that no machine is too slow for.
    with serving(store.root.parent, env, "--rate", "5") as server:
        assert eventually(lambda: server.get("/healthz").status_code == 200)
        with raw(server) as connection:
            connection.sendall(HEALTH * 100)
            answers = b""
            while answers.count(b"HTTP/1.1 ") < 100:
                answers += connection.recv(100_000)
        assert answers.count(b"HTTP/1.1 200 OK") >= 5
        refused = answers[answers.index(b"HTTP/1.1 429 ") :].partition(b"\r\n\r\n")
        assert b"retry-after: 1\r\n" in refused[0]
        assert b"TOO_MANY_REQUESTS" in refused[2]
        assert eventually(lambda: server.get("/healthz").status_code == 200)


def test_buckets_fill_again_and_are_bounded() -> None:
    async def use() -> None:
        buckets = Buckets(rate=1000.0, burst=2)
        assert [await buckets.take("a") for _ in range(2)] == [True, True]
        assert await Buckets(0.1, 1).wait("a") == 0
        slow = Buckets(rate=0.1, burst=1)
        assert await slow.take("a")
        assert not await slow.take("a")
        assert await slow.wait("a") == 10
        assert await slow.take("b")
        for count in range(10_000):
            await slow.take(str(count))
        assert len(slow._buckets) == 10_000
        await asyncio.sleep(0.01)
        assert await buckets.take("a")

    asyncio.run(use())


# How it leaves.


@pytest.fixture
def slow(tmp_path: Path) -> Callable[[], None]:
    """Makes the first list last two or three seconds: someone seems to be
    writing each of the threads, which is waited for."""
    store = Store(tmp_path / ".watercooler")
    logs = []
    for count in range(45):
        store.thread(f"thread-{count}", meta=False)
        logs.append(Path(store.layout.log(f"thread-{count}")))
        with logs[-1].open("ab") as log:
            log.write(b'{"entry_id"')

    def touched() -> None:
        for log in logs:
            # A little in the future: recent for longer.
            os.utime(log, (time.time() + 1.9,) * 2)

    return touched


Answer = list[httpx2.Response | Exception]


@contextlib.contextmanager
def calling(server: Served, touched: Callable[[], None]) -> Iterator[Answer]:
    """While a call is under way; then there is what came of it."""
    session = server.hello().headers["mcp-session-id"]
    headers = HEADERS | {"mcp-session-id": session}
    address = f"{server.base}/mcp"
    server.http.post(address, json=INITIALIZED, headers=headers)
    answer: Answer = []

    def call() -> None:
        try:
            answer.append(httpx2.post(address, json=CALL, headers=headers, timeout=30))
        except httpx2.HTTPError as error:
            answer.append(error)

    touched()
    thread = threading.Thread(target=call)
    thread.start()
    # The page that says so is being answered too.
    calls = 'wc_http_under_way{kind="call"}'
    assert eventually(lambda: number(server, calls) == 2)
    yield answer
    thread.join()


def test_a_signal_lets_calls_finish_and_ends_streams(
    tmp_path: Path, env: dict[str, str], slow: Callable[[], None]
) -> None:
    with (
        serving(tmp_path, env, "--grace", "20") as server,
        server.http.stream("GET", f"{server.base}/mcp", headers=new(server)) as stream,
    ):
        with calling(server, slow) as answer:
            began = time.monotonic()
            # The stream ends as it should, while the call goes on.
            server.process.send_signal(signal.SIGTERM)
            assert list(stream.iter_text()) == []
        assert server.ended() == (0, "")
        assert time.monotonic() - began < 15
        (found,) = answer
        assert isinstance(found, httpx2.Response), found
        assert "thread-7" in found.text


def new(server: Served) -> dict[str, str]:
    """The headers of a session of the older protocol."""
    return HEADERS | {"mcp-session-id": server.hello().headers["mcp-session-id"]}


def test_a_call_that_takes_too_long_is_not_waited_for(
    tmp_path: Path, env: dict[str, str], slow: Callable[[], None]
) -> None:
    with serving(tmp_path, env, "--grace", "0.2") as server:
        with calling(server, slow) as answer:
            assert server.end(signal.SIGINT) == (0, "")
        (found,) = answer
        assert isinstance(found, httpx2.Response), found
        assert "thread-7" not in found.text


def test_the_second_signal_ends_it_at_once(
    tmp_path: Path, env: dict[str, str], slow: Callable[[], None]
) -> None:
    with serving(tmp_path, env, "--grace", "30") as server:
        with calling(server, slow) as answer:
            server.process.send_signal(signal.SIGTERM)
            assert eventually(lambda: not is_listening(server))
            assert server.end() == (143, "")
        assert isinstance(answer[0], httpx2.HTTPError)


def is_listening(server: Served) -> bool:
    try:
        with raw(server):
            return True
    except ConnectionRefusedError:
        return False
