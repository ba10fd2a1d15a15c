"""The detached helper: settle, then exchange with the remote.

Each part has a lock of its own and is done by one process at a time; whoever
comes meanwhile leaves it a marker, or a commit, and it looks again before it
ends.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from typing import TYPE_CHECKING

from wc_cli.settle import settler
from wc_cli.store import locks
from wc_cli.sync import exchange as travel
from wc_cli.sync import routes
from wc_core.errors import LockTimeoutError, OfflineError, WcError
from wc_core.git import repository
from wc_core.layout import Layout
from wc_core.threads import settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_BURST_SECONDS = 1.0
_NICENESS = 10
# Seconds between the tries to reach a remote; then the next command goes on.
_BACKOFF = (2.0, 8.0)
_ROUNDS = 50


def main() -> None:
    """Run as ``python -m wc_cli.background ROOT [HANDLE]``, the handle being the
    git lock, inherited from whoever started us."""
    root, *inherited = sys.argv[1:]
    os.chdir(root)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    env = dict(os.environ)
    done = False
    for handle in map(int, inherited):
        os.set_inheritable(handle, False)
        locks.sign(handle, "settling")
        _, done = settler.settle_once(root, env, handle, _LONGEST_BURST_SECONDS)
    if not done:
        settler.settle(root, env)
    exchange(root, env)


def exchange(root: str, env: Mapping[str, str]) -> None:
    """Send what was written and bring what is new, if that is wanted and due;
    a remote that does not answer is tried again for a while.

    Nothing is sent to a remote that has not got the branch: who wants that
    says so once, with ``wc sync`` or ``wc init --push``.
    """
    for pause in (*_BACKOFF, None):
        if _exchange_all(root, env) or pause is None:
            return
        time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


def _exchange_all(root: str, env: Mapping[str, str]) -> bool:
    """Exchange until nothing is due; whether there is no use in trying again
    soon."""
    tried = ""
    for _ in range(_ROUNDS):
        remote = routes.due(root, env, tried)
        if remote is None:
            if not tried:
                _looked(root)
            return True
        where = repository.find(root)
        tried = where.commit if where is not None else ""
        rules = settings.load(root, env)
        until = time.monotonic() + max(1, rules.limit)
        try:
            waiting = travel.Waiting(until, in_line=False)
            traveller = travel.Traveller(root, env, remote, waiting)
            traveller.exchange(push=travel.KNOWN if rules.push else travel.NEVER)
        except OfflineError:
            return False
        except LockTimeoutError:
            return True  # whoever is at it sends ours as well
        except WcError:
            return True  # noted; it does not get better by itself
    return True


def _looked(root: str) -> None:
    """Note that nothing is due, so that the next command does not ask again at
    once. It is a convenience."""
    with contextlib.suppress(OSError):
        os.utime(Layout(root).travel, follow_symlinks=False)


if __name__ == "__main__":
    main()
