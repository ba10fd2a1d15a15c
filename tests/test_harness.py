"""What the other tests rely on: how processes start, and names of modules."""

from __future__ import annotations

import importlib
import importlib.util
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import changed, long, mutation
from tests.contract import fuzzer
from tests.reporting import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
# Prints which of the signals a child of a test process ignores.
CHILD = f"""
import signal
for name in {SIGNALS}:
    print(signal.getsignal(getattr(signal, name)) is signal.SIG_IGN)
"""
PARENT = f"""
import subprocess, sys
{{before}}
subprocess.run([sys.executable, "-I", "-c", {CHILD!r}], check=True)
"""


# A whole name of a module of ours, in quotes or after `-m`.
NAME = r"""(?:["' ])(wc_(?:cli|core|observe)(?:\.[a-z_]\w*)+)(?=["' :])"""


def ignore_signals() -> None:
    for name in SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


@pytest.mark.parametrize(
    ("before", "ignored"), [("", "True"), ("import tests.conftest", "False")]
)
def test_children_do_not_ignore_what_we_were_started_to_ignore(
    before: str, ignored: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT.format(before=before)],
        cwd=TESTS.parent,
        preexec_fn=ignore_signals,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [ignored] * len(SIGNALS)


def names_of_modules() -> Iterator[tuple[str, str]]:
    """Yield every text in a test that looks like the name of one of our modules."""
    for path in sorted(TESTS.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith(("from ", "import ")):
                for name in re.findall(NAME, line):
                    yield str(path.relative_to(TESTS)), name


def exists(name: str) -> bool:
    """Whether there is such a module, or such a name in a module."""
    package, _, last = name.rpartition(".")
    if importlib.util.find_spec(package) is None:
        return False
    module = importlib.import_module(package)
    return hasattr(module, last) or importlib.util.find_spec(name) is not None


def test_modules_that_tests_name_exist() -> None:
    names = sorted(set(names_of_modules()))
    assert len(names) > 10
    assert [(path, name) for path, name in names if not exists(name)] == []


def test_what_commands_import_late_is_imported_before_forking() -> None:
    words = [sys.executable, "-c", f"import sys\n{IMPORTED}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "wc_cli.commands.writing" in done.stdout.split()


IMPORTED = f"""
sys.path[:0] = {[str(TESTS.parent), str(TESTS.parent / "src")]}
from tests import forkserver
forkserver._import_all("wc_core", "wc_cli")
print(*sys.modules)
"""


def test_skips_are_counted_by_their_reason() -> None:
    reasons = ["Skipped: no zsh", "no fish", "Skipped: no zsh"]
    assert summary(reasons) == ["SKIPPED [1] no fish", "SKIPPED [2] no zsh"]


def test_the_long_runs_are_those_of_the_page() -> None:
    page = (TESTS.parent / "docs/reliability.md").read_text(encoding="utf-8")
    table = page.partition("\n## The long runs\n")[2]
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*?) \| (.+) \|$", table, re.MULTILINE)
    assert rows == [
        (part.name, ", ".join(map(str, part.promises)) or "all", part.about)
        for part in long.PARTS
    ]
    assert set(long.FUZZED) == set(fuzzer.TARGETS)


def test_every_promise_has_a_long_run() -> None:
    kept = {number for part in long.PARTS for number in part.promises}
    assert kept == long.promises().keys()


def test_what_long_runs_start_exists() -> None:
    for part in long.PARTS:
        for step in part.steps:
            files = [word for word in step.words if word.startswith("tests/")]
            for file in files:
                assert (TESTS.parent / file.partition("::")[0]).exists(), file
            if not files:
                assert importlib.util.find_spec(step.words[1]), step


def step(code: str) -> long.Step:
    return long.Step("step", ("-c", code))


def test_a_step_that_passed_is_not_run_again(tmp_path: Path) -> None:
    notes = long.Notes(tmp_path)
    mark = tmp_path / "ran"
    once = step(f"open({str(mark)!r}, 'x')")
    fails = step("raise SystemExit('no')")._replace(name="fails")
    part = long.Part("part", (1,), "", (once, fails))
    assert notes.states(part) == "not run"
    assert long.run(part, once, notes)
    assert mark.exists()
    assert long.run(part, once, notes)  # a second time it would fail
    assert not long.run(part, fails, notes)
    assert notes.states(part) == "1 passed, 1 FAILED"
    assert notes.log(part, fails).read_text() == "no\n"


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("src/wc_core/threads/moves.py", "tests/core/threads/test_moves.py"),
        ("src/wc_cli/store/durable.py", "tests/cli/store/test_locks.py"),
        ("src/wc_core/ulid.py", "tests/core/test_ulid.py"),
        ("tests/contract/judging.py", "tests/contract/test_races.py"),
        ("tests/core/test_ulid.py", "tests/core/test_ulid.py"),
        ("docs/install.md", "tests/cli/install/test_clients.py"),
        ("bin/wc", "tests/bin/test_launcher.py"),
        ("src/wc_cli/skill/watercooler/SKILL.md", "tests/cli/commands/test_about.py"),
    ],
)
def test_what_changed_chooses_its_tests(path: str, test: str) -> None:
    assert test in changed.tests_of(path).files


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "bin/test", "tests/conftest.py", f"some/{SIGNALS}"]
)
def test_what_may_concern_anything_chooses_everything(path: str) -> None:
    assert not changed.tests_of(path).files


def test_what_mutation_may_leave_unnoticed_is_in_the_code() -> None:
    assert tuple(mutation.TARGETS) == long.MUTATED
    for module, target in mutation.TARGETS.items():
        source = (TESTS.parent / target.file).read_text(encoding="utf-8")
        for change in mutation.explained(module):
            assert f"def {change.function}(" in source
            assert change.before in source


def test_a_change_is_read_from_what_mutmut_shows() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n def one():\n-    return 1\n+    return 2\n"
    expected = mutation.Mutant("one", "return 1", "return 2")
    assert mutation.mutant("module.x_one__mutmut_1", diff) == expected
    assert mutation.mutant("module.xǁClassǁone__mutmut_12", diff) == expected
