"""Reads and writes timestamps: RFC 3339 in, UTC with ``Z`` out."""

from __future__ import annotations

import time

from wc_core.base import ulid
from wc_core.base.errors import InvalidInputError
from wc_core.base.lean import datetime, re

# The age in seconds of what is dated more than a day ahead.
DOUBTFUL = -1
_MAX_DIGITS = 9
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DAYS = (
    *("monday", "tuesday", "wednesday", "thursday"),
    *("friday", "saturday", "sunday"),
)
_NEAR_DAYS = ("today", "yesterday")
_WEEKS = {"this week": 0, "last week": 7}
_SPANS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def utc(text: str) -> str:
    """A timestamp in UTC with ``Z``; text that is not a time is returned unchanged."""
    if text.endswith("Z"):
        return text
    if text.endswith("+00:00"):
        return f"{text[:-6]}Z"
    try:
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return text


def milliseconds(text: str, *, zoned: bool = False) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time; ``None`` for other text.

    A time without a zone is in UTC; if it must be ``zoned``, it is invalid.
    """
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        if zoned:
            return None
        moment = moment.replace(tzinfo=datetime.UTC)
    return round(moment.timestamp() * 1000)


def rfc3339(moment_ms: int) -> str:
    """Milliseconds since 1970 as ``2026-01-31T12:00:00.123Z``."""
    seconds, fraction = divmod(moment_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{fraction:03}Z"


def age_ms(text: str) -> int | None:
    """Milliseconds of an age such as ``90m`` or ``2d``; ``None`` for other text."""
    stripped = text.strip()
    number, unit = stripped[:-1], stripped[-1:].lower()
    if unit in _UNITS and number.isdecimal() and len(number) <= _MAX_DIGITS:
        return int(number) * _UNITS[unit] * 1000
    return None


def since_id(text: str, now_ms: int) -> str:
    """The greatest entry id that is *before* the start in ``text``.

    The start is a time, an age such as ``90m``, ``3h`` or ``2d``, or the id of the
    entry before it. Raises InvalidInputError for anything else.
    """
    stripped = text.strip()
    if ulid.prefix(stripped):
        return stripped
    age_of_start = age_ms(stripped)
    moment = milliseconds(stripped) if age_of_start is None else now_ms - age_of_start
    if moment is None:
        moment = _named_day_ms(stripped.casefold(), now_ms)
    if moment is None:
        raise InvalidInputError(
            f"{text!r} is neither a time, an age nor an entry's id.",
            "Write 2026-01-31T12:00:00Z, 2026-01-31, 90m, 3h, 2d, yesterday, monday, "
            "last week or an id.",
        )
    first = max(0, min(moment, (1 << 48) - 1)) << ulid.RANDOM_BITS
    return ulid.encode(max(0, first - 1))


def _named_day_ms(name: str, now_ms: int) -> int | None:
    """The beginning of a named day in local time: ``today``, ``yesterday``, the last
    ``monday``, ``this week`` or ``last week``; ``None`` for other words."""
    now = time.localtime(now_ms // 1000)
    if name in _DAYS:
        days = (now.tm_wday - _DAYS.index(name)) % 7
    elif name in _WEEKS:
        days = now.tm_wday + _WEEKS[name]
    elif name in _NEAR_DAYS:
        days = _NEAR_DAYS.index(name)
    else:
        return None
    # mktime accepts a day of the month below 1, and looks up summer time (-1).
    start = (now.tm_year, now.tm_mon, now.tm_mday - days, 0, 0, 0, 0, 0, -1)
    return round(time.mktime(start)) * 1000


def coming_day_ms(name: str, now_ms: int) -> int | None:
    """The beginning of the next day with a name in local time: ``tomorrow`` or
    ``friday``; ``None`` for other words."""
    now = time.localtime(now_ms // 1000)
    name = name.strip().casefold()
    if name == "tomorrow":
        days = 1
    elif name in _DAYS:
        days = (_DAYS.index(name) - now.tm_wday - 1) % len(_DAYS) + 1
    else:
        return None
    # As above: a day beyond the end of the month is fine.
    start = (now.tm_year, now.tm_mon, now.tm_mday + days, 0, 0, 0, 0, 0, -1)
    return round(time.mktime(start)) * 1000


def ago(seconds: int | None) -> str:
    """An age in words: ``5m ago``, ``just now``."""
    if seconds is None:
        return "at an unknown time"
    if seconds < 0:
        return "at a doubtful time"
    text = age_text(seconds)
    return "just now" if text == "now" else f"{text} ago"


def local(moment_ms: int) -> str:
    """A time as people read it, in the zone of this machine: ``2026-01-31 13:00
    CET``."""
    return time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(moment_ms // 1000))


# As older versions wrote the time of a gate.
_UTC_TIME = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d+)?)?Z")


def with_local_times(text: str) -> str:
    """The text with each time such as ``2026-01-31 12:00Z`` as people read it; see
    `local`."""

    def in_zone(match: re.Match[str]) -> str:
        moment = milliseconds(match[0])
        return match[0] if moment is None else local(moment)

    return _UTC_TIME.sub(in_zone, text) if "Z" in text else text


def ago_and_local(moment_ms: int, now_ms: int) -> str:
    """A time for people: ``3h ago (2026-01-31 13:00 CET)``."""
    return f"{ago(seconds_between(moment_ms, now_ms))} ({local(moment_ms)})"


def seconds_between(moment_ms: int, now_ms: int) -> int:
    """Seconds from a time until now; 0 if it is in the future, but `DOUBTFUL` if it is
    more than a day ahead: a clock was wrong."""
    return DOUBTFUL if is_ahead(moment_ms, now_ms) else elapsed(moment_ms, now_ms)


def elapsed(moment_ms: int, now_ms: int) -> int:
    """Seconds from a time until now; 0 if it is in the future, however far."""
    return max(0, now_ms - moment_ms) // 1000


def is_ahead(moment_ms: int, now_ms: int) -> bool:
    """Whether a time is so far in the future that a clock was wrong."""
    return moment_ms > now_ms + ulid.FUTURE_MS


def age(text: str, now_ms: int) -> str:
    """The age of an RFC 3339 time, in its largest unit: ``now``, ``5m``, ``3d``; ``?``
    if it is unknown or doubtful."""
    moment = milliseconds(text)
    return "?" if moment is None else age_text(seconds_between(moment, now_ms))


def age_text(seconds: int) -> str:
    """A number of seconds in its largest unit; below a minute it is ``now``, and ``?``
    if it is `DOUBTFUL`."""
    if seconds < 0:
        return "?"
    for unit, length in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return "now"


def length(seconds: int) -> str:
    """A duration in its largest unit, as `age_text`, but in seconds below a minute."""
    words = age_text(seconds)
    return words if words not in {"now", "?"} else f"{max(0, seconds)}s"


def span(seconds: int) -> str:
    """A duration in its two largest units: ``3d 4h``, ``12m 5s``, ``0s``."""
    remaining = max(0, seconds)
    parts: list[str] = []
    for unit, length in _SPANS:
        count, remaining = divmod(remaining, length)
        if parts or count or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(part for part in parts[:2] if parts[0] == part or part[0] != "0")
