"""The lean form of `site` does what that of the library does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import wc_core

SOURCE = str(Path(wc_core.__file__).parents[1])


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
