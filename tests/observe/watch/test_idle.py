"""Work that waits until the client pauses."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from wc_observe.stores.watch.idle import IdleQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

PAUSE, PATIENCE = 0.2, 1.0


def run(scenario: Callable[[IdleQueue, list[str]], Coroutine[Any, Any, None]]) -> None:
    """Run a scenario with a queue whose work appends its name to a list."""

    async def body() -> None:
        tasks: set[asyncio.Task[object]] = set()
        queue = IdleQueue(
            lambda work: tasks.add(asyncio.create_task(work)), PAUSE, PATIENCE
        )
        await scenario(queue, [])
        await asyncio.gather(*tasks)

    asyncio.run(body())


async def work(done: list[str], name: str) -> None:
    done.append(name)


def test_work_starts_in_a_pause_and_not_during_a_call() -> None:
    async def scenario(queue: IdleQueue, done: list[str]) -> None:
        with queue.call():
            queue.put("store", partial(work, done, "watch"))
            await asyncio.sleep(2 * PAUSE)
            assert done == []
        await asyncio.sleep(PAUSE / 4)
        assert done == []
        await asyncio.sleep(2 * PAUSE)
        assert done == ["watch"]

    run(scenario)


def test_work_starts_after_a_while_even_if_calls_never_pause() -> None:
    async def scenario(queue: IdleQueue, done: list[str]) -> None:
        with queue.call():
            queue.put("store", partial(work, done, "watch"))
            await asyncio.sleep(PATIENCE + 2 * PAUSE)
            assert done == ["watch"]

    run(scenario)


def test_only_the_latest_work_for_a_key_is_started_once() -> None:
    async def scenario(queue: IdleQueue, done: list[str]) -> None:
        for key, name in (("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")):
            queue.put(key, partial(work, done, name))
        queue.drop("c")
        queue.drop("never put")
        await asyncio.sleep(PATIENCE)
        assert done == ["2", "3"]
        queue.put("a", partial(work, done, "5"))
        await asyncio.sleep(PATIENCE)
        assert done == ["2", "3", "5"]

    run(scenario)
