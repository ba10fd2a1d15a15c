"""What participants say they are doing: ``wc note``.

One small file each, for a participant in a worktree, in ``.local/presence`` of
the store: it is of this machine alone and never committed. Its name is made of
both, and nobody has to take it apart. It is JSON::

    {"version": 1, "worktree": "/home/pat/app-wt-login", "branch": "login",
     "agent": "Codex@login (pat)", "status": "running",
     "note": "writing the tests", "at": "2026-01-31T12:00:00Z", "seconds": 1800}

A note counts for ``seconds`` from ``at`` on; who reads it applies that, and
nobody has to take it back. One of a version that is not known does not count.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.errors import WcError
from wc_core.files import names_in, read_plain
from wc_core.layout import safe_name
from wc_core.text import one_line
from wc_core.threads.vocabulary import MAX_LASTING
from wc_core.times import milliseconds, rfc3339, seconds_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.layout import Layout

VERSION = 1
LASTS = 30 * 60

_MAX_BYTES = 8192
_MAX_NOTES = 1000
_TEXT = 500
_WORD = 200
_SKEW_MS = 60_000


class Note(NamedTuple):
    """What somebody said they are doing, in which worktree (its root).

    ``at_ms`` is when, ``seconds`` how long that counts.
    """

    worktree: str
    branch: str
    agent: str
    status: str
    text: str
    at_ms: int
    seconds: int = LASTS

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """The note as it is shown."""
        fields: dict[str, Any] = {"agent": self.agent, "status": self.status}
        if self.text:
            fields["note"] = self.text
        fields["at"] = rfc3339(self.at_ms)
        return fields | {"age_seconds": seconds_between(self.at_ms, now_ms)}

    def counts(self, now_ms: int) -> bool:
        """Whether it is still true, as far as its author said; a time from
        the future is no time."""
        return self.at_ms - _SKEW_MS <= now_ms < self.at_ms + self.seconds * 1000


def file_name(worktree: str, key: str) -> str:
    """The name of the file for a participant's key in a worktree."""
    return safe_name(f"{worktree}:{key}")


def render(note: Note) -> bytes:
    """The file of a note."""
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
    return f"{json.dumps(fields)}\n".encode()


def parse(data: bytes) -> Note | None:
    """The note in a file's bytes; ``None`` for anything else."""
    try:
        fields = json.loads(data)
        texts = [fields[key] for key in ("worktree", "branch", "agent", "status")]
        at, seconds = milliseconds(fields["at"]), fields["seconds"]
        note = fields["note"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    whole = all(type(one) is str for one in (*texts, note)) and type(seconds) is int
    if fields.get("version") != VERSION or at is None or not whole:
        return None
    worktree, branch, agent, status = texts
    lasts = max(0, min(seconds, MAX_LASTING))
    agent, status = one_line(agent, _WORD), one_line(status, _WORD)
    return Note(worktree, branch, agent, status, one_line(note, _TEXT), at, lasts)


def notes(layout: Layout, now_ms: int) -> list[Note]:
    """The notes that count, the latest first; what is none is left out."""
    found = [note for _, note in files(layout) if note and note.counts(now_ms)]
    return sorted(found, key=lambda one: (-one.at_ms, one.worktree, one.agent))


def files(layout: Layout) -> Iterator[tuple[str, Note | None]]:
    """Every file there is, by name, and the note in it."""
    try:
        names = names_in(layout.presence, layout.root)[:_MAX_NOTES]
    except WcError:
        return  # doctor says what is in its place
    for name in names:
        path = f"{layout.presence}/{name}"
        try:
            data = read_plain(path, layout.root, _MAX_BYTES)
        except OSError:
            data = None
        yield name, parse(data) if data is not None else None
