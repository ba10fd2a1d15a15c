"""Where threads are in a tree: paths as git has them, from the store's root."""

from __future__ import annotations

import re
from typing import NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.layout import Layout, topic_of

# The layout of a store as a tree has it, but for the slash it begins with.
STORE = Layout("")
# What HFS+ leaves out when it compares names.
_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


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


def is_safe(path: str) -> bool:
    """Whether a path may be in a checkout at all: no part of it leads out, or is
    git's own folder under any name that a file system takes for that, as
    git-config(1) core.protectHFS and core.protectNTFS have it."""
    return all(map(_is_plain, path.replace("\\", "/").split("/")))


def _is_plain(name: str) -> bool:
    if name in {"", ".", ".."}:
        return False
    seen = _INVISIBLE.sub("", name).casefold().partition(":")[0].rstrip(" .")
    return seen not in {"", ".git", "git~1"}


def is_log(path: str) -> bool:
    """Whether a path is the log of a thread."""
    topic = topic_at(path)
    return bool(topic) and path == paths_of(topic).log
