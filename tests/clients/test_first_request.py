"""The first request that an agent sends to its model has our tools, although agents
wait for servers only so long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients import scripted
from tests.clients.coding import AGENTS
from tests.clients.conftest import Place, installed
from tests.clients.scripted import MAIN, Text
from tests.clients.test_agents import run
from wc_core.base.toolnames import PREFIX

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long
STARTS = 3
# Codex has its model search for the tools of servers, and names the servers.
MARKS = {"Codex": "\n- mcp__watercooler: "}


@pytest.mark.parametrize("name", AGENTS)
def test_the_first_request_has_the_tools(tmp_path: Path, name: str) -> None:
    repo = installed(tmp_path, starts=True).repo()
    repo.ok("init")
    agent, place = AGENTS[name], Place(repo)
    repo.ok("install", agent.client, "--yes")
    for _ in range(STARTS):
        with scripted.serving(Text("Done.")) as service:
            words, env = agent.start(service, repo.machine.home)
            run(place, words, **env)
        mark = MARKS.get(agent.name, f"{PREFIX}list_threads")
        assert mark in service.read[MAIN][0]
