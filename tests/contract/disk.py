"""A model of a disk: what is on it is what was flushed, and the power may go
at any moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.contract.faults import Call

# What a power cut may leave of what was not flushed: nothing; the names of
# files, not their contents; the contents of files that had their names.
LEAVES = ("nothing", "names", "contents")
Left = dict[str, bytes | None]


class File:
    """What a file has in memory, and what of it is on the disk."""

    def __init__(self, data: bytes = b"") -> None:
        self.now = data
        self.safe = data


class Folder:
    """The names in a folder, and which of them are on the disk."""

    def __init__(self) -> None:
        self.now: dict[str, File | Folder] = {}
        self.safe: dict[str, File | Folder] = {}


class Disk:
    """A folder of files; all that is there at the beginning is flushed."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.top = _load(root)

    def make(self, call: Call) -> None:
        """Take note of a call that was made, and that went well or nowhere."""
        making = getattr(self, f"_{call.name}", None)
        if making is not None and f"{call.path}/".startswith(f"{self.root}/"):
            making(call)

    def _find(self, path: str) -> File | Folder | None:
        here: File | Folder | None = self.top
        for name in path[len(self.root) :].strip("/").split("/"):
            if name:
                here = here.now.get(name) if isinstance(here, Folder) else None
        return here

    def _parent(self, path: str) -> dict[str, File | Folder]:
        folder = self._find(os.path.dirname(path))
        return folder.now if isinstance(folder, Folder) else {}

    def _open(self, call: Call) -> None:
        if call.detail & os.O_CREAT:
            self._parent(call.path).setdefault(os.path.basename(call.path), File())

    def _mkdir(self, call: Call) -> None:
        self._parent(call.path).setdefault(os.path.basename(call.path), Folder())

    def _write(self, call: Call) -> None:
        file = self._find(call.path)
        assert isinstance(file, File)
        file.now += call.detail  # all we write is written at the end

    def _pwrite(self, call: Call) -> None:
        file = self._find(call.path)
        assert isinstance(file, File)
        data, at = call.detail
        file.now = file.now[:at] + data + file.now[at + len(data) :]

    def _ftruncate(self, call: Call) -> None:
        file = self._find(call.path)
        assert isinstance(file, File)
        file.now = file.now[: call.detail]

    def _unlink(self, call: Call) -> None:
        self._parent(call.path).pop(os.path.basename(call.path), None)

    def _link(self, call: Call) -> None:
        what = self._parent(call.path)[os.path.basename(call.path)]
        self._parent(call.detail)[os.path.basename(call.detail)] = what

    def _rename(self, call: Call) -> None:
        what = self._parent(call.path).pop(os.path.basename(call.path))
        self._parent(call.detail)[os.path.basename(call.detail)] = what

    def _fsync(self, call: Call) -> None:
        here = self._find(call.path)
        if isinstance(here, File):
            here.safe = here.now
        elif here is not None:
            here.safe = dict(here.now)

    def left(self, what: str) -> Left:
        """What is found when the power is back: the data of every file, by
        path; ``None`` for a folder."""
        found: Left = {}
        _collect(self.top, what, "", found)
        return found


def _load(path: str) -> Folder:
    folder = Folder()
    for one in os.scandir(path):
        if one.is_dir(follow_symlinks=False):
            folder.now[one.name] = _load(one.path)
        else:
            with open(one.path, "rb") as file:
                folder.now[one.name] = File(file.read())
    folder.safe = dict(folder.now)
    return folder


def _collect(here: Folder, what: str, folder: str, found: Left) -> None:
    for name, one in (here.now if what == "names" else here.safe).items():
        path = f"{folder}/{name}"
        if isinstance(one, Folder):
            found[path] = None
            _collect(one, what, path, found)
        else:
            found[path] = one.now if what == "contents" else one.safe


def put(left: Left, folder: str) -> None:
    """Make a folder of what is left."""
    os.mkdir(folder)
    for path, data in left.items():
        if data is None:
            os.mkdir(folder + path)
        else:
            with open(folder + path, "wb") as file:
                file.write(data)
