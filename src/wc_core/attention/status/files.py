"""The small files by which balls are found without reading threads.

The status line, briefs and waiting sessions read them; the writer keeps them under
``<store>/.local/``. This module has their formats.

The same file for each thread that is not CLOSED, once by its holder and once for each
of its places (`wc_core.attention.status.places`), usually two or three in all::

    status/holder/<holder>/<since>.<topic>
    status/branch/<place>/.t/<holder>/<since>.<topic>

and an empty file for each open question, by who is asked::

    status/asked/<asked>/<id of the question>.<topic>

``<holder>`` is the key of who has the ball, made `layout.safe_name`, or ``=free``. Of
a thread that waits for another it is ``=waiting``, with the name of the other in the
place of the holder, and there is no file below ``status/holder``.
``<since>`` is the ULID of the entry that gave it, so names sort by how long
the ball has been there and a folder's names tell who has waited longest.
``<place>`` is one folder for each part of a branch's name; ``.t`` cannot be a part
of one. The lines::

    wc1 IN_REVIEW               version of this format, status
    feature-auth                topic, for display
    Codex@fix (pat)             holder, for display; empty where it is free
    2 claudecode(pat)           entries that are NEW for that participant
    0 codex@fix(pat)
    7 *                         … and for everyone who is not listed
"""

from __future__ import annotations

from wc_core.attention.status.line import (
    holder_text,
    status_text,
    topic_text,
    waits_text,
)
from wc_core.attention.status.places import places_of
from wc_core.base import ulid
from wc_core.base.layout import safe_name
from wc_core.base.names import Directory, parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.nextmoves import BALL, QUESTION, next_moves
from wc_core.ledger.threads.model import CLOSED, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION = "wc1"
FREE_FOLDER = "=free"
WAITING_FOLDER = "=waiting"

# One read for each of thousands of files.
MAX_FILE_BYTES = 1024

# The name of a thread whose log has no usable id: it sorts as the longest waiting.
UNKNOWN_ID = "0" * ulid.LENGTH


class StatusView(NamedTuple):
    """A thread for the status line.

    ``new`` counts the NEW entries by identity key (`Directory.key`), zeros included,
    for every participant and everyone with a read cursor. ``waits`` are the names of
    the threads that it waits for.
    """

    state: State
    new: Mapping[str, int]
    directory: Directory = Directory()
    waits: tuple[str, ...] = ()


def holder_key(state: State, directory: Directory) -> str | None:
    """Returns the key of the holder; ``None`` if the ball is free."""
    if not (state.ball and state.ball.strip()):
        return None
    return directory.key(parse(state.ball))


def file_name(state: State) -> str:
    """Returns the name of a thread's status files: since when, then its topic."""
    since = ulid.prefix(state.since) or ulid.prefix(state.last_id) or UNKNOWN_ID
    return f"{since}.{safe_name(state.topic)}"


def status_files(view: StatusView) -> dict[str, bytes]:
    """Returns the status files of one thread by their paths relative to ``.local/``.

    A CLOSED thread has none. The writer removes files that are no longer among the
    paths.
    """
    state = view.state
    if state.status == CLOSED:
        return {}
    key = holder_key(state, view.directory)
    folder = FREE_FOLDER if key is None else safe_name(key)
    # A thread that waits for another one requires no one to act.
    name = f"{WAITING_FOLDER if view.waits else folder}/{file_name(state)}"
    at_places = [f"status/branch/{place}/.t/{name}" for place in places_of(state)]
    moves = next_moves(state, view.waits)
    # A free ball is nobody's move, but is listed, too.
    is_listed = (key is None and not view.waits) or any(m.kind == BALL for m in moves)
    at_holder = [f"status/holder/{name}"] if is_listed else []
    contents = dict.fromkeys([*at_holder, *at_places], _file_content(view))
    question_files = (
        f"status/asked/{safe_name(view.directory.key(parse(move.participant)))}/"
        f"{question_name(state.topic, move.since)}"
        for move in moves
        if move.kind == QUESTION
    )
    return contents | dict.fromkeys(question_files, b"")


def question_name(topic: str, question: str) -> str:
    """Returns the name of the file of a question, by the id of its entry."""
    return f"{ulid.prefix(question) or UNKNOWN_ID}.{safe_name(topic)}"


def _file_content(view: StatusView) -> bytes:
    state = view.state
    holder = waits_text(view.waits) if view.waits else holder_text(state)
    lines = [f"{VERSION} {status_text(state)}", topic_text(state), holder]
    size = sum(len(line.encode()) + 1 for line in lines)
    everybody_else = f"{state.entry_count} *"
    room = MAX_FILE_BYTES - len(everybody_else) - 1
    for key, count in _most_recent_first(view):
        line = f"{count} {safe_name(key)}"
        size += len(line.encode()) + 1
        if size > room:
            # A participant is left out. Without the last line their count is unknown;
            # with it, it would be wrong.
            break
        lines.append(line)
    else:
        lines.append(everybody_else)
    return "".join(f"{line}\n" for line in lines).encode()


def _most_recent_first(view: StatusView) -> Iterator[tuple[str, int]]:
    """Yields the counts of those who wrote last, then everyone else's."""
    keys = [
        view.directory.key(parse(participant.name))
        for participant in reversed(view.state.participants)
    ]
    for key in dict.fromkeys((*keys, *view.new)):
        if key in view.new:
            yield key, view.new[key]
