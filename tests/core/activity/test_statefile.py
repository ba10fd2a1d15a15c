from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from wc_core.people.activity import (
    ABSENT,
    MAX_BYTES,
    REWRITTEN,
    FileState,
    StateFiles,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAID = {"status": "running", "n": 3}
LONG_AGO = 3600


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "tree/.claude").mkdir(parents=True)
    path = tmp_path / "tree/.claude/state.json"
    path.write_text(json.dumps(SAID))
    return path


def read(files: StateFiles, path: Path) -> FileState:
    return files.read(str(path), str(path.parents[1]))


def age(path: Path) -> None:
    moment = time.time() - LONG_AGO
    os.utime(path, (moment, moment))


@pytest.mark.parametrize("where", ["", ".claude", "tree"])
def test_what_is_not_there_is_no_problem(path: Path, where: str) -> None:
    """Nor is it when it was there before: a loop's file may be removed."""
    files = StateFiles()
    assert read(files, path).fields == SAID
    path.unlink()
    if where:
        path.parent.rmdir()
    if where == "tree":
        path.parents[1].rmdir()
    assert read(files, path) == ABSENT
    assert read(StateFiles(), path) == ABSENT


TORN = [
    *(b"", b"{", b'{"status": "done"', b"[", b'"', b"\0\0{}", b'{"a": 1}}'),
    b"{" * 9999,
]


@pytest.mark.parametrize("data", TORN)
def test_half_a_file_is_what_it_last_was(path: Path, data: bytes) -> None:
    files = StateFiles()
    good = read(files, path)
    path.write_bytes(data)
    assert read(files, path) == good._replace(problem=REWRITTEN, last_good=True)
    fresh = read(StateFiles(), path)
    assert (fresh.fields, fresh.problem) == (None, REWRITTEN)
    # Its writer died while writing.
    age(path)
    left = read(files, path)
    assert (left.fields, left.last_good) == (SAID, True)
    assert left.problem == read(StateFiles(), path).problem != REWRITTEN
    path.write_text('{"status": "done"}')
    assert read(files, path).fields == {"status": "done"}


@pytest.mark.parametrize("data", [b"null", b"[]", b"3", b'"text"'])
def test_json_that_is_not_an_object_is_reported(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    found = read(StateFiles(), path)
    assert (found.fields, found.problem) == (None, "holds no JSON object")


def _link(path: Path) -> None:
    path.rename(path.parents[2] / "elsewhere.json")
    path.symlink_to(path.parents[2] / "elsewhere.json")


def _linked_folder(path: Path) -> None:
    path.parent.rename(path.parents[2] / "elsewhere")
    path.parent.symlink_to(path.parents[2] / "elsewhere")


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _huge(path: Path) -> None:
    os.truncate(path, MAX_BYTES + 1)


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (_link, "is a symbolic link"),
        (_linked_folder, "is reached through a symbolic link"),
        (_fifo, "is not a regular file"),
        (_folder, "is not a regular file"),
        (_huge, f"has more than {MAX_BYTES} bytes"),
    ],
)
def test_what_is_no_such_file_is_left_alone(
    path: Path, act: Callable[[Path], None], problem: str
) -> None:
    files = StateFiles()
    good = read(files, path)
    act(path)
    assert read(StateFiles(), path) == FileState(None, -1, problem)
    assert read(files, path) == good._replace(problem=problem, last_good=True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_of_json(path: Path, encoding: str) -> None:
    path.write_bytes(json.dumps({"task": "Grüße"}, ensure_ascii=False).encode(encoding))
    assert read(StateFiles(), path).fields == {"task": "Grüße"}


def test_bytes_that_are_no_text_are_no_reason_to_fail(path: Path) -> None:
    path.write_bytes('{"task": "Grüße"}'.encode("latin-1"))
    assert read(StateFiles(), path).fields == {"task": "Gr\ufffd\ufffde"}
