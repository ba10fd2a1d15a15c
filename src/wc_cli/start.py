"""The entry point of `wc-cli`, which the launcher `wc` calls as well."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# The number of new objects after which Python collects garbage; its default is 700.
_ALLOCATIONS = 100_000


def main() -> NoReturn:
    """Run as ``wc-cli``; ends the process."""
    _require_utf8()
    # A short command mostly allocates its own modules: collecting garbage during the
    # imports takes 1 to 3 ms, and in a list of 10,000 threads 11 ms.
    gc.set_threshold(_ALLOCATIONS)
    from wc_cli.run import main as commands  # 10 ms, without such pauses

    commands.main()


def _require_utf8() -> None:
    """Start again in Python's UTF-8 mode if its setting and the locale leave only
    ASCII, with which neither arguments nor paths could be read."""
    if sys.getfilesystemencoding() == "ascii":
        words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, words)  # noqa: S606 - the same program


if __name__ == "__main__":
    main()
