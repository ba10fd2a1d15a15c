"""Keeping meta and status lines in step with a log, under the thread's lock.

Used by the writer right after its append and by settling after a crash.
"""

from __future__ import annotations

import os

from wc_cli import durable
from wc_core import codec, names, projections, settings, statusfiles, ulid
from wc_core.files import read_plain
from wc_core.layout import Layout, file_name, safe_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from wc_core.identity import Identity
    from wc_core.model import State
    from wc_core.reader import StoreReader

LOCK_SECONDS = 2.0


class Upkeep:
    """The small files beside the logs of one store."""

    def __init__(
        self,
        reader: StoreReader,
        env: Mapping[str, str],
        rules: settings.Settings | None = None,
    ) -> None:
        self.reader = reader
        self.layout: Layout = reader.layout
        self.rules = rules or settings.load(self.layout.root, env)

    def lock(
        self, topic: str, who: str = "settling", seconds: float = LOCK_SECONDS
    ) -> AbstractContextManager[None]:
        """The lock of one thread."""
        return durable.locked(self.layout.lock(topic), who, seconds)

    def marker(self, topic: str) -> str:
        """The marker that says a thread awaits settling."""
        return f"{self.layout.unsettled}/{file_name(topic)}"

    def put(self, path: str, data: bytes) -> None:
        """Give a projection these bytes, if it has others."""
        if read_plain(path) != data:
            durable.replace(path, data, self.layout.scratch)

    def refresh(self, topic: str) -> None:
        """Write meta and status lines anew where they lag behind the log."""
        if self.reader.snapshot(topic).fresh:
            return
        with self.lock(topic):
            snapshot = self.reader.snapshot(topic)
            stale = not snapshot.fresh and snapshot.log_size >= 0
            if stale and not snapshot.meta.newer:
                self.project(snapshot.state, snapshot.log_size, snapshot.unknown)

    def project(
        self,
        state: State,
        log_size: int,
        unknown: Mapping[str, Any],
        before: State | None = None,
    ) -> None:
        """Meta and status lines for ``state``. The caller holds the lock.

        ``before`` is the state the status lines show now; without it they
        are looked for.
        """
        data = projections.render_meta(state, log_size, unknown)
        durable.replace(self.layout.meta(state.topic), data, self.layout.scratch)
        self.show(state, before)

    def show(self, state: State, before: State | None = None) -> None:
        """Write the status lines of a thread, remove those it had."""
        wanted = statusfiles.files(self._view(state))
        if before is None:
            had = self._status_files(state.topic)
        else:
            had = set(statusfiles.files(statusfiles.View(before, {}, self.directory)))
        for path, data in wanted.items():
            self._put_local(path, data)
        for path in had - set(wanted):
            durable.remove(f"{self.layout.local}/{path}")

    def _put_local(self, path: str, data: bytes) -> None:
        target = f"{self.layout.local}/{path}"
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)  # not flushed: rendered anew at need
        durable.replace(target, data, self.layout.scratch)

    def _view(self, state: State) -> statusfiles.View:
        """A thread with what is NEW for everybody we know the reading of."""
        directory = self.directory
        read = self.reader.cursors(state.topic)
        new = {}
        for name, unread in state.participants:
            new[directory.key(names.parse(name))] = unread
        for key, cursor in read.items():
            left = max(0, state.entry_count - cursor.entry_count)
            new[key] = min(new.get(key, left), left)
        return statusfiles.View(state, new, directory)

    @property
    def directory(self) -> names.Directory:
        """The names in force."""
        return self.rules.directory

    def _status_files(self, topic: str) -> set[str]:
        """The status files a thread has, wherever a crash may have left them."""
        suffix = f".{safe_name(topic)}"
        found = set()
        for folder, _, files in os.walk(f"{self.layout.local}/status"):
            for name in files:
                if name[ulid.LENGTH :] == suffix:
                    path = os.path.relpath(f"{folder}/{name}", self.layout.local)
                    found.add(path)
        return found

    def remember(self, identity: Identity, worktree: str, asked: str) -> None:
        """Keep who "me" is in a worktree, for the status line."""
        wanted = statusfiles.identity_files(
            worktree or statusfiles.MAIN_WORKTREE,
            identity.name,
            self.directory,
            asked=asked,
        )
        for path, data in wanted.items():
            if read_plain(f"{self.layout.local}/{path}") != data:
                self._put_local(path, data)

    def mark_read(self, state: State, key: str) -> None:
        """Move somebody's read cursor to all there is in ``state``."""
        path = self.reader.cursor_path(state.topic, key)
        fields = {"key": key, "heads": state.heads, "count": state.entry_count}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        durable.replace(path, f"{codec.dumps(fields)}\n".encode(), self.layout.scratch)
