"""Signals and the timer, without `enum`, with which `signal` gives numbers names.

Gains 2.8 ms of `wc check` and of the hooks of agents.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import (
        ITIMER_REAL,
        SIGALRM,
        SIGKILL,
        SIGPIPE,
        SIGTERM,
        SIGXFSZ,
        setitimer,
        signal,
    )
else:
    from _signal import (
        ITIMER_REAL,
        SIGALRM,
        SIGKILL,
        SIGPIPE,
        SIGTERM,
        SIGXFSZ,
        setitimer,
        signal,
    )

__all__ = [
    "ITIMER_REAL",
    "SIGALRM",
    "SIGKILL",
    "SIGPIPE",
    "SIGTERM",
    "SIGXFSZ",
    "setitimer",
    "signal",
]
