"""Which thread a name means, with and without the index of names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.core.strategies import chain, entry, write_thread
from wc_core.base.errors import NotFoundError
from wc_core.base.layout import Layout
from wc_core.ledger.threads import aliases
from wc_core.ledger.threads.reader import StoreReader


@pytest.fixture(params=["meta", "log"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Store:
    return Store(tmp_path, meta=request.param == "meta")


class Store:
    """Threads as plain files."""

    def __init__(self, root: Path, *, meta: bool) -> None:
        self.root = root
        self.meta = meta
        self.layout = Layout(os.path.realpath(root))

    @property
    def reader(self) -> StoreReader:
        return StoreReader(str(self.root))

    def thread(self, topic: str, *names: str) -> None:
        renames = (
            entry(step, action="rename", new_topic=name)
            for step, name in enumerate(names, 1)
        )
        write_thread(self.root, topic, chain(entry(0), *renames), meta=self.meta)

    def index(self, *, complete: bool = True) -> None:
        for topic in self.reader.topics():
            state = self.reader.snapshot(topic).state
            for path in aliases.alias_files(state):
                self._touch(path)
        if complete:
            self._touch(aliases.COMPLETE)

    def _touch(self, path: str) -> None:
        file = Path(self.layout.local, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    def name(self, topic: str) -> str:
        assert self.reader.thread(topic).name == self.reader.snapshot(topic).name
        return self.reader.snapshot(topic).name


def test_an_index_that_is_wrong_is_not_believed(store: Store) -> None:
    store.thread("a", "x")
    store.thread("b")
    store.index()
    for name, topic in (("y", "b"), ("x", "b"), ("z", "gone")):
        store._touch(f"names/{name}/{topic}")
    assert store.reader.find("x") == "a"
    for name in ("y", "z"):
        with pytest.raises(NotFoundError):
            store.reader.find(name)


def test_an_index_that_lacks_a_name_is_checked_unless_it_is_trusted(
    store: Store,
) -> None:
    store.thread("a")
    store.index()
    store.thread("a", "x")
    assert store.reader.find("x") == "a"
    with pytest.raises(NotFoundError):
        store.reader.find("x", trusting=True)
    Path(store.layout.local, aliases.COMPLETE).unlink()
    assert store.reader.find("x", trusting=True) == "a"


def test_something_in_the_place_of_the_index_costs_nothing_but_time(
    store: Store,
) -> None:
    store.thread("a", "x")
    Path(store.layout.local).mkdir()
    Path(store.layout.local, "names").write_text("no folder")
    assert store.reader.find("x", trusting=True) == "a"
    assert store.name("a") == "x"
