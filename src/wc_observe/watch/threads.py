"""Which threads of a store moved, by the looks of their files alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.layout import Layout, topic_of
from wc_observe.live.filestamps import stamp_of
from wc_observe.watch.addresses import Changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_observe.live.filestamps import Stamp


class ThreadLooks:
    """What the logs of the store at ``root`` look like from outside; of a
    thread that has none, its page."""

    def __init__(self, root: str) -> None:
        self._layout = Layout(root)
        self._seen = dict(self._all())

    @property
    def folders(self) -> tuple[str, str]:
        """The folders in which threads change."""
        return (self._layout.threads, self._layout.pages)

    def look(self, paths: frozenset[str] | None) -> Changes:
        """What moved since the last look: at these paths, or (None) at all."""
        names = None if paths is None else self._names(paths)
        if names is None:
            found = dict(self._all())
            names = found.keys() | self._seen.keys()
        else:
            found = dict(self._some(names))
        moved = {one for one in names if found.get(one) != self._seen.get(one)}
        listed = any((one in found) != (one in self._seen) for one in moved)
        for one in moved:
            if one in found:
                self._seen[one] = found[one]
            else:
                del self._seen[one]
        return Changes(frozenset(map(topic_of, moved)), listed)

    def _names(self, paths: frozenset[str]) -> set[str] | None:
        """The file names of the threads that paths belong to; None for all."""
        names = set()
        for path in paths:
            for folder in self.folders:
                if path == folder:
                    return None
                if path.startswith(f"{folder}/"):
                    name = path[len(folder) + 1 :].partition("/")[0]
                    names.add(name.removesuffix(".md"))
        return names

    def _all(self) -> Iterator[tuple[str, Stamp]]:
        names = {*_names_in(self._layout.threads)}
        pages = _names_in(self._layout.pages)
        names |= {name[:-3] for name in pages if name.endswith(".md")}
        yield from self._some(names - {""})

    def _some(self, names: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
        for name in names:
            stamp = stamp_of(f"{self._layout.threads}/{name}/entries.jsonl")
            if stamp.size <= 0:
                stamp = stamp_of(f"{self._layout.pages}/{name}.md")
            if stamp.size > 0:
                yield name, stamp


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # who reads it will be told why
