"""The options with which lists and searches select threads."""

from __future__ import annotations

from wc_cli.run.options import Options, number, text, texts
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import STATUSES
from wc_core.reading.views.rows import Filter


class FilterOptions(Options):
    """Which threads to show, and how many."""

    ball: str = text(
        "--ball",
        "NAME",
        "Only threads whose ball this name has (or: me, anyone).",
        complete="agent",
    )
    status: str = text(
        "--status",
        "STATUS",
        f"Only this status: {', '.join(STATUSES)}.",
        complete="status",
    )
    tag: tuple[str, ...] = texts(
        "--tag", "TAG", "Only threads with this tag; if repeated, with all of them."
    )
    limit: int = number("--limit", "At most this many (0: all).", short="-n")
    cursor: str = text("--cursor", "CURSOR", "Continue where a limited answer ended.")

    def filter(self, *, open_only: bool = False) -> Filter:
        """Return the filter for these threads."""
        status = vocabulary.status(self.status)
        return Filter(open_only, self.ball, status, tags=self.tag)
