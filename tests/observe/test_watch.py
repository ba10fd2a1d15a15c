"""Changes of threads are reported, and so is what keeps them from being noticed."""

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

from wc_observe.stores.watch import StoreWatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.observe.stores import Store

SOURCES = Path(__file__).parents[2] / "src"
SECONDS = 20.0


class Told:
    """What a listener was told so far."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        self._condition = threading.Condition()

    def __call__(self, topics: frozenset[str]) -> None:
        with self._condition:
            self.topics |= topics
            self._condition.notify_all()

    def hears(self, *topics: str, seconds: float = SECONDS) -> None:
        """Wait until it was told of exactly these threads; forget them."""
        with self._condition:
            met = self._condition.wait_for(lambda: self.topics == {*topics}, seconds)
            assert met, self.topics
            self.topics.clear()


@contextmanager
def listening(
    root: Path, watch: StoreWatch | None = None, *, warm: bool = True
) -> Iterator[Told]:
    """A listener of a store; ``warm`` once the kernel watches."""
    told = Told()
    end = (watch or StoreWatch()).listen(str(root), told)
    if warm:
        time.sleep(0.5)
    try:
        yield told
    finally:
        end()


def watchers() -> int:
    return sum("watcher" in thread.name for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    until = time.monotonic() + SECONDS
    while watchers() and time.monotonic() < until:
        time.sleep(0.01)
    assert not watchers()


@pytest.mark.parametrize("warm", [True, False])
def test_what_is_written_is_reported_within_a_second(
    store: Store,
    *,
    warm: bool,
) -> None:
    store.thread("plan")
    store.thread("other")
    with listening(store.root, warm=warm) as told:
        store.append("plan", store.entry("plan"))
        told.hears("plan", seconds=1)
        store.thread("new")
        told.hears("new", seconds=1)
        store.append("new", store.entry("new"))
        told.hears("new", seconds=1)
        Path(store.layout.log("new")).rename(store.layout.log("plan"))
        told.hears("new", "plan", seconds=1)
        shutil.rmtree(store.layout.folder("plan"))
        told.hears("plan", seconds=1)
        Path(store.layout.folder("other")).rename(store.layout.folder("b"))
        told.hears("other", "b", seconds=1)
        # Neither of these is a change of a thread.
        Path(store.layout.meta("b")).touch()
        Path(store.layout.page("b")).write_text("# b\n")
        store.append("b", store.entry("b"))
        told.hears("b", seconds=1)
        Path(store.layout.page("old")).write_text("Status: OPEN\n\n# old\n")
        told.hears("old", seconds=1)
        Path(store.layout.log("b")).unlink()
        Path(store.layout.log("b")).symlink_to(store.layout.page("old"))
        # Of a thread without a log, the page counts.
        told.hears("b", seconds=1)


def test_what_is_written_at_once_to_a_new_thread_is_reported(store: Store) -> None:
    with listening(store.root) as told:
        for number in range(20):
            store.thread(f"t{number}")
        told.hears(*(f"t{number}" for number in range(20)))


def test_a_store_that_comes_and_goes_is_reported(store: Store, tmp_path: Path) -> None:
    store.thread("plan")
    shutil.move(store.root, tmp_path / "aside")
    with listening(store.root) as told:
        for _ in range(2):
            shutil.copytree(tmp_path / "aside", store.root)
            told.hears("plan")
            store.append("plan", store.entry("plan"))
            told.hears("plan")
            shutil.rmtree(store.root)
            told.hears("plan")


def test_a_flood_of_changes_is_reported(store: Store) -> None:
    topics = {f"t{number}" for number in range(3000)}
    with listening(store.root) as told:
        for topic in topics:
            store.thread(topic, meta=False)
        told.hears(*topics)
        shutil.rmtree(store.layout.threads)
        told.hears(*topics)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_does_not_lead_out(
    store: Store, tmp_path: Path, *, is_there: bool
) -> None:
    """One that is there, and one that comes in a new folder."""
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    store.thread("plan")
    made = Path(store.layout.folder("made"))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "link").symlink_to(outside)
    if is_there:
        shutil.move(tmp_path / "made", made)
    with listening(store.root) as told:
        if not is_there:
            (tmp_path / "made").rename(made)
        store.thread("made")
        told.hears("made")
        time.sleep(0.5)
        assert not {outside.stat().st_ino, (outside / "deep").stat().st_ino} & watched()
        store.thread("new")
        told.hears("new")
        store.append("made", store.entry("made"))
        told.hears("made")


def watched() -> set[int]:
    """The inodes of the folders that this process watches."""
    inodes = set()
    for info in Path("/proc/self/fdinfo").glob("*"):
        try:
            lines = info.read_text().splitlines()
        except OSError:
            continue
        lines = [line for line in lines if line.startswith("inotify")]
        inodes |= {int(line.split(" ino:")[1].split()[0], 16) for line in lines}
    return inodes


def test_after_sleep_everything_is_looked_at(store: Store, tmp_path: Path) -> None:
    """A hard link is another name of a log, of which the kernel reports nothing."""
    store.thread("plan")
    os.link(store.layout.log("plan"), tmp_path / "log")
    ahead = [0.0]
    watch = StoreWatch(lambda: time.time() + ahead[0])
    with listening(store.root, watch) as told:
        for seconds in (3600.0, -3600.0, 31.0):
            with (tmp_path / "log").open("ab") as log:
                log.write(b"{}\n")
            time.sleep(0.5)
            assert not told.topics
            ahead[0] += seconds
            told.hears("plan", seconds=2)


def test_a_fault_of_a_listener_does_not_end_it(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: frozenset[str]) -> None:
        raise ValueError("oh")

    watch = StoreWatch()
    end = watch.listen(str(store.root), fail)
    with listening(store.root, watch) as told:
        assert watchers() == 1
        for topic in ("one", "two"):
            store.thread(topic)
            told.hears(topic)
    end()
    assert "could not be processed" in caplog.text


def test_stopping_gives_the_kernel_its_own_back(store: Store) -> None:
    def inotify() -> int:
        found = 0
        for one in Path("/proc/self/fd").glob("*"):
            try:
                found += "inotify" in os.readlink(one)
            except OSError:
                continue
        return found

    def is_given_back() -> bool:
        # The library's own thread closes it.
        until = time.monotonic() + SECONDS
        while inotify() and time.monotonic() < until:
            time.sleep(0.01)
        return not inotify()

    assert is_given_back()  # what the test before this one had
    with listening(store.root) as told:
        assert inotify() or sys.platform != "linux"
    store.thread("plan")
    time.sleep(0.3)
    assert not told.topics
    assert is_given_back()


PROGRAM = """
import os, sys, time
from wc_observe.stores.watch import StoreWatch
root, folders = sys.argv[1], int(sys.argv[2])
ahead, told = [0.0], []
watch = StoreWatch(lambda: time.time() + ahead[0])
watch.listen(root, told.append)
time.sleep(0.5)
for number in range(folders):
    os.mkdir(f"{root}/graph/baseline/threads/{number}")
