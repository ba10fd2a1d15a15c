"""Plans a merge: computes its tree from the trees of both sides.

Logs become the union of their entries and are never deleted. The projections of threads
that wc wrote are rendered from the merged logs. Everything else is merged three-way.
Reads only what differs, as much at a time as may be in memory, and writes nothing but
blobs that are too large to be kept.
"""

from __future__ import annotations

from itertools import chain

from wc_cli.ledger.branch import trees
from wc_cli.ledger.branch.commits import blob_id, store
from wc_cli.ledger.branch.compare import in_batches
from wc_cli.ledger.branch.treepaths import (
    OLDER_STORE,
    STORE,
    is_log,
    is_safe,
    paths_of,
    topic_at,
)
from wc_cli.ledger.branch.trees import MAX_FILE_BYTES, Sides
from wc_cli.ledger.merge.contents import merge_file
from wc_cli.ledger.merge.logs import old_entries, unite, whole_of
from wc_cli.ledger.merge.threeway import merge_keys
from wc_cli.ledger.store.rendering import render_files
from wc_core.base.errors import Damage
from wc_core.base.lean.functools import partial
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, folding, model, projections
from wc_core.ledger.threads.longlines import (
    MAX_LOG_BYTES,
    expanded,
    expanded_size,
    has_long,
)
from wc_core.ledger.threads.pages import page as page_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.branch.treepaths import Paths
    from wc_cli.ledger.branch.trees import TreeItem
    from wc_cli.ledger.merge.logs import LogUnion
    from wc_cli.ledger.merge.threeway import Keys
    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.longlines import LogText
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.projections import Meta

# The bytes of merged files in memory; larger ones are given to git at once.
_MOST_HELD = 64 * 1024 * 1024


class TreeChange(NamedTuple):
    """The new content of a path: the bytes ``data``, or else the object ``blob``, which
    the repository has. Without a mode, the path is removed."""

    path: str
    mode: str = ""
    data: bytes | None = None
    blob: str = ""


class MergePlan(NamedTuple):
    """The tree of a merge, as changes to ours, removals first.

    ``gained`` are the entries that we get, by topic, without their bodies. ``outvoted``
    are the files whose merged version lacks something of ours.
    """

    changes: tuple[TreeChange, ...]
    gained: Mapping[str, tuple[Entry, ...]]
    outvoted: tuple[str, ...]


def plan_merge(git: Git, base: str | None, ours: str, theirs: str) -> MergePlan:
    """Plan the merge of two commits with the merge base ``base``, if any. Raises
    GitError."""
    return _Planner(git, base, ours, theirs).plan()


