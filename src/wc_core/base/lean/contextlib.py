"""`suppress` and `contextmanager`, without the modules that `contextlib` imports.

Gains 1.9 ms of `wc list` and of `wc ack`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import contextmanager, suppress
    from types import TracebackType
    from typing import Any
else:

    class suppress:  # noqa: N801
        """A block that these errors end without a traceback."""

        def __init__(self, *errors: type[BaseException]) -> None:
            self._errors = errors

        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
            return kind is not None and issubclass(kind, self._errors)

    def contextmanager(
        function: Callable[..., Iterator[Any]],
    ) -> Callable[..., _Context]:
        """Make a context manager of a generator function that yields once."""

        def enter(*values: Any, **named: Any) -> _Context:
            return _Context(function(*values, **named))

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(enter, name, getattr(function, name))
        enter.__wrapped__ = function
        return enter

    class _Context:
        """Runs a generator up to its ``yield`` before a block, and the rest after
        it."""

        def __init__(self, generator: Iterator[Any]) -> None:
            self._generator = generator

        def __enter__(self) -> Any:
            for value in self._generator:
                return value
            raise RuntimeError("generator didn't yield")

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> bool:
            if kind is None:
                for _ in self._generator:
                    raise RuntimeError("generator didn't stop")
                return False
            try:
                self._generator.throw(error)
            except BaseException as raised:
                if raised is error:
                    error.__traceback__ = trace
                    return False
                if isinstance(raised, StopIteration):
                    return True
                if _is_wrapped(raised, error):
                    return False
                raise
            raise RuntimeError("generator didn't stop after throw()")

    def _is_wrapped(raised: BaseException, error: BaseException) -> bool:
        """Whether Python made a RuntimeError of a StopIteration of the block."""
        wraps = isinstance(raised, RuntimeError) and isinstance(error, StopIteration)
        return wraps and raised.__cause__ is error


__all__ = ["contextmanager", "suppress"]
