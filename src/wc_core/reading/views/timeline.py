"""The timeline of balls: the spans of threads in one period of time.

A span is a time in which one holder had the ball and the status stayed the same. The
spans of a thread follow each other without a gap from its first entry to now;
`wc_core.reading.views.history` defines their times.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from types import MappingProxyType

from wc_core.base import times
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import OPEN, written_by_wc
from wc_core.reading.views import history
from wc_core.reading.views.drawing.badges import badge_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Container,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from typing import Any

    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.history import Spell
    from wc_core.reading.views.rows import ThreadRow

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
# The possible distances of ticks: in milliseconds, and for months and more in months.
_STEPS = (
    *(count * _MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * _HOUR for count in (1, 2, 3, 6, 12)),
    *(count * _DAY for count in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 600, 1200, 6000, 12000)
_MONTH = 30 * _DAY
# 1970-01-05 was a Monday.
_MONDAY = 4 * _DAY


class BallSpan(NamedTuple):
    """A time in which ``holder`` (``None``: no one) had the ball of a thread with
    ``status``, in milliseconds since 1970.

    ``entries`` counts the entries written during it. ``known`` is false for what an
    older tool did. ``doubtful`` says that a wrong clock dated the entry that began it.
    """

    holder: str | None
    since: int
    until: int
    status: str = OPEN
    entries: int = 0
    known: bool = True
    doubtful: bool = False

    @property
    def ms(self) -> int:
        """Its length in milliseconds."""
        return self.until - self.since

    def to_json(self) -> dict[str, Any]:
        """Returns the span in the timeline shape."""
        fields: dict[str, Any] = {
            "holder": self.holder,
            "since": times.rfc3339(self.since),
            "until": times.rfc3339(self.until),
            "seconds": self.ms // 1000,
            "status": self.status,
            "entries": self.entries,
        }
        fields |= {} if self.known else {"known": False}
        return fields | ({"doubtful": True} if self.doubtful else {})


class Track(NamedTuple):
    """A thread and its spans in order; none without entries."""

    topic: str
    title: str
    status: str
    ball: str | None
    spans: tuple[BallSpan, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the thread in the timeline shape."""
        return {
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "spans": [span.to_json() for span in self.spans],
        }


class Chart(NamedTuple):
    """Tracks, cut to one period of time.

    ``holders`` are the names in it, longest total first, each in its latest spelling;
    ``places`` maps every spelling to the position of its name there, ``hues`` to the
    hue of its agent (`wc_core.reading.views.drawing.badges`). ``total`` also counts the
    tracks that a limit left out.
    """

    since: int
    until: int
    tracks: tuple[Track, ...] = ()
    holders: tuple[str, ...] = ()
    places: Mapping[str, int] = MappingProxyType({})
    hues: Mapping[str, int] = MappingProxyType({})
    total: int = 0

    def to_json(self, store: str) -> dict[str, Any]:
        """Returns the timeline shape."""
        fields: dict[str, Any] = {
            "store": store,
            "since": times.rfc3339(self.since),
            "until": times.rfc3339(self.until),
            "holders": list(self.holders),
            "threads": [track.to_json() for track in self.tracks],
        }
        if self.total > len(self.tracks):
            fields |= {"total": self.total, "truncated": True}
        return fields

    def place(self, moment: int, width: float) -> float:
        """Returns the position of a time on an axis of this width."""
        length = max(1, self.until - self.since)
        return (moment - self.since) / length * width


class Tick(NamedTuple):
    """A time on an axis, in UTC, and its label."""

    at: int
    label: str


def thread_track(thread: Thread, now_ms: int, directory: Directory) -> Track:
    """Returns the track of a thread, with names compared as the directory does."""
    state = thread.state
    thread_spans = ball_spans(state, thread.entries, now_ms, _keys(directory))
    return Track(thread.name, state.title, state.status, state.ball, thread_spans)


def _keys(directory: Directory) -> Callable[[str], str]:
    return lambda name: directory.key(parse(name))


def ball_spans(
    state: State, entries: Sequence[Entry], now_ms: int, key: Callable[[str], str]
) -> tuple[BallSpan, ...]:
    """Returns the spans of a thread with this state and these entries, in order.

    ``key`` maps two spellings of one name to the same value.
    """
    spells = history.ball_history(state, entries, now_ms, key).spells
    if not spells:
        return ()
    moments = history.entry_moments(entries, now_ms)
    doubtful = history.doubtful_places(entries, now_ms)
    # The first entry of each spell, and none after the last.
    firsts = [
        spell.idx if spell.idx >= 0 else bisect_left(moments, spell.start)
        for spell in spells
    ]
    statuses = _statuses(state, entries)
    joined: list[BallSpan] = []
    for spell, first, end in zip(
        spells, firsts, [*firsts[1:], len(entries)], strict=True
    ):
        for part in _split(spell, range(first, end), moments, statuses, doubtful):
            if joined and _goes_on(joined[-1], part):
                count = joined[-1].entries + part.entries
                joined[-1] = joined[-1]._replace(until=part.until, entries=count)
            else:
                joined.append(part)
    return tuple(joined)


def _goes_on(span: BallSpan, following: BallSpan) -> bool:
    """Returns whether nothing changed between two spans: an entry named the holder that
    was already known."""
    unchanged = span.holder == following.holder and span.status == following.status
    return unchanged and span.known == following.known


