"""``push = "off"``: nothing leaves the machine unless someone asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS
from wc_cli.run import background

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo


def test_an_agent_sends_nothing_first_and_nothing_that_is_off(
    machine: Machine, repo: Repo
) -> None:
    hub = str(machine.root / "hub.git")
    machine.git("init", "-q", "--bare", hub, cwd=repo.path)
    repo.git("remote", "add", "origin", hub)
    agent = {"CLAUDECODE": "1"}
    said = repo.ok("new", "login", "--title", "Passkeys", "--sync", env=agent)
    assert "committed · not pushed" in said.out
    assert "your user can start: wc sync" in said.err
    assert machine.git("for-each-ref", cwd=hub) == ""
    repo.ok("sync")
    had = machine.git("rev-parse", THREADS, cwd=hub)
    (repo.store / "config.toml").write_text(OFF)
    assert not repo.json("ack", "login", "--title", "x", "--sync", env=agent)["pushed"]
    assert machine.git("rev-parse", THREADS, cwd=hub) == had
    (repo.store / "config.toml").write_text("")
    assert repo.json("ack", "login", "--title", "y", "--sync", env=agent)["pushed"]


OFF = '[sync]\npush = "off"\n'


@pytest.mark.parametrize("mode", ["inline", "background"])
def test_what_is_written_stays_here(machine: Machine, repo: Repo, mode: str) -> None:
    hub = str(machine.root / "hub.git")
    machine.git("init", "-q", "--bare", hub, cwd=repo.path)
    repo.git("remote", "add", "origin", hub)
    repo.ok("new", "login", "--title", "Passkeys", "--as", "Codex", "--sync")
    had = machine.git("rev-parse", THREADS, cwd=hub)
    (repo.store / "config.toml").write_text(f"{OFF}fetch_every = 1\n")
    if mode == "inline":
        repo.settled("ack", "login", "--title", "Mine", "--as", "Codex")
    else:
        repo.ok("ack", "login", "--title", "Mine", "--as", "Codex")
        (repo.store / ".local/sync.json").unlink()  # a fetch is due
        env = {**machine.env, "WATERCOOLER_SYNC": "background"}
        background.exchange(str(repo.store), env)
        assert (repo.store / ".local/sync.json").exists()
    assert machine.git("rev-parse", THREADS, cwd=hub) == had
    assert repo.json("sync")["went"] == {"login": 1}
