"""Computes the radar again, automatically, when a file may have changed.

After a write the background process does it, if it is due. Hooks cannot wait: they
start ``python -m wc_cli.edits.radar.refreshing``, which sleeps until it is due. Only
one of these waits at a time, and it covers the changes of all.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.edits.radar.computing import LIMIT_SECONDS, RadarSource
from wc_cli.ledger.store import locks
from wc_core.base.errors import WcError
from wc_core.base.files import age_of
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.edits.radar import kept
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_NICENESS = 10
# Radars may take a twentieth of the time; in a small repository, one each second.
_PAUSE_SECONDS = 1.0
_SHARE = 20
_MAX_PAUSE = LIMIT_SECONDS * _SHARE


def main() -> None:
    """Run as ``python -m wc_cli.edits.radar.refreshing ROOT HANDLE FOLDER``. HANDLE is
    the lock of the waiting process, inherited from the hook; FOLDER is in the
    repository."""
    root, handle, folder = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    layout = Layout(root)
    time.sleep(seconds_until_due(layout))
    os.close(int(handle))
    refresh(folder, layout, dict(os.environ))


def refresh(folder: str, layout: Layout, env: Mapping[str, str]) -> None:
    """Compute the radar of the repository that contains ``folder``, if it has several
    worktrees. Failures are left to ``wc radar``, which reports them."""
    repository = repositories.find(folder)
    if repository is None or len(worktrees.worktrees(repository, env)) <= 1:
        return
    with contextlib.suppress(WcError):
        RadarSource(repository, layout, env).compute()


def refresh_if_due(folder: str, layout: Layout, env: Mapping[str, str]) -> None:
    """Compute the radar, unless it was just computed or is being computed."""
    if seconds_until_due(layout) > 0:
        return
    with contextlib.suppress(WcError):
        handle = locks.try_acquire(layout.radar_lock, layout.root)
        if handle is not None:
            os.close(handle)
            refresh(folder, layout, env)


def seconds_until_due(layout: Layout) -> float:
    """The seconds until the radar may be computed again."""
    took = kept.seconds_taken(layout)
    pause = min(max(_PAUSE_SECONDS, took * _SHARE), _MAX_PAUSE)
    return max(0.0, pause - age_of(layout.radar))


if __name__ == "__main__":
    main()
