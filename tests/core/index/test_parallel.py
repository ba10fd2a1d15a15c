"""Tasks in several threads."""

from __future__ import annotations

import _thread
import threading

import pytest

from wc_core.index.parallel import in_parallel

# Seconds after which what should happen soon is taken for failed.
LONG = 20


def test_tasks_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    places = in_parallel([lambda: meeting.wait(LONG)] * 3)
    assert sorted(places) == [0, 1, 2]


def test_results_are_in_the_order_of_the_tasks() -> None:
    second_ended = threading.Event()

    def first() -> int:
        assert second_ended.wait(LONG)
        return 1

    def second() -> int:
        second_ended.set()
        return 2

    assert in_parallel([first, second]) == [1, 2]
    assert in_parallel([second]) == [2]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_is_raised_when_all_tasks_have_ended(failing: int) -> None:
    ended: list[int] = []

    def task(number: int) -> None:
        ended.append(number)
        if number == failing:
            raise ValueError(number)

    tasks = [lambda number=number: task(number) for number in range(3)]
    with pytest.raises(ValueError, match=str(failing)):
        in_parallel(tasks)
    assert sorted(ended) == [0, 1, 2]


def test_tasks_are_done_without_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert in_parallel([lambda: 1, lambda: 2]) == [1, 2]
