"""Entries are found by their kind and severity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.core.strategies import AGENTS, chain, entry, entry_id, viewer, write_thread
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.mentions import Mentions
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import IndexedSearch
from wc_core.reading.views.search.query import Question

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_thread(
        tmp_path,
        "plain",
        chain(
            entry(1, type="Decision"),
            entry(2, kind="decision", severity="high", code_branch="fix"),
            entry(3, kind="warning", severity="critical", title="leak"),
            entry(4, kind="warning", severity="hunch"),
        ),
    )
    write_thread(
        tmp_path,
        "corrected",
        chain(
            entry(5, kind="decision", severity="low"),
            entry(6, kind="decision", title="leak"),
            entry(7, action="amend", supersedes=entry_id(5), title="leak"),
            entry(8, action="retract", supersedes=entry_id(6)),
            entry(9, AGENTS[1], kind="decision", code_branch="fix"),
        ),
    )
    return tmp_path


@pytest.mark.parametrize(
    ("query", "fields", "steps"),
    [
        ("", {"kind": "decision"}, [9, 5, 2, 1]),
        ("", {"kind": "Decision", "branch": "fix"}, [9, 2]),
        ("", {"severity": "high"}, [3, 2]),
        ("", {"severity": "low"}, [5, 3, 2]),
        ("", {"severity": "low", "kind": "decision"}, [5, 2]),
        ("leak", {"kind": "warning"}, [3]),
        ("leak", {"severity": "low"}, [5, 3]),
        ("leak", {"kind": "research"}, []),
    ],
)
def test_entries_are_found_by_kind_and_severity(
    root: Path, query: str, fields: dict[str, Any], steps: list[int]
) -> None:
    reader = StoreReader(str(root))
    question = Question(query, Filter(), about=Mentions(**fields))
    found = search(IndexedSearch(Overview(reader, viewer())), question)
    assert [hit.numbered.entry.id for hit in found.hits] == [
        entry_id(step) for step in steps
    ]
