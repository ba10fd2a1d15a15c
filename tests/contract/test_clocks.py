"""Clocks that step back, clocks an hour apart, and clocks that are wrong by years: a
log stays in the order it was written in, and a ball can always be passed on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SOURCE
from tests.contract import scenes
from wc_cli.ledger.store.writer import IdSource
from wc_core.attention.status.balls import Balls
from wc_core.base import times, ulid
from wc_core.base.names import Directory
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.entries import numbered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wc_core.ledger.threads.reader import Thread

START_MS = 1_767_225_600_000
HOUR_MS = 3_600_000

# What the clock shows at each of the writes, by its number.
CLOCKS: dict[str, Callable[[int], int]] = {
    "steps back an hour, once": lambda n: START_MS + n * 1000 - HOUR_MS * (n > 4),
    "steps back an hour each time": lambda n: START_MS - n * HOUR_MS // 2,
    "two machines an hour apart": lambda n: START_MS + n * 1000 + HOUR_MS * (n % 2),
    "stands still": lambda _: START_MS,
    "jumps ahead and back": lambda n: START_MS + (n == 3) * 23 * HOUR_MS + n,
}
YEAR_MS = 365 * 24 * HOUR_MS
# Wrong by more than ids are moved: they are not in the order of the log.
WRONG: dict[str, Callable[[int], int]] = {
    "three days ahead, once": lambda n: START_MS + n * 1000 + (n == 0) * 72 * HOUR_MS,
    "years ahead, later": lambda n: START_MS + n * 1000 + (n in {3, 4}) * 9 * YEAR_MS,
    "years behind": lambda n: START_MS + n * 1000 - (n > 4) * 20 * YEAR_MS,
    "to and fro": lambda n: START_MS + n * 1000 + (-1) ** n * 5 * YEAR_MS,
}
TURNS = 10


def write(folder: Path, clock: Callable[[int], int], dice: int) -> list[str]:
    """The ids that two agents are told, passing the ball back and forth."""
    ids = []
    for number in range(TURNS):
        agent, to = (("Codex", "Cursor"), ("Cursor", "Codex"))[number % 2]
        writer = scenes.context(str(folder), agent).writer()
        source = IdSource(partial(clock, number), lambda: dice)
        draft = Draft("clocks", "say", f"Turn {number}", to=to, force=True)
        ids.append(writer.write(draft, source).entry_id)
    return ids


def thread(folder: Path) -> Thread:
    return StoreReader(scenes.layout_of(str(folder)).root).thread("clocks")


@pytest.mark.parametrize("dice", [0, (1 << ulid.RANDOM_BITS) - 1], ids=["0", "max"])
@pytest.mark.parametrize("name", CLOCKS)
def test_a_log_is_in_the_order_it_was_written_in(
    tmp_path: Path, name: str, dice: int
) -> None:
    ids = write(tmp_path, CLOCKS[name], dice)
    found = thread(tmp_path)
    lines = [json.loads(line) for line in found.data.splitlines()]
    assert [line["entry_id"] for line in lines] == ids == sorted(set(ids))
    assert [line["title"] for line in lines] == [f"Turn {n}" for n in range(TURNS)]
    assert [line["parents"] for line in lines] == [[], *([one] for one in ids[:-1])]
    assert [entry.id for entry in found.entries] == ids
    assert found.state == folding.fold("clocks", found.entries)
    assert (found.state.ball, found.state.heads) == ("Codex", (ids[-1],))
    # What was put beside the log as it grew is what all of it gives.
    snapshot = StoreReader(scenes.layout_of(str(tmp_path)).root).snapshot("clocks")
    assert (snapshot.fresh, snapshot.state) == (True, found.state)


@pytest.mark.parametrize("name", WRONG)
def test_a_ball_is_passed_on_whatever_the_clock_says(tmp_path: Path, name: str) -> None:
    ids = write(tmp_path, WRONG[name], 7)
    found = thread(tmp_path)
    assert [entry.id for entry in found.entries] == ids
    assert [entry.title for entry in found.entries] == [
        f"Turn {number}" for number in range(TURNS)
    ]
    assert (found.state.ball, found.state.heads) == ("Codex", (ids[-1],))
    reader = StoreReader(scenes.layout_of(str(tmp_path)).root)
    assert reader.snapshot("clocks").state == found.state
    balls = Balls(reader, Directory())
    (ball,) = balls.held(balls.folders())
    assert ball.folder.startswith("codex")


def read(folder: Path, *words: str) -> str:
    """What `wc read` prints of the thread."""
    context = scenes.context(str(folder), "Codex")
    environment = {**context.env, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-m", "wc_cli", *words],
        cwd=context.cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_times_of_wrong_clocks_are_called_doubtful(tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    # The first clock is three days ahead; the third one years behind.
    clocks = (now + 72 * HOUR_MS, now, now - 9 * YEAR_MS, now)
    for number, clock in enumerate(clocks):
        writer = scenes.context(str(tmp_path), "Codex").writer()
        source = IdSource(partial(int, clock), partial(int, number))
        writer.write(Draft("clocks", "say", f"Turn {number}", force=True), source)
    doubtful = [item.is_doubtful(now) for item in numbered(thread(tmp_path))]
    assert doubtful == [True, True, True, False]
    a_week_later = [
        item.is_doubtful(now + 7 * 24 * HOUR_MS) for item in numbered(thread(tmp_path))
    ]
    assert a_week_later == [False, True, True, False]
    assert read(tmp_path, "read", "clocks").count("doubtful time") == 3
    marks = [
        "early" in entry
        for entry in json.loads(read(tmp_path, "read", "clocks", "--json"))["entries"]
    ]
    assert marks == [False, True, True, False]


def test_doctor_notes_a_time_that_nobody_can_repair(tmp_path: Path) -> None:
    ahead = time.time_ns() // 1_000_000 + 9 * YEAR_MS
    writer = scenes.context(str(tmp_path), "Codex").writer()
    source = IdSource(partial(int, ahead), partial(int, 7))
    writer.write(Draft("clocks", "say", "Turn 0", force=True), source)
    text = read(tmp_path, "doctor")  # which fails if there is a problem
    assert "Nothing is wrong.\n" in text
    assert (
        "note: 1 thread has an entry that is dated more than a day ahead, such as "
        "clocks: a clock was wrong, here or there. Ball and status are right\n"
    ) in text


def test_every_view_calls_the_time_of_a_wrong_clock_doubtful(tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    # The one who opens the thread has a clock that is three days ahead.
    turns = (
        (now + 72 * HOUR_MS, "Cursor", "Codex"),
        (now - 2 * HOUR_MS, "Codex", "Cursor"),
        (now - HOUR_MS, "Cursor", "Codex"),
    )
    for number, (clock, agent, to) in enumerate(turns):
        writer = scenes.context(str(tmp_path), agent).writer()
        source = IdSource(partial(int, clock), partial(int, number))
        draft = Draft("clocks", "say", f"Turn {number}", to=to, force=True)
        writer.write(draft, source)
        if not number:
            assert "since a doubtful time" in read(tmp_path, "whose", "clocks")
            assert "there since a doubtful time" in read(tmp_path, "stats", "clocks")
            assert read(tmp_path, "stats").splitlines()[3].endswith("?")
    spells = json.loads(read(tmp_path, "stats", "clocks", "--json"))["spells"]
    # The second is dated before the first, which its author had seen.
    assert [spell.get("doubtful", False) for spell in spells] == [True, True, False]
    hours = [round(spell["seconds"] / 3600) for spell in spells]
    assert hours == [0, 1, 1]
    assert read(tmp_path, "stats", "clocks").count("doubtful time") == 2
    for words in (
        ("updates", "--since", "1d"),
        ("read", "clocks", "--commits"),
        ("search", "Turn"),
    ):
        lines = [
            line for line in read(tmp_path, *words).splitlines() if "doubtful" in line
        ]
        marked = {line.partition("Turn ")[2][:1] for line in lines}
        assert marked == {"0", "1"}, words


def test_what_a_dead_battery_dates_is_neither_old_nor_stale(tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    turns = ((now, "Cursor", "Codex"), (now - 9 * YEAR_MS, "Codex", "Cursor"))
    for number, (clock, agent, to) in enumerate(turns):
        writer = scenes.context(str(tmp_path), agent).writer()
        source = IdSource(partial(int, clock), partial(int, number))
        draft = Draft("clocks", "say", f"Turn {number}", to=to, force=True)
        writer.write(draft, source)
    (row,) = read(tmp_path, "list", "--columns", "topic,age").splitlines()[1:]
    assert row.split()[-2:] == ["clocks", "now"]
    assert "since a doubtful time" in read(tmp_path, "whose", "clocks")
    brief = read(tmp_path, "brief", "--as", "Cursor")
    assert "- clocks · OPEN · just now · 1 new" in brief


def test_an_age_is_unknown_if_a_clock_was_ahead() -> None:
    assert times.age(times.rfc3339(START_MS + 25 * HOUR_MS), START_MS) == "?"
    assert times.age(times.rfc3339(START_MS + 23 * HOUR_MS), START_MS) == "now"
    ahead = times.seconds_between(START_MS + 25 * HOUR_MS, START_MS)
    assert times.ago(ahead) == "at a doubtful time"


def since(folder: Path, floor: str, *words: str) -> tuple[list[str], str]:
    """The titles that `wc updates` has since an entry, and where it continues."""
    found = json.loads(read(folder, "updates", "--since", floor, "--json", *words))
    titles = [entry["title"] for entry in found["entries"]]
    return titles, found.get("next_since", "")


def test_what_a_late_clock_wrote_is_news_all_the_same(tmp_path: Path) -> None:
    now = time.time_ns() // 1_000_000
    behind = now - 9 * YEAR_MS
    clocks = (now - 2000, now - 1000, behind, behind + 1, now)
    ids = []
    for number, clock in enumerate(clocks):
        writer = scenes.context(str(tmp_path), "Codex").writer()
        source = IdSource(partial(int, clock), partial(int, number))
        draft = Draft("clocks", "say", f"Turn {number}", force=True)
        ids.append(writer.write(draft, source).entry_id)
    assert ids[2] < ids[3] < ids[0] < ids[1] < ids[4]
    later = ["Turn 1", "Turn 2", "Turn 3", "Turn 4"]
    assert since(tmp_path, ids[0]) == (later, "")
    assert since(tmp_path, "1h") == (["Turn 0", *later], "")
    # Page by page: nothing twice, nothing left out, also at the end of the thread.
    for count in (4, 5):
        start, titles = ids[0], []
        while start:
            (page, start) = since(tmp_path, start, "--limit", "1")
            titles += page
        assert titles == later
        if count == 4:
            writer = scenes.context(str(tmp_path), "Codex").writer()
            source = IdSource(partial(int, behind + 2), partial(int, 9))
            draft = Draft("clocks", "say", "Turn 5", force=True)
            writer.write(draft, source)
            later = [*later, "Turn 5"]
