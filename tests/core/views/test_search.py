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
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Ball, Entry
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import Hits, count_text, search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import ALL, ANY, AUTO, NEWEST, PHRASE, Question
from wc_core.reading.views.search.scan import may_have

if TYPE_CHECKING:
    from pathlib import Path

PAT, CLAUDE, _ = AGENTS


def ask(root: Path, query: str, where: Filter = Filter(), **more: object) -> Hits:  # noqa: B008 (frozen)
    question = Question(query, where)._replace(**more)  # type: ignore[arg-type]
    overview = Overview(StoreReader(str(root)), viewer())
    return search(IndexedSearch(overview), question)


def places(hits: Hits) -> list[tuple[str, int]]:
    return [(hit.topic, hit.numbered.idx) for hit in hits.hits]


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
        ("login", [("login", 0), ("login", 1)]),  # the topic counts, a title more
        ("claude", [("login", 1)]),  # and the author
        ("found the", [("login", 1)]),
        ("strasse", [("menu", 0)]),
        ("title menu", [("menu", 1), ("menu", 0)]),
        (" \t cookie\n", [("login", 1), ("menu", 0)]),
        ("(pat)", [("login", 1), ("menu", 1), ("menu", 0), ("login", 0)]),
        ("nothing-of-the-kind", []),
        ("cook", [("login", 1), ("menu", 0)]),  # the beginning of a word
        ("ookie", []),
        ('"cook"', []),
        ('"the cookie"', [("login", 1), ("menu", 0)]),
        ('"cookie the"', []),
        ('"the coo"*', [("login", 1), ("menu", 0)]),
        ("title:login", [("login", 0)]),
        ("topic:login", [("login", 1), ("login", 0)]),
        ('author:"Claude Code"', [("login", 1)]),
        ("body:menu", []),
    ],
)
def test_an_entry_that_has_every_word_is_found_the_best_first(
    store: Path, query: str, expected: list[tuple[str, int]]
) -> None:
    hits = ask(store, query, mode=ALL)
    assert places(hits) == expected
    assert (hits.total, hits.cursor, hits.unreadable) == (len(expected), "", ())
    assert sum(count for _, count in hits.topics) == hits.total


def test_entries_with_some_of_the_words_follow_those_with_all(store: Path) -> None:
    hits = ask(store, "what of the cookies and a second name?")
    assert places(hits) == [("login", 1), ("login", 0), ("menu", 0)]
    assert (hits.partial, hits.candidates) == (3, 3)  # none has "what"
    hits = ask(store, "cookie straße")
    assert places(hits) == [("menu", 0), ("login", 1)]
    assert [hit.is_partial for hit in hits.hits] == [False, True]
    assert count_text(hits) == "1 with every word, 1 with some"
    fields = hits.to_json("here", "")
    assert (fields["total"], fields["partial"], fields["candidates"]) == (2, 1, 2)
    assert [hit.get("partial") for hit in fields["hits"]] == [None, True]


@pytest.mark.parametrize(
    ("mode", "query", "expected"),
    [
        (ALL, "cookie second", []),
        (PHRASE, "the cookie", [("login", 1), ("menu", 0)]),
        (PHRASE, "cookie the", []),
        (PHRASE, "the coo", []),
        (ANY, "second straße", [("menu", 0), ("login", 0)]),
        (ANY, '"cookie the" second', [("login", 0)]),
        (ANY, "title:second body:second", []),
        (ANY, "topic:login title:found", [("login", 1)]),
        (ANY, "second cookie topic:menu", [("menu", 0)]),
        (ANY, "second cookie topic:menu author:claude", []),
        (AUTO, "second cookie absent author:claude", [("login", 1)]),
        (AUTO, "cookie author:claude", [("login", 1)]),
        (AUTO, "cookie topic:absent", []),
    ],
)
def test_which_entries_answer(
    store: Path, mode: str, query: str, expected: list[tuple[str, int]]
) -> None:
    assert places(ask(store, query, mode=mode)) == expected


