"""Keeping meta and status lines in step with a log, under the thread's lock.

Used by the writer right after its append and by settling after a crash.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

from wc_cli.store import durable, locks
from wc_core import names, ulid
from wc_core.errors import CorruptError, StorageError
from wc_core.files import NotPlainError, names_in, read_plain
from wc_core.layout import Layout, file_name, safe_name
from wc_core.processes import is_running
from wc_core.status import files as statusfiles
from wc_core.threads import codec, model, projections, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    from wc_core.identity.resolve import Identity
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader

LOCK_SECONDS = 2.0
_NAME_LENGTH = 16
_MINUTE = 60.0
_DAY = 24 * 3600.0
_SEAT_SECONDS = 30 * _DAY


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
        self.env = env
        self.rules = rules or settings.load(self.layout.root, env)
        self._shown: dict[str, set[str]] | None = None

    def lock(
        self, topic: str, who: str = "settling", seconds: float = LOCK_SECONDS
    ) -> AbstractContextManager[None]:
        """The lock of one thread."""
        return locks.locked(self.layout.lock(topic), who, seconds, self.layout.root)

    def marker(self, topic: str) -> str:
        """The marker that says a thread awaits settling."""
        return f"{self.layout.unsettled}/{file_name(topic)}"

    def sweep(self) -> None:
        """Remove the half-made files of processes that died at it."""
        for name in names_in(self.layout.scratch):
            pid, _, made = name.partition(".")
            path = f"{self.layout.scratch}/{name}"
            if not (pid.isdecimal() and made.isdecimal()):
                continue  # not one of ours
            with contextlib.suppress(FileNotFoundError):
                age = time.time() - os.lstat(path).st_mtime
                # On another machine or in a container, whose processes we do
                # not see, somebody may be at it for a moment still.
                if age > _DAY or (age > _MINUTE and not is_running(int(pid))):
                    durable.remove(path, self.layout.root)

    def put(self, path: str, data: bytes) -> bool:
        """Give a projection these bytes; whether it had others, or none that
        can be read. Raises StorageError, or CorruptError for what is no file:
        that is not ours to take away."""
        try:
            if read_plain(path, self.layout.root) == data:
                return False
        except NotPlainError as error:
            name = os.path.relpath(path, self.layout.root)
            raise CorruptError(f"{name} {error.strerror}", "See: wc doctor") from error
        except OSError:
            pass  # ours, and of no use to anybody
        durable.replace(path, data, self.layout.root)
        return True

    def refresh(self, topic: str) -> None:
        """Write meta and status lines anew where they lag behind the log."""
        if self.reader.snapshot(topic).fresh:
            return
        with self.lock(topic):
            snapshot = self.reader.snapshot(topic)
            stale = not snapshot.fresh and snapshot.log_size >= 0
            if stale and not snapshot.meta.newer:
                self.look_again()
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
        self.show(state, before)
        if before is None:
            self._keep_bad_meta(state.topic)
        # Last: a meta that is fresh says that the status lines are as well.
        data = projections.render_meta(state, log_size, unknown)
        durable.replace(self.layout.meta(state.topic), data, self.layout.root)

    def _keep_bad_meta(self, topic: str) -> None:
        """Keep a meta that cannot be read before another takes its place: it
        may have keys of other tools. Raises StorageError for what is no file."""
        path = self.layout.meta(topic)
        try:
            data = read_plain(path, self.layout.root)
        except OSError as error:
            name = os.path.relpath(path, self.layout.root)
            raise StorageError(f"{name} {error.strerror}", "See: wc doctor") from error
        if data and isinstance(projections.read_meta(topic, data), codec.Damage):
            self.keep(topic, data)

    def keep(self, topic: str, data: bytes) -> str:
        """Keep bytes, flushed, in a file of quarantine named after them; its
        path."""
        path = self.kept(topic, data)
        if read_plain(path, self.layout.root) != data:
            durable.make_folder(os.path.dirname(path), self.layout.root)
            durable.create(path, data, self.layout.root)
        return path

    def kept(self, topic: str, data: bytes) -> str:
        """Where `keep` keeps those bytes."""
        import hashlib  # hardly ever

        name = hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]
        return f"{self.layout.quarantine(topic)}/{name}"

    def show(self, state: State, before: State | None = None) -> bool:
        """Write the status lines of a thread, remove those it had; whether
        they were others."""
        wanted = statusfiles.files(self._view(state))
        if before is None:
            had = self.status_files(state.topic)
        else:
            had = set(
                statusfiles.files(statusfiles.StatusView(before, {}, self.directory))
            )
        # The script looks at branches before it looks at holders: what comes is
        # at the branch first, what goes leaves the branch last, so that nobody
        # finds a ball of this branch somewhere else.
        changed = [self._put_local(path, wanted[path]) for path in sorted(wanted)]
        for path in sorted(had - set(wanted), reverse=True):
            durable.remove(f"{self.layout.local}/{path}", self.layout.root)
        if before is None:
            self._all_status_files()[safe_name(state.topic)] = set(wanted)
        return any(changed) or had != set(wanted)

    def shows(self, state: State) -> bool:
        """Whether the status lines of a thread are those it should have."""
        wanted = statusfiles.files(self._view(state))
        had = self.status_files(state.topic)
        return had == set(wanted) and all(
            self._has(path, data) for path, data in wanted.items()
        )

    def _has(self, path: str, data: bytes) -> bool:
        """Whether a file below ``.local`` has these bytes."""
        try:
            found = read_plain(f"{self.layout.local}/{path}", self.layout.root)
        except OSError:
            return False
        return found == data

    def _put_local(self, path: str, data: bytes) -> bool:
        """Give a file below ``.local`` these bytes; whether it had others."""
        target = f"{self.layout.local}/{path}"
        self._make_local_folder(os.path.dirname(target))
        return self.put(target, data)

    def _make_local_folder(self, path: str) -> None:
        # Not flushed: what it holds is rendered anew at need.
        durable.make_folder(path, self.layout.root, flush=False)

    def _view(self, state: State) -> statusfiles.StatusView:
        """A thread with what is NEW for everybody we know the reading of."""
        directory = self.directory
        read = self.reader.cursors(state.topic)
        keys = {
            one.name: directory.key(names.parse(one.name)) for one in state.participants
        }
        new = {}
        for key in (*keys.values(), *read):
            spellings = {name for name, own in keys.items() if own == key}
            count = read[key].entry_count if key in read else 0
            new[key] = model.new_count(state, spellings.__contains__, count)
        return statusfiles.StatusView(state, new, directory)

    @property
    def directory(self) -> names.Directory:
        """The names in force."""
        return self.rules.directory

    def status_files(self, topic: str) -> set[str]:
        """The status files a thread has, wherever a crash may have left them;
        looked for once for all threads: there may be thousands of either."""
        return self._all_status_files().get(safe_name(topic), set())

    def left_status_files(self, topics: Iterable[str]) -> list[str]:
        """The status files that belong to none of the threads."""
        known = {safe_name(topic) for topic in topics}
        shown = self._all_status_files().items()
        return sorted(path for name, had in shown if name not in known for path in had)

    def clear_left(self, state: State) -> None:
        """Remove the status files of a thread that it had when they were looked
        for, and has no more."""
        wanted = statusfiles.files(self._view(state))
        for path in self.status_files(state.topic) - set(wanted):
            durable.remove(f"{self.layout.local}/{path}", self.layout.root)

    def look_again(self) -> None:
        """Forget which status files there were: writers change them."""
        self._shown = None

    def _all_status_files(self) -> dict[str, set[str]]:
        """Every status file, by the name its thread has in it."""
        if self._shown is None:
            self._shown = {}
            for folder, _, files in os.walk(f"{self.layout.local}/status"):
                inside = os.path.relpath(folder, self.layout.local)
                for name in files:
                    shown = self._shown.setdefault(name[ulid.LENGTH + 1 :], set())
                    shown.add(f"{inside}/{name}")
        return self._shown

    def remember(self, identity: Identity, worktree: str) -> None:
        """Keep who "me" is in a worktree, for the status line."""
        wanted = statusfiles.identity_files(
            worktree or statusfiles.MAIN_WORKTREE, identity, self.directory, self.env
        )
        for path, data in wanted.items():
            if read_plain(f"{self.layout.local}/{path}", self.layout.root) != data:
                self._put_local(path, data)
                self._forget_seats(f"{self.layout.local}/{path}")

    def _forget_seats(self, path: str) -> None:
        """Remove what is kept of seats that were told apart beside this one a
        month before it was written: each session leaves a file."""
        folder, name = os.path.split(path)
        if "@" not in name:
            return
        latest = os.stat(path).st_mtime - _SEAT_SECONDS
        with os.scandir(folder) as found:
            for one in found:
                if "@" in one.name and one.stat().st_mtime < latest:
                    durable.remove(one.path, self.layout.root)

    def leave_note(self, name: str, data: bytes) -> None:
        """Put somebody's note beside the threads, in the place of theirs."""
        self._put_local(f"presence/{name}", data)

    def take_note(self, name: str) -> None:
        """Take a note away, which may be gone already."""
        durable.remove(f"{self.layout.presence}/{name}", self.layout.root)

    def mark_read(self, state: State, key: str) -> None:
        """Move somebody's read cursor to all there is in ``state``."""
        path = self.reader.cursor_path(state.topic, key)
        fields = {"key": key, "heads": state.heads, "count": state.entry_count}
        self._make_local_folder(os.path.dirname(path))
        durable.replace(path, f"{codec.dumps(fields)}\n".encode(), self.layout.root)
