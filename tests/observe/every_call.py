"""Every tool and every resource, with good and bad input, in a process that
refuses to write: ``python -m tests.observe.every_call FOLDER [--bite]``.

Prints what it did as JSON. With ``--bite`` it tries to write instead, to show
that each attempt is refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp import Client
from fastmcp.exceptions import McpError

from wc_observe.calls import Surroundings
from wc_observe.server import build_server

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMATS: tuple[dict[str, Any], ...] = ({}, {"format": "json"}, {"format": "xml"})
_WHERE = ("plan", "forked", "torn", "garbage", "markdown", "a%20b", "linked", "empty")
_BAD = ("nope", "../plan", "", "a\0b", "%2e%2e", "x" * 300)

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("health", {}),
    ("health", {"extra": 1}),
    ("whoami", {}),
    ("list_vocabulary", {}),
    ("reindex", {}),
    ("no_such_tool", {}),
    *(
        ("list_threads", arguments | form)
        for form in _FORMATS
        for arguments in (
            {},
            {"open_only": True, "limit": 1},
            {"ball": "me"},
            {"ball": "anyone", "limit": 500},
            {"cursor": "nonsense"},
            {"cursor": "~~"},
            {"limit": 0},
            {"limit": None},
        )
    ),
    *(
        ("read_thread", {"topic": topic} | arguments | form)
        for form in _FORMATS
        for topic in (*_WHERE, *_BAD)
        for arguments in (
            {},
            {"from_entry": -1, "limit": 1},
            {"summary_only": True},
        )
    ),
    *(
        ("get_entry", {"topic": topic} | arguments | form)
        for form in _FORMATS
        for topic in (*_WHERE, *_BAD)
        for arguments in (
            {"index": 0},
            {"index": -1, "offset": 2},
            {"entry_id": "01"},
            {"index": 99},
            {},
        )
    ),
    *(
        ("list_updates", arguments | form)
        for form in _FORMATS
        for arguments in (
            {},
            {"since": "52w", "limit": 2},
            {"since": "52w", "limit": 1, "digest": True},
            {"since": "2020-01-01"},
            {"since": "nonsense"},
        )
    ),
    *(
        ("search_threads", arguments | form)
        for form in _FORMATS
        for arguments in (
            {"query": "hello"},
            {"query": "hello", "status": "OPEN", "ball": "Codex", "limit": 1},
            {"query": "e", "limit": 1, "cursor": "7~"},
            {"query": ""},
            {"query": "x", "status": "NEW"},
            {"query": '"hello" title:x', "file": "src/a.py", "pr": 1},
            {"commit": "abcd", "branch": "main"},
            {"commit": "nonsense"},
        )
    ),
]

ADDRESSES = [
    "instructions",
    "threads",
    "index",
    "nothing",
    *(f"threads/{topic.replace('%', '%25')}" for topic in _WHERE),
    "threads/..%2F..%2Fetc%2Fpasswd",
]


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
        return bool(args[0] != ":memory:")
    return event.startswith(_REFUSED)


def _nothing(_event: str, _args: tuple[Any, ...]) -> bool:
    return False


def arm(
    permitted: Callable[[str, tuple[Any, ...]], bool] = _nothing,
) -> list[str]:
    """From now on refuse every write, but what is permitted by name; the list
    says what was refused, also where somebody caught the error."""
    refused: list[str] = []

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if _writes(event, args) and not permitted(event, args):
            refused.append(f"{event} {args!r}")
            raise WriteError(event)

    sys.addaudithook(hook)
    return refused


async def call_everything(client: Client[Any]) -> dict[str, Any]:
    """What was called, and what the server offers."""
    used: dict[str, set[str]] = {}
    failures = 0
    async with client:
        tools = await client.list_tools()
        for name, arguments in CALLS:
            tool = f"watercooler_v1_{name}"
            result = await client.call_tool_mcp(tool, arguments)
            failures += bool(result.is_error)
            used.setdefault(tool, set()).update(arguments)
        for address in ADDRESSES:
            try:
                await client.read_resource(f"watercooler://{address}")
            except McpError:
                failures += 1
    offered = {one.name: set(one.input_schema.get("properties", {})) for one in tools}
    return {
        "calls": len(CALLS) + len(ADDRESSES),
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
    server = build_server(Surroundings(str(folder), dict(os.environ), lambda: 0))

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
        "network": lambda: socket.create_connection(("127.0.0.1", 9)),
        "database": lambda: sqlite3.connect(new),
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
    sqlite3.connect(":memory:").close()
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
        start = Surroundings(str(folder), dict(os.environ), lambda: 1_770_000_000_000)
        server = build_server(start)
        refused = arm()
        told = asyncio.run(call_everything(Client(server))) | {"refused": refused}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
