"""Tells listeners which threads changed in a store, a tenth of a second later.

No answer depends on it: it only notifies open pages.
"""

from __future__ import annotations

import atexit
import logging
import os
import stat
import threading
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeAlias

from wc_core.base import mounts
from wc_core.base.layout import Layout, topic_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Listener: TypeAlias = Callable[[frozenset[str]], None]

_log = logging.getLogger(__name__)

# Milliseconds: between two questions to the kernel, the most that changes are
# collected, and until folders are compared, as others may have come in their place.
# Measured: 55 ms from a write to its report, and 0.13 % of a core for the questions.
_STEP, _DEBOUNCE, _TICK = 40, 200, 250
# The kernel drops events beyond its queue (16,384).
_FLOOD = 4096
# Seconds: a safety net for events lost for any other reason, and between two checks
# where the kernel reports nothing.
_SAFETY_NET, _POLL = 30.0, 1.0
# Limits may be raised and mounts may change, so try again.
_RETRY = 300.0
# A check of everything may use a thousandth of the time while watching, and a
# two-hundredth while polling.
_RARELY, _OFTEN = 1000, 200


class CannotWatchError(Exception):
    """The kernel cannot watch. The message says why and what to do."""


class StoreWatch:
    """One watcher for each store that has listeners. ``clock`` returns seconds of the
    wall clock."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._watchers: dict[str, _Watcher] = {}

    def listen(self, root: str, listener: Listener) -> Callable[[], None]:
        """Calls ``listener``, on another thread, with the threads that changed in the
        store at ``root``, from now on. The store need not exist yet. Returns a function
        that stops it.

        ``listener`` must return immediately.
        """
        with self._lock:
            watcher = self._watchers.get(root)
            if watcher is None:
                watcher = self._watchers[root] = _Watcher(root, self._clock)
            key = object()
            watcher.listeners[key] = listener

        def end() -> None:
            with self._lock:
                watcher.listeners.pop(key, None)
                if not watcher.listeners and self._watchers.get(root) is watcher:
                    del self._watchers[root]
                    watcher.stop()

        return end


class _Watcher:
    """Watches one store until it is stopped."""

    def __init__(self, root: str, clock: Callable[[], float]) -> None:
        self.listeners: dict[object, Listener] = {}
        layout = Layout(root)
        self._threads, self._pages = layout.threads, layout.pages
        self._clock = clock
        self._stop = threading.Event()
        self._stamps = self._stamps_of(self._names())
        # When everything was last checked, and how many seconds that took.
        self._checked_at = self._cost = 0.0
        self._logged = ""
        # A daemon thread: it has nothing to finish.
        self._thread = threading.Thread(
            target=self._run, name="wc-observe watcher", daemon=True
        )
        # The interpreter aborts if it exits while a thread of the library runs.
        atexit.register(self.stop, wait=True)
        self._thread.start()

    def stop(self, *, wait: bool = False) -> None:
        """Stops, soon or, with ``wait``, before it returns."""
        self._stop.set()
        if wait:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._watch(self._present())
                except FileNotFoundError:
                    self._stop.wait(_TICK / 1000)  # it was removed just now
                except CannotWatchError as error:
                    if f"{error}" != self._logged:
                        _log.warning("changes are noticed late: %s", error)
                    self._logged = f"{error}"
                    self._poll()
        finally:
            atexit.unregister(self.stop)

    def _present(self) -> dict[str, tuple[int, int]]:
        """Returns the folders that exist, with what shows whether one was replaced."""
        present = {}
        for folder in (self._threads, self._pages):
            with suppress(OSError):
                info = os.stat(folder)
                present[folder] = (info.st_dev, info.st_ino)
        return present

    def _watch(self, folders: Mapping[str, object]) -> None:
        """Reports changes until other folders have to be watched. Raises
        CannotWatchError, and FileNotFoundError."""
        if not folders:
            self._check(None)
            self._stop.wait(_TICK / 1000)
            return
        mounted = mounts.mount_table()
        for folder in folders:
            if kind := mounts.network_type(mounted, folder):
                raise CannotWatchError(
                    f"{folder} is on a network file system ({kind}), which does not "
                    "report remote changes"
                )
        try:
            self._follow(folders)
        except FileNotFoundError:
            raise
        except (ImportError, OSError, RuntimeError) as error:
            raise CannotWatchError(_explanation(error)) from error

    def _follow(self, folders: Mapping[str, object]) -> None:
        from watchfiles import Change, watch  # 30 ms, only for pages

        real, plain = _real_folders(folders)
        events = watch(
            # The library follows links, and a link in a cloned store may lead to the
            # root of the disk.
            *(folders if plain else real),
            recursive=plain,
            watch_filter=None,
            debounce=_DEBOUNCE,
            step=_STEP,
            rust_timeout=_TICK,
            yield_on_timeout=True,
            stop_event=self._stop,
            force_polling=False,
            # Otherwise it would also skip folders silently when the kernel runs out of
            # watches.
            ignore_permission_denied=False,
        )
        # First, everything may have changed before the kernel watched.
        is_due, new, has_grown = True, set[str](), False
        with closing(events):
            for changes in events:
                # A file that was written right after its folder was created may not be
                # reported, so look into new folders twice.
                self._check(None if is_due else new.union(path for _, path in changes))
                added = (path for kind, path in changes if kind == Change.added)
                new = {path for path in added if _is_folder(path)}
                has_grown = has_grown or bool(new)
                # After sleep, and if a clock is set, it is due as well.
                passed = abs(self._clock() - self._checked_at)
                is_due = passed > max(_SAFETY_NET, self._cost * _RARELY)
                if (
                    # If there is no room for more watches, the library silently ignores
                    # a new folder. A new watch reports that as an error.
                    (is_due and has_grown)
                    or (new and not (plain and _real_folders(new)[1]))
                    or any(
                        kind == Change.deleted and p in folders for kind, p in changes
                    )
                    or self._present() != folders
                ):
                    return

    def _poll(self) -> None:
        until = time.monotonic() + _RETRY
        while not self._stop.is_set() and time.monotonic() < until:
            self._check(None)
            self._stop.wait(max(_POLL, min(self._cost * _OFTEN, _SAFETY_NET)))

    def _check(self, paths: Collection[str] | None) -> None:
        """Tells the listeners about the threads that changed since the last call: at
        these paths, or (None) anywhere."""
        names, begun = self._names_at(paths), time.monotonic()
        if is_whole := names is None:
            names = self._names() | self._stamps.keys()
        stamps = self._stamps_of(names)
        changed = {name for name in names if stamps.get(name) != self._stamps.get(name)}
        for name in changed:
            self._stamps.pop(name, None)
        self._stamps |= {name: stamps[name] for name in changed & stamps.keys()}
        if is_whole:
            self._checked_at, self._cost = self._clock(), time.monotonic() - begun
        topics = frozenset(map(topic_of, changed))
        for listener in [*self.listeners.values()] if topics else []:
            try:
                listener(topics)
            except Exception:  # noqa: BLE001  (any fault of a listener)
                # It must not end what others are told.
                _log.exception("a change could not be processed")

    def _names_at(self, paths: Collection[str] | None) -> set[str] | None:
        """Returns the names of the folders of threads that paths belong to; None means
        all."""
        if paths is None or len(paths) > _FLOOD:
            return None
        names = set()
        for path in paths:
            for folder in (self._threads, self._pages):
                if path == folder:
                    return None
                if path.startswith(f"{folder}/"):
                    name = path[len(folder) + 1 :].partition("/")[0]
                    names.add(name.removesuffix(".md"))
        return names

    def _names(self) -> set[str]:
        pages = (name for name in _names_in(self._pages) if name.endswith(".md"))
        return {*_names_in(self._threads), *(name[:-3] for name in pages)} - {""}

    def _stamps_of(self, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Returns what shows whether a log was replaced or written to; for a thread
        without a log, its page. By name."""
        stamps = {}
        for name in names:
            stamp = _stamp_of(f"{self._threads}/{name}/entries.jsonl")
            if stamp := stamp or _stamp_of(f"{self._pages}/{name}.md"):
                stamps[name] = stamp
        return stamps


