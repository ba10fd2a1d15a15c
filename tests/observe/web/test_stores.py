"""Several repositories on one page: ``wc-observe web --all``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.observe.web.pages import SECRET, ask, elements, links, words
from wc_core.ledger.git import discovery
from wc_core.reading.views.drawing.badges import HUES, badge_of
from wc_observe.callers.calls import ServerContext, system_ms
from wc_observe.web.app import build_site
from wc_observe.web.stores import key_of

if TYPE_CHECKING:
    from tests.conftest import Machine


class Two(NamedTuple):
    """What is served for the first of two repositories, and the key of the second."""

    machine: Machine
    key: str

    def get(self, path: str, status: int = 200, *, all_stores: bool = True) -> str:
        """A page below the secret."""
        env = {**self.machine.env, "WATERCOOLER_AGENT": "Pat"}
        folder = str(self.machine.root / "app")
        start = ServerContext(folder, env, system_ms, all_stores=all_stores)
        site = build_site(start, SECRET)
        found = ask(site.app, f"/{SECRET}/{path}")
        assert found.status_code == status, found.text
        if found.headers["content-type"].startswith("text/html"):
            elements(found.text)
        return found.text


@pytest.fixture
def two(machine: Machine) -> Two:
    """Two repositories, in each a ball that Codex passed to Pat."""
    roots = {}
    for name in ("app", "site"):
        repo = machine.repo(name)
        title = f"About <{name}>"
        repo.ok("new", f"in-{name}", "--title", title, "--as", "Codex", "--to", "Pat")
        roots[name] = discovery.find(str(repo.path), machine.env).root
    return Two(machine, key_of(roots["site"]))


def test_the_inbox_has_what_needs_me_in_every_repository(two: Two) -> None:
    page = two.get("inbox")
    said = words(page)
    assert "2 threads in 2 repositories" in said
    assert "About <app> app in-app your move from Codex" in said
    assert "About <site> site in-site your move from Codex" in said
    assert "<title>(2) Inbox · app</title>" in page
    assert f"/{SECRET}/threads/in-app" in links(page)
    assert f"/{SECRET}/in/{two.key}/threads/in-site" in links(page)
    assert f"cd {two.machine.root}/site && wc say in-site" in said


def test_the_switcher_leads_to_the_board_of_each_repository(two: Two) -> None:
    page = two.get("")
    assert f"/{SECRET}/in/{two.key}/" in links(page)
    other = two.get(f"in/{two.key}/")
    assert "About <site>" in words(other)
    assert "About <app>" not in words(other)
    assert "<title>(1) site</title>" in other
    assert f"/{SECRET}/" in links(other)
    assert f"/{SECRET}/in/{two.key}/threads/in-site" in links(other)
    thread = two.get(f"in/{two.key}/threads/in-site")
    assert f'data-events="/{SECRET}/in/{two.key}/events"' in thread


def test_the_icon_has_the_initials_and_the_hue_of_the_repository(two: Two) -> None:
    for path, name in (("icon.svg", "app"), (f"in/{two.key}/icon.svg", "site")):
        badge = badge_of(name)
        icon = two.get(path)
        assert HUES[badge.hue].rgb in icon
        assert f">{badge.initials}</text>" in icon


def test_without_all_there_is_one_repository(two: Two) -> None:
    page = two.get("", all_stores=False)
    assert "Other repositories" not in words(page)
    for path in ("inbox", f"in/{two.key}/", f"in/{two.key}/icon.svg"):
        assert "There is no such page" in words(two.get(path, 404, all_stores=False))


def test_a_repository_that_is_not_there_is_reported(two: Two) -> None:
    for path in ("in/0123456789ab/", "in/0123456789ab/threads/x"):
        assert "There is no such repository." in words(two.get(path, 404))
