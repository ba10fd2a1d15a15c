"""The overview that is kept: rows are the same with it and without it, whatever was
done to the store since it was written."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    linear_logs,
    relaxed,
    viewer,
    write_thread,
)
from tests.oldertool import OlderTool
from wc_cli.index import overviewfile
from wc_core.index import overview
from wc_core.threads import codec
from wc_core.threads.reader import StoreReader
from wc_core.views.listing import Listing, thread_listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.threads.model import Entry

TOPICS = ("t", "u", "%2Ev")


def soon() -> int:
    """A clock by which nothing was written just now."""
    return time.time_ns() + 10_000_000_000


def by_files(reader: StoreReader) -> Listing:
    """The rows of a store without its index."""
    hidden = f"{reader.layout.index_folder}.hidden"
    has_index = os.path.isdir(reader.layout.index_folder)
    if has_index:
        os.rename(reader.layout.index_folder, hidden)
    found = thread_listing(reader, viewer())
    if has_index:
        os.rename(hidden, reader.layout.index_folder)
    return found


class Store:
    """A store, and what may be done to it."""

    def __init__(self, root: str) -> None:
        self.reader = StoreReader(root)
        self.root = Path(self.reader.layout.root)
        self.count = 0

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
            else:
                tool.set_status(topic, f"word {self.count}")

    def truncate(self, topic: str, log: list[Entry]) -> None:
        if self.log(topic).exists():
            size = self.log(topic).stat().st_size
            os.truncate(self.log(topic), size * len(log) // 13)

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
                    '{"kind": "tag", "target_type": "thread", "text": '
                    f'"tag-{self.count}"}}\n'
                )

    def cut_index(self, _: str, log: list[Entry]) -> None:
        path = Path(self.reader.layout.overview)
        if path.exists():
            os.truncate(path, path.stat().st_size * len(log) // 13)


ACTIONS: tuple[Callable[[Store, str, list[Entry]], None], ...] = (
    *(Store.write, Store.append, Store.older_tool, Store.truncate, Store.restore),
    *(Store.remove, Store.label, Store.cut_index),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("update", "rebuild", "leave")),
            st.sampled_from(ACTIONS),
            st.sampled_from(TOPICS),
            linear_logs(),
        ),
        min_size=1,
        max_size=7,
    )
)
@relaxed
def test_rows_are_the_same_with_the_index_and_without(
    history: list[
        tuple[str, Callable[[Store, str, list[Entry]], None], str, list[Entry]]
    ],
) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / ".local").mkdir()
        store = Store(folder)
        for topic in TOPICS:
            store.write(topic, a_log(2))
        for indexing, action, topic, log in history:
            if indexing == "update":
                overviewfile.update(store.reader, [topic], soon)
            elif indexing == "rebuild":
                overviewfile.rebuild(store.reader, soon)
            action(store, topic, log)
            with_index = thread_listing(store.reader, viewer())
            assert with_index.rows == by_files(store.reader).rows


def test_lines_are_written_appended_and_compacted(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    (tmp_path / ".local").mkdir()
    log = a_log(3)
    store.write("t", log[:2])
    store.write("u", log[:2])
    overviewfile.update(store.reader, ["t"], soon)
    path = Path(store.reader.layout.overview)
    assert thread_listing(store.reader, viewer()).unindexed == 0
    first = path.read_bytes()
    store.write("t", log)
    assert thread_listing(store.reader, viewer()).unindexed == 1
    overviewfile.update(store.reader, ["t"], soon)
    assert path.read_bytes().startswith(first)
    assert thread_listing(store.reader, viewer()).unindexed == 0
    for number in range(300):
        store.write("t", log[: number % 2 + 1])
        overviewfile.update(store.reader, ["t"], soon)
    assert path.stat().st_size < 1 << 17
    assert thread_listing(store.reader, viewer()).unindexed == 0


def test_what_was_written_just_now_is_not_indexed(tmp_path: Path) -> None:
    (tmp_path / ".local").mkdir()
    store = Store(str(tmp_path))
    store.write("t", a_log(2))
    overviewfile.update(store.reader, ["t"])
    assert overview.read_lines(store.reader.layout) == {}
    time.sleep(0.11)
    overviewfile.update(store.reader, ["t"])
    assert [*overview.read_lines(store.reader.layout)] == ["t"]


def test_a_rename_and_a_rival_show_at_once(tmp_path: Path) -> None:
    (tmp_path / ".local").mkdir()
    store = Store(str(tmp_path))
    renamed = [
        one._replace(new_topic="w" if number else "")
        for number, one in enumerate(a_log(2))
    ]
    store.write("t", renamed)
    overviewfile.rebuild(store.reader, soon)
    (row,) = thread_listing(store.reader, viewer()).rows
    assert row.name == "w"
    store.write("w", a_log(2))
    rows = thread_listing(store.reader, viewer()).rows
    assert {row.topic: row.name for row in rows} == {"t": "t", "w": "w"}


def a_log(count: int) -> list[Entry]:
    return chain(*(entry(step, AGENTS[step % 2]) for step in range(count)))


def test_a_file_of_another_program_that_is_changed_in_place_shows_at_once(
    tmp_path: Path,
) -> None:
    (tmp_path / ".local").mkdir()
    tool, store = OlderTool(tmp_path), Store(str(tmp_path))
    tool.init_thread("t")
    tool.say("t", "title")
    tool.set_status("t", "OPEN")
    overviewfile.rebuild(store.reader, soon)
    assert thread_listing(store.reader, viewer()).unindexed == 0
    meta = Path(store.reader.layout.meta("t"))
    meta.write_text(meta.read_text().replace("OPEN", "WAIT"))
    (row,) = thread_listing(store.reader, viewer()).rows
    assert row.status == "WAIT"
