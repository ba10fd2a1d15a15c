"""How a forked child of a test ends: at once.

``os._exit`` may be one that measures first, and a child that goes on is a second
one of those who run tests.
"""

from posix import _exit as leave

__all__ = ["leave"]
