"""`wc` run in this process: the same code as the program, a hundred times as
often in the same time."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.conftest import Done, Repo
from wc_cli.run import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


def surroundings(home: Path, store: Path) -> dict[str, str]:
    """The environment of someone with that home folder and that store."""
    return {
        "HOME": str(home),
        "USER": "pat",
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "WATERCOOLER_DETECT": "off",
        "WATERCOOLER_DIR": str(store),
        "WATERCOOLER_SYNC": "off",
    }


def wc(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], feed: bytes = b""
) -> Done:
    """How that command line ends."""
    with _streams(feed) as (out, err), _place(cwd, env):
        code = main.run(words)
        said = (one.buffer.getvalue() for one in (out, err))  # type: ignore[attr-defined]
    return Done(code, *(one.decode(errors="backslashreplace") for one in said))


@contextmanager
def _streams(feed: bytes) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    before = sys.stdin, sys.stdout, sys.stderr
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(data), "utf-8", "replace", write_through=True)
        for data in (feed, b"", b"")
    )
    sys.stdin, sys.stdout, sys.stderr = given, out, err
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _place(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    before, where = dict(os.environ), os.getcwd()
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        os.chdir(where)


class Here(Repo):
    """A folder in which wc runs in this process."""

    def wc(
        self,
        *words: str,
        cwd: Path | str = "",
        feed: bytes | None = None,
        env: Mapping[str, str] | None = None,
        **_: Any,
    ) -> Done:
        given = {**self.machine.env, **(env or {})}
        return wc(words, self.path / cwd, given, feed or b"")

    def worktree(self, name: str, branch: str = "") -> Here:
        return Here(self.machine, super().worktree(name, branch).path)
