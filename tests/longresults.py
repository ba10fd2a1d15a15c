"""The saved results of the long runs, and the files that each of them covers.

docs/long.json has a part's steps with what became of them, and a digest of what the
part covered then: its tests, and the modules that these or the programs that they start
import. So results may come from several sittings and machines, it can be told whether
the code has changed since, and the history of git may be rewritten.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
SAVED = ROOT / "docs" / "long.json"
PASSED, FAILED = "passed", "FAILED"
# Used by all tests. What these import in turn says nothing about a test.
SHARED = ("tests/amounts.py", "tests/conftest.py", "tests/forking.py")
# Changes without a file of the checkout being another one.
IGNORED = frozenset({"__pycache__", ".pytest_cache", "node_modules"})


class Result(NamedTuple):
    """What became of a step: how much was done, how long it took, the commit that was
    checked out, the day, and the digest of what its part covered."""

    result: str
    amount: int
    seconds: int
    commit: str
    date: str
    covered: str


# The results of a part, by the names of its steps; of all parts, by theirs.
Steps = dict[str, Result]
Saved = dict[str, Steps]


def load(path: Path = SAVED) -> Saved:
    """Read the results of all parts; none if there is no file."""
    if not path.exists():
        return {}
    parts = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: {step: Result(**result) for step, result in steps.items()}
        for name, steps in parts.items()
    }


def save(parts: Saved, path: Path = SAVED) -> None:
    """Write the results of all parts: a line for each step, in a fixed order."""
    lines = []
    for name, results in sorted(parts.items()):
        steps = [
            f"  {json.dumps(step)}: {json.dumps(result._asdict())}"
            for step, result in sorted(results.items())
        ]
        lines.append(f" {json.dumps(name)}: {{\n" + ",\n".join(steps) + "\n }")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


# --- what a part covers -----------------------------------------------------------


def files(covers: Iterable[str]) -> list[str]:
    """Return the files of what a part covers, sorted.

    A name is that of a file, of a folder with everything in it, or of a module, a
    package with everything in it. What a module imports is covered as well, late
    imports included.
    """
    paths = set(SHARED)
    modules: list[str] = []
    for name in covers:
        if (ROOT / name).exists():
            paths |= set(_below(name))
        else:
            modules += [
                module
                for module in changed.modules()
                if f"{module}.".startswith(f"{name}.")
            ]
    modules += [
        module
        for module, file in changed.modules().items()
        if file in paths - {*SHARED}
    ]
    paths |= {changed.modules()[module] for module in _imported(modules)}
    return sorted(paths)


def digest(paths: Sequence[str]) -> str:
    """Return a digest of the bytes of some files, with their names."""
    whole = hashlib.sha256()
    for path in paths:
        content = (ROOT / path).read_bytes() if (ROOT / path).is_file() else b""
        whole.update(f"{path} {hashlib.sha256(content).hexdigest()}\n".encode())
    return whole.hexdigest()[:16]


def _below(path: str) -> Iterator[str]:
    """Yield the files at a path."""
    if not (ROOT / path).is_dir():
        yield path
        return
    for file in (ROOT / path).rglob("*"):
        parts = file.relative_to(ROOT).parts
        if file.is_file() and not IGNORED.intersection(parts):
            yield "/".join(parts)


def _imported(modules: Iterable[str]) -> set[str]:
    """Return these modules and everything that they import, at any distance."""
    known = changed.modules()
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        waiting.append(name.rpartition(".")[0])  # its package
        if known[name] not in SHARED:
            waiting += changed.imported(known[name])
    return seen
