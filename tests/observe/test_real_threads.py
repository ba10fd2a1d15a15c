"""Threads of a public project, written by other people's tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.observe.stores import Session
from wc_core.base.text import clean

BUNDLE = Path(__file__).parents[3] / "shared" / "data" / "real-threads.bundle"

pytestmark = pytest.mark.skipif(
    not BUNDLE.exists(), reason=f"the real threads are not here: {BUNDLE.name}"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "store"
    subprocess.run(
        ["git", "clone", "-q", "-b", "sample", str(BUNDLE), str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def session(root: Path, env: dict[str, str]) -> Session:
    return Session(root.parent, env | {"WATERCOOLER_DIR": str(root)})


def raw(root: Path) -> dict[str, list[dict[str, str]]]:
    """Each thread's lines as JSON, by topic."""
    logs = (root / "graph/baseline/threads").glob("*/entries.jsonl")
    return {
        log.parent.name: [json.loads(line) for line in log.read_text().splitlines()]
        for log in logs
    }


def test_all_of_them_are_listed(root: Path, session: Session) -> None:
    listed = session.json("list_threads")["threads"]
    assert len(listed) == 26
    for row in listed:
        meta = root / "graph/baseline/threads" / row["topic"] / "meta.json"
        expected = json.loads(meta.read_text())
        assert row["ball"] == expected["ball"]
        assert row["title"] == expected["title"]
        assert row["status"] == expected["status"]
        assert row["entry_count"] == expected["entry_count"]
        assert "damaged" not in row
    assert len(session.text("list_threads").encode()) < 8_000
    found = session.call("health").structured_content
    assert found is not None
    assert found["ok"]
    assert found["threads"]["total"] == 26


def test_every_body_is_intact(root: Path, session: Session) -> None:
    count = 0
    for topic, entries in raw(root).items():
        shown = session.json("read_thread", topic=topic)["entries"]
        assert [one["id"] for one in shown] == [
            one["entry_id"] for one in entries[: len(shown)]
        ]
        for one, entry in zip(shown, entries, strict=False):
            assert entry["body"].startswith(one["body"])
        for entry in entries[-2:]:
            found = session.json("read_thread", topic=topic, entry=entry["entry_id"])
            assert found["entry"]["body"] == clean(entry["body"]) == entry["body"]
            assert found["entry"]["author"] == entry["agent"]
        count += len(entries)
    assert count == 131


def test_every_long_thread_can_be_walked_through(root: Path, session: Session) -> None:
    for topic, entries in raw(root).items():
        seen: list[str] = []
        following = 0
        while following >= 0:
            part = session.json("read_thread", topic=topic, from_entry=following)
            seen += [one["id"] for one in part["entries"]]
            following = part.get("next_entry_index", -1)
        assert seen == [one["entry_id"] for one in entries]


def test_they_can_be_searched(session: Session) -> None:
    found = session.json("search_threads", query="drift", limit=5)
    assert found["total"] > 5
    assert found["truncated"]
