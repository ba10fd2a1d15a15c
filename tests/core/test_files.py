"""Opening files: regular ones, and nothing that only looks like one."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from tests.core.strategies import nobody_special
from wc_core.base.errors import CorruptError, StorageError
from wc_core.base.files import (
    Folder,
    NotPlainError,
    keeping_folders,
    names_in,
    read_plain,
    size_of,
)

LONG = "x" * 300


@pytest.mark.parametrize("size", [0, 1, 100, 1 << 20, (3 << 20) + 5])
def test_a_regular_file_is_read_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(size))
    assert read_plain(str(path)) == path.read_bytes()
    assert size_of(str(path)) == size


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_what_a_file_grows_by_while_it_is_read_is_read_too() -> None:
    # A file of /proc says its size is 0 and has more to give.
    assert size_of("/proc/self/status") == 0
    data = read_plain("/proc/self/status")
    assert data is not None
    assert data.count(b"\n") > 10


@pytest.mark.parametrize("name", ["missing", "file/below", LONG, f"{LONG}/below"])
def test_nothing_is_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert read_plain(f"{tmp_path}/{name}") is None
    assert size_of(f"{tmp_path}/{name}") == -1
    assert names_in(f"{tmp_path}/{name}") == []


def strange(tmp_path: Path, kind: str) -> str:
    path = tmp_path / kind
    (tmp_path / "target").write_text("secret")
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("target")
        case "dangling link":
            path.symlink_to("nowhere")
        case "link to itself":
            path.symlink_to(path)
        case _:
            path.symlink_to("/dev/zero")
    return str(path)


@pytest.mark.parametrize(
    "kind",
    ["folder", "fifo", "link", "dangling link", "link to itself", "link to a device"],
)
def test_what_only_looks_like_a_file_is_refused_at_once(
    tmp_path: Path, kind: str
) -> None:
    path = strange(tmp_path, kind)
    with pytest.raises(NotPlainError) as caught:
        read_plain(path)
    assert str(caught.value.strerror).startswith("is ")
    assert size_of(path) == -1


def test_a_socket_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))
        with pytest.raises(OSError, match="Errno"):
            read_plain(str(path))
    assert size_of(str(path)) == -1


def test_a_folder_that_leads_in_circles_is_not_an_empty_one(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="loop"):
        size_of(f"{loop}/file")
    with pytest.raises(OSError, match="loop"):
        read_plain(f"{loop}/file")
    with pytest.raises(StorageError, match="loop"):
        names_in(str(loop))


def test_what_may_not_be_read_is_not_absent() -> None:
    with nobody_special() as folder:
        file = folder / "inner/file"
        file.parent.mkdir()
        file.touch(mode=0)
        with pytest.raises(PermissionError):
            read_plain(str(file))
        assert size_of(str(file)) == 0
        file.parent.chmod(0)
        with pytest.raises(StorageError):
            names_in(str(file.parent))
        with pytest.raises(PermissionError):
            size_of(str(file))
        file.parent.chmod(0o700)


def test_names_are_sorted_whatever_bytes_they_are_made_of(tmp_path: Path) -> None:
    for raw in (b"b", b"a", b"\xff", "é".encode()):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).touch()
    assert names_in(str(tmp_path)) == sorted(["a", "b", "é", "\udcff"])


def test_a_link_on_the_way_is_refused_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "real/root/a/b").mkdir(parents=True)
    (tmp_path / "real/root/a/b/file").write_text("text")
    (tmp_path / "root").symlink_to("real/root")
    root = f"{tmp_path}/root"
    assert read_plain(f"{root}/a/b/file", root) == b"text"
    (tmp_path / "real/root/link").symlink_to("a")
    assert read_plain(f"{root}/link/b/file") == b"text"
    for call in (read_plain, size_of):
        with pytest.raises(NotPlainError, match="through a symbolic link"):
            call(f"{root}/link/b/file", root)
    with pytest.raises(CorruptError, match="through a symbolic link"):
        names_in(f"{root}/link/b", root)


@pytest.mark.parametrize("name", ["..", "a/../../x", "a//x", "."])
def test_a_path_that_is_not_below_the_root_is_a_mistake(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ValueError, match="is not below"):
        names_in(f"{tmp_path}/{name}", str(tmp_path))
    with pytest.raises(ValueError, match="is not below"):
        read_plain("/etc/hostname", str(tmp_path))


def test_folders_on_the_way_stay_open_in_a_block(tmp_path: Path) -> None:
    root, threads = str(tmp_path), tmp_path / "graph/threads"
    for name in ("a", "b"):
        (threads / name).mkdir(parents=True)
        (threads / name / "file").write_text(name)
    (threads / "link").symlink_to("a")
    opened = os.listdir("/dev/fd")
    with keeping_folders():
        assert names_in(root, root) == ["graph"]
        assert read_plain(f"{threads}/a/file", root) == b"a"
        # What leads there is not looked up again.
        (tmp_path / "graph").rename(tmp_path / "was")
        assert read_plain(f"{threads}/b/file", root) == b"b"
        assert read_plain(f"{threads}/missing/file", root) is None
        with pytest.raises(NotPlainError, match="through a symbolic link"):
            read_plain(f"{threads}/link/file", root)
        with pytest.raises(ValueError, match="is not below"):
            names_in(f"{threads}/../threads", root)
        (tmp_path / "was/threads/c").mkdir()
        (tmp_path / "was/threads/c/file").write_text("c")
        assert read_plain(f"{threads}/c/file", root) == b"c"
    assert os.listdir("/dev/fd") == opened
    assert read_plain(f"{threads}/a/file", root) is None


def test_a_link_is_no_folder_that_stays_open(tmp_path: Path) -> None:
    (tmp_path / "real/a").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        with (
            keeping_folders(),
            pytest.raises(CorruptError, match="through a symbolic link"),
        ):
            names_in(f"{tmp_path}/link/a", str(tmp_path))


def test_a_folder_stays_the_one_that_was_opened(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/file").write_text("inside")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").write_text("outside")
    with Folder(f"{tmp_path}/a", str(tmp_path)) as folder:
        (tmp_path / "a").rename(tmp_path / "was")
        (tmp_path / "a").symlink_to("out")
        assert folder.read("file") == b"inside"
        assert folder.size("file") == 6
        assert folder.last_line("file", 6, 1000) == b"inside"


@pytest.mark.parametrize(
    ("ago", "recent"), [(0, True), (60, False), (-60, False), (None, False)]
)
def test_what_was_written_just_now(
    tmp_path: Path, ago: float | None, *, recent: bool
) -> None:
    if ago is not None:
        (tmp_path / "file").touch()
        os.utime(tmp_path / "file", (time.time() - ago,) * 2)
    with Folder(str(tmp_path)) as folder:
        assert folder.is_recent("file", 10) == recent


def test_the_heads_of_many_files_are_read_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"one\n")
    (tmp_path / "long").write_bytes(b"1234567890")
    kinds = ("folder", "fifo", "dangling link", "link to a device")
    for kind in kinds:
        (tmp_path / f"in {kind}").mkdir()
        os.rename(strange(tmp_path / f"in {kind}", kind), tmp_path / kind)
    names = ["long", *kinds, "missing", "short"]
    with Folder(str(tmp_path)) as folder:
        expected = [b"12345", *(b"" for _ in kinds), b"", b"one\n"]
        assert [*folder.heads(names, 5)] == expected
    with Folder(f"{tmp_path}/missing") as folder:
        assert [*folder.heads(names, 5)] == []


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 11)
    assert read_plain(str(path), limit=11) == b"x" * 11
    with pytest.raises(NotPlainError, match="has more than 10 bytes"):
        read_plain(str(path), limit=10)
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(NotPlainError, match="has more than"):
        read_plain(str(path))


def test_a_file_is_read_in_pieces(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    (tmp_path / "file").write_bytes(data)
    (tmp_path / "empty").touch()
    with Folder(str(tmp_path)) as folder:
        pieces = [*folder.pieces("file")]
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) == 1 << 16
        assert [*folder.pieces("empty")] == []


@pytest.mark.parametrize("kind", ["missing", "fifo", "folder", "link"])
def test_only_regular_files_are_read_in_part(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link":
            (tmp_path / "target").write_text("x")
            path.symlink_to("target")
    before = len(os.listdir("/dev/fd"))
    with Folder(str(tmp_path)) as folder:
        with pytest.raises(OSError, match=r"."):
            next(folder.pieces("file"))
        with pytest.raises(OSError, match=r"."):
            folder.tail("file", 10)
    with Folder(str(tmp_path / "missing")) as folder:
        with pytest.raises(FileNotFoundError):
            next(folder.pieces("file"))
        with pytest.raises(FileNotFoundError):
            folder.tail("file", 10)
    assert len(os.listdir("/dev/fd")) == before
