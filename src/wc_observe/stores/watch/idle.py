"""Waits with costly work until the client pauses.

To watch ten thousand folders, the library holds Python's lock for a third of a second.
If that happens during a client's first calls, one of them takes so much longer.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable, Iterator

# How often a pause is checked for during the length of one.
_CHECKS = 5


class IdleQueue:
    """Work to be started when no call is in progress, and none was for a moment. All
    methods are called on one event loop.

    Of work with the same key, only the latest is started. ``pause`` is the number of
    seconds without a call that is waited for, and ``patience`` the longest wait.
    """

    def __init__(
        self,
        start: Callable[[Coroutine[Any, Any, object]], None],
        pause: float = 0.5,
        patience: float = 5.0,
    ) -> None:
        self._start = start
        self._pause = pause
        self._checks = round(patience / pause * _CHECKS)
        self._due: dict[Hashable, Callable[[], Coroutine[Any, Any, object]]] = {}
        self._is_waiting = False
        self._calls = 0
        self._last_call = 0.0

    @contextmanager
    def call(self) -> Iterator[None]:
        """A block during which a call is in progress."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._last_call = asyncio.get_running_loop().time()

    def put(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, object]]
    ) -> None:
        """Starts the work in the next pause."""
        self.drop(key)
        self._due[key] = work
        if not self._is_waiting:
            self._is_waiting = True
            self._start(self._wait())

    def drop(self, key: Hashable) -> None:
        """Forgets the work with this key, if it has not started."""
        self._due.pop(key, None)

    async def _wait(self) -> None:
        for _ in range(self._checks):
            if not self._is_busy():
                break
            await asyncio.sleep(self._pause / _CHECKS)
        due, self._due, self._is_waiting = self._due, {}, False
        for work in due.values():
            self._start(work())

    def _is_busy(self) -> bool:
        now = asyncio.get_running_loop().time()
        return self._calls > 0 or now < self._last_call + self._pause
