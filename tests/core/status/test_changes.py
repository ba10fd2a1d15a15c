"""The record of balls whose files changed, where someone holds many."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_cli.index import listingfiles
from wc_cli.store import durable
from wc_core import ulid
from wc_core.layout import Layout
from wc_core.status import changes, holders, listings
from wc_core.status.changes import BallChange, BallChanges

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 1_000_000_000
# Earlier than every change of a test.
BEGAN_NS = time.time_ns() - 3600 * SECOND
FOLDERS = ("codex", "claudecode")
TOPICS = ("auth", "parser", "radar")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A store in which two participants hold so many balls that a record is worth it,
    with a record that began an hour ago."""
    store = Layout(str(tmp_path))
    Path(store.index_folder).mkdir(parents=True)
    for folder in FOLDERS:
        path = Path(listings.root_of(store), folder)
        path.mkdir(parents=True)
        for number in range(2000):
            if path.stat().st_size >= listings.LONG:
                break
            (path / f"{ulid.encode(number)}.topic-{'x' * 150}").touch()
        else:
            pytest.skip(f"2,000 names take only {path.stat().st_size} bytes here")
    Path(store.ball_changes).write_bytes(changes.first_line(BEGAN_NS))
    return store


def name_of(topic: str) -> str:
    return f"{ulid.encode(1 << 40)}.{topic}"


def path_of(folder: str, topic: str) -> str:
    return f"{changes.HOLDERS}{folder}/{name_of(topic)}"


def record(layout: Layout, folder: str, topic: str, at_ns: int = 0) -> None:
    path = path_of(folder, topic)
    line = changes.render(layout, [path], at_ns or time.time_ns())
    durable.append_unflushed(layout.ball_changes, line, layout.root)


def write(layout: Layout, folder: str, topic: str) -> None:
    """Write the file of a ball, as wc does."""
    path = Path(layout.local, path_of(folder, topic))
    half = Path(layout.root, "half")
    half.write_text("wc1 OPEN\n")
    half.replace(path)


def changed(layout: Layout, since_ns: int) -> list[tuple[str, str]]:
    return sorted(
        (ball.folder, ball.topic) for ball in holders.changed_balls(layout, since_ns)
    )


def a_moment_later() -> int:
    """A time later than all files so far, and earlier than those written next. The
    clock that sets the times of files is coarser than ours."""
    time.sleep(0.03)
    now_ns = time.time_ns()
    time.sleep(0.03)
    return now_ns


class Event(NamedTuple):
    """A change of a ball's file, ``pause`` seconds after the previous event, and
    ``delay`` seconds after its line; without a line: ``None``."""

    folder: str
    topic: str
    is_removed: bool
    pause: float
    delay: float | None


EVENTS = st.builds(
    Event,
    st.sampled_from(FOLDERS),
    st.sampled_from(TOPICS),
    st.booleans(),
    st.sampled_from([0.3, 1.5, 10, 100]),
    st.sampled_from([0.0, 0.01, 0.5, 30.0, None]),
)


