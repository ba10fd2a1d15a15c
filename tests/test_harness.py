"""What the other tests rely on: how processes start, and names of modules."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import changed, long, longparts, longresults, mutation
from tests.contract import fuzzer
from tests.reporting import summary

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent
SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
# Prints which of the signals a child of a test process ignores.
CHILD = f"""
import shutil
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


def test_long_runs_fuzz_everything() -> None:
    assert set(longparts.FUZZED) == set(fuzzer.TARGETS)


def test_every_promise_has_a_long_run() -> None:
    kept = {number for part in longparts.PARTS for number in part.promises}
    assert kept == long.promises().keys()


def test_what_long_runs_start_and_cover_exists() -> None:
    for part in longparts.PARTS:
        names = [step.name for step in part.steps]
        assert len(set(names)) == len(names)
        for name in part.covers:
            modules = [one for one in changed.modules() if f"{one}.".startswith(name)]
            assert (TESTS.parent / name).exists() or modules, name
        for step in part.steps:
            files = [word for word in step.words if word.startswith("tests/")]
            for file in files:
                assert (TESTS.parent / file.partition("::")[0]).exists(), file
            if not files:
                assert importlib.util.find_spec(step.words[1]), step


def test_a_long_run_covers_what_its_tests_import_and_its_programs() -> None:
    parts = {part.name: set(part.files()) for part in longparts.PARTS}
    for name in ("worlds", "kills", "races", "merge"):
        assert "src/wc_core/ledger/threads/codec.py" in parts[name]
        assert "src/wc_cli/run/board/screen.py" not in parts[name]
    assert "tests/contract/chance.py" in parts["worlds"]
    assert "src/wc_cli/commands/sync.py" in parts["kills"]
    assert "src/wc_observe/mcp/tools.py" in parts["readers"]
    assert "bin/wc" in parts["crash"]
    assert {"tests/test_docs.py", "pyproject.toml"} <= parts["coverage"]


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


