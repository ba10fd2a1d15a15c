"""How the costs of a server grow with its store: what docs/make_plot.py draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.serving import CALL, MEMORY, Served, Serving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.scratch import Scratch
    from tests.bench.table import Row

ENTRIES = 20  # of each thread
NAMES = (
    "first list_threads",
    "search index whole",
    "wc-observe: memory",
    "list_threads",
    "read_thread",
    "search_threads, a rare word",
)


class Curve:
    """Some of a server's rows for stores of so many threads."""

    def __init__(self, scratch: Scratch, threads: Sequence[int]) -> None:
        self._stores = [Served(count, ENTRIES) for count in threads]
        self._serving = Serving(scratch, self._stores, 0)

    def rows(self) -> list[Row]:
        """All of them in each round, without goals."""
        names = {f"{name}, {one.name}" for name in NAMES for one in self._stores}
        names |= {CALL, MEMORY}
        rows = [row for row in self._serving.rows() if row.name in names]
        return [row._replace(goal=None, every=1) for row in rows]
