"""Renders the projections of a thread: the bytes of its files beside the log."""

from __future__ import annotations

from wc_core.base.errors import Damage
from wc_core.ledger.threads import projections
from wc_core.ledger.threads.pages import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import Thread


def places_of(layout: Layout, topic: str) -> tuple[str, ...]:
    """The paths of the projections of a thread."""
    return layout.meta(topic), layout.edges(topic), layout.page(topic)


def render_files(
    layout: Layout,
    state: State,
    entries: Sequence[Entry],
    log_size: int,
    unknown: Mapping[str, Any],
) -> dict[str, bytes]:
    """The projections of a log of ``log_size`` bytes, by path. ``unknown`` are the keys
    of other tools in its meta."""
    meta, edges, page_path = places_of(layout, state.topic)
    return {
        meta: projections.render_meta(state, log_size, unknown),
        edges: projections.render_edges(state.topic, entries),
        page_path: page.render(state, entries),
    }


def render_thread(layout: Layout, thread: Thread) -> dict[str, bytes]:
    """The projections of a thread that was read, by path."""
    snapshot = thread.snapshot
    size, unknown = snapshot.log_size, snapshot.unknown
    return render_files(layout, thread.state, thread.entries, size, unknown)


def is_older_meta(topic: str, disk: bytes, rendered: bytes) -> bool:
    """Return whether a meta on disk is from the same log as ``rendered``, by a wc with
    other rules, and unchanged since: its checksum holds. The next write to the thread
    renders it again."""
    old, new = (
        projections.read_meta(topic, disk),
        projections.read_meta(topic, rendered),
    )
    if isinstance(old, Damage) or isinstance(new, Damage) or old.state is None:
        return False
    return old.log_size == new.log_size and old.unknown == new.unknown
