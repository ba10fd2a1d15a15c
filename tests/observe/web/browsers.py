"""Which browser the pages are tried in: the machine's Chromium, else one from
npm, installed beside the tests' Python.

That one is a Chromium without a window for Linux on x86-64, made for places
that have nothing: it brings the libraries that it needs. ``WC_TEST_BROWSER`` names
another, or is ``npm`` for that one.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients import installing

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_HERE = Path(__file__).parent / "chromium"
_KEPT = ("PATH", "TMPDIR", "LANG", "FONTCONFIG_PATH")


class Program(NamedTuple):
    """A browser, and the environment that it is started in."""

    path: str
    env: dict[str, str]


def found() -> Program:
    """A browser; the test is skipped where there is none and none can be had."""
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    named = os.environ.get("WC_TEST_BROWSER", "")
    if named != "npm":
        own = named or next(filter(None, map(shutil.which, _NAMES)), "")
        own = own or next((one for one in _APPLICATIONS if os.path.exists(one)), "")
        if own:
            return Program(own, env)
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("NO BROWSER: install Chromium (npm has one for Linux on x86-64)")
    programs = installing.locked("browser", _HERE, unpacked)
    folder = programs.folder / "unpacked"
    env |= {"LD_LIBRARY_PATH": f"{folder}/al2023/lib"}
    return Program(str(folder / "chromium"), env)


def unpacked(programs: installing.Programs) -> None:
    """Unpack what npm has brought."""
    folder = programs.folder / "unpacked"
    folder.mkdir()
    done = subprocess.run(
        [str(programs.node), str(_HERE / "unpack.mjs")],
        cwd=programs.folder,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=installing.SECONDS,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"NO BROWSER: {done.stderr[-300:]}")
