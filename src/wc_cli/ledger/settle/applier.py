"""Applies changes that others made on the branch to the store's folder.

The folder is written live, so git never checks out, resets or merges there.
``.local/applied`` names the commit whose tree the folder has. If the branch is at
another commit, because wc merged, a user's git did, or a process died half-way, the
difference is applied thread by thread. Each step is idempotent.
"""

from __future__ import annotations

import os
from itertools import chain

from wc_cli.ledger.branch import commits, trees
from wc_cli.ledger.branch.compare import in_batches, too_large
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.branch.treepaths import (
    OLDER_STORE,
    belongs,
    is_log,
    is_safe,
    paths_of,
    topic_at,
)
from wc_cli.ledger.merge.contents import merge_file
from wc_cli.ledger.merge.logs import merge_logs, old_entries, split_torn, whole_of
from wc_cli.ledger.merge.threeway import merge_keys
from wc_cli.ledger.settle.spared import spared_lines
from wc_cli.ledger.store import durable, pending, quarantine
from wc_core.base.errors import CorruptError, Damage, NotFoundError, WcError
from wc_core.base.files import NotPlainError, read_plain, size_of
from wc_core.base.lean import contextlib, re
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, model, projections
from wc_core.ledger.threads.longlines import MAX_LOG_BYTES, expanded, has_long
from wc_core.ledger.threads.pages import page as page_format
from wc_core.ledger.threads.projections import Meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    from wc_cli.ledger.branch.git import Git
    from wc_cli.ledger.branch.trees import TreeItem
    from wc_cli.ledger.store.upkeep import Upkeep
    from wc_core.ledger.threads.longlines import LogText
    from wc_core.ledger.threads.reader import Thread

    Pair: TypeAlias = tuple[TreeItem | None, TreeItem | None]

# The quarantine folder for files that belong to no thread.
_CONFLICTS = "conflicts"
_MARK = re.compile(rb"(?m)^(?:<{7}|>{7}|\|{7}|={7})(?: [^\n]*)?\r?\n")


class FileChange(NamedTuple):
    """The content of a file in two commits; ``None`` where a commit lacks it, or where
    it is too large. Of a log, it is `LogText.data`, and ``texts`` are the logs."""

    old: bytes | None
    new: bytes | None
    texts: tuple[LogText, ...] = ()


_NO_CHANGE = FileChange(None, None)


