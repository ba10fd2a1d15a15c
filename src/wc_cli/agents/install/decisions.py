"""Decides what a change does to a text, and what undoing it does. Writes nothing.

A page of the ledger tells which values of the text are ours; all others belong to the
user.
"""

from __future__ import annotations

from wc_cli.agents.install.changes import Set
from wc_cli.agents.install.formats import edits, jsonc
from wc_cli.agents.install.formats.jsonc import ABSENT
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_cli.agents.install.changes import Change
    from wc_cli.agents.install.formats.edits import Spot
    from wc_cli.agents.install.ledger import LedgerFile, Owner, Record

# What to do about a change: nothing, because the user already has the value; record one
# more owner of our value; edit the text; or refuse to overwrite the user's value.
LEAVE, RECORD, WRITE, REFUSE = "leave", "record", "write", "refuse"


class Decision(NamedTuple):
    """What to do about a change.

    ``spot`` has the value to write, ``record`` is our record of the same slot, ``was``
    the JSON of the user's value that is replaced, and ``piece`` the text that the last
    edit inserted.
    """

    action: str
    spot: Spot
    record: Record | None = None
    was: str | None = None
    piece: str = ""


def decide(change: Change, text: str | None, page: LedgerFile) -> Decision:
    """The effect of a change on the text of its file. Raises UnreadableError."""
    spot = edits.spot_of(change)
    value = edits.value_at(text, spot)
    record = record_of(page, spot)
    unedited = record and edits.are_same(value, record.spot.value)
    current = record if unedited else None
    combined = _combined_value(change, current, value)
    if combined is not ABSENT:
        spot = spot._replace(value=combined)
    if edits.are_same(value, spot.value):
        return Decision(RECORD if current else LEAVE, spot, record)
    if current:
        return Decision(WRITE, spot, current, current.was, current.piece)
    if value is ABSENT:
        return Decision(WRITE, spot, record)
    if combined is ABSENT:
        return Decision(REFUSE, spot, record)
    return Decision(WRITE, spot, record, jsonc.raw_text(text or "", spot.keys))


def record_of(page: LedgerFile, spot: Spot) -> Record | None:
    """Our record of the same slot, if there is one."""
    records = (record for record in page.records if record.spot.slot == spot.slot)
    return next(records, None)


def _combined_value(change: Change, record: Record | None, value: Any) -> Any:
    """The value that keeps the user's own, if the change can do that; otherwise ABSENT.

    ``record`` is our record if the current value is ours.
    """
    compose = change.compose if isinstance(change, Set) else None
    users_value = value if record is None else _replaced_value(record)
    return ABSENT if not compose or users_value is ABSENT else compose(users_value)


def _replaced_value(record: Record) -> Any:
    """The user's value that our change replaced; ABSENT if there was none."""
    node = None if record.was is None else jsonc.parse(record.was)
    return ABSENT if node is None else node.value


def with_owner(record: Record, owner: Owner) -> Record:
    """The record with one more owner."""
    owners = dict.fromkeys((*record.owners, owner))
    return record._replace(owners=tuple(owners))


def without_changes(
    text: str | None, records: Iterable[Record]
) -> tuple[str | None, bool]:
    """The text without these changes, and whether all of them were still as we made
    them.

    Changes are undone in reverse order; those that the user edited stay. Raises
    UnreadableError.
    """
    clean = True
    for record in reversed(tuple(records)):
        value = edits.value_at(text, record.spot)
        if text is None or not edits.are_same(value, record.spot.value):
            clean = clean and value is ABSENT
        elif record.was is not None:
            text = jsonc.with_raw(text, record.spot.keys, record.was)
        else:
            text = edits.remove(text, record.spot, record.piece)
    return text, clean


def without_empty(text: str, kind: str, page: LedgerFile) -> str | None:
    """The text without the objects that we created and that are now empty; ``None`` if
    nothing remains of a file that we created."""
    if page.made:
        text = edits.pruned(text, kind, page.made)
    return None if page.base is None and not text.strip("\ufeff \t\r\n") else text
