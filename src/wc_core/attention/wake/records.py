"""Records of attempts to wake someone: a file for each ball, ``wakes/<name>`` in the
private folder.

The name is that of the ball (`wc_core.attention.status.balls`): the entry that passed
it and the topic. The file is created before a client is called, and only once, so that
two sessions are never woken for the same ball. Until the call it contains
``is_called: false``, so that a process killed in between does not count as a call. If
the ball may call someone again, because its thread waited for another, the name gets an
end that no ball has: the call still counts for ``[wake] per_hour``.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.lean import json
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout, read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1


class WakeRecord(NamedTuple):
    """A client that is called for a ball, at ``at_ms``. ``key`` is the participant's
    (`names.Directory.key`), ``is_stranger`` if the sender was unknown to them.

    ``is_called`` if the client received the news. ``turn_ms`` is when the session was
    then seen to begin a turn, 0 if it was not. ``failure`` is why the call failed.
    """

    client: str
    session: str
    agent: str
    key: str
    at_ms: int
    is_stranger: bool = False
    is_called: bool = False
    turn_ms: int = 0
    failure: str = ""

    def to_bytes(self) -> bytes:
        """Returns the content of its file."""
        return json.dumps({"version": VERSION} | self._asdict()).encode()

    def to_json(self) -> dict[str, Any]:
        """Returns who was called and when; ``turn_at`` and ``failure`` if known."""
        fields: dict[str, Any] = {"agent": self.agent, "at": rfc3339(self.at_ms)}
        if self.turn_ms:
            fields["turn_at"] = rfc3339(self.turn_ms)
        return fields | ({"failure": self.failure} if self.failure else {})


def path_of(layout: Layout, name: str) -> str:
    """Returns the path of the record of a ball."""
    return f"{private_layout(layout).wakes}/{name}"


def names(layout: Layout) -> frozenset[str]:
    """Returns the names of all records; none if they cannot be read."""
    try:
        private = private_layout(layout)
        return frozenset(names_in(private.wakes, private.root))
    except WcError:
        return frozenset()


def load(layout: Layout, name: str) -> WakeRecord | None:
    """Returns the record of a ball; ``None`` if there is none, or it cannot be
    read."""
    path, root = path_of(layout, name), private_layout(layout).root
    return read_record(path, root, VERSION, WakeRecord)


def calls_of(layout: Layout, key: str, now_ms: int, within_ms: int) -> list[WakeRecord]:
    """Returns a participant's records of the last ``within_ms``, oldest first. Records
    further in the future, from before a clock was set back, do not count."""
    loaded = (load(layout, name) for name in names(layout))
    calls = [
        record
        for record in loaded
        if record is not None
        if record.key == key and abs(now_ms - record.at_ms) < within_ms
    ]
    return sorted(calls, key=lambda record: record.at_ms)


def number_of_calls(calls: Iterable[WakeRecord]) -> int:
    """Returns how often someone was woken: several balls at once are one call."""
    return len({record.at_ms for record in calls})
