"""Rendering the projections of a thread: the bytes of its files beside the log."""

from __future__ import annotations

from wc_core.threads import projections
from wc_core.threads.pages import page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.layout import Layout
    from wc_core.threads.model import Entry, State
    from wc_core.threads.reader import Thread


def render_files(
    layout: Layout,
    state: State,
    entries: Sequence[Entry],
    log_size: int,
    unknown: Mapping[str, Any],
) -> dict[str, bytes]:
    """The projections of a log of ``log_size`` bytes, by path. ``unknown`` are the
    keys of other tools in its meta."""
    topic = state.topic
    return {
        layout.meta(topic): projections.render_meta(state, log_size, unknown),
        layout.edges(topic): projections.render_edges(topic, entries),
        layout.page(topic): page.render(state, entries),
    }


def render_thread(layout: Layout, thread: Thread) -> dict[str, bytes]:
    """The projections of a thread as it was read, by path."""
    snapshot = thread.snapshot
    size, unknown = snapshot.log_size, snapshot.unknown
    return render_files(layout, thread.state, thread.entries, size, unknown)