class Sitting:
    """A part of two steps that covers one file; the second one fails once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.covered = folder / "covered"
        self.covered.write_text("as it is")
        self.saved = folder / "long.json"
        once = f"open({str(folder / 'first')!r}, 'a').write('x'); print('7 passed')"
        fails = f"open({str(folder / 'second')!r})"
        steps = (
            longparts.Step("first", ("-c", once)),
            longparts.Step("second", ("-c", fails), amount=3),
        )
        self.part = longparts.Part("part", (1,), "", steps, (str(self.covered),))

    def run(self) -> bool:
        return long.run_part(self.part, self.saved, self.folder / "logs")

    @property
    def standing(self) -> long.Standing:
        return long.standing(self.part, longresults.load(self.saved))

    @property
    def runs(self) -> int:
        return len((self.folder / "first").read_text())


def test_what_passed_is_saved_and_not_run_again(sitting: Sitting) -> None:
    assert not sitting.run()
    assert sitting.standing.result == "**FAILED**: second"
    assert "No such file" in (sitting.folder / "logs/part-second.log").read_text()
    (sitting.folder / "second").touch()
    assert sitting.run()
    assert sitting.standing.result == "passed"
    assert (sitting.standing.amount, sitting.runs) == (10, 1)


def test_a_result_counts_until_what_it_covers_changes(sitting: Sitting) -> None:
    (sitting.folder / "second").touch()
    assert sitting.run()
    (sitting.folder / "other").write_text("does not matter")
    assert sitting.run()
    assert sitting.runs == 1
    sitting.covered.write_text("something else")
    assert sitting.standing.is_out_of_date
    assert sitting.run()
    assert not sitting.standing.is_out_of_date
    assert sitting.runs == 2


def test_sittings_add_up_although_the_code_changes(sitting: Sitting) -> None:
    assert not sitting.run()  # the second step fails
    sitting.covered.write_text("something else")
    saved = longresults.load(sitting.saved)
    assert not sitting.standing.is_out_of_date
    second = saved["part"]["first"]._replace(covered=sitting.standing.covered)
    longresults.save({"part": saved["part"] | {"second": second}}, sitting.saved)
    assert sitting.standing.result == "passed"
    assert sitting.standing.is_out_of_date
    assert [step.name for step in sitting.standing.waiting()] == ["first"]


def test_what_never_passed_comes_first(sitting: Sitting) -> None:
    assert [step.name for step in sitting.standing.waiting()][:2] == ["first", "second"]
    assert not sitting.run()
    sitting.covered.write_text("something else")
    assert [step.name for step in sitting.standing.waiting()][:2] == ["second", "first"]
    assert not sitting.run()
    assert sitting.runs == 2


def test_a_part_counts_after_its_hours(
    sitting: Sitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long, "LIMIT", 1)
    covered = longresults.digest(sitting.part.files())
    result = longresults.Result("passed", 7, 1, "abcdef12", "2026-01-01", covered)
    steps = {"first": result}
    longresults.save({"part": steps}, sitting.saved)
    assert sitting.run()
    assert sitting.standing.result == "passed, as far as 3 hours reached"
    assert sitting.standing.amount == 7
    steps["second"] = result._replace(result="FAILED")
    longresults.save({"part": steps}, sitting.saved)
    (sitting.folder / "second").touch()
    assert sitting.run()  # what failed is run again nevertheless
    assert sitting.standing.result == "passed"


def test_a_release_waits_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    part = longparts.PARTS[0]
    monkeypatch.setattr(long, "PARTS", (part,))
    covered = longresults.digest(part.files())
    result = longresults.Result("passed", 7, 1, "abcdef12", "2026-01-01", covered)
    steps = {step.name: result for step in part.steps}
    assert list(long.problems({part.name: steps})) == []
    assert list(long.problems({})) == [f"{part.name}: not run"]
    failed = dict.fromkeys(steps, result._replace(result="FAILED"))
    assert list(long.problems({part.name: failed})) == [
        f"{part.name}: **FAILED**: {', '.join(steps)}"
    ]
    older = dict.fromkeys(steps, result._replace(covered="older"))
    assert list(long.problems({part.name: older})) == [
        f"{part.name}: what it covers has changed since 2026-01-01"
    ]
    assert list(long.listing({part.name: older})) == [
        f"{part.name:13} out of date, passed (7 tests · 1 min · 2026-01-01)"
    ]


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("src/wc_core/ledger/threads/moves.py", "tests/core/threads/test_moves.py"),
        ("src/wc_cli/ledger/store/durable.py", "tests/cli/store/test_locks.py"),
        ("src/wc_core/base/ulid.py", "tests/core/test_ulid.py"),
        ("tests/contract/judging.py", "tests/contract/test_races.py"),
        ("tests/core/test_ulid.py", "tests/core/test_ulid.py"),
        ("docs/install.md", "tests/cli/install/test_clients.py"),
        ("bin/wc", "tests/bin/test_launcher.py"),
        (
            "src/wc_cli/agents/skill/watercooler/SKILL.md",
            "tests/cli/commands/test_about.py",
        ),
    ],
)
def test_what_changed_chooses_its_tests(path: str, test: str) -> None:
    assert test in changed.tests_of(path).files


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "bin/test", "tests/conftest.py", f"some/{SIGNALS}"]
)
def test_what_may_concern_anything_chooses_everything(path: str) -> None:
    assert not changed.tests_of(path).files


def test_the_table_of_the_long_runs_is_written(tmp_path: Path) -> None:
    docs = TESTS.parent / "docs"
    page = (docs / "reliability.md").read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    for name in ("make_long.py", "blocks.py"):
        shutil.copy(docs / name, tmp_path / "docs")
    (tmp_path / "tests").symlink_to(TESTS)
    copy = tmp_path / "docs/reliability.md"
    copy.write_text(page.replace("| `worlds` |", "| `older` |"), encoding="utf-8")
    subprocess.run([sys.executable, copy.with_name("make_long.py")], check=True)
    assert copy.read_text(encoding="utf-8") == page


def test_what_mutation_may_leave_unnoticed_is_in_the_code() -> None:
    assert tuple(mutation.TARGETS) == longparts.MUTATED
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
