"""Finds foreign objects in the place of wc's files and folders."""

from __future__ import annotations

import os
import stat

from wc_cli.ledger.store.sharedlines import SHARED
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout


_FOLDERS = frozenset(
    {"locks", "locks/threads", "unsettled", "cursors", "me", "imported"}
    | {"quarantine", "scratch", "presence", "sessions", "loops", "elsewhere"}
    | {"authors", "names", "merges", "snapshots", "activity", "line"}
)
_FILES = frozenset(
    {"locks/git", "locks/travel", "settling.json", "sync.json", "committing"}
    | {"applied", "index.md", "git-user.json", "radar.json"}
)
# Folders that contain only files.
_FOLDERS_OF_FILES = frozenset(
    {"locks/threads/", "unsettled/", "presence/", "sessions/", "loops/"}
    | {"authors/", "activity/", "elsewhere/", "line/"}
)
_QUARANTINE = "quarantine"


class Stray(NamedTuple):
    """A foreign object: its path, and what it is. Not ``movable`` if it is in the way
    of the quarantine folder itself."""

    path: str
    message: str
    movable: bool = True


def find_strays(layout: Layout) -> Iterator[Stray]:
    """Everything that is in the way in a store, except in its threads."""
    for path in (layout.local, f"{layout.local}/{_QUARANTINE}"):
        if message := obstruction(path, "folder"):
            yield Stray(path, message, movable=False)
            return
    for path in thread_folders(layout):
        if message := obstruction(path, "folder"):
            yield Stray(path, message)
            break  # what is below is checked once this is repaired
    for name, _ in SHARED:
        if message := obstruction(f"{layout.root}/{name}", "file"):
            yield Stray(f"{layout.root}/{name}", message)
    yield from _local_strays(layout.local, "")


def thread_folders(layout: Layout) -> tuple[str, ...]:
    """The folders that contain all threads, the outer ones first."""
    baseline = os.path.dirname(layout.threads)
    return (os.path.dirname(baseline), baseline, layout.threads, layout.pages)


def _local_strays(folder: str, inside: str) -> Iterator[Stray]:
    """Everything in the way below ``.local``; ``inside`` is the path relative to it. A
    name that wc does not use there belongs to someone else."""
    try:
        entries = _entries(folder, inside)
    except OSError as error:
        yield Stray(folder, f"cannot be read: {error.strerror}", movable=False)
        return
    for name, entry in entries:
        if not _fits(entry, name, inside):
            kind = "folder" if name in _FOLDERS else "file"
            yield Stray(entry.path, obstruction(entry.path, kind))
        elif entry.is_dir(follow_symlinks=False) and name != _QUARANTINE:
            yield from _local_strays(entry.path, f"{name}/")


def _entries(folder: str, inside: str) -> list[tuple[str, os.DirEntry[str]]]:
    """What is in a folder below ``.local``, with its path from there, sorted. Raises
    OSError."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    names = [(f"{inside}{entry.name}", entry) for entry in entries]
    return [pair for pair in names if inside or pair[0] in _FOLDERS | _FILES]


def _fits(entry: os.DirEntry[str], name: str, inside: str) -> bool:
    """Return whether something below ``.local`` is of the right kind for its place."""
    if entry.is_file(follow_symlinks=False):
        return name not in _FOLDERS
    if not entry.is_dir(follow_symlinks=False):
        return False
    return name not in _FILES and inside not in _FOLDERS_OF_FILES


def obstruction(path: str, kind: str) -> str:
    """A description of what is at ``path`` instead of a ``kind``, "file" or "folder";
    empty if it is one, or if nothing is there."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""  # nothing is there, or reading it reports the error
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if kind == "folder":
        return "" if stat.S_ISDIR(mode) else "is not a folder, and one belongs there"
    if stat.S_ISDIR(mode):
        return "is a folder, and a file belongs there"
    return "" if stat.S_ISREG(mode) else "is not a regular file"
