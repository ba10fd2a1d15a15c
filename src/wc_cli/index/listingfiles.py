"""Writes copies of long listings, which `wc_core.status.listings` reads."""

from __future__ import annotations

from wc_cli.store import durable
from wc_core.errors import WcError
from wc_core.lean.contextlib import suppress
from wc_core.status import listings

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
