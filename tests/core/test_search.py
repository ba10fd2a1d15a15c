"""Search: what is found, in which order, and how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    entry_id,
    json_line,
    relaxed,
    viewer,
    write_thread,
)
from wc_core import search as searching
from wc_core.errors import InvalidInputError
from wc_core.model import Ball, Entry
from wc_core.reader import StoreReader
from wc_core.search import Hits, Question, search
from wc_core.views import Filter

if TYPE_CHECKING:
    from pathlib import Path

PAT, CLAUDE, _ = AGENTS


def ask(root: Path, query: str, where: Filter = Filter(), **more: object) -> Hits:  # noqa: B008 (frozen)
    question = Question(query, where)._replace(**more)  # type: ignore[arg-type]
    return search(StoreReader(str(root)), viewer(), question)


def places(hits: Hits) -> list[tuple[str, int]]:
    return [(hit.topic, hit.found.idx) for hit in hits.hits]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_thread(
        tmp_path,
        "login",
        chain(
            entry(
                1, PAT, title="Login fails", body="On the second try.", ball=Ball(PAT)
            ),
            entry(4, CLAUDE, title="Found it", body="The cookie has no name."),
        ),
    )
    write_thread(
        tmp_path,
        "menu",
        chain(entry(2, PAT, body="Straße of the cookie"), entry(3, status="CLOSED")),
    )
    return tmp_path


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cookie", [("login", 1), ("menu", 0)]),
        ("COOKIE name", [("login", 1)]),
        ("cookie second", []),
        ("login", [("login", 1), ("login", 0)]),  # the topic counts
        ("claude", [("login", 1)]),  # and the author
        ("found the", [("login", 1)]),
        ("strasse", [("menu", 0)]),
        ("title menu", [("menu", 1), ("menu", 0)]),
        (" \t cookie\n", [("login", 1), ("menu", 0)]),
        ("(pat)", [("login", 1), ("menu", 1), ("menu", 0), ("login", 0)]),
        ("nothing-of-the-kind", []),
    ],
)
def test_an_entry_that_has_every_word_is_found_the_newest_first(
    store: Path, query: str, expected: list[tuple[str, int]]
) -> None:
    hits = ask(store, query)
    assert places(hits) == expected
    assert (hits.total, hits.cursor, hits.unreadable) == (len(expected), "", ())


def test_only_threads_that_the_filter_lets_through_are_searched(store: Path) -> None:
    assert places(ask(store, "cookie", Filter(open_only=True))) == [("login", 1)]
    assert places(ask(store, "cookie", Filter(ball="me"))) == [("login", 1)]
    assert places(ask(store, "cookie", Filter(status="CLOSED"))) == [("menu", 0)]


@pytest.mark.parametrize("query", ["", " \n\t"])
def test_a_search_needs_a_word(store: Path, query: str) -> None:
    with pytest.raises(InvalidInputError):
        ask(store, query)


@pytest.mark.parametrize("cursor", ["zz", "a~b~c", "a b~c", "%FF~c"])
def test_a_foreign_cursor_is_refused(store: Path, cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="not a cursor of a search"):
        ask(store, "cookie", cursor=cursor)


def test_a_walk_comes_through_odd_ids(tmp_path: Path) -> None:
    ids = ["z~y", "z\x1b]0;x\x07", "y '\n", "\u202ex", "%41"]
    log = tmp_path / "graph/baseline/threads/t/entries.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(json_line(entry_id=one, body="word") for one in ids))
    found, cursor = [], ""
    for _ in ids:
        hits = ask(tmp_path, "word", limit=1, cursor=cursor)
        found += [hit.found.entry.id for hit in hits.hits]
        cursor = hits.cursor
        assert cursor.isprintable()
    assert (found, cursor) == (sorted(ids, reverse=True), "")


def test_only_what_is_shown_gets_a_snippet(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    real = searching._snippet

    def counting(one: Entry, words: list[str]) -> str:
        made.append(one.id)
        return real(one, words)

    monkeypatch.setattr(searching, "_snippet", counting)
    hits = ask(store, "title", limit=1)
    assert (hits.total, made) == (2, [entry_id(3)])


def test_a_thread_that_cannot_be_read_is_named_and_hides_no_hit(store: Path) -> None:
    broken = store / "graph/baseline/threads/broken/entries.jsonl"
    broken.mkdir(parents=True)
    hits = ask(store, "cookie")
    assert len(hits.hits) == 2
    assert hits.unreadable == ("broken",)
    assert hits.to_json("here", "cookie")["unreadable"] == ["broken"]


def test_a_hit_has_the_shape_of_a_hit(store: Path) -> None:
    hits = ask(store, "second")
    assert hits.to_json("here", "second") == {
        "store": "here",
        "query": "second",
        "total": 1,
        "hits": [
            {
                "topic": "login",
                "idx": 0,
                "id": entry_id(1),
                "at": "2026-01-01T12:00:01Z",
                "author": PAT,
                "title": "Login fails",
                "snippet": "On the «second» try.",
            }
        ],
    }


LONG = " ".join(f"w{n}" for n in range(60))


@pytest.mark.parametrize(
    ("body", "query", "snippet"),
    [
        ("a needle b", "needle", "a «needle» b"),
        ("a NeeDle b", "needle", "a «NeeDle» b"),
        ("two needles\nand\ta pin", "pin needle", "two «needle»s and a pin"),
        ("", "title", "«title» 1"),
        ("nothing here", "title", "nothing here"),
        ("Straße needle", "needle", "Straße needle"),
        (f"{LONG} needle {LONG}", "needle", None),
        (f"{LONG} needle ß {LONG}", "needle", " ".join(LONG[:120].split())),
    ],
)
def test_a_snippet_is_one_line_around_the_first_match(
    tmp_path: Path, body: str, query: str, snippet: str | None
) -> None:
    write_thread(tmp_path, "t", [entry(1, body=body)])
    (hit,) = ask(tmp_path, query).hits
    if snippet is None:
        assert hit.snippet.endswith("w14 w15 w16 w") or "«needle»" in hit.snippet
        assert len(hit.snippet) < 140
    else:
        assert hit.snippet == snippet


# --- all of it ---------------------------------------------------------------


pieces = st.lists(st.sampled_from(["ab", "Ab", "b", "ß", "SS", "é", "É", "\n", "1"]))
drafts = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", "Three"]),
        pieces.map(" ".join),
        pieces.map("".join),
        st.sampled_from(AGENTS),
    ),
    max_size=6,
)
queries = st.lists(
    st.sampled_from(["a", "ab", "AB", "b 1", "ss", "É", "one", "tw", "pat", "zz"]),
    min_size=1,
    max_size=3,
).map(" ".join)


def naive(logs: dict[str, list[Entry]], query: str) -> set[tuple[str, str]]:
    """Every word is in the title, body, topic or author, whatever its case."""
    return {
        (topic, one.id)
        for topic, log in logs.items()
        for one in log
        if all(
            any(
                word.casefold() in text.casefold()
                for text in (one.title, one.body, topic, one.agent)
            )
            for word in query.split()
        )
    }


@relaxed
@given(written=drafts, query=queries, limit=st.integers(1, 3), escaped=st.booleans())
def test_search_finds_what_a_naive_search_finds_page_by_page(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[tuple[str, str, str, str]],
    query: str,
    limit: int,
    *,
    escaped: bool,
) -> None:
    root = tmp_path_factory.mktemp("s")
    logs: dict[str, list[Entry]] = {}
    for step, (topic, title, body, agent) in enumerate(written):
        # Every other entry has an id that the one before has in its thread.
        one = entry(step // 2, agent, topic=topic, title=title, body=body)
        if one.id not in {other.id for other in logs.get(topic, [])}:
            logs.setdefault(topic, []).append(one)
    for topic, log in logs.items():
        write_thread(root, topic, log)
        if escaped:  # as older tools write JSON
            path = root / f"graph/baseline/threads/{topic}/entries.jsonl"
            lines = (
                json_line(
                    entry_id=one.id, title=one.title, body=one.body, agent=one.agent
                )
                for one in log
            )
            path.write_bytes(b"".join(lines))
    expected = naive(logs, query)
    found, cursor = [], ""
    for _ in range(20):
        hits = ask(root, query, limit=limit, cursor=cursor)
        assert hits.total == len(expected)
        found += [(hit.topic, hit.found.entry.id) for hit in hits.hits]
        cursor = hits.cursor
        if not cursor:
            break
        assert hits.to_json("here", query)["truncated"] is True
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert [one[1] for one in found] == sorted((one[1] for one in found), reverse=True)
