"""Changes in folders are reported, and so is what keeps them from being noticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_observe.stores.watch.notifier import (
    FolderWatch,
)
from wc_observe.stores.watch.watcher import OFF, POLLING, WATCHING, Moment, Watcher, now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCES = Path(__file__).parents[3] / "src"
SECONDS = 20.0


class Told:
    """What a watcher told so far."""

    def __init__(self) -> None:
        self.all: list[frozenset[str] | None] = []
        self._condition = threading.Condition()

    def __call__(self, paths: frozenset[str] | None) -> None:
        with self._condition:
            self.all.append(paths)
            self._condition.notify_all()

    def until(self, test: Callable[[list[frozenset[str] | None]], bool]) -> None:
        """Wait until what was told since the last `forget` fits."""
        with self._condition:
            assert self._condition.wait_for(lambda: test(self.all), SECONDS), self.all

    def looked(self) -> None:
        """Wait until everything had to be looked at; forget that."""
        self.until(lambda told: None in told)
        self.forget()

    def names(self, *paths: Path) -> None:
        """Wait until all of these paths were told, or everything."""
        wanted = {str(path) for path in paths}
        self.until(lambda told: None in told or wanted <= self.paths())

    def paths(self) -> set[str]:
        """All paths that were told since."""
        return {path for one in self.all for path in one or ()}

    def forget(self) -> None:
        with self._condition:
            self.all.clear()


@contextmanager
def watching(
    *folders: Path,
    clock: Callable[[], Moment] = now,
) -> Iterator[tuple[Told, Watcher]]:
    """A watcher that has begun."""
    told = Told()
    paths = [str(one) for one in folders]
    watcher = Watcher(paths, told, clock=clock)
    watcher.start()
    try:
        told.looked()
        yield told, watcher
    finally:
        watcher.stop()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / ".git" / "store"
    (root / "plan").mkdir(parents=True)
    (root / "plan" / "entries.jsonl").write_text("{}\n")
    return root


def test_an_append_is_reported_with_its_path(root: Path) -> None:
    log = root / "plan" / "entries.jsonl"
    with watching(root) as (told, watcher):
        assert watcher.state == WATCHING
        with log.open("a") as file:
            file.write("{}\n")
        told.names(log)
        assert told.all == [frozenset({str(log)})]


def test_replaced_removed_and_renamed_files_are_reported(root: Path) -> None:
    log, other = root / "plan" / "entries.jsonl", root / "plan" / "other"
    with watching(root) as (told, _):
        other.write_text("new\n")
        told.names(other)
        os.replace(other, log)
        told.names(log)
        log.unlink()
        told.names(log)
        told.forget()
        (root / "plan").rename(root / "moved")
        told.names(root / "plan", root / "moved")
        (root / "moved" / "x").touch()
        told.names(root / "moved" / "x")


def test_a_new_folder_is_named_again_for_what_was_written_at_once(root: Path) -> None:
    with watching(root) as (told, _):
        new = root / "new"
        new.mkdir()
        (new / "entries.jsonl").write_text("{}\n")
        told.until(lambda all_: sum(str(new) in (one or ()) for one in all_) == 3)
        told.forget()
        (new / "entries.jsonl").write_text("{}\n{}\n")
        told.names(new / "entries.jsonl")


def test_a_folder_in_the_place_of_another_is_heard(root: Path) -> None:
    with watching(root) as (told, _):
        shutil.rmtree(root)
        told.until(lambda all_: None in all_)
        # A folder that is seen as new is named instead, and all of it checked.
        named = {str(root / "again"), str(root / "again" / "x")}
        for _round in range(2):
            told.forget()
            (root / "again").mkdir(parents=True)
            told.looked()
            (root / "again" / "x").touch()
            told.until(lambda all_: None in all_ or bool(named & told.paths()))
            root.rename(root.with_name(f"aside-{_round}"))
            told.until(lambda all_: None in all_)


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    later, there = tmp_path / "a" / "later", tmp_path / "there"
    there.mkdir()
    with watching(later) as (told, watcher):
        assert watcher.state == WATCHING
        later.mkdir(parents=True)
        told.looked()
        (later / "x").touch()
        told.names(later / "x")
        assert watcher.state == WATCHING
    with watching(tmp_path / "b", there) as (told, _):
        (there / "y").touch()
        told.names(there / "y")
        (tmp_path / "b").mkdir()
        told.looked()


def test_a_flood_of_changes_is_reported_as_any_change(root: Path) -> None:
    with watching(root) as (told, _):
        for number in range(5000):
            (root / "plan" / f"{number}").touch()
        told.until(lambda all_: None in all_ or len(told.paths()) >= 5000)
    with watching(root) as (told, _):
        shutil.rmtree(root / "plan")  # quicker than a batch is long
        told.until(lambda all_: None in all_ or len(told.paths()) >= 5000)


def test_a_link_does_not_lead_out(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    with watching(root) as (told, _):
        new = root / "new"
        new.mkdir()
        told.looked()  # the folders are gathered again
        (outside / "deep" / "x").touch()
        (new / "y").touch()
        told.names(new / "y")
        (root / "plan" / "z").touch()
        told.names(root / "plan" / "z")
        assert not any("deep" in path for path in told.paths())


def test_a_link_that_comes_in_a_new_folder_does_not_either(
    root: Path, tmp_path: Path
) -> None:
    outside, made = tmp_path / "outside", tmp_path / "made"
    outside.mkdir()
    made.mkdir()
    (made / "link").symlink_to(outside)
    with watching(root) as (told, _):
        made.rename(root / "made")
        told.looked()
        (outside / "x").touch()
        (root / "made" / "y").touch()
        told.names(root / "made" / "y")
        beyond = (str(outside), f"{root}/made/link/")
        assert not any(path.startswith(beyond) for path in told.paths())


class Clock:
    """Runs like the real one, from a time that can be moved."""

    def __init__(self) -> None:
        self.ahead = Moment(0, 0)

    def __call__(self) -> Moment:
        wall, monotonic = now()
        return Moment(wall + self.ahead.wall, monotonic + self.ahead.monotonic)


@pytest.mark.parametrize(
    "ahead", [Moment(3600, 0), Moment(-3600, 0), Moment(31, 31)], ids=str
)
def test_after_sleep_a_set_clock_and_now_and_then_everything_is_looked_at(
    root: Path, ahead: Moment
) -> None:
    clock = Clock()
    with watching(root, clock=clock) as (told, _):
        time.sleep(0.05)
        assert told.all == []
        clock.ahead = ahead
        told.until(lambda all_: all_ == [None])


def test_a_fault_of_the_listener_does_not_end_it(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[object] = []

    def heard(paths: frozenset[str] | None) -> None:
        calls.append(paths)
        raise ValueError("oh")

    watcher = Watcher([str(root)], heard)
    watcher.start()
    until = time.monotonic() + SECONDS
    while len(calls) < 2 and time.monotonic() < until:
        (root / "plan" / f"{len(calls)}").touch()
        time.sleep(0.01)
    watcher.stop()
    assert len(calls) >= 2
    assert "could not be processed" in caplog.text


@pytest.mark.parametrize("faults", [1, 2])
def test_what_could_not_be_taken_in_is_looked_for_again(
    root: Path, faults: int, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()
    failed: list[frozenset[str] | None] = []

    def heard(paths: frozenset[str] | None) -> None:
        if told.all and len(failed) < faults:
            failed.append(paths)
            raise ValueError("oh")
        told(paths)

    watcher = Watcher([str(root)], heard)
    watcher.start()
    try:
        told.until(lambda all_: None in all_)
        log = root / "plan" / "entries.jsonl"
        log.write_text("{}\n{}\n")
        told.until(lambda all_: len(all_) > 1)
    finally:
        watcher.stop()
    assert failed == [frozenset({str(log)}), None][:faults]
    assert told.all == [None, None]
    assert caplog.text.count("could not be processed") == faults


def test_stopping_ends_the_thread_and_gives_the_kernel_its_own_back(
    root: Path,
) -> None:
    def inotify() -> int:
        found = 0
        for one in Path("/proc/self/fd").glob("*"):
            try:
                found += "inotify" in os.readlink(one)
            except OSError:
                continue
        return found

    def given_back() -> bool:
        # The library's own thread closes it.
        until = time.monotonic() + SECONDS
        while inotify() and time.monotonic() < until:
            time.sleep(0.01)
        return not inotify()

    assert given_back()  # what the test before this one had
    before = threading.active_count()
    with watching(root) as (told, watcher):
        assert threading.active_count() == before + 1
        assert inotify() or sys.platform != "linux"
        watcher.stop()
        watcher.stop()
        told.forget()
        (root / "plan" / "x").touch()
        time.sleep(0.05)
        assert told.all == []
        assert watcher.state == OFF
    assert given_back()
    assert threading.active_count() == before


def test_the_kernel_is_asked_through_one_private_name_that_is_still_there(
    root: Path,
) -> None:
    from watchfiles._rust_notify import RustNotify

    ear = FolderWatch([str(root)])
    assert isinstance(ear._notify, RustNotify)
    (root / "plan" / "x").mkdir()
    heard = ear.wait(SECONDS, threading.Event())
    assert heard == (frozenset({f"{root}/plan/x"}),) * 2 + (frozenset(),)
    ear.close()
    with pytest.raises(FileNotFoundError):
        FolderWatch([f"{root}/gone"])


PROGRAM = """
import os, sys, time
from wc_observe.stores.watch.watcher import Watcher
root, folders = sys.argv[1], int(sys.argv[2])
told = []
watcher = Watcher([root], told.append)
watcher.start()
while not told:
    time.sleep(0.01)
