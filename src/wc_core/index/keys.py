"""Which version of a thread's files a line of the index was made from: its key.

The *base* of a key has the inode, the size, and the times of change of the thread's log
and of its ``meta.json``, and those of the folder, in which files are added and
replaced. The same of an older tool's annotations follows where there are any: programs
write to them in place. Nothing less than this tells what other programs wrote.
"""

from __future__ import annotations

import os
import stat

from wc_core.files import Folder
from wc_core.layout import file_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from wc_core.layout import Layout

# The key of a thread whose files alone do not say what it is: nothing is kept of it.
NONE = ""
_MISSING = "-"
# A file may be written to twice within one tick of the clock that stamps it, and look
# the same. Such a tick is a few milliseconds long; on some file systems, whose times
# are whole seconds, it takes two seconds.
TICK_SECONDS = 0.1
_TICK_NS = int(TICK_SECONDS * 1e9)
_LONG_TICK_NS = 2_500_000_000
_SECOND_NS = 1_000_000_000


class ThreadFiles:
    """The files of the threads of a store, for their keys: a context manager. Raises
    OSError if the folder of the threads cannot be opened."""

    def __init__(self, layout: Layout) -> None:
        self._threads = Folder(layout.threads, layout.root)

    def __enter__(self) -> Self:
        self._threads.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.__exit__(kind, error, trace)

    def base(self, topic: str) -> str:
        """Returns the base of a thread's key; `NONE` if it has no log."""
        handle = self._threads.handle
        if handle is None:
            return NONE
        name = file_name(topic)
        try:
            folder = os.lstat(name, dir_fd=handle)
            log = os.lstat(f"{name}/entries.jsonl", dir_fd=handle)
        except OSError:
            return NONE  # an old thread, which is a page alone
        if not (log.st_size and stat.S_ISREG(log.st_mode)):
            return NONE
        return (
            f"{log.st_ino}.{log.st_size}.{log.st_mtime_ns}.{log.st_ctime_ns}"
            f",{folder.st_ino}.{folder.st_mtime_ns}.{folder.st_ctime_ns}"
            f",{self._part(name, 'meta.json') or _MISSING}"
        )

    def annotations(self, topic: str) -> str:
        """Returns what follows the base for the annotations; empty if there are none.
        Making the file changes the base."""
        part = self._part(file_name(topic), "annotations.jsonl")
        return f",{part}" if part else ""

    def _part(self, folder: str, file: str) -> str:
        try:
            info = os.lstat(f"{folder}/{file}", dir_fd=self._threads.handle)
        except OSError:
            return ""
        return f"{info.st_ino}.{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}"


def thread_bases(layout: Layout, topics: Iterable[str]) -> dict[str, str]:
    """Returns the base of each of these threads' keys, `NONE` where there is none."""
    try:
        with ThreadFiles(layout) as files:
            return {topic: files.base(topic) for topic in topics}
    except OSError:
        return {}


def log_part(base: str) -> str:
    """Returns the part of a base that is about the log."""
    return base.partition(",")[0]


def log_size(key: str) -> int:
    """Returns the size of the log that a key was made for."""
    return int(key.split(".", 2)[1])


def is_settled(key: str, now_ns: int) -> bool:
    """Returns whether every later change of the files will show in the key: the last
    one is not from the present tick of the clock."""
    moments = [
        int(moment)
        for part in key.split(",")
        if part != _MISSING
        for moment in part.split(".")[-2:]
    ]
    coarse = all(moment % _SECOND_NS == 0 for moment in moments)
    tick = _LONG_TICK_NS if coarse else _TICK_NS
    return all(moment <= now_ns - tick for moment in moments)
