"""Several stores that are searched as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import chain, entry, viewer, write_thread
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.nearness import Nearness
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import ANY, NEWEST, Question
from wc_core.reading.views.search.together import Together, own_topic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wc_core.reading.views.search.answers import Hits

QUESTIONS = (
    Question("needle", Filter()),
    Question("needle hay 3", Filter()),
    Question("needle absent", Filter()),
    Question("needle hay", Filter(), mode=ANY),
    Question("hay", Filter(), sort=NEWEST),
    Question("needle hay absent", Filter(), mode=ANY, sort=NEWEST),
    Question("tag:urgent", Filter(tags=("urgent",))),
)


class Told:
    """Says what it was told about any query."""

    def __init__(self, nearness: Nearness) -> None:
        self._nearness = nearness

    def nearest(self, query: str, topics: object, newest: str) -> Nearness:
        """Like `MeaningSource.nearest`."""
        del query, topics, newest
        return self._nearness


NO_MEANING = Told(Nearness({}, problem="there is no model"))


TOPICS = ("t", "u", "v", "w")


def write_store(root: Path, topics: Sequence[str]) -> None:
    (root / ".local").mkdir(parents=True)
    for topic in topics:
        number = TOPICS.index(topic)
        log = [
            entry(
                10 * step + number,
                title="a needle" if step == number else "hay",
                body=f"hay and hay {step}" if step % 2 else "a needle",
                tags_added=("urgent",) if number == step == 1 else (),
            )
            for step in range(4)
        ]
        write_thread(root, topic, chain(*log))


def part(root: Path, meaning: Told = NO_MEANING) -> IndexedSearch:
    return IndexedSearch(Overview(StoreReader(str(root)), viewer()), meaning)


def pages(
    parts: dict[str, IndexedSearch], question: Question, limit: int
) -> list[Hits]:
    together = Together(parts)
    asked = question._replace(limit=limit)
    found = [search(together, asked)]
    while found[-1].cursor:
        following = asked._replace(cursor=found[-1].cursor)
        found.append(search(together, following))
    return found


def entries(found: list[Hits]) -> list[tuple[str, str]]:
    return [(hit.name, hit.numbered.entry.id) for page in found for hit in page.hits]


@pytest.mark.parametrize("question", QUESTIONS)
def test_threads_of_two_stores_are_found_like_those_of_one(
    tmp_path: Path, question: Question
) -> None:
    write_store(tmp_path / "all", TOPICS)
    for name, own in (("one", ("t", "u")), ("two", ("v", "w"))):
        write_store(tmp_path / name, own)
    whole = part(tmp_path / "all")
    wanted = search(whole, question)
    parts = {name: part(tmp_path / name) for name in ("one", "two")}
    for limit in (0, 1, 3):
        found = pages(parts, question, limit)
        assert entries(found) == entries([wanted])
        assert found[0].total == wanted.total
        assert found[0].partial == wanted.partial
        assert dict(found[0].topics) == dict(wanted.topics)
        assert found[0].by_words == wanted.by_words
    counted = question._replace(counting=True)
    alone = search(whole, counted)
    assert pages(parts, counted, 1)[0].facets == alone.facets


def test_threads_of_the_same_name_are_walked_once_each(tmp_path: Path) -> None:
    # The same ids, too: stores that were imported from copies.
    for name in ("one", "two"):
        write_store(tmp_path / name, ("t", "u"))
    parts = {name: part(tmp_path / name) for name in ("one", "two")}
    for question in QUESTIONS:
        for limit in (1, 3):
            found = pages(parts, question, limit)
            hits = [(h.topic, h.numbered.entry.id) for page in found for h in page.hits]
            assert len(hits) == len({*hits}) == found[0].total


def test_what_one_store_knows_of_meaning_counts_for_all(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_store(tmp_path / name, ("t", "u"))
    parts = {name: part(tmp_path / name) for name in ("one", "two")}
    question = Question("hay absent", Filter())
    assert "no model" in pages(parts, question, 0)[0].by_words
    reader = StoreReader(str(tmp_path / "two"))
    near = next(
        entry.id
        for entry in reader.thread("t").entries
        if "hay" not in f"{entry.title}{entry.body}"
    )
    parts["two"] = part(tmp_path / "two", Told(Nearness({("t", near): 0.9})))
    (found,) = pages(parts, question, 0)
    assert not found.by_words
    assert found.near == 1
    (hit,) = (hit for hit in found.hits if hit.is_near)
    assert Together.store_of(hit.topic) == "two"
    assert (own_topic(hit.topic), hit.numbered.entry.id) == ("t", near)
