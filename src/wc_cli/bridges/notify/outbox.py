"""Writes the records of a person's notifications, see
`wc_core.attention.notify.records`."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.attention.notify import records
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib, json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.attention.notify.records import CallRecord, TargetState
    from wc_core.base.layout import Layout


class Outbox:
    """The records of a person, in the private folder of a store."""

    def __init__(self, layout: Layout, folder: str) -> None:
        self.root = layout.root
        self.folder = folder

    def names(self) -> list[str]:
        """The names of the records."""
        return records.record_names(self.folder, self.root)

    def claim(self, name: str, record: CallRecord) -> bool:
        """Make a record. Returns False if there is one: then another process sends it,
        or has sent it."""
        durable.make_in_private_folder(self.folder, self.root)
        data = json.dumps(record.to_json()).encode()
        # Created with its content: an empty record would mean that it was sent.
        try:
            return durable.create_new(f"{self.folder}/{name}", data, self.root)
        except WcError:
            return False

    def update(self, name: str, record: CallRecord) -> None:
        """Replace a record."""
        self._replace(name, json.dumps(record.to_json()))

    def remove(self, name: str) -> None:
        """Remove the record of a past call."""
        with contextlib.suppress(WcError):
            durable.remove(f"{self.folder}/{name}", self.root)

    def load(self, name: str) -> CallRecord | None:
        """A record; ``None`` if it cannot be used."""
        return records.load_record(self.folder, name, self.root)

    def was_looked_at(self) -> bool:
        """Return whether the calls of the store were checked before."""
        return os.path.exists(f"{self.folder}/{records.LOOKED}")

    def note_look(self) -> None:
        """Record that the calls of the store were checked."""
        durable.make_in_private_folder(self.folder, self.root)
        self._replace(records.LOOKED, "")

    def states(self) -> dict[str, TargetState]:
        """The state of each target, by its id."""
        return records.load_states(self.folder, self.root)

    def save_states(self, states: dict[str, TargetState]) -> None:
        """Replace the states of the targets."""
        durable.make_in_private_folder(self.folder, self.root)
        fields = {name: state.to_json() for name, state in states.items()}
        self._replace(records.STATES, json.dumps(fields))

    def _replace(self, name: str, text: str) -> None:
        with contextlib.suppress(WcError, OSError):
            path = f"{self.folder}/{name}"
            durable.replace_if_changed(path, text.encode(), self.root)
