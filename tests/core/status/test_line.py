"""The text of the prompt's line."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from wc_core.attention.status.line import (
    LinePlace,
    Mark,
    display_text,
    loop_mark,
    status_line,
)
from wc_core.attention.status.linethreads import StatusRow
from wc_core.attention.status.look import (
    LineStyle,
    display_width,
    isolate_rtl,
    link_prefix,
    page_address,
)
from wc_core.attention.status.places import Surroundings
from wc_core.base import ulid
from wc_core.base.layout import safe_name as safe
from wc_core.base.names import Name
from wc_core.ledger.threads.model import CLOSED, STATUSES, State
from wc_core.people.activity import StateFiles, loop

if TYPE_CHECKING:
    from pathlib import Path

PAT = Name("Claude Code", "", "pat")
PLACES = ("feature/auth", "feature-auth", "auth-2")
HERE = LinePlace(Surroundings(PLACES, PAT))


def state(topic: str, ball: str | None, at: int = 1, **more: Any) -> State:
    return State(topic, ball=ball, since=ulid.encode(at), **more)


# --- names ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("claudecode@fix(pat)", "claudecode@fix(pat)"),
        ("zoë", "zoë"),
        ("", "%"),
        ("..", "%2E."),
        ("=free", "%3Dfree"),
        ("a/b", "a%2Fb"),
        ("100%", "100%25"),
        ("*", "%2A"),
        ("\x1b[1m\n\0", "%1B[1m%0A%00"),
        ("\x9b", "%C2%9B"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_safe_names(key: str, name: str) -> None:
    assert safe(key) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  two\n words\t", "two words"),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u202eb\u200b\x9bc", "abc"),
        ("\ud800x", "x"),
        ("x" * 21, "x" * 17 + "…"),
        ("é" * 11, "é" * 8 + "…"),
        ("é" * 10, "é" * 10),
    ],
)
def test_display(text: str, shown: str) -> None:
    assert display_text(text, 20) == shown


TEXT = st.text(st.characters(), max_size=400)


# --- the line -----------------------------------------------------------------------

HERE_MINE = StatusRow(state("feature-auth", "Claude (Pat)", 5), 2)
HERE_OLDER = StatusRow(state("auth-2", "claude", 3, status="BLOCKED"), 0)
HERE_OTHERS = StatusRow(state("x", "Codex", 4, branch="feature/auth"), 1)
HERE_FREE = StatusRow(state("y", None, 6, branch="feature/auth"))
AWAY_MINE = StatusRow(state("far", "Claude", 1), 9)
AWAY_OTHERS = StatusRow(state("other", "Codex", 2), 9)
NOT_MINE = StatusRow(state("feature-auth", "Claude (sam)", 7))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], ""),
        ([AWAY_OTHERS], ""),
        ([HERE_MINE], "🎾 you · feature-auth · 2 new"),
        ([HERE_OTHERS, HERE_MINE], "🎾 you · feature-auth · 2 new"),
        ([HERE_MINE, HERE_OLDER], "🎾 you · auth-2 · BLOCKED · +1"),
        ([HERE_MINE, AWAY_MINE], "🎾 you · feature-auth · 2 new · 1 elsewhere"),
        (
            [HERE_MINE, HERE_OLDER, AWAY_MINE],
            "🎾 you · auth-2 · BLOCKED · +1 · 1 elsewhere",
        ),
        ([AWAY_MINE, AWAY_OTHERS], "🎾 far waits for you elsewhere"),
        (
            [AWAY_MINE, HERE_OTHERS],
            "🎾 1 for you elsewhere · Codex has the ball · x · 1 new",
        ),
        (
            [AWAY_MINE, StatusRow(state("z", "claude", 2)), AWAY_OTHERS],
            "🎾 2 waiting for you elsewhere",
        ),
        ([HERE_OTHERS], "Codex has the ball · x · 1 new"),
        ([HERE_FREE, HERE_OTHERS], "anyone can take · y · +1"),
        ([NOT_MINE], "Claude (sam) has the ball · feature-auth"),
        (
            [StatusRow(state("feature-auth", "\x1b", 1))],
            "someone has the ball · feature-auth",
        ),
        (
            [StatusRow(state("\x1b", None, branch="auth-2"))],
            "anyone can take · a thread",
        ),
        ([StatusRow(HERE_MINE.state._replace(status=CLOSED))], ""),
    ],
)
def test_what_it_says(rows: list[StatusRow], expected: str) -> None:
    assert status_line(rows, HERE) == expected
    assert status_line(reversed(rows), HERE) == expected


FULL = [HERE_OLDER._replace(new=12), HERE_MINE, AWAY_MINE]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (0, "🎾 you · auth-2 · BLOCKED · 12 new · +1 · 1 elsewhere"),
        (53, "🎾 you · auth-2 · BLOCKED · 12 new · +1 · 1 elsewhere"),
        (52, "🎾 you · auth-2 · BLOCKED · 12 new · +1"),
        (39, "🎾 you · auth-2 · BLOCKED · 12 new · +1"),
        (38, "🎾 you · auth-2 · BLOCKED · 12 new"),
        (33, "🎾 you · auth-2 · 12 new"),
        (24, "🎾 you · auth-2 · 12 new"),
        (23, "🎾 you · auth-2"),
        (14, "🎾 you · auth…"),
        (12, "🎾 you"),
        (5, "🎾"),
        (1, ""),
    ],
)
def test_what_is_dropped_first(columns: int, expected: str) -> None:
    said = status_line(FULL, HERE, LineStyle(columns))
    assert said == expected
    width = len(said) + said.count("🎾")
    assert not columns or width <= columns


PAINTED_AWAY = "\x1b[1;33m🎾 1 for you elsewhere\x1b[0m"


@pytest.mark.parametrize(
    ("rows", "look", "expected"),
    [
        (
            FULL,
            LineStyle(ascii=True),
            "[*] you - auth-2 - BLOCKED - 12 new - +1 - 1 elsewhere",
        ),
        (FULL, LineStyle(15, ascii=True), "[*] you - au..."),
        ([AWAY_MINE], LineStyle(29), "🎾 1 elsewhere"),
        ([AWAY_MINE], LineStyle(30), "🎾 far waits for you elsewhere"),
        ([AWAY_MINE], LineStyle(4), "🎾 1"),
        ([AWAY_MINE], LineStyle(3), "🎾"),
        ([AWAY_MINE], LineStyle(2, ascii=True), ""),
        ([HERE_OTHERS], LineStyle(12), "Codex has t…"),
        ([HERE_OTHERS], LineStyle(12, ascii=True), "Codex has..."),
        ([HERE_OTHERS], LineStyle(3), ""),
        ([StatusRow(state("auth-2", "Zoë", 1))], LineStyle(12), "Zoë has the…"),
        ([StatusRow(state("auth-2", None, 1))], LineStyle(12), "anyone can …"),
        (
            [StatusRow(state("ünïcödé", "Claude", 1, branch="auth-2"))],
            LineStyle(14),
            "🎾 you · ünïc…",
        ),
        (
            [StatusRow(state("界界界界界界", "Claude", 1, branch="auth-2"))],
            LineStyle(15),
            "🎾 you · 界界…",
        ),
        (
            [HERE_MINE],
            LineStyle(color=True),
            "\x1b[1;33m🎾 you · feature-auth · 2 new\x1b[0m",
        ),
        (
            [AWAY_MINE],
            LineStyle(color=True),
            "\x1b[1;33m🎾 far waits for you elsewhere\x1b[0m",
        ),
        ([HERE_FREE], LineStyle(color=True), "\x1b[2manyone can take · y\x1b[0m"),
        (
            [HERE_FREE, AWAY_MINE],
            LineStyle(color=True),
            f"{PAINTED_AWAY}\x1b[2m · anyone can take · y\x1b[0m",
        ),
        (
            [HERE_FREE, AWAY_MINE],
            LineStyle(42),
            "🎾 1 for you elsewhere · anyone can take",
        ),
        ([HERE_FREE, AWAY_MINE], LineStyle(30), "🎾 1 for you elsewhere"),
        ([], LineStyle(color=True), ""),
    ],
)
def test_looks(rows: list[StatusRow], look: LineStyle, expected: str) -> None:
    assert status_line(rows, HERE, look) == expected


# --- rows, links, templates, and the ways of writing ---------------------------------

ROWS = [HERE_MINE, HERE_OLDER, AWAY_MINE, HERE_OTHERS, HERE_FREE, AWAY_OTHERS]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (
            2,
            ["🎾 you · auth-2 · BLOCKED", "🎾 you · feature-auth · 2 new · +3"],
        ),
        (
            5,
            [
                "🎾 you · auth-2 · BLOCKED",
                "🎾 you · feature-auth · 2 new",
                "🎾 you · far · 9 new · elsewhere",
                "anyone can take · y",
                "Codex has the ball · x · 1 new",
            ],
        ),
        (1, ["🎾 you · auth-2 · BLOCKED · +1 · 1 elsewhere"]),
    ],
)
def test_a_row_for_each_thread(count: int, expected: list[str]) -> None:
    assert status_line(ROWS, HERE, LineStyle(rows=count)).split("\n") == expected
    assert status_line(ROWS[::-1], HERE, LineStyle(rows=count)).split("\n") == expected


@pytest.mark.parametrize(
    ("template", "rows", "expected"),
    [
        ("{ball} {topic}{? · {new} new}", [HERE_MINE], "🎾 feature-auth · 2 new"),
        ("{ball} {topic}{? · {new} new}", [HERE_OLDER], "🎾 auth-2"),
        ("{holder}:{topic}:{status}", [HERE_OLDER], "you:auth-2:BLOCKED"),
        ("{holder}{?{ball}}", [HERE_OTHERS], "Codex"),
        ("{holder}", [HERE_FREE], "anyone"),
        ("{more}/{away}/{where}", [HERE_MINE, HERE_OLDER, AWAY_MINE], "1/1/"),
        ("{topic}/{away}/{where}", [AWAY_MINE], "far/1/elsewhere"),
        ("{holder}/{away}/{where}", [AWAY_MINE, HERE_OTHERS], "Codex/1/"),
        ("{topic}/{away}", [AWAY_MINE, StatusRow(state("z", "claude", 2))], "/2"),
        ("{{topic} {frob} } {", [HERE_MINE], "{topic} {frob} } {"),
        ("{?{?{new}}}", [HERE_MINE], "{?2}"),
        ("{?{status}", [HERE_MINE], ""),
        ("  {loop} ", [HERE_MINE], ""),
        ("a\x1b[31m", [HERE_MINE], "🎾 you · feature-auth · 2 new"),
        ("x" * 201, [HERE_MINE], "🎾 you · feature-auth · 2 new"),
        ("{topic}", [], ""),
    ],
)
def test_a_template(template: str, rows: list[StatusRow], expected: str) -> None:
    assert status_line(rows, HERE, LineStyle(format=template)) == expected


def test_a_template_where_there_is_little_room() -> None:
    look = LineStyle(8, format="{ball}{topic}")
    assert status_line([HERE_MINE], HERE, look) == "🎾featu…"
    hebrew = StatusRow(state("שלום-שלום", "Claude", 1, branch="auth-2"))
    assert status_line([hebrew], HERE, look) == "\u2068🎾שלום-…\u2069"


@pytest.mark.parametrize(
    ("topic", "page"),
    [
        ("far", "far.md"),
        ("zähler", "z%C3%A4hler.md"),
        ("中", "%E4%B8%AD.md"),
        ("100%", ""),
        ("../../x", ""),
        ("a\nb", ""),
    ],
)
def test_a_link_leads_to_the_page(topic: str, page: str) -> None:
    for begin in ("https://example.org/", "file:///s/threads/"):
        assert page_address(begin, topic) == (f"{begin}{page}" if page else "")
    assert page_address("", topic) == ""


def test_what_links_begin_with() -> None:
    assert link_prefix("page", "/a b/ü") == "file:///a%20b/%C3%BC/"
    assert link_prefix("https://x.org/a/", "/p") == "https://x.org/a/"
    for wrong in ("", "pages", "x y://z", "https://a\x1bb", "://"):
        assert link_prefix(wrong, "/p") == ""


@pytest.mark.parametrize(
    "text", ["שלום", "دانا has", "ߒߞߏ", "\ufb2a", "\U00010900", "\U0001ee00"]
)
def test_what_reads_from_the_right_is_isolated(text: str) -> None:
    assert isolate_rtl(text) == f"\u2068{text}\u2069"
    rows = [StatusRow(state(text, text, 1, branch="auth-2", status=text))]
    part = f"\u2068{display_text(text, 99)}\u2069"
    assert status_line(rows, HERE) == f"{part} has the ball · {part} · {part}"


def test_the_width_is_never_too_small() -> None:
    for code in (
        *range(0x10000),
        *range(0x1F000, 0x1FC00),
        *range(0x10000, 0x110000, 97),
    ):
        one = chr(code)
        if one.isprintable():
            assert display_width(one) >= cell_len(one), hex(code)
    assert display_width("naïve · ẹ…") == 10
    assert display_width("中文 한글 🎾") == 12


@given(st.text(max_size=24), st.integers(1, 40))
def test_what_is_cut_fits(text: str, room: int) -> None:
    shown = display_text(text, 200)
    cut = LineStyle(room).cut(shown, room)
    assert display_width(cut) <= room
    assert not cut or shown.startswith(cut.removesuffix("…"))


# --- a loop ---------------------------------------------------------------------


def loop_of(top: Path, **changed: Any) -> Mark:
    """What the line says about a loop whose file has these fields."""
    path = top / ".claude/loop-state.json"
    path.parent.mkdir(exist_ok=True)
    fields = {"max_iterations": 10, "current_iteration": 3, "status": "running"}
    path.write_text(json.dumps(fields | {"terminal_pid": os.getpid()} | changed))
    return loop_mark(loop(StateFiles(), str(top), path.stat().st_mtime_ns // 10**6))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "loop 3/10"),
        ({"status": "starting"}, "loop 3/10"),
        ({"terminal_pid": None}, "loop 3/10?"),
        ({"terminal_pid": "1"}, "loop 3/10?"),
        ({"terminal_pid": 999_999_999}, "loop 3/10 orphaned"),
        ({"status": "stuck", "max_iterations": None}, "loop 3 stuck"),
        ({"status": "stuck", "max_iterations": 1 << 40}, "loop 3 stuck"),
        ({"status": "stuck", "current_iteration": True}, "loop stuck"),
        ({"status": "waiting:human"}, "loop 3/10 waiting for you"),
        ({"status": "waiting:api"}, "loop 3/10 waiting:api"),
        ({"status": "done"}, ""),
        ({"status": "stopped"}, ""),
        ({"status": None}, ""),
        ({"status": {"status": "running"}}, ""),
        ({"status": "Odd One"}, ""),
        ({"status": "x\x1b[31m"}, "loop 3/10 x"),
        ({"status": "x" * 41}, ""),
    ],
)
def test_what_a_loop_says(tmp_path: Path, changed: Any, expected: str) -> None:
    assert loop_of(tmp_path, **changed).text == expected


# --- a conflict to come -----------------------------------------------------------

WARNING = "⚠ auth.py with Codex@review"


@pytest.mark.parametrize(
    ("rows", "look", "expected"),
    [
        ([], LineStyle(), WARNING),
        ([], LineStyle(20), "⚠ conflict"),
        ([], LineStyle(8), ""),
        ([], LineStyle(ascii=True), "!! auth.py with Codex@review"),
        ([], LineStyle(format="{topic}<{conflict}>"), "<auth.py with Codex@review>"),
        ([], LineStyle(format="<{loop}>"), "<>"),
        ([HERE_OLDER], LineStyle(), f"🎾 you · auth-2 · BLOCKED · {WARNING}"),
        ([HERE_OLDER], LineStyle(30), "🎾 you · auth-2"),
        ([HERE_OTHERS], LineStyle(), f"Codex has the ball · x · 1 new · {WARNING}"),
        ([AWAY_MINE], LineStyle(), f"🎾 far waits for you elsewhere · {WARNING}"),
        (
            [HERE_OLDER, HERE_OTHERS],
            LineStyle(rows=2),
            (f"🎾 you · auth-2 · BLOCKED · {WARNING}\nCodex has the ball · x · 1 new"),
        ),
    ],
)
def test_a_conflict_in_the_line(
    rows: list[StatusRow], look: LineStyle, expected: str
) -> None:
    here = HERE._replace(conflict="auth.py with Codex@review")
    assert status_line(rows, here, look) == expected


@pytest.mark.parametrize(
    ("rows", "look", "expected"),
    [
        ([], LineStyle(), "+2 elsewhere"),
        ([], LineStyle(11), ""),
        ([], LineStyle(format="<{elsewhere}>"), "<2>"),
        ([HERE_OLDER], LineStyle(), "🎾 you · auth-2 · BLOCKED · +2 elsewhere"),
        ([HERE_OTHERS], LineStyle(), "Codex has the ball · x · 1 new · +2 elsewhere"),
        ([AWAY_MINE], LineStyle(), "🎾 far waits for you elsewhere · +2 elsewhere"),
    ],
)
def test_what_waits_in_other_repositories(
    rows: list[StatusRow], look: LineStyle, expected: str
) -> None:
    here = HERE._replace(elsewhere=2)
    assert status_line(rows, here, look) == expected


# --- whatever is asked ------------------------------------------------------------

# Words of the template, braces where they may go wrong, and what is wide or turns
# the reading around.
PIECES = st.sampled_from(
    [
        *("{ball}", "{holder}", "{topic}", "{status}", "{new}", "{more}", "{away}"),
        *("{where}", "{loop}", "{?", "{? · {new} new}", "{?{status}}", "{{", "{", "}"),
        *("{frob}", "{ ball}", " ", "·", "%s", "\\n", "中", "א", "$(x)", "*", "?", "'"),
    ]
)
LOOKS = st.builds(
    LineStyle,
    columns=st.integers(0, 70),
    ascii=st.booleans(),
    color=st.booleans(),
    rows=st.sampled_from([0, 0, 1, 2, 3, 9, 20]),
    links=st.sampled_from(["", "https://example.org/a%20b/", "file:///tmp/"]),
    format=st.one_of(
        st.just(""), st.lists(PIECES, max_size=12).map("".join), st.text(max_size=12)
    ),
)
HOLDERS = st.sampled_from([None, "Codex", "claude (pat)", "Zoë", "دانا", "\x1b[31mred"])
SHOWN = st.builds(
    StatusRow,
    st.builds(
        state,
        st.one_of(st.sampled_from(["auth-2", "中中中", "שלום", "\x1bx"]), TEXT),
        HOLDERS,
        st.integers(0, 99),
        branch=st.sampled_from(["auth-2", "other"]),
        status=st.sampled_from([*STATUSES, "odd \x1b[1m one"]),
    ),
    st.one_of(st.none(), st.integers(0, 99)),
)
# Colours, links and what isolates: all that a terminal is told.
_TOLD = re.compile(r"\x1b\[(?:1;33|2|0)m|\x1b\]8;;[!-~]*\x1b\\|[\u2068\u2069]")
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@given(st.lists(SHOWN, max_size=6), LOOKS)
def test_every_line_fits_and_is_plain(rows: list[StatusRow], look: LineStyle) -> None:
    here = HERE._replace(loop=Mark("loop 3/10 stalled", "loop 3/10"))
    for row in status_line(rows, here, look).split("\n"):
        shown = _TOLD.sub("", row)
        assert look.fits(display_width(shown)), row
        assert not _OBEYED.search(shown), row
        assert row.count("\u2068") == row.count("\u2069"), row
