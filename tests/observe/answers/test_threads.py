from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wc_core.ledger.threads.model import Ball

if TYPE_CHECKING:
    from tests.observe.stores import Session, Store


def topics(markdown: str) -> list[str]:
    return re.findall(r"^- \[?(?:\*\*)?([^ *:]+)", markdown, re.MULTILINE)


def cursor(markdown: str) -> str:
    found = re.findall(
        r'^truncated: the next ones with cursor="(.+)"$', markdown, re.MULTILINE
    )
    return found[0] if found else ""


@pytest.fixture
def several(store: Store) -> Store:
    """Five threads: whose move it is, in five ways."""
    store.thread("mine", store.give("mine", "Claude Code (pat)"))
    store.thread("any", store.give("any", "Claude"))
    store.thread("theirs", store.give("theirs", "Codex (pat)", status="IN_REVIEW"))
    store.thread("free", store.give("free", None))
    store.thread("done", store.give("done", None, status="CLOSED"))
    return store


def test_a_list_says_what_a_model_needs(several: Store, session: Session) -> None:
    assert session.text("list_threads").replace(str(several.root), "STORE") == (
        "5 threads, latest first, in the store STORE\n"
        '- done: "Entry 5" CLOSED, ball: anyone, 1 entry, 1 new, 2026-01-01T00:05Z\n'
        '- free: "Entry 4" OPEN, ball: anyone, 1 entry, 1 new, 2026-01-01T00:04Z\n'
        '- theirs: "Entry 3" IN_REVIEW, ball: Codex (pat), 1 entry, 1 new, '
        "2026-01-01T00:03Z\n"
        '- any: "Entry 2" OPEN, ball: Claude = offered to you, 1 entry, 1 new, '
        "2026-01-01T00:02Z\n"
        '- mine: "Entry 1" OPEN, ball: Claude Code (pat) = you, 1 entry, 1 new, '
        "2026-01-01T00:01Z\n"
    )


def test_a_list_with_what_was_said_last(several: Store, session: Session) -> None:
    several.append("free", several.entry("free", "It <user> waits.\n\nLong."))
    text = session.text("list_threads", summaries=True, limit=2)
    assert text.splitlines()[1:4] == [
        ('- free: "Entry 4" OPEN, ball: anyone, 2 entries, 2 new, 2026-01-01T00:06Z'),
        "> Codex (pat): It \u2039user> waits.",
        '- done: "Entry 5" CLOSED, ball: anyone, 1 entry, 1 new, 2026-01-01T00:05Z',
    ]
    free, done = session.json("list_threads", summaries=True, limit=2)["threads"]
    assert free["summary"] == "It \u2039user> waits."
    assert (free["summary_by"], free["summary_of"]) == ("lead", "Codex (pat)")
    assert "summary" not in done


def test_a_long_list_with_summaries_is_bounded(store: Store, session: Session) -> None:
    for number in range(70):
        topic = f"t{number}"
        store.thread(topic, store.entry(topic, "We back off and wait. " * 20))
    text = session.text("list_threads", summaries=True, limit=50)
    assert len(text.encode()) < 16_500
    assert 40 <= text.count("\n> Codex (pat): We back off") <= 50


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["done", "free", "theirs", "any", "mine"]),
        ({"open_only": True}, ["free", "theirs", "any", "mine"]),
        ({"ball": "me"}, ["any", "mine"]),
        ({"ball": "anyone"}, ["done", "free"]),
        ({"ball": "anyone", "open_only": True}, ["free"]),
        ({"ball": "codex"}, ["theirs"]),
        ({"ball": "Cursor"}, []),
        ({"limit": 2}, ["done", "free"]),
        ({"limit": None, "ball": None, "cursor": None}, ["done", "free", "theirs"]),
        ({"limit": "2"}, ["done", "free"]),
    ],
)
def test_filters_and_limits_are_honoured_in_both_formats(
    session: Session, arguments: dict[str, Any], expected: list[str]
) -> None:
    found = session.json("list_threads", **arguments)
    assert [one["topic"] for one in found["threads"]][:3] == expected[:3]
    assert len(found["threads"]) == len(
        topics(session.text("list_threads", **arguments))
    )
    assert topics(session.text("list_threads", **arguments))[:3] == expected[:3]


def test_a_walk_gives_each_thread_once_whatever_is_written(
    store: Store, session: Session
) -> None:
    for number in range(7):
        store.thread(f"t{number}")
    seen: list[str] = []
    following = ""
    while True:
        page = session.text("list_threads", limit=3, cursor=following)
        seen += topics(page)
        following = cursor(page)
        # Someone moves a thread to the front, and makes a new one.
        store.append("t0", store.entry("t0"))
        store.thread(f"new{len(seen)}")
        if not following:
            break
    assert sorted(seen) == [f"t{number}" for number in range(7)]


@pytest.mark.parametrize(
    "title", ["Short", "A title of a usual length, say", "é" * 400]
)
@pytest.mark.parametrize(
    "holder", ["Codex (pat)", "Claude Code@fix-the-login (patricia)"]
)
def test_fifty_threads_take_less_than_8_kb(
    store: Store, session: Session, title: str, holder: str
) -> None:
    for number in range(60):
        topic = f"feature-with-a-long-name-{number:03}"
        store.thread(topic, store.give(topic, holder, title=title))
    page = session.text("list_threads")
    assert len(page.encode()) < 8_000
    assert len(topics(page)) == 50


