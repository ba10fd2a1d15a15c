"""The clock and the random bits of this process, which the core is handed."""

from __future__ import annotations

import os
import time

_RANDOM_BYTES = 10


def now_ms() -> int:
    """Returns the milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def random_bits() -> int:
    """Returns 80 random bits."""
    return int.from_bytes(os.urandom(_RANDOM_BYTES))
