"""ULIDs: 48 bits of milliseconds and 80 random bits in Crockford base 32.

The format is https://github.com/ulid/spec. Those of wc are strictly increasing
within a thread, whatever the clock does. Implemented here because importing a
library would take longer than a command may.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
RANDOM_BITS = 80
FUTURE_MS = 24 * 60 * 60 * 1000

_DIGITS = frozenset(ALPHABET)
_VALUES = {digit: value for value, digit in enumerate(ALPHABET)}
_MAX = (1 << 128) - 1


def encode(value: int) -> str:
    """The 26 characters of a 128-bit value."""
    digits = []
    for _ in range(LENGTH):
        digits.append(ALPHABET[value & 31])
        value >>= 5
    return "".join(reversed(digits))


def decode(text: str) -> int:
    """The value of 26 valid characters."""
    value = 0
    for digit in text:
        value = value << 5 | _VALUES[digit]
    return value


def prefix(entry_id: str) -> str:
    """The ULID of an entry id, or the empty string.

    In older stores an id only begins with it: ``{ULID}-{agent}-{topic}``.
    """
    head = entry_id[:LENGTH]
    if len(head) < LENGTH or head[0] > "7" or not _DIGITS.issuperset(head):
        return ""
    return head if entry_id[LENGTH : LENGTH + 1] in {"", "-"} else ""


def timestamp_ms(ulid: str) -> int:
    """The time in a ULID, in milliseconds since 1970."""
    return decode(ulid[:10])


def latest(entry_ids: Iterable[str], now_ms: int) -> str:
    """The greatest ULID of these ids that is at most 24 h ahead of ``now_ms``; empty if
    there is none."""
    end_ms = now_ms + FUTURE_MS
    ulids = filter(None, map(prefix, entry_ids))
    return max((own for own in ulids if timestamp_ms(own) <= end_ms), default="")


def successor(previous: str, now_ms: int, random: int) -> str:
    """A new ULID for ``now_ms`` that is greater than ``previous``.

    ``random`` is 80 bits. If the clock is not past ``previous``, the new ULID
    follows it by a small random step, so that two machines that continue the
    same thread do not get the same one. A ``previous`` more than 24 h ahead
    of ``now_ms`` is ignored: following it would keep the thread in the future
    forever.
    """
    fresh = now_ms << RANDOM_BITS | random
    if previous and timestamp_ms(previous) <= now_ms + FUTURE_MS:
        floor = decode(previous)
        if fresh <= floor:
            fresh = min(floor + 1 + (random & 0xFFFFFFFF), _MAX)
    return encode(fresh)
