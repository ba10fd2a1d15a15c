"""The clock and the random bits that this process passes to the core."""

from __future__ import annotations

import os
import time

_RANDOM_BYTES = 10
# As many bits as a float holds.
_SHARE_BITS = 53


def now_ms() -> int:
    """Return the milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def random_bits() -> int:
    """Return 80 random bits."""
    return int.from_bytes(os.urandom(_RANDOM_BYTES))


def random_between(low: float, high: float) -> float:
    """Return a random number, without the module `random`, which takes 1 ms."""
    bits = random_bits() % (1 << _SHARE_BITS)
    return low + (high - low) * bits / (1 << _SHARE_BITS)
