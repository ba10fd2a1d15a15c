"""Who held the ball of a thread, and for how long: a fold of its entries.

Moments are those of the entries' ids, which give a log its order; only an id
without a time in it takes that of its timestamp. A clock that ran backwards
makes a spell of no length, one that ran ahead ends now: spells follow each
other without a gap from the first entry to now, whatever the log says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import times, ulid
from wc_core.names import parse
from wc_core.phrases import Table, counted
from wc_core.threads.model import CLOSED, written_by_wc
from wc_core.threads.moves import holder_text
from wc_core.views.rows import thread_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wc_core.names import Directory
    from wc_core.threads.model import Entry, State
    from wc_core.threads.reader import Thread

STALE_MS = 2 * 24 * 3600 * 1000


class Spell(NamedTuple):
    """A time in which one name held the ball, or nobody did (``None``).

    ``start`` and ``end`` are milliseconds since 1970. ``by`` wrote the entry
    that put it there, ``entry_id``, at position ``idx``; empty and -1 where no
    entry did. What an older tool did before the log says anything of the ball
    is not ``known``.
    """

    holder: str | None
    start: int
    end: int
    by: str = ""
    idx: int = -1
    entry_id: str = ""
    known: bool = True

    @property
    def ms(self) -> int:
        """How long it lasted."""
        return self.end - self.start

    def to_json(self) -> dict[str, Any]:
        """The spell of the history shape; its entry only where there is one."""
        fields: dict[str, Any] = {
            "holder": self.holder,
            "since": times.rfc3339(self.start),
            "seconds": self.ms // 1000,
        }
        if self.entry_id:
            fields |= {"by": self.by, "idx": self.idx, "entry_id": self.entry_id}
        if not self.known:
            fields["known"] = False
        return fields


class HolderTotal(NamedTuple):
    """All the spells of one holder (``None``: nobody), as far as known."""

    holder: str | None
    spells: int
    ms: int


class BallHistory(NamedTuple):
    """The spells of a thread, the first one first; none without entries.

    ``changes`` counts how often it went to another holder, or was let go or
    taken; ``bounces`` how often somebody got it straight back from the one
    they had passed it to.
    """

    spells: tuple[Spell, ...] = ()
    changes: int = 0
    bounces: int = 0

    @property
    def current(self) -> Spell | None:
        """The spell that has not ended."""
        return self.spells[-1] if self.spells else None

    @property
    def longest(self) -> Spell | None:
        """The longest time that one name held it; of equal ones the last."""
        held = [one for one in self.spells if one.holder is not None]
        return max(reversed(held), key=lambda one: one.ms, default=None)

    def holders(self) -> list[HolderTotal]:
        """Everybody who ever had it, and the time it was free; the longest
        in all first."""
        found: dict[str | None, list[int]] = {}
        for one in self.spells:
            if one.known:
                found.setdefault(one.holder, []).append(one.ms)
        each = [
            HolderTotal(holder, len(parts), sum(parts))
            for holder, parts in found.items()
        ]
        return sorted(each, key=lambda one: (-one.ms, one.holder or ""))

    @property
    def free_ms(self) -> int:
        """How long nobody had it."""
        return sum(one.ms for one in self.spells if one.known and one.holder is None)

    def to_json(self, thread: Thread, store: str, limit: int = 0) -> dict[str, Any]:
        """The history shape: the head of the read shape, what it comes to, and
        the latest ``limit`` (0: all) of its spells and of its holders."""
        longest, holders = self.longest, self.holders()
        fields = thread_head(thread, store) | {
            "entry_count": len(thread.entries),
            "changes": self.changes,
            "bounces": self.bounces,
            "free_seconds": self.free_ms // 1000,
            "longest": None if longest is None else longest.to_json(),
            "holders": [
                {"holder": one.holder, "spells": one.spells, "seconds": one.ms // 1000}
                for one in holders[: limit or None]
            ],
            "total": len(self.spells),
            "spells": [one.to_json() for one in self.spells[-limit:]],
        }
        if limit and max(len(self.spells), len(holders)) > limit:
            fields["truncated"] = True
        return fields


def of_thread(thread: Thread, now_ms: int, directory: Directory) -> BallHistory:
    """The history of a thread, its names compared as the directory does."""
    return history(
        thread.state, thread.entries, now_ms, lambda one: directory.key(parse(one))
    )


def history(
    state: State, entries: Sequence[Entry], now_ms: int, key: Callable[[str], str]
) -> BallHistory:
    """The history of a thread with this state and these entries, in order.

    ``key`` gives two spellings of one name the same value.
    """
    if not entries:
        return BallHistory()
    starts = list(_starts(state, entries, moments(entries, now_ms)))
    ends = [one.start for one in starts[1:]] + [now_ms]
    spells = tuple(one._replace(end=end) for one, end in zip(starts, ends, strict=True))
    return BallHistory(spells, *_moves(spells, key))


def moments(entries: Sequence[Entry], now_ms: int) -> list[int]:
    """A moment for each entry: never before the one before it, nor after now."""
    own = [moment_of(one.id, one.at) for one in entries]
    latest = next((one for one in own if one is not None), now_ms)
    found = []
    for one in own:
        latest = latest if one is None else max(latest, one)
        found.append(min(latest, now_ms))
    return found


def moment_of(entry_id: str, at: str) -> int | None:
    """When an entry was written, in milliseconds since 1970: by its id, else
    by its timestamp; ``None`` where neither says."""
    own = ulid.prefix(entry_id)
    return ulid.milliseconds(own) if own else times.milliseconds(at)


def _starts(
    state: State, entries: Sequence[Entry], when: Sequence[int]
) -> Iterator[Spell]:
    """Each spell as it begins; its end is yet to come."""
    first = next((i for i, one in enumerate(entries) if one.ours), len(entries))
    known = max(0, first - 1)
    if when[known] > when[0]:
        yield Spell(None, when[0], 0, known=False)
    holder = _opening(state, entries)
    if first > 0 or entries[0].ball is None:
        yield Spell(holder, when[known], 0)
    told = False
    for idx, entry in enumerate(entries):
        if entry.ball is None or (told and entry.ball.holder == holder):
            continue
        told, holder = True, entry.ball.holder
        yield Spell(holder, when[idx], 0, entry.agent, idx, entry.id)


def _opening(state: State, entries: Sequence[Entry]) -> str | None:
    """The holder before any entry says one: what was written down when an older
    tool's thread was first continued, else what its own files say."""
    base = next((one.base for one in entries if one.base is not None), None)
    if base is not None:
        return base.ball or None
    return None if written_by_wc(entries) else state.ball


