"""Searching in the cache: the same hits as by reading the logs, whatever was done to
the store since it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.cli.index.histories import (
    Step,
    Store,
    a_log,
    begun_store,
    histories,
    without_cache,
)
from tests.core.strategies import chain, entry, entry_id, relaxed, viewer
from wc_core.lookup import ranking
from wc_core.lookup.mentions import Mentions
from wc_core.lookup.words import Term
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search import answers as search_views
from wc_core.reading.views.search import query as queries
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import ANY, NEWEST, SORTS, LooseQuery, Question
from wc_core.reading.views.updates import updates

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.views.search.answers import Hits

QUESTIONS = (
    Question("title", Filter(), limit=3),
    Question("title 1 author:codex", Filter()),
    Question('"title 2" text', Filter(), limit=1),
    Question("", Filter(), about=Mentions(branch="main"), limit=2),
    Question("w", Filter(), about=Mentions(kind="question")),
    Question("title 1 nowhere", Filter(), limit=2),
    Question("titles texts 3", Filter(), limit=2, mode=ANY),
    Question("title 4 absent", Filter(), about=Mentions(branch="main"), mode=ANY),
    Question("topic:t text absent", Filter(), limit=3, mode=ANY, sort=NEWEST),
    Question("title text absent author:pat topic:t", Filter(), limit=2),
    Question("body:text 1 4 absent", Filter(), limit=2, mode=ANY),
    Question("title", Filter(), limit=2, sort=NEWEST),
    Question("", Filter(), about=Mentions(author="Codex"), limit=2),
    Question(
        "title 1 absent", Filter(), about=Mentions(author="pat", since=entry(1).id)
    ),
    Question("title", Filter(), about=Mentions(until=entry(2).id), limit=1),
    Question("urgent", Filter(), limit=2),
    Question("urgent later tag title", Filter(), mode=ANY),
    Question("tag:urgent title absent", Filter(), limit=3),
    Question('tag:"tag 2"', Filter(), sort=NEWEST),
    Question("title", Filter(), sort=NEWEST, limit=2, counting=True),
    Question("title 1 absent", Filter(), counting=True),
    Question("", Filter(), about=Mentions(branch="main"), counting=True),
    Question('"title 1"', Filter(), limit=2),
    Question('title:"title 0" "codex"', Filter()),
)


def indexed(reader: StoreReader) -> tuple[IndexedSearch, list[int]]:
    """What searches in the cache, and how many threads it lacked."""
    read: list[int] = []
    return IndexedSearch(Overview(reader, viewer(), read.append)), read


def pages(engine: IndexedSearch, question: Question) -> list[Hits]:
    """Every page of the hits."""
    found = [search(engine, question)]
    while found[-1].cursor:
        found.append(search(engine, question._replace(cursor=found[-1].cursor)))
    return found


def assert_the_same(reader: StoreReader, question: Question) -> list[int]:
    """The same pages with the cache and without; how many threads it lacked."""
    engine, read = indexed(reader)
    by_cache = pages(engine, question)
    with without_cache(reader):
        assert by_cache == pages(indexed(reader)[0], question)
    return read


@given(histories)
@relaxed
def test_hits_are_the_same_with_the_cache_and_without(history: list[Step]) -> None:
    with begun_store() as store:
        for step in history:
            store.take(step)
        for question in QUESTIONS:
            assert_the_same(store.reader, question)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


@pytest.mark.parametrize("is_late", [False, True])
def test_a_list_is_found_and_shown_with_its_first_entry(
    store: Store, *, is_late: bool
) -> None:
    first, listed = entry(0, title="plan"), ("rotate keys",)
    log = chain(first, entry(1, items_added=listed), entry(2, items_checked=("x.1",)))
    store.write("list", log[:1] if is_late else log)
    store.refresh()
    if is_late:
        store.write("list", log)
        store.refresh()
    for query in ("plan", "rotate", "keys"):
        assert not any(assert_the_same(store.reader, Question(query, Filter())))


@pytest.mark.parametrize("most", [0, 5, 20])
def test_many_matches_are_found_newest_first(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(queries, "COUNTED", most)
    monkeypatch.setattr(search_views, "RANKED", 3)
    for number in range(6):
        titles = ("needle here", "here", "a needle and here", "none")
        log = chain(
            *(
                entry(
                    number + 40 * step,
                    title=titles[(number + step) % 4],
                    body="here" if step else "a needle here",
                )
                for step in range(4)
            )
        )
        store.write(f"topic-{number}", log)
    store.refresh()
    store.write("topic-2", log)
    for query in ("here", "needle here", "here author:codex", "hay"):
        for limit in (1, 4, 7, 100):
            for sort in SORTS:
                question = Question(
                    query, Filter(), limit=limit, sort=sort, counting=True
                )
                assert_the_same(store.reader, question)


@pytest.mark.parametrize("common", [2, 6, 100])
def test_some_of_the_words_are_counted_in_the_threads_that_are_searched(
    store: Store, monkeypatch: pytest.MonkeyPatch, common: int
) -> None:
    monkeypatch.setattr(ranking, "COMMON", common)
    for number in range(4):
        store.write(f"t{number}", [text._replace(body="hay") for text in a_log(3)])
    store.refresh()
    # The words of the first version are still in the file.
    store.write("t1", [entry(7, title="some hay", body="and straw")])
    store.refresh()
    terms = tuple(Term((word,)) for word in ("title", "hay", "straw"))
    mentions = (Mentions(), Mentions(until=entry(9).id))
    chosen = (Filter(topics=frozenset(names)) for names in ({"t1"}, {"t2", "t0"}))
    for criteria in (Filter(), Filter(status="OPEN"), *chosen):
        for about in mentions:
            for limit in (0, 2):
                query = LooseQuery(terms, (), about, limit, weights=(1, 2, 3))
                engine, read = indexed(store.reader)
                by_cache = engine.counts(criteria, query)
                candidates = engine.candidates(criteria, query)
                assert read[0] == 0
                assert candidates.total
                with without_cache(store.reader):
                    engine, _ = indexed(store.reader)
                    assert engine.counts(criteria, query) == by_cache
                    assert engine.candidates(criteria, query) == candidates


def test_what_sqlite_cannot_have_is_searched_for_in_the_logs(store: Store) -> None:
    store.write("t", a_log(3))
    store.refresh()
    about = Mentions(branch="\udcff")
    assert_the_same(store.reader, Question("", Filter(), about=about))


@given(histories)
@relaxed
def test_updates_are_the_same_with_the_cache_and_without(history: list[Step]) -> None:
    with begun_store() as store:
        for step in history:
            store.take(step)
        engine, _ = indexed(store.reader)
        overview = Overview(store.reader, viewer())
        for since in (entry_id(0), entry_id(3), "2020-01-01"):
            questions = ((1, ""), (5, ""), (4, "main"), (100, ""), (0, ""), (0, "main"))
            for limit, branch in questions:
                by_index = updates(
                    overview, since, 0, limit, branch=branch, open_engine=lambda: engine
                )
                by_logs = updates(overview, since, 0, limit, branch=branch)
                assert by_index == by_logs
