"""Records of notifications: one for each call, and the state of each target.

``notified/<person>/`` in the private folder has a file for each call, named after it,
with the targets that it must still be sent to; and `STATES`, with the last success and
the last failure of each target. Targets are identified by `Target.id`, which contains
no URL.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple, known_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.people.identity.viewer import Viewer

STATES = "=targets.json"
# It exists once the calls of a store were first checked.
LOOKED = "=looked"
# For calls without a ball or question.
NOTE_PREFIX = "note."
_MAX_BYTES = 64 * 1024
_UNREADABLE = (OSError, ValueError, TypeError, AttributeError, RecursionError)

_FIRST_PAUSE_MS = 2_000
_MAX_PAUSE_MS = 900_000
# The longest pause that a target can ask for.
_MAX_ASKED_MS = 3_600_000
_MAX_DOUBLINGS = 9


class CallRecord(NamedTuple):
    """The record of a call: when it was made, and the targets that it must still be
    sent to. For a call without a ball or question, it also has the notice."""

    at_ms: int
    pending: tuple[str, ...] = ()
    reason: str = ""
    topic: str = ""
    text: str = ""
    urgent: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields of the file."""
        return self._asdict()


class TargetState(NamedTuple):
    """The state of a target. After ``failures`` in a row it is tried again at
    ``next_ms``; ``problem`` is why the last one failed."""

    label: str = ""
    sent_ms: int = 0
    sent: str = ""
    failures: int = 0
    failed_ms: int = 0
    next_ms: int = 0
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fields of the file."""
        return self._asdict()

    def pause_ms(self, now_ms: int) -> int:
        """How long it is not tried. A time beyond the longest pause was written before
        the clock was set back, and does not count."""
        pause = self.next_ms - now_ms
        return pause if 0 < pause <= _MAX_ASKED_MS else 0

    def after_success(self, now_ms: int, heading: str) -> TargetState:
        """The state after something was sent."""
        return TargetState(self.label, now_ms, heading)

    def after_failure(self, now_ms: int, problem: str, pause_ms: int) -> TargetState:
        """The state after a failure. The pause doubles with each; the target may ask
        for a longer one (``pause_ms``)."""
        doubled = _FIRST_PAUSE_MS << min(self.failures, _MAX_DOUBLINGS)
        demanded = min(pause_ms, _MAX_ASKED_MS)
        pause = max(min(doubled, _MAX_PAUSE_MS), demanded)
        return self._replace(
            failures=self.failures + 1,
            failed_ms=now_ms,
            next_ms=now_ms + pause,
            problem=problem,
        )


def folder_of(layout: Layout, viewer: Viewer) -> str:
    """The folder with the records of a person."""
    return f"{layout.notified}/{safe_name(viewer.key)}"


def record_names(folder: str, root: str) -> list[str]:
    """The names of the records; none if the folder cannot be read."""
    try:
        return [name for name in names_in(folder, root) if not name.startswith("=")]
    except WcError:
        return []


def load_record(folder: str, name: str, root: str) -> CallRecord | None:
    """A record; ``None`` if it does not exist or cannot be used."""
    fields = _fields(f"{folder}/{name}", root)
    try:
        pending = tuple(map(str, fields["pending"]))
        fields = known_fields(CallRecord, fields) | {"pending": pending}
        record = CallRecord(**fields)
    except (*_UNREADABLE, LookupError):
        return None
    return record if _has_types_of(record, CallRecord(0)) else None


def load_states(folder: str, root: str) -> dict[str, TargetState]:
    """The state of each target by its id."""
    states = {}
    for target, fields in _fields(f"{folder}/{STATES}", root).items():
        try:
            state = TargetState(**known_fields(TargetState, fields))
        except AttributeError:
            continue  # no record
        if _has_types_of(state, TargetState()):
            states[target] = state
    return states


def _has_types_of(record: tuple[object, ...], example: tuple[object, ...]) -> bool:
    """Whether the fields of a record have the right types."""
    return list(map(type, record)) == list(map(type, example))


def _fields(path: str, root: str) -> Mapping[str, Any]:
    try:
        data = read_plain(path, root) or b"{}"
        fields = json.loads(data) if len(data) <= _MAX_BYTES else {}
    except _UNREADABLE:
        return {}
    return fields if isinstance(fields, dict) else {}
