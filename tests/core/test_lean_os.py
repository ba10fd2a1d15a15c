"""The lean forms of `os`, `os.path` and `site` do what those of the library do."""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import wc_core
from wc_core.lean import os as lean_os
from wc_core.lean import posixpath as lean_path

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = str(Path(wc_core.__file__).parents[1])
PARTS = st.sampled_from(
    ["", ".", "..", "a", "b", "link", "loop", "gone", "a.b", " ", "é"]
)
PATHS = st.builds(
    lambda start, parts: start + "/".join(parts),
    *(st.sampled_from(["", "/", "//", "///"]), st.lists(PARTS, max_size=6)),
)
OF_ONE_PATH = ("isabs", "split", "dirname", "basename", "normpath", "abspath")
OF_A_FILE = ("isdir", "isfile", "islink", "exists", "lexists", "realpath")


def outcome(function: Callable[..., Any], *values: Any) -> object:
    """What a call returns, or the error that it raises."""
    try:
        return function(*values)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error)


@pytest.mark.parametrize("name", OF_ONE_PATH)
@given(path=st.one_of(PATHS, st.text(), st.binary(max_size=4)))
@example(path="/a/")
@example(path="/\0")
@example(path=b"/a/..")
def test_parts_of_a_path(name: str, path: Any) -> None:
    expected = outcome(getattr(posixpath, name), path)
    assert outcome(getattr(lean_path, name), path) == expected


@given(paths=st.lists(st.one_of(PATHS, st.text(max_size=3)), min_size=1, max_size=4))
@example(paths=["a", b"b"])
@example(paths=["a", ""])
@example(paths=["", "b"])
def test_paths_are_joined(paths: list[Any]) -> None:
    assert outcome(lean_path.join, *paths) == outcome(posixpath.join, *paths)


@given(PATHS, PATHS)
@example("/a", "/a")
@example("/a/b", "/a")
@example("/ab", "/a")
@example("/a", "/")
@example("", "/a")
def test_paths_are_relative_to_a_folder(path: str, start: str) -> None:
    expected = outcome(posixpath.relpath, path, start)
    assert outcome(lean_path.relpath, path, start) == expected


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder, a file, and links to them, to nothing, and in a loop."""
    root = tmp_path_factory.mktemp("tree")
    (root / "a" / "a").mkdir(parents=True)
    (root / "b").write_text("text")
    (root / "link").symlink_to("a")
    (root / "a" / "link").symlink_to("../b")
    (root / "gone").symlink_to("missing")
    (root / "loop").symlink_to("loop")
    return root


@pytest.mark.parametrize("name", OF_A_FILE)
@given(path=PATHS)
@example(path="a")
@example(path="b")
@example(path="link/..")
@example(path="link/link")
@example(path="a/../gone")
@example(path="loop/a")
@example(path="b/..")
@example(path="missing/..")
@example(path="a\0")
def test_files_are_looked_at(tree: Path, name: str, path: str) -> None:
    for place in (f"{tree}/{path}", f"{tree}/./{path}", path):
        expected = outcome(getattr(posixpath, name), place)
        assert outcome(getattr(lean_path, name), place) == expected


def test_bytes_and_numbers_name_files_too(tree: Path) -> None:
    place = os.fsencode(tree / "link")
    assert lean_path.realpath(place) == os.fsencode(tree / "a")
    with open(tree / "b", "rb") as file:
        assert lean_path.isfile(file.fileno())


def test_a_strict_path_must_exist(tree: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lean_path.realpath(f"{tree}/missing", strict=True)


def test_the_same_file_is_recognized(tree: Path) -> None:
    folder, link, file = (os.stat(tree / name) for name in ("a", "link", "b"))
    assert lean_path.samestat(folder, link)
    assert not lean_path.samestat(folder, file)


@pytest.mark.parametrize("name", ["commonpath", "expanduser", "splitext", "samefile"])
def test_other_functions_are_those_of_the_library(name: str) -> None:
    assert getattr(lean_path, name) is getattr(posixpath, name)
    assert getattr(lean_os.path, name) is getattr(posixpath, name)


def test_functions_and_constants_are_those_of_the_library() -> None:
    own = {"path", "fsencode", "fsdecode", "sys", "posix", "annotations"}
    names = {name for name in vars(lean_os) if not name.startswith("_")} - own
    names |= {"_exit", "walk", "makedirs", "PathLike", "environ", "get_exec_path"}
    assert {"open", "rename", "fsync", "sep", "devnull"} <= names
    for name in sorted(names - {"TYPE_CHECKING"}):
        assert getattr(lean_os, name) == getattr(os, name)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="opne"):
        getattr(lean_os, "opne")  # noqa: B009
    with pytest.raises(AttributeError, match="jion"):
        getattr(lean_path, "jion")  # noqa: B009


@given(st.one_of(st.text(), st.binary(), st.integers()))
@example("\udcff")
@example("\ud800")
@example(b"\xff")
def test_paths_have_the_same_bytes(path: Any) -> None:
    for name in ("fsencode", "fsdecode"):
        expected = outcome(getattr(os, name), path)
        assert outcome(getattr(lean_os, name), path) == expected


def test_the_variables_are_those_that_were_set_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WATERCOOLER_TEST", "one")
    assert lean_os.environ["WATERCOOLER_TEST"] == "one"
    monkeypatch.setenv("WATERCOOLER_TEST", "two")
    assert lean_os.environ["WATERCOOLER_TEST"] == "two"


_VARIABLES = """
import sys
sys.path.insert(0, sys.argv[1])
from wc_core.lean import os
assert "os" not in sys.modules
assert os.environ["NAME"] == "caf\\udce9", os.environ["NAME"]
assert "MISSING" not in os.environ
try:
    os.environ["NAME"] = "lost"
