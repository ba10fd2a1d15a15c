"""Who has which balls, by the small files of the status line alone.

Their names say holder, topic and since when (`wc_core.status.files`), so a look
at who waits for what costs a listing of folders and reads no thread.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from wc_core import ulid
from wc_core.errors import WcError
from wc_core.files import Folder, names_in
from wc_core.layout import key_of, safe_name
from wc_core.status.files import FREE_FOLDER, MAX_FILE_BYTES, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.identity.viewer import Viewer
    from wc_core.layout import Layout

_HEAD_LINES = 3


class HeldBall(NamedTuple):
    """A ball: the folder of its holder, and the name of its file in there."""

    folder: str
    name: str

    @property
    def since(self) -> str:
        """The ULID of the entry that put it there; zeros where none did."""
        return self.name[: ulid.LENGTH]

    @property
    def topic(self) -> str:
        """Its thread; empty where the name does not tell."""
        return key_of(self.name[ulid.LENGTH + 1 :])

    @property
    def is_free(self) -> bool:
        """Whether nobody has it."""
        return self.folder == FREE_FOLDER


class ViewerStatus(NamedTuple):
    """What a status file says to somebody: how many entries are NEW for them,
    ``None`` where it does not know; whether it lists them by name."""

    holder: str
    new: int | None
    listed: bool


def root_of(layout: Layout) -> str:
    """The folder with one folder for each holder."""
    return f"{layout.local}/status/holder"


def folders_of(viewer: Viewer) -> tuple[str, ...]:
    """The folders of balls that are ``viewer``'s: first of those for them in
    particular, then of those for any of their kind."""
    keys = viewer.directory.match_keys(viewer.identity.name)
    return tuple(safe_name(key) for key in keys)


def holders(layout: Layout) -> list[str]:
    """The folders of everybody who ever had a ball here; none where the files
    were never written or cannot be read."""
    try:
        return names_in(root_of(layout), layout.root)
    except WcError:
        return []  # doctor says what is in its place


def balls(layout: Layout, folders: Iterable[str]) -> list[HeldBall]:
    """The balls in these folders, those that have been there longest first."""
    found = [
        HeldBall(folder, name)
        for folder in folders
        for name in names_at(layout, f"{root_of(layout)}/{folder}")
    ]
    found.sort(key=lambda one: one.name)
    return found


def names_at(layout: Layout, folder: str) -> list[str]:
    """The names of status files in a folder; none where it cannot be read."""
    try:
        return [one for one in names_in(folder, layout.root) if _is_ours(one)]
    except WcError:
        return []


def _is_ours(name: str) -> bool:
    return name[ulid.LENGTH : ulid.LENGTH + 1] == "." and len(name) > ulid.LENGTH + 1


def show(layout: Layout, held: HeldBall, viewer: Viewer) -> ViewerStatus | None:
    """What the file of a ball says to ``viewer``; ``None`` where it is gone or
    of another version."""
    return next(shows(layout, [held], viewer))[1]


def shows(
    layout: Layout, found: Iterable[HeldBall], viewer: Viewer
) -> Iterator[tuple[HeldBall, ViewerStatus | None]]:
    """The same of many; the folder of a holder is opened once."""
    name = safe_name(viewer.key)
    with ExitStack() as stack:
        opened: dict[str, Folder] = {}
        for held in found:
            try:
                folder = opened.get(held.folder)
                if folder is None:
                    path = f"{root_of(layout)}/{held.folder}"
                    folder = stack.enter_context(Folder(path, layout.root))
                    opened[held.folder] = folder
                data = folder.read(held.name, MAX_FILE_BYTES) or b""
            except OSError:
                data = b""
            yield held, parse(data, name)


def parse(data: bytes, name: str) -> ViewerStatus | None:
    """The same, of the bytes of a file, for the one with that safe name."""
    lines = data.decode(errors="replace").split("\n")
    if len(lines) <= _HEAD_LINES or lines[0].partition(" ")[0] != VERSION:
        return None
    counts = dict(_counts(lines[_HEAD_LINES:]))
    return ViewerStatus(lines[2], counts.get(name, counts.get("*")), name in counts)


def _counts(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        number, _, name = line.partition(" ")
        if number.isascii() and number.isdecimal() and name:
            yield name, int(number)


def changed(layout: Layout, since_ns: int) -> list[HeldBall]:
    """The balls of threads in which something happened after ``since_ns``,
    nanoseconds since 1970 by the file system's clock.

    A folder in which nothing was put since is not looked into.
    """
    found = []
    for folder in holders(layout):
        try:
            with Folder(f"{root_of(layout)}/{folder}", layout.root) as one:
                if one.handle is None or os.fstat(one.handle).st_mtime_ns < since_ns:
                    continue
                found += [
                    HeldBall(folder, name)
                    for name in os.listdir(one.handle)
                    if _is_ours(name) and one.changed_ns(name) >= since_ns
                ]
        except OSError:
            continue  # as where a folder is in the place of one of these
    found.sort(key=lambda one: one.name)
    return found
