"""Moves refs of claims by compare-and-swap: all or none.

`git update-ref --stdin` locks every ref before it changes the first. If a ref has an
unexpected value, the race is lost; a lock of another git process is waited for.
"""

from __future__ import annotations

import time

from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.clock import random_between
from wc_core.base.errors import LockTimeoutError, StorageError
from wc_core.base.lean import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.ledger.branch.git import Git
    from wc_core.edits.claims.rules import RefMove

# git's own words, in the C locale.
_LOST = re.compile(
    rb"but expected|reference already exists|unable to resolve reference"
    rb"|but is not|is missing but"
)
_BUSY = re.compile(rb"Unable to create '(?P<lock>[^']*\.lock)': File exists")
_SECONDS = 2.0
_PAUSE = 0.005


class LostRaceError(Exception):
    """Another process moved one of the refs first. Nothing was changed."""


def move_refs(git: Git, moves: Iterable[RefMove]) -> None:
    """Move refs. Raises LostRaceError, LockTimeoutError if another git process keeps
    its lock, and StorageError; nothing was changed then."""
    feed = "".join(map(_line, moves)).encode()
    until = time.monotonic() + _SECONDS
    while feed:
        try:
            git.run("update-ref", "--stdin", feed=feed)
        except GitError as error:
            busy = _BUSY.search(error.err)
            if busy and time.monotonic() < until:
                time.sleep(_PAUSE * random_between(0.5, 2))
                continue
            _raise_for(error, busy)
        return


def _line(move: RefMove) -> str:
    """A line for git-update-ref(1)."""
    if not move.new:
        return f"delete {move.ref} {move.old}\n"
    if move.old:
        return f"update {move.ref} {move.new} {move.old}\n"
    return f"create {move.ref} {move.new}\n"


def _raise_for(error: GitError, busy: re.Match[bytes] | None) -> None:
    if busy:
        lock = busy["lock"].decode(errors="replace")
        raise LockTimeoutError(
            f"Another git process keeps {lock}.",
            "Nothing was changed. If no git process is running, remove that file.",
        ) from error
    if _LOST.search(error.err):
        raise LostRaceError from error
    raise StorageError(
        f"The claims could not be changed: {error}.",
        "Nothing was changed. Check that git works here: git status",
    ) from error
