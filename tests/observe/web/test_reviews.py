"""Outcomes of reviews on the pages and in the answers of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.observe.web.pages import words

if TYPE_CHECKING:
    from tests.observe.stores import Store
    from tests.observe.web.pages import Site


@pytest.mark.parametrize(
    ("outcome", "text", "kind"),
    [
        ("approved", "approved", "mark kind"),
        ("changes_requested", "changes requested", "mark severe"),
    ],
)
def test_the_outcome_is_on_the_board_and_on_the_page(
    site: Site, store: Store, outcome: str, text: str, kind: str
) -> None:
    begin = store.give("x", "Codex", title="Begin")
    store.thread("x", begin, store.entry("x", outcome=outcome, type="Decision"))
    board, page = site.get(""), site.get("threads/x")
    mark = f'<span class="{kind}">{text}</span>'
    assert mark in board
    assert page.count(mark) == 3  # above, beside the entries, and at the entry
    assert f"{text} by Codex (pat)" in words(page)


def test_what_is_in_review_again_has_no_outcome(site: Site, store: Store) -> None:
    store.thread(
        "x",
        store.give("x", "Codex", title="Begin"),
        store.entry("x", outcome="changes_requested"),
        store.entry("x", status="IN_REVIEW"),
    )
    assert "changes requested" not in words(site.get(""))
