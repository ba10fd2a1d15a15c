"""Stores as wc would have left them, and what else is fed to what is measured."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wc_cli.ledger.index import cachefile
from wc_core.base import ulid
from wc_core.base.layout import Layout
from wc_core.ledger.threads import codec, folding, model, projections
from wc_core.ledger.threads.pages import page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# In the order in which they pass the ball; the last one passes it to the first.
AUTHORS = tuple(f"{name} (bench)" for name in ("Codex", "Cursor", "Zed", "Claude Code"))
WORDS = "the cookie of a session is cleared before the page asks for it again"
BRANCHES = 50
# Entries from which on a store is written by several processes, and how many
# threads each of them gets at once.
MANY, SHARE = 20_000, 100


def claude_json(folder: str) -> str:
    """About 3 KB as Claude Code gives them to a status line."""
    fields = {
        "session_id": "0b8e7a2c-8f0a-4c1e-9b1d-3f5b8f0d7c11",
        "transcript_path": f"{folder}/.claude/projects/session.jsonl",
        "cwd": folder,
        "model": {"id": "a-model", "display_name": "A model"},
        "workspace": {
            "current_dir": folder,
            "project_dir": folder,
            "added_dirs": [f"/srv/code/a-library-{number:03}" for number in range(80)],
        },
        "version": "2.0.0",
        "cost": {"total_cost_usd": 0.5, "total_duration_ms": 60000},
    }
    return json.dumps(fields)


def fill(root: str, threads: int, entries: int) -> Layout:
    """Write threads into a store, every file as wc would have left it."""
    layout = Layout(os.path.realpath(root))
    numbers = range(threads)
    if threads * entries < MANY:
        fill_part(layout.root, entries, numbers)
        cachefile.remake(layout.root)
        return layout
    shares = [numbers[start : start + SHARE] for start in range(0, threads, SHARE)]
    # Nothing of this process, which may have threads, is wanted in the others.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=spawned) as pool:
        list(pool.map(partial(fill_part, layout.root, entries), shares))
    cachefile.remake(layout.root)
    return layout


def fill_part(root: str, entries: int, numbers: Sequence[int]) -> None:
    """Write those threads of a store that have these numbers."""
    layout = Layout(root)
    for number in numbers:
        thread = tuple(a_thread(f"topic-{number:04}", number, entries))
        for path, data in files_of(layout, thread).items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_bytes(data)


def files_of(layout: Layout, entries: Sequence[model.Entry]) -> dict[str, bytes]:
    """The files of one thread: its log and everything that follows from it."""
    topic = entries[0].topic
    state = folding.fold(topic, entries)
    log = b"".join(codec.to_line(one, index) for index, one in enumerate(entries))
    return {
        layout.log(topic): log,
        layout.meta(topic): projections.render_meta(state, len(log), {}),
        layout.edges(topic): projections.render_edges(topic, entries),
        layout.page(topic): page.render(state, entries),
    }


def a_thread(topic: str, number: int, count: int) -> Iterator[model.Entry]:
    """Entries that pass the ball round, in thread 0 to the first author at last.
    The threads are spread over fifty branches; one entry in a thousand has the
    word ``needle``, and as many are decisions."""
    dice = random.Random(number)
    start = time.time_ns() // 1_000_000 - 30 * 86_400_000 + number * 1000
    parents: tuple[str, ...] = ()
    for index in range(count):
        words = dice.choices(WORDS.split(), k=60)
        if (number * count + index) % 1000 == 0:
            words[7] = "needle"
        is_decision = (number * count + index) % 1000 == 500
        turn = number + index - count
        entry = model.Entry(
            id=ulid.encode(start + index << ulid.RANDOM_BITS | dice.getrandbits(80)),
            topic=topic,
            agent=AUTHORS[turn % len(AUTHORS)],
            at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start // 1000)),
            title=" ".join(words[:6]),
            body=" ".join(words),
            role="implementer",
            kind="decision" if is_decision else "",
            action="say" if index else "new",
            ball=model.Ball(AUTHORS[(turn + 1) % len(AUTHORS)]),
            status=None if index else model.OPEN,
            parents=parents,
            code_branch=f"branch-{number % BRANCHES}" if number % BRANCHES else "main",
        )
        yield entry
        parents = (entry.id,)
