"""What it costs to know which threads are ready: in a store of 10,000 threads with
20,000 links."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.stores import a_thread, files_of
from tests.bench.table import Row, times
from wc_cli.ledger.index import cachefile
from wc_core.base import ulid
from wc_core.ledger.planning.kinds import BLOCKED_BY
from wc_core.ledger.threads.model import Link

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch

THREADS = 10_000
LIST = f"wc list, {THREADS:,} threads with {2 * THREADS:,} links"


class PlanRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        last = f"topic-{THREADS - 1:04}"
        return [
            Row(LIST, lambda: self._wc("list")),
            Row("wc ready, of these", lambda: self._wc("ready"), LIST, times(2)),
            Row(
                "wc ready T, of these", lambda: self._wc("ready", last), LIST, times(2)
            ),
        ]

    def _wc(self, *words: str) -> float:
        return self.scratch.process("wc", *words, folder=self._planned).seconds()

    @cached_property
    def _planned(self) -> str:
        """A repository whose threads wait for two earlier ones each."""
        folder = self.scratch.repository(THREADS, 1, name="planned")
        layout = self.scratch.layout(folder)
        for number in range(THREADS):
            topic = f"topic-{number:04}"
            entries = list(a_thread(topic, number, 1))
            earlier = [(number - 1) // 2, number - 7]
            links = [Link(BLOCKED_BY, f"topic-{at:04}") for at in earlier if at >= 0]
            entries.append(
                entries[0]._replace(
                    id=ulid.successor(entries[0].id, 0, number),
                    action="link",
                    title="Links",
                    body="",
                    ball=None,
                    links_added=tuple(dict.fromkeys(links)),
                    parents=(entries[0].id,),
                )
            )
            for path, data in files_of(layout, entries).items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                Path(path).write_bytes(data)
        cachefile.remake(layout.root)
        return folder
