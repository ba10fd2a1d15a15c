"""Which files of a worktree use which, and what that means for one of them."""

from __future__ import annotations

import os
from types import MappingProxyType

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# A file with more neighbours is a hub: they are summarised by folder.
HUB = 50
_MAX_PATH = 300


class FileUse(NamedTuple):
    """A neighbour: its path, and the names that one of the two files uses from the
    other."""

    path: str
    names: tuple[str, ...]


class Neighbourhood(NamedTuple):
    """The neighbours of the target: the files that it uses, and those that use it."""

    uses: tuple[FileUse, ...] = ()
    used_by: tuple[FileUse, ...] = ()

    @property
    def is_hub(self) -> bool:
        """Whether there are so many that they are summarised."""
        return max(len(self.uses), len(self.used_by)) > HUB

    def to_json(self) -> dict[str, Any]:
        """The neighbours shape; for a hub, with counts by folder."""
        return {"uses": _side_json(self.uses), "used_by": _side_json(self.used_by)}


class Graph(NamedTuple):
    """The files of a worktree that can be parsed, and for each those that it uses, with
    the names of theirs that occur in it.

    - ``at_ms``: when it was computed
    - ``head``: the commit that was checked out then
    - ``key``: different where any file is
    """

    uses: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    at_ms: int = 0
    head: str = ""
    key: str = ""

    def files_of(self, path: str) -> list[str]:
        """The file at a path, or those in a folder; ``.`` is the whole worktree."""
        if path in self.uses:
            return [path]
        prefix = "" if path == "." else f"{path}/"
        return [file for file in self.uses if file.startswith(prefix)]

    def neighbourhood(self, path: str, symbol: str = "") -> Neighbourhood | None:
        """The neighbours of a file or folder, without the files in it. For a symbol,
        those that use it by name; what it uses itself is not distinguished from what
        its file uses. ``None`` if nothing is known: no file there can be parsed."""
        own = set(self.files_of(path))
        if not own:
            return None
        name = symbol.rpartition(".")[2]
        uses: dict[str, set[str]] = {}
        used_by: dict[str, set[str]] = {}
        for user, targets in self.uses.items():
            if user in own:
                for target, names in targets.items():
                    uses.setdefault(target, set()).update(names)
                continue
            for target in own & targets.keys():
                if not name or name in targets[target]:
                    used_by.setdefault(user, set()).update(targets[target])
        return Neighbourhood(_rows(uses, own), _rows(used_by, own))


def _rows(neighbours: Mapping[str, set[str]], own: set[str]) -> tuple[FileUse, ...]:
    return tuple(
        FileUse(path, tuple(sorted(names)))
        for path, names in sorted(neighbours.items())
        if path not in own
    )


def by_folder(uses: Iterable[FileUse]) -> list[tuple[str, int]]:
    """The number of files per folder, most first."""
    counts: dict[str, int] = {}
    for use in uses:
        folder = os.path.dirname(use.path) or "."
        counts[folder] = counts.get(folder, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _side_json(uses: tuple[FileUse, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {"total": len(uses)}
    if len(uses) > HUB:
        counts = by_folder(uses)[:HUB]
        return fields | {"folders": {_path(name): count for name, count in counts}}
    files = {_path(use.path): list(map(one_line, use.names)) for use in uses}
    return fields | {"files": files}


def _path(path: str) -> str:
    return one_line(path, _MAX_PATH)
