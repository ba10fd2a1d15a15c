from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import NOON_MS, relaxed
from wc_core.base.layout import Layout
from wc_core.base.text import one_line
from wc_core.ledger.threads.vocabulary import MAX_LASTING, PRESENCES
from wc_core.people.activity.presence import (
    DEFAULT_SECONDS,
    MAX_SCOPE,
    Note,
    current_notes,
    file_name,
    parse,
    render,
)

MINUTE = 60_000
NOTE = Note("/app", "main", "Codex (pat)", "running", "writing the tests", NOON_MS)


def put(layout: Layout, name: str, data: bytes) -> None:
    path = Path(layout.presence, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@relaxed
@given(
    st.builds(
        Note,
        worktree=st.text(st.characters(exclude_characters="\0")),
        branch=st.text(),
        agent=st.text(max_size=200).map(one_line),
        status=st.sampled_from(PRESENCES),
        text=st.text(max_size=400).map(one_line),
        at_ms=st.integers(0, 1 << 41).map(lambda ms: ms // 1000 * 1000),
        seconds=st.integers(0, MAX_LASTING),
        intent=st.text(max_size=100).map(one_line),
        scope=st.lists(st.text(), max_size=MAX_SCOPE).map(tuple),
        thread=st.text(max_size=100).map(one_line),
        session=st.text(max_size=100).map(one_line),
    )
)
def test_a_note_reads_as_it_was_written(note: Note) -> None:
    assert parse(render(note)) == note


@pytest.mark.parametrize(
    ("minutes", "counts"),
    [(0, True), (29, True), (31, False), (-0.5, True), (-2, False)],
)
def test_a_note_counts_for_as_long_as_it_said(
    tmp_path: Path, minutes: float, *, counts: bool
) -> None:
    layout = Layout(str(tmp_path))
    put(layout, "a", render(NOTE))
    long = NOTE._replace(agent="Zed", seconds=MAX_LASTING)
    put(layout, "b", render(long))
    now = NOON_MS + int(minutes * MINUTE)
    expected = [NOTE] if counts else []
    assert current_notes(layout, now) == expected + ([long] if minutes >= -1 else [])
    assert DEFAULT_SECONDS == 30 * 60


def test_how_it_is_shown() -> None:
    assert NOTE.to_json(NOON_MS + 5 * MINUTE) == {
        "agent": "Codex (pat)",
        "status": "running",
        "note": "writing the tests",
        "at": "2026-01-01T12:00:00.000Z",
        "age_seconds": 300,
    }


BAD: list[Any] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe{",
    b"[" * 100_000,
    {"version": 2},
    {"at": "soon"},
    {"at": 7},
    {"seconds": "1800"},
    {"seconds": True},
    {"agent": None},
    {"note": ["a"]},
    {"worktree": 7},
]


@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_note_hides_none(tmp_path: Path, bad: Any) -> None:
    layout = Layout(str(tmp_path))
    if isinstance(bad, dict):
        bad = json.dumps(json.loads(render(NOTE)) | bad).encode()
    put(layout, "a", bad)
    put(layout, "b", render(NOTE))
    assert current_notes(layout, NOON_MS) == [NOTE]


def test_links_and_huge_files_are_not_read(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path / "store"))
    put(layout, "a", render(NOTE))
    put(layout, "huge", render(NOTE) + b" " * 70_000)
    (tmp_path / "elsewhere").write_bytes(render(NOTE._replace(agent="Zed")))
    Path(layout.presence, "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(Path(layout.presence, "pipe"))
    assert current_notes(layout, NOON_MS) == [NOTE]
    Path(layout.presence).rename(tmp_path / "moved")
    assert current_notes(layout, NOON_MS) == []
    Path(layout.presence).symlink_to(tmp_path / "moved")
    assert current_notes(layout, NOON_MS) == []


def test_every_participant_of_a_worktree_has_a_file() -> None:
    keys = [("/a", "b"), ("/a/b", "c"), ("/" + "x" * 400, "b"), ("/" + "x" * 400, "c")]
    names = {file_name(worktree, key) for worktree, key in keys}
    assert len(names) == 4
    assert all("/" not in name and len(name) <= 200 for name in names)
