"""Where threads are in a tree: paths as git has them, from the store's root."""

from __future__ import annotations

from typing import NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.layout import Layout, topic_of

# The layout of a store as a tree has it, but for the slash it begins with.
STORE = Layout("")


class Paths(NamedTuple):
    """Where a thread is in a tree."""

    log: str
    meta: str
    edges: str
    page: str


def paths_of(topic: str) -> Paths:
    """The paths of a thread."""
    places = (STORE.log, STORE.meta, STORE.edges, STORE.page)
    return Paths(*(place(topic).removeprefix("/") for place in places))


def topic_at(path: str) -> str:
    """The topic of the thread that a path belongs to: its log, or a
    projection. Empty for every other path."""
    *folders, last = path.split("/")
    if folders == [STORE.pages[1:]] and last.endswith(".md"):
        name = last[:-3]
    else:
        *above, name = folders or [""]
        if "/".join(above) != STORE.threads[1:]:
            return ""
    try:
        topic = topic_of(name) if name else ""
        return topic if topic and path in paths_of(topic) else ""
    except InvalidInputError:
        return ""  # longer than the name of a file can be


def is_log(path: str) -> bool:
    """Whether a path is the log of a thread."""
    topic = topic_at(path)
    return bool(topic) and path == paths_of(topic).log
