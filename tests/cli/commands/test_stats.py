"""``wc stats``: the ball of a thread, and a store in figures."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp import Client

from tests.conftest import Machine
from wc_cli.ledger.clock import now_ms
from wc_observe.callers.calls import ServerContext
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from tests.conftest import Repo

CODEX = ("--as", "Codex")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository that tests here look at and do not change."""
    repo = Machine(tmp_path_factory.mktemp("story")).repo()
    repo.ok("new", "auth", "--title", "Keys", "--to", "Codex")
    repo.ok("say", "auth", "--title", "Done", "--to", "Pat", *CODEX)
    repo.ok("say", "auth", "--title", "Again", "--to", "Codex")
    repo.ok("new", "bills", "--title", "Round up?")
    repo.ok("say", "bills", "--title", "No", "--status", "CLOSED")
    return repo


def plain(text: str) -> str:
    """Output without what differs each time."""
    text = re.sub(r"\b\d+s\b", "0s", text)
    return re.sub(r" +", " ", re.sub(r"\d{4}-\S+Z", "TIME", text))


def test_the_ball_of_a_thread(story: Repo) -> None:
    done = story.ok("stats", "auth")
    assert plain(done.out) == (
        "auth: Keys\n"
        "OPEN · ball: Codex · there for 0s · changed hands 2 times · "
        "bounced 1 time · free for 0s\n"
        "\n"
        "BALL SINCE FOR BY\n"
        "Codex TIME 0s Pat #0\n"
        "Pat TIME 0s Codex (Pat) #1\n"
        "Codex TIME 0s Pat #2\n"
    )
    assert done.err == ""


def test_the_figures_of_a_store(story: Repo) -> None:
    done = story.ok("stats", "--stale-after", "1d")
    assert plain(done.out) == (
        "2 threads: 1 CLOSED, 1 OPEN\n"
        "\n"
        "BALL OPEN THREADS LONGEST FOR\n"
        "Codex 1 auth 0s\n"
        "\n"
        "BUSIEST ENTRIES STATUS TITLE\n"
        "auth 3 OPEN Keys\n"
        "bills 2 CLOSED Round up?\n"
        "\n"
        "AUTHOR ENTRIES\n"
        "Pat 4\n"
        "Codex (Pat) 1\n"
        "\n"
        "BOUNCING BOUNCES CHANGES\n"
        "auth 1 2\n"
    )


def test_an_old_ball_is_stale(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "Keys", "--to", "Codex")
    text = repo.log("auth").read_text()
    log = repo.log("auth")
    log.write_text(re.sub(r"\b01[0-9A-Z]{24}\b", "01JANE0000" + "0" * 16, text))
    found = repo.json("stats")
    assert (found["stale_total"], found["stale"][0]["topic"]) == (1, "auth")
    assert found["stale"][0]["seconds"] > 2 * 24 * 3600
    assert repo.json("stats", "--stale-after", "99999w")["stale"] == []


def test_lists_are_cut_and_the_rest_can_be_had(story: Repo) -> None:
    done = story.ok("stats", "--limit", "1")
    assert "bills" not in done.out
    assert done.err == "there is more: --limit 0 shows everything\n"
    assert len(story.json("stats", "auth", "--limit", "1")["spells"]) == 1
    assert "truncated" not in story.json("stats", "auth", "--limit", "0")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("nothing",), 3, 'There is no thread "nothing"'),
        (("--stale-after", "soon"), 2, "Write 90m, 36h, 2d or 1w."),
        (("auth", "--stale-after", "soon"), 2, "Write 90m, 36h, 2d or 1w."),
    ],
)
def test_what_cannot_be_shown_is_reported(
    story: Repo, words: tuple[str, ...], code: int, told: str
) -> None:
    assert told in story.fails(code, "stats", *words)


def test_a_place_without_threads_has_no_figures(repo: Repo) -> None:
    assert repo.ok("stats").out == "0 threads\n"


def served(story: Repo, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The server's answer in JSON, in the same place."""

    async def ask() -> dict[str, Any]:
        start = ServerContext(str(story.path), story.machine.env, now_ms)
        async with Client(build_server(start)) as client:
            name = f"watercooler_v1_{tool}"
            result = await client.call_tool(name, {**arguments, "format": "json"})
            return dict(json.loads(result.content[0].text))

    return asyncio.run(ask())


def timeless(value: Any) -> Any:
    """Without how long it was when someone asked."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not k.endswith("seconds")}
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("words", "tool", "arguments"),
    [
        ((), "get_stats", {}),
        (("--stale-after", "0s"), "get_stats", {"stale_after": "0s"}),
        (("bills",), "get_stats", {"topic": "bills"}),
    ],
)
def test_the_server_gives_the_same_answer(
    story: Repo, words: tuple[str, ...], tool: str, arguments: dict[str, Any]
) -> None:
    mine = timeless(story.json("stats", *words))
    assert timeless(served(story, tool, arguments)) == mine
