"""`site`, run when it is needed: the launcher `wc` starts Python without it.

It finds installed packages, and runs what some of them have in `.pth` files.
"""

from __future__ import annotations

import sys
from _frozen_importlib_external import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _frozen_importlib import ModuleSpec


def load() -> None:
    """Runs it, if nothing has: before a package is imported, and before a connection,
    whose certificates such a file may change."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site  # 0.7 ms, not for every command

        site.main()


def find_package(name: str) -> ModuleSpec | None:
    """Returns how to load an installed package, without loading it; ``None`` if it is
    not installed."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        load()
        spec = PathFinder.find_spec(name)
    return spec