if folders:
    # Nobody says that there is no room for these: the next look finds out.
    time.sleep(0.5)
    ahead[0] = 60.0
    time.sleep(0.7)
told.clear()
with open(f"{root}/graph/baseline/threads/plan/entries.jsonl", "a") as log:
    log.write("{}\\n")
while not told:
    time.sleep(0.01)
print(*told[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize(
    ("limit", "value", "folders", "words"),
    [
        ("max_inotify_instances", 0, 0, "max_user_instances"),
        ("max_inotify_watches", 1, 0, "max_user_watches"),
        ("max_inotify_watches", 4, 5, "max_user_watches"),
    ],
)
def test_where_the_kernel_has_no_room_it_looks_from_time_to_time(
    store: Store, limit: str, value: int, folders: int, words: str
) -> None:
    store.thread("plan")
    # A user namespace of its own has limits of its own.
    script = f'echo {value} > /proc/sys/user/{limit} && exec "$@"'
    space = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    probe = subprocess.run([*space, script, "-", "true"], check=False, timeout=60)
    if probe.returncode:
        pytest.skip("NO USER NAMESPACES HERE: the limits of inotify cannot be tested")
    program = [sys.executable, "-c", PROGRAM, str(store.root), str(folders)]
    done = subprocess.run(
        [*space, script, "-", *program],
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "plan"
    assert f"sudo sysctl fs.inotify.{words}=" in done.stderr
