from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.observe.stores import Session, Store


@pytest.fixture
def two(store: Store) -> Store:
    """Two threads whose entries alternate in time: a1 b1 a2 b2 …"""
    pairs = [
        (
            store.entry("alpha", f"Alpha says number {number}."),
            store.give("beta", "Claude", body=f"Beta says number {number}."),
        )
        for number in range(1, 6)
    ]
    store.thread("alpha", *(one for one, _ in pairs))
    store.thread("beta", *(one for _, one in pairs), meta=False)
    return store


def test_updates_are_listed_in_the_order_they_came(
    two: Store, session: Session
) -> None:
    text = session.text("list_updates", since="2026-01-01T00:08:30Z")
    lines = text.replace(str(two.root), "STORE").splitlines()
    assert lines[0] == (
        "2 entries since 2026-01-01T00:08:30Z, oldest first, in the store STORE"
    )
    beta = '- beta entry 4 | 2026-01-01T00:10:00Z | author: Codex (pat) | "Entry 10"'
    beta += " | ball to: Claude"
    assert lines[2:] == [
        '- alpha entry 4 | 2026-01-01T00:09:00Z | author: Codex (pat) | "Entry 9"',
        "> Alpha says number 5.",
        beta,
        "> Beta says number 5.",
    ]


@pytest.mark.usefixtures("two")
def test_updates_can_be_walked_through(session: Session) -> None:
    seen: list[tuple[str, int]] = []
    since = "2026-01-01"
    for _ in range(9):
        found = session.json("list_updates", since=since, limit=3)
        assert len(found["entries"]) <= 3
        seen += [(one["topic"], one["idx"]) for one in found["entries"]]
        if not found.get("truncated"):
            break
        since = found["next_since"]
        text = session.text("list_updates", since=found["since"], limit=3)
        assert f'truncated: the next ones with since="{since}"' in text
    expected = [(topic, n) for n in range(5) for topic in ("alpha", "beta")]
    assert seen == expected


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("since", "count"),
    [("30d", 10), ("29d", 0), ("2026-01-01T00:05:30Z", 5), (None, 0), ("52w", 10)],
)
def test_updates_since_a_moment(
    session: Session, since: str | None, count: int
) -> None:
    assert len(session.json("list_updates", since=since)["entries"]) == count


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("since", "count"),
    [
        ("2026-01-01T00:05:30Z", 5),
        ("2026-01-01T02:05:30+02:00", 5),
        ("2026-01-01", 10),
        (None, 0),
        ("", 0),
    ],
)
def test_updates_since_a_time_under_its_other_name(
    session: Session, since: str | None, count: int
) -> None:
    found = session.json("list_updates", since_iso=since)
    assert len(found["entries"]) == count
    assert found["since"] == since or count == 0


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"since_iso": "3h"}, "2026-01-31T12:00:00Z"),
        ({"since_iso": "yesterday"}, "2026-01-31T12:00:00Z"),
        ({"since_iso": "2026-01-01", "since": "3h"}, "Use one of them."),
    ],
)
def test_updates_since_no_time(
    session: Session, arguments: dict[str, str], hint: str
) -> None:
    told = session.error("list_updates", **arguments)
    assert told["code"] == "INVALID_INPUT"
    assert hint in told["hint"]


@pytest.mark.parametrize("since", ["", "yesteryear", "-3h", "3y"])
def test_updates_since_nonsense(store: Store, session: Session, since: str) -> None:
    store.thread("plan")
    told = session.error("list_updates", since=since)
    assert told["code"] == "INVALID_INPUT"
    assert "90m" in told["hint"]


def test_search_shows_the_words_around_the_match(two: Store, session: Session) -> None:
    text = session.text("search_threads", query="BETA number 3")
    lines = text.replace(str(two.root), "STORE").splitlines()
    assert lines[0] == (
        '10 entries for "BETA number 3" (1 with every word, 9 with some), best first, '
        "in the store STORE"
    )
    assert lines[3] == (
        '- beta entry 2 | 2026-01-01T00:06:00Z | author: Codex (pat) | "Entry 6"'
    )
    assert lines[4] == "> «Beta» says «number» «3»."
    assert lines[5].endswith(" | some of the words")
    text = session.text("search_threads", query="BETA number 3", words="all")
    assert text.startswith('1 entry with "BETA number 3", best first, in the store')


@pytest.mark.usefixtures("two")
def test_search_by_what_entries_are_about(store: Store, session: Session) -> None:
    store.thread("gamma", store.entry("gamma", "See src/auth.py.", code_branch="fix"))
    for arguments in ({"file": "auth.py"}, {"branch": "fix"}):
        text = session.text("search_threads", **arguments)
        assert text.startswith("1 entry found, best first")
        assert "- gamma entry 0" in text
    assert "not a commit" in session.error("search_threads", commit="fix")["message"]


@pytest.mark.usefixtures("two")
def test_search_can_be_walked_through(session: Session) -> None:
    seen: list[tuple[str, int]] = []
    cursor = ""
    for _ in range(9):
        found = session.json("search_threads", query="says", limit=4, cursor=cursor)
        seen += [(one["topic"], one["idx"]) for one in found["hits"]]
        cursor = found.get("cursor", "")
        assert found.get("truncated", False) == bool(cursor)
        if not cursor:
            break
    expected = [(topic, n) for n in range(5) for topic in ("alpha", "beta")]
    assert seen == expected[::-1]
    text = session.text("search_threads", query="says", limit=4)
    assert text.startswith("4 of 10 entries")
    assert re.search(r'^truncated: the next ones with cursor="', text, re.MULTILINE)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "topics"),
    [
        ({}, {"alpha", "beta"}),
        ({"ball": "me"}, {"beta"}),
        ({"ball": "anyone"}, {"alpha"}),
        ({"status": "OPEN"}, {"alpha", "beta"}),
        ({"status": "CLOSED"}, set()),
        ({"status": "OPEN", "ball": "Codex"}, set()),
    ],
)
def test_search_filters(
    session: Session, arguments: dict[str, Any], topics: set[str]
) -> None:
    hits = session.json("search_threads", query="says", **arguments)["hits"]
    assert {one["topic"] for one in hits} == topics


def test_search_finds_nothing(store: Store, session: Session) -> None:
    store.thread("plan")
    assert session.text("search_threads", query="zebra").startswith("0 entries with")
    told = session.error("search_threads", query="  ")
    assert told["code"] == "INVALID_INPUT"
    told = session.error("search_threads", query="x", status="open")
    assert 'one of "", "OPEN", "IN_REVIEW", "BLOCKED", "CLOSED"' in told["hint"]


def test_threads_that_cannot_be_read_are_named(store: Store, session: Session) -> None:
    store.thread("plan")
    Path(store.layout.log("broken")).mkdir(parents=True)
    assert "broken" in session.text("search_threads", query="hello")
    assert "could not be read, see wc doctor: broken" in session.text(
        "list_updates", since="52w"
    )
    assert session.json("list_updates", since="52w")["unreadable"] == ["broken"]


def test_what_an_entry_is_about_is_marked_where_it_is_named(
    store: Store, session: Session
) -> None:
    body = f"{'Nothing yet. ' * 30}Then look at src/auth.py.\n{'More. ' * 50}"
    store.thread("long", store.entry("long", body))
    text = session.text("search_threads", file="src/auth.py")
    assert "Then look at «src/auth.py»." in text
