"""Watches a store for changes while its board is open, with watchfiles."""

from __future__ import annotations

import asyncio
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from wc_cli.run.board.source import BoardSource

# Milliseconds; `wc_observe.stores.watch.notifier` describes their cost.
_DEBOUNCE, _STEP = 200, 20


async def changes(
    source: BoardSource, on_problem: Callable[[str], None]
) -> AsyncIterator[set[str]]:
    """Yield the topics that change, as they change.

    Ends if nothing can be watched, after calling ``on_problem`` with the reason. The
    board also refreshes at intervals.
    """
    from watchfiles import awatch  # 6 ms, after the first paint

    folders = await asyncio.to_thread(_watchable_folders, source)
    if not folders:
        return
    try:
        async for events in awatch(
            *folders, watch_filter=None, debounce=_DEBOUNCE, step=_STEP
        ):
            topics = {source.topic_at(path) for _, path in events}
            yield {topic for topic in topics if topic is not None}
    except (OSError, RuntimeError):
        on_problem("not watching: checked every 5 seconds")


def _watchable_folders(source: BoardSource) -> list[str]:
    """The folders to watch; none if any of them contains a symbolic link."""
    folders = [folder for folder in source.folders if os.path.isdir(folder)]
    return folders if all(map(_has_no_links, folders)) else []


def _has_no_links(folder: str) -> bool:
    """Whether a folder contains no symbolic links.

    The library would follow them, even to the root of the disk.
    """
    for parent, folders, _ in os.walk(folder):
        if any(os.path.islink(os.path.join(parent, name)) for name in folders):
            return False
    return True
