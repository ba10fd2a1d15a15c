"""Our modules are imported as the library imports them, from a bundle or one by one."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wc_cli
from wc_cli import start

SOURCE = Path(wc_cli.__file__).parents[1]

_SAY_HOW = """
import importlib, inspect, json, sys
how, folder, names = sys.argv[1:4]
sys.path.insert(0, folder)
if how != "as usual":
    from wc_cli.start import find_quickly
    find_quickly("boats", bundled=["boats.fleet"] if how == "bundled" else [])
if "threads" in sys.argv:
    import threading
ready = []
if how == "bundled":
    import boats.fleet
    ready = [name for name in boats.fleet.READY if name.startswith("boats.")]
found = {}
for name in names.split():
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        found[name] = str(error)
        continue
    loader = module.__spec__.loader
    found[name] = {
        "word": module.WORD,
        "file": module.__file__,
        "cached": module.__cached__,
        "path": list(getattr(module, "__path__", [])),
        "package": module.__package__,
        "origin": module.__spec__.origin,
        "source": inspect.getsource(module),
        "again": loader.get_code(name) == loader.get_code(name),
        "reloaded": importlib.reload(module).WORD,
    }
kinds = {name: type(sys.modules[name].__loader__).__name__
         for name in names.split() if name in sys.modules}
print(json.dumps([found, kinds, ready]))
"""
_BOATS = "boats boats.raft boats.sail boats.sail.sloop boats.absent boats.fleet"
# Says what is imported already before it imports anything.
_FLEET = """
import sys
READY = [*sys.modules]
from boats import raft
from boats.sail import sloop
WORD = f"{raft.WORD}, {sloop.WORD}"
"""
_FLEET_NEEDS = ["boats.raft", "boats.sail", "boats.sail.sloop"]


class _Boats:
    """A package of two modules and a package, each of which has a word, and a module
    that imports them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.raft = folder / "boats/raft.py"
        self.bundle = Path(
            importlib.util.cache_from_source(
                str(folder / "boats/fleet.py"), optimization="bundle"
            )
        )
        (folder / "boats/sail").mkdir(parents=True)
        for name in ("__init__", "raft", "sail/__init__", "sail/sloop"):
            self.write(name, f"WORD = {name!r}\n")
        self.write("fleet", _FLEET)

    def write(self, name: str, text: str) -> None:
        """Write a source, and compile it."""
        source = self.folder / f"boats/{name}.py"
        source.write_text(text)
        py_compile.compile(str(source), doraise=True)

    def imported(self, how: str, *options: str) -> tuple[Any, Any]:
        """What is imported, and the kinds of the loaders."""
        found, kinds, _ = self._run(*options, "-B", "-c", _SAY_HOW, how)
        return found, kinds

    def ready(self, *options: str, words: str = "", paths: str = "") -> list[str]:
        """The modules that are imported before the code of ``fleet`` is run."""
        ready: list[str] = self._run(
            *options, "-c", _SAY_HOW, "bundled", words=words, paths=paths
        )[2]
        return ready

    def _run(self, *argv: str, words: str = "", paths: str = "") -> Any:
        env = os.environ | {"PYTHONPATH": f"{paths}{SOURCE}"}
        env.pop("PYTHONPYCACHEPREFIX", None)
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, *argv, str(self.folder), _BOATS, *words.split()],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)


@pytest.fixture
def boats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Boats:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    return _Boats(tmp_path / "here")


def test_a_module_is_imported_as_with_the_library(boats: _Boats) -> None:
    found, kinds = boats.imported("quick")
    assert found == boats.imported("as usual")[0]
    assert found["boats.sail.sloop"]["word"] == "sail/sloop"
    # The first of them is left to the library.
    assert kinds.pop("boats") == "SourceFileLoader"
    assert set(kinds.values()) == {"_QuickLoader"}


