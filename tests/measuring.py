"""Hands coverage what the programs noted that the tests started."""

from __future__ import annotations

import functools
import marshal
import os
import shutil
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
# How coverage asks a child to measure itself, and how we do.
_COVERAGE, _NOTES = "COVERAGE_PROCESS_CONFIG", "COVERAGE_NOTES"
_LINE, _SHIFT = (1 << 28) - 1, 28
_NEGATIVE_FROM, _NEGATIVE_TO = 1 << 56, 1 << 57


@functools.cache
def _folder() -> str:
    """Where the notes of this process's children are."""
    return tempfile.mkdtemp(prefix="wc-tests-notes-")


def noting(env: dict[str, str]) -> dict[str, str]:
    """That environment; a child that coverage would measure takes notes."""
    if _COVERAGE not in env:
        return env
    try:
        from coverage import tracer
    except ImportError:  # where coverage was not compiled, it does all itself
        return env
    said = os.pathsep.join((_folder(), tracer.__file__, f"{ROOT}/src/"))
    path = f"{env['PYTHONPATH']}{os.pathsep}{ROOT}/tests/measured"
    kept = {name: text for name, text in env.items() if name != _COVERAGE}
    return {**kept, _NOTES: said, "PYTHONPATH": path}


def measured(env: dict[str, str]) -> dict[str, str]:
    """That environment, for a child that is to be measured if we are."""
    asked = os.environ.get(_COVERAGE)
    return noting(env | {_COVERAGE: asked}) if asked else env


@contextmanager
def paused() -> Iterator[None]:
    """Measure nothing that this process does inside. In a worker of xdist, coverage
    is started more than once, and where one ends the one before goes on."""
    from coverage import Coverage

    # Each start wraps os._exit again; a thousand of them overflow the stack.
    wrapped_exit = os._exit
    stopped = []
    while (current := Coverage.current()) is not None:
        current.stop()
        stopped.append(current)
    try:
        yield
    finally:
        while stopped:
            stopped.pop().start()
        os._exit = wrapped_exit


def hand_over() -> None:
    """Make one file of coverage's out of all notes."""
    if not _folder.cache_info().currsize:
        return
    from coverage import Coverage, CoverageData

    packed: defaultdict[str, set[int]] = defaultdict(set)
    for note in Path(_folder()).glob("*[0-9]"):
        for name, steps in marshal.loads(note.read_bytes()).items():
            packed[name] |= steps
    shutil.rmtree(_folder(), ignore_errors=True)
    current = Coverage.current()
    if current is not None:
        beside = str(current.get_option("run:data_file"))
        data = CoverageData(beside, suffix=True)
        data.add_arcs({name: _steps(packed[name]) for name in packed})
        # What nothing runs counts as well.
        data.touch_files([str(one) for one in (ROOT / "src").rglob("*.py")])
        data.write()


def _steps(packed: Iterable[int]) -> list[tuple[int, int]]:
    """From which line to which, as coverage's tracer packs it into one number;
    negative are the beginning and the end of a function."""
    return [
        (
            (one & _LINE) * (-1 if one & _NEGATIVE_FROM else 1),
            (one >> _SHIFT & _LINE) * (-1 if one & _NEGATIVE_TO else 1),
        )
        for one in packed
    ]