for number in range(folders):
    os.mkdir(f"{root}/{number}")
if folders:
    # Nobody says that there is no room for these: the next look finds out.
    time.sleep(0.3)
    watcher._next_full = 0.0
    until = time.monotonic() + 20
    while watcher.state == "watching" and time.monotonic() < until:
        time.sleep(0.01)
count = len(told)
while len(told) == count:
    time.sleep(0.01)
print(watcher.state)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize(
    ("limit", "value", "folders", "words"),
    [
        ("max_inotify_instances", 0, 0, "max_user_instances"),
        ("max_inotify_watches", 1, 0, "max_user_watches"),
        ("max_inotify_watches", 3, 5, "max_user_watches"),
    ],
)
def test_where_the_kernel_has_no_room_it_looks_from_time_to_time(
    root: Path, limit: str, value: int, folders: int, words: str
) -> None:
    # A user namespace of its own has limits of its own.
    script = f'echo {value} > /proc/sys/user/{limit} && exec "$@"'
    space = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    probe = subprocess.run([*space, script, "-", "true"], check=False, timeout=60)
    if probe.returncode:
        pytest.skip("NO USER NAMESPACES HERE: the limits of inotify cannot be tested")
    done = subprocess.run(
        [*space, script, "-", sys.executable, "-c", PROGRAM, str(root), str(folders)],
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == POLLING
    assert f"sudo sysctl fs.inotify.{words}=" in done.stderr