def test_a_changed_source_is_imported_again(boats: _Boats) -> None:
    boats.raft.write_text("WORD = 'other'\n")
    found, kinds = boats.imported("quick")
    assert found["boats.raft"]["word"] == "other"
    assert kinds["boats.raft"] == "SourceFileLoader"


def test_a_source_of_another_time_is_imported_again(boats: _Boats) -> None:
    boats.raft.write_text("WORD = 'tfar'\n")
    os.utime(boats.raft, (1, 1))
    assert boats.imported("quick")[0]["boats.raft"]["word"] == "tfar"


@pytest.mark.parametrize("bytecode", [b"", b"\0" * 40])
def test_bytecode_of_another_kind_is_left_to_the_library(
    boats: _Boats, bytecode: bytes
) -> None:
    [compiled] = boats.raft.parent.glob("__pycache__/raft.*")
    compiled.write_bytes(bytecode)
    found, kinds = boats.imported("quick")
    assert found["boats.raft"]["word"] == "raft"
    assert kinds["boats.raft"] == "SourceFileLoader"


def test_bytecode_with_a_hash_is_left_to_the_library(boats: _Boats) -> None:
    by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(boats.raft), invalidation_mode=by_hash, doraise=True)
    assert boats.imported("quick")[1]["boats.raft"] == "SourceFileLoader"


def test_a_long_module_is_left_to_the_library(boats: _Boats) -> None:
    boats.raft.write_text(f"WORD = 'raft'\nLONG = {'x' * 200_000!r}\n")
    py_compile.compile(str(boats.raft), doraise=True)
    found, kinds = boats.imported("quick")
    assert found["boats.raft"]["word"] == "raft"
    assert kinds["boats.raft"] == "SourceFileLoader"


def test_optimized_bytecode_is_left_to_the_library(boats: _Boats) -> None:
    found, kinds = boats.imported("quick", "-O")
    assert found == boats.imported("as usual", "-O")[0]
    assert set(kinds.values()) == {"SourceFileLoader"}


def test_bytecode_in_another_folder_is_found(boats: _Boats, tmp_path: Path) -> None:
    prefix = tmp_path / "compiled"
    for source in boats.folder.glob("boats/**/*.py"):
        compiled = (
            f"{prefix}{source.parent}/{source.stem}.{sys.implementation.cache_tag}"
        )
        py_compile.compile(str(source), cfile=f"{compiled}.pyc", doraise=True)
    option = ["-X", f"pycache_prefix={prefix}"]
    found, kinds = boats.imported("quick", *option)
    assert found == boats.imported("as usual", *option)[0]
    assert kinds["boats.raft"] == "_QuickLoader"


# --- bundles --------------------------------------------------------------------


def test_a_module_from_a_bundle_is_as_with_the_library(boats: _Boats) -> None:
    assert boats.ready() == ["boats.fleet"]
    assert boats.ready() == ["boats.fleet", *_FLEET_NEEDS]
    found, kinds = boats.imported("bundled")
    assert found == boats.imported("as usual")[0]
    assert kinds.pop("boats") == "SourceFileLoader"
    assert kinds.pop("boats.fleet") == "_BundleLoader"
    assert set(kinds.values()) == {"_QuickLoader"}


@pytest.mark.parametrize("text", ["WORD = 'other'\n", "WORD = 'tfar'\n"])
def test_a_bundle_does_not_count_when_a_source_has_changed(
    boats: _Boats, text: str
) -> None:
    boats.ready()
    # Of another size, or only of another time.
    boats.raft.write_text(text)
    os.utime(boats.raft, (1, 1))
    assert boats.imported("bundled")[0]["boats.fleet"]["word"] == (
        f"{text[8:-2]}, sail/sloop"
    )
    boats.ready()  # compiles it
    boats.ready()
    assert sorted(boats.ready()) == ["boats.fleet", *_FLEET_NEEDS]


