"""`site`, run when it is needed: the launcher `wc` starts Python without it.

It finds installed packages, and runs what some of them have in `.pth` files.
"""

from __future__ import annotations

import sys


def load() -> None:
    """Runs it, if nothing has: before a package is imported, and before a connection,
    whose certificates such a file may change."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site  # 0.7 ms, not for every command

        site.main()
