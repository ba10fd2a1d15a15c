"""Chooses the tests that concern what was changed; run by `bin/test --changed`.

Prints the chosen test files, or nothing but ``all``, and says on standard error
why. The choice is a guess at what is worth running first: the tests of the same
room, those that import what was changed, and those named after a module that
imports it. `bin/test` runs everything.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"wc_core": "core", "wc_cli": "cli", "wc_observe": "observe"}
# Rooms whose modules have nothing to do with each other.
APART = frozenset({"wc_cli.commands"})
# Quick, and about all of the code.
ALWAYS = ("test_api", "test_docs", "test_harness", "test_naming", "test_project")
# What every test stands on.
WHOLE = frozenset(
    {"pyproject.toml", "requirements.lock", "requirements-dev.lock", "bin/test"}
    | {"bin/bootstrap", "bin/bootstrap.py", ".ci/run", "tests/conftest.py"}
)
EVERYTHING = "all"


class Choice(NamedTuple):
    """Test files, and why; without files, everything."""

    files: frozenset[str]
    reason: str


def main(base: str = "") -> None:
    """Print what to test after the changes since ``base``."""
    base = base or default_base()
    files = changed_files(base)
    _say(f"changed since {base}: {len(files)} files")
    chosen = set(always())
    for path in files:
        choice = tests_of(path)
        _say(f"  {path}: {choice.reason}")
        if not choice.files:
            _say(f"{path} may concern anything: all tests")
            print(EVERYTHING)
            return
        chosen |= choice.files
    known = len(test_files())
    _say(f"{len(chosen)} of {known} test files; bin/test runs the others as well")
    print(*sorted(chosen), sep="\n")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


# --- what was changed ---------------------------------------------------------


def git(*words: str) -> list[str]:
    """Return the lines that git prints, none where it fails."""
    done = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


def default_base() -> str:
    """Return where this branch left the main one; on that, the last commit."""
    for main_branch in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main_branch)
        if base and base != git("rev-parse", "HEAD"):
            return base[0]
    return "HEAD"


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, also those git does not know."""
    changed = git("diff", "--name-only", "--no-renames", base)
    untracked = git("ls-files", "--others", "--exclude-standard")
    return sorted({*changed, *untracked})


# --- which tests that concerns ------------------------------------------------


def tests_of(path: str) -> Choice:
    """Choose the tests that a changed file concerns."""
    if path in WHOLE:
        return Choice(frozenset(), "everything stands on it")
    if path.endswith(".py") and path.startswith("src/"):
        return _tests_of_module(path)
    if path.endswith(".py") and path.startswith("tests/"):
        return _tests_of_test(path)
    return _tests_that_name(path)


def _tests_of_module(path: str) -> Choice:
    """The tests of its room, those that import it, and those of its importers."""
    name = module_name(path)
    package, *rooms = without_wing(name).split(".")
    folder = "/".join((f"tests/{PACKAGES.get(package, package)}", *rooms[:-1]))
    own = {file for file in test_files() if file == mirror(name)}
    if rooms[1:] and not (own and name.rpartition(".")[0] in APART):
        own |= {file for file in test_files() if file.startswith(f"{folder}/")}
    importing = {file for file in test_files() if name in reached(file)}
    mirrored = {mirror(importer) for importer in importers(name)}
    files = own | importing | (mirrored & set(test_files()))
    counts = f"{len(own)} of its room, {len(importing)} import it"
    return Choice(frozenset(files), f"{counts}, {len(files)} with its importers")


def _tests_of_test(path: str) -> Choice:
    """A test itself; of what tests share, those that import it."""
    if not (ROOT / path).exists():
        return Choice(frozenset(always()), "is gone")
    if path in test_files():
        return Choice(frozenset({path}), "a test")
    if path.endswith("/conftest.py"):
        folder = path.removesuffix("conftest.py")
        files = {file for file in test_files() if file.startswith(folder)}
        return Choice(frozenset(files), f"fixtures of {folder}")
    name = module_name(path)
    files = {file for file in test_files() if name in reached(file)}
    return Choice(frozenset(files), f"{len(files)} import it")


def _tests_that_name(path: str) -> Choice:
    """The tests that mention a file that is not a module, by its name."""
    name = path.rsplit("/", 1)[-1]
    files = {file for file in test_files() if name in text_of(file)}
    if path.endswith(".md"):
        files |= {"tests/test_snippets.py", "tests/test_man.py"}
    if path.startswith("src/"):
        folder = mirror(module_name(f"{path.rsplit('/', 1)[0]}/x.py"))
        folder = folder.rsplit("/", 1)[0]
        files |= {file for file in test_files() if file.startswith(f"{folder}/")}
    if path.startswith(".") or "/" not in path:
        files.add("tests/test_project.py")
    return Choice(frozenset(files), f"{len(files)} name it")


# --- modules, tests, and who imports what -------------------------------------


@cache
def test_files() -> tuple[str, ...]:
    """Return the files with tests, relative to the checkout."""
    paths = (ROOT / "tests").rglob("test_*.py")
    return tuple(sorted(str(path.relative_to(ROOT)) for path in paths))


def always() -> list[str]:
    """Return the tests that are always worth running."""
    files = (f"tests/{name}.py" for name in ALWAYS)
    return [file for file in files if file in test_files()]


@cache
def text_of(path: str) -> str:
    """Return the text of a file."""
    return (ROOT / path).read_text(encoding="utf-8")


def module_name(path: str) -> str:
    """Return the name a file is imported by."""
    name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    return name.replace("/", ".")


def without_wing(name: str) -> str:
    """Return the name of a module without its wing: tests are in folders by room."""
    package, _, inner = name.partition(".")
    wing, _, room = inner.partition(".")
    folder = ROOT / "tests" / PACKAGES.get(package, package) / wing
    return f"{package}.{room}" if room and not folder.is_dir() else name


def mirror(name: str) -> str:
    """Return the test file that is named after a module."""
    package, *rooms = without_wing(name).split(".")
    *folders, last = rooms or [package]
    return "/".join(
        ("tests", PACKAGES.get(package, package), *folders, f"test_{last}.py")
    )


@cache
def modules() -> dict[str, str]:
    """Return the files of our modules, the tests' included, by their names."""
    paths = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    files = [str(path.relative_to(ROOT)) for path in paths]
    return {module_name(file): file for file in files}


@cache
def imported(path: str) -> frozenset[str]:
    """Return the modules of ours that a file imports itself, late ones too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text_of(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names & modules().keys())


@cache
def reached(test: str) -> frozenset[str]:
    """Return what a test imports, itself and through what tests share."""
    reach: set[str] = set()
    waiting = [*imported(test)]
    while waiting:
        name = waiting.pop()
        if name not in reach:
            reach.add(name)
            if name.startswith("tests."):
                waiting += imported(modules()[name])
    return frozenset(reach)


@cache
def importers(name: str) -> frozenset[str]:
    """Return the modules in src that import a module themselves."""
    sources = {key: file for key, file in modules().items() if file.startswith("src/")}
    return frozenset(key for key, file in sources.items() if name in imported(file))


if __name__ == "__main__":
    main(*sys.argv[1:])