class Applier:
    """Applies the difference between two commits to a store's folder. The caller holds
    the git lock.

    ``unread`` has the reason for each file or thread that is not applied because it is
    too large. That holds up nothing else, and stays as it is on both sides.
    """

    def __init__(self, upkeep: Upkeep, git: Git) -> None:
        self.upkeep = upkeep
        self.git = git
        self.layout = upkeep.layout
        self.reader = upkeep.reader
        self.unread: dict[str, str] = {}
        self._old = self._commit = ""
        # The paths that are new on the branch and not written to the folder.
        self.unwritten: tuple[str, ...] = ()

    def apply(self, old: str, new: str) -> Iterator[tuple[str, str]]:
        """Apply the changes from the commit ``old`` to ``new`` to the folder.

        Nothing in the folder is lost: logs become unions, and other files are merged
        with changes that a user may have made. Yields each thread that failed, "" for
        another file, with the reason.
        """
        self._old, self._commit = old, new
        yield from self._apply_pairs(self._without_deleted(self._pairs(old, new)))

    def restore(
        self, commit: str, paths: Mapping[str, bool]
    ) -> Iterator[tuple[str, str]]:
        """Restore from ``commit`` the logs of the threads that a user's git touched at
        ``paths``, and mark these threads to be settled.

        A path with a conflict (a true value) that belongs to no thread gets its content
        from ``commit``; its content on disk is kept in quarantine. Yields as `apply`
        does.
        """
        conflicts = [path for path, conflict in paths.items() if conflict]
        outside = [path for path in conflicts if not topic_at(path) and belongs(path)]
        for path, item in trees.items(self.git, commit, outside).items():
            disk = read_plain(f"{self.layout.root}/{path}", self.layout.root)
            data = self._blob(item)
            if disk and data is not None:
                quarantine.keep(self.layout, _CONFLICTS, disk)
                durable.create(f"{self.layout.root}/{path}", data, self.layout.root)
        yield from self._restore_logs(commit, paths)
        for topic in pending.unsettled_topics(self.layout):
            # Settling it says what is wrong with a log that cannot be read.
            with contextlib.suppress(CorruptError):
                self.restore_spared(topic)

    def _blob(self, item: TreeItem) -> bytes | None:
        """The content of a file other than a log; ``None`` for anything else, or if it
        is too large."""
        if not item.is_file:
            return None
        size = trees.sizes(self.git, [item.blob])[item.blob]
        if size > trees.MAX_FILE_BYTES:
            return None
        return trees.blobs(self.git, [item.blob])[item.blob]

    def _restore_logs(
        self, commit: str, paths: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        topics = {topic for topic in map(topic_at, paths) if topic}
        logs = {paths_of(topic).log: self.layout.log(topic) for topic in topics}
        items = trees.items(self.git, commit, logs)
        files = {path: item for path, item in items.items() if item.is_file}
        on_disk = {path for path, log in logs.items() if os.path.lexists(log)}
        pairs = {
            path: (files.get(path), files.get(path)) for path in {*files, *on_disk}
        }
        yield from self._apply_pairs(pairs)

    def restore_spared(self, topic: str) -> None:
        """Restore to a log the entries that its marker has and no commit has yet."""
        if lines := spared_lines(self.upkeep, topic):
            self._apply_thread(topic, {paths_of(topic).log: FileChange(lines, lines)})

    def _apply_pairs(self, pairs: Mapping[str, Pair]) -> Iterator[tuple[str, str]]:
        for topic, changes in self._units(pairs):
            try:
                if topic:
                    self._apply_thread(topic, changes)
                else:
                    self._apply_files(changes)
            except (WcError, GitError, OSError, ValueError) as error:
                yield topic, f"not taken in: {_error_text(error)}"

    def _without_deleted(self, pairs: Mapping[str, Pair]) -> Mapping[str, Pair]:
        """The ``pairs`` without the files outside of threads that were committed in
        this checkout and then deleted from it."""
        absent = [
            path
            for path, (_, new) in pairs.items()
            if new and not topic_at(path) and not self._is_on_disk(path)
        ]
        if not absent:
            return pairs
        seen = trees.seen_on_disk(self.git, absent)
        return {
            path: (old, new)
            for path, (old, new) in pairs.items()
            if path not in seen or new is None or seen[path] != new.blob
        }

    def _is_on_disk(self, path: str) -> bool:
        return os.path.lexists(f"{self.layout.root}/{path}")

    def _units(
        self, pairs: Mapping[str, Pair]
    ) -> Iterator[tuple[str, dict[str, FileChange]]]:
        """The changes that succeed or fail together: those of a thread, by topic, or of
        a single other file."""
        threads: dict[str, list[str]] = {}
        for path in pairs:
            # Other files are units of their own; no topic has a slash.
            threads.setdefault(topic_at(path) or f"/{path}", []).append(path)
        ids = {
            key: [item.blob for path in paths for item in pairs[path] if item]
            for key, paths in threads.items()
        }
        sizes = trees.sizes(self.git, chain.from_iterable(ids.values()))
        readable = {
            key: blobs
            for key, blobs in ids.items()
            if key.startswith("/") or not self._is_unread_thread(key, pairs, sizes)
        }
        for batch in in_batches(readable, sizes):
            paths = chain.from_iterable(threads[key] for key in batch)
            changes = self._changes({path: pairs[path] for path in paths}, sizes)
            for key in batch:
                topic = "" if key.startswith("/") else key
                yield topic, {p: changes[p] for p in threads[key] if p in changes}

    def _pairs(self, old: str, new: str) -> dict[str, Pair]:
        """The content of two commits at the paths where they differ, if these belong
        into the folder."""
        try:
            items = trees.differences(self.git, old, new)
        except GitError:
            # The old commit is no longer in any ref, and git removed it.
            items = trees.differences(self.git, commits.empty_tree(self.git), new)
        new_items = {path: item for path, (_, item) in items.items() if item}
        self.unwritten = tuple(filter(is_safe, trees.unwritable(new_items)))
        return {
            path: pair
            for path, pair in items.items()
            if belongs(path) and all(item is None or item.is_file for item in pair)
        }

    def _is_unread_thread(
        self, topic: str, pairs: Mapping[str, Pair], sizes: Mapping[str, int]
    ) -> bool:
        """Return whether a thread is not applied, because its new log is too large. If
        it is here, settling names it again and again."""
        _, new = pairs.get(paths_of(topic).log, (None, None))
        if new is None or sizes[new.blob] <= MAX_LOG_BYTES:
            return False
        self.unread[topic] = too_large(sizes[new.blob])
        if os.path.lexists(self.layout.log(topic)):
            durable.touch(self.upkeep.marker(topic), self.layout.root)
        return True

    def _changes(
        self, pairs: Mapping[str, Pair], sizes: Mapping[str, int]
    ) -> dict[str, FileChange]:
        """The changes at these paths, without the files whose new content is too
        large."""
        logs: dict[str, int] = {}
        files: set[str] = set()
        for path, pair in pairs.items():
            limit = MAX_LOG_BYTES if is_log(path) else trees.MAX_FILE_BYTES
            for blob in (item.blob for item in pair if item):
                if sizes[blob] > limit:
                    continue
                if is_log(path):
                    logs[blob] = sizes[blob]
                else:
                    files.add(blob)
        texts, blobs = trees.logs(self.git, logs), trees.blobs(self.git, files)
        changes = {}
        for path, pair in pairs.items():
            old, new = (item.blob if item is not None else "" for item in pair)
            if is_log(path):
                used = {blob: texts[blob] for blob in (old, new) if blob in texts}
                data = {blob: text.data for blob, text in used.items()}
                change = FileChange(data.get(old), data.get(new), (*used.values(),))
                changes[path] = change
            elif new and new not in files:
                self._note_unread(path, sizes[new])
            else:
                changes[path] = FileChange(blobs.get(old), blobs.get(new))
        return changes

    def _note_unread(self, path: str, size: int) -> None:
        limit = trees.MAX_FILE_BYTES
        self.unread[path] = f"has {size} bytes, more than is read ({limit})"

    def _apply_thread(self, topic: str, changes: dict[str, FileChange]) -> None:
        layout, root = self.layout, self.layout.root
        paths = paths_of(topic)
        with self.upkeep.lock(topic):
            self.upkeep.local.stamp.remove()
            before = self._state_before(topic)
            if paths.log in changes or os.path.lexists(layout.log(topic)):
                durable.make_folder(layout.folder(topic), root)
                # Settling then renders it, and commits our differences.
                durable.touch(self.upkeep.marker(topic), root)
            if log := changes.pop(paths.log, None):
                older_page = changes.get(paths_of(topic, OLDER_STORE).page, _NO_CHANGE)
                page = changes.get(paths.page, older_page)
                lines = self._import_page(topic, log, page)
                self._merge_log(topic, log, *lines)
            self._apply_projections(topic, changes, before)

    def _import_page(
        self, topic: str, log: FileChange, page: FileChange
    ) -> list[bytes]:
        """The log lines for the entries of a thread that was only a page and now gets a
        log. The page on disk is kept in quarantine."""
        if log.old is not None:
            return []
        layout, root = self.layout, self.layout.root
        disk_log = self.reader.log_bytes(topic)
        # Beside a log, the page is a projection, or git's merge of two.
        disk_page = read_plain(layout.page(topic), root) if disk_log is None else None
        new = codec.read_log(topic, log.new or b"").entries
        present = codec.read_log(topic, disk_log or b"").entries
        ids = {entry.id for entry in (*new, *present)}
        pages = [page.old, disk_page]
        if disk_log is not None and _has_other_entries(topic, page.new, ids):
            pages += self._pages_without_log(topic)
        lines = _page_lines(topic, pages, ids)
        # Another tool's log may lack the ids that we would give.
        if not lines or not model.written_by_wc(new):
            return []
        if disk_page:
            quarantine.keep(self.layout, topic, disk_page)
        return lines

    def _pages_without_log(self, topic: str) -> list[bytes]:
        """The pages of a thread in the commits of a user that have no log of it and are
        newer than what was applied. After a rebase, only the reflog has them."""
        log, page = paths_of(topic).log, self.layout.relative(self.layout.page(topic))
        applied = [f"^{self._old}"] if self._old else []
        words = ("--reflog", "--full-history", "--ignore-missing", *applied)
        out = self.git.run("rev-list", *words, self._commit, "--", page)
        found = (
            trees.items(self.git, commit, (page, log))
            for commit in out.decode().split()
        )
        pages = [
            self._blob(items[page])
            for items in found
            if log not in items and page in items
        ]
        return [data for data in pages if data is not None]

    def _merge_log(self, topic: str, log: FileChange, *extra: bytes) -> None:
        """Write the union of the logs on disk and in both commits. Entries that a
        commit lost after they were applied are still there."""
        path, root = self.layout.log(topic), self.layout.root
        text = self.reader.log_text(topic)
        before = text.data if text is not None else None
        disk = _without_marks(before or b"")
        old, new = _without_marks(log.old or b""), _without_marks(log.new or b"")
        complete, torn = split_torn(disk)
        parts = (complete, new, *extra)
        if complete != old:
            parts = (*parts, old)
        union = merge_logs(topic, *parts)
        if has_long(union):
            # Otherwise, it would have to be committed again, in another order.
            union = whole_of(union, new, complete)
        union += torn
        # The marker keeps a copy of what the branch lacks until it has it: see
        # StoreWriter.
        committed = set(new.splitlines())
        uncommitted = b"".join(
            line + b"\n"
            for line in union.splitlines()
            if line not in committed and not has_long(line)
        )
        marker = self.upkeep.marker(topic)
        if uncommitted and uncommitted not in (read_plain(marker, root) or b""):
            durable.append_unflushed(marker, uncommitted, root)
        if union != before:
            texts = log.texts if text is None else (*log.texts, text)
            whole = expanded(union, texts) if has_long(union) else union
            durable.create(path, whole, root)
            durable.flush_names(path, root)

    def _state_before(self, topic: str) -> model.State | None:
        """The state that the meta of a thread has; ``None`` if a user's git reset
        it."""
        try:
            snapshot = self.reader.snapshot(topic)
        except NotFoundError:
            return model.initial_state(topic)
        return snapshot.state if snapshot.fresh else None

    def _apply_projections(
        self, topic: str, changes: dict[str, FileChange], before: model.State | None
    ) -> None:
        """Bring the files beside a log up to date: render the projections of a thread
        that wc keeps, and copy those of another tool unchanged."""
        meta = changes.get(paths_of(topic).meta, _NO_CHANGE)
        new_meta = _meta(topic, meta.new)
        try:
            thread = self.reader.thread(topic)
        except NotFoundError:
            self._apply_files(changes)
            return
        if new_meta.newer or not _is_rendered_here(thread):
            self._apply_files(changes)
            self.upkeep.names.write(self.reader.snapshot(topic).state)
            return
        unknown = self._merge_unknown(topic, thread.snapshot.unknown, meta)
        self.upkeep.write_state(thread.state, thread.log.size, unknown, before)

    def _merge_unknown(
        self, topic: str, unknown: Mapping[str, Any], meta: FileChange
    ) -> Mapping[str, Any]:
        """The merged keys of other tools in a ``meta.json``: ``unknown`` are those on
        disk, ``meta`` is the file in the commits."""
        if meta.new is None:
            return unknown
        before = _meta(topic, meta.old).unknown
        if _is_readable(topic, meta.new):
            return merge_keys(before, unknown, _meta(topic, meta.new).unknown).values
        return {**before, **self._unknown_of_parents(topic), **unknown}

    def _unknown_of_parents(self, topic: str) -> dict[str, Any]:
        """The keys of other tools in the ``meta.json`` of both parents of a merge, if
        git's merged file is unreadable."""
        path = paths_of(topic).meta
        unknown: dict[str, Any] = {}
        words = ("rev-list", "--parents", "-n", "1", self._commit, "--")
        for parent in self.git.line(*words).split()[1:]:
            for item in trees.items(self.git, parent, [path]).values():
                unknown |= _meta(topic, self._blob(item)).unknown
        return unknown

    def _apply_files(self, changes: Mapping[str, FileChange]) -> None:
        root = self.layout.root
        for name, (old, new, _) in changes.items():
            path = f"{root}/{name}"
            if (size := size_of(path, root)) > trees.MAX_FILE_BYTES:
                self._note_unread(name, size)
                continue
            disk = read_plain(path, root)
            target = new
            if not _is_unmodified(disk, old, new):
                target = merge_file(name, old, disk, new).data
            if target is None:
                durable.remove(path, root)
            elif target != disk:
                durable.make_folder(os.path.dirname(path), root)
                durable.create(path, target, root)


def _page_lines(
    topic: str, pages: Iterable[bytes | None], ids: set[str]
) -> list[bytes]:
    """The log lines for the entries of some pages, without those in ``ids``."""
    lines: dict[str, bytes] = {}
    for page in pages:
        for position, entry in enumerate(old_entries(topic, page)):
            if entry.id not in ids:
                lines.setdefault(entry.id, codec.to_line(entry, position))
    return list(lines.values())


def _has_other_entries(topic: str, page: bytes | None, ids: set[str]) -> bool:
    """Return whether a page has an entry that is not among these."""
    entries = page_format.parse(topic, page or b"").entries
    return any(entry.id not in ids for entry in entries)


def _is_rendered_here(thread: Thread) -> bool:
    """Return whether this wc renders the projections of a thread, not a newer one or
    another tool."""
    has_log = thread.snapshot.log_size >= 0
    by_wc = has_log and model.written_by_wc(thread.entries)
    return by_wc and not thread.snapshot.meta.newer


def _without_marks(log: bytes) -> bytes:
    """A log without git's conflict markers. No entry begins like one."""
    if not _MARK.search(log):
        return log
    return _MARK.sub(b"", log)


def _is_unmodified(disk: bytes | None, *versions: bytes | None) -> bool:
    """Return whether a file is equal to that in one of the commits, except for line
    ends: the user's settings may make git convert them."""
    if disk in versions:
        return True
    if disk is None or b"\0" in disk:
        return False
    plain = disk.replace(b"\r\n", b"\n")
    return any(
        data is not None and data.replace(b"\r\n", b"\n") == plain for data in versions
    )


def _error_text(error: Exception) -> str:
    """An error in words, without the meaningless number of a `NotPlainError`."""
    if isinstance(error, NotPlainError):
        return f"{error.filename} {error.strerror}"
    return str(error)


def _is_readable(topic: str, data: bytes) -> bool:
    return not isinstance(projections.read_meta(topic, data), Damage)


def _meta(topic: str, data: bytes | None) -> Meta:
    meta = projections.read_meta(topic, data or b"{}")
    return Meta() if isinstance(meta, Damage) else meta
