"""How far the balls of listed threads have come with their holders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.errors import WcError
from wc_core.status.files import file_name
from wc_core.status.holders import HeldBall
from wc_core.wake import records
from wc_core.wake.passes import pass_state

if TYPE_CHECKING:
    from wc_core.names import Directory
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader
    from wc_core.views.rows import ThreadRow


def with_passes(
    reader: StoreReader, rows: list[ThreadRow], directory: Directory
) -> list[ThreadRow]:
    """Returns the rows, those with how far their balls have come for which somebody
    was called. Only these threads are read again."""
    names = records.names(reader.layout)
    topics = {HeldBall("", name).topic for name in names}
    return [
        row._replace(passed=pass_state(reader, state, directory))
        if row.topic in topics and (state := _state(reader, row.topic, names))
        else row
        for row in rows
    ]


def _state(reader: StoreReader, topic: str, names: frozenset[str]) -> State | None:
    """Returns the state of a thread whose ball somebody was called for."""
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return None
    return state if file_name(state) in names else None
