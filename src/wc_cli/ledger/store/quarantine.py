"""Keeps unusable bytes, so that nothing in a store is lost."""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

_NAME_LENGTH = 16


def keep(layout: Layout, topic: str, data: bytes) -> str:
    """Write and flush bytes to a quarantine file. Returns its path."""
    path = path_for(layout, topic, data)
    if read_plain(path, layout.root) != data:
        durable.make_folder(os.path.dirname(path), layout.root)
        durable.create(path, data, layout.root)
    return path


def path_for(layout: Layout, topic: str, data: bytes) -> str:
    """The path at which `keep` stores these bytes, named after their hash."""
    import hashlib  # 3 ms, only for damaged files

    name = hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]
    return f"{layout.quarantine(topic)}/{name}"
