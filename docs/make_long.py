"""The table of the long runs in docs/reliability.md, from their saved results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from blocks import replaced

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent)]

from tests import long, longparts, longresults  # noqa: E402 (the checkout's own)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.longresults import Saved

PAGE = DOCS / "reliability.md"
HEADING = (
    *("part", "promises", "what it does", "done", "time", "commit", "date"),
    "result",
)


def files() -> dict[Path, str]:
    """The page with its path."""
    page = PAGE.read_text(encoding="utf-8")
    return {PAGE: replaced(page, "long runs", table(longresults.load()))}


def table(saved: Saved) -> Iterator[str]:
    """A row for each part, whether or not its code has changed since."""
    yield f"| {' | '.join(HEADING)} |"
    yield f"|{'---|' * len(HEADING)}"
    for part in longparts.PARTS:
        promises = ", ".join(map(str, part.promises)) or "all"
        cells = long.saved_standing(part, saved).cells()
        yield f"| {' | '.join((f'`{part.name}`', promises, part.about, *cells))} |"


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
