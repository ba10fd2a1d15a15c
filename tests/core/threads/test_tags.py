"""Tags: the words of the command, and the annotations of an older tool."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import AGENTS, chain, entry, entry_id, write_thread
from wc_core.base.layout import Layout
from wc_core.ledger.threads import folding, tags
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry, State


def annotation(step: int, kind: str, value: object, **fields: object) -> bytes:
    known = {
        "id": entry_id(step),
        "target_id": "t",
        "target_type": "thread",
        "kind": kind,
        "value": value,
        "actor": "Claude Code:opus:planner",
        "timestamp": "2026-05-07T07:51:46.730518+00:00",
    }
    return json.dumps(known | fields).encode() + b"\n"


def state(*log: Entry) -> State:
    return folding.fold("t", chain(*log))


def tagged(step: int, *added: str, removed: tuple[str, ...] = ()) -> Entry:
    return entry(step, action="tag", tags_added=added, tags_removed=removed)


ADD_X, REMOVE_X = annotation(1, "tag", "x"), annotation(2, "tag_remove", "x")


@pytest.mark.parametrize(
    ("log", "annotations", "expected"),
    [
        ((entry(0),), b"", ()),
        ((entry(0),), ADD_X, ("x",)),
        ((entry(0),), ADD_X + REMOVE_X, ()),
        # In the order of their ids, not of their lines.
        ((entry(0),), REMOVE_X + ADD_X, ()),
        ((tagged(0, "b"),), ADD_X + annotation(3, "tag", "a"), ("a", "b", "x")),
        # What is older than the last tags in the log is in them.
        ((entry(0), tagged(5, "y")), ADD_X, ("y",)),
        ((entry(0), tagged(5, "y")), annotation(6, "tag_remove", "y"), ()),
        ((entry(0), entry(5)), ADD_X, ("x",)),
        ((entry(0),), annotation(1, "tag", "Needs Review"), ("Needs Review",)),
        # What is not about the tags of a thread.
        ((entry(0),), annotation(1, "reaction", "x"), ()),
        ((entry(0),), annotation(1, "tag", "x", target_type="entry"), ()),
        ((entry(0),), annotation(1, "tag", 7), ()),
        ((entry(0),), annotation(1, "tag", ""), ()),
        ((entry(0),), b"[]\nno\n\xff\n{}\n", ()),
        ((entry(0),), b"broken\n" + ADD_X, ("x",)),
        ((entry(0),), annotation(1, "tag", "x", id="old"), ("x",)),
        ((entry(0), tagged(5, "y")), annotation(1, "tag", "x", id="old"), ("y",)),
    ],
)
def test_annotations_of_an_older_tool(
    log: tuple[Entry, ...], annotations: bytes, expected: tuple[str, ...]
) -> None:
    assert tags.current_tags(state(*log), annotations) == expected


def test_readers_see_tags_however_the_state_was_read(tmp_path: Path) -> None:
    log = chain(entry(0, AGENTS[0]), tagged(2, "y"))
    for meta in (True, False):
        write_thread(tmp_path, "t", log, meta=meta)
        layout = Layout(os.path.realpath(tmp_path))
        path = Path(layout.annotations("t"))
        path.write_bytes(ADD_X + annotation(3, "tag", "z"))
        reader = StoreReader(str(tmp_path))
        assert reader.snapshot("t").fresh is meta
        assert reader.snapshot("t").tags == ("y", "z")
        assert reader.thread("t").snapshot.tags == ("y", "z")
        # What cannot be read is another tool's business.
        path.unlink()
        path.mkdir()
        assert reader.snapshot("t").tags == ("y",)
        path.rmdir()
        Path(layout.meta("t")).unlink(missing_ok=True)