class _Planner:
    """Plans one merge. ``differing`` are the paths at which the sides differ; ``sides``
    are these and the other paths of the same threads."""

    def __init__(self, git: Git, base: str | None, ours: str, theirs: str) -> None:
        self.git = git
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.changed_since_base = trees.differences(git, base, ours) if base else {}
        self.differing = {
            path: self._sides(path, *pair)
            for path, pair in trees.differences(git, ours, theirs).items()
            if is_safe(path)
        }
        self.sides = dict(self.differing)
        # The lengths of the files to read, and what was read, by blob.
        self.sizes: dict[str, int] = {}
        self.logs: dict[str, LogText] = {}
        self.blobs: dict[str, bytes] = {}
        self.held = 0
        self.changes: dict[str, TreeChange] = {}
        self.gained: dict[str, tuple[Entry, ...]] = {}
        self.outvoted: set[str] = set()

    def _sides(
        self, path: str, ours: TreeItem | None, theirs: TreeItem | None
    ) -> Sides:
        base = None
        if self.base:
            changed = self.changed_since_base
            base = changed[path][0] if path in changed else ours
        return Sides(base, ours, theirs)

    def plan(self) -> MergePlan:
        topics = sorted({topic_at(path) for path in self.differing} - {""})
        self._add_same_files(topics)
        merged_topics = [topic for topic in topics if self._has_log(topic)]
        other_paths = set(self.differing)
        for batch in self._read_threads(merged_topics):
            for topic in batch:
                other_paths -= self._merge_thread(topic)
        self._merge_files(sorted(other_paths))
        self._separate_files_from_folders()
        changes = sorted(
            self.changes.values(), key=lambda change: (change.mode, change.path)
        )
        return MergePlan(tuple(changes), self.gained, tuple(sorted(self.outvoted)))

    # --- reading ------------------------------------------------------------

    def _add_same_files(self, topics: Iterable[str]) -> None:
        """Add the files of these threads that are the same on both sides."""
        paths = {path for topic in topics for path in paths_of(topic)}
        paths |= {paths_of(topic, OLDER_STORE).page for topic in topics}
        paths -= set(self.sides)
        items = trees.items(self.git, self.ours, paths)
        for path in paths:
            item = items.get(path)
            self.sides[path] = self._sides(path, item, item)

    def _layout_of(self, topic: str) -> Layout:
        """The layout by which a thread has its page."""
        usual, older = (
            any(self.sides[paths_of(topic, layout).page])
            for layout in (STORE, OLDER_STORE)
        )
        return OLDER_STORE if older and not usual else STORE

    def _paths_of(self, topic: str) -> Paths:
        return paths_of(topic, self._layout_of(topic))

    def _has_log(self, topic: str) -> bool:
        log = self.sides[paths_of(topic).log]
        return any(item and item.is_file for item in log[1:])

    def _read_threads(self, topics: Iterable[str]) -> Iterator[list[str]]:
        """Read these threads in batches, and yield the topics of each."""
        logs = {topic: self._logs_of(topic) for topic in topics}
        projections = {topic: self._projections_of(topic) for topic in logs}
        ids = {topic: {*logs[topic], *projections[topic]} for topic in logs}
        self.sizes |= trees.sizes(self.git, chain.from_iterable(ids.values()))
        for batch in in_batches(ids, self.sizes):
            log_ids = {blob for topic in batch for blob in logs[topic]}
            readable = {blob for blob in log_ids if self.sizes[blob] <= MAX_LOG_BYTES}
            sizes = {blob: self.sizes[blob] for blob in readable}
            self.logs = trees.logs(self.git, sizes)
            self._read(blob for topic in batch for blob in projections[topic])
            yield batch

    def _logs_of(self, topic: str) -> set[str]:
        """The blobs of a thread's logs, if both sides' files are needed."""
        paths = self._paths_of(topic)
        if self._is_ours_only(paths):
            return set()
        return _blobs_of(self.sides[paths.log][1:])

    def _projections_of(self, topic: str) -> set[str]:
        """The blobs of the other files of a thread that both sides have."""
        paths = self._paths_of(topic)
        if self._is_ours_only(paths) or self._is_theirs_only(paths):
            return set()
        return _blobs_of((*self.sides[paths.meta], *self.sides[paths.page]))

    def _read(self, blobs: Iterable[str]) -> None:
        """Read files, instead of those that were read before. Files that are too large
        are left out."""
        readable = {blob for blob in blobs if self.sizes[blob] <= MAX_FILE_BYTES}
        self.blobs = trees.blobs(self.git, readable)

    def _bytes(self, item: TreeItem | None) -> bytes | None:
        if item is None or not item.is_file:
            return None
        return self.blobs.get(item.blob)

    def _log(self, item: TreeItem | None) -> bytes | None:
        if item is None or not item.is_file:
            return None
        return self.logs[item.blob].data

    def _versions(self, path: str) -> Versions:
        return Versions(*(self._bytes(item) for item in self.sides[path]))

    def _is_ours_only(self, paths: Paths) -> bool:
        """Return whether only our side has any file of a thread."""
        return not any(self.sides[path].theirs for path in paths)

    def _is_theirs_only(self, paths: Paths) -> bool:
        return not any(self.sides[path].ours for path in paths)

    # --- threads ------------------------------------------------------------

    def _merge_thread(self, topic: str) -> set[str]:
        """Merge a thread that has a log. Returns the paths that are decided."""
        paths = self._paths_of(topic)
        if self._is_ours_only(paths):
            return set(paths)
        log_sides, page = self.sides[paths.log], self._versions(paths.page)
        if any(self._is_unread(item) for item in log_sides[1:]):
            self._keep_unread(paths)
            return set(paths)
        if self._is_theirs_only(paths):
            for path in paths:
                self._set_item(path, self.sides[path].theirs)
            log = self._log(log_sides.theirs) or b""
            self._note_gained(topic, unite(topic, log).entries)
            return set(paths)
        union, gained = merge_thread_logs(
            topic,
            page.base,
            ThreadSide(self._log(log_sides.ours), page.ours),
            ThreadSide(self._log(log_sides.theirs), page.theirs),
        )
        if gained:
            self._note_gained(topic, gained)
        metas = read_metas(topic, self._versions(paths.meta))
        union = self._set_log(paths.log, union)
        return {paths.log, *self._render(topic, paths, union, metas)}

    def _note_gained(self, topic: str, entries: Iterable[Entry]) -> None:
        self.gained[topic] = tuple(entry._replace(body="") for entry in entries)

    def _is_unread(self, item: TreeItem | None) -> bool:
        """Return whether an item is a log that is too large."""
        return item is not None and item.is_file and item.blob not in self.logs

    def _keep_unread(self, paths: Paths) -> None:
        """Keep the files of one side as they are, for a thread with a log that is too
        large: if both changed it, those of the larger log. The other side's entries
        stay where they are, on disk and in the history."""
        base, ours, theirs = self.sides[paths.log]
        side = 2 if ours == base else 1
        if base not in (ours, theirs):
            side = 1 + (self._size(ours) <= self._size(theirs))
            if side > 1 and ours not in (None, theirs):
                self.outvoted.add(paths.log)
        for path in paths:
            self._set_item(path, self.sides[path][side])

    def _size(self, item: TreeItem | None) -> int:
        return self.sizes[item.blob] if item is not None and item.is_file else -1

    def _set_log(self, path: str, union: LogUnion) -> LogUnion:
        """Set a log to a union. A line that is too long to be read is stored in pieces.
        Returns the union as it was set."""
        if not has_long(union.data):
            self._set_bytes(path, union.data)
            return union
        items = [item for item in self.sides[path][:0:-1] if item and item.is_file]
        texts = [self.logs[item.blob] for item in items]
        data = whole_of(union.data, *(text.data for text in texts))
        mode = self.sides[path].file_mode
        for item, text in zip(items, texts, strict=True):
            if data == text.data:
                self._set_item(path, item._replace(mode=mode))
                break
        else:
            size = expanded_size(data)
            blob = store(self.git, self.ours, size, partial(expanded, data, texts))
            self.changes[path] = TreeChange(path, mode, None, blob)
        return union._replace(data=data)

    def _render(
        self, topic: str, paths: Paths, union: LogUnion, metas: list[Meta | None]
    ) -> set[str]:
        """Render the projections of a thread that wc wrote. Returns the paths that are
        decided."""
        if not model.written_by_wc(union.entries):
            return set()
        newer = newer_meta(metas)
        unknown = {} if newer else self._unknown_keys(paths.meta, metas)
        state = folding.fold(topic, union.entries)._replace(lost=union.lost)
        size, layout = expanded_size(union.data), self._layout_of(topic)
        files = render_files(layout, state, union.entries, size, unknown)
        rendered = {_tree_path(path): data for path, data in files.items()}
        decided = {path for path in rendered if self._is_rendered(path, paths.log)}
        for path in decided:
            side = newer
            if not newer and path == paths.page:
                side = self._newer_page(topic, path)
            self._set_projection(path, rendered[path], side)
        return decided

    def _set_projection(self, path: str, data: bytes, newer_side: int) -> None:
        """Set a projection to the rendered one, or to the version of the side that a
        newer wc wrote, if there is one."""
        item = self.sides[path][newer_side] if newer_side else None
        if item is not None:
            self._set_item(path, item)
        else:
            self._set_bytes(path, data)

    def _unknown_keys(self, path: str, metas: list[Meta | None]) -> Mapping[str, Any]:
        """The other tools' keys in a merged meta."""
        keys = merge_unknown_keys(metas)
        if keys.outvoted:
            self.outvoted.add(path)
        return keys.values

    def _is_rendered(self, path: str, log: str) -> bool:
        """Return whether a projection must be rendered: it or the log differs or
        changes, and no side has a link or a folder in its place."""
        changed = log in self.changes or not {log, path}.isdisjoint(self.differing)
        items = self.sides[path][1:]
        return changed and all(item is None or item.is_file for item in items)

    def _newer_page(self, topic: str, path: str) -> int:
        """The side with a page of a newer wc, 0 for neither. Records any other text of
        our page as lost."""
        page = self._versions(path)
        base, ours, _ = self.sides[path]
        if ours != base and has_foreign_text(topic, page.ours):
            self.outvoted.add(path)
        return newer_page(topic, page)

    # --- files --------------------------------------------------------------

    def _merge_files(self, paths: list[str]) -> None:
        """Merge files that wc does not render."""
        ids = {
            path: _blobs_of(self.sides[path])
            for path in paths
            if self.sides[path].are_both_files
        }
        self.sizes |= trees.sizes(self.git, chain.from_iterable(ids.values()))
        mergeable = {
            path: blobs
            for path, blobs in ids.items()
            if all(self.sizes[blob] <= MAX_FILE_BYTES for blob in blobs)
        }
        for batch in in_batches(mergeable, self.sizes):
            self._read(blob for path in batch for blob in mergeable[path])
            for path in batch:
                merged = merge_file(path, *self._versions(path))
                self._set_bytes(path, merged.data or b"")
                if merged.outvoted:
                    self.outvoted.add(path)
        for path in set(paths).difference(mergeable):
            self._set_changed_item(path)

    def _set_changed_item(self, path: str) -> None:
        """Set a path that cannot be merged to the changed item."""
        sides = self.sides[path]
        item = sides.changed_item
        self._set_item(path, item)
        we_changed_it = sides.ours is not None and sides.ours != sides.base
        if we_changed_it and item == sides.theirs:
            self.outvoted.add(path)

    def _set_item(self, path: str, item: TreeItem | None) -> None:
        """Set a path to the item of one side."""
        if item == self.sides[path].ours:
            return
        if item is None:
            self.changes[path] = TreeChange(path)
        else:
            self.changes[path] = TreeChange(path, item.mode, None, item.blob)

    def _set_bytes(self, path: str, data: bytes) -> None:
        """Set the content of a path, using a side's blob if it has these bytes."""
        sides = self.sides[path]
        mode = sides.file_mode
        if sides.ours is not None and not sides.ours.is_file:
            self.outvoted.add(path)
        for item in filter(None, sides[1:]):
            if item.is_file and blob_id(data, item.blob) == item.blob:
                self._set_item(path, item._replace(mode=mode))
                return
        self.held += len(data)
        if self.held > _MOST_HELD:
            blob = store(self.git, self.ours, len(data), partial(iter, [data]))
            self.changes[path] = TreeChange(path, mode, None, blob)
        else:
            self.changes[path] = TreeChange(path, mode, data)

    def _separate_files_from_folders(self) -> None:
        """Where one side has a file and the other a folder, keep theirs, but always
        keep a log."""
        for file, inside in _paths_inside_files(self._final_paths()).items():
            is_theirs = self.sides[file].theirs is not None
            keeps_file = is_log(file) or (is_theirs and not any(map(is_log, inside)))
            for path in inside if keeps_file else [file]:
                self._remove(path)

    def _final_paths(self) -> set[str]:
        """The differing paths that the merged tree has so far."""
        paths = {path for path in self.differing if self.sides[path].ours is not None}
        for path, change in self.changes.items():
            if change.mode:
                paths.add(path)
            else:
                paths.discard(path)
        return paths

    def _remove(self, path: str) -> None:
        self.changes.pop(path, None)
        if self.sides[path].ours is not None:
            self.changes[path] = TreeChange(path)
            self.outvoted.add(path)


