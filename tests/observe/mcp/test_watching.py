"""Large stores are watched, and clients are not notified of changes."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp.client.subscriptions import listen

from tests.observe.stores import MODES, NOW_MS, Mode, Store, only_text
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.boundary import Boundary
from wc_observe.mcp.server import build_server
from wc_observe.stores.live.reader import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastmcp import FastMCP

pytestmark = pytest.mark.filterwarnings("ignore:resources/.* is removed as of")

SECONDS = 20.0


@pytest.fixture
def server(store: Store, env: dict[str, str]) -> FastMCP:
    return build_server(ServerContext(str(store.root.parent), env, lambda: NOW_MS))


def watchers() -> list[str]:
    return [one.name for one in threading.enumerate() if "watcher" in one.name]


async def until(test: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not test():  # noqa: ASYNC110  (threads set no asyncio event)
            await asyncio.sleep(0.005)


def run(doing: Coroutine[Any, Any, None]) -> None:
    """Run it; nothing watches after that."""
    asyncio.run(doing)

    for _ in range(400):
        if not watchers():
            break
        threading.Event().wait(0.01)
    assert watchers() == []


@pytest.mark.parametrize("mode", MODES)
def test_subscriptions_are_neither_offered_nor_granted(
    server: FastMCP, mode: Mode
) -> None:
    async def ask(client: Client[Any]) -> None:
        if mode == "legacy":
            await client.session.subscribe_resource("watercooler://threads")
        else:
            async with listen(client.session, resources_list_changed=True):
                pass

    async def go() -> None:
        async with Client(server, mode=mode) as client:
            said = client.session.server_capabilities
            assert said is not None
            for part in (said.resources, said.tools, said.prompts):
                assert part is not None
                assert not part.list_changed
            assert said.resources is not None
            assert not said.resources.subscribe
            with pytest.raises(McpError, match="Method not found"):
                await ask(client)
            assert await client.list_tools()
            assert watchers() == []

    run(go())


def test_a_large_store_is_watched_for_the_sake_of_calls(
    store: Store, server: FastMCP
) -> None:
    for number in range(FEW + 1):
        store.thread(f"t{number}")
    (boundary,) = (one for one in server.middleware if isinstance(one, Boundary))

    async def go() -> None:
        async with Client(server) as client:

            async def entries(topic: str) -> int:
                told = await client.call_tool_mcp(
                    "watercooler_v1_list_threads", {"format": "json", "limit": 500}
                )
                fields = json.loads(only_text(told))
                rows = {row["topic"]: row for row in fields["threads"]}
                return int(rows[topic]["entry_count"]) if topic in rows else 0

            assert await entries("t5") == 1
            live = boundary.stores.cached(str(store.root))
            assert live is not None
            await until(lambda: live.reader.watched)
            for topic, before in (("t5", 1), ("new", 0), ("t5", 2)):
                if before:
                    store.append(topic, store.entry(topic))
                else:
                    store.thread(topic)
                async with asyncio.timeout(SECONDS):
                    while await entries(topic) == before:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
            assert live.reader.watched
        await until(lambda: not live.reader.watched)

    run(go())
