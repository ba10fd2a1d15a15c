"""Hearing of changes in folders within 25 ms, without looking at them.

Nothing depends on it: who asks gets an answer from the files as they are. It
only tells those who would otherwise not ask, and saves looking in vain.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from wc_observe.watch import mounts
from wc_observe.watch.notifier import DeafError, Ear, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wc_observe.watch.notifier import Heard

    # Each existing folder with what tells it from another one in its place.
    There: TypeAlias = dict[str, tuple[int, int]]

WATCHING, POLLING, OFF = "watching", "polling", "off"

_log = logging.getLogger(__name__)

# Seconds. How long it takes at most until a folder in the place of another is
# noticed, one that was not there, and one where some were and some were not.
_TICK, _ABSENT, _PARTLY = 1.0, 0.05, 0.1
_ABSENT_A_SECOND = 100
# A file written right after its folder was made may not have been told of.
_LOOKS_AGAIN = (0.02, 0.2)
# Events get lost where there are more than the kernel keeps (16,384).
_FLOOD = 4096
# Events can be lost in other ways that nobody has thought of.
_SAFETY_NET = 30.0
_POLL = 1.0
# Limits are raised, mounts change.
_TRY_AGAIN = 300.0
# Wall clock and monotonic clock part by so much: the machine slept.
_SLEPT = 2.0
# Looking at everything takes a thousandth of the time at most where changes are
# told, a two-hundredth (or what it takes each 30 s) where there is nothing else.
_RARELY, _OFTEN = 1000, 200


class Health(NamedTuple):
    """How changes are noticed: ``watching``, ``polling`` or ``off``; and why,
    in words with what to do, where that is not as it should be."""

    kind: str
    why: str = ""


class Moment(NamedTuple):
    """Seconds of the wall clock, and of the one that stands still in sleep."""

    wall: float
    monotonic: float


def now() -> Moment:
    """What both clocks say."""
    return Moment(time.time(), time.monotonic())


class Watcher:
    """Tells of changes in ``folders`` (absolute, links resolved), which need
    not exist yet; with ``recursive`` also in all real folders below them.

    ``heard`` is called on a thread of its own: with the paths that changed, or
    with None where anything may have. The first call is a None: from then on
    nothing is missed. Where a folder is named, look through all of it. It must
    not wait for whoever calls `stop`.

    ``mode`` is ``auto``, ``on`` (trust a network file system too) or ``off``.
    """

    def __init__(
        self,
        folders: Sequence[str],
        heard: Callable[[frozenset[str] | None], None],
        *,
        recursive: bool,
        mode: str = "auto",
        clock: Callable[[], Moment] = now,
    ) -> None:
        self._folders = tuple(folders)
        self._heard = heard
        self._recursive = recursive
        self._mode = mode
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.health = Health(OFF, "not started")
        self._last = clock()
        self._opening = 0.0
        self._looking = 0.0
        self._next = 0.0
        self._young: set[str] = set()
        self._looks: list[float] = []
        self._grown = False

    def start(self) -> None:
        """Begin to listen; returns at once. Once only."""
        if self._mode == "off":
            why = "turned off by [observe] watch or WATERCOOLER_WATCH"
            self.health = Health(OFF, why)
            return
        # A daemon: it holds nothing that would have to be finished.
        self._thread = threading.Thread(
            target=self._run, name="wc-observe watcher", daemon=True
        )
        # An interpreter that ends under a thread of the library's aborts.
        atexit.register(self.stop)
        self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        """End it; with ``wait`` nothing is told any more once this returns,
        but from within ``heard``, where it returns at once."""
        self._stop.set()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._begin()
        finally:
            self.health = Health(OFF, "stopped")
            atexit.unregister(self.stop)

    def _begin(self) -> None:
        there = _identities(self._folders)
        try:
            self._refuse_network(there)
            begun = self._clock().monotonic
            with closing(Ear(list(there), recursive=self._recursive)) as ear:
                self._opening = self._clock().monotonic - begun
                self._listen(ear, there)
            if not self._stop.is_set():
                # Nothing is heard until it has begun anew.
                self.health = Health(POLLING, "beginning anew")
                self._tell(None)
        except FileNotFoundError:
            self._stop.wait(_ABSENT)
        except DeafError as deaf:
            self.health = Health(POLLING, f"{deaf}")
            self._poll()

    def _refuse_network(self, there: There) -> None:
        if self._mode == "on":
            return
        mounted = mounts.mounted()
        for folder in there:
            if kind := mounts.network_type(mounted, folder):
                raise DeafError(
                    f"{folder} is on a network file system ({kind}), which does not "
                    'tell of other machines. If only this one writes: watch = "on"'
                )

    def _listen(self, ear: Ear, there: There) -> None:
        """Until one of the folders is another one, or has to be heard anew."""
        absent = [one for one in self._folders if one not in there]
        why = f"{absent[0]} is not there yet" if absent else ""
        self.health = Health(WATCHING, why)
        self._grown = False
        self._young.clear()
        self._looks.clear()
        self._look()
        while _identities(self._folders) == there:
            heard = ear.wait(self._patience(there), self._stop)
            if self._stop.is_set() or not self._pass_on(heard, ear):
                return
            if self._is_due():
                if self._grown:
                    # A new folder goes unheard, without a word, where the
                    # kernel has no room for it. Beginning anew says so.
                    return
                self._look()

    def _patience(self, there: There) -> float:
        if self._young:
            return _LOOKS_AGAIN[0]
        if len(there) == len(self._folders):
            return _TICK
        # Looking for many takes longer.
        seldom = min(_TICK, len(self._folders) / _ABSENT_A_SECOND)
        return max(_PARTLY, seldom) if there else max(_ABSENT, seldom)

    def _pass_on(self, heard: Heard, ear: Ear) -> bool:
        """Tell what was heard. Returns whether it can go on listening."""
        if len(heard.paths) > _FLOOD:
            self._look()
        elif heard.paths:
            self._tell(heard.paths)
        if heard.deleted.intersection(self._folders):
            return False
        moment = self._clock().monotonic
        if self._recursive and heard.added:
            made = {one for one in heard.added if _is_folder(one)}
            if made:
                self._young |= made
                soon, later = (moment + one for one in _LOOKS_AGAIN)
                # More that come meanwhile do not put it off.
                self._looks = [min([soon, *self._looks]), later]
                self._grown = True
                if not ear.deep:
                    return False
        if self._looks and moment >= self._looks[0]:
            young = frozenset(self._young)
            self._looks.pop(0)
            if not self._looks:
                self._young.clear()
            self._tell(young)
            return survey(young).plain
        return True

    def _is_due(self) -> bool:
        """Whether everything has to be looked at: it is time, or there was a
        time in which nothing could be told."""
        before, self._last = self._last, self._clock()
        passed = self._last.monotonic - before.monotonic
        slept = abs(self._last.wall - before.wall - passed) > _SLEPT
        return slept or self._last.monotonic >= self._next

    def _look(self) -> None:
        begun = self._clock().monotonic
        taken_in = self._tell(None)
        self._last = self._clock()
        self._looking = self._last.monotonic - begun
        cost = self._looking + self._opening
        pause = max(_SAFETY_NET, cost * _RARELY) if taken_in else _TICK
        self._next = self._last.monotonic + pause

    def _poll(self) -> None:
        until = self._clock().monotonic + _TRY_AGAIN
        while not self._stop.is_set() and self._clock().monotonic < until:
            self._look()
            seldom = min(self._looking * _OFTEN, _SAFETY_NET)
            self._stop.wait(max(_POLL, seldom))

    def _tell(self, paths: frozenset[str] | None) -> bool:
        """Whether it was taken in; if not, everything is looked at next."""
        try:
            self._heard(paths)
        except Exception:  # noqa: BLE001  (whatever it is)
            # A fault in one look must not end all later ones.
            _log.exception("what changed could not be taken in")
            self._next = 0.0
            return False
        return True


def _identities(folders: Sequence[str]) -> There:
    there: There = {}
    for folder in folders:
        try:
            info = os.stat(folder)
        except OSError:
            continue
        there[folder] = (info.st_dev, info.st_ino)
    return there


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
