"""Runs tasks in several threads, without the module `threading`, which takes 2 ms to
import.

Python's threads take turns, but SQLite's queries run at the same time.
"""

from __future__ import annotations

import _thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    Result = TypeVar("Result")


def in_parallel(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """Returns the results of the tasks, in their order, once all have ended. The first
    runs in this thread. Raises the first error of any."""
    own_task, *further_tasks = tasks
    started = [_StartedTask(task) for task in further_tasks]
    try:
        results = [own_task()]
    finally:
        for task in started:
            task.join()
    return [*results, *(task.result() for task in started)]


class _StartedTask:
    """A task in a thread; in this thread if no other can be started."""

    def __init__(self, task: Callable[[], Any]) -> None:
        self._result: Any = None
        self._error: BaseException | None = None
        self._running = _thread.allocate_lock()
        self._running.acquire()
        try:
            _thread.start_new_thread(self._run, (task,))
        except RuntimeError:  # too many threads, or too little memory
            self._run(task)

    def _run(self, task: Callable[[], Any]) -> None:
        try:
            self._result = task()
        except BaseException as error:  # noqa: BLE001 - raised by `result`
            self._error = error
        finally:
            self._running.release()

    def join(self) -> None:
        """Waits for the end of the task."""
        with self._running:
            pass

    def result(self) -> Any:
        """Returns what the task returned, or raises its error."""
        if self._error is not None:
            raise self._error
        return self._result
