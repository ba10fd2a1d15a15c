"""Makes the index of a store in the background.

A list that had to read many threads starts ``python -m wc_cli.index.refreshing``. It
does not wait for it: the next one is quick.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.index import making
from wc_core.errors import WcError
from wc_core.index import keys
from wc_core.lean import contextlib

_NICENESS = 10


def main() -> None:
    """Run as ``python -m wc_cli.index.refreshing ROOT HANDLE``. HANDLE is the lock of
    the one process that does so, inherited from the command that started it."""
    root, handle = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    # What was written just now is indexed as well.
    time.sleep(keys.TICK_SECONDS)
    # What cannot be written is read from the logs, and wc doctor says so.
    with contextlib.suppress(WcError, OSError):
        making.rebuild(root)


if __name__ == "__main__":
    main()
