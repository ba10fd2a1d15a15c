"""The detached process that settles a store, computes its repository's radar, exchanges
the store with its remote, starts notifications, and then has models add summaries and
vectors.

Settling and exchanging each have their own lock, and one process at a time does them. A
command that writes in the meantime leaves a marker, or a commit, and this process
checks for these again before it ends.

Most writes start one. Everything but settling is rarely due, and its modules are
imported only then.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.bridges import elsewhere
from wc_cli.bridges.enrich import following
from wc_cli.ledger.clock import now_ms, random_between
from wc_cli.ledger.index import keeping
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store import locks, writtenlines
from wc_cli.ledger.sync import routes
from wc_cli.run.entries import landings, promptlines
from wc_core.base import sandboxes
from wc_core.base.errors import LockTimeoutError, OfflineError, WcError
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


_LONGEST_BURST_SECONDS = 1.0
_NICENESS = 10
# Seconds between attempts to reach a remote. After these, a later command tries again.
_BACKOFF = (2.0, 8.0)
_ROUNDS = 50
_MANY = 20


def main() -> None:
    """Run as ``python -m wc_cli.run.background ROOT [HANDLE]``. HANDLE is the git lock,
    inherited from the command that started this process."""
    root, *handles = sys.argv[1:]
    os.chdir(root)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    env = dict(os.environ)
    finished, settled, written = False, frozenset[str](), frozenset[str]()
    for handle in map(int, handles):
        os.set_inheritable(handle, False)
        locks.sign(handle, "settling")
        result, finished = settler.settle_once(
            root, env, handle, _LONGEST_BURST_SECONDS
        )
        settled, written = result.settled, result.written
    if not finished:
        latest = settler.settle(root, env)
        if latest is not None:
            settled, written = settled | latest.settled, written | latest.written
    landings.refresh(root, env, settled)
    elsewhere.inform_person(root, env)
    promptlines.remake(root, env)
    _refresh_radar(root, env)
    indexed = keeping.update_when_settled(root, settled)
    _make_vectors(root, indexed, env)
    head = _head(root)
    exchange(root, env)
    if sandboxes.current(env) is not None:
        from wc_cli.run import exchanging  # 30 ms, only in sandboxes

        exchanging.carry_unsent(root, env)
    landings.refresh(root, env, () if _head(root) == head else None)
    elsewhere.inform_person(root, env)
    promptlines.remake(root, env)
    writtenlines.prune_if_due(StoreReader(root), now_ms())
    if os.path.isdir(Layout(root).held):
        from wc_cli.run import exchanging  # 30 ms, for those who claim what they edit

        exchanging.send_claims(root, env)
    # Last, because a model may take minutes.
    if following.after_write(root, written, env):
        latest = settler.settle(root, env)
        if latest is not None:
            keeping.update_when_settled(root, latest.settled)
        exchange(root, env)
        promptlines.remake(root, env)


def _make_vectors(root: str, topics: set[str], env: Mapping[str, str]) -> None:
    """Make the vectors of new entries if the model is on this machine and the store has
    vectors. Those of a few threads are left to the next search."""
    if len(topics) > _MANY and os.path.isfile(Layout(root).vectors):
        following.follow(root, topics, env)


def _head(root: str) -> str:
    """Return the commit of the threads; empty if they are in no repository."""
    repository = repositories.find(root)
    return repository.commit if repository is not None else ""


def _refresh_radar(root: str, env: Mapping[str, str]) -> None:
    """Compute the radar if it is due and the repository has several worktrees."""
    repository = repositories.find(root)
    if repository is None or len(worktrees.worktrees(repository, env)) <= 1:
        return
    from wc_cli.edits.radar import refreshing  # 14 ms, for several worktrees

    refreshing.refresh_if_due(root, Layout(root), env)


def exchange(root: str, env: Mapping[str, str]) -> None:
    """Send local entries and fetch new ones, if that is wanted and due. Retries for a
    while if the remote does not answer.

    Nothing is sent to a remote that does not have the branch: a user shares it once,
    with ``wc sync`` or ``wc init --push``.
    """
    for pause in (*_BACKOFF, None):
        if _exchange_all(root, env) or pause is None:
            return
        time.sleep(pause * random_between(0.5, 1.5))


def _exchange_all(root: str, env: Mapping[str, str]) -> bool:
    """Exchange until nothing is due. Returns False if trying again soon may help."""
    tried = ""
    for _ in range(_ROUNDS):
        due = routes.due_exchange(root, env, tried)
        if due is None:
            if not tried:
                _note_nothing_due(root)
            return True
        tried = due.commit
        from wc_cli.run import exchanging  # 30 ms, for stores that are shared

        try:
            exchanging.exchange_all(root, env, due)
        except OfflineError:
            return exchanging.is_refused(root)
        except LockTimeoutError:
            return True  # the exchange that holds the lock also sends ours
        except WcError:
            return True  # recorded, and retrying does not help
    return True


def _note_nothing_due(root: str) -> None:
    """Update the time of the last exchange's report, so that the next command does not
    check again at once. A convenience."""
    with contextlib.suppress(OSError):
        os.utime(Layout(root).sync_state, follow_symlinks=False)


if __name__ == "__main__":
    main()
