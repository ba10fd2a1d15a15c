"""Caches of functions, without `collections`, which `functools` imports."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cache, lru_cache, partial
    from typing import Any
else:
    from _functools import _lru_cache_wrapper, partial

    def lru_cache(maxsize: int | None) -> Callable[..., Any]:
        """Cache the results of a function, up to a limit."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            cached = _lru_cache_wrapper(function, maxsize, False, _CacheInfo)
            cached.__wrapped__ = function
            for name in ("__module__", "__name__", "__qualname__", "__doc__"):
                setattr(cached, name, getattr(function, name))
            return cached

        return decorate

    def cache(function: Callable[..., Any]) -> Callable[..., Any]:
        """Cache all results of a function."""
        return lru_cache(None)(function)

    def _CacheInfo(*counts: int) -> tuple[int, ...]:  # noqa: N802
        return counts


__all__ = ["cache", "lru_cache", "partial"]