def test_a_bundle_does_not_count_when_a_source_is_gone(boats: _Boats) -> None:
    boats.ready()
    boats.raft.unlink()
    boats.write("fleet", _FLEET.replace("raft", "sail"))
    assert boats.imported("bundled")[0]["boats.fleet"]["word"] == (
        "sail/__init__, sail/sloop"
    )


def test_what_a_bundle_lacks_is_added(boats: _Boats) -> None:
    boats.ready()
    boats.write("oar", "WORD = 'oar'\n")
    boats.write("fleet", f"{_FLEET}from boats import oar\nWORD += oar.WORD\n")
    assert boats.ready() == ["boats.fleet", *_FLEET_NEEDS]
    assert boats.ready() == ["boats.fleet", *_FLEET_NEEDS, "boats.oar"]


def test_a_damaged_bundle_does_not_count(boats: _Boats) -> None:
    boats.ready()
    whole = boats.bundle.read_bytes()
    for length in (0, 3, 15, 20, 200, len(whole) // 2, len(whole) - 1):
        boats.bundle.write_bytes(whole[:length])
        assert boats.ready() == ["boats.fleet"], length
        assert boats.bundle.read_bytes() == whole
    # Of another version of Python.
    other = bytes([whole[0] ^ 1]) + whole[1:]
    boats.bundle.write_bytes(other)
    assert boats.ready("-B") == ["boats.fleet"]
    assert boats.bundle.read_bytes() == other


def test_a_bundle_that_was_moved_counts_for_its_own_folder(
    boats: _Boats, tmp_path: Path
) -> None:
    boats.ready()
    shutil.copytree(boats.folder, tmp_path / "there")
    there = boats.folder = tmp_path / "there"
    assert boats.ready() == ["boats.fleet", *_FLEET_NEEDS]
    assert (
        boats.imported("bundled")[0]["boats.raft"]["file"] == f"{there}/boats/raft.py"
    )


def test_a_module_that_fails_does_so_where_it_is_imported(
    boats: _Boats, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nif 'SINKS' in os.environ: raise ImportError('sinks')\n"
    boats.write("raft", f"{text}WORD = 'raft'\n")
    fleet = _FLEET.replace("from boats import raft", "WORD = 'none'\n{}")
    careful = "try: from boats.raft import WORD\nexcept ImportError: pass\n"
    boats.write("fleet", fleet.replace("{}", careful).replace("{raft.WORD}", "{WORD}"))
    boats.ready()
    assert "boats.raft" in boats.ready()
    monkeypatch.setenv("SINKS", "1")
    assert "boats.raft" not in boats.ready()


@pytest.mark.parametrize(
    ("options", "words"), [(("-B",), ""), (("-O",), ""), ((), "threads")]
)
def test_no_bundle_is_written(
    boats: _Boats, options: tuple[str, ...], words: str
) -> None:
    # -B forbids it, with -O bytecode has another name, and a second thread might see a
    # module before it is complete.
    boats.ready(*options, words=words)
    assert not boats.bundle.exists()


def test_a_bundle_in_a_folder_that_cannot_be_written_is_not_an_error(
    boats: _Boats,
) -> None:
    boats.bundle.mkdir()
    assert boats.ready() == ["boats.fleet"]
    assert boats.bundle.is_dir()


def test_a_bundle_is_kept_in_the_folder_for_bytecode(
    boats: _Boats, tmp_path: Path
) -> None:
    option = ["-X", f"pycache_prefix={tmp_path}/compiled"]
    boats.ready(*option)  # compiles
    boats.ready(*option)
    assert boats.ready(*option)[1:] == _FLEET_NEEDS
    assert not boats.bundle.exists()


def test_the_bundles_of_wc_are_of_modules_that_exist() -> None:
    for name in start.BUNDLED:
        assert importlib.util.find_spec(name), name


def test_no_module_of_ours_has_the_name_of_a_package() -> None:
    # The quick finder looks for a module first, the library for a package.
    both = [one for one in SOURCE.glob("wc_*/**/*.py") if one.with_suffix("").is_dir()]
    assert both == []