def _statuses(state: State, entries: Sequence[Entry]) -> list[str]:
    """Returns the status after each entry."""
    base = next((entry.base for entry in entries if entry.base is not None), None)
    status = OPEN if written_by_wc(entries) else state.status
    if base is not None:
        status = base.status
    statuses = []
    for entry in entries:
        status = entry.status or status
        statuses.append(status)
    return statuses


def _split(
    spell: Spell,
    inside: range,
    moments: Sequence[int],
    statuses: Sequence[str],
    doubtful: Container[int],
) -> Iterator[BallSpan]:
    """Yields a spell with the entries ``inside`` it, cut where the status changed."""
    cuts = [
        idx
        for idx in inside
        if idx == inside.start or statuses[idx] != statuses[idx - 1]
    ]
    for cut, following in zip(cuts, [*cuts[1:], inside.stop], strict=True):
        since = spell.start if cut == inside.start else moments[cut]
        until = spell.end if following == inside.stop else moments[following]
        yield BallSpan(
            spell.holder,
            since,
            until,
            statuses[cut],
            following - cut,
            known=spell.known,
            doubtful=cut in doubtful,
        )


def rows_moved_since(rows: Iterable[ThreadRow], last_id: str) -> list[ThreadRow]:
    """Returns the threads, open or closed, with an entry after this id
    (`wc_core.base.times.since_id`): those that a timeline of that time shows."""
    return [row for row in rows if row.last_id > last_id]


def make_chart(
    tracks: Iterable[Track],
    directory: Directory,
    since: int | None = None,
    limit: int = 0,
) -> Chart:
    """Returns tracks for a common axis, from their first entry on or from ``since``; at
    most the first ``limit`` (0: all) of them."""
    all_tracks = list(tracks)
    charted = all_tracks[: limit or None]
    all_spans = [span for track in charted for span in track.spans]
    if not all_spans:
        return Chart(0, 0, tuple(charted), total=len(all_tracks))
    start = min(span.since for span in all_spans)
    end = max(span.until for span in all_spans)
    if since is not None:
        start = min(end, max(start, since))
    cut = tuple(
        track._replace(spans=clip_spans(track.spans, start)) for track in charted
    )
    names, places = _holders(cut, _keys(directory))
    hues = {name: badge_of(name, directory).hue for name in places}
    return Chart(start, end, cut, names, places, hues, len(all_tracks))


def clip_spans(spans: Iterable[BallSpan], since: int) -> tuple[BallSpan, ...]:
    """Returns the parts of the spans that are not before ``since``."""
    return tuple(
        span._replace(since=max(span.since, since))
        for span in spans
        if span.until >= since
    )


def _holders(
    tracks: Iterable[Track], key: Callable[[str], str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    spelt: dict[str, str] = {}
    held: dict[str, int] = {}
    for track in tracks:
        for span in track.spans:
            if span.holder is not None and span.known:
                spelt.setdefault(span.holder, key(span.holder))
                held[span.holder] = held.get(span.holder, 0) + span.ms
    total: dict[str, int] = {}
    for name, compared in spelt.items():
        total[compared] = total.get(compared, 0) + held[name]
    order = sorted(total, key=lambda compared: (-total[compared], compared))
    spelling = {compared: name for name, compared in spelt.items()}
    places = {compared: place for place, compared in enumerate(order)}
    return (
        tuple(spelling[compared] for compared in order),
        {name: places[compared] for name, compared in spelt.items()},
    )


def local_ticks(since: int, until: int, most: int) -> list[Tick]:
    """Returns `ticks` in the zone of this machine, with the difference to UTC that it
    has at the end of the period."""
    ahead = (time.localtime(until // 1000).tm_gmtoff or 0) * 1000
    shifted = ticks(since + ahead, until + ahead, most)
    return [Tick(tick.at - ahead, tick.label) for tick in shifted]


def ticks(since: int, until: int, most: int) -> list[Tick]:
    """Returns at most ``most`` round times in a period, in UTC. Labels are the date at
    the beginning of a day, otherwise the time; the year at its beginning or if only
    years are shown."""
    length, most = max(1, until - since), max(1, most)
    step = next((size for size in _STEPS if length // size < most), 0)
    if not step:
        return _months(since, until, most)
    origin = _MONDAY if step % (7 * _DAY) == 0 else 0
    first = -((origin - since) // step) * step + origin
    return [Tick(at, _label(at)) for at in range(first, until + 1, step)][:most]


def _label(at: int) -> str:
    form = "%H:%M" if at % _DAY else "%b %d"
    return time.strftime(form, time.gmtime(at // 1000))


def _months(since: int, until: int, most: int) -> list[Tick]:
    """Returns ticks at the beginnings of months."""
    length = until - since
    step = next((n for n in _MONTHS if length // (n * _MONTH) < most), _MONTHS[-1])
    start = time.gmtime(since // 1000)
    month = -(-(start.tm_year * 12 + start.tm_mon - 1) // step) * step
    result: list[Tick] = []
    while (at := _month_start(month)) <= until and len(result) < most:
        form = "%Y" if month % 12 == 0 else "%b"
        if at >= since:
            result.append(Tick(at, time.strftime(form, time.gmtime(at // 1000))))
        month += step
    return result


def _month_start(month: int) -> int:
    """Returns the beginning of a month, counted from the year 0."""
    from calendar import timegm  # 3 ms, and windows of many months are rare

    return timegm((month // 12, month % 12 + 1, 1, 0, 0, 0)) * 1000
