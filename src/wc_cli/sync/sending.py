"""Pushes what was written before asking what the remote has.

A remote takes our branch only if it has nothing there that we lack. If that succeeds,
as it does whenever nobody else wrote meanwhile, there is nothing left to fetch: the
remote was asked once, not twice.
"""

from __future__ import annotations

import threading
import time

from wc_cli.branch import commits, compare
from wc_cli.sync.wireerrors import UnreachableError, WireError
from wc_core.git import freshness, repository
from wc_core.git.freshness import Freshness
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from wc_cli.branch.git import Git
    from wc_cli.sync.wire import Wire
    from wc_core.git.remotes import Remote
    from wc_core.layout import Layout


class Sent(NamedTuple):
    """The number of entries that went, by thread, and of commits; and notes for the
    user."""

    went: Mapping[str, int]
    ahead: int
    notes: tuple[str, ...] = ()


class Counting:
    """Counts what goes from one commit to another, while it goes: counting takes three
    processes of git, about half as long as a push."""

    def __init__(self, git: Git, old: str, new: str) -> None:
        self._words = (git, old, new)
        self._sent: Sent | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._count)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _count(self) -> None:
        git, old, new = self._words
        try:
            ahead, _ = commits.ahead_behind(git, new, old)
            self._sent = Sent(compare.count_new(git, old, new), ahead)
        except Exception as error:  # noqa: BLE001 - raised again by `result`
            self._error = error

    def result(self) -> Sent:
        """What was counted. Raises the error of counting."""
        if self._sent is None:
            raise self._error or AssertionError
        return self._sent


def push_first(git: Git, wire: Wire, layout: Layout, own_tip: str) -> Sent | None:
    """Push ``own_tip`` without a fetch.

    Returns ``None`` if a fetch has to come first: there is nothing to send, the last
    exchange left something open, or the push failed. Raises WireError if the time is
    over.
    """
    expected = "" if wire.goes_elsewhere else _expected_tip(layout, wire)
    if not expected or expected == own_tip:
        return None
    with Counting(git, expected, own_tip) as counting:
        try:
            before = wire.push(own_tip)
        except WireError as error:
            if isinstance(error, UnreachableError) and time.monotonic() >= git.until:
                raise
            return None
    if before and expected.startswith(before):
        return counting.result()
    return _surprising(git, wire.remote, expected, before, own_tip)


def _surprising(
    git: Git, remote: Remote, expected: str, before: str, own_tip: str
) -> Sent:
    """What was sent to a remote whose branch was not where it was ``expected``, but at
    ``before``; empty if it had none."""
    notes: tuple[str, ...] = (lost_text(remote),)
    if before:
        name = f"{before}^{{commit}}"
        before = git.line("rev-parse", "--verify", "--quiet", name)
        lost, _ = commits.ahead_behind(git, expected, before)
        notes = (rewritten_text(remote),) if lost else ()
    ahead, _ = commits.ahead_behind(git, own_tip, before)
    return Sent(compare.count_new(git, before, own_tip), ahead, notes)


def _expected_tip(layout: Layout, wire: Wire) -> str:
    """The commit that the remote's branch was at after the last exchange; empty if it
    may well have something for us, or if that exchange failed."""
    state = freshness.load(layout) or Freshness()
    if state.remote == wire.remote.label and (state.behind or state.problem):
        return ""
    return repository.resolve(wire.repository, wire.remote.tracking)


def lost_text(remote: Remote) -> str:
    """The note about a remote that had the branch and lost it."""
    return f"{remote.label} no longer had the branch"


def rewritten_text(remote: Remote) -> str:
    """The note about a remote that lacks commits it had."""
    return (
        f"the history of {remote.label} was rewritten; nothing of what was here "
        "is given up"
    )
