"""Pushes local entries before fetching from the remote.

A remote accepts our branch only if it has nothing that we lack. If the push succeeds,
as it does whenever nobody else wrote in the meantime, there is nothing to fetch: one
request instead of two.
"""

from __future__ import annotations

import time

from wc_cli.ledger.branch import commits, compare
from wc_cli.ledger.sync.wireerrors import UnreachableError, WireError
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import freshness, repository
from wc_core.ledger.git.freshness import Freshness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.sync.wire import Push, Wire
    from wc_core.base.layout import Layout
    from wc_core.ledger.git.remotes import Remote


class Sent(NamedTuple):
    """The number of sent entries, by thread, and of commits; and notes for the user."""

    went: Mapping[str, int]
    ahead: int
    notes: tuple[str, ...] = ()


class FirstPush:
    """The push of an exchange before any fetch, unless the remote's state is unknown
    because the last exchange failed or left something open. It ends with the block in
    which it is used, unless it was waited for."""

    def __init__(self, git: Git, wire: Wire, layout: Layout) -> None:
        self._git = git
        self._wire = wire
        self._expected = "" if wire.goes_elsewhere else _expected_tip(layout, wire)
        self._push: Push | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        if self._push is not None:
            self._push.__exit__(*details)

    def begin(self, own_tip: str) -> None:
        """Start to push a commit that was just made: the rest of settling takes a fifth
        as long as a push. `result` retries a failure."""
        with contextlib.suppress(WireError):
            self._start(own_tip)

    def _start(self, own_tip: str) -> Push | None:
        if self._push is None and self._expected not in {"", own_tip}:
            self._push = self._wire.start_push(own_tip)
        return self._push

    def result(self, own_tip: str) -> Sent | None:
        """Push ``own_tip``, unless that has begun, and wait for it to end.

        Returns ``None`` if a fetch must come next: there was nothing to send, or the
        push failed. Raises WireError if the time is over.
        """
        try:
            push = self._start(own_tip)
            if push is None:
                return None
            # During the push: it takes three git processes.
            sent = _count(self._git, self._expected, own_tip)
            before = push.result()
            if push.commit != own_tip:
                self._wire.push(own_tip)
        except WireError as error:
            if (
                isinstance(error, UnreachableError)
                and time.monotonic() >= self._git.until
            ):
                raise
            return None
        if before and self._expected.startswith(before):
            return sent
        remote = self._wire.remote
        return _surprising(self._git, remote, self._expected, before, own_tip)


def _count(git: Git, old: str, new: str) -> Sent:
    """The counts for a push that moves a remote from the commit ``old`` to ``new``."""
    ahead, _ = commits.ahead_behind(git, new, old)
    return Sent(compare.count_new(git, old, new), ahead)


def _surprising(
    git: Git, remote: Remote, expected: str, before: str, own_tip: str
) -> Sent:
    """The result for a remote whose branch was not at ``expected`` but at ``before``;
    empty if it had none."""
    notes: tuple[str, ...] = (lost_text(remote),)
    if before:
        name = f"{before}^{{commit}}"
        before = git.line("rev-parse", "--verify", "--quiet", name)
        lost, _ = commits.ahead_behind(git, expected, before)
        notes = (rewritten_text(remote),) if lost else ()
    return _count(git, before, own_tip)._replace(notes=notes)


def _expected_tip(layout: Layout, wire: Wire) -> str:
    """The commit of the remote's branch after the last exchange; empty if the remote
    may well have something new, or if that exchange failed."""
    state = freshness.load(layout) or Freshness()
    if state.remote == wire.remote.label and (state.behind or state.problem):
        return ""
    return repository.resolve(wire.repository, wire.remote.tracking)


def lost_text(remote: Remote) -> str:
    """The note about a remote that had the branch and lost it."""
    return f"{remote.label} no longer had the branch"


def rewritten_text(remote: Remote) -> str:
    """The note about a remote that lacks commits it had."""
    return f"the history of {remote.label} was rewritten; everything here is kept"
