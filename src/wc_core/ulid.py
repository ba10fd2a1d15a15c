"""ULIDs: 48 bits of milliseconds and 80 random bits in Crockford base 32.

The format is https://github.com/ulid/spec. Ours are strictly increasing
within a thread whatever the clock does. Written here because importing a
library costs more than the whole command may.
"""

from __future__ import annotations

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
    """The ULID that an entry id is or begins with (``{ULID}-{agent}-{topic}``
    of older stores), or the empty string."""
    head = entry_id[:LENGTH]
    if len(head) < LENGTH or head[0] > "7" or not _DIGITS.issuperset(head):
        return ""
    return head if entry_id[LENGTH : LENGTH + 1] in {"", "-"} else ""


def milliseconds(ulid: str) -> int:
    """The time in a ULID, in milliseconds since 1970."""
    return decode(ulid[:10])


def after(last: str, now_ms: int, random: int) -> str:
    """A new ULID for ``now_ms``, greater than ``last``.

    ``random`` is 80 bits. Where the clock has not moved past ``last`` the new
    one is its successor by a small random step, so that two machines that
    continue the same id do not meet. A ``last`` more than 24 h ahead of
    ``now_ms`` does not count: following it would keep the thread in the
    future for good.
    """
    fresh = now_ms << RANDOM_BITS | random
    if last and milliseconds(last) <= now_ms + FUTURE_MS:
        floor = decode(last)
        if fresh <= floor:
            fresh = min(floor + 1 + (random & 0xFFFFFFFF), _MAX)
    return encode(fresh)
