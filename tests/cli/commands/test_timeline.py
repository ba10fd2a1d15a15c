"""``wc timeline``: on a terminal's width, as JSON, as files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine
from tests.core.strategies import NOON_MS, chain, entry, write_thread
from wc_cli.run.terminal.style import Style
from wc_cli.run.terminal.timeline import Drawing, chart_lines, track_bars
from wc_cli.run.widths import width_of
from wc_core.base.names import Directory
from wc_core.ledger.threads.model import FREE, Ball
from wc_core.reading.views.timeline import BallSpan, Chart, Track, make_chart

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repo

HOUR_MS = 3600 * 1000
CODEX = "Codex (pat)"
PLAIN, COLOURED = Style(color=False), Style(color=True)


def span(who: str | None, start: float, end: float, status: str = "OPEN") -> BallSpan:
    """Hours after noon."""
    start_ms, end_ms = (NOON_MS + int(one * HOUR_MS) for one in (start, end))
    return BallSpan(who, start_ms, end_ms, status, 1)


def of(*tracks: Track) -> Chart:
    return make_chart(tracks, Directory())


def track(topic: str, *spans: BallSpan, status: str = "OPEN") -> Track:
    return Track(topic, "T", status, None, spans)


SAMPLE = of(
    track("login", span(CODEX, 0, 5), span("Pat", 5, 5.1), span(None, 5.1, 10)),
    track("pay", span("Pat", 2, 10, "BLOCKED"), status="BLOCKED"),
    track("done", span(CODEX, 0, 4), span(None, 4, 10, "CLOSED"), status="CLOSED"),
)


def test_a_chart_without_colours_is_names_letters_and_signs() -> None:
    assert chart_lines(SAMPLE, Drawing(60, PLAIN)) == [
        "UTC    12:00          15:00           18:00           21:00",
        "login  |Codex (pat)──────────────B|anyone···················",
        "! pay            |Pat BLOCKED───────────────────────────────",
        "x done |Codex (pat)─────────|anyone CLOSED··················",
        "",
        "A Codex (pat)  B Pat  · anyone may take it  ! BLOCKED",
        "x CLOSED",
    ]


def test_a_narrow_chart_has_letters_where_names_do_not_fit() -> None:
    assert chart_lines(SAMPLE, Drawing(26, PLAIN, ascii=True))[:4] == [
        "UTC    12:00",
        "login  |A--------|anyone..",
        "! pay     |Pat BLOCKED----",
        "x done |A------|anyone....",
    ]


def test_with_colours_the_text_is_the_same_width_and_a_block_of_its_holder() -> None:
    coloured = chart_lines(SAMPLE, Drawing(60, COLOURED))
    assert "\033[97;48;5;29m Codex (pat)" in coloured[1]
    assert "\033[97;48;5;240;4m Pat BLOCKED" in coloured[2]
    for one in coloured:
        assert width_of(re.sub(r"\033\[[0-9;]*m", "", one)) <= 60


@pytest.mark.parametrize("width", [20, 40, 79, 200])
@pytest.mark.parametrize("look", [PLAIN, COLOURED])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_no_line_is_wider_than_the_terminal_nor_obeyed(
    width: int,
    look: Style,
    ascii_only: bool,  # noqa: FBT001
) -> None:
    wild = of(
        track("テスト計画を書く\x1b[2J" * 3, span("審査する人 (pat)" * 3, 0, 9)),
        track("עברית-נושא", span("קודקס", 1, 1.001), span(None, 1.001, 9)),
        track(
            "x" * 90, BallSpan(None, NOON_MS, NOON_MS + 9, known=False), span("A", 0, 9)
        ),
        track("none"),
    )
    for one in chart_lines(wild, Drawing(width, look, ascii_only)):
        bare = re.sub(r"\033\[[0-9;]*m", "", one)
        assert width_of(bare) <= max(width, 22)
        assert "\033" not in bare
        assert bare.isascii() or not ascii_only


def test_a_column_shows_who_held_longest_in_it_and_none_is_left_out() -> None:
    busy = track("t", *(span(f"A{i % 3}", i / 100, (i + 1) / 100) for i in range(1000)))
    found = track_bars(of(busy), busy, 20)
    assert [one.start for one in found] == list(range(20))
    assert sum(one.width for one in found) == 20


def test_a_window_without_a_round_moment_says_where_it_begins() -> None:
    short = of(track("t", BallSpan("A", NOON_MS + 1, NOON_MS + 500)))
    assert chart_lines(short, Drawing(40, PLAIN))[0] == "UTC 2026-01-01 12:00"


def test_a_chart_of_nothing_has_no_lines() -> None:
    assert chart_lines(Chart(0, 0), Drawing(80, PLAIN)) == []


# --- the command -------------------------------------------------------------


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository that tests here look at and do not change."""
    repo = Machine(tmp_path_factory.mktemp("story")).repo()
    repo.ok("new", "auth", "--title", "Keys", "--to", "Codex", "--force")
    repo.ok("new", "bills", "--title", "Round up?")
    old = chain(entry(0, "Alex", ball=Ball("Alex")), entry(60, "Alex", ball=FREE))
    write_thread(repo.store, "old", old)
    return repo


