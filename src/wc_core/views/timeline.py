"""Who held the ball when, drawn to scale: the spans of threads in one window.

A span is a time in which one name held the ball and the status stayed. Those
of a thread follow each other without a gap from its first entry to now, and
end where its fold does; see `wc_core.views.history` for what a moment is.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import times
from wc_core.names import parse
from wc_core.threads.model import OPEN, written_by_wc
from wc_core.views import history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wc_core.names import Directory
    from wc_core.threads.model import Entry, State
    from wc_core.threads.reader import Thread
    from wc_core.views.history import Spell

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
# The distances ticks may have, in milliseconds; from months on, in months.
_STEPS = (
    *(one * _MINUTE for one in (1, 2, 5, 10, 15, 30)),
    *(one * _HOUR for one in (1, 2, 3, 6, 12)),
    *(one * _DAY for one in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 600, 1200, 6000, 12000)
_MONTH = 30 * _DAY
# 1970-01-05 was a Monday.
_MONDAY = 4 * _DAY


class BallSpan(NamedTuple):
    """A time in which ``holder`` (``None``: nobody) had the ball of a thread
    that was ``status``, in milliseconds since 1970; ``entries`` counts what
    was written meanwhile. What an older tool did is not ``known``."""

    holder: str | None
    since: int
    until: int
    status: str = OPEN
    entries: int = 0
    known: bool = True

    @property
    def ms(self) -> int:
        """How long it lasted."""
        return self.until - self.since

    def to_json(self) -> dict[str, Any]:
        """The span of the timeline shape."""
        fields: dict[str, Any] = {
            "holder": self.holder,
            "since": times.rfc3339(self.since),
            "until": times.rfc3339(self.until),
            "seconds": self.ms // 1000,
            "status": self.status,
            "entries": self.entries,
        }
        return fields if self.known else fields | {"known": False}


class Track(NamedTuple):
    """A thread and its spans, the first one first; none without entries."""

    topic: str
    title: str
    status: str
    ball: str | None
    spans: tuple[BallSpan, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The thread of the timeline shape."""
        return {
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "spans": [one.to_json() for one in self.spans],
        }


class Chart(NamedTuple):
    """Tracks in one window of time, cut to it.

    ``holders`` are the names in it, the one that held longest in all first,
    each as it was last spelt; ``colours`` gives every spelling the position of
    its name there. ``total`` counts those that a limit left out as well.
    """

    since: int
    until: int
    tracks: tuple[Track, ...] = ()
    holders: tuple[str, ...] = ()
    colours: Mapping[str, int] = {}
    total: int = 0

    def to_json(self, store: str) -> dict[str, Any]:
        """The timeline shape."""
        fields: dict[str, Any] = {
            "store": store,
            "since": times.rfc3339(self.since),
            "until": times.rfc3339(self.until),
            "holders": list(self.holders),
            "threads": [one.to_json() for one in self.tracks],
        }
        if self.total > len(self.tracks):
            fields |= {"total": self.total, "truncated": True}
        return fields

    def place(self, moment: int, width: float) -> float:
        """Where a moment stands on an axis so wide."""
        length = max(1, self.until - self.since)
        return (moment - self.since) / length * width


class Tick(NamedTuple):
    """A moment on an axis, in UTC, and what stands there."""

    at: int
    label: str


def of_thread(thread: Thread, now_ms: int, directory: Directory) -> Track:
    """The track of a thread, its names compared as the directory does."""
    state = thread.state
    found = spans(state, thread.entries, now_ms, _keys(directory))
    return Track(state.topic, state.title, state.status, state.ball, found)


def _keys(directory: Directory) -> Callable[[str], str]:
    return lambda one: directory.key(parse(one))


def spans(
    state: State, entries: Sequence[Entry], now_ms: int, key: Callable[[str], str]
) -> tuple[BallSpan, ...]:
    """The spans of a thread with this state and these entries, in order;
    ``key`` gives two spellings of one name the same value."""
    spells = history.history(state, entries, now_ms, key).spells
    if not spells:
        return ()
    moments = history.moments(entries, now_ms)
    # The first entry of each spell, and of none after the last.
    firsts = [
        one.idx if one.idx >= 0 else bisect_left(moments, one.start) for one in spells
    ]
    statuses = _statuses(state, entries)
    found: list[BallSpan] = []
    for one, first, end in zip(
        spells, firsts, [*firsts[1:], len(entries)], strict=True
    ):
        for part in _split(one, range(first, end), moments, statuses):
            if found and _goes_on(found[-1], part):
                count = found[-1].entries + part.entries
                found[-1] = found[-1]._replace(until=part.until, entries=count)
            else:
                found.append(part)
    return tuple(found)


