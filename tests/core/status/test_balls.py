"""Who has which balls: the same from the cache and from the threads."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from hypothesis import given

from tests.cli.index.histories import (
    Step,
    Store,
    begun_store,
    histories,
    without_cache,
)
from tests.core.strategies import chain, entry, entry_id, relaxed, viewer
from wc_core.attention.status.balls import Balls, folders_of, in_order
from wc_core.attention.status.places import branch_places
from wc_core.base.names import Directory
from wc_core.ledger.planning.kinds import BLOCKED_BY
from wc_core.ledger.threads.model import Ball, Link

if TYPE_CHECKING:
    from pathlib import Path

    from wc_core.ledger.threads.reader import StoreReader


def answers(reader: StoreReader) -> list[object]:
    """All that is asked of the balls of a store."""
    balls, me = Balls(reader, Directory()), viewer()
    folders, own = balls.folders(), folders_of(me)
    names = balls.names(folders)
    some = [held for held in in_order(names) if names[held.folder]]
    return [
        {folder: items for folder, items in names.items() if items},
        Balls(reader, Directory()).held(own),
        balls.names(folders, [*branch_places("main"), "t"]),
        balls.with_status(own),
        balls.changed_last(2),
        balls.names(folders, latest=1),
        balls.names(folders, earliest=1),
        balls.count(folders),
        balls.latest(2, own),
        balls.earliest(2, entry_id(3), own),
        balls.changed(0),
        balls.at([*branch_places("main"), "t"]),
        balls.asked(folders),
        [*balls.statuses(some, me)],
        [balls.waits(topic) for topic in ("t", "u")],
    ]


@given(histories)
@relaxed
def test_balls_are_the_same_with_the_cache_and_without(history: list[Step]) -> None:
    with begun_store() as store:
        for step in history:
            store.take(step)
            with without_cache(store.reader):
                expected = answers(store.reader)
            assert answers(store.reader) == expected


def test_what_is_asked_first_has_an_answer(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    link = Link(BLOCKED_BY, "u")
    store.write("t", chain(entry(0), entry(2, links_added=(link,))))
    store.write("u", [entry(1)])
    for _ in range(2):
        folders = Balls(store.reader, Directory()).folders()
        others = Balls(store.reader, Directory()).latest(2, without=folders)
        held = Balls(store.reader, Directory()).held(folders)
        assert (others, [ball.topic for ball in held]) == ([], ["u"])
        assert Balls(store.reader, Directory()).waits("t") == ("u",)
        store.refresh()


def test_a_thread_that_waits_has_no_ball_but_a_place(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    link = Link(BLOCKED_BY, "u")
    store.write("t", chain(entry(0), entry(2, links_added=(link,))))
    store.write("u", [entry(1)])
    for _ in range(2):
        balls = Balls(store.reader, Directory())
        names = balls.names(balls.folders()).values()
        assert [name[27:] for items in names for name in items] == ["u"]
        assert [*balls.at(["t"])] == ["t"]
        assert balls.waits("t") == ("u",)
        store.refresh()


def test_what_there_is_no_time_to_read_is_left_out(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for topic in ("t", "u"):
        store.write(topic, [entry(0, ball=Ball("Codex"))])
    balls, calls = Balls(store.reader, Directory()), iter([False, True])
    assert not balls.look(lambda: next(calls))
    assert [held.topic for held in balls.held(["codex"])] == ["t"]
    store.refresh()
    balls = Balls(store.reader, Directory())
    assert balls.look(lambda: True)
    assert [held.topic for held in balls.held(["codex"])] == ["t", "u"]


def test_who_has_read_a_thread_takes_part_in_it(tmp_path: Path) -> None:
    store, me = Store(str(tmp_path)), viewer()
    store.write("t", [entry(0, "Gemini (pat)")])
    store.refresh()
    for takes_part in (False, True):
        balls = Balls(store.reader, Directory())
        (status,) = balls.statuses(balls.held(balls.folders()), me)
        assert status.takes_part is takes_part
        path = store.reader.cursor_path("t", me.key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fields = {"key": me.key, "heads": [entry_id(0)], "count": 1}
        (tmp_path / os.path.relpath(path, tmp_path)).write_text(json.dumps(fields))
