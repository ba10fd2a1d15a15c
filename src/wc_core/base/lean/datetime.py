"""`datetime` without its form in Python, which is not used where there is one in C.
Imported for the first time that is read.

Gains 1.1 ms of `wc list` and 1.8 of `wc ack`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import UTC, datetime
else:

    def __getattr__(name: str) -> object:
        """Return one of the two, when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            from _datetime import UTC, datetime  # 0.2 ms, a write reads no times
        except ImportError:  # other implementations of Python
            from datetime import UTC, datetime  # 2 ms, the whole library
        globals().update(UTC=UTC, datetime=datetime)
        return globals()[name]


__all__ = ["UTC", "datetime"]
