"""The names of the balls that someone holds: a folder's listing, or a copy of it.

Listing a folder of 2,500 names takes 1.5 ms, and a brief lists those of all holders. So
the command line keeps a copy of each long listing in a file. Its first line has the
folder's device and inode, and when the folder changed, and the copy counts only while
these are the same. A folder that has just changed is not copied: it may change again in
the same tick of the clock.

A copy has two parts, each with a checksum: the first line with the names at both ends,
and the names between these. A brief reads only the first part of most copies.
"""

from __future__ import annotations

import os

from wc_core import ulid
from wc_core.files import Folder, read_from
from wc_core.index import decisions
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.layout import Layout

HEADER = "watercooler balls 2"
# As many names are at each end of a copy.
ENDS = 300
# The first part of most copies is shorter.
_ENDS_BYTES = 1 << 16
# File times are coarser than our clock.
MARGIN_NS = 2_000_000_000
# The size of a folder with so many names that reading a copy is quicker.
LONG = 1 << 15


class Listed(NamedTuple):
    """The names in a folder, sorted; only those at its ends unless it ``is_whole``.
    ``header`` is the first line of a copy of them, empty unless they were listed and
    are many; ``changed_ns`` is when the folder last changed."""

    names: list[str]
    header: str = ""
    changed_ns: int = 0
    is_whole: bool = True


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


def read(layout: Layout, folder: str, *, only_ends: bool = False) -> Listed:
    """Returns the names in the folder of a holder; none if it cannot be read. If it
    ``only_ends`` are needed, those between the ends are not read from a copy."""
    try:
        with Folder(f"{root_of(layout)}/{folder}", layout.root) as opened:
            if opened.handle is None:
                return Listed([])
            # Before it is listed, so that a change in between makes the copy invalid.
            status, header = os.fstat(opened.handle), ""
            changed_ns = status.st_ctime_ns
            if status.st_size >= LONG:
                header = f"{HEADER} {status.st_dev} {status.st_ino} {changed_ns}"
                names = _copied(layout, folder, header, only_ends=only_ends)
                if names is not None:
                    return Listed(names, is_whole=not only_ends)
            names = only_balls(sorted(os.listdir(opened.handle)))
    except OSError:
        return Listed([])
    return Listed(names, header, changed_ns)


def _copied(
    layout: Layout, folder: str, header: str, *, only_ends: bool
) -> list[str] | None:
    """Returns the names in a copy with this header, or those at its ends; ``None`` if
    there is no such copy, or it is damaged."""
    path = copy_path(layout, folder)
    try:
        data = read_from(path, layout.root, 0, _ENDS_BYTES if only_ends else 0)
        end = _end_of_ends(data)
        if only_ends and not end:
            data = read_from(path, layout.root, 0)
            end = _end_of_ends(data)
    except OSError:
        return None
    ends = decisions.lines_in(data[:end])
    if not ends or ends[0] != header:
        return None
    if only_ends:
        return ends[1:]
    between = decisions.lines_in(data[end:])
    if between is None:
        return None
    return ends[1 : ENDS + 1] + between + ends[ENDS + 1 :]


def _end_of_ends(data: bytes) -> int:
    """Returns the length of the first part of a copy; 0 if it is not whole."""
    checksum = data.find(b"\n=") + 1
    return data.find(b"\n", checksum) + 1 if checksum else 0


def _render(listed: Listed) -> bytes:
    """Returns the copy of a listing."""
    names, count = listed.names, max(ENDS, len(listed.names) - ENDS)
    ends = (listed.header, *names[:ENDS], *names[count:])
    return decisions.render_lines(ends) + decisions.render_lines(names[ENDS:count])


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

    def ends(self, folders: Iterable[str]) -> dict[str, list[str]]:
        """Returns the same, but perhaps only the first and the last `ENDS` names in a
        folder that has more."""
        result = {}
        for folder in folders:
            listed = self._listed.get(folder)
            if listed is None:
                listed = read(self.layout, folder, only_ends=True)
                if listed.is_whole:
                    self._listed[folder] = listed
            result[folder] = listed.names
        return result

    @property
    def has_long(self) -> bool:
        """Whether a folder was listed that is so long that a copy is worthwhile."""
        return any(listed.header for listed in self._listed.values())

    def copies(self) -> dict[str, bytes]:
        """Returns the copies to keep of long listings, by folder."""
        return {
            folder: _render(listed)
            for folder, listed in self._listed.items()
            if listed.header
            and listed.changed_ns + MARGIN_NS < self._now_ns
            and not any("\n" in name for name in listed.names)
        }
