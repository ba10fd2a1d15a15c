"""Watches a store for changes while its board is open, with watchfiles."""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.run.board.source import BoardSource

# Milliseconds; `wc_observe.stores.watch.notifier` describes their cost.
_DEBOUNCE, _STEP = 200, 20


def start(source: BoardSource, on_change: Callable[[], None]) -> bool:
    """Call ``on_change`` whenever the files of a thread change, from a thread of the
    operating system that ends with the process. Returns whether there is something to
    watch: the board looks at intervals, too."""
    folders = [folder for folder in source.folders if os.path.isdir(folder)]
    if not folders or not all(map(_has_no_links, folders)):
        return False
    words = (folders, on_change)
    threading.Thread(target=_watch, args=words, daemon=True).start()
    return True


def _watch(folders: list[str], on_change: Callable[[], None]) -> None:
    from watchfiles import watch  # 6 ms, after the first paint

    try:
        for _ in watch(
            *folders,
            watch_filter=None,
            debounce=_DEBOUNCE,
            step=_STEP,
            raise_interrupt=False,
        ):
            on_change()
    except (OSError, RuntimeError):
        return


def _has_no_links(folder: str) -> bool:
    """Whether a folder contains no symbolic links.

    The library would follow them, even to the root of the disk.
    """
    for parent, folders, _ in os.walk(folder):
        if any(os.path.islink(os.path.join(parent, name)) for name in folders):
            return False
    return True
