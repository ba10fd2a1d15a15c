"""Neighbours in a graph, and the file that a graph is kept in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.base.layout import Layout
from wc_core.edits.graph import kept
from wc_core.edits.graph.model import Graph

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = Graph(
    {
        "app.py": {"src/auth.py": ("Login", "check"), "src/db.py": ()},
        "src/auth.py": {"src/db.py": ("connect",)},
        "src/db.py": {},
        "test.py": {"src/auth.py": ("out",)},
    },
    7,
    "c0ffee",
    "key",
)


NAMES = st.lists(st.from_regex(r"[a-z]\w{0,3}", fullmatch=True), max_size=3)
PATHS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=()), min_size=1
)


@given(st.lists(PATHS, unique=True, max_size=5), st.data())
@relaxed
def test_what_is_kept_is_read_again(paths: list[str], data: st.DataObject) -> None:
    uses = {
        path: {
            other: tuple(data.draw(NAMES))
            for other in paths
            if data.draw(st.booleans())
        }
        for path in paths
    }
    graph = Graph(uses, 1, "head", "key")
    assert kept.decode(json.loads(kept.encode(graph))) == graph


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"at": "soon"},
        {"files": 1},
        {"uses": [[0, 9, ""]]},
        {"uses": [[0, -1, ""]]},
        {"uses": [[0, 1]]},
        {"uses": [[0, 1, 2]]},
        {"uses": None},
        {"key": ...},
    ],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, change: dict[str, Any]) -> None:
    layout = Layout(str(tmp_path))
    fields = json.loads(kept.encode(GRAPH)) | change
    fields = {key: value for key, value in fields.items() if value is not ...}
    path = tmp_path / ".local/graph/worktrees/login.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(kept.encode(GRAPH))
    assert kept.load(layout, "login") == GRAPH
    path.write_text(json.dumps(fields))
    assert kept.load(layout, "login") is None
    path.write_bytes(b"[")
    assert kept.load(layout, "login") is None
    assert kept.load(layout, "") is None
