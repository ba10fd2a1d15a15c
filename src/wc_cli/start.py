"""The way in for `wc-cli` and for the launcher `wc`, which starts Python with it."""

from __future__ import annotations

import gc

from wc_core.lean import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# The number of new objects after which Python looks for garbage; its default is 700.
_ALLOCATIONS = 20_000


def main() -> NoReturn:
    """Run as ``wc-cli``; ends the process."""
    # Most of what a short command allocates are its own modules: looking for garbage
    # while they are imported takes 3 ms.
    gc.set_threshold(_ALLOCATIONS)
    importlib.find_quickly("wc_core", "wc_cli")
    from wc_cli import main as commands  # 10 ms, by then quickly and without pauses

    commands.main()


if __name__ == "__main__":
    main()
