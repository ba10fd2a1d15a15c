"""Timestamps as people and tools write them: RFC 3339 in, UTC with ``Z`` out."""

from __future__ import annotations

import time

from wc_core import ulid
from wc_core.errors import InvalidInputError

_MAX_DIGITS = 9
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SPANS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def utc(text: str) -> str:
    """The same moment in UTC with ``Z``; text that is no time stays as it is."""
    if text.endswith("Z"):
        return text
    if text.endswith("+00:00"):
        return f"{text[:-6]}Z"
    from datetime import UTC, datetime  # only for other zones

    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return text


def milliseconds(text: str, *, zoned: bool = False) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time; ``None`` for other text.

    A time without a zone is in UTC, or, where it must be ``zoned``, no time.
    """
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        if zoned:
            return None
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def rfc3339(moment_ms: int) -> str:
    """Milliseconds since 1970 as ``2026-01-31T12:00:00.123Z``."""
    seconds, rest = divmod(moment_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03}Z"


def age_ms(text: str) -> int | None:
    """The milliseconds of an age such as ``90m``, ``3h`` or ``2d``; ``None`` for
    other text."""
    wanted = text.strip()
    number, unit = wanted[:-1], wanted[-1:].lower()
    if unit in _UNITS and number.isdecimal() and len(number) <= _MAX_DIGITS:
        return int(number) * _UNITS[unit] * 1000
    return None


def since_id(text: str, now_ms: int) -> str:
    """The greatest entry id that is *not* since ``text``: a time, an age such
    as ``90m``, ``3h`` or ``2d``, or the id of an entry.

    Raises InvalidInputError for anything else.
    """
    wanted = text.strip()
    if ulid.prefix(wanted):
        return wanted
    back = age_ms(wanted)
    if back is not None:
        moment = now_ms - back
    else:
        found = milliseconds(wanted)
        if found is None:
            raise InvalidInputError(
                f"{text!r} is neither a time, an age nor an entry's id.",
                "Write 2026-01-31T12:00:00Z, 2026-01-31, 90m, 3h, 2d or an id.",
            )
        moment = found
    first = max(0, min(moment, (1 << 48) - 1)) << ulid.RANDOM_BITS
    return ulid.encode(max(0, first - 1))


def ago(seconds: int | None) -> str:
    """How long ago, in words."""
    if seconds is None:
        return "at an unknown time"
    text = age_text(seconds)
    return "just now" if text == "now" else f"{text} ago"


def seconds_between(moment_ms: int, now_ms: int) -> int:
    """How many seconds ago a moment was; 0 for one in the future."""
    return max(0, now_ms - moment_ms) // 1000


def age(text: str, now_ms: int) -> str:
    """How long ago, in the one unit that says it best: ``now``, ``5m``, ``3d``."""
    moment = milliseconds(text)
    return "?" if moment is None else age_text(seconds_between(moment, now_ms))


def age_text(seconds: int) -> str:
    """So many seconds in the one unit that says it best; below a minute it is
    ``now``."""
    for unit, length in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return "now"


def span(seconds: int) -> str:
    """How long, in the two units that say it best: ``3d 4h``, ``12m 5s``, ``0s``."""
    left = max(0, seconds)
    parts: list[str] = []
    for unit, length in _SPANS:
        count, left = divmod(left, length)
        if parts or count or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(one for one in parts[:2] if parts[0] == one or one[0] != "0")
