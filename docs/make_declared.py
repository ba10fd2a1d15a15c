"""Makes ``src/wc_observe/front/declared.json``: what FastMCP answers to what every
client asks first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ |= {"FASTMCP_CHECK_FOR_UPDATES": "off", "FASTMCP_ENV_FILE": os.devnull}

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
)

from wc_core.base.toolnames import ALL_STORES_TOOLS, PREFIX
from wc_observe.callers.calls import ServerContext
from wc_observe.front.firstanswers import DISCOVER, INITIALIZE, LISTS, Declarations
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmcp import FastMCP

Fields = dict[str, Any]

PAGE = Path(__file__).parents[1] / "src/wc_observe/front/declared.json"
# What shapes the answers.
_INFO = {"name": "reference", "version": "1"}
_PREFIX = "io.modelcontextprotocol/"


def server(*, all_stores: bool = False) -> FastMCP:
    """The real server, in a folder without a store."""
    context = ServerContext("/", {}, lambda: 0, all_stores=all_stores)
    return build_server(context)


async def ask(served: FastMCP, messages: Sequence[Fields]) -> list[Fields]:
    """What a server answers to the messages of one client, one by one."""
    low = served._mcp_server  # noqa: SLF001
    answers: list[Fields] = []
    to_server, reads = anyio.create_memory_object_stream[Any](0)
    writes, from_server = anyio.create_memory_object_stream[Any](0)
    async with (
        served._lifespan_manager(),  # noqa: SLF001
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(low.run, reads, writes, low.create_initialization_options())
        for message in messages:
            text = json.dumps({"jsonrpc": "2.0"} | message)
            parsed = jsonrpc_message_adapter.validate_json(text, by_name=False)
            await to_server.send(SessionMessage(parsed))
            if "id" in message:
                answer = (await from_server.receive()).message
                dumped = answer.model_dump_json(by_alias=True, exclude_unset=True)
                answers.append(json.loads(dumped))
        await to_server.aclose()
        await from_server.aclose()
    return answers


def hello(revision: str, info: Fields) -> list[Fields]:
    """The handshake of a client."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
    return [
        {"id": 0, "method": INITIALIZE, "params": params},
        {"method": "notifications/initialized"},
    ]


def enveloped(method: str, revision: str, info: Fields) -> Fields:
    """A request of the stateless protocol."""
    meta = {
        f"{_PREFIX}protocolVersion": revision,
        f"{_PREFIX}clientInfo": info,
        f"{_PREFIX}clientCapabilities": {},
    }
    return {"id": method, "method": method, "params": {"_meta": meta}}


async def declared() -> Declarations:
    """What the server declares to a client that is not known."""
    every = server(all_stores=True)
    lists = [{"id": method, "method": method} for method in LISTS]
    opening = hello(HANDSHAKE_PROTOCOL_VERSIONS[-1], _INFO)
    answers = await ask(every, [*opening, *lists])
    results = dict(
        zip(
            (INITIALIZE, *LISTS),
            (each["result"] for each in answers),
            strict=True,
        )
    )
    discovery = enveloped(DISCOVER, MODERN_PROTOCOL_VERSIONS[-1], _INFO)
    listing = enveloped(LISTS[-1], MODERN_PROTOCOL_VERSIONS[-1], _INFO)
    answers = await ask(every, [discovery, listing])
    discovered, listed = (each["result"] for each in answers)
    envelope = {
        name: value for name, value in listed.items() if name not in results[LISTS[-1]]
    }
    # Ours is known at run time: a release must not change the file.
    for info in (
        results[INITIALIZE]["serverInfo"],
        envelope["_meta"][f"{_PREFIX}serverInfo"],
    ):
        info["version"] = ""
    return Declarations(
        handshakes=list(HANDSHAKE_PROTOCOL_VERSIONS),
        stateless=list(MODERN_PROTOCOL_VERSIONS),
        optional_tools=[f"{PREFIX}{name}" for name in ALL_STORES_TOOLS],
        envelope=envelope,
        results=results | {DISCOVER: _without(discovered, envelope)},
    )


def _without(result: Fields, envelope: Fields) -> Fields:
    return {name: value for name, value in result.items() if name not in envelope}


def files() -> dict[Path, str]:
    """The file with its content."""
    fields = anyio.run(declared)._asdict()
    return {PAGE: json.dumps(fields, indent=1, ensure_ascii=False) + "\n"}
