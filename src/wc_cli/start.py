"""The way in for `wc-cli` and for the launcher `wc`, which starts Python with it."""

from __future__ import annotations

import gc
import os
import sys

from wc_core.lean import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# The number of new objects after which Python looks for garbage; its default is 700.
_ALLOCATIONS = 20_000

# What installers put into an environment for programs that build packages.
_FOR_BUILDS = {"_virtualenv.pth", "distutils-precedence.pth"}
_NO_SYSTEM_PACKAGES = b"include-system-site-packages=false"


def main_without_site() -> NoReturn:
    """Run as the launcher starts it in a virtual environment: without `site`, and with
    the environment's own packages at the end of the path."""
    folder = sys.path[-1]
    environment = folder.rpartition("/lib/")[0]
    if _has_only(folder, environment):
        sys.prefix = sys.exec_prefix = environment
    else:
        import site  # 1 ms, where it adds to the path

        site.main()
    main()


def _has_only(folder: str, environment: str) -> bool:
    """Whether an environment has packages in this folder alone."""
    try:
        with open(f"{environment}/pyvenv.cfg", "rb") as file:
            lines = file.read().lower().replace(b" ", b"").splitlines()
        added = {name for name in os.listdir(folder) if name.endswith(".pth")}
    except OSError:
        return False
    return _NO_SYSTEM_PACKAGES in lines and added <= _FOR_BUILDS


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
