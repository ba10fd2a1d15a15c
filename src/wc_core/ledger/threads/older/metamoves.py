"""Moves of the older tool, which it writes to ``meta.json`` and not to the log.

Its changes of ball and status there since wc wrote the file become an entry of the log.
This entry has the same id in all clones, so if two record a move, it exists once.
"""

from __future__ import annotations

from wc_core.base import names, times, ulid
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.model import Ball, Entry, holder_text, written_by_wc
from wc_core.ledger.threads.projections import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.projections import Meta

REASON = "recorded from meta.json, where another tool wrote it"

# The older tool writes an entry and, immediately after it, the ball that it moves.
_SAME_WRITE_MS = 2000


def unrecorded_move(topic: str, meta: Meta, entries: Sequence[Entry]) -> Entry | None:
    """The entry that records what the older tool changed in ``meta``; ``None`` if it
    changed nothing, or if ``entries``, those of the log, already have it.

    Its ``agent`` is empty if the log does not show whose move it was. The file counts
    only if the older tool wrote all of it: not if it is from wc, however old, nor if it
    was edited by hand or merged by git. A log without an entry of wc needs no record:
    the first entry has the fields of the file as its ``base``.
    """
    base, moment_ms = meta.base, times.milliseconds(meta.updated_at)
    if not meta.rewritten or base is None or not written_by_wc(entries):
        return None
    if moment_ms is None or moment_ms < 0:
        return None
    shown = meta.shown or _shown_by_log(topic, entries, moment_ms)
    if shown is None:
        return None
    status = base.status if base.status != shown.status else None
    moved = names.fold(base.ball or "") != names.fold(shown.ball or "")
    if status is None and not moved:
        return None
    move = Entry(
        id=_id(topic, shown.last_id, moment_ms, (status, moved, base.ball)),
        topic=topic,
        agent=_author(shown, entries, moment_ms),
        at=times.rfc3339(moment_ms),
        title=_title(status, base.ball, moved=moved),
        action="handoff" if moved else "set_status",
        ball=Ball(base.ball) if moved else None,
        status=status,
        reason=REASON,
    )
    return None if _is_recorded(move, entries) else move


def to_line(move: Entry, meta: Meta) -> bytes:
    """The line of the log for a move that is only in ``meta``: the same bytes wherever
    it is recorded."""
    return codec.to_line(move, meta.entry_count)


def with_move(state: State, entries: Iterable[Entry], move: Entry) -> State:
    """The ``state`` of a log with ``entries``, with the ball and the status that it has
    once ``move`` is recorded."""
    after = folding.fold(state.topic, in_effect_order((*entries, move)))
    return state._replace(ball=after.ball, since=after.since, status=after.status)


def _shown_by_log(topic: str, entries: Sequence[Entry], moment_ms: int) -> Shown | None:
    """The ball and status in a file without our part: the fold of the log, if the older
    tool wrote the file together with the last entry."""
    *before, latest = entries
    if latest.is_by_wc or not _is_same_write(latest, moment_ms):
        return None
    state = folding.fold(topic, entries)
    return Shown(state.status, state.ball, before[-1].id if before else "")


def _id(
    topic: str,
    last_id: str,
    moment_ms: int,
    change: tuple[str | None, bool, str | None],
) -> str:
    """The id of the entry for a change made at ``moment_ms``, after ``last_id``."""
    from hashlib import sha256  # 2.7 ms, only after a move of the older tool

    digest = sha256(dumps([topic, last_id, moment_ms, *change]).encode()).digest()
    random = int.from_bytes(digest[: ulid.RANDOM_BITS // 8], "big")
    return ulid.successor(ulid.prefix(last_id), moment_ms, random)


def _is_recorded(move: Entry, entries: Sequence[Entry]) -> bool:
    """Whether a log has a move, or it would be the last entry and change nothing."""
    if any(entry.id == move.id for entry in entries):
        return True
    if any(entry.id > move.id for entry in entries):
        return False
    state = folding.fold(move.topic, entries)
    is_moved = move.ball is not None and move.ball.holder != state.ball
    return not is_moved and move.status in (None, state.status)


def _author(shown: Shown, entries: Iterable[Entry], moment_ms: int) -> str:
    """Who changed what the file had ``shown``: the author of the entry that the older
    tool wrote with it, at ``moment_ms``; empty if there is none."""
    author = ""
    for entry in entries:
        is_later = entry.id > shown.last_id and not entry.is_by_wc
        if is_later and _is_same_write(entry, moment_ms):
            author = entry.agent
    return author


def _is_same_write(entry: Entry, moment_ms: int) -> bool:
    """Whether the older tool can have written an entry and, at ``moment_ms``, a file in
    one command."""
    written_ms = times.milliseconds(entry.at)
    return written_ms is not None and abs(written_ms - moment_ms) <= _SAME_WRITE_MS


def _title(status: str | None, holder: str | None, *, moved: bool) -> str:
    parts = [f"Ball to {holder_text(holder)}"] if moved else []
    parts += [f"Status {status}"] if status is not None else []
    return ", ".join(parts)
