"""Clients are not notified of changes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp.client.subscriptions import listen

from tests.observe.stores import MODES, NOW_MS, Mode, Store
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

pytestmark = pytest.mark.filterwarnings("ignore:resources/.* is removed as of")


@pytest.mark.parametrize("mode", MODES)
def test_subscriptions_are_neither_offered_nor_granted(
    store: Store, env: dict[str, str], mode: Mode
) -> None:
    async def ask(client: Client[Any]) -> None:
        if mode == "legacy":
            await client.session.subscribe_resource("watercooler://threads")
        else:
            async with listen(client.session, resources_list_changed=True):
                pass

    async def go() -> None:
        start = ServerContext(str(store.root.parent), env, lambda: NOW_MS)
        async with Client(build_server(start), mode=mode) as client:
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

    asyncio.run(go())
