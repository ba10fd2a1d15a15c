"""The balls for which someone was called or started, and how far they have come."""

from __future__ import annotations

from wc_core.attention.runs import records as runs
from wc_core.attention.runs import waiting
from wc_core.attention.status.files import file_name
from wc_core.attention.status.holders import HeldBall
from wc_core.attention.wake import records
from wc_core.attention.wake.passes import (
    ANSWERED,
    called_state,
    has_holder,
    run_state,
)
from wc_core.base.errors import WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.attention.wake.passes import PassState
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

# The most records examined, latest first.
_MOST = 1000


def called_balls(
    reader: StoreReader, directory: Directory
) -> Iterator[tuple[State, PassState]]:
    """Yields the threads whose holders were called for their balls and still have them,
    latest pass first, and before them those with which `wc run` has to do, with how far
    they have come."""
    reasons = waiting.reasons(reader.layout)
    run = [
        record.topic
        for record in runs.all_shown(reader.layout)
        if record.is_open or record.state == runs.FAILED
    ]
    names = sorted(records.names(reader.layout), reverse=True)[:_MOST]
    called = {HeldBall("", name).topic: name for name in reversed(names)}
    for topic in dict.fromkeys((*run, *reasons, *reversed(called))):
        try:
            state = reader.snapshot(topic).state
        except WcError:
            continue
        passed = run_state(reader, state, reasons) if has_holder(state) else None
        if passed is None and called.get(topic) == file_name(state):
            passed = called_state(reader, state, directory)
        if passed is not None:
            yield state, passed


def unanswered(
    reader: StoreReader, directory: Directory, before_ms: int
) -> Iterator[tuple[State, PassState]]:
    """Yields the same, without `wc run`, for those who were called before ``before_ms``
    and have not answered, or could not be called."""
    for state, passed in called_balls(reader, directory):
        is_late = passed.state != ANSWERED and passed.at_ms <= before_ms
        if passed.failure or (is_late and not passed.is_of_run):
            yield state, passed
