"""Keeping the files beside the logs of a store in step with them.

The writer does this right after its append, settling after a crash. The caller holds
the lock of the thread.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

from wc_cli.store import durable, locks, quarantine
from wc_cli.store.localfiles import LocalFiles
from wc_cli.store.statusfiles import StatusFiles
from wc_core.errors import StorageError
from wc_core.files import names_in, read_plain
from wc_core.layout import file_name
from wc_core.processes import is_running
from wc_core.threads import codec, projections, settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader

LOCK_SECONDS = 2.0
_MINUTE = 60.0
_DAY = 24 * 3600.0


class Upkeep:
    """The locks, markers and projections of one store, its ``status`` files and its
    ``local`` ones."""

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
        self.status = StatusFiles(reader, self.local, self.rules.directory)

    def lock(
        self, topic: str, holder: str = "settling", seconds: float = LOCK_SECONDS
    ) -> AbstractContextManager[None]:
        """The lock of one thread, to hold for a block."""
        return locks.locked(self.layout.lock(topic), holder, seconds, self.layout.root)

    def marker(self, topic: str) -> str:
        """The path of the marker that says that a thread awaits settling."""
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
                # A process on another machine or in a container cannot be seen
                # from here: it may still be writing the file.
                if age > _DAY or (age > _MINUTE and not is_running(int(pid))):
                    durable.remove(path, self.layout.root)

    def refresh(self, topic: str) -> None:
        """Write meta and status files again where they lag behind the log.

        Takes the lock of the thread.
        """
        if self.reader.snapshot(topic).fresh:
            return
        with self.lock(topic):
            snapshot = self.reader.snapshot(topic)
            stale = not snapshot.fresh and snapshot.log_size >= 0
            if stale and not snapshot.meta.newer:
                self.status.invalidate()
                size, unknown = snapshot.log_size, snapshot.unknown
                self.write_state(snapshot.state, size, unknown)

    def write_state(
        self,
        state: State,
        log_size: int,
        unknown: Mapping[str, Any],
        before: State | None = None,
    ) -> None:
        """Write meta and status files for ``state``.

        ``before`` is the state that the status files show now; without it they are
        looked up. ``unknown`` are the keys of other tools in the meta.
        """
        self.status.write(state, before)
        if before is None:
            self._keep_unreadable_meta(state.topic)
        # Last: a fresh meta promises that the status files are up to date, too.
        data = projections.render_meta(state, log_size, unknown)
        durable.replace(self.layout.meta(state.topic), data, self.layout.root)

    def _keep_unreadable_meta(self, topic: str) -> None:
        """Copy a meta that cannot be parsed to quarantine before it is replaced: it
        may have keys of other tools. Raises StorageError for what is not a file."""
        path = self.layout.meta(topic)
        try:
            data = read_plain(path, self.layout.root)
        except OSError as error:
            name = os.path.relpath(path, self.layout.root)
            raise StorageError(f"{name} {error.strerror}", "See: wc doctor") from error
        if data and isinstance(projections.read_meta(topic, data), codec.Damage):
            quarantine.keep(self.layout, topic, data)
