"""Counts the threads of a store by status, and finds the damaged ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.reader import StoreReader
from wc_observe.stores.live.filestamps import stamp_of

if TYPE_CHECKING:
    from wc_core.ledger.threads.reader import Thread
    from wc_observe.stores.live.filestamps import Stamp
    from wc_observe.stores.live.reader import LiveReader

_WIDTH = 300


class StoreSurvey(NamedTuple):
    """Threads by status, the damage of each damaged thread, and how many logs have been
    read in full (damage shows nowhere else)."""

    by_status: dict[str, int]
    damaged: dict[str, str]
    examined: int

    @property
    def total(self) -> int:
        """The number of threads, including unreadable ones."""
        return sum(self.by_status.values())


def survey(
    reader: LiveReader, examined_logs: dict[str, tuple[Stamp, str]], seconds: float
) -> StoreSurvey:
    """Examines every thread, reading logs in full for up to ``seconds``.

    ``examined_logs`` keeps the result of each log by its stamp for the next call.
    Raises StorageError or CorruptError only if the threads cannot be listed.
    """
    by_status: dict[str, int] = {}
    damaged: dict[str, str] = {}
    examined, until = 0, time.monotonic() + seconds
    for topic in reader.topics():
        status, problem = "?", None
        try:
            snapshot = reader.snapshot(topic)
            status = one_line(snapshot.state.status, _WIDTH)
            stamp = stamp_of(reader.layout.log(topic))
            old, problem = examined_logs.get(topic, (None, None))
            if old != stamp:
                problem = None
                if time.monotonic() < until:
                    # Bypass the cache, which has room for only a few threads.
                    problem = _damage(StoreReader.thread(reader, topic))
                    examined_logs[topic] = (stamp, problem)
        except WcError as error:
            problem = error.message
        examined += problem is not None
        if problem:
            damaged[topic] = problem
        by_status[status] = by_status.get(status, 0) + 1
    return StoreSurvey(by_status, damaged, examined)


def _damage(thread: Thread) -> str:
    lost = [damage for damage in thread.damage if damage.lost]
    return f"{lost[0].place}: {lost[0].message}" if lost else ""
