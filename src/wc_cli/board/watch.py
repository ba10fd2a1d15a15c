"""What changes in a store while its board is shown, by way of watchfiles."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from wc_cli.board.source import BoardSource

# Milliseconds; see `wc_observe.watch.notifier` for what they cost.
_DEBOUNCE, _STEP = 200, 20


async def changes(
    source: BoardSource, trouble: Callable[[str], None]
) -> AsyncIterator[set[str]]:
    """The threads that changed, as they do.

    Ends where nothing can be watched, after telling ``trouble`` why: whoever
    listens looks for itself as well.
    """
    from watchfiles import awatch

    folders = await asyncio.to_thread(_watchable, source)
    if not folders:
        return
    try:
        async for told in awatch(
            *folders, watch_filter=None, debounce=_DEBOUNCE, step=_STEP
        ):
            found = {source.topic_at(path) for _, path in told}
            yield {one for one in found if one is not None}
    except (OSError, RuntimeError):
        trouble("not watching: looked at every 5 seconds")


def _watchable(source: BoardSource) -> list[str]:
    """The folders to watch; none where a link is among them."""
    folders = [one for one in source.folders if os.path.isdir(one)]
    return folders if all(map(_plain, folders)) else []


def _plain(folder: str) -> bool:
    """Whether no link leads out of a folder: the library would follow it, to
    the root of the disk where somebody made it lead there."""
    for where, folders, _ in os.walk(folder):
        if any(os.path.islink(os.path.join(where, one)) for one in folders):
            return False
    return True
