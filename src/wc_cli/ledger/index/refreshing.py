"""Makes the index of a store in the background.

A list that had to read many threads starts
``python -m wc_cli.ledger.index.refreshing``. It does not wait: the next list is fast.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.ledger.index import cachefile
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.index import keys

_NICENESS = 10


def main() -> None:
    """Run as ``python -m wc_cli.ledger.index.refreshing ROOT HANDLE``. HANDLE is the
    lock that allows one such process, inherited from the command that started it."""
    root, handle = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    # Include recent writes.
    time.sleep(keys.TICK_SECONDS)
    # If this fails, the logs are read instead, and wc doctor reports it.
    with contextlib.suppress(WcError, OSError):
        cachefile.refresh(root)


if __name__ == "__main__":
    main()
