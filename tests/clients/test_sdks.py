"""The client libraries that MCP clients are made with, in both eras of the
protocol: with the handshake of 2025, and without as of 2026."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients import installing, python_sdk
from tests.clients.asking import TOPIC, WRONG, judge

if TYPE_CHECKING:
    from tests.clients.conftest import Place

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
PYTHON = [(sdk, mode) for sdk in ("fastmcp", "mcp") for mode in ERAS]
TYPESCRIPT = [("v1", "legacy"), ("v2", "legacy"), ("v2", "auto")]
PROGRAM = Path(__file__).with_name("ask.mjs")


def check(heard: dict[str, Any], mode: str) -> None:
    """The promises to everybody, and that it was the era it should be."""
    assert heard["protocol"] == ERAS[mode]
    judge(heard)
    assert heard["updated"] in (True, None)


@pytest.mark.parametrize(("sdk", "mode"), PYTHON)
def test_a_python_client_gets_all_there_is(place: Place, sdk: str, mode: str) -> None:
    check(python_sdk.ask(place.question(sdk=sdk, mode=mode)), mode)


@pytest.mark.parametrize(("sdk", "mode"), TYPESCRIPT)
def test_a_typescript_client_gets_all_there_is(
    place: Place, tmp_path: Path, sdk: str, mode: str
) -> None:
    programs = installing.locked()
    question = place.question(
        sdk=sdk, mode=mode, wrong=WRONG, thread=f"watercooler://threads/{TOPIC}"
    )
    file = tmp_path / "question.json"
    file.write_text(json.dumps(question))
    done = place.run(
        [str(programs.node), str(PROGRAM), str(file), str(programs.folder)]
    )
    assert done.code == 0, done
    assert "Traceback" not in done.err
    check(done.json, mode)
