"""Which threads of a store changed, based only on the stamps of their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.base.layout import Layout, topic_of
from wc_core.base.values import NamedTuple
from wc_observe.stores.live.filestamps import stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_observe.stores.live.filestamps import Stamp


class Changes(NamedTuple):
    """The changed threads of a store. ``listed`` if one was added or removed."""

    topics: frozenset[str] = frozenset()
    listed: bool = False


class ThreadStamps:
    """The stamps of all logs of a store; for a thread without a log, of its page."""

    def __init__(self, root: str) -> None:
        self._layout = Layout(root)
        self._stamps = dict(self._all_stamps())

    @property
    def folders(self) -> tuple[str, str]:
        """The folders in which threads change."""
        return (self._layout.threads, self._layout.pages)

    @property
    def topics(self) -> frozenset[str]:
        """The threads with entries, when they were last read."""
        return frozenset(map(topic_of, self._stamps))

    def changes_at(self, paths: frozenset[str] | None) -> Changes:
        """Returns what changed since the last call: at these paths, or (None)
        anywhere."""
        names = None if paths is None else self._names(paths)
        if names is None:
            stamps = dict(self._all_stamps())
            names = stamps.keys() | self._stamps.keys()
        else:
            stamps = dict(self._stamps_of(names))
        moved = {name for name in names if stamps.get(name) != self._stamps.get(name)}
        listed = any((name in stamps) != (name in self._stamps) for name in moved)
        for name in moved:
            if name in stamps:
                self._stamps[name] = stamps[name]
            else:
                del self._stamps[name]
        return Changes(frozenset(map(topic_of, moved)), listed)

    def _names(self, paths: frozenset[str]) -> set[str] | None:
        """Returns the file names of the threads that paths belong to; None means
        all."""
        names = set()
        for path in paths:
            for folder in self.folders:
                if path == folder:
                    return None
                if path.startswith(f"{folder}/"):
                    name = path[len(folder) + 1 :].partition("/")[0]
                    names.add(name.removesuffix(".md"))
        return names

    def _all_stamps(self) -> Iterator[tuple[str, Stamp]]:
        names = {*_names_in(self._layout.threads)}
        pages = _names_in(self._layout.pages)
        names |= {name[:-3] for name in pages if name.endswith(".md")}
        yield from self._stamps_of(names - {""})

    def _stamps_of(self, names: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
        for name in names:
            stamp = stamp_of(f"{self._layout.threads}/{name}/entries.jsonl")
            if stamp.size <= 0:
                stamp = stamp_of(self._layout.page(topic_of(name)))
            if stamp.size > 0:
                yield name, stamp


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # reading the store reports why
