"""Reports changes in folders within 60 ms, without polling them.

No answer depends on it: it only notifies open pages.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias

from wc_core.base import mounts
from wc_core.base.values import NamedTuple
from wc_observe.stores.watch.notifier import (
    CannotWatchError,
    FolderWatch,
    survey_folders,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wc_observe.stores.watch.notifier import PathChanges

    # Each existing folder with its device and inode, which show if it was replaced.
    Identities: TypeAlias = dict[str, tuple[int, int]]

WATCHING, POLLING, OFF = "watching", "polling", "off"

_log = logging.getLogger(__name__)

# Seconds until it notices a replaced folder, a new folder where none existed, and a new
# folder where some existed.
_TICK, _ABSENT, _PARTLY = 1.0, 0.05, 0.1
# The kernel may not report a file that was written right after its folder was created.
_RECHECKS = (0.02, 0.2)
# The kernel drops events beyond its queue (16,384).
_FLOOD = 4096
# A safety net for events lost for any other reason.
_SAFETY_NET = 30.0
_POLL = 1.0
# Limits may be raised and mounts may change, so try again.
_RETRY = 300.0
# The clocks differ by more than this after the machine slept.
_SLEEP_DRIFT = 2.0
# A full check may use a thousandth of the time while watching, and a two-hundredth
# (or one check each 30 s) while polling.
_RARELY, _OFTEN = 1000, 200


class Moment(NamedTuple):
    """Seconds of the wall clock, and of the clock that stops while the machine
    sleeps."""

    wall: float
    monotonic: float


def now() -> Moment:
    """Returns the time of both clocks."""
    return Moment(time.time(), time.monotonic())


class Watcher:
    """Reports changes in ``folders`` (absolute, links resolved), which need not exist
    yet, and in all real folders below them.

    ``report`` is called on its own thread: with the changed paths, or with None if
    anything may have changed. The first call is a None; after that nothing is missed.
    If a folder is among the paths, check all of it. ``report`` must not wait for a
    thread that calls `stop`.
    """

    def __init__(
        self,
        folders: Sequence[str],
        report: Callable[[frozenset[str] | None], None],
        *,
        clock: Callable[[], Moment] = now,
    ) -> None:
        self._folders = tuple(folders)
        self._report = report
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        # How changes are noticed: `WATCHING`, `POLLING` or `OFF`.
        self.state = OFF
        self._logged = ""
        self._last_full = clock()
        self._open_cost = 0.0
        self._report_cost = 0.0
        self._next_full = 0.0
        self._new_folders: set[str] = set()
        self._rechecks: list[float] = []
        self._grown = False

    def start(self) -> None:
        """Starts watching and returns immediately. May be called once."""
        # A daemon thread: it has nothing to finish.
        self._thread = threading.Thread(
            target=self._run, name="wc-observe watcher", daemon=True
        )
        # The interpreter aborts if it exits while a thread of the library runs.
        atexit.register(self.stop)
        self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        """Stops. With ``wait``, nothing is reported after this returns; called from
        within ``report`` it returns immediately."""
        self._stop.set()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._watch_once()
        finally:
            self.state = OFF
            atexit.unregister(self.stop)

    def _watch_once(self) -> None:
        identities = _identities(self._folders)
        try:
            self._refuse_network(identities)
            begun = self._clock().monotonic
            with closing(FolderWatch(list(identities))) as watch:
                self._open_cost = self._clock().monotonic - begun
                self._listen(watch, identities)
            if not self._stop.is_set():
                # Nothing is reported until the next watch has started.
                self.state = POLLING
                self._report_paths(None)
        except FileNotFoundError:
            self._stop.wait(_ABSENT)
        except CannotWatchError as error:
            if f"{error}" != self._logged:
                _log.warning("changes are noticed late: %s", error)
            self.state, self._logged = POLLING, f"{error}"
            self._poll()

    def _refuse_network(self, identities: Identities) -> None:
        mounted = mounts.mount_table()
        for folder in identities:
            if kind := mounts.network_type(mounted, folder):
                raise CannotWatchError(
                    f"{folder} is on a network file system ({kind}), which does not "
                    "report remote changes"
                )

    def _listen(self, watch: FolderWatch, identities: Identities) -> None:
        """Reports changes until a folder was replaced or has to be watched again."""
        self.state = WATCHING
        self._grown = False
        self._new_folders.clear()
        self._rechecks.clear()
        self._report_all()
        while _identities(self._folders) == identities:
            changes = watch.wait(self._patience(identities), self._stop)
            if self._stop.is_set() or not self._handle(changes, watch):
                return
            if self._is_due():
                if self._grown:
                    # If there is no room for more watches, a new folder is silently
                    # ignored. A new watch reports that as an error.
                    return
                self._report_all()

    def _patience(self, identities: Identities) -> float:
        if self._new_folders:
            return _RECHECKS[0]
        if len(identities) == len(self._folders):
            return _TICK
        return _PARTLY if identities else _ABSENT

    def _handle(self, changes: PathChanges, watch: FolderWatch) -> bool:
        """Reports changes. Returns whether this watch can continue."""
        if len(changes.paths) > _FLOOD:
            self._report_all()
        elif changes.paths:
            self._report_paths(changes.paths)
        if changes.deleted.intersection(self._folders):
            return False
        moment = self._clock().monotonic
        if changes.added:
            folders = {path for path in changes.added if _is_folder(path)}
            if folders:
                self._new_folders |= folders
                soon, later = (moment + path for path in _RECHECKS)
                # Later changes do not postpone the first recheck.
                self._rechecks = [min([soon, *self._rechecks]), later]
                self._grown = True
                if not watch.deep:
                    return False
        if self._rechecks and moment >= self._rechecks[0]:
            new_folders = frozenset(self._new_folders)
            self._rechecks.pop(0)
            if not self._rechecks:
                self._new_folders.clear()
            self._report_paths(new_folders)
            return survey_folders(new_folders).plain
        return True

    def _is_due(self) -> bool:
        """Returns whether to check everything: it is due, or for some time nothing
        could be reported."""
        before, self._last_full = self._last_full, self._clock()
        passed = self._last_full.monotonic - before.monotonic
        slept = abs(self._last_full.wall - before.wall - passed) > _SLEEP_DRIFT
        return slept or self._last_full.monotonic >= self._next_full

    def _report_all(self) -> None:
        begun = self._clock().monotonic
        taken_in = self._report_paths(None)
        self._last_full = self._clock()
        self._report_cost = self._last_full.monotonic - begun
        cost = self._report_cost + self._open_cost
        pause = max(_SAFETY_NET, cost * _RARELY) if taken_in else _TICK
        self._next_full = self._last_full.monotonic + pause

    def _poll(self) -> None:
        until = self._clock().monotonic + _RETRY
        while not self._stop.is_set() and self._clock().monotonic < until:
            self._report_all()
            seldom = min(self._report_cost * _OFTEN, _SAFETY_NET)
            self._stop.wait(max(_POLL, seldom))

    def _report_paths(self, paths: frozenset[str] | None) -> bool:
        """Returns whether the report was processed; if not, everything is checked
        next."""
        try:
            self._report(paths)
        except Exception:  # noqa: BLE001  (any fault of a listener)
            # One faulty report must not end all later ones.
            _log.exception("a change could not be processed")
            self._next_full = 0.0
            return False
        return True


def _identities(folders: Sequence[str]) -> Identities:
    identities: Identities = {}
    for folder in folders:
        try:
            info = os.stat(folder)
        except OSError:
            continue
        identities[folder] = (info.st_dev, info.st_ino)
    return identities


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
