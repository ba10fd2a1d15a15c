"""What the tree of a merge is, from the trees of both sides.

Logs become unions of their entries and are never deleted; the projections of
threads that wc wrote follow from them; everything else is merged three-way.
Only what differs is read, and nothing is written here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.branch import trees
from wc_cli.branch.commits import blob_id
from wc_cli.branch.treepaths import STORE, is_log, is_safe, paths_of, topic_at
from wc_cli.branch.trees import Sides
from wc_cli.merge.contents import merge_file, old_entries, unite
from wc_cli.merge.threeway import merge_keys
from wc_cli.store.rendering import render_files
from wc_core.threads import codec, model, projections
from wc_core.threads import page as markdown
from wc_core.threads.codec import Damage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_cli.branch.git import Git
    from wc_cli.branch.treepaths import Paths
    from wc_cli.branch.trees import TreeItem
    from wc_cli.merge.contents import Union
    from wc_core.threads.model import Entry
    from wc_core.threads.projections import Meta


class TreeChange(NamedTuple):
    """What a path becomes: bytes, or where there are none the object
    ``blob``, which the repository has; without a mode nothing is there."""

    path: str
    mode: str = ""
    data: bytes | None = None
    blob: str = ""


class MergePlan(NamedTuple):
    """The tree of a merge as changes to ours, removals first.

    ``gained`` are the entries that come to us, by topic; ``outvoted`` the
    files of which something of ours is not in the tree.
    """

    changes: tuple[TreeChange, ...]
    gained: Mapping[str, tuple[Entry, ...]]
    outvoted: tuple[str, ...]


def plan(git: Git, base: str | None, ours: str, theirs: str) -> MergePlan:
    """The merge of the commits ``ours`` and ``theirs``, which have ``base`` in
    common, or nothing. Raises GitError."""
    return _Planner(git, base, ours, theirs).plan()


class _Planner:
    def __init__(self, git: Git, base: str | None, ours: str, theirs: str) -> None:
        self.git = git
        self.base = base
        self.ours = ours
        self.since = trees.differences(git, base, ours) if base else {}
        self.differing = {
            path: self._sides(path, *pair)
            for path, pair in trees.differences(git, ours, theirs).items()
            if is_safe(path)
        }
        self.sides = dict(self.differing)
        self.data: dict[str, bytes] = {}
        self.changes: dict[str, TreeChange] = {}
        self.gained: dict[str, tuple[Entry, ...]] = {}
        self.outvoted: set[str] = set()

    def _sides(
        self, path: str, ours: TreeItem | None, theirs: TreeItem | None
    ) -> Sides:
        base = None
        if self.base:
            base = self.since[path][0] if path in self.since else ours
        return Sides(base, ours, theirs)

    def plan(self) -> MergePlan:
        topics = sorted({topic_at(path) for path in self.differing} - {""})
        self._look_up(topics)
        threads = [one for one in topics if self._has_log(one)]
        self._read_threads(threads)
        foreign = set(self.differing)
        for topic in threads:
            foreign -= self._merge_thread(topic)
        self._merge_files(sorted(foreign))
        self._part_files_from_folders()
        changes = sorted(self.changes.values(), key=lambda one: (one.mode, one.path))
        return MergePlan(tuple(changes), self.gained, tuple(sorted(self.outvoted)))

    # --- reading ------------------------------------------------------------

    def _look_up(self, topics: Iterable[str]) -> None:
        """Find what both sides have alike of the threads that differ."""
        paths = {path for one in topics for path in paths_of(one)} - set(self.sides)
        found = trees.items(self.git, self.ours, paths)
        for path in paths:
            item = found.get(path)
            self.sides[path] = self._sides(path, item, item)

    def _has_log(self, topic: str) -> bool:
        return any(one and one.is_file for one in self.sides[paths_of(topic).log][1:])

    def _read_threads(self, topics: Iterable[str]) -> None:
        wanted: list[TreeItem | None] = []
        for topic in topics:
            paths = paths_of(topic)
            log = self.sides[paths.log]
            if self._is_here_only(paths):
                continue
            wanted += log[1:]
            if not self._is_there_only(paths):
                wanted += [*self.sides[paths.meta], *self.sides[paths.page]]
        self._read(wanted)

    def _read(self, wanted: Iterable[TreeItem | None]) -> None:
        ids = {one.blob for one in wanted if one is not None and one.is_file}
        self.data |= trees.blobs(self.git, ids - set(self.data))

    def _bytes(self, item: TreeItem | None) -> bytes | None:
        return self.data[item.blob] if item is not None and item.is_file else None

    def _is_here_only(self, paths: Paths) -> bool:
        """Whether only we have anything of a thread."""
        return not any(self.sides[path].theirs for path in paths)

    def _is_there_only(self, paths: Paths) -> bool:
        return not any(self.sides[path].ours for path in paths)

    # --- threads ------------------------------------------------------------

    def _merge_thread(self, topic: str) -> set[str]:
        """Merge a thread that has a log; the paths that are decided by that."""
        paths = paths_of(topic)
        if self._is_here_only(paths):
            return set(paths)
        if self._is_there_only(paths):
            for path in paths:
                self._take(path, self.sides[path].theirs)
            log = self._bytes(self.sides[paths.log].theirs) or b""
            self.gained[topic] = unite(topic, log).entries
            return set(paths)
        union = self._union(topic, paths)
        if paths.log in self.differing:
            self._put(paths.log, union.data)
        return {paths.log, *self._project(topic, paths, union)}

    def _union(self, topic: str, paths: Paths) -> Union:
        """Both logs as one, with the entries of a page of the markdown age on
        a side without a log; what comes to us is noted."""
        logs = [self._bytes(item) for item in self.sides[paths.log][1:]]
        pages: list[tuple[Entry, ...]] = []
        for log, item in zip(logs, self.sides[paths.page][1:], strict=True):
            old = () if log is not None else old_entries(topic, self._bytes(item))
            pages.append(old)
        ours, theirs = (log or b"" for log in logs)
        union = unite(topic, ours, theirs)
        if paths.log not in self.differing:
            union = union._replace(data=ours)  # as it is
        if any(pages):
            known = {entry.id for entry in union.entries}
            if not model.written_by_wc(union.entries):
                # Another tool's log need not have the ids that we would give.
                before = self._bytes(self.sides[paths.page].base)
                known |= {entry.id for entry in old_entries(topic, before)}
            lines = [
                codec.to_line(entry, position)
                for page in pages
                for position, entry in enumerate(page)
                if entry.id not in known
            ]
            union = unite(topic, ours, theirs, b"".join(lines))
        had = union.ids[0] | {entry.id for entry in pages[0]}
        if came := tuple(entry for entry in union.entries if entry.id not in had):
            self.gained[topic] = came
        return union

    def _project(self, topic: str, paths: Paths, union: Union) -> set[str]:
        """Decide the projections of a thread; the paths that are decided."""
        if not model.written_by_wc(union.entries):
            return set()
        metas = [_meta(topic, self._bytes(item)) for item in self.sides[paths.meta]]
        state = model.fold(topic, union.entries)._replace(lost=union.lost)
        versions = [one.version if one is not None else 0 for one in metas[1:]]
        newer = _newer(versions, projections.VERSION)
        unknown = {} if newer else self._unknown(paths.meta, metas)
        wanted = render_files(STORE, state, union.entries, len(union.data), unknown)
        decided = set()
        for place, data in wanted.items():
            path = place.removeprefix("/")
            if paths.log not in self.differing and path not in self.differing:
                continue
            if any(item and not item.is_file for item in self.sides[path][1:]):
                continue  # a link, or a folder: not ours to replace
            decided.add(path)
            side = newer
            if not side and path == paths.page:
                side = self._newer_page(topic, path)
            item = self.sides[path][side] if side else None
            if item is not None:
                self._take(path, item)
            else:
                self._put(path, data)
        return decided

    def _newer_page(self, topic: str, path: str) -> int:
        """Which side has a page of a newer wc, see `_newer`."""
        base, *both = self.sides[path]
        pages = [self._bytes(item) for item in both]
        if both[0] != base and _says_more(topic, pages[0]):
            self.outvoted.add(path)
        versions = [_version(topic, page) for page in pages]
        return _newer(versions, markdown.PROJECTION_VERSION)

    def _unknown(self, path: str, metas: list[Meta | None]) -> Mapping[str, Any]:
        """The keys of other tools, of both sides; a meta that is gone or
        cannot be read did not delete any."""
        base = metas[0].unknown if metas[0] is not None else {}
        ours, theirs = (base if one is None else one.unknown for one in metas[1:])
        keys = merge_keys(base, ours, theirs)
        if keys.outvoted:
            self.outvoted.add(path)
        return keys.values

    # --- files --------------------------------------------------------------

    def _merge_files(self, paths: list[str]) -> None:
        """Merge files that wc does not know."""
        both = {one: self.sides[one] for one in paths if self.sides[one].are_both_files}
        self._read(item for sides in both.values() for item in sides)
        for path in paths:
            base, ours, theirs = sides = self.sides[path]
            if path not in both:
                item = sides.changed_item
                self._take(path, item)
                if ours is not None and item == theirs and base != ours:
                    self.outvoted.add(path)
                continue
            merged = merge_file(path, *(self._bytes(item) for item in sides))
            self._put(path, merged.data or b"")
            if merged.outvoted:
                self.outvoted.add(path)

    def _take(self, path: str, item: TreeItem | None) -> None:
        """Give a path what one of the sides has there."""
        if item == self.sides[path].ours:
            return
        if item is None:
            self.changes[path] = TreeChange(path)
        else:
            self.changes[path] = TreeChange(path, item.mode, None, item.blob)

    def _put(self, path: str, data: bytes) -> None:
        """Give a path these bytes, by name where a side has them."""
        sides = self.sides[path]
        mode = sides.file_mode
        if sides.ours is not None and not sides.ours.is_file:
            self.outvoted.add(path)
        for item in filter(None, sides[1:]):
            if item.is_file and blob_id(data, item.blob) == item.blob:
                self._take(path, item._replace(mode=mode))
                return
        self.changes[path] = TreeChange(path, mode, data)

    def _part_files_from_folders(self) -> None:
        """Where one side has a file and the other a folder, keep theirs, but
        for a log: that is kept in any case."""
        there = {path for path in self.differing if self.sides[path].ours is not None}
        there |= {path for path, one in self.changes.items() if one.mode}
        there -= {path for path, one in self.changes.items() if not one.mode}
        inside: dict[str, list[str]] = {}
        for path in sorted(there):
            for folder in trees.folders_of(path):
                if folder in there:
                    inside.setdefault(folder, []).append(path)
        for file, paths in inside.items():
            theirs = self.sides[file].theirs is not None
            stays = is_log(file) or (theirs and not any(map(is_log, paths)))
            for path in paths if stays else [file]:
                self._drop(path)

    def _drop(self, path: str) -> None:
        self.changes.pop(path, None)
        if self.sides[path].ours is not None:
            self.changes[path] = TreeChange(path)
            self.outvoted.add(path)


def _says_more(topic: str, page: bytes | None) -> bool:
    """Whether a page that wc did not render has more in it than entries."""
    if not page or _version(topic, page):
        return False
    parsed = markdown.parse(topic, page)
    return bool(parsed.damage) or not parsed.entries


def _meta(topic: str, data: bytes | None) -> Meta | None:
    meta = projections.read_meta(topic, data) if data is not None else None
    return None if isinstance(meta, Damage) else meta


def _version(topic: str, page: bytes | None) -> int:
    """The version of a page, from what stands before its first entry."""
    head, _, _ = (page or b"").partition(b"\n---\nEntry: ")
    return markdown.parse(topic, head + b"\n").version


def _newer(versions: list[int], known: int) -> int:
    """Which side has a version that a newer wc wrote, 1 for ours and 2 for
    theirs; 0 for neither."""
    ours, theirs = versions
    if max(versions) <= known:
        return 0
    return 1 if ours > theirs else 2
