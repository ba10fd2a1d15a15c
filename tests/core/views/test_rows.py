"""What is shown of a store: rows, pages that keep their order, entries."""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    entry_id,
    json_line,
    linear_logs,
    nobody_special,
    relaxed,
    viewer,
    write_thread,
)
from wc_cli.ledger.index import overviewfile
from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.ledger.threads.model import FREE, Ball, Entry
from wc_core.ledger.threads.reader import StoreReader
from wc_core.ledger.threads.snapshot import Cursor
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views import overview
from wc_core.reading.views import rows as views
from wc_core.reading.views.entries import Numbered
from wc_core.reading.views.listing import thread_rows
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter, RowPage, ThreadRow

PAT, CLAUDE, SAM = AGENTS
ALL = Filter()


def reader_of(root: Path) -> StoreReader:
    return StoreReader(str(root))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Threads whose latest move was, from the first to the last: d, b, a, c."""
    write_thread(
        tmp_path,
        "a",
        chain(entry(1, PAT, ball=Ball(PAT), code_branch="fix"), entry(6, CLAUDE)),
    )
    write_thread(tmp_path, "b", chain(entry(2, SAM, ball=Ball(CLAUDE))), meta=True)
    write_thread(
        tmp_path, "c", chain(entry(3, PAT), entry(7, PAT, status="CLOSED", ball=FREE))
    )
    write_thread(tmp_path, "d", chain(entry(0, PAT, status="IN_REVIEW")))
    return tmp_path


def topics(rows: list[ThreadRow] | tuple[ThreadRow, ...]) -> list[str]:
    return [one.topic for one in rows]


# --- rows --------------------------------------------------------------------


def test_the_latest_move_comes_first(store: Path) -> None:
    assert topics(thread_rows(reader_of(store), viewer())) == ["c", "a", "b", "d"]


def test_a_row_is_a_thread_as_its_viewer_sees_it(store: Path) -> None:
    found = {one.topic: one for one in thread_rows(reader_of(store), viewer(PAT))}
    assert found["a"].to_json() == {
        "topic": "a",
        "title": "title 1",
        "status": "OPEN",
        "ball": PAT,
        "updated_at": "2026-01-01T12:00:06Z",
        "entry_count": 2,
        "have_ball": True,
        "new_for_you": 1,
        "branch": "fix",
    }
    assert found["a"].updated_by == CLAUDE
    assert "branch" not in found["b"].to_json()
    other = {one.topic: one for one in thread_rows(reader_of(store), viewer(CLAUDE))}
    assert [other[one].new_for_you for one in "abcd"] == [0, 1, 2, 1]
    assert [other[one].have_ball for one in "abcd"] == [False, True, False, False]


def test_what_was_read_is_not_new(store: Path) -> None:
    reader, me = reader_of(store), viewer(CLAUDE)
    path = Path(reader.cursor_path("c", me.key))
    path.parent.mkdir(parents=True)
    fields = {"key": me.key, "heads": [entry_id(3)], "count": 1}
    path.write_text(json.dumps(fields))
    found = {one.topic: one for one in thread_rows(reader, me)}
    assert found["c"].new_for_you == 1
    thread = reader.thread("c")
    assert entry_views.new_ids(thread, me, reader.cursor("c", me.key)) == {entry_id(7)}
    assert entry_views.new_ids(thread, me, Cursor("x")) == {entry_id(3), entry_id(7)}


@pytest.mark.parametrize("meta", [True, False])
@pytest.mark.parametrize("mine", [CLAUDE, "claude (Pat)", "Claude  (pat)"])
def test_new_is_for_a_participant_however_they_are_spelt(
    tmp_path: Path, mine: str, *, meta: bool
) -> None:
    log = chain(entry(0, "Claude (pat)"), entry(1, PAT), entry(2, mine), entry(3, PAT))
    write_thread(tmp_path, "t", log, meta=meta)
    reader, me = reader_of(tmp_path), viewer(CLAUDE)
    (row,) = thread_rows(reader, me)
    found = entry_views.new_ids(reader.thread("t"), me, reader.cursor("t", me.key))
    assert (row.new_for_you, found) == (1, {entry_id(3)})


def test_a_bad_thread_hides_no_other(store: Path) -> None:
    folder = store / "graph/baseline/threads"
    (folder / "b/meta.json").unlink()
    with (folder / "b/entries.jsonl").open("ab") as log:
        log.write(b"garbage\n")
    (folder / "a/entries.jsonl").unlink()
    (folder / "a/entries.jsonl").mkdir()
    (folder / "never-begun").mkdir()
    rows = thread_rows(reader_of(store), viewer())
    assert topics(rows) == ["c", "b", "d", "a"]
    assert [one.damaged for one in rows] == [False, True, False, True]
    assert rows[1].to_json()["damaged"] is True
    assert rows[3].status == "?"
    assert "doctor" in rows[3].title


def test_a_fork_is_shown(tmp_path: Path) -> None:
    root = entry(0, parents=())
    log = [
        root,
        entry(1, PAT, parents=(root.id,)),
        entry(2, CLAUDE, parents=(root.id,), ball=FREE, status="OPEN", reason="why"),
    ]
    write_thread(tmp_path, "t", log)
    reader = reader_of(tmp_path)
    (row,) = thread_rows(reader, viewer())
    assert row.to_json()["forked"] is True
    thread = reader.thread("t")
    found = entry_views.numbered(thread)
    assert [one.forked for one in found] == [False, True, True]
    assert entry_views.thread_head(thread, "here")["heads"] == [
        entry_id(1),
        entry_id(2),
    ]
    assert found[2].to_json() == {
        "idx": 2,
        "id": entry_id(2),
        "at": "2026-01-01T12:00:02Z",
        "author": CLAUDE,
        "role": "",
        "type": "Note",
        "title": "title 2",
        "body": "",
        "ball": None,
        "status": "OPEN",
        "reason": "why",
        "parents": [root.id],
        "forked": True,
    }


# --- filters -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), "cabd"),
        (Filter(open_only=True), "abd"),
        (Filter(status="CLOSED"), "c"),
        (Filter(status="IN_REVIEW"), "d"),
        (Filter(open_only=True, status="CLOSED"), ""),
        (Filter(ball="me"), "a"),
        (Filter(ball=" ME "), "a"),
        (Filter(ball="Claude"), "b"),
        (Filter(ball="claude code (pat)"), "b"),
        (Filter(ball="claude (sam)"), ""),
        (Filter(ball="anyone"), "cd"),
        (Filter(ball="nobody", open_only=True), "d"),
        (Filter(ball=" "), "cabd"),
    ],
)
def test_a_filter_lets_through_what_it_names(
    store: Path, wanted: Filter, expected: str
) -> None:
    me = viewer(PAT)
    found = views.filter_rows(thread_rows(reader_of(store), me), wanted, me)
    assert "".join(topics(found)) == expected
    page = Overview(reader_of(store), me).page(wanted, 0)
    assert "".join(topics(page.rows)) == expected


# --- pages -------------------------------------------------------------------


def test_a_page_says_whether_there_is_more(store: Path) -> None:
    reader, me = reader_of(store), viewer()
    page = Overview(reader, me).page(ALL, 3)
    assert (topics(page.rows), page.total) == (["c", "a", "b"], 4)
    shape = page.to_json("here")
    assert (shape["store"], shape["truncated"]) == ("here", True)
    assert len(shape["threads"]) == 3
    rest = Overview(reader, me).page(ALL, 3, shape["cursor"])
    assert (topics(rest.rows), rest.cursor, rest.total) == (["d"], "", 4)
    assert set(rest.to_json("here")) == {"store", "threads"}
    assert Overview(reader, me).page(ALL, 4).cursor == ""
    assert Overview(reader, me).page(Filter(open_only=True), 1).total == 3


def test_a_store_without_threads_has_one_empty_page(tmp_path: Path) -> None:
    assert Overview(reader_of(tmp_path), viewer()).page(ALL, 5) == RowPage(())


@pytest.mark.parametrize("cursor", ["x", "a~b", "a~b~c~d", "a~ ~c", "%FF~b~c"])
def test_a_foreign_cursor_is_refused(store: Path, cursor: str) -> None:
    with pytest.raises(InvalidInputError):
        Overview(reader_of(store), viewer()).page(ALL, 5, cursor)


def walk(root: Path, limit: int, between: list[Any], wanted: Filter = ALL) -> list[str]:
    """The topics of all pages; before each next page something happens."""
    cursor, found, events = "", [], iter(between)
    for _ in range(99):
        page = Overview(reader_of(root), viewer()).page(wanted, limit, cursor)
        found += topics(page.rows)
        cursor = page.cursor
        if not cursor:
            return found
        event = next(events, None)
        if event is not None:
            event()
    raise AssertionError(found)


counts = st.lists(st.integers(1, 3), min_size=1, max_size=6)
appends = st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=6)


@relaxed
@given(
    sizes=counts,
    random=st.randoms(),
    later=appends,
    limit=st.integers(1, 3),
    meta=st.booleans(),
)
def test_a_walk_sees_every_thread_of_its_start_once_whatever_is_written_in_the_meantime(
    sizes: list[int], random: Any, later: list[list[int]], limit: int, *, meta: bool
) -> None:
    logs: dict[str, list[Any]] = {f"t{n}": [] for n in range(len(sizes))}
    owners = [topic for topic, n in zip(logs, sizes, strict=True) for _ in range(n)]
    random.shuffle(owners)
    for step, topic in enumerate(owners):
        logs[topic].append(entry(step))
    clock = iter(range(len(owners), 1000))

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for topic, log in logs.items():
            write_thread(root, topic, log, meta=meta)

        def append(numbers: list[int]) -> None:
            for number in numbers:
                topic = f"t{number}"  # an old one, or one that is new
                logs.setdefault(topic, []).append(entry(next(clock)))
                write_thread(root, topic, logs[topic], meta=meta)

        order = sorted(logs, key=lambda topic: logs[topic][-1].id, reverse=True)
        events = [lambda numbers=numbers: append(numbers) for numbers in later]
        assert walk(root, limit, events) == order


def test_a_walk_from_long_ago_is_not_followed(tmp_path: Path) -> None:
    for number in range(302):
        write_thread(tmp_path, f"t{number}", [entry(number)], meta=True)
    overview = Overview(reader_of(tmp_path), viewer())
    cursor = overview.page(ALL, 3).cursor
    assert len(overview.page(ALL, 3, cursor).rows) == 3
    for old in ("~~", f"{entry_id(0)}~{entry_id(0)}~t0"):
        with pytest.raises(InvalidInputError, match="More threads have changed"):
            overview.page(ALL, 3, old)


def test_a_walk_comes_through_odd_ids_and_unreadable_threads(tmp_path: Path) -> None:
    for topic, identity in (("a", "x~y"), ("b", "!-~!!"), ("c", "~"), ("d", "")):
        write_thread(tmp_path, topic, [])
        log = tmp_path / f"graph/baseline/threads/{topic}/entries.jsonl"
        log.write_bytes(json_line(entry_id=identity))
    broken = tmp_path / "graph/baseline/threads/e/entries.jsonl"
    broken.mkdir(parents=True)
    assert walk(tmp_path, 1, []) == ["c", "a", "b", "e", "d"]


@given(st.lists(st.text(st.characters()), min_size=1, max_size=3))
def test_a_cursor_can_say_anything_and_needs_no_quotes(parts: list[str]) -> None:
    cursor = overview.cursor_of(*parts)
    assert re.fullmatch(r"[\w%.~-]*", cursor, re.ASCII)
    quoted = (quote(part, safe="", errors="surrogatepass") for part in parts)
    assert cursor == "~".join(part.replace("~", "%7E") for part in quoted)
    assert overview.cursor_parts(cursor, len(parts), "a list") == parts


def test_a_thread_that_gets_unreadable_during_a_walk_is_still_shown() -> None:
    with nobody_special() as root:
        for step, topic in enumerate("ab"):
            write_thread(root, topic, chain(entry(step)))

        def spoil() -> None:
            # Its meta says there is a new entry, its log can no longer tell.
            write_thread(root, "a", chain(entry(0), entry(8)), meta=True)
            (root / "graph/baseline/threads/a/entries.jsonl").chmod(0)

        assert walk(root, 1, [spoil]) == ["b", "a"]


# --- entries -----------------------------------------------------------------


def test_a_thread_is_shown_with_its_entries(store: Path) -> None:
    thread = reader_of(store).thread("a")
    found = entry_views.numbered(thread)
    shape = entry_views.read_json(thread, "here", found[:1], found[1].idx)
    assert shape == {
        "store": "here",
        "topic": "a",
        "title": "title 1",
        "status": "OPEN",
        "ball": PAT,
        "participants": [PAT, CLAUDE],
        "entries": [found[0].to_json()],
        "next_entry_index": 1,
        "truncated": True,
    }
    assert "truncated" not in entry_views.read_json(thread, "here", found)


def test_damage_is_shown_where_it_is(tmp_path: Path) -> None:
    write_thread(tmp_path, "t", [entry(1), entry(1, body="more")])
    log = tmp_path / "graph/baseline/threads/t/entries.jsonl"
    with log.open("ab") as file:
        file.write(b"garbage\n")
    shape = entry_views.thread_head(reader_of(tmp_path).thread("t"), "here")
    name = "graph/baseline/threads/t/entries.jsonl"
    assert shape["damage"] == [
        f"{name}:1: entry {entry_id(1)} exists in two versions",
        f"{name}:3: not JSON",
    ]


def test_an_entry_shows_only_what_it_has() -> None:
    plain = Numbered(0, entry(1)).to_json()
    assert set(plain) == {
        "idx", "id", "at", "author", "role", "type", "title", "body",
    }  # fmt: skip
    full = entry(1, action="say", ball=Ball(PAT), parents=(), body="long")
    shape = Numbered(4, full).to_json(body="short")
    assert (shape["action"], shape["ball"], shape["body"]) == ("say", PAT, "short")
    assert "parents" not in shape


# --- finding -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("fix-login", "fix-login"),
        (" Fix-LOGIN ", "fix-login"),
        ("café", "café"),
        ("Cafe\u0301", "café"),
        ("Old", "Old"),
        ("a%20b", "a%20b"),
    ],
)
def test_a_thread_is_found_however_its_name_is_spelt(
    tmp_path: Path, words: str, topic: str
) -> None:
    for name in ("fix-login", "café", "Old", "a%20b"):
        write_thread(tmp_path, name, [entry(1)])
    assert reader_of(tmp_path).find(words) == topic


@pytest.mark.parametrize("words", ["fix-logni", "../fix-login", "", "a b", "\ud800"])
def test_a_thread_that_is_not_there_is_not_found(tmp_path: Path, words: str) -> None:
    write_thread(tmp_path, "fix-login", [entry(1)])
    with pytest.raises(NotFoundError) as caught:
        reader_of(tmp_path).find(words)
    assert "wc list" in caught.value.hint


FOUND = [entry(1), entry(2), entry(3, id=f"{entry_id(3)}-claude-t"), entry(4, id="x1")]


@pytest.mark.parametrize(
    ("wanted", "idx"),
    [
        ("0", 0),
        ("#1", 1),
        (" 2 ", 2),
        (entry_id(1), 0),
        (f"#{entry_id(2)}", 1),
        (entry_id(3), 2),
        (f"{entry_id(3)}-claude-t", 2),
        ("x", 3),
        (entry_id(1)[:6], None),  # more than one begins so
        ("4", None),
        ("999999999", None),
        ("0123456789", None),
        ("-1", None),
        ("", None),
        ("#", None),
        ("y", None),
    ],
)
def test_an_entry_is_found_by_number_or_id(
    tmp_path: Path, wanted: str, idx: int | None
) -> None:
    write_thread(tmp_path, "t", FOUND)
    thread = reader_of(tmp_path).thread("t")
    if idx is not None:
        assert entry_views.find_entry(thread, wanted).idx == idx
        return
    with pytest.raises(NotFoundError) as caught:
        entry_views.find_entry(thread, wanted)
    assert "0 to 3: wc read t" in caught.value.hint


def test_an_id_counts_before_ids_that_begin_with_it(tmp_path: Path) -> None:
    write_thread(tmp_path, "t", [entry(1, id="x"), entry(2, id="x1")])
    assert entry_views.find_entry(reader_of(tmp_path).thread("t"), "x").idx == 0


def test_a_thread_without_entries_has_none_to_find(tmp_path: Path) -> None:
    write_thread(tmp_path, "t", [])
    log = tmp_path / "graph/baseline/threads/t/entries.jsonl"
    log.write_text("garbage\n")
    with pytest.raises(NotFoundError) as caught:
        entry_views.find_entry(reader_of(tmp_path).thread("t"), "0")
    assert "none" in caught.value.hint


@given(
    logs=st.lists(linear_logs(), max_size=4),
    limit=st.integers(1, 4),
    criteria=st.sampled_from(
        (Filter(), Filter(open_only=True), Filter(status="IN_REVIEW"))
    ),
    is_indexed=st.booleans(),
)
@relaxed
def test_the_first_page_and_the_names_are_those_of_all_rows(
    logs: list[list[Entry]], limit: int, criteria: Filter, *, is_indexed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".local").mkdir()
        for number, log in enumerate(logs):
            write_thread(Path(folder), f"topic-{number}", log)
        reader = StoreReader(folder)
        if is_indexed:
            overviewfile.rebuild(reader, lambda: time.time_ns() + 10_000_000_000)
        looked = Overview(reader, viewer())
        rows = looked.matching(criteria)
        page = looked.page(criteria, limit)
        assert list(page.rows) == rows[:limit]
        assert (page.total, bool(page.cursor)) == (len(rows), len(rows) > limit)
        topics = [row.topic for row in rows]
        assert sorted(looked.topics(criteria)) == sorted(topics)
        assert looked.names(topics) == {row.topic: row.name for row in rows}
