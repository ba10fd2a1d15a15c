"""Writes the index of the names that threads were given later:
`wc_core.ledger.threads.aliases` has its format."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.ledger.threads.aliases import COMPLETE, alias_files, is_complete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.store.localfiles import LocalFiles
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader


class NameFiles:
    """The index of names of a store."""

    def __init__(self, reader: StoreReader, local: LocalFiles) -> None:
        self._reader = reader
        self._local = local

    def write(self, state: State, before: State | None = None) -> None:
        """Write the names of a thread, unless it had them ``before``."""
        if before is None or state.names != before.names:
            for path in alias_files(state):
                self._local.write(path, b"")

    def are_current(self, state: State) -> bool:
        """Return whether the index has the names of a thread."""
        return all(self._local.has(path, b"") for path in alias_files(state))

    def complete(self) -> None:
        """Write the index if an older wc made the store. Without it, all threads are
        read."""
        if not is_complete(self._reader):
            with contextlib.suppress(WcError, OSError):
                self.write_all()

    def write_all(self) -> None:
        """Write the names of all threads."""
        for topic in self._reader.topics():
            # The names of others count again once they are readable and written to.
            with contextlib.suppress(WcError):
                self.write(self._reader.snapshot(topic).state)
        self._local.write(COMPLETE, b"")
