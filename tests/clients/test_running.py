"""``wc run`` starts real clients, with a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients import scripted
from tests.clients.coding import AGENTS, CodingAgent
from tests.clients.conftest import SILENT, installed
from tests.clients.scripted import MAIN, PROMPT, Service, Text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

pytestmark = pytest.mark.long
CLIENTS = ("claude", "codex", "gemini", "qwen", "opencode")


def prepared(repo: Repo, agent: CodingAgent, service: Service) -> None:
    """Have `wc run` start an agent with the model of a service."""
    machine = repo.machine
    words, env = agent.start(service, machine.home)
    service.prompt = "it is your move"
    command = ["{prompt}" if word == PROMPT else word for word in words]
    machine.env |= env | SILENT
    repo.ok("config", "--global", "set", f"run.{agent.client}", "--", *command)


def run_once(repo: Repo, *words: str) -> list[dict[str, Any]]:
    told = repo.wc("run", "--once", "--json", *words)
    assert told.code in {0, 9}, told.err
    return [json.loads(line) for line in told.out.splitlines()]


@pytest.mark.parametrize("name", CLIENTS)
def test_from_ready_to_the_person(tmp_path: Path, name: str) -> None:
    agent = AGENTS[name]
    repo = installed(tmp_path).repo()
    # Codex runs commands in a login shell, which may have another PATH.
    wc = repo.machine.root / "bin/wc"
    finish = agent.shell(f"{wc} done login -m 'It works'")
    with scripted.serving(finish) as service:
        prepared(repo, agent, service)
        repo.ok("new", "login", "-m", "Use a passkey", "--to", agent.name, "--force")
        told = run_once(repo)
        read = service.read[MAIN][0]
    events = [(event["event"], event["text"]) for event in told]
    output = repo.wc("run", "log", "login").out
    assert events[1:] == [("passed", "passed to Pat")], output
    assert told[0]["agent"] == f"{agent.name}@login (Pat)"
    assert "> Use a passkey" in read
    entries = repo.json("read", "login", "--peek")["entries"]
    assert entries[-1]["author"] == f"{agent.name}@login (Pat)"


@pytest.mark.parametrize("name", CLIENTS)
def test_one_that_says_only_something_is_told_again(tmp_path: Path, name: str) -> None:
    agent = AGENTS[name]
    repo = installed(tmp_path).repo()
    with scripted.serving(Text("I think about it.")) as service:
        prepared(repo, agent, service)
        repo.ok("new", "login", "-m", "Use a passkey", "--to", agent.name, "--force")
        told = run_once(repo)
        reads = service.read[MAIN]
    assert [event["event"] for event in told] == ["started", "failed"] * 2
    assert "You were started for this thread before" in reads[-1]
    read = repo.json("read", "login", "--peek")
    assert read["ball"] == "Pat"
    body = read["entries"][-1]["body"]
    assert "exit status 0" in body
    assert "started 2 times" in body
