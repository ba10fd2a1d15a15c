"""Copies of the listings of those who hold many balls."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.index import listingfiles
from wc_core import ulid
from wc_core.index import decisions
from wc_core.layout import Layout
from wc_core.status import holders, listings

if TYPE_CHECKING:
    from collections.abc import Callable

# By then, a folder that was just made has not changed for long.
LATER_NS = time.time_ns() + 3600 * 10**9
# Less than a folder of 600 names takes, in memory too.
FEW_NAMES = 1 << 13


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of someone who holds many balls."""
    folder = Path(listings.root_of(Layout(str(tmp_path))), "codex")
    fill(folder, "topic")
    (folder / "of-no-ball").touch()
    return folder


def fill(folder: Path, topic: str) -> None:
    """Make a folder with so many names that it is worth a copy."""
    folder.mkdir(parents=True)
    for number in range(2000):
        (folder / f"{ulid.encode(number)}.{topic}-{number}-{'x' * 150}").touch()
        if folder.stat().st_size >= 1 << 15:
            return
    pytest.skip(f"2,000 names take only {folder.stat().st_size} bytes here")


def layout_of(folder: Path) -> Layout:
    return Layout(str(folder.parents[3]))


def listed(folder: Path) -> list[str]:
    """The names of the balls, as everyone reads them."""
    return holders.held_names(layout_of(folder), [folder.name])[folder.name]


def keep_copy(folder: Path, now_ns: int = LATER_NS) -> Path:
    """Read a folder, and keep a copy if it is worth one; the path for the copy."""
    layout = layout_of(folder)
    ball_names = listings.BallNames(layout, now_ns)
    assert [*ball_names.of([folder.name])] == [folder.name]
    listingfiles.write(layout, ball_names.copies())
    return Path(listings.copy_path(layout, folder.name))


def names_in(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if ".topic-" in name)


def change_last_line(copy: Path) -> None:
    lines = copy.read_bytes().splitlines(keepends=True)
    copy.write_bytes(b"".join((*lines[:-2], lines[-2][:-2] + b"8\n", lines[-1])))


def test_a_copy_is_read_instead_of_the_folder(folder: Path) -> None:
    copy = keep_copy(folder)
    assert listed(folder) == names_in(folder)
    # So that it shows which of the two is read.
    layout, header = layout_of(folder), copy.read_text().split("\n")[0]
    name = f"{ulid.encode(7)}.other"
    data = decisions.render_lines((header, name)) + decisions.render_lines(())
    listingfiles.write(layout, {folder.name: data})
    assert listed(folder) == [name]
    for read in (listings.BallNames.of, listings.BallNames.ends):
        ball_names = listings.BallNames(layout, LATER_NS)
        assert read(ball_names, ["codex"]) == {"codex": [name]}


@pytest.mark.parametrize("count", [2 * listings.ENDS, 2 * listings.ENDS + 1, 1000])
@pytest.mark.parametrize("length", [50, 150])
def test_a_copy_has_the_same_names_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, length: int
) -> None:
    monkeypatch.setattr(listings, "LONG", FEW_NAMES)
    layout = Layout(str(tmp_path))
    folder = Path(listings.root_of(layout), "codex")
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{ulid.encode(number)}.topic-{'x' * length}").touch()
    names = names_in(folder)
    for _ in range(2):
        ball_names = listings.BallNames(layout, LATER_NS)
        ends = ball_names.ends(["codex"])["codex"]
        assert ends[: listings.ENDS] == names[: listings.ENDS]
        assert ends[-listings.ENDS :] == names[-listings.ENDS :]
        assert ball_names.of(["codex"]) == {"codex": names}
        assert ball_names.ends(["codex"]) == {"codex": names}
        assert ball_names.has_long == (not os.path.exists(layout.ball_listings))
        listingfiles.write(layout, ball_names.copies())


def test_a_copy_is_only_read_as_far_as_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listings, "LONG", FEW_NAMES)
    layout = Layout(str(tmp_path))
    folder = Path(listings.root_of(layout), "codex")
    folder.mkdir(parents=True)
    for number in range(1000):
        (folder / f"{ulid.encode(number)}.topic-{'x' * 50}").touch()
    copy = keep_copy(folder)
    # The checksum of the second part is wrong.
    change_last_line(copy)
    names = names_in(folder)
    ends = listings.BallNames(layout, LATER_NS).ends(["codex"])["codex"]
    assert ends == names[: listings.ENDS] + names[-listings.ENDS :]
    assert listed(folder) == names


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / f"{ulid.encode(7)}.topic-new").touch(),
        lambda folder: (folder / names_in(folder)[7]).unlink(),
        lambda folder: (folder / names_in(folder)[7]).rename(
            folder / f"{ulid.encode(7)}.topic-renamed"
        ),
    ],
)
def test_a_folder_that_changed_is_listed(
    folder: Path, change: Callable[[Path], object]
) -> None:
    before = folder.stat()
    keep_copy(folder)
    time.sleep(0.05)  # several ticks of the clock that sets the times of files
    change(folder)
    # Programs that copy files may set this one.
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert listed(folder) == names_in(folder)


def test_a_folder_in_the_place_of_another_is_listed(folder: Path) -> None:
    keep_copy(folder)
    folder.rename(folder.with_name("old"))
    fill(folder, "topic-of-another")
    assert listed(folder) == names_in(folder)
    assert all("topic-of-another" in name for name in listed(folder))


@pytest.mark.parametrize(
    "damage",
    [
        lambda copy: copy.write_bytes(b""),
        lambda copy: copy.write_bytes(copy.read_bytes()[:-20]),
        change_last_line,
        lambda copy: copy.unlink(),
        lambda copy: (copy.unlink(), copy.mkdir()),
    ],
)
def test_without_a_copy_the_folder_is_listed(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    damage(keep_copy(folder))
    assert listed(folder) == names_in(folder)


def test_what_just_changed_is_not_copied(folder: Path) -> None:
    (folder / f"{ulid.encode(7)}.topic-new").touch()
    assert not keep_copy(folder, time.time_ns()).exists()
    assert keep_copy(folder).exists()


def test_a_name_of_several_lines_is_not_copied(folder: Path) -> None:
    (folder / f"{ulid.encode(7)}.topic-new\nline").touch()
    assert not keep_copy(folder).exists()


def test_a_short_listing_is_not_copied(tmp_path: Path) -> None:
    folder = Path(listings.root_of(Layout(str(tmp_path))), "codex")
    folder.mkdir(parents=True)
    (folder / f"{ulid.encode(7)}.topic-7").touch()
    assert listed(folder) == names_in(folder)
    assert not keep_copy(folder).exists()
