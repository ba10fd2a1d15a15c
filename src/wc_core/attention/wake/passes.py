"""How far a ball's holder has come with it, as seen on this machine: saved, called,
woken, running, seen, answered.

``saved`` comes from the log. A ``called`` client has received the news, and the agent
is ``woken`` once its session has begun a turn. ``seen`` is from the holder's read
cursor, ``answered`` from the log again. With `wc run`, a ball is ``waiting`` until the
holder is started for it, ``running`` while that one works, and ``failed`` if that did
not move it. Nothing is inferred: anything on another machine stays ``saved``.
"""

from __future__ import annotations

from itertools import dropwhile, islice

from wc_core.attention.runs import records as runs
from wc_core.attention.runs import waiting
from wc_core.attention.status.balls import HeldBall, name_of
from wc_core.attention.wake import records
from wc_core.base.errors import WcError
from wc_core.base.names import parse
from wc_core.base.times import ago, rfc3339, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import model
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from wc_core.attention.runs.records import RunRecord
    from wc_core.attention.wake.records import WakeRecord
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

SAVED, CALLED, WOKEN, SEEN, ANSWERED = "saved", "called", "woken", "seen", "answered"
WAITING, RUNNING, FAILED = "waiting", "running", "failed"
# The most records examined by `called_balls`, latest first.
_MOST = 1000
_UNSEEN_END = "it has ended, and no wc run has seen that"


class PassState(NamedTuple):
    """How far a ball has come: one of the states above, the agent that was called for
    it, and when it was called, woken or started, or failed (``at_ms``, 0 if it was
    not). ``failure`` is why a call failed, ``reason`` why a run failed or was not
    started."""

    state: str
    agent: str = ""
    at_ms: int = 0
    failure: str = ""
    reason: str = ""

    @property
    def is_of_run(self) -> bool:
        """Whether it is a state of `wc run`."""
        return self.state in {WAITING, RUNNING, FAILED}

    def to_json(self) -> dict[str, Any]:
        """Returns the state; if someone was called, also who and when."""
        fields: dict[str, Any] = {"state": self.state}
        if self.at_ms:
            fields |= {"agent": self.agent, "at": rfc3339(self.at_ms)}
        texts = {"failure": self.failure, "reason": self.reason}
        return fields | {name: text for name, text in texts.items() if text}

    def sentence(self, now_ms: int) -> str:
        """Returns the state in words; empty if it is only saved."""
        if self.failure:
            return f"not woken: {self.failure}"
        when = ago(seconds_between(self.at_ms, now_ms)) if self.at_ms else ""
        if self.state == RUNNING:
            return f"at work, started {when}"
        if self.state == FAILED:
            return f"run failed {when}: {self.reason}"
        if self.state == WAITING:
            return f"not started: {self.reason}" if self.reason else "will be started"
        words = {CALLED: f"called {when}", WOKEN: f"woken {when}"}
        return words.get(self.state, "" if self.state == SAVED else self.state)


def pass_state(
    reader: StoreReader,
    state: State,
    directory: Directory,
    *,
    only_called: bool = False,
) -> PassState | None:
    """Returns how far the ball of a thread has come; ``None`` if no one has it, or the
    thread is closed; with ``only_called`` also if its holder was neither called nor
    started for it."""
    if not _has_holder(state):
        return None
    if (run := _run_state(reader, state)) is not None:
        return run
    record = _record_of(reader, state)
    if record is None and only_called:
        return None
    return _progress(reader, state, directory, record)


def _run_state(
    reader: StoreReader, state: State, reasons: Mapping[str, str] | None = None
) -> PassState | None:
    """Returns what `wc run` does or has done for a ball; ``None`` if nothing.
    ``reasons`` are those of `waiting.reasons`, if they are known."""
    record = runs.load_shown(reader.layout, state.topic)
    if record is not None and (passed := _of_record(record, state)) is not None:
        return passed
    reasons = waiting.reasons(reader.layout) if reasons is None else reasons
    if state.topic in reasons:
        return PassState(WAITING, state.ball or "", reason=reasons[state.topic])
    return None


def _of_record(record: RunRecord, state: State) -> PassState | None:
    """Returns what the latest run of a thread says about its ball, if anything."""
    is_lost = record.is_open and not (record.is_alive or record.is_watched)
    if record.agent == state.ball and record.is_alive:
        return PassState(RUNNING, record.agent, record.started_ms)
    if record.agent == state.ball and is_lost:
        return PassState(FAILED, record.agent, record.started_ms, reason=_UNSEEN_END)
    if record.state == runs.FAILED and state.since in {record.since, record.given}:
        return PassState(FAILED, record.agent, record.ended_ms, reason=record.reason)
    return None


def _has_holder(state: State) -> bool:
    """Returns whether someone has the ball of an open thread."""
    return bool(state.ball and state.ball.strip()) and state.status != CLOSED


def _record_of(reader: StoreReader, state: State) -> WakeRecord | None:
    """Returns the record of the call for a ball, if its holder was called."""
    record = records.load(reader.layout, name_of(state))
    if record is not None and not (record.is_called or record.failure):
        return None  # the calling process was killed, or is about to call
    return record


def _progress(
    reader: StoreReader,
    state: State,
    directory: Directory,
    record: WakeRecord | None,
) -> PassState:
    """Returns how far a ball that someone has has come."""
    keys = {directory.key(parse(state.ball or ""))}
    if record is not None:
        keys.add(record.key)

    def is_holder(author: str) -> bool:
        return directory.key(parse(author)) in keys

    if _has_answered(reader, state, is_holder, was_called=record is not None):
        progress = ANSWERED
    elif any(_has_read(reader, state, directory, key) for key in sorted(keys)):
        progress = SEEN
    elif record is not None and not record.failure:
        progress = WOKEN if record.turn_ms else CALLED
    else:
        progress = SAVED
    if record is None:
        return PassState(progress)
    failure = record.failure if progress == SAVED else ""
    return PassState(progress, record.agent, record.turn_ms or record.at_ms, failure)


def _has_answered(
    reader: StoreReader,
    state: State,
    is_holder: Callable[[str], bool],
    *,
    was_called: bool,
) -> bool:
    """Returns whether the holder has written since the ball came. If someone else wrote
    last, the entries are only read for a holder who was called."""
    if state.last_id == state.since:
        return False
    if is_holder(state.updated_by):
        return True
    if not was_called:
        return False
    try:
        entries = reader.thread(state.topic).entries
    except WcError:
        return False
    later = dropwhile(lambda entry: entry.id != state.since, entries)
    return any(is_holder(entry.agent) for entry in islice(later, 1, None))


def pass_fields(
    reader: StoreReader, state: State, directory: Directory
) -> dict[str, Any]:
    """Returns the state of a thread's pass as the member ``pass`` of an answer; nothing
    if no one has the ball."""
    passed = pass_state(reader, state, directory)
    return {} if passed is None else {"pass": passed.to_json()}


def _has_read(
    reader: StoreReader, state: State, directory: Directory, key: str
) -> bool:
    """Returns whether a participant has read the thread to its end, on this machine."""
    cursor = reader.cursor(state.topic, key)

    def is_reader(author: str) -> bool:
        return directory.key(parse(author)) == key

    return bool(cursor.heads) and not model.new_count(
        state, is_reader, cursor.entry_count
    )


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
        passed = _run_state(reader, state, reasons) if _has_holder(state) else None
        if passed is None and called.get(topic) == name_of(state):
            passed = pass_state(reader, state, directory, only_called=True)
        if passed is not None:
            yield state, passed
