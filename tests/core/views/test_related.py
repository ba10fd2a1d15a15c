"""Threads that are about the same subject, and threads like a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import chain, entry, viewer, write_thread
from wc_cli.ledger.index import overviewfile
from wc_core.base.errors import NotFoundError
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.search import alike
from wc_core.reading.views.search.alike import similar_thread
from wc_core.reading.views.search.related import most_used_words, related_threads
from wc_core.reading.views.search.scan import Scan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def overview(tmp_path: Path) -> Overview:
    (tmp_path / ".local").mkdir()
    drafts = {
        "uploads": ("Uploads fail", "The server is busy. Should we retry uploading?"),
        "retries": ("Back off", "Retrying against a busy server, exponentially."),
        "colours": ("Colours", "Dark mode: other colours on the server's page."),
        "odd": ("的", "的 12"),
    }
    for step, (topic, (title, body)) in enumerate(drafts.items()):
        write_thread(tmp_path, topic, chain(entry(step, title=title, body=body)))
    return Overview(StoreReader(str(tmp_path)), viewer(), lambda: 0)


def test_threads_with_the_same_words_are_related(overview: Overview) -> None:
    threads = related_threads(Scan(overview.reader), overview, "uploads", 0)
    assert [thread.row.topic for thread in threads] == ["retries", "colours"]
    assert threads[0].words == ("busy", "retry", "server")
    assert threads[0].score > threads[1].score
    assert threads[0].to_json()["words"] == ["busy", "retry", "server"]
    (only,) = related_threads(Scan(overview.reader), overview, "uploads", 1)
    assert only == threads[0]


def test_a_thread_without_words_is_related_to_none(overview: Overview) -> None:
    assert related_threads(Scan(overview.reader), overview, "odd", 0) == []
    with pytest.raises(NotFoundError):
        related_threads(Scan(overview.reader), overview, "absent", 0)


def test_of_a_long_thread_the_last_entries_count(
    overview: Overview, tmp_path: Path
) -> None:
    texts = [entry(step, title="Retrying a busy server") for step in range(10, 611)]
    texts[-1] = texts[-1]._replace(title="Other colours")
    texts[100] = texts[100]._replace(body="exponentially")
    texts[101] = texts[101]._replace(body="uploading")
    write_thread(tmp_path, "long", chain(*texts))
    words = most_used_words(overview, "long").values()
    assert {"retrying", "busy", "colours", "uploading"} <= {*words}
    assert "exponentially" not in words
    texts[0] = texts[0]._replace(title="Dark mode")
    write_thread(tmp_path, "long", chain(*texts))
    assert "dark" in most_used_words(overview, "long").values()


@pytest.mark.parametrize("few", [100, 0])
@pytest.mark.parametrize(
    ("topic", "title", "expected"),
    [
        ("upload-fails", "Failing uploads", "uploads"),
        ("upload", "Failed to upload a large file twice", None),
        ("colours", "Colours of the server", None),  # it does not find itself
        ("palette", "Colours", None),  # one word is not enough
        ("x", "", None),
    ],
)
def test_a_new_thread_is_compared_by_topic_and_title(
    overview: Overview,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    topic: str,
    title: str,
    expected: str | None,
) -> None:
    monkeypatch.setattr(alike, "_FEW", few)
    overviewfile.rebuild(overview.reader, lambda: 1 << 62)
    row = similar_thread(overview, topic, title)
    assert (row and row.topic) == expected


def test_without_an_index_a_large_store_has_no_similar_thread(
    overview: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alike, "_FEW", 0)
    assert similar_thread(overview, "upload-fails", "Failing uploads") is None
