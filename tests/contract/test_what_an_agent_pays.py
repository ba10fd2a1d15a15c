"""What an agent reads before its first useful step, and with its prompts: counted in an
empty, a usual and a crowded store, against the limits that the documentation states."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine
from wc_observe.mcp import instructions

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import make_paid  # noqa: E402 (a script of the documentation)

if TYPE_CHECKING:
    from tests.conftest import Repo

AGENT = {"CLAUDECODE": "1"}
DECLARED = ROOT / "src/wc_observe/front/declared.json"
# What is left for all but the tools of the server.
MOST_WITHOUT_TOOLS = 1_100
# Open threads, balls of any Claude Code, and free ones.
STORES = {"empty": (0, 0, 0), "usual": (8, 2, 2), "crowded": (68, 30, 15)}


@pytest.fixture(scope="module", params=STORES)
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Repo]:
    """A store of each size, with its name."""
    name: str = request.param
    repo = Machine(tmp_path_factory.mktemp(name)).repo()
    repo.ok("init")
    threads, ours, free = STORES[name]
    for number in range(threads):
        holder = "Claude Code" if number < ours else "Codex"
        add(repo, f"work-{number}", holder if number < threads - free else "anyone")
    return name, repo


def add(repo: Repo, topic: str, holder: str) -> None:
    """A thread whose ball the holder has, with an entry as people write them."""
    title = f"The login page forgets who was logged in, case {topic}"
    text = "The cookie is cleared too late. See auth.py and its test. " * 4
    repo.ok("new", topic, "-m", title, "-m", text, "--to", holder, "--force")


def hook(repo: Repo, event: str) -> str:
    """What a hook of Claude Code tells the model."""
    sent = {"session_id": "s1", "cwd": str(repo.path)}
    words = ("brief", "--hook", event, "--client", "claude")
    return repo.ok(*words, feed=json.dumps(sent).encode(), env=AGENT).out


def test_what_depends_on_the_store_keeps_its_limits(store: tuple[str, Repo]) -> None:
    name, repo = store
    limit = make_paid.LIMITS[f"brief, {name} store"]
    brief = repo.ok("brief", env=AGENT).out
    assert 0 < make_paid.tokens(len(brief)) <= limit
    started = hook(repo, "session-start")
    assert 0 < make_paid.tokens(len(started)) <= limit
    # Nothing is new: nothing is said.
    assert hook(repo, "user-prompt") == ""
    for number in range(STORES[name][1]):
        add(repo, f"news-{number}", "Claude Code")
    news = hook(repo, "user-prompt")
    assert bool(news) == (name != "empty")
    assert make_paid.tokens(len(news)) <= make_paid.LIMITS["news with a prompt"]
    for number in range(STORES[name][1]):
        repo.ok("take", f"news-{number}", env=AGENT)
    reminder = hook(repo, "stop")
    assert bool(reminder) == (name != "empty")
    most = make_paid.LIMITS["reminder at the end of a turn"]
    assert make_paid.tokens(len(reminder)) <= most


def test_the_server_and_the_skill_keep_their_limits() -> None:
    assert make_paid.tokens(len(instructions.SHORT)) <= 83
    assert make_paid.tokens(len(make_paid.SKILL.read_text(encoding="utf-8"))) <= 1_400
    declared = DECLARED.read_text(encoding="utf-8")
    tools = make_paid.tokens(make_paid.tools_length(declared))
    assert 0 < make_paid.total(declared) - tools <= MOST_WITHOUT_TOOLS


def test_all_of_it_is_under_the_goal() -> None:
    assert make_paid.total(DECLARED.read_text(encoding="utf-8")) < make_paid.GOAL
