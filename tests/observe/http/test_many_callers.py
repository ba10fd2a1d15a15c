"""Many callers at the same time, and one of them that asks too often."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.observe.serving import HEADERS, HELLO, Served, bearer, serving
from tests.observe.stores import Mode, Store, only_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AGENTS = 50
TOKEN = "of-one-person-with-many-agents"
PING = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
# One caller: 2 requests per second, 4 at once. All of one address: four times that.
RATE = ("--rate", "2")
OF_ONE, OF_ALL = 4, 16
# More than anyone may send, even if some time passes meanwhile.
TOO_MANY = 200


@pytest.fixture
def place(tmp_path: Path) -> Path:
    store = Store(tmp_path / ".watercooler")
    store.thread("plan", store.entry("plan", "The plan."))
    (tmp_path / "tokens").write_text(f"alex {TOKEN}\n")
    return tmp_path


@pytest.fixture
def env(place: Path) -> dict[str, str]:
    return {"HOME": str(place / "home"), "USER": "pat", "GIT_CONFIG_NOSYSTEM": "1"}


async def agents_start(server: Served, mode: Mode, token: str) -> list[str]:
    """What each of many clients that start at the same time is answered."""
    begin = asyncio.Event()

    async def start() -> str:
        await begin.wait()
        async with server.client(mode=mode, token=token) as client:
            assert await client.list_tools()
            name = "watercooler_v1_list_threads"
            return only_text(await client.call_tool_mcp(name, {}))

    started = [asyncio.create_task(start()) for _ in range(AGENTS)]
    begin.set()
    return await asyncio.gather(*started)


@pytest.mark.parametrize(
    ("token", "mode"),
    [
        ("", "auto"),
        (TOKEN, "legacy"),
        pytest.param("", "legacy", marks=pytest.mark.long),
        pytest.param(TOKEN, "auto", marks=pytest.mark.long),
    ],
    ids=lambda value: {"": "no token", TOKEN: "one token"}.get(value, value),
)
def test_fifty_agents_of_one_person_start_at_once(
    place: Path, env: dict[str, str], mode: Mode, token: str
) -> None:
    """On one machine, or with one token, with the limits that everyone has."""
    auth = ("--auth", "token", "--token-file", str(place / "tokens")) if token else ()
    with serving(place, env, *auth) as server:
        answers = asyncio.run(agents_start(server, mode, token))
    assert len(answers) == AGENTS
    assert all("plan" in answer for answer in answers)


def session(server: Served, token: str = "") -> dict[str, str]:
    """The headers of a new session."""
    opened = server.hello(token=token)
    assert opened.status_code == 200, opened.text
    known = {"mcp-session-id": opened.headers["mcp-session-id"]}
    return HEADERS | bearer(token) | known


def ask(server: Served, headers: dict[str, str]) -> httpx2.Response:
    """The answer to a small request, on the connection that the test keeps open."""
    return server.http.post(f"{server.base}/mcp", json=PING, headers=headers)


def alone(server: Served, **headers: str) -> httpx2.Response:
    """The answer to a new client, on a connection of its own."""
    with httpx2.Client(verify=False, trust_env=False, timeout=20) as client:
        sent = HEADERS | headers
        return client.post(f"{server.base}/mcp", json=HELLO, headers=sent)


def answered(send: Callable[[], httpx2.Response], status: int = 200) -> int:
    """How many requests get this status until one is refused as one too many."""
    for count in range(TOO_MANY):
        answer = send()
        if answer.status_code == 429:
            assert int(answer.headers["retry-after"]) >= 1
            return count
        assert answer.status_code == status, answer.text
    raise AssertionError("never refused")


@pytest.mark.parametrize("token", ["", TOKEN], ids=["no token", "one token"])
def test_a_session_that_asks_too_often_waits_and_no_other_does(
    place: Path, env: dict[str, str], token: str
) -> None:
    auth = ("--auth", "token", "--token-file", str(place / "tokens")) if token else ()
    with serving(place, env, *RATE, *auth) as server:
        hasty, other = session(server, token), session(server, token)
        assert answered(lambda: ask(server, hasty)) >= OF_ONE
        for headers in (other, session(server, token)):
            for _ in range(OF_ONE):
                assert ask(server, headers).status_code == 200


def test_new_sessions_of_one_address_are_limited_and_open_ones_go_on(
    place: Path, env: dict[str, str]
) -> None:
    """Whatever connections and names of sessions the new ones use."""
    with serving(place, env, *RATE) as server:
        known = session(server)
        # One request was the start of the known session.
        assert answered(lambda: alone(server)) >= OF_ALL - 1
        names = map(str, itertools.count())
        answered(lambda: alone(server, **{"mcp-session-id": next(names)}), 404)
        for _ in range(OF_ONE):
            assert ask(server, known).status_code == 200


def test_a_connection_outside_of_sessions_has_its_own_limit(
    place: Path, env: dict[str, str]
) -> None:
    """The newer protocol has no sessions."""
    with serving(place, env, *RATE) as server:
        assert answered(lambda: server.get("/healthz")) >= OF_ONE
        assert alone(server).status_code == 200
