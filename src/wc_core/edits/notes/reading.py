"""The notes of ``wc note``, from the thread of notes.

A note is an entry of the thread `NOTES`, which no list of threads contains. Its title
is the note in one sentence, and its field ``note`` has the parts::

    {"text": "the form", "intent": "refactor", "scope": ["src/auth.py"],
     "until": "2026-01-31T12:30:00Z", "worktree": "app", "clone": "1f…",
     "place": "09…", "session": "…"}

``clone`` and ``place`` are digests of the store's and the worktree's path: paths stay
on their machine. The last note of each participant in each place counts, until its time
is up or its session has ended.
"""

from __future__ import annotations

import os

from wc_core.base.files import Folder
from wc_core.base.layout import NOTES
from wc_core.base.lean import hashlib, json
from wc_core.base.lean.functools import cache
from wc_core.base.names import parse
from wc_core.base.text import one_line
from wc_core.base.times import elapsed, milliseconds, rfc3339
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import ids, sessions
from wc_core.ledger.threads.vocabulary import MAX_LASTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout

MAX_SCOPE = 50

# Of the end of the log: hundreds of notes.
_MAX_BYTES = 1 << 18
_TEXT, _WORD = 500, 200
# Another machine's clock may be ahead by this much.
_AHEAD_MS = 24 * 3600 * 1000
_DIGITS = 16


class Note(NamedTuple):
    """What a participant says that they are doing, from ``at_ms`` until ``until_ms``.

    ``intent`` is what they are going to do with the ``scope``. ``worktree`` is the name
    of the folder, ``place`` its digest, ``session`` their session, or empty, and ``id``
    that of the entry.
    """

    agent: str
    text: str
    at_ms: int
    until_ms: int
    intent: str = ""
    scope: tuple[str, ...] = ()
    worktree: str = ""
    branch: str = ""
    clone: str = ""
    place: str = ""
    session: str = ""
    id: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Its author and place: the next note with this key replaces it."""
        return self.clone, self.place, str(parse(self.agent)).casefold()

    def sentence(self, most: int = 3) -> str:
        """Their activity on one line: intent, scope, and the text."""
        hidden = len(self.scope) - most
        paths = ", ".join(map(one_line, self.scope[:most]))
        paths += f" and {hidden} more" if hidden > 0 else ""
        purpose = " ".join(filter(None, (self.intent, paths)))
        return ": ".join(filter(None, (purpose, self.text)))

    def to_fields(self) -> dict[str, Any]:
        """The field ``note`` of its entry."""
        fields = {
            "text": self.text,
            "intent": self.intent,
            "scope": list(self.scope),
            "until": rfc3339(self.until_ms),
            "worktree": self.worktree,
            "clone": self.clone,
            "place": self.place,
            "session": self.session,
        }
        return {key: value for key, value in fields.items() if value}

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The fields of JSON output."""
        fields = {"note": self.text, "intent": self.intent, "scope": list(self.scope)}
        return {
            "agent": self.agent,
            **{key: value for key, value in fields.items() if value},
            "at": rfc3339(self.at_ms),
            "age_seconds": elapsed(self.at_ms, now_ms),
            "until": rfc3339(self.until_ms),
        }

    def is_current(self, now_ms: int) -> bool:
        """Whether it has not ended, as far as this machine knows."""
        in_time = self.at_ms - _AHEAD_MS <= now_ms < self.until_ms
        return in_time and sessions.state(self.session) != sessions.ENDED


@cache
def _machine() -> str:
    try:
        with open("/etc/machine-id", encoding="ascii", errors="replace") as file:
            machine = file.read()
    except OSError:
        machine = ""
    return f"{machine}\n{os.uname().nodename}"


def clone_of(layout: Layout) -> str:
    """The digest of this clone in its notes."""
    return _digest(_machine(), layout.root)


def place_of(layout: Layout, worktree: str) -> str:
    """The digest of a worktree of this clone in its notes."""
    return _digest(clone_of(layout), worktree)


def _digest(*parts: str) -> str:
    data = "\n".join(parts).encode(errors="surrogateescape")
    return hashlib.new("sha256", data, usedforsecurity=False).hexdigest()[:_DIGITS]


def current_notes(layout: Layout, now_ms: int) -> list[Note]:
    """Everyone's current notes, the latest first. Unreadable ones are left out."""
    latest: dict[tuple[str, str, str], Note] = {}
    for note in _notes(layout):
        before = latest.setdefault(note.key, note)
        if (before.at_ms, before.id) < (note.at_ms, note.id):
            latest[note.key] = note
    current = [note for note in latest.values() if note.is_current(now_ms)]
    return sorted(current, key=lambda note: (-note.at_ms, note.worktree, note.agent))


def _notes(layout: Layout) -> Iterator[Note]:
    """Yield the notes at the end of the thread's log."""
    try:
        with Folder(layout.folder(NOTES), layout.root) as folder:
            data = folder.tail(layout.log(NOTES), _MAX_BYTES)
    except OSError:
        return
    for line in data.split(b"\n"):
        entry = _object(line)
        note = entry.get("note")
        if isinstance(note, dict):
            names = {"agent": "agent", "at": "timestamp", "id": "entry_id"}
            names["branch"] = "code_branch"
            yield from _note(note | {k: entry.get(name) for k, name in names.items()})


def _note(fields: Mapping[str, Any]) -> Iterator[Note]:
    """Yield the note with these fields, if they are those of one."""
    texts = {
        key: one_line(value, _TEXT if key == "text" else _WORD)
        for key in Note._fields
        if type(value := fields.get(key)) is str
    }
    scope = fields.get("scope")
    paths = scope if type(scope) is list else []
    at_ms, until_ms = _moment(fields.get("at")), _moment(fields.get("until"))
    if at_ms and until_ms and texts.get("agent"):
        yield Note(
            **{"text": "", **texts},
            at_ms=at_ms,
            until_ms=min(until_ms, at_ms + 1000 * MAX_LASTING),
            scope=tuple(
                path for path in paths if type(path) is str and ids.is_canonical(path)
            )[:MAX_SCOPE],
        )


def _moment(written: object) -> int:
    return (milliseconds(written) or 0) if type(written) is str else 0


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
