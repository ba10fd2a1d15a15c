"""``wc run`` starts real clients, with a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.runs.running import Running
from tests.clients import scripted
from tests.clients.coding import AGENTS, CodingAgent
from tests.clients.conftest import SILENT, installed
from tests.clients.scripted import MAIN, PROMPT, Service, Text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

pytestmark = pytest.mark.long
CLIENT_SECONDS = 240.0
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


def test_two_clients_review_until_the_person_has_the_ball(tmp_path: Path) -> None:
    """Codex works, Claude Code asks for changes, Codex makes them, Claude Code
    approves."""
    repo = installed(tmp_path).repo()
    worker, reviewer = AGENTS["codex"], AGENTS["claude"]
    wc = repo.machine.root / "bin/wc"
    work = "git commit -q --allow-empty -m {0} && " + str(wc) + " say login -m {0}"
    to_reviewer = f"{work} --to 'Claude Code' --force"
    working = (to_reviewer.format("First"), to_reviewer.format("Second"))
    reviewing = (
        f"{wc} say login -m 'Not yet' --request-changes --to Codex",
        f"{wc} say login -m 'Good' --approve --to Pat",
    )
    turns = {
        agent.client: [
            turn for words in commands for turn in (agent.shell(words), Text("Done."))
        ]
        for agent, commands in ((worker, working), (reviewer, reviewing))
    }
    with (
        scripted.serving(*turns[worker.client]) as first,
        scripted.serving(*turns[reviewer.client]) as second,
    ):
        prepared(repo, worker, first)
        prepared(repo, reviewer, second)
        repo.ok("new", "login", "-m", "Use a passkey", "--to", "Codex", "--force")
        running = Running(repo, "--json", "--max", "1")
        try:
            running.until("passed to Pat", CLIENT_SECONDS)
        finally:
            running.process.terminate()
            running.close()
        asked_again = first.read[MAIN][2]
    told = [json.loads(line) for line in running.told.splitlines()]
    started = [event["agent"] for event in told if event["event"] == "started"]
    assert started == ["Codex@login (Pat)", "Claude Code@login (Pat)"] * 2
    assert {event["event"] for event in told} == {"started", "passed"}
    assert "> Not yet" in asked_again
    read = repo.json("read", "login", "--peek")
    assert (read["ball"], read["entries"][-1]["title"]) == ("Pat", "Good")
    assert repo.git("rev-list", "--count", "main..login") == "2"
