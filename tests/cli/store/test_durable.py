"""The only code that changes a store: nothing outside of it, nothing by half."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.store import durable, locks
from wc_core.base.errors import ConflictError, CorruptError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OUTSIDE = b"not of the store\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with a thread's folder, beside which lies someone's file."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_bytes(OUTSIDE)
    (tmp_path / "store/graph/t").mkdir(parents=True)
    return tmp_path / "store"


# What may be done to a file at ``path`` in the store at ``root``.
WRITES: dict[str, Callable[[str, str], object]] = {
    "append": lambda path, root: durable.append(path, b"line\n", root),
    "create": lambda path, root: durable.create(path, b"all\n", root),
    "replace": lambda path, root: durable.replace(path, b"all\n", root),
    "touch": durable.touch,
    "remove": durable.remove,
    "move": lambda path, root: durable.move(path, f"{root}/aside", root),
    "lock": lambda path, root: os.close(locks.acquire(path, "Pat", 0, root)),
    "make a folder": lambda path, root: durable.make_folder(f"{path}/x", root),
}


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("level", ["graph", "graph/t"])
def test_no_link_on_the_way_leads_outside(root: Path, level: str, what: str) -> None:
    (root / level).rename(root / "was")
    (root / level).symlink_to(root.parent / "outside")
    path = root / "graph/t/file" if level != "graph" else root / "graph/file"
    with pytest.raises(CorruptError, match="through a symbolic link"):
        WRITES[what](str(path), str(root))
    outside = root.parent / "outside"
    assert os.listdir(outside) == ["file"]
    assert (outside / "file").read_bytes() == OUTSIDE


def test_a_folder_that_cannot_be_created(root: Path) -> None:
    with pytest.raises(StorageError, match="xx cannot be created: File name too long"):
        durable.make_folder(f"{root}/{'x' * 300}")


@pytest.mark.parametrize("what", WRITES)
def test_no_other_name_of_a_file_leads_outside(root: Path, what: str) -> None:
    path, outside = root / "graph/t/file", root.parent / "outside/file"
    os.link(outside, path)
    before = os.stat(outside)
    if what == "make a folder":
        with pytest.raises(CorruptError, match="in the way"):
            WRITES[what](str(path), str(root))
    else:
        WRITES[what](str(path), str(root))
    assert outside.read_bytes() == OUTSIDE
    assert os.stat(outside).st_mtime_ns == before.st_mtime_ns


def test_an_append_to_one_of_two_names_keeps_all_there_was(root: Path) -> None:
    path = root / "graph/t/entries.jsonl"
    path.write_bytes(b"one\n")
    os.link(path, root.parent / "backup")
    assert durable.append(str(path), b"two\n", str(root)) == 8
    assert path.read_bytes() == b"one\ntwo\n"
    assert (root.parent / "backup").read_bytes() == b"one\n"
    inode = path.stat().st_ino
    durable.append(str(path), b"three\n", str(root))
    assert path.stat().st_ino == inode


@pytest.mark.parametrize("name", ["../out", "graph/../../out", "graph//t", ""])
def test_a_path_that_leads_elsewhere_is_a_mistake_of_ours(
    root: Path, name: str
) -> None:
    with pytest.raises(ValueError, match="is not below"):
        durable.make_folder(f"{root}/{name}/x", str(root))


def test_what_is_in_place_of_a_log_is_not_written(root: Path) -> None:
    path = root / "graph/t/entries.jsonl"
    os.mkfifo(path)
    with pytest.raises(CorruptError, match="is not a regular file"):
        durable.append(str(path), b"line\n", str(root))


def test_a_store_that_is_gone_is_not_made_again(root: Path, tmp_path: Path) -> None:
    root.rename(tmp_path / "gone")
    path = f"{root}/graph/t/entries.jsonl"
    with pytest.raises(StorageError):
        durable.append(path, b"line\n", str(root))
    assert not root.exists()


def test_a_log_that_someone_else_began_is_not_begun_again(root: Path) -> None:
    path = root / "graph/t/entries.jsonl"
    path.write_bytes(b"theirs\n")
    with pytest.raises(ConflictError, match="started by someone else"):
        durable.begin_log(str(path), b"ours\n", str(root))
    assert path.read_bytes() == b"theirs\n"
    assert os.listdir(root / ".local/scratch") == []


def test_an_empty_log_is_begun(root: Path) -> None:
    path = root / "graph/t/entries.jsonl"
    path.touch()
    assert durable.begin_log(str(path), b"ours\n", str(root)) == 5
    assert path.read_bytes() == b"ours\n"
    assert path.stat().st_nlink == 1
    assert os.listdir(root / ".local/scratch") == []
