"""Computes the graph of a worktree in the background.

``wc check`` does not wait for it: if others have claims, and the stored graph is out of
date, it starts ``python -m wc_cli.edits.graph.refreshing``. The next check uses the
result.
"""

from __future__ import annotations

import os
import sys

from wc_cli.edits.graph.computing import GraphSource
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.ledger.git import repository as repositories

_NICENESS = 10


def main() -> None:
    """Run as ``python -m wc_cli.edits.graph.refreshing ROOT HANDLE FOLDER``. HANDLE is
    the lock that allows one such process; FOLDER is the top of the worktree."""
    root, handle, folder = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    repository = repositories.find(folder)
    if repository is not None:
        # Failures are left to wc neighbors, which reports them.
        with contextlib.suppress(WcError):
            GraphSource(repository, Layout(root), dict(os.environ)).graph()


if __name__ == "__main__":
    main()
