"""How far the balls of listed threads have come with their holders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.errors import WcError
from wc_core.status.files import file_name
from wc_core.status.holders import HeldBall
from wc_core.wake import records
from wc_core.wake.passes import ANSWERED, pass_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.names import Directory
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader
    from wc_core.views.rows import ThreadRow
    from wc_core.wake.passes import PassState


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


def called_balls(
    reader: StoreReader, directory: Directory
) -> Iterator[tuple[str, PassState]]:
    """Yields the threads whose balls somebody was called for and still has, the latest
    call first, with how far they have come."""
    names = records.names(reader.layout)
    for name in sorted(names, reverse=True):
        state = _state(reader, HeldBall("", name).topic, names)
        if state is None or file_name(state) != name:
            continue  # it has been passed on
        passed = pass_state(reader, state, directory)
        if passed is not None:
            yield state.name, passed


def unanswered(
    reader: StoreReader, directory: Directory, before_ms: int
) -> Iterator[tuple[str, PassState]]:
    """Yields the same of those who were called before ``before_ms`` and have not
    answered, or could not be called."""
    for name, passed in called_balls(reader, directory):
        is_late = passed.state != ANSWERED and passed.at_ms <= before_ms
        if passed.failure or is_late:
            yield name, passed