def _goes_on(one: BallSpan, following: BallSpan) -> bool:
    """Whether nothing changed between two: the ball was said to be where it
    was known to be."""
    same = one.holder == following.holder and one.status == following.status
    return same and one.known == following.known


def _statuses(state: State, entries: Sequence[Entry]) -> list[str]:
    """The status after each entry."""
    base = next((one.base for one in entries if one.base is not None), None)
    status = OPEN if written_by_wc(entries) else state.status
    if base is not None:
        status = base.status
    found = []
    for one in entries:
        status = one.status or status
        found.append(status)
    return found


def _split(
    spell: Spell, inside: range, moments: Sequence[int], statuses: Sequence[str]
) -> Iterator[BallSpan]:
    """A spell with the entries ``inside`` it, cut where the status changed."""
    cuts = [
        idx
        for idx in inside
        if idx == inside.start or statuses[idx] != statuses[idx - 1]
    ]
    for cut, following in zip(cuts, [*cuts[1:], inside.stop], strict=True):
        since = spell.start if cut == inside.start else moments[cut]
        until = spell.end if following == inside.stop else moments[following]
        count = following - cut
        yield BallSpan(
            spell.holder, since, until, statuses[cut], count, known=spell.known
        )


def chart(
    tracks: Iterable[Track],
    directory: Directory,
    since: int | None = None,
    limit: int = 0,
) -> Chart:
    """Tracks side by side, from their first entry on, or from ``since``; at
    most ``limit`` (0: all) of them, the first ones."""
    every = list(tracks)
    shown = every[: limit or None]
    known = [one for track in shown for one in track.spans]
    if not known:
        return Chart(0, 0, tuple(shown), total=len(every))
    start = min(one.since for one in known)
    end = max(one.until for one in known)
    if since is not None:
        start = min(end, max(start, since))
    cut = tuple(one._replace(spans=clipped(one.spans, start)) for one in shown)
    return Chart(start, end, cut, *_holders(cut, _keys(directory)), len(every))


def clipped(found: Iterable[BallSpan], since: int) -> tuple[BallSpan, ...]:
    """What of the spans is not before ``since``."""
    return tuple(
        one._replace(since=max(one.since, since)) for one in found if one.until >= since
    )


def _holders(
    tracks: Iterable[Track], key: Callable[[str], str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    spelt: dict[str, str] = {}
    held: dict[str, int] = {}
    for track in tracks:
        for one in track.spans:
            if one.holder is not None and one.known:
                spelt.setdefault(one.holder, key(one.holder))
                held[one.holder] = held.get(one.holder, 0) + one.ms
    total: dict[str, int] = {}
    for name, who in spelt.items():
        total[who] = total.get(who, 0) + held[name]
    order = sorted(total, key=lambda who: (-total[who], who))
    last = {who: name for name, who in spelt.items()}
    places = {who: place for place, who in enumerate(order)}
    return (
        tuple(last[who] for who in order),
        {name: places[who] for name, who in spelt.items()},
    )


def ticks(since: int, until: int, most: int) -> list[Tick]:
    """At most ``most`` round moments between two, in UTC: the date where a day
    begins, else the time; the year where one begins or only years count."""
    length, most = max(1, until - since), max(1, most)
    step = next((one for one in _STEPS if length // one < most), 0)
    if not step:
        return _months(since, until, most)
    origin = _MONDAY if step % (7 * _DAY) == 0 else 0
    first = -((origin - since) // step) * step + origin
    return [Tick(at, _label(at)) for at in range(first, until + 1, step)][:most]


def _label(at: int) -> str:
    form = "%H:%M" if at % _DAY else "%b %d"
    return time.strftime(form, time.gmtime(at // 1000))


def _months(since: int, until: int, most: int) -> list[Tick]:
    """Ticks where months begin."""
    length = until - since
    step = next((n for n in _MONTHS if length // (n * _MONTH) < most), _MONTHS[-1])
    start = time.gmtime(since // 1000)
    month = -(-(start.tm_year * 12 + start.tm_mon - 1) // step) * step
    found: list[Tick] = []
    while (at := _begin(month)) <= until and len(found) < most:
        form = "%Y" if month % 12 == 0 else "%b"
        if at >= since:
            found.append(Tick(at, time.strftime(form, time.gmtime(at // 1000))))
        month += step
    return found


def _begin(month: int) -> int:
    """When a month begins, counted from the year 0."""
    from calendar import timegm  # years of history are rare

    return timegm((month // 12, month % 12 + 1, 1, 0, 0, 0)) * 1000
