"""The holders of a thread's ball, and for how long: a fold of its entries.

Times come from the entries' ids, which order the log; only an id without a time uses
its timestamp. A clock that ran backwards gives a spell of no length, one that ran ahead
ends with the next entry, or now: spells follow each other without a gap from the first
entry to now, whatever the log contains.
"""

from __future__ import annotations

from wc_core.base import times
from wc_core.base.names import parse
from wc_core.base.phrases import Table, counted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import holder_text, written_by_wc
from wc_core.reading.views.entries import is_early, thread_head
from wc_core.reading.views.holding import moment_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import Thread


class Spell(NamedTuple):
    """A period in which one name held the ball, or no one did (``None``).

    ``start`` and ``end`` are milliseconds since 1970. ``by`` wrote the entry that
    passed it, ``entry_id``, at position ``idx``; empty and -1 if no entry did.
    ``known`` is false for the period before an older tool's log first mentions the
    ball. ``doubtful`` says that a wrong clock dated its entry.
    """

    holder: str | None
    start: int
    end: int
    by: str = ""
    idx: int = -1
    entry_id: str = ""
    known: bool = True
    doubtful: bool = False

    @property
    def ms(self) -> int:
        """Its length in milliseconds."""
        return self.end - self.start

    def to_json(self) -> dict[str, Any]:
        """Returns the spell in the history shape, with its entry if there is one."""
        fields: dict[str, Any] = {
            "holder": self.holder,
            "since": times.rfc3339(self.start),
            "seconds": self.ms // 1000,
        }
        if self.entry_id:
            fields |= {"by": self.by, "idx": self.idx, "entry_id": self.entry_id}
        if not self.known:
            fields["known"] = False
        if self.doubtful:
            fields["doubtful"] = True
        return fields


class HolderTotal(NamedTuple):
    """All known spells of one holder (``None``: no one)."""

    holder: str | None
    spells: int
    ms: int


