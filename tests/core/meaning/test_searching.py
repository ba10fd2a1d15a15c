"""Searches that go by meaning where the words find little."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.core.meaning.vectors import np
from tests.core.strategies import entry, viewer, write_thread
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.index.keys import TICK_SECONDS
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.nearness import Nearness
from wc_core.reading.meaning.asking import Meaning
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import Hits, search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import Question
from wc_core.reading.views.search.ranked import position_of

if TYPE_CHECKING:
    from collections.abc import Sequence


pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")
assert np

TITLES = {
    "release": "Release and distribution flow",
    "pane": "Cursor blocks in the lower pane",
    "versions": "The version of the client is shown",
    "fonts": "Letters look blurred on small screens",
}
QUERY = "how do we ship a new version to users"


@pytest.fixture
def reader(tmp_path: Path) -> StoreReader:
    for step, (topic, title) in enumerate(TITLES.items()):
        write_thread(tmp_path, topic, [entry(step + 1, title=title)])
    time.sleep(2 * TICK_SECONDS)
    return StoreReader(os.path.realpath(tmp_path))


def found(
    reader: StoreReader, query: str = QUERY, source: Any = None, **asked: Any
) -> Hits:
    overview = Overview(reader, viewer())
    meaning = source or Meaning(reader, overview.keys, {})
    question = Question(query, asked.pop("criteria", Filter()), **asked)
    return search(IndexedSearch(overview, meaning), question)


def topics(hits: Hits) -> list[str]:
    return [hit.topic for hit in hits.hits]


def test_what_is_much_less_near_than_the_nearest_is_no_answer(
    reader: StoreReader,
) -> None:
    scores = {"fonts": 0.8, "pane": 0.2, "release": 0.19}
    threads = {topic: reader.thread(topic).entries[0].id for topic in scores}
    nearness = Nearness({(topic, threads[topic]): scores[topic] for topic in scores})
    hits = found(reader, "nosuch words", source=Told(reader, nearness))
    assert topics(hits) == ["fonts", "pane"]


def test_words_that_find_it_all_need_no_meaning(reader: StoreReader) -> None:
    """Nor does a single word: without it, an entry is not an answer."""
    for query in ("cursor", "nosuchword", "title:nosuch title:words", '"nosuch words"'):
        hits = found(reader, query, source=Forbidden())
        assert hits.near == 0
    found(reader, QUERY, source=Forbidden(), mode="all")
    found(reader, QUERY, source=Forbidden(), sort="newest")


class Forbidden:
    """What must not be asked."""

    def nearest(self, query: str, topics: Sequence[str], newest: str) -> Nearness:
        raise AssertionError((query, topics, newest))


class Told:
    """Says what it was told, and knows the entries of a store."""

    def __init__(self, reader: StoreReader, nearness: Nearness) -> None:
        self.meaning = Meaning(reader, lambda _topics: {}, {})
        self.nearness = nearness

    def nearest(self, _query: str, _topics: Sequence[str], _newest: str) -> Nearness:
        return self.nearness


def test_pages_have_each_hit_once(reader: StoreReader) -> None:
    whole = topics(found(reader, mode="any"))
    pages, cursor = [], ""
    while True:
        hits = found(reader, mode="any", limit=1, cursor=cursor)
        pages += topics(hits)
        cursor = hits.cursor
        if not cursor:
            break
        # What is written in the meantime is not in the answer.
        write_thread(
            Path(reader.layout.root),
            f"later-{len(pages)}",
            [entry(90 + len(pages), title="Release a version to users")],
        )
    assert pages == whole


def test_the_next_page_compares_the_same_entries(reader: StoreReader) -> None:
    """Also those that are too far from the query to be in the answer."""
    scores = {"release": 0.8, "pane": 0.7, "versions": 0.6, "fonts": 0.1}
    ids = {topic: reader.thread(topic).entries[0].id for topic in scores}
    nearness = Nearness({(topic, ids[topic]): scores[topic] for topic in scores})
    hits = found(reader, "nosuch words", source=Told(reader, nearness), limit=1)
    assert (topics(hits), hits.total) == (["release"], 3)
    assert ids["fonts"] > max(ids[topic] for topic in scores if topic != "fonts")
    position = position_of(hits.cursor, terms=2)
    assert position is not None
    assert position.newest == ids["fonts"]


def test_a_walk_by_words_stays_one(reader: StoreReader) -> None:
    """Even if vectors are made during it."""
    query = "version letters release"
    away = Told(reader, Nearness({}, problem="it is away"))
    whole = topics(found(reader, query, source=away))
    first = found(reader, query, source=away, limit=1)
    second = found(reader, query, cursor=first.cursor)
    assert second.near == 0
    assert [*topics(first), *topics(second)] == whole
    assert len(whole) == 3


def test_a_walk_by_meaning_does_not_go_on_without(reader: StoreReader) -> None:
    """It would begin again: the scores of words alone are much smaller."""
    query = "version letters release"
    first = found(reader, query, limit=1)
    assert first.by_words == ""
    away = Told(reader, Nearness({}, problem="it is away"))
    with pytest.raises(InvalidInputError, match="not available now: it is away"):
        found(reader, query, source=away, cursor=first.cursor)
    rest = found(reader, query, cursor=first.cursor)
    assert [*topics(first), *topics(rest)] == topics(found(reader, query))
