"""Where the branch of a store travels to, and when it is time to."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wc_core.errors import InvalidInputError
from wc_core.git import freshness, remotes, repository
from wc_core.git.freshness import Freshness
from wc_core.layout import BRANCH, Layout
from wc_core.text import one_line
from wc_core.threads import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.remotes import Remote
    from wc_core.git.repository import Repository


def the_remote(where: Repository, env: Mapping[str, str]) -> Remote:
    """The remote of a store. Raises InvalidInputError where nobody can know
    which it is."""
    remote = remotes.find(where, env)
    if remote is not None:
        return remote
    if known := remotes.names(where, env):
        raise InvalidInputError(
            f"There are several remotes: {', '.join(map(one_line, known))}.",
            f"Say which one: wc sync {known[0]}",
        )
    raise InvalidInputError(
        "This repository has no remote.",
        "Add one (git remote add origin URL), or name one: wc sync URL",
    )


def wanted(root: str, env: Mapping[str, str], *, asked: bool) -> Remote | None:
    """The remote to exchange with now: where it has the branch, or where the
    user ``asked`` for it. Raises InvalidInputError then, if there is none."""
    where = repository.find(root)
    if where is None or where.branch != BRANCH:
        return None
    if asked:
        return the_remote(where, env)
    remote = remotes.find(where, env)
    if remote is None or not repository.resolve(where, remote.tracking):
        return None
    return remote


def due(root: str, env: Mapping[str, str], tried: str = "") -> Remote | None:
    """The remote to exchange with now, in the background; if that was just done
    with the commit ``tried``, only for what was written meanwhile."""
    rules = settings.load(root, env)
    remote = wanted(root, env, asked=False)
    where = repository.find(root)
    if rules.sync != "background" or remote is None or where is None:
        return None
    there = (tried, repository.resolve(where, remote.tracking))
    unsent = rules.push and where.commit not in there
    known = freshness.load(Layout(root)) or Freshness()
    # A clock that was ahead is no reason to wait until that time.
    age = abs(known.age(time.time()))
    stale = not tried and bool(rules.fetch_every) and age >= rules.fetch_every
    return remote if unsent or stale else None
