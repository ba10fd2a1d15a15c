"""The notes of participants on what they are doing: ``wc note``.

Each participant in a worktree has one small file in ``.local/presence`` of the
store, on this machine alone and never committed. Its name is made of the
worktree and the participant, and is not parsed. It is JSON::

    {"version": 1, "worktree": "/home/pat/app-wt-login", "branch": "login",
     "agent": "Codex@login (pat)", "status": "running",
     "note": "writing the tests", "at": "2026-01-31T12:00:00Z", "seconds": 1800}

A note is current for ``seconds`` from ``at`` on. Readers check that, so a note
expires without being removed. A note of an unknown version is ignored. Optional fields
are ``intent``, ``scope`` (ids of files, folders and symbols), ``thread`` and
``session``, the process that the note ends with.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import json
from wc_core.base.text import one_line
from wc_core.base.times import elapsed, milliseconds, rfc3339
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.vocabulary import MAX_LASTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
DEFAULT_SECONDS = 30 * 60

MAX_SCOPE = 50

_MAX_BYTES = 1 << 16
_MAX_NOTES = 1000
_TEXT = 500
_WORD = 200
_SKEW_MS = 60_000


class Note(NamedTuple):
    """A participant's note on what they are doing in a worktree (its root).

    It was written at ``at_ms`` and is current for ``seconds``. ``intent`` is what they
    intend to do with the ``scope``; ``session`` is their session, or empty.
    """

    worktree: str
    branch: str
    agent: str
    status: str
    text: str
    at_ms: int
    seconds: int = DEFAULT_SECONDS
    intent: str = ""
    scope: tuple[str, ...] = ()
    thread: str = ""
    session: str = ""

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The fields of JSON output."""
        fields: dict[str, Any] = {"agent": self.agent, "status": self.status}
        if self.text:
            fields["note"] = self.text
        fields |= self.purpose()
        fields["at"] = rfc3339(self.at_ms)
        return fields | {"age_seconds": elapsed(self.at_ms, now_ms)}

    def purpose(self) -> dict[str, Any]:
        """The intent, the scope and the thread, if given."""
        fields = {"intent": self.intent, "scope": self.scope, "thread": self.thread}
        named = {key: value for key, value in fields.items() if value}
        return named | ({"scope": list(self.scope)} if self.scope else {})

    def sentence(self, most: int = 3) -> str:
        """Their activity on one line: intent, scope, and the text."""
        hidden = len(self.scope) - most
        paths = ", ".join(map(one_line, self.scope[:most]))
        paths += f" and {hidden} more" if hidden > 0 else ""
        purpose = " ".join(filter(None, (self.intent, paths)))
        return ": ".join(filter(None, (purpose, self.text)))

    def is_current(self, now_ms: int) -> bool:
        """Whether the note has not expired, and is not from the future."""
        return self.at_ms - _SKEW_MS <= now_ms < self.at_ms + self.seconds * 1000


def file_name(worktree: str, key: str) -> str:
    """The name of the file for a participant (by key) in a worktree."""
    return safe_name(f"{worktree}:{key}")


def fields_of(note: Note) -> dict[str, Any]:
    """The fields of a note's file."""
    fields = {
        "version": VERSION,
        "worktree": note.worktree,
        "branch": note.branch,
        "agent": note.agent,
        "status": note.status,
        "note": note.text,
        "at": rfc3339(note.at_ms),
        "seconds": note.seconds,
    }
    session = {"session": note.session} if note.session else {}
    return fields | note.purpose() | session


def render(note: Note) -> bytes:
    """A note as the bytes of its file."""
    return f"{json.dumps(fields_of(note))}\n".encode()


def parse(data: bytes) -> Note | None:
    """Decode the note in a file; ``None`` if it is not valid."""
    try:
        return note_of(json.loads(data))
    except (ValueError, RecursionError):
        return None


def note_of(fields: Any) -> Note | None:
    """The note with these fields; ``None`` if they are not valid."""
    try:
        texts = [fields[key] for key in ("worktree", "branch", "agent", "status")]
        at, seconds = milliseconds(fields["at"]), fields["seconds"]
        text = fields["note"]
    except (ValueError, KeyError, TypeError):
        return None
    is_valid = all(type(value) is str for value in (*texts, text))
    if fields.get("version") != VERSION or at is None or not is_valid:
        return None
    if type(seconds) is not int:
        return None
    worktree, branch, agent, status = texts
    duration = max(0, min(seconds, MAX_LASTING))
    agent, status = one_line(agent, _WORD), one_line(status, _WORD)
    note = Note(worktree, branch, agent, status, one_line(text, _TEXT), at, duration)
    return note._replace(
        intent=one_line(_text(fields, "intent"), _WORD),
        scope=_scope(fields.get("scope")),
        thread=one_line(_text(fields, "thread"), _WORD),
        session=one_line(_text(fields, "session"), _WORD),
    )


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key, "")
    return value if type(value) is str else ""


def _scope(value: Any) -> tuple[str, ...]:
    items = value if type(value) is list else []
    return tuple(item for item in items if type(item) is str)[:MAX_SCOPE]


def current_notes(layout: Layout, now_ms: int) -> list[Note]:
    """The notes that are current, the latest first; invalid files are left out."""
    notes = [note for _, note in read_files(layout) if note and note.is_current(now_ms)]
    return sorted(notes, key=lambda note: (-note.at_ms, note.worktree, note.agent))


def read_files(layout: Layout) -> Iterator[tuple[str, Note | None]]:
    """Read each file of a note. Yields its name and the note, ``None`` if invalid."""
    try:
        names = names_in(layout.presence, layout.root)[:_MAX_NOTES]
    except WcError:
        return  # doctor reports what is wrong with the folder
    for name in names:
        path = f"{layout.presence}/{name}"
        try:
            data = read_plain(path, layout.root, _MAX_BYTES)
        except OSError:
            data = None
        yield name, parse(data) if data is not None else None
