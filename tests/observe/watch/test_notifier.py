"""Looks at what the kernel has reported."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from wc_observe.stores.watch.notifier import FolderWatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Shorter than the time between two looks: there is one.
ONE_LOOK = 0.001
REPORTED = 0.3


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[FolderWatch]:
    with closing(FolderWatch([str(tmp_path)])) as watch:
        yield watch


def test_one_look_brings_all_that_was_reported(
    watch: FolderWatch, tmp_path: Path
) -> None:
    stop = threading.Event()
    assert watch.wait(ONE_LOOK, stop).paths == frozenset()
    paths = frozenset(str(tmp_path / name) for name in ("a", "b"))
    for path in sorted(paths):
        with open(path, "w", encoding="ascii"):
            pass
    time.sleep(REPORTED)
    changes = watch.wait(ONE_LOOK, stop)
    assert (changes.paths, changes.added) == (paths, paths)
    assert watch.wait(ONE_LOOK, stop).paths == frozenset()


def test_it_stops_long_before_it_has_waited(watch: FolderWatch) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    start = time.monotonic()
    assert watch.wait(20, stop).paths == frozenset()
    assert time.monotonic() - start < 10
