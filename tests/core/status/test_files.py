"""The formats of the status files."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.attention.status.files import MAX_FILE_BYTES, StatusView, status_files
from wc_core.base import ulid
from wc_core.base.layout import safe_name as safe
from wc_core.base.names import Directory, Name
from wc_core.ledger.threads.model import Participant, State

FIRST = ulid.encode(1)


def state(topic: str, ball: str | None, at: int = 1, **more: Any) -> State:
    return State(topic, ball=ball, since=ulid.encode(at), **more)


def test_the_files_of_a_thread() -> None:
    people = (
        Participant("Gemini", 5),  # nobody counted for it
        Participant("Codex@fix (pat)", 0),
        Participant("claude (pat)", 2),
    )
    one = state(
        "feature-auth",
        "Codex@fix (pat)",
        status="IN_REVIEW",
        entry_count=7,
        branch="feature/auth",
        participants=people,
    )
    new = {"reader": 1, "codex@fix(pat)": 0, "claudecode(pat)": 2}
    content = (
        b"wc1 IN_REVIEW\n"
        b"feature-auth\n"
        b"Codex@fix (pat)\n"
        b"2 claudecode(pat)\n"
        b"0 codex@fix(pat)\n"
        b"1 reader\n"
        b"7 *\n"
    )
    name = f"codex@fix(pat)/{FIRST}.feature-auth"
    assert status_files(StatusView(one, new)) == {
        f"status/holder/{name}": content,
        f"status/branch/feature/auth/.t/{name}": content,
        f"status/branch/fix/.t/{name}": content,
    }


@pytest.mark.parametrize(
    ("since", "last", "expected"),
    [
        (FIRST, "", FIRST),
        (f"{FIRST}-Codex-fix", "", FIRST),
        ("", ulid.encode(9), ulid.encode(9)),
        ("no ulid", f"{ulid.encode(9)}-x", ulid.encode(9)),
        ("", "", "0" * 26),
        ("../../x", "/", "0" * 26),
    ],
)
def test_since_when(since: str, last: str, expected: str) -> None:
    one = State("fix", ball="Codex", since=since, last_id=last)
    assert f"status/holder/codex/{expected}.fix" in status_files(StatusView(one, {}))


def test_a_crowd_does_not_fit() -> None:
    """Who is left out must not take everyone else's number for theirs."""
    people = tuple(Participant(f"{'x' * 60}{at}", at) for at in range(40))
    new = {Directory().key(Name(name)): count for name, count in people}
    one = state("fix", "Codex", entry_count=99, participants=people)
    content = status_files(StatusView(one, new))[f"status/holder/codex/{FIRST}.fix"]
    assert MAX_FILE_BYTES - 100 < len(content) <= MAX_FILE_BYTES
    assert content.endswith(b"\n")
    assert b" *\n" not in content
    assert b"39 xxx" in content
    assert b"\n0 xxx" not in content


TEXT = st.text(st.characters(), max_size=400)


@given(TEXT, st.one_of(st.none(), TEXT), TEXT, TEXT, TEXT)
def test_whatever_is_in_a_log_makes_plain_files(
    topic: str, ball: str | None, status: str, branch: str, since: str
) -> None:
    one = State(topic, status=status, ball=ball, branch=branch, since=since)
    for path, content in status_files(StatusView(one, {safe(topic): 3})).items():
        assert len(content) <= MAX_FILE_BYTES
        assert os.path.normpath(path) == path
        assert path.startswith(("status/holder/", "status/branch/"))
        assert all(0 < len(part.encode()) <= 255 for part in path.split("/"))
        text = content.decode()
        assert text.endswith("\n")
        assert not {*map(chr, range(32)), *map(chr, range(127, 160))} & {*text} - {"\n"}
