"""The stamp that shows the prompt whether its cached line is still valid.

``bin/wc-statusline`` caches the last line of each worktree and agent in
``.local/line/<worktree>.<agent>``, with the stamp that it read before any other file.
It prints that line again while the stamp is the same.

So the stamp is removed before the first change to a file behind the lines, and a new
one is written after the last. A line made in between has the old stamp or none. After a
crash there is no stamp, and no line is cached, until the next change.
"""

from __future__ import annotations

from wc_cli.store import durable
from wc_core.errors import WcError
from wc_core.lean import contextlib, os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.layout import Layout

# The files behind the lines, below `.local`. The script checks `hot` itself.
SOURCES = ("status/", "me/", "elsewhere/", "use/")
_BYTES = 6  # a shell reads a file with a system call for each byte


class LineStamp:
    """The stamp of one store, and whether this process has removed it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.is_due = False
        self._held_back = False

    def remove(self) -> None:
        """Remove the stamp, before each change: another process may have written one
        since the last. Raises StorageError."""
        durable.remove(self.layout.line_stamp, self.layout.root)
        self.is_due = True

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
