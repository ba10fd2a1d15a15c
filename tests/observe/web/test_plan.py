"""What a thread waits for, and what belongs to it, on the page."""

from __future__ import annotations

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


def test_the_page_of_the_plan_says_where_it_went(planned: Here) -> None:
    for address in ("plan", "plan/ui"):
        assert "wc tree" in words(site(planned).get(address, 404))


def test_a_thread_has_its_links_beside_it(planned: Here) -> None:
    page = site(planned).get("threads/ui")
    beside = words(page[page.index("<aside") :])
    assert "Plan is part of login waits for api" in beside
    assert "is linked to it" in beside
    assert "/plan" not in page
    assert "ui is linked to it" in site(planned).said("threads/login")
