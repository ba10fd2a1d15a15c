"""Who has which balls, from the names of the status line's files.

The names contain holder, topic and since when (`wc_core.attention.status.files`), so
this takes a listing of folders and reads no thread.
"""

from __future__ import annotations

import os
from itertools import islice

from wc_core.attention.status import balls, listings
from wc_core.attention.status.files import MAX_FILE_BYTES, VERSION
from wc_core.attention.status.listings import only_balls, root_of
from wc_core.base.errors import WcError
from wc_core.base.files import Folder, OpenFolders, names_in
from wc_core.base.layout import safe_name
from wc_core.base.text import whole_number
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from wc_core.attention.status.places import Surroundings
    from wc_core.base.layout import Layout
    from wc_core.people.identity.viewer import Viewer

_HEAD_LINES = 3
# The first line, with the longest status, is shorter.
_HEAD_BYTES = 256
_MAX_DIGITS = 18
HeldBall = balls.HeldBall


class ViewerStatus(NamedTuple):
    """A status file as seen by a viewer: the number of their NEW entries, ``None`` if
    unknown, whether it lists them by name, and the thread's status."""

    holder: str
    new: int | None
    listed: bool
    status: str = ""

    @property
    def may_list(self) -> bool:
        """Whether it lists them, or leaves out participants for lack of room."""
        return self.listed or self.new is None


def folders_of(viewer: Viewer) -> tuple[str, ...]:
    """Returns the folders of the balls that are the viewer's or offered to them."""
    keys = viewer.directory.match_keys(viewer.identity.name)
    return tuple(safe_name(key) for key in keys)


def own_folders_of(viewer: Viewer) -> tuple[str, ...]:
    """Returns the folders of balls that are the viewer's, not only offered to them
    (`Directory.whose`)."""
    keys = viewer.directory.own_keys(viewer.identity.name)
    return tuple(safe_name(key) for key in keys)


def holder_folders(layout: Layout) -> list[str]:
    """Returns the folders of everyone who ever had a ball; none if the files were never
    written or cannot be read."""
    try:
        return names_in(root_of(layout), layout.root)
    except WcError:
        return []  # wc doctor reports what is in its place


def seated_folders(layout: Layout, surroundings: Surroundings) -> list[str]:
    """Returns the folders of holders whose balls are where ``surroundings`` are because
    of the seat."""
    folders = dict.fromkeys(map(safe_name, surroundings.seat_keys()))
    others = holder_folders(layout) if surroundings.seats else []
    return surroundings.seated(folders | dict.fromkeys(others))


def held_balls(layout: Layout, folders: Iterable[str]) -> list[HeldBall]:
    """Returns the balls in these folders, longest held first."""
    return [*in_order(held_names(layout, folders))]


