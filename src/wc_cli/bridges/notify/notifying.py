"""Notifies the person of this machine when something needs them, once for each call.

After each write and each fetch, the settling process checks whether there is something
new, and if so starts ``python -m wc_cli.bridges.notify.notifying``. No write waits for
it. ``notified/<person>/`` in the private folder has an empty file for each call, made
before the person is notified of it.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from wc_cli.bridges.notify import local
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable, locks
from wc_core.attention.notify import calls, targets
from wc_core.attention.notify.calls import BOUNCES, SEVERAL
from wc_core.attention.status.balls import Balls
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib, json
from wc_core.base.text import one_line
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
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.attention.notify.calls import PersonCall

# The system ends a process that takes longer.
_MOST_SECONDS = 60
# More calls than this go into a single notification.
_MOST_AT_ONCE = 5
# Calls older than this are skipped when a store is checked for the first time.
_FIRST_MS = 60_000
# Only threads that changed within this time are searched for bounces.
_RECENT_NS = 600 * 10**9
_ROUNDS = 5
# Files beside those of the calls: the store was checked before; why the last
# notification failed.
_LOOKED, _PROBLEM = "=looked", "=problem"


def start_if_due(root: str, env: Mapping[str, str]) -> None:
    """Start a notifying process, if the person wants that and there is something
    new."""
    with contextlib.suppress(WcError, OSError):
        if targets.is_wanted(preferences.load(env)):
            notifier = PersonNotifier(root, env)
            notifier.forget_past()
            if notifier.new_calls():
                spawn.start_notify(notifier.layout, env)


def main() -> None:
    """Run as ``python -m wc_cli.bridges.notify.notifying ROOT HANDLE``. HANDLE is the
    lock that allows one such process, inherited from the one that started it."""
    root, inherited = sys.argv[1:]
    handle: int | None = int(inherited)
    os.set_inheritable(int(inherited), False)
    signal.alarm(_MOST_SECONDS)
    notifier = PersonNotifier(root, dict(os.environ))
    for _ in range(_ROUNDS):
        if handle is None:
            return  # another process notifies
        notifier.notify()
        os.close(handle)
        # Another process may have found the lock held just before it was released.
        if not notifier.new_calls():
            return
        handle = locks.try_acquire(notifier.layout.notify_lock, root)


def last_problem(root: str, env: Mapping[str, str]) -> str:
    """Why the last notification from the store at ``root`` failed; empty if none
    did."""
    with contextlib.suppress(WcError, OSError):
        notifier = PersonNotifier(root, env)
        data = read_plain(f"{notifier.folder}/{_PROBLEM}", notifier.root)
        return one_line((data or b"").decode(errors="replace"))
    return ""


class PersonNotifier:
    """Notifies the person of this machine about calls in the store at ``root``."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.env = env
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.settings = settings.load(root, env)
        self.repository = repository.find(root)
        evidence = Evidence(lambda: userrecord.recorded_user(root, env))
        person = resolve.person_behind(env, self.repository, evidence)
        self.viewer = Viewer(person, self.settings.directory)
        private = private_layout(self.layout)
        self.root = private.root
        self.folder = f"{private.notified}/{safe_name(self.viewer.key)}"

    def new_calls(self) -> list[PersonCall]:
        """The calls that the person was not notified of."""
        recorded = self._known()
        return [call for call in self._calls() if call.name not in recorded]

    def notify(self) -> None:
        """Notify the person of each new call."""
        since_ms = self._first_ms()
        # Another process may have made the record: it notifies of the call.
        events = [
            calls.event_of(self.reader, self.viewer, call, self.settings)
            for call in self.new_calls()
            if self._record(call.name)
            and (call.reason == BOUNCES or call.at_ms >= since_ms)
        ]
        # From now on the person is notified of every call.
        self._write(_LOOKED, "")
        news = [event for event in events if event is not None]
        if len(news) > _MOST_AT_ONCE:
            topics = ", ".join(dict.fromkeys(event["topic"] for event in news))
            priority = max(event["priority"] for event in news)
            several = calls.event(SEVERAL, "", topics, now_ms(), len(news))
            news = [several | {"priority": priority}]
        for event in news:
            self._write(_PROBLEM, "; ".join(filter(None, self._send(event))))

    def _send(self, event: Mapping[str, Any]) -> Iterator[str]:
        """Send an event. Yields what went wrong, if anything."""
        own, checkout = preferences.load(self.env), self.repository
        name = (
            checkout.name
            if checkout is not None
            else os.path.basename(self.layout.root)
        )
        fields = {**event, "repository": one_line(name)}
        for command in own.notify_commands:
            if command == preferences.DESKTOP:
                text = " · ".join(filter(None, (fields["text"], fields["repository"])))
                yield local.show(self.env, fields["title"], text)
                continue
            variables = {f"WC_{key.upper()}": str(fields[key]) for key in fields}
            words = ("/bin/sh", "-c", command)
            feed = json.dumps(fields).encode()
            yield local.run(words, {**self.env, **variables}, feed)

    def forget_past(self) -> None:
        """Remove the records of past calls."""
        for name in self._known().difference(call.name for call in self._calls()):
            if not calls.is_bouncing(self.reader, self.viewer, name, self.settings):
                with contextlib.suppress(WcError):
                    durable.remove(f"{self.folder}/{name}", self.root)

    def _calls(self) -> Iterator[PersonCall]:
        """All current calls for the person."""
        balls = Balls(self.reader, self.settings.directory)
        yield from calls.current_calls(balls, self.viewer)
        since_ns = time.time_ns() - _RECENT_NS
        yield from calls.bouncing_calls(balls, self.viewer, self.settings, since_ns)

    def _known(self) -> set[str]:
        """The names of the calls that have a record."""
        with contextlib.suppress(WcError):
            names = names_in(self.folder, self.root)
            return {name for name in names if not name.startswith("=")}
        return set()

    def _record(self, name: str) -> bool:
        """Make the record of a call. Returns False if there is one."""
        durable.make_in_private_folder(self.folder, self.root)
        with contextlib.suppress(WcError):
            return durable.create_new(f"{self.folder}/{name}", b"", self.root)
        return False

    def _write(self, name: str, text: str) -> None:
        with contextlib.suppress(WcError, OSError):
            durable.make_in_private_folder(self.folder, self.root)
            path = f"{self.folder}/{name}"
            durable.replace_if_changed(path, text.encode(), self.root)

    def _first_ms(self) -> int:
        """The start of the calls to send when a store is checked for the first time:
        not those from before the person wanted that. 0 at any other time."""
        if os.path.exists(f"{self.folder}/{_LOOKED}"):
            return 0
        with contextlib.suppress(OSError):
            changed = os.stat(preferences.path_of(self.env)).st_mtime
            return max(int(changed * 1000), now_ms() - _FIRST_MS)
        return now_ms() - _FIRST_MS


if __name__ == "__main__":
    main()
