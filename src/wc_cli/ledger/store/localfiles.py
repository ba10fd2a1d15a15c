"""The files of a store below ``.local``, which belong to this machine only.

They are not flushed: their content can be rendered again, or is useless after a power
cut.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.attention.status import identityfiles
from wc_core.attention.status.identityfiles import DEFAULT_NAME
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.people.identity.resolve import Identity


# The files behind the lines, below `.local`. The script checks `hot` itself.
SOURCES = ("elsewhere/", "use/", "unlanded.json")
_BYTES = 4  # few, as said below
_RECORD = "watercooler"
_GIT_FILE = b"gitdir: "


class LineStamp:
    """The stamp that shows the prompt whether a kept line is still valid, see
    `wc_core.attention.status.keptlines`; and whether this process has removed it.

    A kept line has the stamp that was read before anything else that the line is made
    of, and the script prints it while the stamp is the same. So the stamp is removed
    before the first change to a file behind the lines, and a new one is written after
    the last. A line made in between has the old stamp or none.

    The script finds the stamp through a file with the path of ``.local``,
    `watercooler` in git's folder for the store's worktree. A process corrects it before
    its first change, in case the store has been moved. It is no symbolic link, as an
    older wc makes there: Claude Code removes no worktree of a repository while git's
    folder of any of them contains one.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.is_due = False
        self._held_back = False
        self._is_recorded = False

    def remove(self) -> None:
        """Remove the stamp, before each change: another process may have written one
        since the last. Raises StorageError."""
        if not self._is_recorded:
            self._record()
            self._is_recorded = True
        durable.remove(self.layout.line_stamp, self.layout.root)
        self.is_due = True

    def _record(self) -> None:
        """Write the file that leads to ``.local``, or correct it. A link of an older wc
        is replaced; anything else in its place stays, and no line is cached. Raises
        StorageError if a wrong path stays."""
        local = os.fsencode(self.layout.local)
        folder = _git_folder(self.layout.root)
        if not folder or b"\n" in local:
            return
        path = f"{folder}/{_RECORD}"
        is_wrong = False
        try:
            if os.path.islink(path):
                is_wrong = os.readlink(path) != self.layout.local
            elif os.path.lexists(path):
                data = read_plain(path) or b""
                is_wrong = data != local + b"\n"
                if not is_wrong or not _is_path(data):
                    return
            durable.replace_beside(path, local + b"\n")
        except OSError as error:
            if is_wrong:
                durable.raise_storage_error("could not be replaced", path, error)

    def linked(self) -> list[str]:
        """The symbolic links of an older wc in git's folder for the store's
        worktree."""
        folder = _git_folder(self.layout.root)
        names = names_in(folder) if folder else []
        paths = (f"{folder}/{name}" for name in names if name.startswith(_RECORD))
        return [path for path in paths if os.path.islink(path)]

    def replace_links(self) -> None:
        """Write the file that leads to ``.local``, and remove the links of an older wc.
        Raises StorageError."""
        self._record()
        for path in self.linked():
            durable.remove(path)

    @contextlib.contextmanager
    def held_back(self) -> Iterator[None]:
        """Write no new stamp during a block that writes many threads, but one after
        it."""
        self._held_back = True
        try:
            yield
        finally:
            self._held_back = False
        self.renew()

    def renew(self) -> None:
        """Write a new stamp, if this process has removed one. If that fails, no line is
        cached."""
        if not self.is_due or self._held_back:
            return
        path, root = self.layout.line_stamp, self.layout.root
        with contextlib.suppress(WcError, OSError):
            durable.make_folder(os.path.dirname(path), root, flush=False)
            durable.replace(path, f"{os.urandom(_BYTES).hex()}\n".encode(), root)
        self.is_due = False

    def read(self) -> str:
        """The current stamp; empty if there is none. Raises OSError."""
        data = read_plain(self.layout.line_stamp, self.layout.root) or b""
        return data.decode(errors="replace").removesuffix("\n")

    def ensure(self) -> str:
        """The current stamp. If there is none, because a writer died or an older wc
        made the store, it is made, unless something is left to settle: settling may
        change what the lines are made of. Raises WcError and OSError."""
        stamp = self.read()
        if not stamp and not names_in(self.layout.unsettled, self.layout.root):
            self._record()
            self.is_due = True
            self.renew()
            stamp = self.read()
        return stamp


def _is_path(data: bytes) -> bool:
    """Return whether a file has only the path of a store's ``.local``, or nothing, as
    after a power cut."""
    line = data.removesuffix(b"/.local\n")
    return not data or (line[:1] == b"/" and line != data and b"\n" not in line)


def _git_folder(root: str) -> str:
    """Return git's folder for the worktree at ``root``; empty if that folder is for
    another one, or there is none."""
    with contextlib.suppress(OSError):
        record = read_plain(f"{root}/.git", root) or b""
        if record.startswith(_GIT_FILE):
            folder = os.fsdecode(record.removeprefix(_GIT_FILE).rstrip(b"\n"))
            recorded = read_plain(f"{folder}/gitdir") or b""
            if os.fsdecode(recorded).rstrip("\n") == f"{root}/.git":
                return folder
    return ""


_SEAT_SECONDS = 30 * 24 * 3600.0


class LocalFiles:
    """Reads and writes files below ``.local``; paths are relative to it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.stamp = LineStamp(layout)

    def write(self, path: str, data: bytes) -> bool:
        """Write a file unless it has these bytes. Returns whether it differed."""
        target = f"{self.layout.local}/{path}"
        if durable.has_content(target, data, self.layout.root):
            return False
        self._make_folder(os.path.dirname(target))
        if path.startswith(SOURCES):
            self.stamp.remove()
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
        """Write who "me" is in a worktree. Not for an agent that is not found in the
        environment: it would replace the person."""
        is_default = identityfiles.who_name(identity.source, env) == DEFAULT_NAME
        if is_default and not identity.person:
            return
        worktree = worktree or identityfiles.MAIN_WORKTREE
        files = identityfiles.identity_files(worktree, identity, directory, env)
        for path, data in files.items():
            if read_plain(f"{self.layout.local}/{path}", self.layout.root) != data:
                self.write(path, data)
                self._remove_old_seats(f"{self.layout.local}/{path}")
        self.stamp.renew()

    def note_writer(self, worktree: str, identity: Identity, key: str) -> None:
        """Record that an agent wrote in a worktree, an entry or a file, and its seat,
        which may be that of one command. People are in all worktrees."""
        if identity.person:
            return
        folder = worktree or identityfiles.MAIN_WORKTREE
        path, data = f"me/{folder}/{identityfiles.LAST_WRITER}", f"{safe_name(key)}\n"
        if self.has(path, data.encode()):
            os.utime(f"{self.layout.local}/{path}", follow_symlinks=False)
        else:
            self.write(path, data.encode())
            if identity.name.seat:
                self.write(f"me/{folder}/={safe_name(key)}", data.encode())

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

    def write_cursor(self, path: str, state: State, key: str) -> None:
        """Move the read cursor of the reader ``key`` to the end of ``state``."""
        self.stamp.remove()
        fields = {"key": key, "heads": state.heads, "count": state.entry_count}
        self._make_folder(os.path.dirname(path))
        durable.replace(path, f"{dumps(fields)}\n".encode(), self.layout.root)

    def _make_folder(self, path: str) -> None:
        durable.make_folder(path, self.layout.root, flush=False)
