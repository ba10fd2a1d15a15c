"""The stamp that shows the prompt whether a kept line is still valid, see
`wc_core.attention.status.keptlines`.

A kept line has the stamp that was read before anything else that the line is made of,
and the script prints it while the stamp is the same. So the stamp is removed before the
first change to a file behind the lines, and a new one is written after the last. A line
made in between has the old stamp or none.

The script finds the stamp through a symbolic link, `watercooler` in git's folder for
the store's worktree: a shell reads a file with a system call for each byte, and git's
record of the path has eighty. A process corrects the link before its first change, in
case the store has been moved.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout

# The files behind the lines, below `.local`. The script checks `hot` itself.
SOURCES = ("status/", "elsewhere/", "use/")
_BYTES = 4  # few, as said above
_LINK = "watercooler"
_GIT_FILE = b"gitdir: "


class LineStamp:
    """The stamp of one store, and whether this process has removed it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.is_due = False
        self._held_back = False
        self._is_linked = False

    def remove(self) -> None:
        """Remove the stamp, before each change: another process may have written one
        since the last. Raises StorageError."""
        if not self._is_linked:
            self._link()
            self._is_linked = True
        durable.remove(self.layout.line_stamp, self.layout.root)
        self.is_due = True

    def _link(self) -> None:
        """Make the link, or correct it; anything else in its place stays, and no line
        is cached. Raises StorageError if a wrong link stays."""
        folder = _git_folder(self.layout.root)
        if not folder:
            return
        path = f"{folder}/{_LINK}"
        is_link = os.path.islink(path)
        try:
            if is_link:
                is_due = os.readlink(path) != self.layout.local
            else:
                is_due = not os.path.lexists(path)
            if is_due:
                durable.point(path, self.layout.local)
        except OSError as error:
            if is_link:
                durable.raise_storage_error("could not be replaced", path, error)

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
            self._link()
            self.is_due = True
            self.renew()
            stamp = self.read()
        return stamp


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