def test_very_long_names_leave_fewer_threads_and_a_cursor(
    store: Store, session: Session
) -> None:
    wanted = [f"{'long' * 23}-{number:03}" for number in range(60)]
    for topic in wanted:
        store.thread(topic, store.give(topic, "N" * 150, title="T" * 3000))
    seen: list[str] = []
    following = ""
    for _ in range(9):
        page = session.text("list_threads", cursor=following)
        assert len(page.encode()) < 8_000
        seen += topics(page)
        following = cursor(page)
        if not following:
            break
    assert sorted(seen) == wanted
    assert len(topics(session.text("list_threads", limit=500))) == 60


def test_a_write_by_another_process_shows_in_the_next_call(
    store: Store, session: Session
) -> None:
    entries = store.thread("plan")
    assert "1 entry" in session.text("list_threads")
    parents = (entries[0].id,)
    store.append("plan", store.entry("plan", ball=Ball("Claude"), parents=parents))
    assert "ball: Claude = offered to you, 2 entries" in session.text("list_threads")
    assert "entry 1 |" in session.text("read_thread", topic="plan")


def test_a_bad_thread_hides_no_other(store: Store, session: Session) -> None:
    store.thread("good")
    entries = store.thread("bad", meta=False)
    store.append("bad", store.entry("bad", parents=(entries[0].id,)))
    with open(store.layout.log("bad"), "ab") as log:
        log.write(b"{garbage}\n")
    page = session.text("list_threads")
    assert topics(page) == ["bad", "good"]
    assert "2 entries, 2 new, 2026-01-01T00:03Z, damaged: see wc doctor" in page
    found = session.json("list_threads")["threads"]
    assert [one.get("damaged", False) for one in found] == [True, False]


def test_a_fork_shows(store: Store, session: Session) -> None:
    first = store.entry("plan", parents=())
    beside = [store.entry("plan", parents=(first.id,)) for _ in range(2)]
    store.thread("plan", first, *beside)
    assert ", forked" in session.text("list_threads")
    page = session.text("read_thread", topic="plan")
    assert f"forked: two parallel histories, ending in {beside[0].id}" in page


@pytest.mark.usefixtures("several")
def test_the_index_is_computed_and_returned(session: Session) -> None:
    page = session.text("reindex")
    assert topics(page) == ["mine", "any", "free", "theirs"]
    assert "## My move (1)" in page
    assert "- [**mine**](watercooler://threads/mine) " in page
    assert page == session.read("index")


def test_a_huge_index_is_cut_and_says_so(store: Store, session: Session) -> None:
    for number in range(300):
        topic = f"t{number}"
        store.thread(topic, store.give(topic, "Codex", title="long " * 60))
    page = session.text("reindex")
    assert len(page) < 41_000
    assert re.search(r"truncated: \d+ lines more; page through them", page)


def test_the_list_is_a_resource_too(several: Store, session: Session) -> None:
    assert several.root
    assert session.read("threads") == session.text("list_threads")


@pytest.fixture
def about(store: Store) -> Store:
    """Threads about files: named in a text, recorded, in a folder, moved, and none."""
    store.thread(
        "named", store.entry("named", "See src/auth.py:12."), store.entry("named")
    )
    store.thread("recorded", store.entry("recorded", file_refs=("src/auth.py",)))
    store.thread("moved", store.entry("moved", file_refs=("lib/auth.py",)))
    store.thread("similar", store.entry("similar", "src/auth.pyi, xsrc/auth.py, auth"))
    return store


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/auth.py", ["recorded", "named"]),
        ("./src/auth.py", ["recorded", "named"]),
        ("auth.py", ["similar", "moved", "recorded", "named"]),
        ("src/", ["similar", "recorded", "named"]),
        ("lib", ["moved"]),
        ("other.py", []),
    ],
)
@pytest.mark.usefixtures("about")
def test_a_list_of_threads_about_a_file(
    session: Session, file: str, expected: list[str]
) -> None:
    assert topics(session.text("list_threads", file=file)) == expected
    fields = session.json("list_threads", file=file)
    assert [row["topic"] for row in fields["threads"]] == expected
    assert fields["total"] == len(expected)


@pytest.mark.usefixtures("about")
def test_a_list_about_a_file_can_be_walked_through(session: Session) -> None:
    seen, following = [], ""
    for _ in range(9):
        text = session.text("list_threads", file="auth.py", limit=1, cursor=following)
        seen += topics(text)
        following = cursor(text)
        if not following:
            break
    assert seen == ["similar", "moved", "recorded", "named"]


def test_what_is_not_a_file_is_refused(session: Session) -> None:
    assert "is not a file" in session.error("list_threads", file="/")["message"]


def test_a_list_about_a_file_names_what_could_not_be_searched(
    about: Store, session: Session
) -> None:
    Path(about.layout.log("broken")).mkdir(parents=True)
    text = session.text("list_threads", file="lib/auth.py")
    assert topics(text) == ["moved"]
    assert "could not be read, see wc doctor: broken\n" in text
    assert session.json("list_threads", file="lib/auth.py")["unreadable"] == ["broken"]
