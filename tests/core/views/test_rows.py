"""What is shown of a store: rows, pages that keep their order, entries."""

from __future__ import annotations

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
from wc_cli.ledger.index import cachefile
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.threads.model import FREE, Ball, Entry
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views import entries as entry_views
from wc_core.reading.views import overview
from wc_core.reading.views import rows as views
from wc_core.reading.views.listing import Listing
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter, ThreadRow

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


@pytest.mark.parametrize("meta", [True, False])
@pytest.mark.parametrize("mine", [CLAUDE, "claude (Pat)", "Claude  (pat)"])
def test_new_is_for_a_participant_however_they_are_spelt(
    tmp_path: Path, mine: str, *, meta: bool
) -> None:
    log = chain(entry(0, "Claude (pat)"), entry(1, PAT), entry(2, mine), entry(3, PAT))
    write_thread(tmp_path, "t", log, meta=meta)
    reader, me = reader_of(tmp_path), viewer(CLAUDE)
    (row,) = Listing(reader, me).rows()
    found = entry_views.new_ids(reader.thread("t"), me, reader.cursor("t", me.key))
    assert (row.new_for_you, found) == (1, {entry_id(3)})


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
    found = views.filter_rows(Listing(reader_of(store), me).rows(), wanted, me)
    assert "".join(topics(found)) == expected
    page = Overview(reader_of(store), me).page(wanted, 0)
    assert "".join(topics(page.rows)) == expected


# --- pages -------------------------------------------------------------------


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
            cachefile.refresh(folder, lambda: time.time_ns() + 10_000_000_000)
        looked = Overview(reader, viewer())
        rows = looked.matching(criteria)
        page = looked.page(criteria, limit)
        assert list(page.rows) == rows[:limit]
        assert (page.total, bool(page.cursor)) == (len(rows), len(rows) > limit)
        topics = [row.topic for row in rows]
        assert sorted(looked.topics(criteria)) == sorted(topics)
        assert looked.names(topics) == {row.topic: row.name for row in rows}
