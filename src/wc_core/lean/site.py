"""`site`, run when it is needed: the launcher `wc` starts Python without it.

It finds installed packages, and runs what some of them have in `.pth` files.
"""

from __future__ import annotations

import _thread
import sys
from _frozen_importlib_external import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _frozen_importlib import ModuleSpec


_is_due = bool(sys.flags.no_site)
# The threads that run it: it imports modules itself, which may be missing.
_running: set[int] = set()


def load() -> None:
    """Runs it, if nothing has: before a package is imported, and before a connection,
    whose certificates such a file may change."""
    global _is_due  # noqa: PLW0603
    thread = _thread.get_ident()
    if _is_due and thread not in _running:
        import site  # 0.7 ms, not for every command

        _running.add(thread)
        site.main()
        # Not earlier: another thread must not search while folders are missing. If it
        # runs `site` as well, no harm is done.
        _is_due = False


def find_package(name: str) -> ModuleSpec | None:
    """Returns how to load an installed package, without loading it; ``None`` if it is
    not installed."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        load()
        spec = PathFinder.find_spec(name)
    return spec
