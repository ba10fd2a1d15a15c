"""The files of a store below ``.local``, which belong to this machine only.

They are not flushed: their content can be rendered again, or is useless after a power
cut.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_cli.ledger.store.linestamp import SOURCES, LineStamp
from wc_core.attention.status import files as statusfiles
from wc_core.attention.status.files import DEFAULT_NAME
from wc_core.base.files import read_plain
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.people.identity.resolve import Identity

_SEAT_SECONDS = 30 * 24 * 3600.0


class LocalFiles:
    """Reads and writes files below ``.local``; paths are relative to it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.stamp = LineStamp(layout)

    def write(self, path: str, data: bytes, twin: str = "") -> bool:
        """Write a file unless it has these bytes. Returns whether it differed. ``twin``
        is a file that has just been written with them."""
        target = f"{self.layout.local}/{path}"
        if durable.has_content(target, data, self.layout.root):
            return False
        self._make_folder(os.path.dirname(target))
        if path.startswith(SOURCES):
            self.stamp.remove()
        if twin:
            other = f"{self.layout.local}/{twin}"
            durable.replace_with_twin(target, other, data, self.layout.root)
        else:
            durable.replace(target, data, self.layout.root)
        return True

    def has(self, path: str, data: bytes) -> bool:
        """Return whether a file has these bytes."""
        try:
            content = read_plain(f"{self.layout.local}/{path}", self.layout.root)
        except OSError:
            return False
        return content == data

    def remove(self, path: str) -> None:
        """Remove a file, which may be gone already."""
        target = f"{self.layout.local}/{path}"
        if path.startswith(SOURCES):
            if not os.path.lexists(target):
                return
            self.stamp.remove()
        durable.remove(target, self.layout.root)

    def note_visit(self, path: str) -> None:
        """Record a visit, as the time of a file; see
        `wc_core.attention.status.lastvisits`."""
        try:
            os.utime(f"{self.layout.local}/{path}", follow_symlinks=False)
        except FileNotFoundError:
            self.write(path, b"")

    def remember_identity(
        self,
        identity: Identity,
        worktree: str,
        directory: Directory,
        env: Mapping[str, str],
    ) -> None:
        """Write who "me" is in a worktree, for the status line. Not for an agent that
        the script cannot find in the environment: it would replace the person."""
        is_default = statusfiles.who_name(identity.source, env) == DEFAULT_NAME
        if is_default and not identity.person:
            return
        worktree = worktree or statusfiles.MAIN_WORKTREE
        files = statusfiles.identity_files(worktree, identity, directory, env)
        for path, data in files.items():
            if read_plain(f"{self.layout.local}/{path}", self.layout.root) != data:
                self.write(path, data)
                self._remove_old_seats(f"{self.layout.local}/{path}")
        self.stamp.renew()

    def _remove_old_seats(self, path: str) -> None:
        """Remove the files of other seats beside ``path`` that are a month older
        than it: each session of an agent leaves one."""
        folder, name = os.path.split(path)
        if "@" not in name:
            return
        oldest = os.stat(path).st_mtime - _SEAT_SECONDS
        with os.scandir(folder) as items:
            for item in items:
                if "@" in item.name and item.stat().st_mtime < oldest:
                    durable.remove(item.path, self.layout.root)

    def write_note(self, name: str, data: bytes) -> None:
        """Write a presence note, replacing the previous one of that name."""
        self.write(f"presence/{name}", data)

    def remove_note(self, name: str) -> None:
        """Remove a presence note, which may be gone already."""
        durable.remove(f"{self.layout.presence}/{name}", self.layout.root)

    def write_cursor(self, path: str, state: State, key: str) -> None:
        """Move the read cursor of the reader ``key`` to the end of ``state``."""
        self.stamp.remove()
        fields = {"key": key, "heads": state.heads, "count": state.entry_count}
        self._make_folder(os.path.dirname(path))
        durable.replace(path, f"{dumps(fields)}\n".encode(), self.layout.root)

    def _make_folder(self, path: str) -> None:
        durable.make_folder(path, self.layout.root, flush=False)
