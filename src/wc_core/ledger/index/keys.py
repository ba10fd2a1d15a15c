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
from wc_core.base.lean.functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import TracebackType
    from typing import Self

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


class ThreadFiles:
    """The files of a store's threads, for their keys: a context manager. Raises OSError
    if the folder of the threads cannot be opened."""

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

    def keys(
        self,
        topics: Iterable[str],
        folders: Mapping[str, str] | None = None,
        *,
        annotations: bool = True,
    ) -> dict[str, str]:
        """Returns the key of each of these threads; `NONE` for one without a log.
        ``folders`` are the names of those threads' folders that are no links, by topic,
        if they are known. Without ``annotations``, the keys do not cover these. Raises
        OSError."""
        keys_of = partial(self._keys, annotations=annotations)
        return self._by_topic(keys_of, topics, folders)

    def _keys(self, names: Iterable[str], *, annotations: bool) -> list[str]:
        """Returns the keys of the threads in the folders with these names."""
        handle = self._threads.handle
        keys = []
        # A list of many threads spends half of its time here, so avoid needless calls.
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
            if annotations and access(
                f"{name}/annotations.jsonl", os.F_OK, dir_fd=handle
            ):
                key = key and key + self._annotations(name)
            keys.append(key)
        return keys

    def word_keys(
        self, topics: Iterable[str], folders: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Returns for each thread the same as `words_part` of the key from `keys`, in
        half of the time."""
        return self._by_topic(self._word_keys, topics, folders)

    def _word_keys(self, names: Iterable[str]) -> list[str]:
        """Returns what `_keys` does, without the parts about ``meta.json``."""
        handle = self._threads.handle
        keys = []
        lstat, access, is_file = os.lstat, os.access, stat.S_ISREG
        for name in names:
            key = NONE
            try:
                log = lstat(f"{name}/entries.jsonl", dir_fd=handle)
                if log.st_size and is_file(log.st_mode):
                    key = f"{log.st_ino}.{log.st_size}.{log.st_mtime_ns}"
                    if access(f"{name}/annotations.jsonl", os.F_OK, dir_fd=handle):
                        key += "," + self._annotations(name)
            except OSError:
                pass
            keys.append(key)
        return keys

    def _by_topic(
        self,
        keys_of: Callable[[Iterable[str]], list[str]],
        topics: Iterable[str],
        folders: Mapping[str, str] | None,
    ) -> dict[str, str]:
        """Returns for each of these threads the key of the folder with its name; `NONE`
        without a folder."""
        topics = [*topics]
        keys = dict.fromkeys(topics, NONE)
        if self._threads.handle is not None:
            names = self._folders(topics) if folders is None else folders
            keys.update(zip(names, keys_of(names.values()), strict=True))
        return keys

    def _folders(self, topics: Collection[str]) -> dict[str, str]:
        """The names of those threads' folders that are no links, by topic."""
        names, handle = file_names(topics), self._threads.handle
        if len(names) > _FEW:
            with os.scandir(handle) as items:
                plain = {d.name for d in items if d.is_dir(follow_symlinks=False)}
        else:
            plain = {name for name in names if _is_folder(name, handle)}
        pairs = zip(topics, names, strict=True)
        return {topic: name for topic, name in pairs if name in plain}

    def _annotations(self, name: str) -> str:
        try:
            info = os.lstat(f"{name}/annotations.jsonl", dir_fd=self._threads.handle)
        except OSError:
            return ""
        return f",{info.st_ino}.{info.st_size}.{info.st_mtime_ns}"


def _is_folder(name: str, parent: int | None) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode)
    except OSError:
        return False


def thread_keys(
    layout: Layout, topics: Collection[str], folders: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the key of each of these threads, `NONE` if there is none. ``folders``
    are the names of those threads' folders that are no links, by topic, if they are
    known."""
    try:
        with ThreadFiles(layout) as files:
            return files.keys(topics, folders)
    except OSError:
        return dict.fromkeys(topics, NONE)


def word_keys(
    layout: Layout,
    topics: Iterable[str],
    folders: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Returns the result of `ThreadFiles.word_keys`; nothing if the folder of the
    threads cannot be opened."""
    try:
        with ThreadFiles(layout) as files:
            return files.word_keys(topics, folders)
    except OSError:
        return {}


def log_part(key: str) -> str:
    """Returns the part of a key that is about the log."""
    return key.partition(",")[0]


def words_part(key: str) -> str:
    """Returns the part of a key that matters to searches: the log, and an older tool's
    tags, with an empty part for ``meta.json``."""
    log, _, others = key.partition(",")
    _, comma, annotations = others.partition(",")
    return f"{log},,{annotations}" if comma else log


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