def test_all_that_moved_lately_and_no_other(story: Repo) -> None:
    done = story.ok("timeline")
    assert [one.split()[0] for one in done.out.splitlines()[1:3]] == ["bills", "auth"]
    assert "old" not in done.out
    everything = story.json("timeline", "--since", "2020-01-01")
    assert [one["topic"] for one in everything["threads"]] == ["bills", "auth", "old"]


def test_named_threads_are_shown_from_their_beginning(story: Repo) -> None:
    found = story.json("timeline", "old")
    spans = [(s["holder"], s["seconds"] > 60) for s in found["threads"][0]["spans"]]
    assert spans == [("Alex", False), (None, True)]
    assert found["since"] == "2026-01-01T12:00:00.000Z"
    assert found["holders"] == ["Alex"]


def test_a_limit_says_what_it_left_out(story: Repo) -> None:
    done = story.ok("timeline", "--limit", "1", "--since", "30d")
    assert "auth" not in done.out
    assert done.err == "1 more: wc timeline --limit 0 --since 30d\n"
    found = story.json("timeline", "--limit", "1")
    assert (found["total"], found["truncated"]) == (2, True)


def test_where_no_thread_moved_it_says_how_to_see_one(machine: Machine) -> None:
    repo = machine.repo()
    done = repo.ok("timeline")
    assert (done.out, done.err.partition(".")[0]) == ("", "No threads here")
    repo.ok("init")
    write_thread(repo.store, "old", chain(entry(0, "Alex")))
    assert repo.ok("timeline").err == (
        "Nothing moved in the last 7 days. Earlier: wc timeline --since 30d\n"
    )
    nothing = repo.ok("timeline", "--since", "2999-01-01").err
    assert nothing == (
        "Nothing moved since 2999-01-01. See what there is: wc list --all\n"
    )


def test_pictures_and_pages_go_to_files_or_are_printed(
    story: Repo, tmp_path: Path
) -> None:
    picture, page = tmp_path / "a.svg", tmp_path / "a.html"
    done = story.ok("timeline", "--svg", str(picture), "--html", str(page))
    assert (done.out, done.err) == ("", f"wrote {picture}\nwrote {page}\n")
    assert picture.read_text().startswith("<svg ")
    html = page.read_text()
    assert html.count("<svg ") == 1
    assert "<script" not in html
    assert not re.search(r"(?:src|href)=|url\(", html)
    printed = story.ok("timeline", "--svg", "-").out
    assert printed.startswith("<svg ")
    both = story.ok("timeline", "--json", "--svg", str(picture))
    assert json.loads(both.out)["threads"]


@pytest.mark.parametrize(
    ("said", "code", "expected"),
    [
        (("--json", "--svg", "-"), 2, "at a time"),
        (("--svg", "-", "--html", "-"), 2, "at a time"),
        (("--svg", "/nowhere/at/all.svg"), 7, "could not be written"),
        (("--since", "soon"), 2, "neither a time, an age"),
        (("no-such-thread",), 3, "no thread"),
    ],
)
def test_what_cannot_be_done_is_refused(
    story: Repo, said: tuple[str, ...], code: int, expected: str
) -> None:
    assert expected in story.fails(code, "timeline", *said)


def test_a_thread_that_cannot_be_read_hides_no_other(machine: Machine) -> None:
    repo = machine.repo()
    repo.ok("new", "good", "--title", "T")
    repo.ok("new", "bad", "--title", "T")
    log = repo.log("bad")
    log.unlink()
    log.mkdir()
    done = repo.ok("timeline", "good", "bad")
    assert "good" in done.out
    assert "not shown: bad" in done.err


def test_ascii_is_all_there_is_where_it_is_wanted(story: Repo) -> None:
    assert story.ok("timeline", "--ascii", "--since", "2020-01-01").out.isascii()
    asked = {"WATERCOOLER_ASCII": "1"}
    assert story.ok("timeline", "old", env=asked).out.isascii()
