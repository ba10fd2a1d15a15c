"""What a claim is about: canonical ids, and which covers which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.errors import InvalidInputError
from wc_core.edits.claims import ids
from wc_core.edits.claims.ids import ClaimId

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A worktree with a file, a folder, and links to both."""
    top = tmp_path.resolve() / "app"
    (top / "src").mkdir(parents=True)
    (top / "src/a.py").write_text("a")
    (top / "link.py").symlink_to("src/a.py")
    (top / "linked").symlink_to("src")
    (top / "src/sub").mkdir()
    (top / "deep").symlink_to("src/sub")
    (top / "outside").symlink_to("/etc/hostname")
    (top / "dangling").symlink_to("nowhere")
    (top / "x::y.py").write_text("x")
    return top


@pytest.mark.parametrize(
    ("word", "folder", "expected"),
    [
        ("src/a.py", "", "src/a.py"),
        ("./src/../src//a.py", "", "src/a.py"),
        ("a.py", "src", "src/a.py"),
        ("../src/a.py", "src", "src/a.py"),
        ("src/", "", "src"),
        (".", "", "."),
        ("..", "src", "."),
        ("link.py", "", "src/a.py"),
        ("linked/a.py", "", "src/a.py"),
        ("linked/new.py", "", "src/new.py"),
        ("deep/../x.py", "", "src/x.py"),
        ("deep/..", "", "src"),
        ("none/../x.py", "", "x.py"),
        ("outside", "", "outside"),
        ("dangling", "", "dangling"),
        ("new/file.py", "", "new/file.py"),
        ("src/a.py::Login.check", "", "src/a.py::Login.check"),
        ("a.rs::mod::f", "", "a.rs::mod.f"),
        ("x::y.py", "", "x:%3Ay.py"),
        ("cafe\u0301.py", "", "caf\u00e9.py"),
        ("-x", "", "-x"),
        ("refs/heads/main.lock", "", "refs/heads/main.lock"),
    ],
)
def test_a_path_has_one_id(top: Path, word: str, folder: str, expected: str) -> None:
    target = ids.canonical(word, str(top / folder), str(top))
    assert str(target) == expected
    assert ids.parse(str(target)) == target


@pytest.mark.parametrize(
    "word",
    [
        *("", " ", "..", "/etc/passwd", "../other/a.py", ".git", ".git/config"),
        *("src/.git/HEAD", "a\nb", "a\x1b[2J", "a\0b", "a.py::", "::f", "a.py:: f"),
        *("x" * 1001, "a.py::f\x07"),
    ],
)
def test_what_nobody_can_claim(top: Path, word: str) -> None:
    with pytest.raises(InvalidInputError):
        ids.canonical(word, str(top), str(top))


def test_where_case_does_not_count_the_disk_has_the_spelling(top: Path) -> None:
    folder = str(top)
    target = ids.canonical("SRC/A.PY", folder, folder, ignore_case=True)
    assert str(target) == "src/a.py"
    new = ids.canonical("SRC/New.py", folder, folder, ignore_case=True)
    assert str(new) == "src/New.py"
    assert str(ids.canonical("SRC/A.PY", folder, folder)) == "SRC/A.PY"


@pytest.mark.parametrize(
    ("outer", "inner", "covers"),
    [
        ("src", "src", True),
        ("src", "src/a.py", True),
        ("src", "src/a.py::f", True),
        ("src/a.py", "src/a.py::f", True),
        ("src/a.py::C", "src/a.py::C.f", True),
        (".", "anything::f", True),
        ("src", "srcs", False),
        ("src/a.py::C", "src/a.py::Cat", False),
        ("src/a.py::f", "src/a.py::g", False),
        ("src/a.py::f", "src/b.py::f", False),
        ("src/a.py", "src", False),
        ("src/a.py::f", "src/a.py", False),
    ],
)
def test_a_folder_covers_its_files_and_a_file_its_symbols(
    outer: str,
    inner: str,
    covers: bool,  # noqa: FBT001
) -> None:
    first, second = ids.parse(outer), ids.parse(inner)
    assert first.covers(second) is covers
    assert first.overlaps(second) is second.overlaps(first)
    assert first.overlaps(second) is (covers or second.covers(first))


@given(
    st.text(st.characters(min_codepoint=33), min_size=1, max_size=30),
    st.text(st.characters(min_codepoint=33, exclude_characters=":"), max_size=20),
)
def test_an_id_is_read_back(path: str, symbol: str) -> None:
    if path.endswith(":"):
        path += "x"
    target = ClaimId(path, symbol)
    if "%3A" not in path:
        assert ids.parse(str(target)) == target


@given(st.text(max_size=40))
def test_an_id_from_a_record_leads_nowhere_else(text: str) -> None:
    if ids.is_canonical(text):
        parts = ids.parse(text).path.split("/")
        assert not {"..", ".git", ""} & set(parts)
        assert text.isprintable() or "\n" not in text
