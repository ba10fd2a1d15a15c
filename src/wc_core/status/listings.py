"""The names of the balls that someone holds: a folder's listing, or a copy of it.

Listing a folder of 2,500 names takes 1.5 ms, and a brief lists those of all holders. So
the command line keeps a copy of each long listing in a file. Its first line has the
folder's device and inode, and when the folder changed, and the copy counts only while
these are the same. A folder that has just changed is not copied: it may change again in
the same tick of the clock.
"""

from __future__ import annotations

from wc_core import ulid
from wc_core.files import Folder
from wc_core.index import decisions
from wc_core.lean import os
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.layout import Layout

HEADER = "watercooler balls 1"
# File times are coarser than our clock.
MARGIN_NS = 2_000_000_000
# The size of a folder with so many names that reading a copy is quicker.
LONG = 1 << 15


class Listed(NamedTuple):
    """The names in a folder, sorted. ``header`` is the first line of a copy of them,
    empty unless they were listed and are many; ``changed_ns`` is when the folder last
    changed."""

    names: list[str]
    header: str = ""
    changed_ns: int = 0


def root_of(layout: Layout) -> str:
    """Returns the folder that has a folder for each holder."""
    return f"{layout.local}/status/holder"


def copy_path(layout: Layout, folder: str) -> str:
    """Returns the file for the copy of a holder's listing."""
    return f"{layout.ball_listings}/{folder}"


def only_balls(names: Iterable[str]) -> list[str]:
    """Returns those of these names that a ball can have, in their order."""
    # Without a call for each of possibly thousands.
    dot, least = ulid.LENGTH, ulid.LENGTH + 1
    return [name for name in names if len(name) > least and name[dot] == "."]


def read(layout: Layout, folder: str) -> Listed:
    """Returns the names in the folder of a holder; none if it cannot be read."""
    try:
        with Folder(f"{root_of(layout)}/{folder}", layout.root) as opened:
            if opened.handle is None:
                return Listed([])
            # Before it is listed, so that a change in between makes the copy invalid.
            status, header = os.fstat(opened.handle), ""
            changed_ns = status.st_ctime_ns
            if status.st_size >= LONG:
                header = f"{HEADER} {status.st_dev} {status.st_ino} {changed_ns}"
                copy = decisions.read_lines(layout, copy_path(layout, folder))
                if copy and copy[0] == header:
                    return Listed(copy[1:])
            names = only_balls(sorted(os.listdir(opened.handle)))
    except OSError:
        return Listed([])
    return Listed(names, header, changed_ns)


class BallNames:
    """The names of a store's balls, by the folder of their holder. Each folder is read
    once, when its names are first needed, and not before ``now_ns``."""

    def __init__(self, layout: Layout, now_ns: int) -> None:
        self.layout = layout
        self._now_ns = now_ns
        self._listed: dict[str, Listed] = {}

    def of(self, folders: Iterable[str]) -> dict[str, list[str]]:
        """Returns the names in each of these folders, longest held first."""
        result = {}
        for folder in folders:
            if folder not in self._listed:
                self._listed[folder] = read(self.layout, folder)
            result[folder] = self._listed[folder].names
        return result

    @property
    def has_long(self) -> bool:
        """Whether a folder was listed that is so long that a copy is worthwhile."""
        return any(listed.header for listed in self._listed.values())

    def copies(self) -> dict[str, bytes]:
        """Returns the copies to keep of long listings, by folder."""
        return {
            folder: decisions.render_lines((listed.header, *listed.names))
            for folder, listed in self._listed.items()
            if listed.header
            and listed.changed_ns + MARGIN_NS < self._now_ns
            and not any("\n" in name for name in listed.names)
        }