except TypeError:
    pass
else:
    raise AssertionError
assert "os" not in sys.modules
import os as library
library.environ["NAME"] = "kept"
assert os.environ["NAME"] == "kept"
"""


def run_without_site(program: str, *arguments: str, **variables: str) -> str:
    """What a program prints that Python runs without `site`."""
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program, SOURCE, *arguments],
        check=False,
        capture_output=True,
        text=True,
        # A long run sets it, and site.py removes what is there twice.
        env={**os.environ, "PYTHONPATH": "", **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_os_the_variables_are_read_only() -> None:
    run_without_site(_VARIABLES, NAME="caf\udce9")


_SITE = """
import sys
sys.path.insert(0, sys.argv[1])
from wc_core.lean import site
assert "site" not in sys.modules
before = len(sys.path)
site.load()
assert "site" in sys.modules and len(sys.path) > before
sys.path.clear()
site.load()
assert not sys.path
"""


def test_site_is_run_once() -> None:
    run_without_site(_SITE)


_THREADS = """
import sys
sys.path.insert(0, sys.argv[1])
from wc_cli.start import _SiteFinder
sys.meta_path.append(_SiteFinder())
import _thread, time
found = []
def search(name):
    try:
        __import__(name)
        found.append(name)
    except BaseException as error:
        found.append(repr(error))
names = ["typer", "rich", "click", "hypothesis", "no_such_package"]
for name in names:
    _thread.start_new_thread(search, (name,))
while len(found) < len(names):
    time.sleep(0.01)
print(sorted(found))
"""


def test_threads_find_packages_at_the_same_time() -> None:
    expected = sorted(["typer", "rich", "click", "hypothesis"])
    error = "ModuleNotFoundError(\"No module named 'no_such_package'\")"
    for _ in range(5):
        assert run_without_site(_THREADS).strip() == str([error, *expected])


_PACKAGES = """
import sys
sys.path.insert(0, sys.argv[1])
from wc_core.lean import site
assert site.find_package("json") and "site" not in sys.modules
assert site.find_package(sys.argv[2]) and "site" in sys.modules
assert not site.find_package("no_such_package")
assert sys.argv[2] not in sys.modules
"""


def test_an_installed_package_is_found_without_site() -> None:
    run_without_site(_PACKAGES, "typer")
