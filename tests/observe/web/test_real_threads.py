"""The pages of a public project's threads, written by other people's tools."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.amounts import is_long
from tests.measuring import paused
from tests.observe.web.pages import SECRET, Site, links, words

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def real(data: Path, tmp_path: Path, env: dict[str, str]) -> Site:
    folder = tmp_path / "store"
    words_ = ("git", "clone", "-q", "-b", "sample", f"{data}/real-threads.bundle")
    subprocess.run([*words_, str(folder)], check=True, capture_output=True)
    return Site(tmp_path, env | {"WATERCOOLER_DIR": str(folder)})


def test_threads_have_pages_that_are_sound(real: Site) -> None:
    board = real.get("threads")
    threads = [one for one in links(board) if "/threads/" in one]
    assert len(threads) == 26
    with paused():  # what one page runs, all do
        for link in threads[:: 1 if is_long() else 4]:
            page = real.get(link.removeprefix(f"/{SECRET}/"))
            assert "Participants" in words(page)
    assert "entries found" in real.said("search?q=test")
