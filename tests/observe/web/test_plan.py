"""The page of the plan."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from tests.observe.web.pages import Site, words

if TYPE_CHECKING:
    from tests.conftest import Machine


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


@pytest.fixture
def planned(repo: Here) -> Here:
    """Log in, of which ui waits for api, and a sidequest of ui."""
    for topic in ("login", "api", "ui"):
        repo.ok("new", topic, "--title", f"<b>{topic}</b>", "--to", "anyone")
    repo.ok("link", "api", "part-of", "login")
    repo.ok("link", "ui", "part-of", "login")
    repo.ok("link", "ui", "waits-for", "api")
    words_of_new = ("new", "flaky", "--title", "T", "--sidequest-of", "ui")
    repo.ok(*words_of_new, "--to", "Codex", "--force")
    return repo


def site(repo: Here) -> Site:
    return Site(repo.path, repo.machine.env)


def test_a_store_without_links_says_how_to_make_one(repo: Here) -> None:
    repo.ok("new", "login", "--title", "T")
    page = site(repo).get("plan")
    assert "No thread has a link. To link two threads: wc link B waits-for A" in words(
        page
    )
    assert "<svg" not in page
    assert ">Plan<" not in site(repo).get("threads/login").partition("<main")[2]


def test_the_plan_is_a_tree(planned: Here) -> None:
    page = site(planned).get("plan")
    assert "<svg" not in page.partition("<main")[2]
    assert "4 linked threads · 1 ready for you · 2 waiting · 0 closed" in words(page)
    tree = words(page[page.index('<ul class="tree"') :])
    assert tree.startswith(
        "<b>login</b> login anyone "
        "<b>api</b> api ready anyone "
        "<b>ui</b> ui waits for api anyone "
        "T flaky sidequest Codex"
    )
    planned.ok("set-status", "api", "CLOSED")
    assert "1 ready for you · 1 waiting · 1 closed" in site(planned).said("plan")


def test_the_plan_of_a_thread(planned: Here) -> None:
    planned.ok("new", "other", "--title", "Elsewhere", "--blocked-by", "flaky")
    page = site(planned).get("plan/ui")
    assert "other" not in words(page)
    assert "Not ready: it waits for api The complete plan" in words(page)
    assert "Plan of api <b>api</b> ready" in site(planned).said("plan/api")
    planned.ok("set-status", "flaky", "CLOSED", "--reason", "x")
    assert "Plan of flaky T closed" in site(planned).said("plan/flaky")


def test_a_thread_leads_to_its_plan(planned: Here) -> None:
    page = site(planned).get("threads/ui")
    beside = words(page[page.index("<aside") :])
    assert "Plan is part of login waits for api" in beside
    assert "is linked to it" in beside
    assert re.search(r'<a href="[^"]*/plan/ui"', page)
    assert "ui is linked to it" in site(planned).said("threads/login")


def test_links_that_do_not_count_and_threads_that_are_missing(planned: Here) -> None:
    log = planned.log("api")
    line = log.read_text().splitlines()[-1]
    for number, target in enumerate(("ui", "gone")):
        made = line.replace('"parent"', '"blocked_by"').replace(
            '"login"', f'"{target}"'
        )
        made = re.sub(r"01([0-9A-Z]{22})", rf"7{number}\1", made)
        with log.open("a") as file:
            file.write(f"{made}\n")
    page = site(planned).get("plan")
    assert "are ignored: api waits for ui." in words(page)
    assert "waits for gone" in words(page)