def test_a_mention_alone_is_enough_for_any_word(store: Path) -> None:
    hits = ask(store, "", mode=ANY, about=Mentions(author="claude"))
    assert places(hits) == [("login", 1)]


def test_the_newest_first_wherever_the_words_are(store: Path) -> None:
    expected = [("login", 1), ("login", 0)]
    assert places(ask(store, "login", sort=NEWEST)) == expected
    any_word = ask(store, "login second cookie", mode=ANY, sort=NEWEST)
    assert places(any_word) == [("login", 1), ("menu", 0), ("login", 0)]
    with pytest.raises(InvalidInputError, match="no order 'oldest'"):
        ask(store, "login", sort="oldest")


@pytest.mark.parametrize("mode", [AUTO, ANY])
def test_what_is_written_during_a_walk_is_not_in_it(tmp_path: Path, mode: str) -> None:
    write_thread(tmp_path, "t", chain(*(entry(n, body="a needle") for n in range(9))))
    first = ask(tmp_path, "needle hay", limit=4, mode=mode)
    assert [idx for _, idx in places(first)] == [8, 7, 6, 5]
    # Better ones, in a store where these words are more common.
    better = [entry(n, title="needle hay", body="needle hay") for n in range(20, 40)]
    write_thread(tmp_path, "u", chain(*better))
    seen, cursor = places(first), first.cursor
    while cursor:
        hits = ask(tmp_path, "needle hay", limit=4, mode=mode, cursor=cursor)
        seen += places(hits)
        cursor = hits.cursor
    assert seen == [("t", idx) for idx in range(8, -1, -1)]


def test_a_walk_compares_the_same_entries_on_each_page(tmp_path: Path) -> None:
    """The newest of them are the worst, so that the answer only has older ones."""
    long = "of " * 6000
    short = [entry(n, body="alpha " * 6) for n in range(1, 31)]
    both = [entry(n, body=f"alpha beta {long}") for n in range(31, 43)]
    worst = [entry(n, body=f"alpha {long}") for n in range(43, 143)]
    write_thread(tmp_path, "t", chain(*short, *both, *worst))
    for number in range(30):  # in a larger store, a repeated word counts more
        write_thread(tmp_path, f"other-{number}", [entry(number)])
    whole = places(ask(tmp_path, "alpha beta gamma"))
    assert whole == [("t", idx) for idx in range(41, 31, -1)]
    seen: list[tuple[str, int]] = []
    cursor = ""
    while not seen or cursor:
        hits = ask(tmp_path, "alpha beta gamma", limit=3, cursor=cursor)
        seen += places(hits)
        cursor = hits.cursor
    assert seen == whole


def test_a_walk_comes_through_odd_ids(tmp_path: Path) -> None:
    ids = ["z~y", "z\x1b]0;x\x07", "y '\n", "\u202ex", "%41"]
    log = tmp_path / "graph/baseline/threads/t/entries.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(json_line(entry_id=one, body="word") for one in ids))
    found, cursor = [], ""
    for _ in ids:
        hits = ask(tmp_path, "word", limit=1, cursor=cursor)
        found += [hit.numbered.entry.id for hit in hits.hits]
        cursor = hits.cursor
        assert cursor.isprintable()
    assert (found, cursor) == (sorted(ids, reverse=True), "")


def test_of_many_threads_those_with_the_most_hits_are_named(tmp_path: Path) -> None:
    first, second = entry(1, PAT, title="A cookie"), entry(2, PAT, title="A cookie")
    for number in range(101):
        entries = (first, second) if number in {7, 90} else (first,)
        write_thread(tmp_path, f"topic-{number:03}", chain(*entries))
    renamed = chain(first, entry(3, PAT, action="rename", new_topic="crumb"))
    write_thread(tmp_path, "topic-003", renamed)
    hits = ask(tmp_path, "title:cookie")
    most = ("topic-007", 2), ("topic-090", 2), ("topic-000", 1), ("topic-001", 1)
    assert hits.topics[:6] == (*most, ("topic-002", 1), ("crumb", 1))
    assert (hits.topic_count, len(hits.topics), len(hits.hits)) == (101, 20, 103)
    assert {hit.name for hit in hits.hits if hit.topic == "topic-003"} == {"crumb"}