def _stamp_of(path: str) -> tuple[int, ...]:
    """Returns the stamp of a file; empty if it is missing, empty, or a link, which is
    never read."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return ()
    if stat.S_ISLNK(info.st_mode) or not info.st_size:
        return ()
    return (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # reading the store reports why


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _real_folders(folders: Iterable[str]) -> tuple[list[str], bool]:
    """Returns all real folders at and below the given ones, and whether these contain
    neither a link, which may lead out of the store, nor an unreadable folder."""
    real: list[str] = []
    plain = True
    todo = list(folders)
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as items:
                for item in items:
                    if item.is_symlink():
                        plain = False
                    elif item.is_dir(follow_symlinks=False):
                        todo.append(item.path)
            real.append(folder)
        except FileNotFoundError:
            continue
        except OSError:
            plain = False
    return real, plain


def _explanation(error: Exception) -> str:
    """Returns why the kernel cannot watch, and what to do."""
    message = str(error)
    if "watch limit" in message:
        return (
            "the inotify watches of this user are used up. "
            "Allow more: sudo sysctl fs.inotify.max_user_watches=524288"
        )
    if "os error 24" in message:
        return (
            "the inotify instances of this user, or the files this process may have "
            "open, are used up. "
            "Allow more: sudo sysctl fs.inotify.max_user_instances=1024; ulimit -n"
        )
    return (
        f"the kernel does not report changes ({type(error).__name__}: {message[:200]})"
    )
