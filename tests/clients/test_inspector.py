"""The inspector's command line, which takes part as a client of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients import installing
from tests.clients.asking import TOPIC
from wc_core.base.toolnames import PREFIX, TOOLS

if TYPE_CHECKING:
    from tests.clients.conftest import Place
    from tests.conftest import Done


def inspect(place: Place, *words: str) -> Done:
    programs = installing.agent("@modelcontextprotocol/inspector")
    command = ("--cli", "wc-observe", "--method", *words)
    done = place.run(programs.words("mcp-inspector", *command))
    assert (done.code, done.err) == (0, "")
    return done


@pytest.mark.long
def test_the_inspector_finds_no_fault_with_what_there_is(place: Place) -> None:
    tools = inspect(place, "tools/list", "--strict").json["tools"]
    assert [one["name"] for one in tools] == [f"{PREFIX}{name}" for name in TOOLS]
    name = f"{PREFIX}read_thread"
    words = ("tools/call", "--tool-name", name, "--tool-arg", f"topic={TOPIC}")
    (block,) = inspect(place, *words, "format=json", "limit=2").json["content"]
    content = json.loads(block["text"])
    assert [one["idx"] for one in content["entries"]] == [0, 1]
    assert content["next_entry_index"] == 2
    address = f"watercooler://threads/{TOPIC}"
    (one,) = inspect(place, "resources/read", "--uri", address).json["contents"]
    assert (one["uri"], one["mimeType"]) == (address, "text/markdown")
    assert "> src/auth.py comes first." in one["text"]
