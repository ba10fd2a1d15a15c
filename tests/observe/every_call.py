"""Every tool, resource, prompt and completion, with good and bad input, in a
process that refuses to write: ``python -m tests.observe.every_call FOLDER [--bite]``.

Prints what it did as JSON. With ``--bite`` it tries to write instead, to show
that each attempt is refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import Client
from fastmcp.exceptions import McpError
from mcp_types import (
    PromptReference,
    ResourceTemplateReference,
)

from wc_core.base.toolnames import PREFIX
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_FORMATS: tuple[dict[str, Any], ...] = ({}, {"format": "json"}, {"format": "xml"})
_WHERE = ("plan", "forked", "torn", "garbage", "markdown", "a%20b", "linked", "empty")
_BAD = ("nope", "../plan", "", "a\0b", "%2e%2e", "x" * 300)
# Every topic as text; a good, a bad and a damaged one in each format.
_TOPICS_AND_FORMATS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((topic, {}) for topic in (*_WHERE, *_BAD)),
    *((topic, form) for topic in ("plan", "nope", "torn") for form in _FORMATS[1:]),
)

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("health", {}),
    ("health", {"extra": 1}),
    ("health", {"vocabulary": True}),
    ("whoami", {}),
    ("reindex", {}),
    ("no_such_tool", {}),
    *(
        ("check_status", {"agent_head": head, "branch": branch, "symbols": symbols})
        for head, branch in (("", ""), ("5" * 40, "main"), ("../x", "../../HEAD"))
        for symbols in (["src/a.py", "src::f", "."], ["../x"], [".git/x"], [], ["x\0y"])
    ),
    *(("check_status", {"symbols": ["x"] * 101} | form) for form in _FORMATS),
    *(("check_status", {"symbols": ["x"]} | form) for form in _FORMATS),
    ("check_status", {"symbols": ["x"], "repo_url": "https://example.org/app.git"}),
    ("check_status", {}),
    *(
        ("list_edits", {"show": show, "path": path, "whose": whose} | form)
        for show in ("claims", "activity", "conflicts", "nothing")
        for path in ("", "src/a.py", "../x")
        for whose in ("all", "mine")
        for form in _FORMATS
    ),
    *(
        ("list_edits", {"show": show, "worktree": "main"} | form)
        for show in ("activity", "conflicts")
        for form in _FORMATS
    ),
    *(("list_inbox", {"limit": limit} | form) for limit in (0, 1) for form in _FORMATS),
    *(
        ("search_threads", {"query": query, "scope": "all", "cursor": cursor} | form)
        for query, cursor in (("hello", ""), ("", ""), ("hello", "x"))
        for form in _FORMATS
    ),
    *(
        ("get_neighbors", {"target": target} | form)
        for target in ("src/a.py", "src/a.py::f", ".", "../x", "", "x\0y")
        for form in _FORMATS
    ),
    *(
        ("list_threads", arguments | form)
        for form in _FORMATS
        for arguments in (
            {},
            {"open_only": True, "limit": 1},
            {"summaries": True},
            {"ready": True},
            {"ready": True, "ball": "me", "limit": 1},
            {"file": "src/auth.py"},
            {"file": "."},
            {"code_branch": "main"},
            {"code_branch": " ../x"},
            {"ball": "me"},
            {"tag": "urgent,later"},
            {"ball": "anyone", "limit": 500},
            {"cursor": "nonsense"},
            {"cursor": "~~"},
            {"limit": 0},
            {"limit": None},
        )
    ),
    *(
        ("read_thread", {"topic": topic} | arguments | form)
        for topic, form in _TOPICS_AND_FORMATS
        for arguments in (
            {},
            {"from_entry": -1, "limit": 1},
            {"entry": "#0", "history": True},
            {"entry": "-1", "offset": 2},
            {"entry": "../x"},
            {"entry": "0", "limit": 1},
            {"offset": 1},
            {"why_not_ready": True},
            {"summary_only": True},
            {"history": True},
            {"code_branch": "main"},
            {"kind": "decision"},
            {"kind": "hunch"},
        )
    ),
    *(("get_stats", {"topic": topic}) for topic in (*_WHERE, *_BAD)),
    *(
        ("get_stats", arguments | form)
        for form in _FORMATS
        for arguments in (
            {},
            {"stale_after": "0s"},
            {"stale_after": "soon"},
            {"topic": "plan"},
            {"topic": "../plan"},
            {"topic": "plan", "stale_after": "1d"},
        )
    ),
    *(
        ("list_updates", arguments | form)
        for form in _FORMATS
        for arguments in (
            {},
            {"since": "52w", "limit": 2},
            {"since": "2020-01-01"},
            {"since_iso": "2020-01-01T00:00:00Z"},
            {"since": "52w", "code_branch": "main"},
            {"since": "nonsense"},
        )
    ),
    *(
        ("search_threads", arguments | form)
        for form in _FORMATS
        for arguments in (
            {"query": "hello"},
            {"query": "hello", "words": "any", "sort": "newest", "author": "Codex"},
            {"query": "hello", "since": "52w", "until": "1d", "tag": "urgent"},
            {"query": "hello", "scope": "all"},
            {"query": "what did they say when they met"},
            {"query": "hello", "facets": True},
            {"query": "tag:urgent", "facets": True},
            {"query": "hello", "facets": True, "scope": "all"},
            {"kind": "decision", "severity": "low"},
            {"query": "hello", "status": "OPEN", "ball": "Codex", "limit": 1},
            {"query": "e", "limit": 1, "cursor": "7~"},
            {"query": ""},
            {"query": "x", "status": "NEW"},
            {"query": '"hello" title:x', "file": "src/a.py", "pr": 1},
            {"commit": "abcd", "branch": "main"},
            {"commit": "nonsense"},
        )
    ),
    *(("list_worktrees", dict(form)) for form in _FORMATS),
    *(
        ("list_worktrees", {"show": show, "change_id": change} | form)
        for show in ("worktrees", "loops", "team", "nothing")
        for change in ("", "fix", "../x")
        for form in _FORMATS
    ),
]

ADDRESSES = [
    "instructions",
    "threads",
    "index",
    "nothing",
    *(f"threads/{topic.replace('%', '%25')}" for topic in _WHERE),
    *(f"threads/{topic.replace('%', '%25')}/0" for topic in _WHERE),
    "threads/..%2F..%2Fetc%2Fpasswd",
    "threads/plan/..%2F..%2Fmeta.json",
    "worktrees",
    *(f"loop/{change}" for change in ("fix", "nope", "..%2F..%2Fetc")),
]

PROMPTS: list[tuple[str, dict[str, str]]] = [
    ("no_such_prompt", {}),
    *(("catch_up", one) for one in ({}, {"since": "9w"}, {"since": "x"}, {"y": ""})),
    *(("review_thread", {"topic": topic}) for topic in (*_WHERE, *_BAD)),
    *(("draft_handoff", {"topic": topic, "to": topic}) for topic in (*_WHERE, *_BAD)),
]

COMPLETIONS: list[tuple[str, str, str, dict[str, str]]] = [
    (where, name, typed, {"topic": topic})
    for where, name in (
        ("catch_up", "since"),
        ("review_thread", "topic"),
        ("draft_handoff", "topic"),
        ("draft_handoff", "to"),
        ("no_such_prompt", "topic"),
        ("watercooler://threads/{topic}", "topic"),
        ("watercooler://threads/{topic}/{entry}", "topic"),
        ("watercooler://threads/{topic}/{entry}", "entry"),
        ("watercooler://loop/{change_id}", "change_id"),
        ("watercooler://nothing/{x}", "x"),
    )
    for typed, topic in (("", "plan"), ("P", "garbage"), ("\0", "../plan"))
]

EVERYTHING = len(CALLS) + len(ADDRESSES) + len(PROMPTS) + len(COMPLETIONS)
# One call for each tool, set of arguments and format: what a transport can add to a
# call does not depend on the words.
ONE_OF_EACH = list(
    {
        (name, *sorted(arguments), arguments.get("format")): (name, arguments)
        for name, arguments in reversed(CALLS)
    }.values()
)


class WriteError(BaseException):
    """An attempt to change something. No handler of ours or of a library's
    that takes an Exception can hide it."""


_REFUSED = (
    "os.chflags",
    "os.chmod",
    "os.chown",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.killpg",
    "os.link",
    "os.lockf",
    "os.mkdir",
    "os.posix_spawn",
    "os.remove",
    "os.removexattr",
    "os.rename",
    "os.rmdir",
    "os.setxattr",
    "os.spawn",
    "os.symlink",
    "os.system",
    "os.truncate",
    "os.utime",
    "fcntl.flock",
    "fcntl.lockf",
    "ftplib.connect",
    "pty.spawn",
    "shutil.",
    "smtplib.connect",
    "socket.bind",
    "socket.connect",
    "socket.sendmsg",
    "socket.sendto",
    "subprocess.Popen",
    "tempfile.",
    "urllib.Request",
    "ctypes.",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _writes(event: str, args: tuple[Any, ...]) -> bool:
    if event == "open":
        _, mode, flags = args
        return bool(set(mode or "") & set("wax+")) or bool((flags or 0) & _WRITING)
    if event == "sqlite3.connect":
        # The one file that is opened as a database, for reading alone.
        return not re.fullmatch(r"file:.+/\.local/cache\.db\?mode=ro", str(args[0]))
    if event == "os.kill":
        # Signal 0 is sent to nobody: it asks whether a process is there.
        return bool(args[1])
    return event.startswith(_REFUSED)


def _nothing(_event: str, _args: tuple[Any, ...]) -> bool:
    return False


def arm(
    permitted: Callable[[str, tuple[Any, ...]], bool] = _nothing,
) -> list[str]:
    """From now on refuse every write, but what is permitted by name; the list
    says what was refused, also where someone caught the error."""
    refused: list[str] = []
    # A search imports it, which loads the handle of our own process with ctypes.
    with suppress(ImportError):
        import_module("numpy")

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if _writes(event, args) and not permitted(event, args):
            refused.append(f"{event} {args!r}")
            raise WriteError(event)

    sys.addaudithook(hook)
    return refused


def reference(where: str) -> PromptReference | ResourceTemplateReference:
    """A prompt, or the template of an address."""
    if ":" in where:
        return ResourceTemplateReference(type="ref/resource", uri=where)
    return PromptReference(type="ref/prompt", name=where)


async def completed(client: Client[Any]) -> dict[str, set[str]]:
    """The prompts, and what of them and of templates can be completed, with
    the names of their arguments."""
    prompts = {
        one.name: {argument.name for argument in one.arguments or ()}
        for one in await client.list_prompts()
    }
    templates = {
        one.uri_template: set(re.findall(r"{(\w+)}", one.uri_template))
        for one in await client.list_resource_templates()
    }
    whole = prompts | templates
    return prompts | {f"completion of {one}": names for one, names in whole.items()}


async def call_everything(
    client: Client[Any], calls: Sequence[tuple[str, dict[str, Any]]] = CALLS
) -> dict[str, Any]:
    """Make these calls of tools, and all others. Returns how many were made and failed,
    and what the server offers that none of them uses."""
    used: dict[str, set[str]] = {}
    failures = 0
    async with client:
        tools = await client.list_tools()
        offered = {
            one.name: set(one.input_schema.get("properties", {})) for one in tools
        }
        for name, arguments in calls:
            tool = PREFIX + name
            result = await client.call_tool_mcp(tool, arguments)
            failures += bool(result.is_error)
            used.setdefault(tool, set()).update(arguments)
        await client.list_resources()
        for address in ADDRESSES:
            try:
                await client.read_resource(f"watercooler://{address}")
            except McpError:
                failures += 1
        for name, arguments in PROMPTS:
            try:
                await client.get_prompt(name, arguments)
            except McpError:
                failures += 1
            used.setdefault(name, set()).update(arguments)
        for where, name, typed, given in COMPLETIONS:
            await client.complete(
                reference(where), {"name": name, "value": typed}, dict(given)
            )
            used.setdefault(f"completion of {where}", set()).add(name)
        offered |= await completed(client)
    return {
        "calls": EVERYTHING - len(CALLS) + len(calls),
        "failures": failures,
        "left_out": sorted(
            f"{tool}({name})"
            for tool, names in offered.items()
            for name in names - used.get(tool, set())
        )
        + sorted(set(offered) - set(used)),
    }


def _in_a_tool(folder: Path) -> None:
    """A tool that writes, called like any other."""
    server = build_server(ServerContext(str(folder), dict(os.environ), lambda: 0))

    @server.tool(name="watercooler_v1_bad", description="Writes.")
    def bad() -> str:
        try:
            (folder / "written").write_text("x")
        except Exception:  # noqa: BLE001
            return "hidden"
        return "written"

    async def ask() -> None:
        async with Client(server) as client:
            await client.call_tool_mcp("watercooler_v1_bad", {})

    asyncio.run(ask())


def attempts(folder: Path) -> dict[str, Callable[[], object]]:
    """Ways to change something, each to be refused."""
    there = folder / "there"
    there.touch()
    new = folder / "new"
    return {
        "open w": lambda: open(new, "w"),
        "open r+": lambda: open(there, "r+b"),
        "open a": lambda: open(there, "a"),
        "open x": lambda: open(new, "x"),
        "os.open": lambda: os.open(new, os.O_CREAT | os.O_WRONLY),
        "os.open truncating": lambda: os.open(there, os.O_RDONLY | os.O_TRUNC),
        "write_text": lambda: new.write_text("x"),
        "touch": there.touch,
        "mkdir": new.mkdir,
        "rename": lambda: there.rename(new),
        "replace": lambda: there.replace(new),
        "unlink": there.unlink,
        "chmod": lambda: there.chmod(0o777),
        "utime": lambda: os.utime(there),
        "symlink": lambda: new.symlink_to(there),
        "link": lambda: new.hardlink_to(there),
        "truncate": lambda: os.truncate(there, 0),
        "rmdir": folder.rmdir,
        "process": lambda: subprocess.run(["true"], check=True),
        "shell": lambda: os.system("true"),
        "fork": os.fork,
        "signal": lambda: os.kill(os.getpid(), signal.SIGURG),
        "network": lambda: socket.create_connection(("127.0.0.1", 9)),
        "database": lambda: sqlite3.connect(new),
        "index": lambda: sqlite3.connect(f"file:{folder}/.local/cache.db", uri=True),
        "tool": lambda: _in_a_tool(folder),
    }


def bite(folder: Path) -> dict[str, Any]:
    """Which attempts were refused, and which got through."""
    todo = attempts(folder)
    arm()
    refused = []
    for name, act in todo.items():
        try:
            act()
        except WriteError:
            refused.append(name)
        except BaseExceptionGroup as group:
            if group.subgroup(WriteError) is not None:
                refused.append(name)
    return {
        "refused": refused,
        "got_through": sorted(set(todo) - set(refused)),
        "there": sorted(one.name for one in folder.iterdir()),
    }


def main() -> None:
    """Do the one or the other."""
    folder = Path(sys.argv[1])
    if "--bite" in sys.argv:
        told = bite(folder)
    else:
        start = ServerContext(str(folder), dict(os.environ), lambda: 1_770_000_000_000)
        server = build_server(start._replace(all_stores=True))
        refused = arm()
        told = asyncio.run(call_everything(Client(server))) | {"refused": refused}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
