"""Which threads, paths and branches belong to which areas."""

from __future__ import annotations

from fnmatch import fnmatchcase

from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.names import near_names
from wc_core.ledger.planning.kinds import PARENT
from wc_core.ledger.remarks.references import references
from wc_core.reading.views.rows import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow

    PlacedThread: TypeAlias = State | ThreadRow
    from collections.abc import Sequence

    Areas = Mapping[str, Sequence[str]]


class ThreadAreas:
    """The areas of a store's threads. A thread is read again only if it has changed."""

    def __init__(self, reader: StoreReader, areas: Areas) -> None:
        self.reader = reader
        self.areas = areas
        self._own: dict[str, tuple[str, tuple[str, ...]]] = {}

    def of(self, threads: Iterable[PlacedThread]) -> dict[str, tuple[str, ...]]:
        """The areas of each of these threads, by topic: those of the files and the
        branch that it is about, and those of the thread that it is a part of."""
        by_topic = {thread.topic: thread for thread in threads}
        own = {topic: self._areas_of(thread) for topic, thread in by_topic.items()}
        return {topic: _inherited(topic, by_topic, own) for topic in by_topic}

    def _areas_of(self, thread: PlacedThread) -> tuple[str, ...]:
        last_id, areas = self._own.get(thread.topic, (None, ()))
        if last_id != thread.last_id:
            areas = self._read(thread)
            self._own[thread.topic] = (thread.last_id, areas)
        return areas

    def _read(self, thread: PlacedThread) -> tuple[str, ...]:
        try:
            entries = self.reader.thread(thread.topic).entries
        except WcError:
            return ()  # lists show that it cannot be read
        files = {path for entry in entries for path in references(entry).files}
        return areas_of(files, thread.branch, self.areas)


def _inherited(
    topic: str,
    threads: Mapping[str, PlacedThread],
    own: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    """The areas of a thread and of all that it is a part of. Parts can form a cycle if
    two clones link them at the same time."""
    areas: dict[str, None] = {}
    waiting, seen = [topic], set[str]()
    while waiting:
        current = waiting.pop()
        if current in seen or current not in threads:
            continue
        seen.add(current)
        areas.update(dict.fromkeys(own[current]))
        links = threads[current].links
        waiting += [link.topic for link in links if link.kind == PARENT]
    return tuple(areas)


def areas_by_topic(
    overview: Overview, areas: Areas, rows: Iterable[ThreadRow]
) -> dict[str, tuple[str, ...]]:
    """Returns the areas of each of these threads. Reads only them and those that they
    are a part of."""
    by_topic = {row.topic: row for row in rows}
    asked = [*by_topic]
    pending = {*by_topic}
    while pending:
        parents = {
            link.topic
            for topic in pending
            for link in by_topic[topic].links
            if link.kind == PARENT
        }
        missing = frozenset(parents - by_topic.keys())
        found = overview.matching(Filter(topics=missing)) if missing else []
        pending = {row.topic for row in found}
        by_topic |= {row.topic: row for row in found}
    placed = ThreadAreas(overview.reader, areas).of(by_topic.values())
    return {topic: placed[topic] for topic in asked}


def checked(name: str, areas: Areas) -> str:
    """An area in the settings. Raises InvalidInputError."""
    if name in areas:
        return name
    near = near_names(name, list(areas))
    hint = f"Did you mean: {', '.join(near)}? " if near else ""
    listed = ", ".join(areas) or "none yet; make one: wc config set areas.api 'src/**'"
    raise InvalidInputError(f"There is no area {name!r}.", f"{hint}Areas: {listed}")


def in_area(overview: Overview, areas: Areas, area: str, criteria: Filter) -> Filter:
    """The filter, restricted to the threads of an area. Raises InvalidInputError if
    there is no such area."""
    area = checked(area, areas)
    placed = ThreadAreas(overview.reader, areas).of(overview.rows())
    topics = frozenset(topic for topic, names in placed.items() if area in names)
    if criteria.topics is not None:
        topics &= criteria.topics
    return criteria._replace(topics=topics)


_BRANCH = "branch:"
_ANY_FOLDERS = "**"


def areas_of(paths: Iterable[str], branch: str, areas: Areas) -> tuple[str, ...]:
    """The areas that any of these paths, or the branch, belongs to."""
    parts = [path.strip("/").split("/") for path in paths]
    return tuple(
        area
        for area, patterns in areas.items()
        if any(_fits(pattern, parts, branch) for pattern in patterns)
    )


def _fits(pattern: str, paths: Iterable[Sequence[str]], branch: str) -> bool:
    if pattern.startswith(_BRANCH):
        return branch != "" and fnmatchcase(branch, pattern.removeprefix(_BRANCH))
    words = pattern.strip("/").split("/")
    return any(_covers(words, path) for path in paths)


def _covers(words: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a pattern, word by word, matches a path or a folder that it is in."""
    # The positions of names that the words up to here can match.
    reached = {0}
    for word in words:
        if word == _ANY_FOLDERS:
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {
                count + 1
                for count in reached
                if count < len(path) and fnmatchcase(path[count], word)
            }
        if not reached:
            return False
    return True
