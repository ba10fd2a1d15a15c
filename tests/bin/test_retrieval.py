"""The table of retrieval is what was asked and found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench import retrieval
from tests.core.strategies import chain, entry, write_thread

from wc_core.reading.views.search.query import ALL, ANY

if TYPE_CHECKING:
    from pathlib import Path


def test_entries_are_asked_for_by_summary_and_title(tmp_path: Path) -> None:
    root = tmp_path / "store"
    drafts = [
        entry(
            1,
            title="Uploads fail",
            body="Busy servers.",
            summary="An upload to a busy server fails",
        ),
        entry(2, title="Colours", body="Of the board", summary="Dark mode of pages"),
        entry(3, title="", body="Nothing", summary="short"),
    ]
    write_thread(root, "t", chain(*drafts))
    summaries, titles = retrieval.by_summary(root), retrieval.by_title(root)
    assert [asked.text for asked in summaries] == ["An upload to a busy server fails"]
    assert [asked.text for asked in titles] == ["Uploads fail", "Colours"]
    assert retrieval.rate(root, titles, ALL) == (1, 1)
    untitled = retrieval.without_titles(root, tmp_path / "untitled")
    assert retrieval.by_title(untitled) == []
    assert retrieval.rate(untitled, titles, ANY) == (0, 0)


def test_each_question_names_a_thread() -> None:
    questions = retrieval.by_questions()
    assert len(questions) == 25
    for asked in questions:
        assert not asked.answers("no such thread", "")