class Folders:
    """The times of the files in the folders of holders and of these folders, in
    seconds since a record began, and that record."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], float] = {}
        self.changed = dict.fromkeys(FOLDERS, 0.0)
        self.lines: list[BallChange] = []

    def announce(self, seconds: float, event: Event) -> None:
        times = (in_ns(seconds), in_ns(self.changed[event.folder]))
        self.lines.append(BallChange(*times, event.folder, event.topic))

    def change(self, seconds: float, event: Event) -> None:
        self.changed[event.folder] = seconds
        if event.is_removed:
            self.files.pop((event.folder, event.topic), None)
        else:
            self.files[event.folder, event.topic] = seconds


def in_ns(seconds: float) -> int:
    return BEGAN_NS + int(seconds * SECOND)


@given(events=st.lists(EVENTS, max_size=8), since=st.floats(-30, 200))
def test_all_that_changed_is_on_a_record_that_counts(
    events: list[Event], since: float
) -> None:
    folders, before = Folders(), Folders()
    calls: list[tuple[float, Event, bool]] = []
    seconds = 10.0
    for event in events:
        seconds += event.pause
        if event.delay is not None:
            calls.append((seconds, event, False))
        calls.append((seconds + (event.delay or 0), event, True))
    for after, event, is_change in sorted(calls, key=lambda call: call[0]):
        for known in (folders, *([before] if after <= since else [])):
            (known.change if is_change else known.announce)(after, event)
    for folder in FOLDERS:
        times = (in_ns(since), in_ns(folders.changed[folder]))
        names = BallChanges(BEGAN_NS, tuple(folders.lines)).names(folder, *times)
        if names is None:
            continue  # the times of all files are looked at
        for topic in TOPICS:
            now = folders.files.get((folder, topic), -1)
            assert topic in names or now == before.files.get((folder, topic), -1)
        if all(event.delay in {0, 0.01} for event in events):
            assert names == {line.name for line in folders.lines if line[2] == folder}


def test_changes_without_long_delays_are_found_on_the_record() -> None:
    """So that the test above is not satisfied by a record that never counts."""
    folders = Folders()
    for number, topic in enumerate(TOPICS, 1):
        event = Event("codex", topic, is_removed=False, pause=0, delay=0)
        folders.announce(number * 100, event)
        folders.change(number * 100.01, event)
    record = BallChanges(BEGAN_NS, tuple(folders.lines))
    times = in_ns(150), in_ns(folders.changed["codex"])
    assert record.names("codex", *times) == {*TOPICS}
    assert record.names("codex", times[0], times[1] + SECOND) is None
    assert record.names("codex", BEGAN_NS + SECOND, times[1]) is None
    assert record.names("claudecode", times[0], BEGAN_NS) == set()


def test_only_recorded_balls_are_looked_at(layout: Layout) -> None:
    since_ns = a_moment_later()
    # Its line covers all changes of the folder in the next seconds.
    record(layout, "codex", "auth", time.time_ns() + 2 * SECOND)
    write(layout, "codex", "auth")
    # A lie, which shows which of the two is read.
    write(layout, "codex", "parser")
    assert changed(layout, since_ns) == [("codex", "auth")]
    Path(layout.ball_changes).unlink()
    assert changed(layout, since_ns) == [("codex", "auth"), ("codex", "parser")]


def test_a_change_without_a_line_is_found(layout: Layout) -> None:
    since_ns = a_moment_later()
    record(layout, "codex", "auth", since_ns - SECOND)
    write(layout, "codex", "parser")
    record(layout, "codex", "auth")
    write(layout, "codex", "auth")
    assert changed(layout, since_ns) == [("codex", "auth"), ("codex", "parser")]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data + b"x\n",
        lambda data: data + b"17\n",
        lambda data: data + b"17 16 5 codex\n",
        lambda data: data + b"17 codex/01.auth\n",
        # A line that was cut off, with the next one after it.
        lambda data: data[:-20] + data.splitlines(keepends=True)[1],
        lambda data: data + b"17 16 1" + data.splitlines(keepends=True)[1],
        # The clock was set back.
        lambda data: data + b"%d 16 13 codex/01.auth\n" % (BEGAN_NS * 2),
        lambda data: data + b"\n",
        lambda data: data.replace(b"changes 1", b"changes 2"),
        lambda data: data.replace(b"changes 1 ", b"changes 1 x"),
        lambda data: data + data.splitlines(keepends=True)[1] * 1000,
        lambda _: b"",
        lambda _: b"\xff\n",
    ],
)
def test_a_damaged_or_long_record_does_not_count(
    layout: Layout, damage: Callable[[bytes], bytes]
) -> None:
    path = Path(layout.ball_changes)
    since_ns = a_moment_later()
    record(layout, "codex", "auth")
    write(layout, "codex", "parser")
    assert changes.load(layout) is not None
    path.write_bytes(damage(path.read_bytes()))
    assert changes.load(layout) is None
    assert changed(layout, since_ns) == [("codex", "parser")]
    listingfiles.begin_record(layout)
    begun = changes.load(layout)
    assert begun is not None
    assert begun.began_ns > since_ns
    assert not begun.changes


def test_a_record_that_counts_is_not_begun_again(layout: Layout) -> None:
    record(layout, "codex", "auth", BEGAN_NS + SECOND)
    before = Path(layout.ball_changes).read_bytes()
    listingfiles.begin_record(layout)
    assert Path(layout.ball_changes).read_bytes() == before


def test_a_link_in_the_place_of_a_record_is_not_followed(
    layout: Layout, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(changes.first_line(BEGAN_NS))
    path = Path(layout.ball_changes)
    path.unlink()
    path.symlink_to(outside)
    record(layout, "codex", "auth", BEGAN_NS + SECOND)
    assert outside.read_bytes() == changes.first_line(BEGAN_NS)
    assert changes.load(layout) is None


def test_only_the_files_of_holders_are_recorded(layout: Layout) -> None:
    paths = ["status/asked/codex/x", path_of("codex", "auth"), "names/x/auth"]
    before_ns = Path(listings.root_of(layout), "codex").stat().st_ctime_ns
    line = f"17 {before_ns} 37 codex/{name_of('auth')}\n"
    assert changes.render(layout, paths, 17) == line.encode()
    path = path_of("a new one", "auth")
    assert changes.render(layout, [path], 20).startswith(b"20 0 41 a new one/")
