"""A store for the tests of the index, and what may be done to it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    linear_logs,
    viewer,
    write_thread,
)
from tests.oldertool import OlderTool
from wc_cli.ledger.index import cachefile
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_core.ledger.threads.model import Entry
    from wc_core.reading.views.rows import ThreadRow


def a_log(count: int) -> list[Entry]:
    return chain(*(entry(step, AGENTS[step % 2]) for step in range(count)))


TOPICS = ("t", "u", "%2Ev")


def soon() -> int:
    """A clock by which nothing was written just now."""
    return time.time_ns() + 10_000_000_000


@contextlib.contextmanager
def without_cache(reader: StoreReader) -> Iterator[None]:
    """A store whose cache is hidden in the block."""
    path, hidden = reader.layout.cache, f"{reader.layout.cache}.hidden"
    if has_cache := os.path.lexists(path):
        os.rename(path, hidden)
    yield
    if has_cache:
        os.rename(hidden, path)


def by_files(reader: StoreReader) -> list[ThreadRow]:
    """The rows of a store without its cache."""
    with without_cache(reader):
        return Listing(reader, viewer()).rows()


class Store:
    """A store, and what may be done to it."""

    def __init__(self, root: str) -> None:
        self.reader = StoreReader(root)
        self.root = Path(self.reader.layout.root)
        (self.root / ".local").mkdir(exist_ok=True)
        self.count = 0

    def refresh(self) -> None:
        """Brings the cache up to date, long after the last write."""
        cachefile.refresh(str(self.root), soon)

    def take(self, step: Step) -> None:
        """Brings the cache up to date or not, then does what the step says."""
        is_refreshed, action, topic, log = step
        if is_refreshed:
            self.refresh()
        action(self, topic, log)

    def log(self, topic: str) -> Path:
        return Path(self.reader.layout.log(topic))

    def write(self, topic: str, log: list[Entry]) -> None:
        write_thread(self.root, topic, log, meta=len(log) % 2 == 0)

    def append(self, topic: str, log: list[Entry]) -> None:
        if self.log(topic).exists():
            with self.log(topic).open("ab") as file:
                file.writelines(codec.to_line(one, 0) for one in log)

    def older_tool(self, topic: str, _: list[Entry]) -> None:
        self.count += 1
        tool = OlderTool(self.root)
        if topic != "%2Ev":
            tool.init_thread(topic)
            if self.count % 2:
                tool.say(topic, f"title {self.count}", "body")
            elif tool.meta(topic) is not None:  # that of a removed thread has gone
                tool.set_status(topic, f"word {self.count}")

    def truncate(self, topic: str, log: list[Entry]) -> None:
        if self.log(topic).exists():
            info = self.log(topic).stat()
            os.truncate(self.log(topic), info.st_size * len(log) // 13)
            # Otherwise each reader waits for the rest of its last line.
            long_ago = info.st_mtime_ns - 10_000_000_000
            os.utime(self.log(topic), ns=(long_ago, long_ago))

    def restore(self, topic: str, _: list[Entry]) -> None:
        """Replaces the folder by a copy of itself, as git does with files."""
        folder = self.log(topic).parent
        if folder.exists():
            shutil.copytree(folder, self.root / "copy")
            shutil.rmtree(folder)
            (self.root / "copy").rename(folder)

    def remove(self, topic: str, _: list[Entry]) -> None:
        shutil.rmtree(self.log(topic).parent, ignore_errors=True)

    def label(self, topic: str, _: list[Entry]) -> None:
        notes = Path(self.reader.layout.annotations(topic))
        if notes.parent.exists():
            self.count += 1
            with notes.open("a") as file:
                file.write(
                    '{"kind": "tag", "target_type": "thread", "value": '
                    f'"tag-{self.count}"}}\n'
                )

    def cut_cache(self, _: str, log: list[Entry]) -> None:
        path = Path(self.reader.layout.cache)
        if path.exists():
            os.truncate(path, path.stat().st_size * len(log) // 13)


ACTIONS: tuple[Callable[[Store, str, list[Entry]], None], ...] = (
    *(Store.write, Store.append, Store.older_tool, Store.truncate, Store.restore),
    *(Store.remove, Store.label, Store.cut_cache),
)


Step = tuple[bool, "Callable[[Store, str, list[Entry]], None]", str, "list[Entry]"]

# Whether the cache is refreshed before each action, the action, its thread, and
# entries for it.
histories = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from(ACTIONS),
        st.sampled_from(TOPICS),
        linear_logs(),
    ),
    min_size=1,
    max_size=5,
)


@contextlib.contextmanager
def begun_store() -> Iterator[Store]:
    """A store with a thread of two entries for each topic."""
    with TemporaryDirectory() as folder:
        store = Store(folder)
        for topic in TOPICS:
            store.write(topic, a_log(2))
        yield store
