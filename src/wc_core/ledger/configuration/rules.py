"""The rules of a repository, as its settings declare them."""

from __future__ import annotations

from wc_core.base.values import NamedTuple

# Words for who may close a thread, besides names.
CLOSER_ASKER, CLOSER_HOLDER = "asker", "holder"
NO_LINK, BRANCH_LINK, PR_LINK, ANY_LINK = "none", "branch", "pr", "any"
CLOSE_LINKS = (NO_LINK, BRANCH_LINK, PR_LINK, ANY_LINK)


class Rules(NamedTuple):
    """Requirements for threads and entries. Empty, 0 and "none" require nothing."""

    title: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    close_roles: tuple[str, ...] = ()
    close_types: tuple[str, ...] = ()
    close_kinds: tuple[str, ...] = ()
    close_link: str = NO_LINK
    closers: tuple[str, ...] = ()
    balls: int = 0
    thread_days: int = 0
    ball_days: int = 0


NO_RULES = Rules()
