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
from wc_core.edits.graph.model import HUB, FileUse, Graph, Neighbourhood, by_folder

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


@pytest.mark.parametrize(
    ("path", "symbol", "uses", "used_by"),
    [
        ("src/auth.py", "", "src/db.py", "app.py test.py"),
        ("src/auth.py", "Login.check", "src/db.py", "app.py"),
        ("src/auth.py", "out", "src/db.py", "test.py"),
        ("src/auth.py", "unused", "src/db.py", ""),
        ("src/db.py", "", "", "app.py src/auth.py"),
        ("src", "", "", "app.py test.py"),
        (".", "", "", ""),
        ("app.py", "", "src/auth.py src/db.py", ""),
    ],
)
def test_neighbours(path: str, symbol: str, uses: str, used_by: str) -> None:
    neighbourhood = GRAPH.neighbourhood(path, symbol)
    assert neighbourhood is not None
    assert " ".join(use.path for use in neighbourhood.uses) == uses
    assert " ".join(use.path for use in neighbourhood.used_by) == used_by


@pytest.mark.parametrize("path", ["README.md", "src/auth", "sr", "missing"])
def test_what_is_not_in_the_graph_has_no_known_neighbours(path: str) -> None:
    assert GRAPH.neighbourhood(path) is None


def test_a_hub_is_counted_by_folder() -> None:
    users = {f"d{number % 3}/{number}.py": {"hub.py": ()} for number in range(HUB + 1)}
    hub = Graph({**users, "hub.py": {}}).neighbourhood("hub.py")
    assert hub is not None
    assert hub.is_hub
    assert hub.to_json() == {
        "uses": {"total": 0, "files": {}},
        "used_by": {"total": 51, "folders": {"d0": 17, "d1": 17, "d2": 17}},
    }
    assert by_folder([FileUse("a", ()), *hub.used_by])[-1] == (".", 1)
    assert not Neighbourhood(hub.used_by[:HUB]).is_hub


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
