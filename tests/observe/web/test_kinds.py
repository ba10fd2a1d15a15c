"""Kinds of entries and questions on the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.observe.web.pages import links, words

if TYPE_CHECKING:
    from tests.observe.stores import Store
    from tests.observe.web.pages import Site


@pytest.fixture
def decided(store: Store) -> None:
    """A thread with two decisions, a warning, and a question to the viewer."""
    store.thread(
        "x",
        store.give("x", "Codex", title="Begin"),
        store.entry("x", title="Argon2", kind="decision", type="Decision"),
        store.entry("x", title="By type", type="Decision"),
        store.entry("x", title="A leak", kind="warning", severity="critical"),
        store.entry("x", title="Which salt?", kind="question", asks="Pat"),
    )


@pytest.mark.usefixtures("decided")
def test_a_thread_can_be_narrowed_down_to_a_kind(site: Site) -> None:
    page = site.get("threads/x")
    assert "decision 2 warning 1 question 1" in words(page)
    assert "warning (critical)" in words(page)
    (link,) = {link for link in links(page) if link.endswith("kind=decision")}
    narrowed = site.ask(link).text
    assert "By type" in words(narrowed)
    assert "A leak" not in words(narrowed)
    assert "all entries" in words(narrowed)
    assert "earlier entries" not in words(narrowed)
    assert "is not a kind" in words(site.ask(f"{link}s").text)


def test_of_a_kind_the_first_entries_are_shown(site: Site, store: Store) -> None:
    drafts = (store.entry("x", title=f"N{n}", kind="note") for n in range(50))
    store.thread("x", *drafts)
    page = site.get("threads/x?kind=note")
    assert ("N0 " in words(page), "N45" in words(page)) == (True, False)
    (link,) = {link for link in links(page) if "from=40" in link}
    assert "N45" in words(site.ask(link.partition("#")[0]).text)


@pytest.mark.usefixtures("decided")
def test_a_search_for_a_kind_needs_no_words(site: Site) -> None:
    assert "2 entries found" in words(site.get("search?kind=decision"))
    assert "1 entry found" in words(site.get("search?severity=high"))
    assert "is not a kind" in words(site.get("search?kind=odd", 400))


@pytest.mark.usefixtures("decided")
def test_the_board_says_who_asks_the_viewer(site: Site) -> None:
    assert "asks you: Codex" in words(site.get())
