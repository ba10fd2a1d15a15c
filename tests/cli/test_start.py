"""How `wc-cli` and the launcher start the command."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wc_cli

if TYPE_CHECKING:
    from tests.conftest import Repo

SOURCE = Path(wc_cli.__file__).parents[1]
LAUNCHER = SOURCE.parent / "bin" / "wc"

# Prints the threshold of garbage collection with which a command ends.
_THRESHOLD = """
import gc, os
leave = os._exit
def tell(code):
    print(gc.get_threshold()[0], flush=True)
    leave(code)
os._exit = tell
from wc_cli.start import main
main()
"""


def test_a_short_command_collects_no_garbage(repo: Repo) -> None:
    done = repo.machine.run([sys.executable, "-c", _THRESHOLD, "version"], repo.path)
    assert int(done.out.split()[-1]) >= 100_000


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """How the launcher starts Python, with a script that installers would write."""
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n")
    python.chmod(0o755)
    script = tmp_path / "wc-cli"
    script.write_text(f"#!{python}\nimport sys\nfrom wc_cli.start import main\n")
    script.chmod(0o755)
    launcher = tmp_path / "wc"
    launcher.write_bytes(LAUNCHER.read_bytes())
    done = subprocess.run(
        ["sh", launcher, "version"], check=True, capture_output=True, text=True
    )
    *words, end = done.stdout.split("\0")
    assert not end
    return [sys.executable, *words]


def test_nothing_of_the_current_folder_is_imported(
    program: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("gc", "json", "wc_cli", "wc_core", "typing", "unicodedata"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('{name}')\n")
    env = os.environ | {"PYTHONPATH": os.fspath(SOURCE)}
    done = subprocess.run(program, cwd=folder, env=env, capture_output=True, check=True)
    assert done.stdout.startswith(b"wc ")


def test_the_first_word_is_the_script(program: list[str], tmp_path: Path) -> None:
    words = [
        word.replace("from wc_cli.start import main; main()", "print(sys.argv)")
        for word in program
    ]
    assert words != program
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[f'{tmp_path}/wc-cli', 'version']}\n"


def test_a_bundle_of_an_older_version_is_harmless(repo: Repo, tmp_path: Path) -> None:
    """It kept the bytecode of many modules in one file beside that of a module."""
    option = ["-X", f"pycache_prefix={tmp_path}"]
    bundle = importlib.util.cache_from_source(
        f"{SOURCE}/wc_cli/run/main.py", optimization="bundle"
    )
    before = sys.pycache_prefix or ""
    path = tmp_path / Path(bundle).relative_to(before or "/")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"an older version's")
    done = repo.machine.run(
        [sys.executable, *option, "-m", "wc_cli", "version"], repo.path
    )
    assert done.out.startswith("wc ")
    assert path.read_bytes() == b"an older version's"


def test_a_locale_with_ascii_alone_is_no_obstacle(repo: Repo) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    wc = [sys.executable, "-c", "from wc_cli.start import main; main()"]
    written = repo.machine.run([*wc, "new", "τέλος", "-m", "→ 🎾"], repo.path, env=env)
    assert (written.code, written.err) == (0, "")
    for name in ("list", "read"):
        done = repo.machine.run([*wc, name], repo.path, env=env)
        assert done.code == 0, done
        assert "→ 🎾" in done.out
    assert [entry["title"] for entry in repo.entries("τέλοσ")] == ["→ 🎾"]
