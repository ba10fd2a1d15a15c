"""The index page: whose move it is, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.core.strategies import AGENTS, chain, entry, viewer, write_thread
from wc_core.ledger.threads.model import FREE, Ball
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.index import render_index
from wc_core.reading.views.listing import thread_rows

if TYPE_CHECKING:
    from pathlib import Path

PAT, CLAUDE, _ = AGENTS


def test_a_store_without_threads_has_an_index_all_the_same() -> None:
    assert render_index([]) == (
        "# Threads\n"
        "\n## My move (0)\n\nnone\n"
        "\n## Free to take (0)\n\nnone\n"
        "\n## In review (0)\n\nnone\n"
        "\n## Waiting on others (0)\n\nnone\n"
    )


def test_every_thread_stands_once_under_the_first_heading_that_fits(
    tmp_path: Path,
) -> None:
    review = "IN_REVIEW"
    for step, (topic, fields) in enumerate(
        {
            "mine": {"ball": Ball(PAT), "title": "Two\nlines "},
            "mine-in-review": {"ball": Ball(PAT), "status": review},
            "free": {"ball": FREE, "status": review},
            "review": {"ball": Ball(CLAUDE), "status": review},
            "theirs": {"ball": Ball(CLAUDE), "status": "BLOCKED"},
            "done": {"ball": FREE, "status": "CLOSED"},
        }.items()
    ):
        write_thread(tmp_path, topic, chain(entry(step, CLAUDE, **fields)))
    with (tmp_path / "graph/baseline/threads/theirs/entries.jsonl").open("ab") as log:
        log.write(b"garbage\n")
    rows = thread_rows(StoreReader(str(tmp_path)), viewer(PAT))
    page = render_index(rows)
    assert page == (
        "# Threads\n"
        "\n## My move (2)\n\n"
        "- [**mine-in-review**](../threads/mine-in-review.md) title 1 "
        f"(IN_REVIEW, ball: {PAT}, 1 entry, 1 new)\n"
        "- [**mine**](../threads/mine.md) Two lines "
        f"(OPEN, ball: {PAT}, 1 entry, 1 new)\n"
        "\n## Free to take (1)\n\n"
        "- [**free**](../threads/free.md) title 2 "
        "(IN_REVIEW, ball: anyone, 1 entry, 1 new)\n"
        "\n## In review (1)\n\n"
        "- [**review**](../threads/review.md) title 3 "
        f"(IN_REVIEW, ball: {CLAUDE}, 1 entry, 1 new)\n"
        "\n## Waiting on others (1)\n\n"
        "- [**theirs**](../threads/theirs.md) title 4 "
        f"(BLOCKED, ball: {CLAUDE}, 1 entry, 1 new, "
        "damaged: see wc doctor)\n"
    )
    assert render_index(rows, closed=True) == page + (
        "\n## Closed (1)\n\n- [**done**](../threads/done.md) title 5 "
        "(CLOSED, ball: \N{EN DASH}, 1 entry, 1 new)\n"
    )


def test_a_link_leads_to_the_page_whatever_the_topic_contains(tmp_path: Path) -> None:
    topic = "Größe"
    write_thread(tmp_path, topic, chain(entry(0, CLAUDE)))
    page = render_index(thread_rows(StoreReader(str(tmp_path)), viewer(PAT)))
    assert "- [**Größe**](../threads/Gr%C3%B6%C3%9Fe.md) " in page