class BallHistory(NamedTuple):
    """The spells of a thread in order; none without entries.

    ``changes`` counts how often the ball went to another holder, was released or taken;
    ``bounces`` how often a holder passed it straight back.
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
        """The longest time that one name held it; if several are equal, the last."""
        held = [spell for spell in self.spells if spell.holder is not None]
        return max(reversed(held), key=lambda spell: spell.ms, default=None)

    def holders(self) -> list[HolderTotal]:
        """Returns everyone who ever held it, and the time it was free, longest total
        first."""
        lengths: dict[str | None, list[int]] = {}
        for spell in self.spells:
            if spell.known:
                lengths.setdefault(spell.holder, []).append(spell.ms)
        totals = [
            HolderTotal(holder, len(parts), sum(parts))
            for holder, parts in lengths.items()
        ]
        return sorted(totals, key=lambda total: (-total.ms, total.holder or ""))

    @property
    def free_ms(self) -> int:
        """How long no one held it, in milliseconds."""
        return sum(
            spell.ms for spell in self.spells if spell.known and spell.holder is None
        )

    def to_json(self, thread: Thread, store: str, limit: int = 0) -> dict[str, Any]:
        """Returns the history shape: the head of the read shape, totals, and the
        latest ``limit`` (0: all) of its spells and holders."""
        longest, holders = self.longest, self.holders()
        fields = thread_head(thread, store) | {
            "entry_count": len(thread.entries),
            "changes": self.changes,
            "bounces": self.bounces,
            "free_seconds": self.free_ms // 1000,
            "longest": None if longest is None else longest.to_json(),
            "holders": [
                {
                    "holder": holder.holder,
                    "spells": holder.spells,
                    "seconds": holder.ms // 1000,
                }
                for holder in holders[: limit or None]
            ],
            "total": len(self.spells),
            "spells": [spell.to_json() for spell in self.spells[-limit:]],
        }
        if limit and max(len(self.spells), len(holders)) > limit:
            fields["truncated"] = True
        return fields


def thread_history(thread: Thread, now_ms: int, directory: Directory) -> BallHistory:
    """Returns the history of a thread, with names compared as the directory does."""
    return ball_history(
        thread.state, thread.entries, now_ms, lambda name: directory.key(parse(name))
    )


def ball_history(
    state: State, entries: Sequence[Entry], now_ms: int, key: Callable[[str], str]
) -> BallHistory:
    """Returns the history of a thread with this state and these entries, in order.

    ``key`` maps two spellings of one name to the same value.
    """
    if not entries:
        return BallHistory()
    moments, doubtful = entry_moments(entries, now_ms), doubtful_places(entries, now_ms)
    starts = [
        spell._replace(doubtful=spell.idx in doubtful)
        for spell in _begun_spells(state, entries, moments)
    ]
    ends = [spell.start for spell in starts[1:]] + [now_ms]
    spells = tuple(
        spell._replace(end=end) for spell, end in zip(starts, ends, strict=True)
    )
    return BallHistory(spells, *_count_moves(spells, key))


def entry_moments(entries: Sequence[Entry], now_ms: int) -> list[int]:
    """Returns a time for each entry, never before the previous one nor after now."""
    own = [moment_of(entry.id, entry.at) for entry in entries]
    following = now_ms
    for idx, moment in reversed([*enumerate(own)]):
        if moment is not None and times.is_ahead(moment, now_ms):
            own[idx] = following
        elif moment is not None:
            following = moment
    latest = next((moment for moment in own if moment is not None), now_ms)
    result = []
    for moment in own:
        latest = latest if moment is None else max(latest, moment)
        result.append(min(latest, now_ms))
    return result


def doubtful_places(entries: Iterable[Entry], now_ms: int) -> set[int]:
    """Returns the positions of the entries that a wrong clock dated."""
    places = set()
    for idx, entry in enumerate(entries):
        moment = moment_of(entry.id, entry.at)
        is_ahead = moment is not None and times.is_ahead(moment, now_ms)
        if is_ahead or is_early(entry):
            places.add(idx)
    return places


def _begun_spells(
    state: State, entries: Sequence[Entry], when: Sequence[int]
) -> Iterator[Spell]:
    """Yields each spell with its start; its end is set later."""
    first = next((i for i, item in enumerate(entries) if item.is_by_wc), len(entries))
    last_foreign = max(0, first - 1)
    if when[last_foreign] > when[0]:
        yield Spell(None, when[0], 0, known=False)
    holder = _first_holder(state, entries)
    if first > 0 or entries[0].ball is None:
        yield Spell(holder, when[last_foreign], 0)
    by_entry = False
    for idx, entry in enumerate(entries):
        if entry.ball is None or (by_entry and entry.ball.holder == holder):
            continue
        by_entry, holder = True, entry.ball.holder
        yield Spell(holder, when[idx], 0, entry.agent, idx, entry.id)


def _first_holder(state: State, entries: Sequence[Entry]) -> str | None:
    """Returns the holder before any entry names one: as recorded when wc first
    continued an older tool's thread, otherwise as in that tool's files."""
    base = next((entry.base for entry in entries if entry.base is not None), None)
    if base is not None:
        return base.ball or None
    return None if written_by_wc(entries) else state.ball


def _count_moves(spells: Iterable[Spell], key: Callable[[str], str]) -> tuple[int, int]:
    """Returns how often the ball changed hands, and how often it bounced."""
    held: list[str | None] = []
    for spell in spells:
        holder = None if spell.holder is None else key(spell.holder)
        if spell.known and (not held or held[-1] != holder):
            held.append(holder)
    bounces = sum(
        1
        for first, second, third in zip(held, held[1:], held[2:], strict=False)
        if first == third and None not in {first, second}
    )
    return max(0, len(held) - 1), bounces


def history_facts(fields: dict[str, Any]) -> list[str]:
    """Returns a few short facts from the history shape."""
    facts = [
        f"changed hands {counted(fields['changes'], 'time')}",
        f"bounced {counted(fields['bounces'], 'time')}",
        f"free for {times.span(fields['free_seconds'])}",
    ]
    if fields["spells"]:
        current = fields["spells"][-1]
        since = f"for {times.span(current['seconds'])}"
        if current.get("doubtful"):
            since = "since a doubtful time"
        facts.insert(0, f"there {since}")
    return facts


def history_table(fields: dict[str, Any]) -> Table:
    """Returns the spells of the history shape as a table."""
    return Table(("BALL", "SINCE", "FOR", "BY"), tuple(map(_row, fields["spells"])))


def _row(spell: dict[str, Any]) -> tuple[str, ...]:
    return (
        holder_text(spell["holder"]) if spell.get("known", True) else "?",
        "doubtful time" if spell.get("doubtful") else spell["since"],
        times.span(spell["seconds"]),
        f"{spell['by'] or '?'} #{spell['idx']}" if "by" in spell else "",
    )
