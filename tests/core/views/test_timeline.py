"""Spans of time in which someone held a ball, and their picture."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    NOON_MS,
    chain,
    entries,
    entry,
    forked_logs,
    linear_logs,
    relaxed,
    texts,
)
from wc_core.base.names import Directory, parse
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.model import FREE, Ball, Base, Entry
from wc_core.ledger.threads.reader import Thread
from wc_core.ledger.threads.snapshot import Snapshot
from wc_core.reading.views import timeline
from wc_core.reading.views.drawing.badges import HUES
from wc_core.reading.views.drawing.timelinesvg import svg
from wc_core.reading.views.timeline import (
    BallSpan,
    Chart,
    Track,
    ball_spans,
    clip_spans,
    local_ticks,
    make_chart,
    ticks,
)

A, B, _ = AGENTS
HOUR_MS = 3600 * 1000
NOW_MS = NOON_MS + HOUR_MS
DAY_MS = 24 * HOUR_MS
SVG = "{http://www.w3.org/2000/svg}"


def key(name: str) -> str:
    return Directory().key(parse(name))


def track(found: list[Entry], topic: str = "t", now_ms: int = NOW_MS) -> Track:
    state = folding.fold(topic, found)
    title = state.title
    held = ball_spans(state, found, now_ms, key)
    return Track(topic, title, state.status, state.ball, held)


def told(found: list[Entry]) -> list[tuple[str | None, str, int, int]]:
    each = track(found).spans
    return [(one.holder, one.status, one.ms // 60_000, one.entries) for one in each]


def drawn(picture: str) -> ET.Element:
    return ET.fromstring(picture)


def words(picture: str) -> list[str]:
    return ["".join(one.itertext()) for one in drawn(picture).iter(f"{SVG}text")]


def test_a_span_ends_where_the_ball_moves_or_the_status_changes() -> None:
    found = chain(
        entry(0, A, ball=Ball(A)),
        entry(60, A, ball=Ball(B)),
        entry(120, B),
        entry(180, B, status="IN_REVIEW"),
        entry(600, B, ball=FREE, status="CLOSED"),
    )
    assert told(found) == [
        (A, "OPEN", 1, 1),
        (B, "OPEN", 2, 2),
        (B, "IN_REVIEW", 7, 1),
        (None, "CLOSED", 50, 1),
    ]


def test_what_an_older_tool_did_is_one_span_that_is_not_known() -> None:
    foreign = [entry(0, A), entry(60, B), entry(120, A)]
    base = Base(ball=B, status="BLOCKED")
    ours = entry(180, B, base=base, parents=(foreign[-1].id,), ball=Ball(A))
    each = track([*foreign, ours]).spans
    assert [(one.known, one.holder, one.status, one.entries) for one in each] == [
        (False, None, "BLOCKED", 2),
        (True, B, "BLOCKED", 1),
        (True, A, "BLOCKED", 1),
    ]


@relaxed
@given(
    linear_logs()
    | linear_logs(recorded=False)
    | forked_logs()
    | st.lists(entries, max_size=4),
    st.none() | st.builds(Base, ball=st.none() | st.sampled_from(AGENTS)),
    st.integers(NOON_MS - HOUR_MS, NOON_MS + HOUR_MS),
)
def test_spans_tile_the_time_and_end_where_the_fold_does(
    found: list[Entry], meta: Base | None, now_ms: int
) -> None:
    log = folding.in_effect_order(found)
    state = folding.fold("t", log, meta)
    each = ball_spans(state, log, now_ms, key)
    assert bool(each) == bool(log)
    for one, following in pairwise(each):
        assert one.since <= one.until == following.since
        same = {(o.holder, o.status, o.known) for o in (one, following)}
        assert len(same) == 2
    assert sum(one.entries for one in each) == len(log)
    if each:
        assert each[-1].until == now_ms
        assert (each[-1].holder, each[-1].status) == (state.ball, state.status)


def test_a_chart_names_holders_by_how_long_they_held_in_their_last_spelling() -> None:
    first = track(chain(entry(0, A, ball=Ball("codex(PAT)")), entry(60, ball=Ball(B))))
    second = track(chain(entry(0, A, ball=Ball(A))), "u")
    found = make_chart([first, second], Directory())
    assert found.holders == (A, B)
    assert found.places == {"codex(PAT)": 0, A: 0, B: 1}
    assert (found.since, found.until, found.total) == (NOON_MS, NOW_MS, 2)


def test_a_chart_is_cut_to_its_window_and_its_limit() -> None:
    first = track(chain(entry(0, A, ball=Ball(A)), entry(600, A, ball=Ball(B))))
    found = make_chart([first, first], Directory(), since=NOON_MS + 1_200_000, limit=1)
    assert [one.holder for one in found.tracks[0].spans] == [B]
    assert (found.since, found.until - found.since) == (NOON_MS + 1_200_000, 2_400_000)
    fields = found.to_json("~/store")
    assert (fields["total"], fields["truncated"]) == (2, True)
    assert fields["threads"][0]["spans"] == [
        {
            "holder": B,
            "since": "2026-01-01T12:20:00.000Z",
            "until": "2026-01-01T13:00:00.000Z",
            "seconds": 2400,
            "status": "OPEN",
            "entries": 1,
        }
    ]


def test_a_window_after_everything_shows_the_holder_of_now() -> None:
    one = track(chain(entry(0, A, ball=Ball(A))))
    assert [s.ms for s in clip_spans(one.spans, NOW_MS)] == [0]
    assert make_chart([one], Directory(), since=NOW_MS + 1).since == NOW_MS


@pytest.mark.parametrize(
    ("length", "most", "labels"),
    [
        (HOUR_MS // 12, 6, ["12:00", "12:01", "12:02", "12:03", "12:04", "12:05"]),
        (HOUR_MS, 3, ["12:00", "12:30", "13:00"]),
        (DAY_MS, 4, ["12:00", "Jan 02", "12:00"]),
        (30 * DAY_MS, 5, ["Jan 05", "Jan 12", "Jan 19", "Jan 26"]),
        (200 * DAY_MS, 7, ["Feb", "Mar", "Apr", "May", "Jun", "Jul"]),
        (4000 * DAY_MS, 6, ["2028", "2030", "2032", "2034", "2036"]),
        (0, 5, ["12:00"]),
    ],
)
def test_ticks_stand_at_round_moments(
    length: int, most: int, labels: list[str]
) -> None:
    assert [one.label for one in ticks(NOON_MS, NOON_MS + length, most)] == labels


def test_local_ticks_stand_at_round_moments_of_the_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "XYZ-5:30")
    time.tzset()
    try:
        found = local_ticks(NOON_MS, NOON_MS + DAY_MS, 4)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [tick.label for tick in found] == ["Jan 02", "12:00"]
    midnight = NOON_MS + 12 * HOUR_MS - 5 * HOUR_MS - HOUR_MS // 2
    assert found[0].at == midnight


@given(st.integers(-(10**13), 10**14), st.integers(0, 10**14), st.integers(0, 40))
def test_ticks_are_few_in_order_and_inside(start: int, length: int, most: int) -> None:
    found = [one.at for one in ticks(start, start + length, most)]
    assert len(found) <= max(1, most)
    assert found == sorted(set(found))
    assert all(start <= one <= start + length for one in found)


def test_the_picture_says_who_when_and_how_long() -> None:
    log = chain(entry(0, A, ball=Ball(A)), entry(1800, A, ball=Ball(B)))
    picture = svg(make_chart([track(log, "login")], Directory()))
    assert {"login", "Claude Code (pat)", "12:30", "UTC"} <= set(words(picture))
    titles = ["".join(one.itertext()) for one in drawn(picture).iter(f"{SVG}title")]
    assert f"{A} · 30m from 2026-01-01T12:00Z · OPEN · 1 entry" in titles


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"ball": FREE}, "anyone may take it"),
        ({"ball": Ball(A), "status": "BLOCKED"}, "BLOCKED"),
        ({"ball": Ball(A), "status": "IN_REVIEW"}, "IN_REVIEW"),
        ({"ball": Ball(A), "status": "CLOSED"}, "CLOSED"),
    ],
)
def test_the_legend_says_what_its_marks_mean(
    fields: dict[str, Any], expected: str
) -> None:
    plain = svg(make_chart([track(chain(entry(0, ball=Ball(A))))], Directory()))
    marked = svg(make_chart([track(chain(entry(0, **fields)))], Directory()))
    assert expected not in words(plain)
    assert expected in words(marked)


@relaxed
@given(texts, texts, texts, st.integers(0, 2000))
def test_the_picture_is_xml_without_anything_to_run_or_to_fetch(
    topic: str, title: str, holder: str, width: int
) -> None:
    hostile = f'{holder}<script>alert("1")</script>\x1b[31m\ufffe&x;'
    span = BallSpan(hostile, NOON_MS, NOW_MS)
    one = Track(topic, title + hostile, hostile, hostile, (span,))
    picture = svg(make_chart([one], Directory()), width)
    allowed = {"svg", "style", "rect", "g", "title", "text", "line"}
    for element in drawn(picture).iter():
        assert element.tag.removeprefix(SVG) in allowed
        assert not {
            name for name in element.attrib if "href" in name or name[:2] == "on"
        }
    assert "url(" not in picture
    assert picture.count("http") - picture.count("2000/svg") == (
        topic + title + holder + hostile
    ).count("http")


def test_there_is_a_picture_of_nothing() -> None:
    assert "Nothing to show." in words(svg(Chart(0, 0)))
    assert "Nothing to show." in words(
        svg(make_chart([Track("t", "", "OPEN", None)], Directory()))
    )


def test_a_thread_of_many_moves_is_drawn_in_few_bars() -> None:
    each = tuple(
        BallSpan(AGENTS[i % 2], NOON_MS + i * 10, NOON_MS + i * 10 + 10)
        for i in range(9000)
    )
    picture = svg(make_chart([Track("busy", "", "OPEN", A, each)], Directory()))
    assert len(list(drawn(picture).iter(f"{SVG}rect"))) < 2000


def test_more_holders_than_colours_each_have_a_name_in_the_legend() -> None:
    names = [f"Agent{one} (pat)" for one in range(3 * len(HUES))]
    log = chain(*(entry(i * 60, A, ball=Ball(name)) for i, name in enumerate(names)))
    assert set(names) <= set(words(svg(make_chart([track(log)], Directory()))))


def test_a_thread_of_a_store_has_a_track() -> None:
    log = tuple(chain(entry(0, A, ball=Ball(B))))
    snapshot = Snapshot(folding.fold("t", log), 0, fresh=False, name="t")
    thread = Thread(snapshot, log)
    found = timeline.thread_track(thread, NOW_MS, Directory())
    assert (found.topic, found.title, found.ball) == ("t", "title 0", B)
    assert [one.holder for one in found.spans] == [B]
