"""What stands where wc keeps files and folders of its own and is neither."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from wc_core.layout import ATTRIBUTES, IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.layout import Layout

# Lines that files in the root of a store must have.
SHARED = ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED))

_FOLDERS = frozenset(
    {"locks", "locks/threads", "unsettled", "cursors", "status", "me", "imported"}
    | {"quarantine", "scratch", "presence", "sessions"}
)
_FILES = frozenset(
    {"locks/git", "locks/travel", "settling.json", "sync.json", "committing"}
    | {"applied", "index.md"}
)
# Folders that have nothing but files.
_OF_FILES = frozenset({"locks/threads/", "unsettled/", "presence/", "sessions/"})
_QUARANTINE = "quarantine"


class Stray(NamedTuple):
    """Something in the way: where, and what it is. One that is not
    ``movable`` is in the way of quarantine itself."""

    path: str
    message: str
    movable: bool = True


def strays(layout: Layout, *, deep: bool = True) -> Iterator[Stray]:
    """Everything that is in the way in a store, its threads left aside; what
    is deeper below ``.local`` on request."""
    for path in (layout.local, f"{layout.local}/{_QUARANTINE}"):
        if message := in_the_way(path, "folder"):
            yield Stray(path, message, movable=False)
            return
    for path in folders(layout):
        if message := in_the_way(path, "folder"):
            yield Stray(path, message)
            break  # what is below is looked at when this is mended
    for name, _ in SHARED:
        if message := in_the_way(f"{layout.root}/{name}", "file"):
            yield Stray(f"{layout.root}/{name}", message)
    yield from _in_local(layout.local, "", deep=deep)


def folders(layout: Layout) -> tuple[str, ...]:
    """The folders that all threads are in, the outer ones first."""
    baseline = os.path.dirname(layout.threads)
    return (os.path.dirname(baseline), baseline, layout.threads, layout.pages)


def _in_local(folder: str, inside: str, *, deep: bool) -> Iterator[Stray]:
    """Likewise below ``.local``, ``inside`` being the part of the path below
    it; what has a name of somebody else's is theirs."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda one: one.name)
    except FileNotFoundError:
        return
    except OSError as error:
        yield Stray(folder, f"cannot be read: {error.strerror}", movable=False)
        return
    for entry in entries:
        name = f"{inside}{entry.name}"
        if not inside and name not in _FOLDERS | _FILES:
            continue
        if not _fits(entry, name, inside):
            wanted = "folder" if name in _FOLDERS else "file"
            yield Stray(entry.path, in_the_way(entry.path, wanted))
        elif deep and entry.is_dir(follow_symlinks=False) and name != _QUARANTINE:
            yield from _in_local(entry.path, f"{name}/", deep=deep)


def _fits(entry: os.DirEntry[str], name: str, inside: str) -> bool:
    """Whether something below ``.local`` is of a kind that may be there."""
    if entry.is_file(follow_symlinks=False):
        return name not in _FOLDERS
    if not entry.is_dir(follow_symlinks=False):
        return False
    return name not in _FILES and inside not in _OF_FILES


def in_the_way(path: str, wanted: str) -> str:
    """What is at ``path`` instead of a ``file`` or ``folder``; empty where
    there is one, or nothing at all."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""  # nothing there, or whoever reads it will say what is wrong
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if wanted == "folder":
        return "" if stat.S_ISDIR(mode) else "is no folder, and one belongs there"
    if stat.S_ISDIR(mode):
        return "is a folder, and a file belongs there"
    return "" if stat.S_ISREG(mode) else "is not a regular file"
