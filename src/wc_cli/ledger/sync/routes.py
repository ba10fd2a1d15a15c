"""Decides with which remote a store is exchanged, and when."""

from __future__ import annotations

import time

from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import freshness, remotes, repository
from wc_core.ledger.git.freshness import Freshness
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.settings import Settings


class DueExchange(NamedTuple):
    """A due exchange, and our branch's commit at that time."""

    remote: Remote
    commit: str


def usual_remote(checkout: Repository, env: Mapping[str, str]) -> Remote:
    """The usual remote of a store. Raises InvalidInputError if there is none, or if it
    is ambiguous."""
    remote = remotes.find(checkout, env)
    if remote is not None:
        return remote
    if names := remotes.names(checkout, env):
        raise InvalidInputError(
            f"There are several remotes: {', '.join(map(one_line, names))}.",
            f"Say which one: wc sync {names[0]}",
        )
    raise InvalidInputError(
        "This repository has no remote.",
        "Add one (git remote add origin URL), or name one: wc sync URL",
    )


def remote_after_write(
    root: str, env: Mapping[str, str], *, by_user: bool
) -> Remote | None:
    """The remote to exchange with after a write: one that already has the branch, or,
    if requested ``by_user``, the usual one. Raises InvalidInputError if the user
    requested it and there is none."""
    checkout = _checkout(root)
    if checkout is not None and by_user:
        return usual_remote(checkout, env)
    return shared_remote(checkout, env)


def due_exchange(
    root: str, env: Mapping[str, str], tried: str = ""
) -> DueExchange | None:
    """The exchange that is due in the background, if there is one.

    After an exchange with the commit ``tried``, another one is due only for later
    writes.
    """
    rules = settings.load(root, env)
    checkout = _checkout(root)
    remote = shared_remote(checkout, env)
    if rules.sync != "background" or remote is None or checkout is None:
        return None
    commit = checkout.commit
    sent = commit in {tried, repository.resolve(checkout, remote.tracking)}
    unsent = rules.push and not sent
    stale = not tried and _is_fetch_due(Layout(root), rules)
    return DueExchange(remote, commit) if unsent or stale else None


def _is_fetch_due(layout: Layout, rules: Settings) -> bool:
    """Return whether the last fetch is older than the settings allow."""
    state = freshness.load(layout) or Freshness()
    # If the clock was ahead, don't wait until that time.
    age = abs(state.age(time.time()))
    return bool(rules.fetch_every) and age >= rules.fetch_every


def _checkout(root: str) -> Repository | None:
    """The checkout of the store's branch at ``root``, if there is one."""
    checkout = repository.find(root)
    return checkout if checkout is not None and checkout.branch == BRANCH else None


def shared_remote(checkout: Repository | None, env: Mapping[str, str]) -> Remote | None:
    """The usual remote, if it has the branch."""
    remote = remotes.find(checkout, env) if checkout is not None else None
    if checkout is None or remote is None:
        return None
    return remote if repository.resolve(checkout, remote.tracking) else None