def held_names(layout: Layout, folders: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of the balls in each of these folders, longest held first."""
    return {folder: listings.read(layout, folder) for folder in folders}


def without(
    names: Mapping[str, Sequence[str]], known: Collection[str]
) -> dict[str, list[str]]:
    """Returns the same names by folder, except those that are known."""
    return {
        folder: [name for name in items if name not in known]
        for folder, items in names.items()
    }


def in_order(
    names: Mapping[str, Sequence[str]],
    first: Collection[str] = (),
    *,
    latest_first: bool = False,
) -> Iterator[HeldBall]:
    """Yields the balls with these names by folder: those with a name in ``first``, then
    all others, each longest held first, or ``latest_first``. Of thousands, only those
    that are needed are made."""
    pairs = [(name, folder) for folder in names for name in names[folder]]
    pairs.sort(reverse=latest_first)
    preferred = [pair for pair in pairs if pair[0] in first] if first else []
    for name, folder in preferred:
        yield HeldBall(folder, name)
    for name, folder in pairs:
        if name not in first:
            yield HeldBall(folder, name)


def latest_balls(names: Mapping[str, Sequence[str]], count: int) -> list[HeldBall]:
    """Returns at most ``count`` of the balls with these sorted names by folder: those
    passed last, latest first."""
    ends = {folder: items[-count:] for folder, items in names.items()}
    return [*islice(in_order(ends, latest_first=True), count)]


def earliest_balls(
    names: Mapping[str, Sequence[str]], count: int, before: str
) -> list[HeldBall]:
    """Returns at most ``count`` of the balls with these sorted names by folder: those
    held longest, and passed before the ULID ``before``."""
    ends = {
        folder: [name for name in items[:count] if name < before]
        for folder, items in names.items()
    }
    return [*islice(in_order(ends), count)]


def asked_of(layout: Layout, viewer: Viewer) -> list[HeldBall]:
    """Returns the open questions to the viewer, oldest first; each has the question's
    entry in place of the ball's."""
    result = [
        HeldBall(folder, name)
        for folder in folders_of(viewer)
        for name in names_at(layout, f"{layout.local}/status/asked/{folder}")
    ]
    result.sort(key=lambda question: question.name)
    return result


def names_at(layout: Layout, folder: str) -> list[str]:
    """Returns the names of status files in a folder, sorted; none if it cannot be
    read."""
    try:
        names = names_in(folder, layout.root)
    except WcError:
        return []
    return only_balls(names)


def viewer_status(
    layout: Layout, held: HeldBall, viewer: Viewer
) -> ViewerStatus | None:
    """Returns the content of a ball's file for ``viewer``; ``None`` if it no longer
    exists or has another version."""
    return next(viewer_statuses(layout, [held], viewer))[1]


def viewer_statuses(
    layout: Layout, held_balls: Iterable[HeldBall], viewer: Viewer
) -> Iterator[tuple[HeldBall, ViewerStatus | None]]:
    """Yields the same for many balls. The folder of a holder is opened once."""
    name = safe_name(viewer.key)
    with OpenFolders(layout.root) as folders:
        for held in held_balls:
            path = f"{root_of(layout)}/{held.folder}/{held.name}"
            try:
                data = folders.read(path, MAX_FILE_BYTES) or b""
            except OSError:
                data = b""
            yield held, parse_status(data, name)


def thread_statuses(layout: Layout, folder: str, names: Sequence[str]) -> list[str]:
    """Returns the status of the thread of each ball with these names in the folder of a
    holder; empty if its file no longer exists or has another version."""
    try:
        with Folder(f"{root_of(layout)}/{folder}", layout.root) as opened:
            heads = [
                head.partition(b"\n")[0] for head in opened.heads(names, _HEAD_BYTES)
            ]
    except OSError:
        heads = []
    # There may be thousands of heads, but only a few different ones.
    texts = {head: _status_in(head) for head in {*heads}}
    statuses = [texts[head] for head in heads]
    return statuses or [""] * len(names)


def _status_in(first_line: bytes) -> str:
    """Returns the status in the first line of a file; empty if it is not known."""
    version, _, status = first_line.decode(errors="replace").partition(" ")
    return status if version == VERSION else ""


def parse_status(data: bytes, name: str) -> ViewerStatus | None:
    """Returns the content of a file for the viewer with that safe name."""
    lines = data.decode(errors="replace").split("\n")
    if len(lines) <= _HEAD_LINES or lines[0].partition(" ")[0] != VERSION:
        return None
    status = lines[0].partition(" ")[2]
    counts = lines[_HEAD_LINES:]
    own = _count_of(name, counts)
    new = _count_of("*", counts) if own is None else own
    return ViewerStatus(lines[2], new, own is not None, status)


def _count_of(name: str, lines: Sequence[str]) -> int | None:
    """Returns the number beside a name in lines of a file, the last one; ``None`` if
    there is none."""
    end = f" {name}"
    for line in reversed(lines):
        if line.endswith(end):
            count = whole_number(line.removesuffix(end), _MAX_DIGITS)
            if count is not None:
                return count
    return None


def changed_balls(layout: Layout, since_ns: int) -> list[HeldBall]:
    """Returns the balls of threads in which something happened after ``since_ns``,
    nanoseconds since 1970 by the file system's clock.

    Folders without additions since then are not read.
    """
    recent = []
    for folder in holder_folders(layout):
        try:
            with Folder(f"{root_of(layout)}/{folder}", layout.root) as opened:
                names = _names_changed_since(opened, since_ns)
        except OSError:
            continue  # such as a folder in place of a file
        recent += [HeldBall(folder, name) for name in only_balls(names)]
    recent.sort(key=lambda ball: ball.name)
    return recent


def _names_changed_since(opened: Folder, since_ns: int) -> list[str]:
    """Returns the names in the open folder of a holder that changed then or later, in
    any order. Raises OSError."""
    if opened.handle is None or os.fstat(opened.handle).st_mtime_ns < since_ns:
        return []
    return opened.names_changed_since(since_ns)
