"""Programs are found in absolute folders only; ours import nothing from where they are
started."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.naming import modules
from wc_core.base.programs import absolute_path, find_program, own_words, program_path

if TYPE_CHECKING:
    from pathlib import Path

# `start` executes itself again; `waiting` a program that imports nothing, with -I.
# `launcher` and `extras` start nothing.
PYTHON = {"start.py", "waiting.py", "launcher.py", "extras.py", "programs.py"}
# Only whether someone has an agent's program, for a hint.
WHICH = {"recipients.py"}


def test_one_function_starts_our_programs_and_one_looks_for_those_of_others() -> None:
    texts = {path: path.read_text() for path in modules()}
    python = {path.name for path, text in texts.items() if "sys.executable" in text}
    searching = {path.name for path, text in texts.items() if "shutil.which" in text}
    assert (python, searching) == (PYTHON, WHICH)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a program ``tool`` and a folder ``bin`` that has it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("tool", "bin/tool"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("entries", [".", "", "bin", "./bin", ":/nonexistent", "bin:."])
def test_no_program_comes_from_the_current_folder(folder: Path, entries: str) -> None:
    assert find_program({"PATH": entries}, "tool") == ""
    with pytest.raises(FileNotFoundError, match="tool"):
        program_path({"PATH": entries}, "tool")
    absolute = {"PATH": f"{entries}:{folder}/bin:/usr/bin"}
    assert find_program(absolute, "tool") == f"{folder}/bin/tool"
    assert absolute_path(absolute).endswith(f"{folder}/bin:/usr/bin")
    assert all(part[0] == "/" for part in absolute_path(absolute).split(":"))


def test_what_has_a_slash_is_a_path(folder: Path) -> None:
    assert find_program({"PATH": ""}, f"{folder}/tool") == f"{folder}/tool"
    assert find_program({"PATH": f"{folder}"}, f"{folder}/none") == ""


@pytest.mark.parametrize(
    "path",
    ["", ":", "{0}", "missing:{0}", "{0}/folder:{0}", "{0}/plain", "{0}/plain:{0}"],
)
def test_a_program_is_found_as_by_the_library(tmp_path: Path, path: str) -> None:
    for folder in ("", "plain", "folder"):
        (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "folder/wc").mkdir()
    (tmp_path / "plain/wc").touch(mode=0o644)
    (tmp_path / "wc").touch(mode=0o755)
    path = path.format(tmp_path)
    assert find_program({"PATH": path}, "wc") == (shutil.which("wc", path=path) or "")


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({}, ["-P"]),
        ({"PYTHONPATH": ""}, ["-P"]),
        ({"PYTHONPATH": "/elsewhere:/usr/share"}, ["-P"]),
        ({"PYTHONPATH": "."}, ["-P", "-E"]),
        ({"PYTHONPATH": "/elsewhere:"}, ["-P", "-E"]),
        ({"PYTHONHOME": "python"}, ["-P", "-E"]),
        ({"PYTHONUSERBASE": "base"}, ["-P", "-E"]),
        ({"PYTHONPYCACHEPREFIX": "cache"}, ["-P", "-E"]),
    ],
)
def test_relative_folders_of_python_are_ignored(
    variables: dict[str, str], options: list[str]
) -> None:
    words = own_words("wc_cli.start", ("list",), variables)
    assert words[1:-3] == options
    assert words[-1] == "list"


@pytest.mark.parametrize("path", ["", ".", ":{}", "{}:"])
def test_our_own_programs_import_nothing_from_there(folder: Path, path: str) -> None:
    """The absolute entries of PYTHONPATH still count."""
    library = folder / "library"
    library.mkdir()
    (library / "hello.py").write_text("def main():\n    import json\n    print('hi')\n")
    trap = f"open({str(folder / 'sprung')!r}, 'w').close()\n"
    for name in ("json", "encodings", "sitecustomize"):
        (folder / f"{name}.py").write_text(trap)
    env = {"PYTHONPATH": path.format(library)}
    done = subprocess.run(
        own_words("hello", (), env), env=env, capture_output=True, check=False
    )
    assert done.stdout == (b"hi\n" if "{}" in path else b"")
    assert not (folder / "sprung").exists()
