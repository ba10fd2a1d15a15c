"""Asks through the clients of FastMCP and of the Python SDK."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import fastmcp
import mcp
import mcp_types
from fastmcp.client.transports import StdioTransport

from tests.clients.asking import TOPIC, WRONG
from wc_core.base.toolnames import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 20.0


def ask(question: dict[str, Any]) -> dict[str, Any]:
    """What ``question["sdk"]`` hears; see ``asking`` for the shape."""
    return asyncio.run(_ask(question))


async def _ask(question: dict[str, Any]) -> dict[str, Any]:
    connect = {"fastmcp": _fastmcp, "mcp": _mcp}[question["sdk"]]
    async with connect(question) as client:
        capabilities = client.server_capabilities
        heard = {
            "protocol": client.protocol_version,
            "server": {
                "name": client.server_info.name,
                "version": client.server_info.version,
            },
            "instructions": client.instructions,
            **await _tools(client, question),
            **await _resources(client, question),
            "prompts": await _prompts(client, question),
            "completed": None,
        }
        if capabilities.completions:
            heard["completed"] = await _complete(client, question)
    return heard


def _fastmcp(question: dict[str, Any]) -> Any:
    if question["url"]:
        return fastmcp.Client(question["url"], mode=question["mode"])
    transport = StdioTransport(
        question["command"],
        [],
        env=question["env"],
        cwd=question["cwd"],
        keep_alive=False,
    )
    return fastmcp.Client(transport, mode=question["mode"], roots=[question["root"]])


def _mcp(question: dict[str, Any]) -> Any:
    async def roots(context: Any) -> mcp_types.ListRootsResult:
        del context
        return mcp_types.ListRootsResult(roots=[mcp_types.Root(uri=question["root"])])

    local = mcp.StdioServerParameters(
        command=question["command"], env=question["env"], cwd=question["cwd"]
    )
    return mcp.Client(
        question["url"] or local, mode=question["mode"], list_roots_callback=roots
    )


def _method(client: Any, name: str) -> Callable[..., Any]:
    """FastMCP has the results of the protocol under a name of their own."""
    found: Callable[..., Any] = getattr(client, f"{name}_mcp", None) or getattr(
        client, name
    )
    return found


async def _tools(client: Any, question: dict[str, Any]) -> dict[str, Any]:
    call = _method(client, "call_tool")
    listed = await _method(client, "list_tools")()
    answers = {}
    for tool in listed.tools:
        name = tool.name.removeprefix(PREFIX)
        given = question["arguments"].get(name, {})
        forms = tool.input_schema["properties"].get("format", {}).get("enum", [""])
        for form in forms:
            arguments = given | ({"format": form} if form else {})
            answers[f"{name} {form}".strip()] = await call(tool.name, arguments)
    for label, (name, arguments, _) in WRONG.items():
        answers[label] = await call(PREFIX + name, arguments)
    return {
        "tools": [tool.name for tool in listed.tools],
        "answers": {
            name: {
                "error": bool(one.is_error),
                "text": "".join(block.text for block in one.content),
                "data": one.structured_content,
            }
            for name, one in answers.items()
        },
    }


async def _resources(client: Any, question: dict[str, Any]) -> dict[str, Any]:
    read = _method(client, "read_resource")
    listed = await _method(client, "list_resources")()
    templates = await _method(client, "list_resource_templates")()
    addresses = {str(one.uri) for one in listed.resources}
    found = {}
    for address in sorted(addresses | {f"watercooler://threads/{TOPIC}"}):
        (one,) = (await read(address)).contents
        found[address] = {"mime": one.mime_type, "text": one.text}
    try:
        missing = str(await read(question["missing"]))
    except mcp.MCPError as error:
        missing = error.error.message
    return {
        "resources": found,
        "templates": [one.uri_template for one in templates.resource_templates],
        "missing": missing,
    }


async def _prompts(client: Any, question: dict[str, Any]) -> dict[str, str]:
    texts = {}
    for prompt in (await _method(client, "list_prompts")()).prompts:
        needed = [one.name for one in prompt.arguments or () if one.required]
        arguments = {name: question["prompts"][name] for name in needed}
        got = await _method(client, "get_prompt")(prompt.name, arguments)
        texts[prompt.name] = "".join(one.content.text for one in got.messages)
    return texts


async def _complete(client: Any, question: dict[str, Any]) -> list[str]:
    ref = mcp_types.ResourceTemplateReference(uri="watercooler://threads/{topic}")
    argument = {"name": "topic", "value": question["completing"]}
    got = await _method(client, "complete")(ref, argument)
    values: list[str] = got.completion.values
    return values
