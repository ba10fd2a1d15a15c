"""The paths of threads in a git tree, relative to the store's root."""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import OLDER_PAGES, PAGES, Layout, is_older_lock, topic_of
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

# The layouts of a store in a tree: its pages are in one of two folders. Their paths
# begin with a slash, unlike those of trees.
STORE, OLDER_STORE = Layout("", PAGES), Layout("", OLDER_PAGES)
# The characters that HFS+ ignores when it compares names.
_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


class Paths(NamedTuple):
    """The paths of a thread's files."""

    log: str
    meta: str
    edges: str
    page: str


def paths_of(topic: str, store: Layout = STORE) -> Paths:
    """The paths of a thread."""
    places = (store.log, store.meta, store.edges, store.page)
    return Paths(*(place(topic).removeprefix("/") for place in places))


def topic_at(path: str) -> str:
    """The topic of the thread to whose log or projection a path belongs; empty for
    every other path."""
    name = _thread_name(path)
    try:
        topic = topic_of(name) if name else ""
        stores = (STORE, OLDER_STORE) if topic else ()
        return topic if any(path in paths_of(topic, s) for s in stores) else ""
    except InvalidInputError:
        return ""  # longer than any file name


def _thread_name(path: str) -> str:
    """The part of a path where the name of a thread's folder or page would be."""
    *folders, file = path.split("/")
    if "/".join(folders) in {PAGES, OLDER_PAGES} and file.endswith(".md"):
        return file.removesuffix(".md")
    *above, name = folders or [""]
    return name if "/".join(above) == STORE.threads[1:] else ""


def is_safe(path: str) -> bool:
    """Return whether a path may be checked out: no part of it leads out of the checkout
    or is git's own folder, under any name that a file system takes for it
    (git-config(1) core.protectHFS and core.protectNTFS)."""
    return all(map(_is_plain, path.replace("\\", "/").split("/")))


def is_local(path: str) -> bool:
    """Return whether a path is in ``.local``, which belongs to one machine, under any
    name that a file system takes for it."""
    return _folded(path.replace("\\", "/").split("/")[0]) in {".local", "local~1"}


def belongs(path: str) -> bool:
    """Return whether a path of the branch may be written to the folder: it is not local
    to this machine, not a lock of the older tool, and git would write it too."""
    return not is_older_lock(path) and is_safe(path) and not is_local(path)


def _is_plain(name: str) -> bool:
    if name in {"", ".", ".."}:
        return False
    return _folded(name) not in {"", ".git", "git~1"}


def _folded(name: str) -> str:
    """A name as HFS+ and NTFS compare it with others."""
    return _INVISIBLE.sub("", name).casefold().partition(":")[0].rstrip(" .")


def is_log(path: str) -> bool:
    """Return whether a path is the log of a thread."""
    topic = topic_at(path)
    return bool(topic) and path == paths_of(topic).log