def _paths_inside_files(paths: set[str]) -> dict[str, list[str]]:
    """The paths that are also folders of others, with those others."""
    inside: dict[str, list[str]] = {}
    for path in sorted(paths):
        for folder in trees.folders_of(path):
            if folder in paths:
                inside.setdefault(folder, []).append(path)
    return inside


def _blobs_of(items: Iterable[TreeItem | None]) -> set[str]:
    return {item.blob for item in items if item is not None and item.is_file}


def _tree_path(path: str) -> str:
    return path.removeprefix("/")


class Versions(NamedTuple):
    """The content of a file in the three trees of a merge; ``None`` for no file."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


class ThreadSide(NamedTuple):
    """The log and the page of a thread on one side; ``None`` for a file it lacks."""

    log: bytes | None
    page: bytes | None

    def page_entries(self, topic: str) -> tuple[Entry, ...]:
        """The entries of the page, for a thread without a log, from before logs
        existed."""
        return () if self.log is not None else old_entries(topic, self.page)


class MergedLog(NamedTuple):
    """The log of a merged thread, and the entries that we get from it."""

    union: LogUnion
    gained: tuple[Entry, ...]


def merge_thread_logs(
    topic: str, base_page: bytes | None, ours: ThreadSide, theirs: ThreadSide
) -> MergedLog:
    """Merge the logs of a thread. For a side without a log, the entries of its page
    count. A log that is the same on both sides stays unchanged."""
    logs = (ours.log or b"", theirs.log or b"")
    pages = (ours.page_entries(topic), theirs.page_entries(topic))
    union = unite(topic, *logs)
    if any(pages):
        known_ids = _known_ids(topic, union, base_page)
        lines = _lines_without(pages, known_ids)
        union = unite(topic, *logs, b"".join(lines))
    elif ours.log == theirs.log:
        union = union._replace(data=logs[0])
    our_ids = union.ids[0] | {entry.id for entry in pages[0]}
    gained = tuple(entry for entry in union.entries if entry.id not in our_ids)
    return MergedLog(union, gained)


def _known_ids(topic: str, union: LogUnion, base_page: bytes | None) -> frozenset[str]:
    """The ids of entries that a page need not add."""
    ids = frozenset(entry.id for entry in union.entries)
    if model.written_by_wc(union.entries):
        return ids
    # Another tool's log may lack the ids that wc derives from a page.
    return ids.union(entry.id for entry in old_entries(topic, base_page))


def _lines_without(
    pages: Iterable[tuple[Entry, ...]], known_ids: frozenset[str]
) -> Iterator[bytes]:
    for page in pages:
        for position, entry in enumerate(page):
            if entry.id not in known_ids:
                yield codec.to_line(entry, position)


def read_metas(topic: str, meta: Versions) -> list[Meta | None]:
    """The metas of the three trees; ``None`` for a missing or unreadable one."""
    return [_read_meta(topic, data) for data in meta]


def _read_meta(topic: str, data: bytes | None) -> Meta | None:
    meta = projections.read_meta(topic, data) if data is not None else None
    return None if isinstance(meta, Damage) else meta


def newer_meta(metas: list[Meta | None]) -> int:
    """The side whose meta a newer wc wrote, see `_newer_side`."""
    versions = [meta.version if meta is not None else 0 for meta in metas[1:]]
    return _newer_side(versions, projections.VERSION)


def newer_page(topic: str, page: Versions) -> int:
    """The side whose page a newer wc wrote, see `_newer_side`."""
    versions = [_page_version(topic, data) for data in page[1:]]
    return _newer_side(versions, page_format.PROJECTION_VERSION)


def _newer_side(versions: list[int], current: int) -> int:
    """The side whose version is greater than ``current``: 1 for ours, 2 for theirs, 0
    for neither."""
    our_version, their_version = versions
    if max(versions) <= current:
        return 0
    return 1 if our_version > their_version else 2


def _page_version(topic: str, page: bytes | None) -> int:
    """The version of a page, which is in its head, before the first entry."""
    head, _, _ = (page or b"").partition(b"\n---\nEntry: ")
    return page_format.parse(topic, head + b"\n").version


def merge_unknown_keys(metas: list[Meta | None]) -> Keys:
    """Merge the keys of other tools. A missing or unreadable meta does not count as
    deleting them. If both have a new summary, theirs replaces ours."""
    base_keys: dict[str, Any] = {}
    if metas[0] is not None:
        base_keys = dict(metas[0].unknown)
    our_keys, their_keys = (
        base_keys if meta is None else meta.unknown for meta in metas[1:]
    )
    summary = their_keys.get(projections.SUMMARY)
    if summary not in {None, base_keys.get(projections.SUMMARY)}:
        own = {projections.SUMMARY, projections.SUMMARY_HASH}
        our_keys = {key: our_keys[key] for key in our_keys if key not in own}
    return merge_keys(base_keys, our_keys, their_keys)


def has_foreign_text(topic: str, page: bytes | None) -> bool:
    """Return whether a page that wc did not render contains more than entries."""
    if not page or _page_version(topic, page):
        return False
    parsed = page_format.parse(topic, page)
    return bool(parsed.damage) or not parsed.entries
