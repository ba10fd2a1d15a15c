"""Writes what is kept for those who hold many balls: copies of the listings, which
`wc_core.status.listings` reads, and the record of `wc_core.status.changes`."""

from __future__ import annotations

import time

from wc_cli.store import durable
from wc_core.errors import WcError
from wc_core.lean.contextlib import suppress
from wc_core.status import changes, listings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.layout import Layout


def write(layout: Layout, copies: Mapping[str, bytes]) -> None:
    """Write copies by folder. Errors are ignored: without a copy, the folder is
    listed."""
    for folder, data in copies.items():
        with suppress(WcError, OSError):
            durable.make_folder(layout.ball_listings, layout.root, flush=False)
            durable.replace(listings.copy_path(layout, folder), data, layout.root)


def begin_record(layout: Layout) -> None:
    """Begin the record of balls whose files change, unless there is a valid one.
    Errors are ignored: without it, the times of all files are read."""
    with suppress(WcError, OSError):
        if changes.load(layout) is None:
            durable.make_folder(layout.index_folder, layout.root, flush=False)
            # Not replaced: lines may be added to the other one in the meantime.
            durable.remove(layout.ball_changes, layout.root)
            data = changes.first_line(time.time_ns())
            durable.create_new(layout.ball_changes, data, layout.root)
