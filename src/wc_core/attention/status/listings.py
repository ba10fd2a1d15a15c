"""The names of the balls that someone holds: what is in their folder."""

from __future__ import annotations

import os

from wc_core.base import ulid
from wc_core.base.files import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.layout import Layout


def root_of(layout: Layout) -> str:
    """Returns the folder that has a folder for each holder."""
    return f"{layout.local}/status/holder"


def only_balls(names: Iterable[str]) -> list[str]:
    """Returns those of these names that a ball can have, in their order."""
    # Without a call for each of possibly thousands.
    dot, least = ulid.LENGTH, ulid.LENGTH + 1
    return [name for name in names if len(name) > least and name[dot] == "."]


def read(layout: Layout, folder: str) -> list[str]:
    """Returns the names in the folder of a holder, longest held first; none if it
    cannot be read."""
    try:
        with Folder(f"{root_of(layout)}/{folder}", layout.root) as opened:
            if opened.handle is None:
                return []
            return only_balls(sorted(os.listdir(opened.handle)))
    except OSError:
        return []


class BallNames:
    """The names of a store's balls, by the folder of their holder. Each folder is read
    once, when its names are first needed."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._listed: dict[str, list[str]] = {}

    def of(self, folders: Iterable[str]) -> dict[str, list[str]]:
        """Returns the names in each of these folders, longest held first."""
        result = {}
        for folder in folders:
            if folder not in self._listed:
                self._listed[folder] = read(self.layout, folder)
            result[folder] = self._listed[folder]
        return result
