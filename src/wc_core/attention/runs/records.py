"""Records of the agents that ``wc run`` started: a file for each thread,
``runs/<topic>.json`` in the private folder (`wc_core.ledger.git.private`), beside the
output of its agent, ``<topic>.log``.

Records decide where an agent works, so none is taken from the store itself: those that
an older wc left there are only shown. A record is written before the agent is started,
and again when it has ended. So a ``wc run`` that was killed leaves nothing that the
next one does not find.
"""

from __future__ import annotations

from wc_core.base import processes
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import file_name, topic_of
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout, read_fields, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 2
STARTING, RUNNING = "starting", "running"
# How a run ended: the ball was passed, a question was asked, the agent ended with the
# ball, it was stopped by the person.
PASSED, ASKED, FAILED, STOPPED = "passed", "asked", "failed", "stopped"
_ENDING = ".json"


class RunRecord(NamedTuple):
    """The latest run of an agent for a thread.

    ``agent`` is the author's name in full, ``previous`` who had the ball before the run
    (empty: nobody). ``since`` is the entry that began the run, ``tries`` how often the
    agent was started for this ball. ``pid`` is its process, which started at ``begin``
    (`processes.started`), ``runner`` and ``runner_begin`` are those of ``wc run``.
    ``made_worktree`` is the one that ``wc run`` made for the thread, wherever this run
    is; empty if there is none. ``exit_status`` is ``None`` if it is unknown; ``reason``
    is why it failed, ``given`` the entry that then passed the ball to a person.
    """

    topic: str
    agent: str
    worktree: str
    branch: str
    state: str
    started_ms: int
    since: str = ""
    previous: str = ""
    tries: int = 1
    pid: int = 0
    begin: int = 0
    runner: int = 0
    runner_begin: int = 0
    made_worktree: str = ""
    ended_ms: int = 0
    exit_status: int | None = None
    reason: str = ""
    given: str = ""

    @property
    def is_open(self) -> bool:
        """Whether its end was not recorded."""
        return self.state in {STARTING, RUNNING}

    @property
    def is_alive(self) -> bool:
        """Whether its agent runs."""
        return self.is_open and is_process(self.pid, self.begin)

    @property
    def is_watched(self) -> bool:
        """Whether the ``wc run`` that started it runs."""
        return self.is_open and is_process(self.runner, self.runner_begin)

    def to_bytes(self) -> bytes:
        """Returns the content of its file."""
        return json.dumps({"version": VERSION} | self._asdict()).encode()


def is_process(pid: int, begin: int) -> bool:
    """Returns whether the process that started at ``begin`` runs."""
    if not pid:
        return False
    if not begin:
        return processes.is_running(pid)
    return processes.has_ended(pid, begin) is False


def path_of(layout: Layout, topic: str) -> str:
    """Returns the path of the record of a thread."""
    return f"{private_layout(layout).runs}/{file_name(topic)}{_ENDING}"


def log_of(layout: Layout, topic: str) -> str:
    """Returns the path of the output of a thread's agent."""
    return f"{private_layout(layout).runs}/{file_name(topic)}.log"


def load(layout: Layout, topic: str) -> RunRecord | None:
    """Returns the record of a thread; ``None`` if there is none, or it cannot be
    read."""
    return _load(private_layout(layout), topic)


def load_shown(layout: Layout, topic: str) -> RunRecord | None:
    """Returns the record of a thread for display: otherwise the one that an older wc
    left in the store."""
    return load(layout, topic) or _load(layout, topic)


def _load(place: Layout, topic: str) -> RunRecord | None:
    path = f"{place.runs}/{file_name(topic)}{_ENDING}"
    return read_fields(path, place.root, VERSION, _made)


def _made(fields: dict[str, Any]) -> RunRecord | None:
    # An older wc started sessions in the cloud: no process here is theirs.
    if fields.get("is_cloud") and fields["state"] not in {PASSED, FAILED}:
        fields["state"] = STOPPED
    return typed(RunRecord, fields)


def all_records(layout: Layout) -> list[RunRecord]:
    """Returns the records that can be read, the latest start first."""
    return _latest_first(_all(private_layout(layout)))


def all_shown(layout: Layout) -> list[RunRecord]:
    """Returns the records for display, see `load_shown`."""
    by_topic = {record.topic: record for record in _all(layout)}
    by_topic |= {record.topic: record for record in _all(private_layout(layout))}
    return _latest_first(by_topic.values())


def _all(place: Layout) -> Iterator[RunRecord]:
    try:
        names = names_in(place.runs, place.root)
    except WcError:
        return
    for name in names:
        topic = topic_of(name.removesuffix(_ENDING))
        if name.endswith(_ENDING) and (record := _load(place, topic)) is not None:
            yield record


def _latest_first(records: Iterable[RunRecord]) -> list[RunRecord]:
    return sorted(records, key=lambda record: record.started_ms, reverse=True)
