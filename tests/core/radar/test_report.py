"""A report of the radar, and the file it is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wc_core.layout import Layout
from wc_core.radar import registries
from wc_core.radar.report import EMPTY, Overlap, Pair, Report, Tree, load, render

if TYPE_CHECKING:
    from pathlib import Path

# Names of files may have bytes that are no UTF-8.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=9) | st.just(
    "\udcff"
)
LISTS = st.lists(NAMES, max_size=3).map(tuple)
TREES = st.builds(Tree, *[NAMES] * 7, LISTS, LISTS)
OVERLAPS = st.lists(st.builds(Overlap, NAMES, st.booleans(), LISTS), max_size=3)
COMMITS = st.tuples(NAMES, NAMES)
PAIRS = st.builds(Pair, NAMES, NAMES, COMMITS, OVERLAPS.map(tuple))
REPORTS = st.builds(
    Report,
    st.integers(0, 1 << 45),
    st.lists(TREES, max_size=3).map(tuple),
    st.lists(PAIRS, max_size=3).map(tuple),
    LISTS,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REPORTS)
def test_a_report_is_kept_as_it_is(tmp_path: Path, report: Report) -> None:
    (tmp_path / ".local").mkdir(exist_ok=True)
    (tmp_path / ".local/radar.json").write_bytes(render(report))
    assert load(Layout(str(tmp_path))) == report


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b'{"version":2}', b'{"version":1}', b"\xff", b"[" * 100_000],
)
def test_another_file_is_no_report(tmp_path: Path, data: bytes) -> None:
    assert load(Layout(str(tmp_path))) == EMPTY
    (tmp_path / ".local").mkdir()
    (tmp_path / ".local/radar.json").write_bytes(data)
    assert load(Layout(str(tmp_path))) == EMPTY


def test_pairs_that_conflict_come_first() -> None:
    soft = Pair("a", "b", ("1", "2"), (Overlap("x"),))
    hot = Pair("c", "a", ("3", "1"), (Overlap("x", conflicts=True), Overlap("y")))
    report = Report(pairs=(soft, hot, Pair("b", "c", ("2", "3"), ())))
    assert report.pairs_of("a") == (hot, soft)
    assert hot.hot == (Overlap("x", conflicts=True),)
    assert (hot.other("a"), soft.other("a")) == ("c", "b")


@pytest.mark.parametrize(
    ("path", "word"),
    [
        *(
            (name, "both")
            for name in ("CHANGELOG.md", "docs/Changes.rst", "src/mod.rs")
        ),
        *((name, "package") for name in ("uv.lock", "a/package-lock.json", "go.sum")),
        *((name, "") for name in ("locks.py", "src/change.py", "lock", "index.html")),
    ],
)
def test_registries_have_a_hint(path: str, word: str) -> None:
    assert (word in registries.hint(path)) if word else not registries.hint(path)