LONG = " ".join(f"w{n}" for n in range(60))


@pytest.mark.parametrize(
    ("body", "query", "snippet"),
    [
        ("a needle b", "needle", "a «needle» b"),
        ("a NeeDle b", "needle", "a «NeeDle» b"),
        ("two needles\nand\ta pin", "pin needle", "two «needles» and a «pin»"),
        ("", "title", "«title» 1"),
        ("nothing here", "title", "nothing here"),
        ("Straße needle", "needle", "Straße «needle»"),
        ("Straße needle", "strasse", "«Straße» needle"),
        ("Ein Café am Meer", "cafe", "Ein «Café» am Meer"),
        ("新しい認証を使う", "認証", "新しい«認証»を使う"),
        ("see src/auth.py, line 3", "src/auth.py", "see «src/auth.py», line 3"),
        (f"{LONG} needle {LONG}", "needle", None),
        (f"{LONG} needle ß {LONG}", "needle", None),
    ],
)
def test_a_snippet_is_one_line_around_the_first_match(
    tmp_path: Path, body: str, query: str, snippet: str | None
) -> None:
    write_thread(tmp_path, "t", [entry(1, body=body)])
    (hit,) = ask(tmp_path, query).hits
    if snippet is None:
        assert " «needle» " in hit.snippet
        assert len(hit.snippet) < 140
    else:
        assert hit.snippet == snippet


# --- all of it ---------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_a_walk_gives_each_hit_once_the_best_first(tmp_path: Path, limit: int) -> None:
    drafts = [
        (topic, step, title, body)
        for topic in ("one", "two")
        for step, title in enumerate(("fix it", "a fix", "no", "fix the login"))
        for body in ("login fix",)
    ]
    for topic in ("one", "two"):
        # Both threads have the same ids, as copies of a page do.
        own = [
            entry(step, title=title, body=body)
            for name, step, title, body in drafts
            if name == topic
        ]
        write_thread(tmp_path, topic, chain(*own))
    found, cursor = [], ""
    for _ in range(9):
        hits = ask(tmp_path, "login fix", limit=limit, cursor=cursor)
        assert (hits.total, hits.topics) == (8, (("one", 4), ("two", 4)))
        found += places(hits)
        cursor = hits.cursor
        assert hits.to_json("here", "").get("truncated", False) == bool(cursor)
        if not cursor:
            break
    all_in_title = [("two", 3), ("one", 3)]
    some = [("two", 1), ("one", 1), ("two", 0), ("one", 0)]
    assert found == [*all_in_title, *some, ("two", 2), ("one", 2)]


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (Mentions(file="src/auth.py"), [0, 2]),
        (Mentions(file="./src/"), [0, 2, 3]),
        (Mentions(file="auth.py"), [0, 2]),
        (Mentions(pr=12), [1, 4]),
        (Mentions(commit="ABCD12"), [0, 5]),
        (Mentions(branch="fix"), [5, 6]),
        (Mentions(branch="fix", commit="abcd"), [5]),
        (Mentions(file="nothing.txt"), []),
        (Mentions(author="claude"), [5]),
        (Mentions(author="Claude Code", branch="fix"), [5]),
        (Mentions(author="Claude Sam"), []),
        (Mentions(since=entry_id(4)), [5, 6]),
        (Mentions(until=entry_id(1)), [0, 1]),
        (Mentions(since=entry_id(0), until=entry_id(2), file="src/auth.py"), [2]),
    ],
)
def test_entries_are_found_by_what_they_are_about(
    tmp_path: Path, about: Mentions, expected: list[int]
) -> None:
    drafts = [
        entry(0, file_refs=("src/auth.py",), commit_refs=("abcd1234",)),
        entry(1, pr_refs=(12,)),
        entry(2, body="Look at lib/src/auth.py:12."),
        entry(3, title="All of src/ moves", body="Not src/auth.pyc, src/auth.py-old."),
        entry(4, body="Merged with #12, not #123 or 12."),
        entry(5, CLAUDE, body="Since abcd1299 it works.", code_branch="fix"),
        entry(6, code_branch="fix"),
    ]
    write_thread(tmp_path, "t", chain(*drafts))
    hits = ask(tmp_path, "", about=about)
    assert sorted(idx for _, idx in places(hits)) == expected
    for mode in (AUTO, ANY):
        both = ask(tmp_path, "title t absent", about=about, mode=mode)
        assert {idx for _, idx in places(both)} == set(expected)


