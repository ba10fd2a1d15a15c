"""How many hits each value of a filter would leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import chain, entry, viewer, write_thread
from wc_core.ledger.threads.model import Ball
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search import answers
from wc_core.reading.views.search import query as queries
from wc_core.reading.views.search.answers import count_text, search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import NEWEST, Question

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wc_core.reading.views.search.answers import Hits

ANY = Mentions()


@pytest.fixture
def overview(tmp_path: Path) -> Overview:
    (tmp_path / ".local").mkdir()
    first = entry(1, "Pat", title="a needle", file_refs=("src/a.py", "src/b.py"))
    decided = entry(2, "Codex (Pat)", title="needle", kind="decision", body="")
    tagged = entry(3, "Pat", title="hay", tags_added=("urgent", "later"))
    write_thread(tmp_path, "t", chain(first, decided, tagged))
    passed = entry(
        4, "Codex (Pat)", title="needle", ball=Ball("Codex (Pat)"), code_branch="main"
    )
    closed = entry(5, "Pat", title="needles", status="CLOSED", file_refs=("src/a.py",))
    write_thread(tmp_path, "u", chain(passed, closed))
    return Overview(StoreReader(str(tmp_path)), viewer())


def answered(overview: Overview, criteria: Filter, about: Mentions = ANY) -> Hits:
    question = Question("needle", criteria, 1, about=about, counting=True)
    return search(IndexedSearch(overview), question)


def test_facets_count_all_hits_not_only_those_of_the_page(overview: Overview) -> None:
    hits = answered(overview, Filter())
    assert (len(hits.hits), hits.total) == (1, 4)
    assert hits.to_json("", "")["facets"] == {
        name: [{"value": value, "hits": count} for value, count in values]
        for name, values in {
            "status": [("CLOSED", 2), ("OPEN", 2)],
            "ball": [("Codex (Pat)", 2), ("anyone", 2)],
            "author": [("Pat", 4), ("Codex (Pat)", 2)],
            "kind": [("decision", 1)],
            "tag": [("later", 2), ("urgent", 2)],
            "branch": [("main", 1)],
            "file": [("src/a.py", 2), ("src/b.py", 1)],
        }.items()
    }
    plain = search(IndexedSearch(overview), Question("needle", Filter()))
    assert "facets" not in plain.to_json("", "")


FILTERS: dict[str, Callable[[str], Filter]] = {
    "status": lambda value: Filter(status=value),
    "ball": lambda value: Filter(ball=value),
    "tag": lambda value: Filter(tags=(value,)),
}
MENTIONS: dict[str, Callable[[str], Mentions]] = {
    "author": lambda value: Mentions(author=value),
    "kind": lambda value: Mentions(kind=value),
    "branch": lambda value: Mentions(branch=value),
    "file": Mentions,
}


def test_a_filter_leaves_as_many_hits_as_its_facet_says(overview: Overview) -> None:
    facets = answered(overview, Filter()).facets
    assert {facet.name for facet in facets} == FILTERS.keys() | MENTIONS.keys()
    for name, values in facets:
        for value, count in values:
            if name in FILTERS:
                hits = answered(overview, FILTERS[name](value))
            else:
                hits = answered(overview, Filter(), MENTIONS[name](value))
            assert hits.total == count, (name, value)


def test_of_very_many_hits_the_newest_are_counted(
    overview: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "RANKED", 2)
    monkeypatch.setattr(queries, "COUNTED", 3)
    hits = answered(overview, Filter())
    assert count_text(hits) == "more than 3 found"
    assert hits.topics == (("u", 2), ("t", 1))
    fields = hits.to_json("", "")
    assert (fields["total"], fields["more_than_total"]) == (3, True)
    assert fields["facets"]["kind"] == [{"value": "decision", "hits": 1}]
    everything = Question("needle", Filter(), sort=NEWEST)
    whole = search(IndexedSearch(overview), everything)
    assert (whole.total, whole.is_more) == (4, False)
