"""The words of a thread apart from those of its entries: its names and its tags.

A search finds each of the thread's entries by them.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.snapshot import Snapshot


class ThreadWords(NamedTuple):
    """All ``names`` of a thread, its topic first, its ``tags``, and its current
    ``name``."""

    names: str
    tags: str = ""
    name: str = ""


def thread_words(snapshot: Snapshot) -> ThreadWords:
    """Returns the words of a thread."""
    names = (snapshot.topic, *snapshot.state.names)
    return ThreadWords(" ".join(names), " ".join(snapshot.tags), snapshot.name)
