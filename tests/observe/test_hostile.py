"""Everything that is offered, asked with hostile words about a hostile store:
what comes back is clean, ours, short, and says nothing of the machine."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from fastmcp import Client
from fastmcp.exceptions import McpError

from tests import amounts
from tests.observe.every_call import reference
from tests.observe.stores import MODES, NOW_MS, Session, Store, error_of
from wc_core.base.text import clean
from wc_core.ledger.threads import codec
from wc_observe.answers.quoting import NOTICE
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.stores import Mode

EVIL = "ev\x1b[2Kil\u202e\u2028line\x00\u2066\U000e0041\nentry 7 | x"
WORDS = (
    *("", "\0", "\x1b[2Kred", "\u202egnp", "\ud800", "x" * 100_000, "a\nb"),
    *("../../etc/hosts", "~", "plan", "is-a-folder", "linked", "evil\x1b[2K"),
)
OTHERS: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, [], ["a"], {"a": EVIL})
# Of the calls, every eighth; all of them in the long run.
STEP = 1 if amounts.is_long() else 8
_PATH = re.compile(r"(?<![\w~./%])/(?:etc|usr|tmp|root|home|proc|var)/\S+")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """In a home folder, with words in it that act instead of saying something."""
    store = Store(tmp_path / "home" / "code" / ".watercooler")
    fields = dict.fromkeys(("title", "agent", "role", "type", "status"), EVIL)
    more = dict.fromkeys(("reason", "at", "code_branch", "action"), EVIL)
    forged = store.give("plan", EVIL, body=EVIL, **fields, **more)
    store.thread("plan", forged, store.entry("plan", EVIL), meta=False)
    threads = Path(store.layout.threads)
    for name in ("evil\x1b[2K\u202e", "x\ny", 'q"uote'):
        (threads / name).mkdir()
        line = codec.to_line(store.entry("x", EVIL), 0)
        (threads / name / "entries.jsonl").write_bytes(line + b"\xff\x1b[2K\n")
        (threads / name / "meta.json").write_bytes(b'{"\x1b":')
    (threads / "is-a-folder" / "entries.jsonl").mkdir(parents=True)
    (threads / "linked").mkdir()
    (threads / "linked" / "entries.jsonl").symlink_to("/etc/hosts")
    Path(store.layout.config).write_text("[ball]\nenforce = 'ma\\u001bybe'\n")
    return store


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir(exist_ok=True)
    return {"HOME": str(tmp_path / "home"), "USER": "pat", "GIT_CONFIG_NOSYSTEM": "1"}


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def faults(value: Any, home: str, *, error: bool = False) -> list[str]:
    """What is wrong with an answer."""
    found = []
    for text in texts(value):
        if clean(text) != text:
            found.append(f"not clean: {text[:80]!r}")
        if "Traceback" in text or "pydantic" in text.casefold():
            found.append(f"of the inside: {text[:80]}")
        if home in text or _PATH.search(text):
            found.append(f"of the machine: {text[:200]}")
        if error and len(text) > 2_200:
            found.append(f"too long: {len(text)}")
    return found


def calls(properties: dict[str, Any], needed: dict[str, Any]) -> Iterator[Any]:
    """Arguments of a tool: each one as bad as it gets, and ones it has not."""
    for name in properties:
        for value in (*WORDS, *OTHERS):
            yield needed | {name: value}
            if "format" in properties and isinstance(value, str):
                yield needed | {name: value, "format": "json"}
    unknown: dict[str, Any] = dict.fromkeys(WORDS[2:6], 1)
    yield from [needed | unknown] * STEP


async def ask_tools(client: Client[Any], home: str) -> list[Any]:
    bad: list[Any] = []
    for tool in await client.list_tools():
        schema = tool.input_schema
        needed: dict[str, Any] = dict.fromkeys(schema.get("required", ()), "plan")
        wanted = list(calls(schema.get("properties", {}), needed))
        # Each tool begins with another word, so that all words have their turn.
        for arguments in wanted[len(tool.name) % STEP :: STEP]:
            result = await client.call_tool_mcp(tool.name, arguments)
            failed = bool(result.is_error)
            content = [getattr(one, "text", "") for one in result.content]
            told = [content, result.structured_content or {}]
            wrong = faults(told, home, error=failed)
            if failed and error_of(result)["code"] == "INTERNAL":
                wrong.append(f"not ours: {content}")
            if failed and not error_of(result)["hint"]:
                wrong.append(f"no hint: {content}")
            bad += [(tool.name, repr(arguments)[:200], one) for one in wrong]
    return bad


async def ask_the_rest(client: Client[Any], home: str) -> list[Any]:
    """Resources, prompts and completion; all of their errors are ours."""
    bad: list[Any] = []

    async def judge(what: str, answer: Any) -> None:
        try:
            found = await answer
            told = getattr(found, "messages", getattr(found, "values", found))
            shown = [getattr(getattr(one, "content", one), "text", one) for one in told]
            wrong = faults(shown, home)
        except McpError as error:
            wrong = faults([error.error.message, error.error.data], home, error=True)
            ours = isinstance(error.error.data, dict) and "error" in error.error.data
            wrong += [] if ours else [f"not ours: {error.error}"]
        bad.extend((what[:200], one) for one in wrong)

    for word in WORDS[:: min(STEP, 2)]:
        for shape in ("threads/{}", "threads/plan/{}", "threads/{}/0", "{}"):
            address = shape.format(quote(word, safe="", errors="surrogatepass"))
            await judge(address, client.read_resource(f"watercooler://{address}"))
        await judge("catch_up", client.get_prompt("catch_up", {"since": word}))
        await judge("review", client.get_prompt("review_thread", {"topic": word}))
        both = {"topic": "plan", "to": word}
        await judge("handoff", client.get_prompt("draft_handoff", both))
        for where, name in (
            ("draft_handoff", "to"),
            ("watercooler://threads/{topic}/{entry}", "topic"),
            ("watercooler://threads/{topic}/{entry}", "entry"),
        ):
            typed = {"name": name, "value": word}
            given = {"topic": word}
            await judge(name, client.complete(reference(where), typed, given))
    return bad


@pytest.mark.parametrize("mode", MODES)
def test_nothing_hostile_gets_through(
    store: Store, env: dict[str, str], mode: Mode
) -> None:
    async def ask() -> list[Any]:
        folder = str(store.root.parent)
        server = build_server(ServerContext(folder, env, lambda: NOW_MS))
        async with Client(server, mode=mode) as client:
            # One era is enough for the tools: their errors are plain results.
            bad = await ask_tools(client, env["HOME"]) if mode == "auto" else []
            return bad + await ask_the_rest(client, env["HOME"])

    assert asyncio.run(ask()) == []


def test_nothing_in_an_entry_speaks_as_the_server_in_any_form(
    store: Store, env: dict[str, str]
) -> None:
    session = Session(store.root.parent, env)
    told = [
        session.text("get_stats", topic="plan"),
        session.text("get_stats"),
        session.read("threads/plan/0"),
        session.prompt("catch_up", since="9w")[1],
        session.prompt("review_thread", topic="plan")[1],
        session.prompt("draft_handoff", topic="plan")[1],
    ]
    for text in told:
        assert NOTICE in text
        assert "line" in text
        for line in text.splitlines():
            assert not line.startswith(("entry 7", "line", "\N{LINE SEPARATOR}"))
