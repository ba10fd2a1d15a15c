"""Notifies the person of this machine when something needs them, once for each call.

After each write and each fetch, the settling process checks whether there is something
to send, and if so starts ``python -m wc_cli.bridges.notify.notifying``. That sends,
retries failures for at most half a minute, and ends. No write waits for it. The next
such process sends the rest.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from wc_cli.bridges.notify import tmux
from wc_cli.bridges.notify.delivery import Sender, deliver
from wc_cli.bridges.notify.outbox import Outbox
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import locks
from wc_core.attention.notify import calls, messages, records, targets
from wc_core.attention.notify.messages import BOUNCES, NOTE, Notice
from wc_core.attention.notify.records import CallRecord, TargetState
from wc_core.attention.status import listings
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration import preferences
from wc_core.ledger.git import repository
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity import resolve, userrecord
from wc_core.people.identity.resolve import Evidence
from wc_core.people.identity.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wc_core.attention.notify.calls import PersonCall
    from wc_core.attention.notify.targets import Target

_SECONDS = 25.0
# The system ends a process that a server holds up for longer.
_MOST_SECONDS = 40
_STEP_SECONDS = 1.0
# More calls than this go into a single notification.
_MOST_AT_ONCE = 5
# Calls older than this are skipped when a store is checked for the first time.
_FIRST_MS = 60_000
_DAY_MS = 24 * 3600 * 1000
# The pause before another try if nobody could be reached.
_AWAY_MS = 30_000
_NOTE_MS = 30 * _DAY_MS
# Only threads that changed within this time are searched for bounces.
_RECENT_NS = 600 * 10**9
_ROUNDS = 5


class PersonNote(NamedTuple):
    """A notification for a ``person`` (as agents' tags name them). Each ``key`` is sent
    only once. ``text`` counts as text of the thread."""

    person: str
    key: str
    topic: str
    text: str
    urgent: bool = False


def notify_person(root: str, env: Mapping[str, str], note: PersonNote) -> bool:
    """Notify a person about a thread of the store at ``root``, in the background.
    Returns whether that will happen: not if they aren't the person of this machine,
    have no targets, or were notified before. Raises nothing."""
    with contextlib.suppress(WcError, OSError):
        notifier = PersonNotifier(root, env)
        directory = notifier.viewer.directory
        is_here = directory.same(note.person, str(notifier.viewer.identity.name))
        name = f"{records.NOTE_PREFIX}{safe_name(note.key)}"
        fields = (NOTE, note.topic, note.text, note.urgent)
        record = CallRecord(now_ms(), notifier.target_ids, *fields)
        if is_here and record.pending and notifier.outbox.claim(name, record):
            spawn.start_notify(notifier.layout, env)
            return True
    return False


def start_if_due(root: str, env: Mapping[str, str]) -> None:
    """Start a notifying process, if the person wants that and there is something to
    send."""
    if not preferences.load(env).targets:
        return
    with contextlib.suppress(WcError, OSError):
        notifier = PersonNotifier(root, env)
        notifier.collect()
        if notifier.is_due():
            spawn.start_notify(notifier.layout, env)


def main() -> None:
    """Run as ``python -m wc_cli.bridges.notify.notifying ROOT HANDLE``. HANDLE is the
    lock that allows one such process, inherited from the one that started it."""
    root, inherited = sys.argv[1:]
    handle: int | None = int(inherited)
    os.set_inheritable(int(inherited), False)
    signal.alarm(_MOST_SECONDS)
    end = time.monotonic() + _SECONDS
    env = dict(os.environ)
    for _ in range(_ROUNDS):
        if handle is None:
            return  # another process notifies
        notifier = PersonNotifier(root, env)
        notifier.send_all(end)
        os.close(handle)
        # Another process may have found the lock held just before it was released.
        notifier.collect()
        if time.monotonic() >= end or not notifier.is_due():
            return
        handle = locks.try_acquire(notifier.layout.notify_lock, root)


def person_viewer(root: str, env: Mapping[str, str]) -> Viewer:
    """The person of this machine, as they see the store at ``root``."""
    evidence = Evidence(lambda: userrecord.recorded_user(root, env))
    identity = resolve.person_behind(env, repository.find(root), evidence)
    return Viewer(identity, settings.load(root, env).directory)


def outbox_of(root: str, env: Mapping[str, str]) -> Outbox:
    """The records of the person of this machine."""
    private = private_layout(Layout(root))
    return Outbox(private, records.folder_of(private, person_viewer(root, env)))


class PersonNotifier:
    """Notifies the person of this machine about calls in the store at ``root``."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.env = env
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.preferences = preferences.load(env)
        self.targets = targets.parse_all(self.preferences.targets).targets
        self.viewer = person_viewer(root, env)
        self.settings = settings.load(root, env)
        private = private_layout(self.layout)
        self.outbox = Outbox(private, records.folder_of(private, self.viewer))
        self.repository = messages.repository_name(root)

    @property
    def target_ids(self) -> tuple[str, ...]:
        """The ids of all targets."""
        return tuple(target.id for target in self.targets)

    def is_due(self) -> bool:
        """Return whether something must be sent, or retried, now."""
        if not self._may_call():
            return False
        states, now = self.outbox.states(), now_ms()
        due = {
            name
            for name in self.target_ids
            if not states.get(name, TargetState()).pause_ms(now)
        }
        return any(due.intersection(record.pending) for _, record in self._pending())

    def send_all(self, end: float) -> None:
        """Send everything, retrying failures until ``end``."""
        while True:
            self.collect()
            pause = self.send() if self._may_call() else None
            if pause is None or time.monotonic() + pause >= end:
                return
            time.sleep(min(pause, _STEP_SECONDS))

    def collect(self) -> None:
        """Make a record of each new call, and remove the records of past calls."""
        if not os.path.isdir(listings.root_of(self.layout)):
            return  # nothing is known about any ball
        since_ms = self._first_ms()
        recorded = set(self.outbox.names())
        current = list(self._calls())
        for call in current:
            if call.name not in recorded:
                self._record(call, since_ms)
        self._sweep(recorded.difference(call.name for call in current))
        # From now on every call is sent.
        if since_ms:
            self.outbox.note_look()

    def send(self) -> float | None:
        """Send what is pending. Returns the seconds until the next retry; ``None`` if
        none is needed."""
        pending = list(self._pending())
        if not pending:
            return None
        if any(not target.is_webhook for target in self.targets):
            looking = tmux.is_looking_at(self.env, repository.find(self.layout.root))
        else:
            looking = False
        pauses = []
        for target in sorted(self.targets, key=lambda target: target.is_webhook):
            meant = [name for name, record in pending if target.id in record.pending]
            is_watching = looking and not target.is_webhook
            if meant and (
                pause := self._send_to(target, meant, is_watching=is_watching)
            ):
                pauses.append(pause)
        return min(pauses, default=None)

    def _send_to(
        self, target: Target, names: Sequence[str], *, is_watching: bool
    ) -> float | None:
        """Send records to a target. Returns the seconds until the next retry."""
        state = self.outbox.states().get(target.id, TargetState())
        state = state._replace(label=target.label)
        if pause_ms := state.pause_ms(now_ms()):
            return pause_ms / 1000
        notices = dict(self._notices(names))
        self._mark([name for name in names if name not in notices], target)
        groups = [([name], notice) for name, notice in notices.items()]
        if len(groups) > _MOST_AT_ONCE:
            groups = [(list(notices), messages.summary(list(notices.values())))]
        for group, notice in groups:
            if not is_watching:
                state = self._deliver(target, notice, state)
                if state.next_ms:
                    # Don't wait for anyone who cannot be reached now.
                    return (state.next_ms - now_ms()) / 1000 if state.failures else None
            self._mark(group, target)
        return None

    def _deliver(
        self, target: Target, notice: Notice, state: TargetState
    ) -> TargetState:
        """Send a notice. Returns the new state of the target, which has a time for the
        retry if sending failed."""
        sender = Sender(self.env, self.layout, self.preferences.content)
        delivery = deliver(target, notice, sender)
        now = now_ms()
        if delivery.away:
            state = state._replace(next_ms=now + _AWAY_MS)
        elif delivery.ok:
            state = state.after_success(now, notice.heading)
        else:
            state = state.after_failure(now, delivery.text, delivery.pause_ms)
        self._save_state(target.id, state)
        return state

    def _save_state(self, name: str, state: TargetState) -> None:
        """Write the states of all targets, with `state` for one of them."""
        states = {**self.outbox.states(), name: state}
        own = self.target_ids
        self.outbox.save_states({key: states[key] for key in own if key in states})

    def _mark(self, names: Sequence[str], target: Target) -> None:
        """Record that these no longer need to be sent to a target."""
        for name in names:
            if record := self.outbox.load(name):
                pending = tuple(item for item in record.pending if item != target.id)
                self.outbox.update(name, record._replace(pending=pending))

    def _notices(self, names: Sequence[str]) -> Iterator[tuple[str, Notice]]:
        """The notices of records, from the current threads. Calls that were answered or
        are a day old give none."""
        current = {call.name: call for call in self._calls()}
        for name in names:
            record = self.outbox.load(name)
            if record is None or now_ms() - record.at_ms > _DAY_MS:
                continue
            notice = None
            if record.reason:
                notice = Notice(
                    record.reason,
                    topic=record.topic,
                    text=record.text,
                    urgent=record.urgent,
                )
            elif name in current:
                notice = calls.notice_of(
                    self.reader, self.viewer, current[name], self.settings
                )
            if notice is not None:
                at_ms = notice.at_ms or record.at_ms
                yield name, notice._replace(repository=self.repository, at_ms=at_ms)

    def _calls(self) -> Iterator[PersonCall]:
        """All current calls for the person."""
        yield from calls.current_calls(self.reader, self.viewer)
        since_ns = time.time_ns() - _RECENT_NS
        yield from calls.bouncing_calls(
            self.reader, self.viewer, self.settings, since_ns
        )

    def _record(self, call: PersonCall, since_ms: int) -> None:
        """Make the record of a call, with the targets that should get it."""
        is_old = call.reason != BOUNCES and call.at_ms < since_ms
        notice = None
        if not is_old:
            notice = calls.notice_of(self.reader, self.viewer, call, self.settings)
        record = CallRecord(now_ms(), self.target_ids if notice is not None else ())
        if notice is not None and call.reason == BOUNCES:
            record = record._replace(
                reason=BOUNCES, topic=notice.topic, text=notice.text
            )
        self.outbox.claim(call.name, record)

    def _sweep(self, names: set[str]) -> None:
        """Remove the records of past calls."""
        for name in names:
            topic = calls.topic_of_bounces(name)
            if topic and calls.is_bouncing(
                self.reader, self.viewer, topic, self.settings
            ):
                continue
            if name.startswith(records.NOTE_PREFIX):
                record = self.outbox.load(name)
                if record is not None and now_ms() - record.at_ms < _NOTE_MS:
                    continue
            self.outbox.remove(name)

    def _pending(self) -> Iterator[tuple[str, CallRecord]]:
        """The records that still must be sent to an existing target."""
        own = set(self.target_ids)
        for name in self.outbox.names():
            record = self.outbox.load(name)
            if record is not None and own.intersection(record.pending):
                yield name, record

    def _may_call(self) -> bool:
        """Return whether it is outside the person's quiet hours."""
        now = time.localtime()
        return not self.preferences.is_quiet(now.tm_hour * 60 + now.tm_min)

    def _first_ms(self) -> int:
        """The start of the calls to send when a store is checked for the first time:
        not those from before there were targets. 0 at any other time."""
        if self.outbox.was_looked_at():
            return 0
        try:
            changed = os.stat(preferences.path_of(self.env)).st_mtime
        except OSError:
            changed = 0.0
        return max(int(changed * 1000), now_ms() - _FIRST_MS)


if __name__ == "__main__":
    main()
