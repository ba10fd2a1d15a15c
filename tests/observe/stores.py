"""Stores as plain files, and a client that asks the server about them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastmcp import Client
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp_types import Implementation, PromptReference, ResourceTemplateReference

from wc_core.base import ulid
from wc_core.base.layout import Layout
from wc_core.base.toolnames import PREFIX
from wc_core.ledger.threads import codec, folding, projections
from wc_core.ledger.threads.model import Ball, Entry
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_types import CallToolResult, Completion

    from wc_observe.stores.graphdb.reader import GraphReader

START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
NOW_MS = START_MS + 30 * 24 * 3600 * 1000

Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")


class Store:
    """Writes what a store consists of, without any of wc's own writing code."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.layout = Layout(str(self.root))
        Path(self.layout.pages).mkdir(parents=True, exist_ok=True)
        self._minute = 0

    def entry(self, topic: str, body: str = "", **fields: Any) -> Entry:
        """An entry a minute after the one before."""
        self._minute += 1
        moment = START_MS + self._minute * 60_000
        at = datetime.fromtimestamp(moment / 1000, UTC).isoformat()
        known: dict[str, Any] = {
            "id": ulid.encode(moment << ulid.RANDOM_BITS),
            "agent": "Codex (pat)",
            "at": at.replace("+00:00", "Z"),
            "title": f"Entry {self._minute}",
            "role": "implementer",
            "action": "say",
        }
        return Entry(topic=topic, body=body, **(known | fields))

    def thread(self, topic: str, *entries: Entry, meta: bool = True) -> list[Entry]:
        """A log of these entries, or of a single one, and its ``meta.json``."""
        written = list(entries) or [self.entry(topic, "Hello.")]
        lines = [codec.to_line(one, index) for index, one in enumerate(written)]
        data = b"".join(lines)
        Path(self.layout.folder(topic)).mkdir(parents=True, exist_ok=True)
        Path(self.layout.log(topic)).write_bytes(data)
        if meta:
            state = folding.fold(topic, written)
            rendered = projections.render_meta(state, len(data), {})
            Path(self.layout.meta(topic)).write_bytes(rendered)
        return written

    def append(self, topic: str, entry: Entry) -> None:
        """What another process does: one more line, nothing else."""
        with Path(self.layout.log(topic)).open("ab") as log:
            log.write(codec.to_line(entry, 0))

    def give(self, topic: str, holder: str | None, **fields: Any) -> Entry:
        """An entry that passes the ball."""
        return self.entry(topic, ball=Ball(holder), **fields)


