"""The overview that is kept: rows are the same with it and without it, whatever was
done to the store since it was written."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given

from tests.cli.index.histories import (
    TOPICS,
    Step,
    Store,
    a_log,
    begun_store,
    by_files,
    histories,
    soon,
)
from tests.core.strategies import relaxed, viewer, write_thread
from tests.oldertool import OlderTool
from wc_cli.ledger.index import overviewfile
from wc_core.lookup.index import overview
from wc_core.reading.views.listing import newest_rows, thread_listing
from wc_core.reading.views.rows import ThreadRow, recency


@given(histories)
@relaxed
def test_rows_are_the_same_with_the_index_and_without(history: list[Step]) -> None:
    with begun_store() as store:
        for step in history:
            store.take(step)
            rows = by_files(store.reader).rows
            assert thread_listing(store.reader, viewer()).rows == rows
            if not any(row.links or row.gates for row in rows):
                assert first_rows(store, 2) == rows[:2]


def first_rows(store: Store, count: int) -> list[ThreadRow]:
    """The first threads of a list, of which the others are not shown."""
    newest = newest_rows(store.reader, viewer(), lambda *_: True, count)
    assert newest is not None
    assert newest.end == (recency(newest.rows[-1]) if newest.rows else ("", ""))
    return newest.rows


def test_what_was_written_just_now_is_not_indexed(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write("t", a_log(2))
    overviewfile.update(store.reader, ["t"])
    assert overview.read_records(store.reader.layout) == {}
    time.sleep(0.11)
    overviewfile.update(store.reader, ["t"])
    assert [*overview.read_records(store.reader.layout)] == ["t"]


def test_a_folder_that_became_a_link_shows_at_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for topic in TOPICS:
        store.write(topic, a_log(2))
    pages = Path(store.reader.layout.pages)
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "t.md").write_text("# t\n")
    overviewfile.rebuild(store.reader, soon)
    folder = Path(store.reader.layout.folder("t"))
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    for topics in (None, ["t"], ["t", *(f"none-{number}" for number in range(30))]):
        rows = thread_listing(store.reader, viewer(), topics).rows
        damaged = [row.topic for row in rows if row.damaged]
        assert damaged == ["t"]


def rewrite(meta: Path) -> None:
    """Changes a ``meta.json`` in place, as a script does."""
    fields = json.loads(meta.read_text()) | {"status": "WAIT", "ball": "Codex"}
    meta.write_text(json.dumps(fields, indent=2))


@pytest.mark.parametrize("has_meta", [True, False])
def test_a_meta_that_is_changed_in_place_shows_at_once(
    tmp_path: Path, *, has_meta: bool
) -> None:
    tool, store = OlderTool(tmp_path), Store(str(tmp_path))
    tool.init_thread("older")
    tool.say("older", "title")
    write_thread(tmp_path, "ours", a_log(2), meta=has_meta)
    overviewfile.rebuild(store.reader, soon)
    assert thread_listing(store.reader, viewer()).survey.unindexed == 0
    rewrite(Path(store.reader.layout.meta("older")))
    if has_meta:
        rewrite(Path(store.reader.layout.meta("ours")))
    rows = thread_listing(store.reader, viewer()).rows
    assert rows == by_files(store.reader).rows
    assert first_rows(store, 2) == rows
    # Only the log counts for a thread that wc writes.
    assert [row.status for row in rows].count("WAIT") == 1
