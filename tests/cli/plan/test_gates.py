"""Gates, by hand: what waits, who opens it, and what runs."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_cli.ledger.plan import gatechecks
from wc_cli.ledger.store.upkeep import Upkeep
from wc_core.base.layout import Layout
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CODEX, PAT = ("--as", "Codex"), ("--as", "Pat")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "api", "--title", "The api", *CODEX)
    return repo


def ready(repo: Here) -> list[str]:
    return [row["topic"] for row in repo.json("ready", *CODEX)["threads"]]


def gates(repo: Here) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = repo.json("gate", "api")["gates"]
    return shown


def held(repo: Here) -> list[str]:
    """The topics with a file for their holder: what calls someone to act."""
    folder = repo.store / ".local/status/holder"
    return [path.name.partition(".")[2] for path in folder.glob("*/*")]


def test_what_waits_at_a_gate_is_not_a_call_to_act(repo: Here) -> None:
    added = repo.ok("gate", "api", "--human", "Pat", *CODEX)
    assert added.out.splitlines()[-1] == "api: Waits for the approval of Pat"
    assert ready(repo) == []
    (row,) = repo.json("list", *CODEX)["threads"]
    assert row["waits_for"] == ["the approval of Pat"]
    assert "waits for the approval of Pat" in repo.ok("list", *CODEX).out
    assert "it waits for the approval of Pat; to give it: wc gate api --pass 1" in (
        repo.ok("why", "api", *CODEX).out
    )
    assert "waits for the approval of Pat" in repo.ok("statusline").out
    assert held(repo) == []
    assert repo.json("read", "api")["ball"] == "Codex (Pat)"


def test_only_the_person_that_it_waits_for_passes_it(repo: Here) -> None:
    repo.ok("gate", "api", "--human", "Pat", *CODEX)
    assert "Only Pat can pass it" in repo.fails(4, "gate", "api", "--pass", "1", *CODEX)
    passed = repo.ok("gate", "api", "--pass", "1", "--note", "looks good", *PAT)
    assert passed.out.splitlines()[-1] == "api: Passed: the approval of Pat"
    assert ready(repo) == ["api"]
    assert "has already given" in repo.fails(4, "gate", "api", "--pass", "1", *PAT)
    (item,) = gates(repo)
    assert (item["closed"], item["outcome"]) == (False, "pass")
    assert repo.ok("gate", "api").out == (
        "1. the approval of Pat: open, passed by Pat\n"
    )


def test_the_same_gate_is_not_added_twice(repo: Here) -> None:
    repo.ok("gate", "api", "--until", "2031-05-01", "--human", "Pat", *CODEX)
    for again in (("--until", "2031-05-01"), ("--pr", "#1", "--human", "Pat")):
        refused = repo.fails(4, "gate", "api", *again, *CODEX)
        assert "api already waits for" in refused
    assert len(gates(repo)) == 2
    # An approval that was given can be asked for again.
    repo.ok("gate", "api", "--pass", "2", *PAT)
    repo.ok("gate", "api", "--human", "Pat", *CODEX)
    assert len(gates(repo)) == 3


def test_a_gate_can_be_taken_away(repo: Here) -> None:
    repo.ok("gate", "api", "--pr", "#12", "--until", "2d", *CODEX)
    assert len(gates(repo)) == 2
    repo.ok("gate", "api", "--remove", "1", *PAT)
    assert [item["kind"] for item in gates(repo)] == ["pr"]
    assert "opened by a check" in repo.fails(4, "gate", "api", "--pass", "1", *CODEX)
    repo.ok("gate", "api", "--remove", "1", *CODEX)
    assert ready(repo) == ["api"]
    assert "has no gate" in repo.wc("gate", "api").err


def test_a_gate_of_time_opens_by_itself(repo: Here) -> None:
    repo.ok("gate", "api", "--until", "1s", *CODEX)
    layout = Layout(str(repo.store))
    (name,) = os.listdir(layout.due)
    time.sleep(max(0.0, int(name.split(".")[0]) / 1000 - time.time()) + 0.01)
    assert ready(repo) == ["api"]
    assert held(repo) == []
    upkeep = Upkeep(StoreReader(layout.root), repo.machine.env)
    upkeep.refresh_due()
    assert os.listdir(layout.due) == []
    assert held(repo) == ["api"]


def test_a_command_runs_only_where_someone_approved_it(
    repo: Here, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    line = f"touch {mark}; echo checked; test -e {tmp_path}/done"
    repo.ok("gate", "api", "--command", line, *CODEX)
    unasked = repo.ok("gate", "check", *PAT)
    assert "no person has approved it on this machine" in unasked.err
    assert not mark.exists()
    failed = repo.ok("gate", "check", "--yes", *PAT)
    assert "failed (exit status 1)" in failed.out
    assert mark.exists()
    entry = repo.json("read", "api")["entries"][-1]
    assert entry["title"].startswith("Failed: `touch")
    assert entry["body"] == "exit status 1\n\n    checked"
    assert "which failed at the last check" in repo.ok("why", "api", *CODEX).out
    count = len(repo.json("read", "api")["entries"])
    repo.ok("gate", "check", "api", *PAT)
    assert len(repo.json("read", "api")["entries"]) == count
    (tmp_path / "done").touch()
    result = repo.json("gate", "check", *PAT)["gates"]
    assert [(item["outcome"], item["changed"]) for item in result] == [("pass", True)]
    assert ready(repo) == ["api"]
    assert repo.json("gate", "check", *PAT)["gates"] == []


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    line = f"(sleep 5; touch {tmp_path}/late) & wait"
    outcome = gatechecks.run_command(line, str(tmp_path), dict(os.environ), 0.2)
    assert outcome == ("fail", "not finished within 0.2 s")


@pytest.mark.parametrize(
    ("state", "outcome"),
    [("MERGED", "passed"), ("CLOSED", "failed"), ("OPEN", "still open")],
)
def test_pull_requests_are_looked_up(
    repo: Here, tmp_path: Path, state: str, outcome: str
) -> None:
    program = tmp_path / "gh"
    program.write_text(f"#!/bin/sh\necho '{json.dumps({'state': state})}'\n")
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    repo.ok("gate", "api", "--pr", "12", *CODEX)
    checked = repo.wc("gate", "check", *PAT, env=env)
    assert f"pull request #12: {outcome} (it is {state.lower()})" in checked.out
    assert (ready(repo) == ["api"]) is (state == "MERGED")


def test_without_gh_the_note_says_what_to_do(repo: Here, tmp_path: Path) -> None:
    repo.ok("gate", "api", "--pr", "12", *CODEX)
    done = repo.wc("gate", "check", *PAT, env={"PATH": str(tmp_path)})
    assert "there is no gh here" in done.err
    assert "not checked" in done.out


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("gate", "nowhere"), 3, "nowhere"),
        (("gate", "api", "--until", "yesterday"), 2, "is not a time"),
        (("gate", "api", "--until", "2020-01-01"), 2, "in the past"),
        (("gate", "api", "--pr", "x"), 2, "is not a pull request"),
        (("gate", "api", "--remove", "3"), 3, "has no gate 3"),
        (("gate", "api", "--pass", "1", "--remove", "1"), 2, "Use one of them"),
        (("gate", "api", "db", "--human", "Pat"), 2, "belongs to one thread"),
        (("gate", "check", "nowhere"), 3, "nowhere"),
    ],
)
def test_what_is_refused(
    repo: Here, words: tuple[str, ...], code: int, text: str
) -> None:
    assert text in repo.fails(code, *words, *CODEX)
    assert len(repo.json("read", "api")["entries"]) == 1


def test_a_closed_thread_waits_for_nothing(repo: Here) -> None:
    repo.ok("set-status", "api", "CLOSED", *CODEX)
    assert "is closed" in repo.fails(4, "gate", "api", "--pr", "1", *CODEX)
