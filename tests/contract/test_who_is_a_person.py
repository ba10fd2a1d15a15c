"""A person is who the process is, not what an option or a variable says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wc_core.base.agents import CONVENTION, VARIABLES
from wc_core.ledger.provenance import HERE, Provenance
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Repo

_ALL = {variable: (agent, "1") for variable, agent in VARIABLES}
_ALL |= {CONVENTION: ("somebot", "somebot/1.2"), "AGENT": ("Amp", "amp")}
_ALL |= {"WATERCOOLER_AGENT": ("Codex", "Codex")}


def _approval(repo: Repo, env: Mapping[str, str], *words: str) -> dict[str, Any]:
    """The entry with an approval that a process with these variables writes."""
    repo.ok("new", "login", "-m", "Log in", "--to", "Codex")
    repo.ok("say", "login", "-m", "Done", "--as", "Codex", "--to", "Pat")
    repo.ok("say", "login", "--approve", *words, env=env)
    entry: dict[str, Any] = json.loads(repo.log("login").read_bytes().splitlines()[-1])
    assert entry["outcome"] == "approved"
    return entry


def _is_by_person(repo: Repo) -> bool:
    reader = StoreReader(str(repo.store))
    thread = reader.thread("login")
    origin = Provenance(reader.layout).of(thread, thread.state.review.id)
    assert origin.kind == HERE
    return origin.by_person


@pytest.mark.parametrize("variable", _ALL)
def test_an_agent_that_speaks_as_a_person_is_named(repo: Repo, variable: str) -> None:
    agent, value = _ALL[variable]
    entry = _approval(repo, {variable: value}, "--as", "Pat")
    assert (entry["agent"], entry["run_by"]) == ("Pat", agent)
    assert not _is_by_person(repo)
    assert f"approved by {agent}, as Pat" in repo.ok("read", "login").out


def test_a_variable_makes_no_agent_a_person(repo: Repo) -> None:
    env = {"CLAUDECODE": "1", "WATERCOOLER_AGENT": "Pat"}
    entry = _approval(repo, env)
    assert (entry["agent"], entry["run_by"]) == ("Pat", "Claude Code")
    assert not _is_by_person(repo)


def test_a_session_in_the_cloud_is_no_person(repo: Repo) -> None:
    entry = _approval(repo, {"WATERCOOLER_SANDBOX": "Jules"}, "--as", "Pat")
    assert entry["run_by"] == "Jules"
    assert not _is_by_person(repo)


def test_a_person_is_a_person(repo: Repo) -> None:
    entry = _approval(repo, {})
    assert entry["agent"] == "Pat"
    assert "run_by" not in entry
    assert _is_by_person(repo)


def test_a_person_who_speaks_as_an_agent_approves_as_that(repo: Repo) -> None:
    entry = _approval(repo, {}, "--as", "Gemini")
    assert entry["agent"].startswith("Gemini")
    assert "run_by" not in entry
    assert not _is_by_person(repo)