# The same name with its accents as parts of the letters, and on their own.
COMPOSED, DECOMPOSED = "src/caf\u00e9/\u00fcber.py", "src/cafe\u0301/u\u0308ber.py"


@pytest.mark.parametrize("mode", [AUTO, ANY])
def test_a_word_that_becomes_common_during_a_walk_loses_no_hit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr("wc_core.lookup.ranking.COMMON", 3)
    log = [entry(n, title=("retry", "cookie")[n % 2], body="x") for n in range(6)]
    write_thread(tmp_path, "t", chain(*log))
    whole = places(ask(tmp_path, "retry cookie", mode=mode))
    assert len(whole) == 6
    page = ask(tmp_path, "retry cookie", mode=mode, limit=1)
    walked = places(page)
    later = [entry(n, title="retry", body="x") for n in range(6, 9)]
    write_thread(tmp_path, "t", chain(*log, *later))
    while page.cursor:
        page = ask(tmp_path, "retry cookie", mode=mode, limit=1, cursor=page.cursor)
        walked += places(page)
    assert walked == whole


@pytest.mark.parametrize(
    ("body", "wanted", "possible"),
    [
        ("A title.", ["title"], True),
        ("A title.", ["title", "absent"], False),
        ("A title.", ["itl"], True),
        ("A title.", ["topic"], True),
        ("A title.", [], True),
        ("Ein Café", ["cafe"], True),
        ("Ein Café", ["absent"], False),
        ("Ein C\u2028fé", ["absent"], True),  # written with an escape
    ],
)
def test_a_quick_look_rules_out_threads_without_the_words(
    body: str, wanted: list[str], *, possible: bool
) -> None:
    log = codec.to_line(entry(1, title="", body=body), 0)
    assert may_have("topic", log, wanted) is possible
    assert may_have("topic", None, wanted)


pieces = st.lists(
    st.sampled_from(
        ["ab", "Ab", "b", "ß", "SS", "é", "É", "e\u0301", "\n", "1", "認証"]
    )
)
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
    st.sampled_from(
        ["a", "ab", "AB", "b 1", "ss", "É", "one", "tw", "pat", "zz", "証", '"ab"']
    ),
    min_size=1,
    max_size=3,
).map(" ".join)


@relaxed
@given(written=drafts, query=queries, escaped=st.booleans())
def test_no_log_is_left_out_that_has_the_words(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[tuple[str, str, str, str]],
    query: str,
    *,
    escaped: bool,
) -> None:
    root = tmp_path_factory.mktemp("s")
    logs: dict[str, list[Entry]] = {}
    for step, (topic, title, body, agent) in enumerate(written):
        one = entry(step, agent, topic=topic, title=title, body=body)
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
    wanted = Question(query, Filter()).search_query()
    expected = {
        (topic, one.id)
        for topic, log in logs.items()
        for one in log
        if wanted.rank(one) is not None
    }
    hits = ask(root, query, mode=ALL).hits
    found = {(hit.topic, hit.numbered.entry.id) for hit in hits}
    assert found == expected
