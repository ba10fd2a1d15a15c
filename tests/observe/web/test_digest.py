"""The page of what happened since a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from tests.observe.web.pages import Site, words
from wc_observe.stores.live.stores import system_ms

if TYPE_CHECKING:
    from tests.conftest import Machine


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def test_what_happened_thread_by_thread(repo: Here) -> None:
    codex = ["--as", "Codex"]
    repo.ok("new", "login", "--title", "Log <in>", "--to", "Codex")
    since = repo.json("say", "login", "--title", "Go on", "--to", "Codex")["entry_id"]
    for number in range(4):
        repo.ok("ack", "login", "--title", f"Step {number}", *codex)
    decision = ["--kind", "decision", "--body", "They **leak** too often."]
    repo.ok("say", "login", "--title", "No <b>", *decision, *codex)
    repo.ok("say", "login", "--title", "Work", "--status", "IN_REVIEW", *codex)
    repo.ok("new", "signup", "--title", "Sign up")
    site = Site(repo.path, repo.machine.env, clock=system_ms)
    page = site.get(f"digest?since={since}")
    signup, login = (
        words(item) for item in re.findall(r"<li>.*?</li>", page, re.DOTALL)
    )
    assert signup.startswith("Sign up signup new thread ball: Pat 1 entry by Pat")
    assert signup.endswith("#0 Pat : Sign up")
    # The closing tags of badges and names are spaces here.
    assert login.startswith(
        "Log <in> login open → in review ball: Codex → Pat 6 entries by Codex now"
    )
    assert "Decided: No <b>" in login
    assert "#6 Codex (Pat) : No <b>: They leak too often." in login
    assert page.count('class="badge h1 agent"') == 6  # the one hue of Codex
    assert login.endswith("and 2 before")
    assert "2 threads with entries since" in words(page)
    assert 'aria-current="page"' in page


def test_a_closed_thread_shows_no_ball(repo: Here) -> None:
    repo.ok("new", "login", "--title", "Log in", "--to", "Codex")
    repo.ok("close", "login")
    said = Site(repo.path, repo.machine.env).said("digest")
    assert "login new thread closed 2 entries by Pat" in said
    assert "ball:" not in said


def test_what_cannot_be_shown(repo: Here) -> None:
    repo.ok("new", "login", "--title", "Log in")
    site = Site(repo.path, repo.machine.env)
    assert "Nothing happened since 2999-01-01." in site.said("digest?since=2999-01-01")
    assert "neither a time" in site.said("digest?since=odd", 400)
    (repo.log("login").parent.parent / "broken/entries.jsonl").mkdir(parents=True)
    site = Site(repo.path, repo.machine.env)
    assert "Could not be read, see wc doctor: broken" in site.said("digest")


def test_more_threads_than_a_page_has(repo: Here) -> None:
    for number in range(27):
        repo.ok("new", f"t{number}", "--title", "T")
    site = Site(repo.path, repo.machine.env)
    page = site.get("digest?since=365d")
    assert page.count("<li>") == 25
    assert "2 more" in words(page)
    assert site.get("digest?since=365d&all=1").count("<li>") == 27