def _moves(spells: Iterable[Spell], key: Callable[[str], str]) -> tuple[int, int]:
    """How often the ball changed hands, and how often it bounced."""
    held: list[str | None] = []
    for one in spells:
        who = None if one.holder is None else key(one.holder)
        if one.known and (not held or held[-1] != who):
            held.append(who)
    bounces = sum(
        1
        for first, second, third in zip(held, held[1:], held[2:], strict=False)
        if first == third and None not in {first, second}
    )
    return max(0, len(held) - 1), bounces


def since_ms(state: State) -> int | None:
    """Since when a ball is where it is, in milliseconds since 1970.

    Where no entry put it there (an older tool's thread), since the last entry
    at the latest. ``None`` where nothing says.
    """
    return moment_of(state.since or state.last_id, state.updated_at)


def is_stale(state: State, now_ms: int, longer_ms: int = STALE_MS) -> bool:
    """Whether somebody has held the ball of an open thread for longer."""
    if state.status == CLOSED or state.ball is None:
        return False
    since = since_ms(state)
    return since is not None and now_ms - since > longer_ms


def summary(fields: dict[str, Any]) -> list[str]:
    """What the history shape comes to, in a few short facts."""
    facts = [
        f"changed hands {counted(fields['changes'], 'time')}",
        f"bounced {counted(fields['bounces'], 'time')}",
        f"free for {times.span(fields['free_seconds'])}",
    ]
    if fields["spells"]:
        facts.insert(0, f"there for {times.span(fields['spells'][-1]['seconds'])}")
    return facts


def table(fields: dict[str, Any]) -> Table:
    """The spells of the history shape, a row for each."""
    return Table(("BALL", "SINCE", "FOR", "BY"), tuple(map(_row, fields["spells"])))


def _row(spell: dict[str, Any]) -> tuple[str, ...]:
    return (
        holder_text(spell["holder"]) if spell.get("known", True) else "?",
        spell["since"],
        times.span(spell["seconds"]),
        f"{spell['by'] or '?'} #{spell['idx']}" if "by" in spell else "",
    )
