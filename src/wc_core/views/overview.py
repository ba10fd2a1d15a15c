"""The threads of a store as one viewer sees them, page by page, and the cursors
that pages end with."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from wc_core.errors import InvalidInputError, WcError
from wc_core.views import rows as views
from wc_core.views.rows import RowPage, recency

if TYPE_CHECKING:
    from wc_core.identity.viewer import Viewer
    from wc_core.threads.reader import StoreReader
    from wc_core.views.rows import Filter, ThreadRow

# The logs of so many threads are read to go on with a list where it ended.
_MOST_MOVED = 300


class Overview:
    """A store as one viewer sees it, read anew at each question."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self.reader = reader
        self.viewer = viewer

    def rows(self) -> list[ThreadRow]:
        """All threads, the latest move first; a bad one hides no other."""
        return views.rows(self.reader, self.viewer)

    def matching(self, wanted: Filter) -> list[ThreadRow]:
        """Those that a filter lets through, the latest move first."""
        return views.matching(self.rows(), wanted, self.viewer)

    def page(self, wanted: Filter, limit: int, cursor: str = "") -> RowPage:
        """At most ``limit`` rows (0: all) from ``cursor`` on.

        A walk through all pages gives each thread that was there at its start
        exactly once, whatever is written meanwhile: threads are taken in the
        order they had then. Raises InvalidInputError for a foreign cursor.
        """
        if cursor:
            start, *rest = cursor_parts(cursor, 3, "a list")
            found = _as_of(self.reader, self.rows(), start)
            chosen = views.matching(found, wanted, self.viewer)
            total = len(chosen)
            chosen = [one for one in chosen if recency(one) < (rest[0], rest[1])]
        else:
            start = next((one.last_id for one in self.rows()), "")
            chosen = self.matching(wanted)
            total = len(chosen)
        if not limit or len(chosen) <= limit:
            return RowPage(tuple(chosen), total=total)
        shown = chosen[:limit]
        following = cursor_of(start, shown[-1].last_id, shown[-1].topic)
        return RowPage(tuple(shown), following, total)


def cursor_of(*parts: str) -> str:
    """A cursor that says ``parts``, in characters that need no quotes and do
    nothing to a terminal: a foreign id may have anything in it."""
    from urllib.parse import quote  # most answers end without a cursor

    return "~".join(
        quote(one, safe="", errors="surrogatepass").replace("~", "%7E") for one in parts
    )


def cursor_parts(cursor: str, count: int, whose: str) -> list[str]:
    """The ``count`` parts of a cursor. Raises InvalidInputError for what is
    none of ``whose``."""
    from urllib.parse import unquote  # as in `cursor_of`

    with contextlib.suppress(UnicodeError):
        parts = [unquote(one, errors="surrogatepass") for one in cursor.split("~")]
        if len(parts) == count and cursor_of(*parts) == cursor:
            return parts
    raise InvalidInputError(
        f"{cursor!r} is not a cursor of {whose}.",
        "Use the cursor of the page before, or none to start.",
    )


def _as_of(reader: StoreReader, found: list[ThreadRow], start: str) -> list[ThreadRow]:
    """The rows in the order they had when the newest entry was ``start``;
    threads that are younger than that are left to the next walk.

    Raises InvalidInputError where so much has changed since that finding out
    would take long.
    """
    if sum(one.last_id > start for one in found) > _MOST_MOVED:
        raise InvalidInputError(
            "More threads have changed since that cursor than a walk can follow.",
            "Begin anew, without a cursor.",
        )
    then = []
    for one in found:
        last = one.last_id
        if last > start:
            try:
                entries = reader.thread(one.topic).entries
            except WcError:
                then.append(one._replace(last_id=""))  # once too often, not never
                continue
            last = max((e.id for e in entries if e.id <= start), default="")
        if last or not one.last_id:
            then.append(one._replace(last_id=last))
    then.sort(key=recency, reverse=True)
    return then