def fingerprint(root: Path) -> str:
    """A hash of names, bytes, modes and times of everything below ``root``."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        digest.update(f"{path}\0{info.st_mode}\0{info.st_mtime_ns}\0".encode())
        digest.update(f"{info.st_size}\0{info.st_ino}\0".encode())
        if path.is_file() and not path.is_symlink():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _check_schema_once(check: Callable[[Any], None]) -> Callable[[Any], None]:
    checked = set()

    def check_schema(schema: Any) -> None:
        text = json.dumps(schema, sort_keys=True)
        if text not in checked:
            check(schema)
            checked.add(text)

    return check_schema


# Each session of a client checks the schema of the tool that it calls, which takes
# longer than the call. Here each schema is checked once in a process.
Draft202012Validator.check_schema = _check_schema_once(
    Draft202012Validator.check_schema
)


@dataclass
class Session:
    """A client of a server in this process; each call is a session of its own. The
    server's time is `NOW_MS`, unless it has a clock."""

    folder: Path
    env: dict[str, str]
    client: str = "claude-code"
    roots: list[str] = field(default_factory=list)
    mode: Mode = "auto"
    clock: Callable[[], int] = lambda: NOW_MS
    all_stores: bool = False
    graph: GraphReader | None = None

    def _client(self) -> Client[Any]:
        start = ServerContext(str(self.folder), self.env, self.clock)
        start = start._replace(all_stores=self.all_stores, graph=self.graph)
        server = build_server(start)
        return Client(
            server,
            mode=self.mode,
            roots=list(self.roots) or None,
            client_info=Implementation(name=self.client, version="1"),
        )

    def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """The result of a tool, as it came over the wire."""
        (answer,) = self.calls((tool, arguments))
        return answer

    def calls(
        self,
        *wanted: tuple[str, dict[str, Any]],
        after: Callable[[dict[str, Any]], None] = lambda _arguments: None,
    ) -> list[CallToolResult]:
        """The results of several tools, in one session; ``after`` is called after each
        of them, with its arguments."""

        async def ask() -> list[CallToolResult]:
            results = []
            async with self._client() as client:
                for tool, arguments in wanted:
                    results.append(await client.call_tool_mcp(PREFIX + tool, arguments))
                    after(arguments)
            return results

        return asyncio.run(ask())

    def text(self, tool: str, /, **arguments: Any) -> str:
        """The text of a markdown answer, which has no structured content."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is None
        return only_text(result)

    def json(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of an answer; its text is one line."""
        result = self.call(tool, format="json", **arguments)
        assert not result.is_error, result.content
        assert only_text(result).count("\n") == 0
        return structured(result)

    def fields(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool that always has some."""
        return structured(self.call(tool, **arguments))

    def error(self, tool: str, /, **arguments: Any) -> dict[str, str]:
        """The error of a call that must fail."""
        result = self.call(tool, **arguments)
        assert "Traceback" not in only_text(result)
        return error_of(result)

    def prompt(self, name: str, /, **arguments: Any) -> tuple[str, str]:
        """The two messages of a prompt: what to do, and the data."""

        async def ask() -> tuple[str, str]:
            async with self._client() as client:
                found = await client.get_prompt(name, arguments)
                assert [one.role for one in found.messages] == ["user", "user"]
                task, data = (
                    getattr(one.content, "text", "") for one in found.messages
                )
                return task, data

        return asyncio.run(ask())

    def complete(
        self, where: str, typed: dict[str, str], /, **given: str
    ) -> Completion:
        """What may stand where the first of ``typed`` is begun, in a prompt or
        an address."""
        name, value = next(iter(typed.items()))
        ref = (
            ResourceTemplateReference(type="ref/resource", uri=where)
            if ":" in where
            else PromptReference(type="ref/prompt", name=where)
        )

        async def ask() -> Completion:
            async with self._client() as client:
                argument = {"name": name, "value": value}
                found: Completion = await client.complete(ref, argument, dict(given))
                return found

        return asyncio.run(ask())

    def read(self, address: str) -> str:
        """The text of a resource."""

        async def ask() -> str:
            async with self._client() as client:
                found = await client.read_resource(f"watercooler://{address}")
                assert [one.mime_type for one in found] == ["text/markdown"]
                text: str = getattr(found[0], "text", "")
                return text

        return asyncio.run(ask())


def error_of(result: CallToolResult) -> dict[str, str]:
    """The code, the message and the hint of an error in text."""
    assert result.is_error, result.content
    assert result.structured_content is None
    line, _, hint = only_text(result).partition("\n")
    code, _, message = line.partition(": ")
    return {"code": code, "message": message, "hint": hint}


def structured(result: CallToolResult) -> dict[str, Any]:
    """The structured content a result must have."""
    assert result.structured_content is not None
    content: dict[str, Any] = result.structured_content
    return content


def answer_text(result: CallToolResult) -> str:
    """An answer as text, whichever part it is in."""
    fields = result.structured_content
    return only_text(result) if fields is None else json.dumps(fields)


def only_text(result: CallToolResult) -> str:
    """The one block of text a result has."""
    assert [one.type for one in result.content] == ["text"]
    text: str = getattr(result.content[0], "text", "")
    return text
