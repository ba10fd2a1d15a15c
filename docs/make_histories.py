"""The table of docs/review.md about real histories, from the saved figures of
tests/bench/histories.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from blocks import replaced

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "src")]

from tests.bench.histories import Tally  # noqa: E402 (the checkout's own)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE, SAVED = DOCS / "review.md", DOCS / "histories.json"
HEADING = (
    *("repository", "merges", "groups", "branches", "largest", "alone", "history"),
    *("ours", "reverse", "predicted", "wrong"),
)


def files() -> dict[Path, str]:
    """The page with its path."""
    page = PAGE.read_text(encoding="utf-8")
    return {PAGE: replaced(page, "histories", table(tallies()))}


def tallies() -> list[Tally]:
    """The saved figures."""
    saved = json.loads(SAVED.read_text(encoding="utf-8"))
    return [Tally(**fields) for fields in saved]


def table(saved: Iterable[Tally]) -> Iterator[str]:
    """A row for each repository."""
    yield f"| {' | '.join(HEADING)} |"
    yield f"|{'---|' * len(HEADING)}"
    for tally in saved:
        name = f"[{tally.name}](https://github.com/{tally.name})"
        cells = (
            *(f"{name} at `{tally.commit[:9]}`", tally.merges, tally.groups),
            *(tally.branches, tally.most, tally.alone, tally.in_history),
            *(tally.in_order, tally.reversed, tally.predicted, tally.wrong),
        )
        yield f"| {' | '.join(map(str, cells))} |"
