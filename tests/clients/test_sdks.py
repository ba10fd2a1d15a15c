"""The client libraries that MCP clients are made with, in both eras of the
protocol: with the handshake of 2025, and without as of 2026."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients import installing, python_sdk
from tests.clients.asking import TOPIC, judge

if TYPE_CHECKING:
    from tests.clients.conftest import Place

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
PYTHON = ("fastmcp", "mcp")
PROGRAM = Path(__file__).with_name("ask.mjs")


def check(heard: dict[str, Any], mode: str, *, here: bool = True) -> None:
    """The promises to everyone, and that it was the era it should be."""
    assert heard["protocol"] == ERAS[mode]
    judge(heard, here=here)
    assert TOPIC in heard["completed"]
    assert set(heard["prompts"]) == {"catch_up", "review_thread", "draft_handoff"}


def ask(place: Place, tmp_path: Path, sdk: str, mode: str, url: str) -> dict[str, Any]:
    """What this client hears over HTTP, or without an address over stdio."""
    question = place.question(sdk=sdk, mode=mode, url=url)
    if sdk in PYTHON:
        return python_sdk.ask(question)
    programs = installing.locked()
    file = tmp_path / "question.json"
    file.write_text(json.dumps(question))
    words = (str(PROGRAM), str(file), str(programs.folder))
    done = place.run([str(programs.node), *words])
    assert done.code == 0, done
    assert "Traceback" not in done.err
    heard: dict[str, Any] = done.json
    return heard


@pytest.mark.parametrize(
    ("sdk", "mode"),
    [
        *itertools.product(PYTHON, ERAS),
        ("typescript 1", "legacy"),
        *itertools.product(("typescript 2",), ERAS),
    ],
)
def test_a_client_that_starts_it_gets_all_there_is(
    place: Place, tmp_path: Path, sdk: str, mode: str
) -> None:
    check(ask(place, tmp_path, sdk, mode, ""), mode)


@pytest.mark.parametrize(
    ("sdk", "mode"),
    [
        *(("fastmcp", "legacy"), ("mcp", "auto")),
        *(("typescript 1", "legacy"), ("typescript 2", "auto")),
    ],
)
def test_a_client_over_http_gets_all_there_is(
    place: Place, tmp_path: Path, sdk: str, mode: str, address: str
) -> None:
    check(ask(place, tmp_path, sdk, mode, address), mode, here=False)
