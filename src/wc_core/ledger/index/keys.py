"""The key of a line in the index: which version of a thread's files it was made from.

A key has the inode, the size, and the time of the last write of the thread's log and of
its ``meta.json``, and of an older tool's annotations if there are any. Programs write
to these files in place as well as replace them, so nothing less is enough. The time of
change is left out: ``chmod`` changes it in all files, and nothing is written.
"""

from __future__ import annotations

import os
import stat

from wc_core.base.files import Folder
from wc_core.base.layout import file_names
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from wc_core.base.layout import Layout


# The key of a thread whose files do not suffice to tell its state: the index keeps
# nothing about it.
NONE = ""
_MISSING = "-"
# A file may be written to twice within one tick of the clock that stamps it, and look
# the same. Such a tick takes a few milliseconds; on some file systems, whose times are
# whole seconds, it takes two seconds.
TICK_SECONDS = 0.1
_TICK_NS = int(TICK_SECONDS * 1e9)
_LONG_TICK_NS = 2_500_000_000
_SECOND_NS = 1_000_000_000
# With more threads than this, the folders are listed rather than examined one by one.
_FEW = 20


def thread_keys(
    layout: Layout, topics: Iterable[str], folders: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the key of each of these threads, `NONE` if there is none. ``folders``
    are the names of those threads' folders that are no links, by topic, if they are
    known."""
    keys = dict.fromkeys(topics, NONE)
    with (
        contextlib.suppress(OSError),
        Folder(layout.threads, layout.root) as threads,
    ):
        if threads.handle is not None:
            names = _folders(keys, threads.handle) if folders is None else folders
            keys |= zip(names, _keys(names.values(), threads.handle), strict=True)
    return keys


def _keys(names: Iterable[str], handle: int) -> list[str]:
    """Returns the keys of the threads in the folders with these names."""
    keys = []
    # A comparison spends its time here, so avoid needless calls.
    lstat, access, is_file = os.lstat, os.access, stat.S_ISREG
    for name in names:
        key = NONE
        try:
            log = lstat(f"{name}/entries.jsonl", dir_fd=handle)
            if log.st_size and is_file(log.st_mode):
                key = f"{log.st_ino}.{log.st_size}.{log.st_mtime_ns}"
                meta = lstat(f"{name}/meta.json", dir_fd=handle)
                key += f",{meta.st_ino}.{meta.st_size}.{meta.st_mtime_ns}"
        except OSError:
            # An old thread, which is only a page, or one without a meta.json.
            key = key and f"{key},{_MISSING}"
        # Hardly any thread has annotations. access costs less than lstat.
        if access(f"{name}/annotations.jsonl", os.F_OK, dir_fd=handle):
            key = key and key + _annotations(name, handle)
        keys.append(key)
    return keys


def _folders(topics: Collection[str], handle: int) -> dict[str, str]:
    """The names of those threads' folders that are no links, by topic."""
    names = file_names(topics)
    if len(names) > _FEW:
        with os.scandir(handle) as items:
            plain = {d.name for d in items if d.is_dir(follow_symlinks=False)}
    else:
        plain = {name for name in names if _is_folder(name, handle)}
    pairs = zip(topics, names, strict=True)
    return {topic: name for topic, name in pairs if name in plain}


def _annotations(name: str, handle: int) -> str:
    try:
        info = os.lstat(f"{name}/annotations.jsonl", dir_fd=handle)
    except OSError:
        return ""
    return f",{info.st_ino}.{info.st_size}.{info.st_mtime_ns}"


def _is_folder(name: str, parent: int | None) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode)
    except OSError:
        return False


def log_part(key: str) -> str:
    """Returns the part of a key that is about the log."""
    return key.partition(",")[0]


def log_size(key: str) -> int:
    """Returns the size of the log that a key was made for."""
    return int(key.split(".", 2)[1])


def log_changed_ns(key: str) -> int:
    """Returns when the log that a key was made for was last written to, in nanoseconds
    since 1970 by the file system's clock."""
    return int(log_part(key).rpartition(".")[2])


def is_settled(key: str, now_ns: int) -> bool:
    """Returns whether the key will show every later change of the files: the last
    change was not in the current tick of the clock."""
    moments = [
        int(part.rpartition(".")[2])
        for part in key.split(",")
        if part not in {"", _MISSING}
    ]
    coarse = all(moment % _SECOND_NS == 0 for moment in moments)
    tick = _LONG_TICK_NS if coarse else _TICK_NS
    return all(moment <= now_ns - tick for moment in moments)
