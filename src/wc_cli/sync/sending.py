"""Sending what was written before asking what the remote has.

A remote takes our branch only if it has nothing there that we have not. Where
that goes well, as it does whenever nobody else wrote meanwhile, there is nothing
left to fetch, and the remote was asked once, not twice.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.branch import commits, compare
from wc_cli.sync.wire import Wire
from wc_cli.sync.wireerrors import UnreachableError, WireError
from wc_core.git import freshness, repository
from wc_core.git.freshness import Freshness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.branch.git import Git
    from wc_core.git.remotes import Remote
    from wc_core.layout import Layout


class Sent(NamedTuple):
    """How many entries went, by thread, in how many commits, and what is to be
    said about it."""

    went: Mapping[str, int]
    ahead: int
    notes: tuple[str, ...] = ()


def at_once(git: Git, remote: Remote, layout: Layout, ours: str) -> Sent | None:
    """Send ``ours``; ``None`` where one has to look first: where nothing is to
    be sent, the last exchange left something open, or this did not go well.

    Raises WireError where the time is over.
    """
    wire = Wire(git, remote)
    had = "" if wire.goes_elsewhere else _usual(layout, remote)
    ahead, behind = commits.ahead_behind(git, ours, had) if had else (0, 0)
    if behind or not ahead:
        return None
    try:
        there = wire.push(ours)
    except WireError as error:
        if isinstance(error, UnreachableError) and time.monotonic() >= git.until:
            raise
        return None
    if there and had.startswith(there):
        return Sent(compare.count_new(git, had, ours), ahead)
    notes: tuple[str, ...] = (lost(remote),)
    if there:
        name = f"{there}^{{commit}}"
        there = git.line("rev-parse", "--verify", "--quiet", name)
        notes = (rewritten(remote),) if commits.ahead_behind(git, had, there)[0] else ()
    ahead, _ = commits.ahead_behind(git, ours, there)
    return Sent(compare.count_new(git, there, ours), ahead, notes)


def _usual(layout: Layout, remote: Remote) -> str:
    """Where the remote's branch was when we last looked; empty where it may well
    have something for us, or did not do as it was asked."""
    where = repository.find(layout.root)
    known = freshness.load(layout) or Freshness()
    is_open = known.remote == remote.shown and (known.behind or known.problem)
    if where is None or is_open:
        return ""
    return repository.resolve(where, remote.tracking)


def lost(remote: Remote) -> str:
    """What is to be said of a remote that had the branch, and has it no more."""
    return f"{remote.shown} no longer had the branch"


def rewritten(remote: Remote) -> str:
    """What is to be said of a remote that has not got what it had."""
    return (
        f"the history of {remote.shown} was rewritten; nothing of what was here "
        "is given up"
    )
