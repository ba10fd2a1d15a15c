"""``WATERCOOLER_DEBUG``: what the server did, on standard error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp.exceptions import McpError

from tests.observe.test_process import COMMAND, environment, pipe, say
from wc_core.ledger import debugging

if TYPE_CHECKING:
    from pathlib import Path

    from tests.observe.stores import Session, Store

SECRET = "https://pat:hunter2@example.org/x?token=abc"


def noted(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The lines of the calls themselves."""
    lines = capsys.readouterr().err.splitlines()
    found = [json.loads(one) for one in lines if one.startswith("{")]
    return [one for one in found if one["store"] is not None]


def test_each_call_is_a_line(
    store: Store, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    store.thread("plan", store.entry("plan", "The secret plan."))
    session.env["WATERCOOLER_DEBUG"] = "1"
    session.call("search_threads", query="secret plan", limit=3)
    session.call("read_thread", topic="plan", verbose=SECRET)
    session.read("threads/plan")
    with pytest.raises(McpError):
        session.prompt("review_thread", topic="nope")
    session.complete("review_thread", {"topic": "p"})
    found = noted(capsys)
    told = [(one["action"], one.get("name", one.get("uri"))) for one in found]
    assert told == [
        ("tools/call", "watercooler_v1_search_threads"),
        ("tools/call", "watercooler_v1_read_thread"),
        ("resources/read", "watercooler://threads/plan"),
        ("prompts/get", "review_thread"),
        ("completion/complete", "review_thread"),
    ]
    outcomes = ["ok", "INVALID_INPUT", "ok", "NOT_FOUND", "ok"]
    assert [one["outcome"] for one in found] == outcomes
    assert found[0]["arguments"] == {"query": "<11 characters>", "limit": 3}
    assert found[1]["arguments"] == {"topic": "plan", "verbose": "<43 characters>"}
    for one in found:
        assert one["time"] == "2026-01-31T00:00:00.000Z"
        assert one["client"] == "claude-code"
        assert one["store"] == str(store.root)
        assert isinstance(one["duration_ms"], float)
        assert one["id"]


def test_texts_are_logged_on_request_and_credentials_never(
    store: Store, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    store.thread("plan", store.entry("plan", f"See {SECRET} \x1b[2K."))
    for value, seen in (("1", False), ("bodies", True)):
        session.env["WATERCOOLER_DEBUG"] = value
        session.call("search_threads", query=f"example {SECRET}")
        session.call("read_thread", topic="plan", entry="0")
        text = capsys.readouterr().err
        assert ("See https://example.org/x" in text) is seen
        assert ('"example https://example.org/x"' in text) is seen
        assert "hunter2" not in text
        assert "\x1b" not in text


def test_nothing_is_noted_unless_asked(
    store: Store, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    store.thread("plan")
    for value in ("", "0"):
        session.env["WATERCOOLER_DEBUG"] = value
        session.call("whoami")
    assert debugging.mode({"WATERCOOLER_DEBUG": "off"}) == debugging.Mode()
    assert capsys.readouterr().err == ""


def test_any_other_value_is_complained_of_once(
    store: Store, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    store.thread("plan")
    session.env["WATERCOOLER_DEBUG"] = "yes\x1b[2K"
    session.calls(("health", {}), ("health", {}))
    assert capsys.readouterr().err == (
        "wc-observe: WATERCOOLER_DEBUG cannot be 'yes', so nothing is logged: "
        "1 logs without texts, bodies with them.\n"
    )


def test_a_log_that_cannot_be_written_stops_nothing(
    store: Store, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.thread("plan")
    session.env["WATERCOOLER_DEBUG"] = "1"
    with open(os.devnull, "w") as gone:
        pass
    for closed in (None, gone):
        monkeypatch.setattr(sys, "stderr", closed)
        assert "plan" in session.text("list_threads")


def test_every_line_of_the_command_is_json(
    store: Store, env: dict[str, str], tmp_path: Path
) -> None:
    """Those of the libraries too: one warns of wrong arguments."""
    store.thread("plan")
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "codex-mcp-client", "version": "1"},
    }
    wrong = {"name": "watercooler_v1_list_threads", "arguments": {"colour": "blue"}}
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            COMMAND,
            env=environment(env) | {"WATERCOOLER_DEBUG": "1"},
            cwd=store.root.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        say(process, {"id": 1, "method": "initialize", "params": hello})
        pipe(process.stdout).readline()
        say(process, {"id": 2, "method": "tools/call", "params": wrong})
        pipe(process.stdout).readline()
        pipe(process.stdin).close()
        process.wait(timeout=20)
    lines = [json.loads(one) for one in (tmp_path / "log").read_text().splitlines()]
    assert all("time" in one for one in lines)
    (call,) = [one for one in lines if one.get("action") == "tools/call"]
    assert (call["outcome"], call["client"]) == ("INVALID_INPUT", "Codex")
    (warning,) = [one for one in lines if "level" in one]
    assert (warning["level"], warning["logger"]) == ("WARNING", "fastmcp.server.server")


@pytest.mark.parametrize(
    ("value", "told", "in_full"),
    [
        (None, None, None),
        (7, 7, 7),
        ("text", "<4 characters>", "text"),
        (["a"], "<list>", "['a']"),
        ("x" * 9_000, "<9000 characters>", "x" * 3_999 + "…"),
    ],
)
def test_how_an_argument_is_logged(value: Any, told: Any, in_full: Any) -> None:
    assert debugging.shown_argument(value, bodies=False) == told
    assert debugging.shown_argument(value, bodies=True) == in_full
