"""``bin/check-release`` and ``bin/commit-subject``, run for real."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

BIN = Path(__file__).resolve().parents[2] / "bin"
SHELLS = [
    name for name in ("dash", "bash", "busybox", "zsh", "mksh") if shutil.which(name)
]

CHANGELOG = """\
# Changelog

## [Unreleased]

- Not of this release.

## [0.2.0] - 2027-01-31

### Added

- What is new.

## [0.1.0] - 2026-12-01

- The first release.
"""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def check(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """bin/check-release, in a checkout of version 0.2.0."""
    (tmp_path / "bin").mkdir()
    shutil.copy(BIN / "check-release", tmp_path / "bin")
    version = tmp_path / "src/wc_core/base/version.py"
    version.parent.mkdir(parents=True)
    version.write_text('"""The version."""\n\n__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    for name in ("__init__", "changed", "long", "longparts", "longresults"):
        (tmp_path / "tests").mkdir(exist_ok=True)
        shutil.copy(BIN.parent / f"tests/{name}.py", tmp_path / "tests")
    passed(tmp_path)
    return lambda tag: run(tmp_path / "bin/check-release", tag)


def passed(checkout: Path) -> None:
    """Save that every long run has passed with the code of a checkout."""
    run(sys.executable, "-c", PASSED.format(checkout=str(checkout)))


PASSED = """\
import sys
sys.path.insert(0, {checkout!r})
from tests import long, longresults
result = longresults.Result("passed", 1, 1, "abcdef12", "2027-01-31", "")
parts = {{}}
for part in long.PARTS:
    now = result._replace(covered=longresults.digest(part.files()))
    parts[part.name] = {{step.name: now for step in part.steps}}
longresults.SAVED.parent.mkdir(exist_ok=True)
longresults.save(parts)
"""


def test_code_that_changed_after_its_long_runs_is_refused(
    check: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "src/wc_core/more.py").touch()
    done = check("v0.2.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "coverage: what it covers has changed since 2027-01-31\n" in done.stderr
    assert (
        "run these parts of bin/test --long, and commit docs/long.json" in done.stderr
    )


def test_a_release_gets_the_notes_of_its_version(
    check: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = check("v0.2.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "\n### Added\n\n- What is new.\n\n"


@pytest.mark.parametrize("tag", ["v0.1.0", "0.2.0", "v0.2.0rc1", "v0.2"])
def test_a_tag_of_another_version_is_refused(
    check: Callable[[str], subprocess.CompletedProcess[str]], tag: str
) -> None:
    done = check(tag)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the tag is {tag}, and the code is version 0.2.0" in done.stderr


@pytest.mark.parametrize("heading", ["[0.2.0] - not yet published", "[0.2.0]", "0.3"])
def test_a_version_without_a_dated_section_is_refused(
    check: Callable[[str], subprocess.CompletedProcess[str]],
    tmp_path: Path,
    heading: str,
) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        CHANGELOG.replace("[0.2.0] - 2027-01-31", heading)
    )
    done = check("v0.2.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert '"## [0.2.0] - YYYY-MM-DD"' in done.stderr


def subject(shell: str, message: str, folder: Path) -> int:
    file = folder / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8")
    words = [shell, "sh"] if shell == "busybox" else [shell]
    done = run(*words, BIN / "commit-subject", file)
    assert bool(done.stderr) == bool(done.returncode)
    return done.returncode


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "message",
    [
        "store: flush the folder after the first line of a log\n",
        "store: without a line end",
        "docs/sync: explain exit status 8\n\nWhy, in a body.\n",
        "git, sync: pass the repository down\n# Please enter the commit message\n",
        "docs: " + "ü" * 66 + "\n",
        "Merge branch 'x'\n",
        'Revert "store: flush the folder"\n',
        "fixup! store: flush the folder\n",
    ],
)
def test_subjects_of_the_form_are_accepted(
    shell: str, message: str, tmp_path: Path
) -> None:
    assert subject(shell, message, tmp_path) == 0


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "message",
    [
        "",
        "\n",
        "What was found in the renderings\n",
        "store: \n",
        "store:flush the folder\n",
        "store: flush the folder.\n",
        "what a colon says: nothing\n",
        ": flush the folder\n",
        "store: " + "x" * 66 + "\n",
        "store: flush the folder\nand the file\n",
    ],
)
def test_other_subjects_are_refused_with_a_reason(
    shell: str, message: str, tmp_path: Path
) -> None:
    assert subject(shell, message, tmp_path) == 1


def test_a_message_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert run(BIN / "commit-subject", tmp_path / "gone").returncode not in {0, 1}
