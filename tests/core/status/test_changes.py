"""The record of balls whose files changed, where someone holds many."""

from __future__ import annotations

import os
import shutil
from functools import partial
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECOND = 1_000_000_000
# Earlier than every change of a test.
BEGAN_NS = 1_700_000_000 * SECOND
FOLDERS = ("codex", "claudecode")
TOPICS = ("auth", "parser", "radar")


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    """A store in which two participants hold so many balls that a record is worth it;
    none of their files has changed since the record began."""
    store = Layout(str(tmp_path_factory.mktemp("changes")))
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
    yield store
    shutil.rmtree(store.root)


@pytest.fixture(autouse=True)
def quiet(layout: Layout) -> None:
    """Begin each test like this."""
    begin(layout)


def begin(layout: Layout) -> None:
    Path(layout.ball_changes).write_bytes(changes.first_line(BEGAN_NS))
    for folder in FOLDERS:
        path = Path(listings.root_of(layout), folder)
        for name in os.listdir(path):
            os.utime(path / name, ns=(0, 0))
        for topic in TOPICS:
            (path / name_of(topic)).unlink(missing_ok=True)
        os.utime(path, ns=(0, 0))


def name_of(topic: str) -> str:
    return f"{ulid.encode(1 << 40)}.{topic}"


def path_of(folder: str, topic: str) -> str:
    return f"{changes.HOLDERS}{folder}/{name_of(topic)}"


def record(layout: Layout, folder: str, topic: str, at_ns: int) -> None:
    line = changes.render(layout, [path_of(folder, topic)], at_ns)
    durable.append_unflushed(layout.ball_changes, line, layout.root)


def change(
    layout: Layout, folder: str, topic: str, at_ns: int, *, remove: bool = False
) -> None:
    """Write or remove the file of a ball at this time."""
    path = Path(layout.local, path_of(folder, topic))
    if remove:
        path.unlink(missing_ok=True)
    else:
        path.write_text("wc1 OPEN\n")
        os.utime(path, ns=(at_ns, at_ns))
    os.utime(path.parent, ns=(at_ns, at_ns))


def changed(layout: Layout, since_ns: int) -> list[tuple[str, str]]:
    return [
        (ball.folder, ball.topic) for ball in holders.changed_balls(layout, since_ns)
    ]


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


@given(events=st.lists(EVENTS, max_size=8), since=st.floats(-30, 200))
def test_a_record_never_changes_what_is_found(
    layout: Layout, events: list[Event], since: float
) -> None:
    begin(layout)
    calls: list[tuple[float, Callable[[int], None]]] = []
    seconds = 10.0
    for event in events:
        seconds += event.pause
        place = (layout, event.folder, event.topic)
        if event.delay is not None:
            calls.append((seconds, partial(record, *place)))
        after = seconds + (event.delay or 0)
        calls.append((after, partial(change, *place, remove=event.is_removed)))
    for after, call in sorted(calls, key=lambda pair: pair[0]):
        call(BEGAN_NS + int(after * SECOND))
    since_ns = BEGAN_NS + int(since * SECOND)
    with_record = changed(layout, since_ns)
    Path(layout.ball_changes).unlink()
    assert with_record == changed(layout, since_ns)


def test_only_recorded_balls_are_looked_at(layout: Layout) -> None:
    since_ns = BEGAN_NS + 50 * SECOND
    at_ns = BEGAN_NS + 100 * SECOND
    record(layout, "codex", "auth", at_ns)
    change(layout, "codex", "auth", at_ns)
    # A lie, which shows which of the two is read.
    change(layout, "codex", "parser", at_ns)
    assert changed(layout, since_ns) == [("codex", "auth")]
    Path(layout.ball_changes).unlink()
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
    at_ns = BEGAN_NS + 100 * SECOND
    record(layout, "codex", "auth", at_ns)
    change(layout, "codex", "parser", at_ns)
    assert changes.load(layout) is not None
    path.write_bytes(damage(path.read_bytes()))
    assert changes.load(layout) is None
    assert changed(layout, at_ns) == [("codex", "parser")]
    listingfiles.begin_record(layout)
    begun = changes.load(layout)
    assert begun is not None
    assert begun.began_ns > at_ns
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
    name = name_of("auth").encode()
    assert changes.render(layout, paths, 17) == b"17 0 37 codex/%s\n" % name
    change(layout, "codex", "auth", 18)
    assert changes.render(layout, paths, 19) == b"19 18 37 codex/%s\n" % name
    path = path_of("a new one", "auth")
    assert changes.render(layout, [path], 20).startswith(b"20 0 41 a new one/")
