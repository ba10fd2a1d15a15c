"""Keeps the files beside a store's logs up to date.

The writer does this right after its append, settling after a crash. The caller holds
the thread's lock.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.store import durable, locks, quarantine
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_cli.ledger.store.namefiles import NameFiles
from wc_core.base.errors import Damage, LockTimeoutError, StorageError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import file_name
from wc_core.base.lean import contextlib
from wc_core.base.processes import is_running
from wc_core.ledger.threads import projections, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread

LOCK_SECONDS = 2.0
_MINUTE = 60.0
_DAY = 24 * 3600.0
# The older tool's limit: it breaks a lock that is older.
_FRESH_SECONDS = 10.0
# Longer than any of its writes takes: an older lock is abandoned if its process is
# gone.
_WRITE_SECONDS = 2.0
_PAUSE = 0.005
_MAX_BYTES = 4096


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Upkeep:
    """The locks, markers and projections of one store, the index of its ``names``, and
    its ``local`` files."""

    def __init__(
        self,
        reader: StoreReader,
        env: Mapping[str, str],
        rules: settings.Settings | None = None,
    ) -> None:
        self.reader = reader
        self.layout = reader.layout
        self.rules = rules or settings.load(self.layout.root, env)
        self.local = LocalFiles(self.layout)
        self.names = NameFiles(reader, self.local)

    @contextlib.contextmanager
    def lock(
        self, topic: str, holder: str = "settling", seconds: float = LOCK_SECONDS
    ) -> Iterator[None]:
        """Hold the lock of one thread for a block, while no older tool writes it."""
        layout = self.layout
        with locks.locked(layout.lock(topic), holder, seconds, layout.root):
            wait(layout, topic, seconds)
            yield
            self.local.stamp.renew()

    def marker(self, topic: str) -> str:
        """The path of the marker of a thread that awaits settling."""
        return f"{self.layout.unsettled}/{file_name(topic)}"

    def sweep(self) -> None:
        """Remove the half-written files of processes that died."""
        for name in names_in(self.layout.scratch):
            pid, _, created = name.partition(".")
            path = f"{self.layout.scratch}/{name}"
            if not (pid.isdecimal() and created.isdecimal()):
                continue  # not written by wc
            with contextlib.suppress(FileNotFoundError):
                age = time.time() - os.lstat(path).st_mtime
                # A process on another machine or in a container is not visible here: it
                # may still be writing the file.
                if age > _DAY or (age > _MINUTE and not is_running(int(pid))):
                    durable.remove(path, self.layout.root)

    def refresh(self, topic: str) -> None:
        """Write the meta again if it lags behind the log. Takes the thread's lock."""
        if self.reader.snapshot(topic).fresh:
            return
        with self.lock(topic):
            snapshot = self.reader.snapshot(topic)
            if snapshot.fresh:
                return
            thread = self.reader.thread(topic)
            if thread.snapshot.log_size >= 0 and not thread.snapshot.meta.newer:
                self.write_whole(thread)

    def write_whole(self, thread: Thread) -> None:
        """Write the meta of a thread that has just been read."""
        size, unknown = thread.snapshot.log_size, thread.snapshot.unknown
        self.write_state(thread.state, size, unknown)

    def write_state(
        self,
        state: State,
        log_size: int,
        unknown: Mapping[str, Any],
        before: State | None = None,
    ) -> None:
        """Write meta for ``state``, the fold of a log of ``log_size`` bytes.

        ``before`` is the state that the meta on disk has, if that is known. ``unknown``
        are the other tools' keys in the meta.
        """
        self.local.stamp.remove()
        self.names.write(state, before)
        if before is None:
            self._keep_unreadable_meta(state.topic)
        # Last: a fresh meta promises that the names are up to date.
        data = projections.render_meta(state, log_size, unknown)
        durable.replace(self.layout.meta(state.topic), data, self.layout.root)

    def _keep_unreadable_meta(self, topic: str) -> None:
        """Copy an unparsable meta to quarantine before it is replaced: it may have
        other tools' keys. Raises StorageError if it is not a file."""
        path = self.layout.meta(topic)
        try:
            data = read_plain(path, self.layout.root)
        except OSError as error:
            name = self.layout.relative(path)
            raise StorageError(f"{name} {error.strerror}", "See: wc doctor") from error
        if data and isinstance(projections.read_meta(topic, data), Damage):
            quarantine.keep(self.layout, topic, data)


def wait(layout: Layout, topic: str, seconds: float) -> None:
    """Wait while the older tool holds its lock of a thread. The caller holds our own.

    Raises LockTimeoutError, naming the process, after ``seconds``.
    """
    path, own = layout.older_lock(topic), layout.lock(topic)
    deadline = time.monotonic() + seconds
    while _is_held(path, own, layout.root):
        if time.monotonic() >= deadline:
            raise _timeout_error(path, layout.root)
        time.sleep(_PAUSE)


def _is_held(path: str, own: str, root: str) -> bool:
    try:
        lock = os.lstat(path)
    except OSError:
        return False
    age = abs(time.time() - lock.st_mtime)
    if age > _FRESH_SECONDS:
        return False
    try:
        # An earlier wc made it, and was killed.
        if os.path.samestat(lock, os.lstat(own)):
            return False
    except OSError:
        pass
    pid = _words(path, root).get("pid", "")
    return age <= _WRITE_SECONDS or not pid.isdecimal() or is_running(int(pid))


def _words(path: str, root: str) -> dict[str, str]:
    """The fields that the older tool writes into a lock: ``pid``, ``time``, ``user``,
    ``cwd``."""
    try:
        text = (read_plain(path, root, _MAX_BYTES) or b"").decode(errors="replace")
    except OSError:
        return {}
    pairs = (word.partition("=") for word in text.split())
    return {name: value for name, _, value in pairs}


def _timeout_error(path: str, root: str) -> LockTimeoutError:
    words = _words(path, root)
    pid, user, since = (words.get(name, "") for name in ("pid", "user", "time"))
    process = f"process {pid}" if pid else "unknown process"
    parts = [process, f"of {user}" if user else "", f"since {since}" if since else ""]
    details = ", ".join(filter(None, parts))
    return LockTimeoutError(
        f"Another tool is writing to the thread ({details}).",
        f"Nothing was written. Its lock is {os.path.basename(path)}. "
        "Try again when it has finished: one tool at a time.",
    )
