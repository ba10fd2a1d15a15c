"""Stores that other programs wrote, which nobody has settled: without the index, the
server reads every log for each search, and it cannot make the index itself."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.index.test_keeping import BACKGROUND, eventually
from tests.core.strategies import entry, write_thread
from tests.observe.serving import Served, serving
from tests.observe.stores import only_text
from wc_core.base.layout import Layout
from wc_core.ledger.index.cache import Cache, UnusableCacheError

if TYPE_CHECKING:
    from pathlib import Path

    from fastmcp import Client

    from tests.conftest import Repo

MANY = 1000
SOME = 30
TOOL = "watercooler_v1_"


def write_threads(root: Path, count: int, start: int = 0) -> None:
    """Write threads as another program does: nothing but their logs."""
    for number in range(start, start + count):
        write_thread(root, f"topic-{number}", [entry(number)])


def is_indexed(root: Path, count: int) -> bool:
    """Whether lists and searches find this many threads in the index."""
    try:
        cache = Cache(Layout(os.path.realpath(root)))
        return cache.ask("SELECT count(*) FROM threads") == [(count,)]
    except UnusableCacheError:
        return False


def folder_with_store(repo: Repo, count: int) -> Path:
    """The threads of another program in the repository itself, committed."""
    root = repo.path / ".watercooler"
    write_threads(root, count)
    repo.git("add", "--all")
    repo.git("commit", "-q", "-m", "threads of another program")
    return root


def branch_with_store(repo: Repo, count: int) -> None:
    """The threads of another program on the branch, which nobody has checked out."""
    root = repo.path.parent / "other"
    repo.git("worktree", "add", "-q", "--detach", str(root))
    repo.git("-C", str(root), "checkout", "-q", "--orphan", "watercooler/threads")
    repo.git("-C", str(root), "rm", "-rqf", "--ignore-unmatch", ".")
    write_threads(root, count)
    repo.git("-C", str(root), "add", "--all")
    repo.git("-C", str(root), "commit", "-q", "-m", "threads")
    repo.git("worktree", "remove", "--force", str(root))


@pytest.mark.parametrize("words", [("list",), ("search", "x"), ("brief",)])
def test_reading_a_store_in_the_repository_has_its_index_made(
    repo: Repo, words: tuple[str, ...]
) -> None:
    """What this leaves there does not show in git."""
    root = folder_with_store(repo, SOME)
    repo.ok(*words, env=BACKGROUND)
    assert eventually(lambda: is_indexed(root, SOME))
    assert not repo.git("status", "--porcelain")
    assert "Nothing is wrong" in repo.ok("doctor").out
    repo.settled("say", "topic-1", "-m", "A first entry by wc.")
    assert "Nothing is wrong" in repo.ok("doctor").out
    assert "?? .watercooler/.local" not in repo.git("status", "--porcelain")


@pytest.mark.parametrize("words", [("init",), ("whose", "topic-1"), ("list",)])
def test_adopting_a_branch_has_its_index_made(
    repo: Repo, words: tuple[str, ...]
) -> None:
    branch_with_store(repo, SOME)
    repo.ok(*words, env=BACKGROUND)
    assert eventually(lambda: is_indexed(repo.store, SOME))


def test_a_write_indexes_what_another_program_has_written(repo: Repo) -> None:
    repo.ok("new", "own", "-m", "x", env=BACKGROUND)
    assert eventually(lambda: is_indexed(repo.store, 1))
    write_threads(repo.store, SOME)
    time.sleep(0.1)
    repo.ok("say", "own", "-m", "y", env=BACKGROUND)
    assert eventually(lambda: is_indexed(repo.store, SOME + 1))


async def milliseconds(client: Client[Any]) -> float:
    """What a search for a rare word costs: the least of a few."""
    costs = []
    for _ in range(7):
        start = time.perf_counter()
        found = await client.call_tool_mcp(f"{TOOL}search_threads", {"query": "b7x"})
        costs.append((time.perf_counter() - start) * 1000)
        assert only_text(found).startswith("0 entries with")
    return min(costs)


def test_a_running_server_is_fast_once_a_command_has_run(repo: Repo) -> None:
    """A search took 105 ms, then 15 ms, including the transport."""
    root = folder_with_store(repo, MANY)

    async def compare(server: Served) -> tuple[float, float]:
        async with server.client() as client:
            before = await milliseconds(client)
            await asyncio.to_thread(repo.ok, "brief", env=BACKGROUND)
            made = await asyncio.to_thread(eventually, lambda: is_indexed(root, MANY))
            assert made
            after = before
            for _ in range(10):
                # The server has to notice that there is an index.
                after = min(after, await milliseconds(client))
                if after < before / 3:
                    break
                await asyncio.sleep(0.3)
            return before, after

    with serving(repo.path, {**repo.machine.env}) as server:
        before, after = asyncio.run(compare(server))
    assert after < before / 3, (before, after)
