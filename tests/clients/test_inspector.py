"""The inspector's command line, which takes part as a client of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.clients.asking import TOPIC
from wc_core.base.toolnames import PREFIX, TOOLS

if TYPE_CHECKING:
    from tests.clients.conftest import Place
    from tests.clients.installing import Programs
    from tests.conftest import Done


def inspect(place: Place, programs: Programs, *words: str) -> Done:
    return place.run(
        programs.words("mcp-inspector", "--cli", "wc-observe", "--method", *words)
    )


def test_the_inspector_finds_no_fault_with_the_tools(
    place: Place, programs: Programs
) -> None:
    done = inspect(place, programs, "tools/list", "--strict")
    assert (done.code, done.err) == (0, "")
    named = [one["name"] for one in done.json["tools"]]
    assert named == [f"{PREFIX}{name}" for name in TOOLS]


def test_the_inspector_calls_a_tool(place: Place, programs: Programs) -> None:
    name = f"{PREFIX}read_thread"
    words = ("tools/call", "--tool-name", name, "--tool-arg", f"topic={TOPIC}")
    done = inspect(place, programs, *words, "format=json", "limit=2")
    assert (done.code, done.err) == (0, "")
    (block,) = done.json["content"]
    content = json.loads(block["text"])
    assert [one["idx"] for one in content["entries"]] == [0, 1]
    assert content["next_entry_index"] == 2


def test_the_inspector_reads_a_resource(place: Place, programs: Programs) -> None:
    address = f"watercooler://threads/{TOPIC}"
    done = inspect(place, programs, "resources/read", "--uri", address)
    assert (done.code, done.err) == (0, "")
    (one,) = done.json["contents"]
    assert (one["uri"], one["mimeType"]) == (address, "text/markdown")
    assert "> src/auth.py comes first." in one["text"]
