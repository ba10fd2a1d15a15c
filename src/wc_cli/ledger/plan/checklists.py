"""Drafts of entries that change checklists."""

from __future__ import annotations

from wc_core.base.errors import ConflictError
from wc_core.ledger.planning import checklists
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_core.ledger.threads.model import Item
    from wc_core.ledger.threads.reader import StoreReader

_ACTION = "checklist"
_NOTHING_WRITTEN = "Nothing was written."


def item_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts of new items: one line each. Raises InvalidInputError."""
    return tuple(vocabulary.item(text) for text in texts)


def additions(
    reader: StoreReader, texts_by_thread: Mapping[str, Sequence[str]]
) -> list[Draft]:
    """A draft for each thread that gets items. Everything is checked before anything
    can be written. Raises NotFoundError, InvalidInputError and ConflictError."""
    drafts = []
    for name, texts in texts_by_thread.items():
        items = item_texts(texts)
        state = reader.snapshot(reader.find(name)).state
        checklists.check_room(state, len(items))
        title = action_title("To do", items)
        drafts.append(Draft(state.topic, _ACTION, title, items_added=items))
    return drafts


def removal(reader: StoreReader, name: str, numbers: Sequence[str]) -> Draft:
    """The draft that removes items. Raises NotFoundError, InvalidInputError and
    ConflictError."""
    state = reader.snapshot(reader.find(name)).state
    items = checklists.numbered_items(state, numbers)
    title = action_title("Not to do", [item.text for item in items])
    removed = tuple(item.id for item in items)
    return Draft(state.topic, _ACTION, title, items_removed=removed)


def checking_off(
    reader: StoreReader, name: str, numbers: Sequence[str], *, undo: bool = False
) -> Draft:
    """The draft that checks items off, or with ``undo`` opens them again. Raises
    NotFoundError, InvalidInputError, and ConflictError if nothing would change."""
    state = reader.snapshot(reader.find(name)).state
    items = [
        item
        for item in checklists.numbered_items(state, numbers)
        if bool(item.checked) is undo
    ]
    if not items:
        already = "not checked off" if undo else "already checked off"
        raise ConflictError(
            f"{state.name}: {', '.join(numbers)} is {already}.",
            f"{_NOTHING_WRITTEN} See the list: wc checklist {state.name}",
        )
    return _checked(state.topic, items, undo=undo)


def _checked(topic: str, items: Sequence[Item], *, undo: bool) -> Draft:
    ids = tuple(item.id for item in items)
    texts = [item.text for item in items]
    if undo:
        title = action_title("Not done after all", texts)
        return Draft(topic, _ACTION, title, items_unchecked=ids)
    return Draft(topic, _ACTION, action_title("Done", texts), items_checked=ids)


def action_title(label: str, texts: Sequence[str]) -> str:
    """A title of an allowed length."""
    title = f"{label}: {'; '.join(texts)}"
    most = vocabulary.MAX_TITLE_BYTES
    if len(title.encode()) <= most:
        return title
    return title.encode()[: most - len("…".encode())].decode(errors="ignore") + "…"
