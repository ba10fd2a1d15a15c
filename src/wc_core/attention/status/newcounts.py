"""How many entries of threads are NEW for a viewer, from the cache."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import topics_of
from wc_core.ledger.index.fields import new_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.index.fields import ThreadFields
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer


class NewCounts:
    """Counts as `Viewer.new_count`, for many threads."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self._reader = reader
        self._viewer = viewer
        # Kept: many threads have the same few participants and entries.
        self._own: dict[str, int | None] = {}
        try:
            folder = f"{reader.layout.local}/cursors"
            self._read = set(topics_of(names_in(folder, reader.layout.root)))
        except WcError:
            self._read = set()  # wc doctor reports what is in its place

    def of(self, fields: ThreadFields) -> int:
        """Returns the number of entries of a thread that are NEW for the viewer."""
        own, count = self._of_own_names(fields.new), fields.entry_count
        least = count if own is None else min(own, count)
        if not least or fields.topic not in self._read:
            return least
        cursor = self._reader.cursor(fields.topic, self._viewer.key)
        return min(least, max(0, count - cursor.entry_count))

    def wrote_in(self, fields: ThreadFields) -> bool:
        """Returns whether the viewer wrote in a thread."""
        return self._of_own_names(fields.new) is not None

    def takes_part_in(self, fields: ThreadFields) -> bool:
        """Returns whether the viewer wrote in a thread, or has read it."""
        if self.wrote_in(fields) or fields.topic not in self._read:
            return self.wrote_in(fields)
        return bool(self._reader.cursor(fields.topic, self._viewer.key).heads)

    def _of_own_names(self, column: str) -> int | None:
        if column not in self._own:
            counts = new_counts(column)
            own = (n for name, n in counts.items() if self._viewer.is_me(name))
            self._own[column] = min(own, default=None)
        return self._own[column]
