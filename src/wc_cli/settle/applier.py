"""Taking into the store's folder what its branch has got without it.

The folder is written live, so git never checks out, resets or merges there.
``.local/applied`` names the commit whose tree the folder has taken in; where
the branch is at another one, because we merged, a person did, or somebody
died half-way, the difference is taken in thread by thread. Each step may be
taken again.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from wc_cli.branch import commits, trees
from wc_cli.branch.git import GitError
from wc_cli.branch.treepaths import is_safe, paths_of, topic_at
from wc_cli.merge import contents
from wc_cli.merge.threeway import merge_keys
from wc_cli.store import durable, pending, quarantine
from wc_core.errors import NotFoundError, WcError
from wc_core.files import NotPlainError, read_plain
from wc_core.threads import codec, model, projections
from wc_core.threads.codec import Damage
from wc_core.threads.projections import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.branch.git import Git
    from wc_cli.branch.trees import TreeItem
    from wc_cli.store.upkeep import Upkeep

    Pair: TypeAlias = tuple[TreeItem | None, TreeItem | None]

# So many threads are in memory at a time.
_BATCH = 500
# Where files of quarantine are that belong to no thread.
_CONFLICTS = "conflicts"
_MARK = re.compile(rb"^(?:<{7}|>{7}|\|{7}|={7})(?: [^\n]*)?\r?\n", re.MULTILINE)


class FileChange(NamedTuple):
    """What a file was in the one commit, and is in the other."""

    old: bytes | None
    new: bytes | None


class Applier:
    """Takes into a store's folder what one commit has and another had not;
    the caller holds the git lock."""

    def __init__(self, upkeep: Upkeep, git: Git) -> None:
        self.upkeep = upkeep
        self.git = git
        self.layout = upkeep.layout
        self.reader = upkeep.reader
        self._new = ""

    def run(self, old: str, new: str) -> Iterator[tuple[str, str]]:
        """Take in what ``new`` has otherwise than ``old``; gives the threads,
        and "" for the other files, that could not be, each with the reason.

        Nothing that the folder has is lost to it: logs become unions, other
        files are merged with what somebody may have changed meanwhile.
        """
        self._new = new
        yield from self._take_in(self._pairs(old, new))

    def give_back(
        self, commit: str, paths: Mapping[str, bool]
    ) -> Iterator[tuple[str, str]]:
        """Give the threads that somebody's git touched at ``paths`` what
        ``commit`` has of their logs, and have them settled; likewise.

        Other files in which git left a conflict become what they are in
        ``commit``, and what there is of them is kept in quarantine.
        """
        files = [path for path, conflict in paths.items() if conflict]
        foreign = [path for path in files if not topic_at(path) and _belongs(path)]
        for path, one in trees.items(self.git, commit, foreign).items():
            disk = read_plain(f"{self.layout.root}/{path}", self.layout.root)
            if disk and one.is_file:
                quarantine.keep(self.layout, _CONFLICTS, disk)
                data = trees.blobs(self.git, [one.blob])[one.blob]
                durable.create(f"{self.layout.root}/{path}", data, self.layout.root)
        yield from self._give_back_logs(commit, paths)
        for topic in pending.unsettled_topics(self.layout):
            self.give_back_spared(topic)

    def _give_back_logs(
        self, commit: str, paths: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        topics = {topic for topic in map(topic_at, paths) if topic}
        logs = {paths_of(topic).log: self.layout.log(topic) for topic in topics}
        found = trees.items(self.git, commit, logs)
        files = {path: one for path, one in found.items() if one.is_file}
        touched = {path for path, log in logs.items() if os.path.lexists(log)}
        same = {path: (files.get(path), files.get(path)) for path in {*files, *touched}}
        yield from self._take_in(same)

    def give_back_spared(self, topic: str) -> None:
        """Give a log what was not committed yet, and its marker has."""
        if lines := missing(self.upkeep, topic):
            self._thread(topic, {paths_of(topic).log: FileChange(lines, lines)})

    def _take_in(self, pairs: Mapping[str, Pair]) -> Iterator[tuple[str, str]]:
        threads: dict[str, list[str]] = {}
        for path in pairs:
            threads.setdefault(topic_at(path), []).append(path)
        rest = iter(threads.items())
        while batch := dict(islice(rest, _BATCH)):
            changes = self._changes(
                {p: pairs[p] for them in batch.values() for p in them}
            )
            for topic, paths in batch.items():
                # One file that cannot be taken in leaves the others alone.
                for some in [paths] if topic else [[path] for path in paths]:
                    changed = {path: changes[path] for path in some}
                    try:
                        if topic:
                            self._thread(topic, changed)
                        else:
                            self._files(changed)
                    except (WcError, GitError, OSError, ValueError) as error:
                        yield topic, f"not taken in: {_said(error)}"

    def _pairs(self, old: str, new: str) -> dict[str, Pair]:
        """What two commits have at the paths where they differ, and where
        something of the branch belongs into the folder."""
        try:
            found = trees.differences(self.git, old, new)
        except GitError:
            # Nobody refers to the old one any more, and git took it away.
            found = trees.differences(self.git, commits.empty_tree(self.git), new)
        return {
            path: pair
            for path, pair in found.items()
            if _belongs(path) and all(one is None or one.is_file for one in pair)
        }

    def _changes(self, pairs: Mapping[str, Pair]) -> dict[str, FileChange]:
        ids = {one.blob for pair in pairs.values() for one in pair if one is not None}
        blobs = trees.blobs(self.git, ids)
        return {
            path: FileChange(
                *(None if one is None else blobs[one.blob] for one in pair)
            )
            for path, pair in pairs.items()
        }

    def _thread(self, topic: str, changed: dict[str, FileChange]) -> None:
        layout, root = self.layout, self.layout.root
        paths = paths_of(topic)
        with self.upkeep.lock(topic):
            before = self._before(topic)
            if paths.log in changed or os.path.lexists(layout.log(topic)):
                durable.make_folder(layout.folder(topic), root)
                # Then it is settled: rendered, and committed where we differ.
                durable.touch(self.upkeep.marker(topic), root)
            if log := changed.pop(paths.log, None):
                page = changed.get(paths.page, FileChange(None, None)).old
                beside = self._imported(topic, log, page)
                self._log(topic, log.old or b"", log.new or b"", *beside)
            self._beside(topic, changed, before)

    def _imported(self, topic: str, log: FileChange, had: bytes | None) -> list[bytes]:
        """What a page was that was all there was of a thread which gets a log
        now: the lines of its entries. What is on disk of it is kept."""
        if log.old is not None:
            return []
        layout, root = self.layout, self.layout.root
        there = read_plain(layout.log(topic), root)
        # Beside a log it is a projection, or what git made of two.
        disk = read_plain(layout.page(topic), root) if there is None else None
        new = codec.read_log(topic, log.new or b"").entries
        had_here = codec.read_log(topic, there or b"").entries
        known = {entry.id for entry in (*new, *had_here)}
        lines: dict[str, bytes] = {}
        for page in (had, disk):
            for position, entry in enumerate(contents.old_entries(topic, page)):
                if entry.id not in known:
                    lines.setdefault(entry.id, codec.to_line(entry, position))
        # Another tool's log need not have the ids that we would give.
        if not lines or not model.written_by_wc(new):
            return []
        if disk:
            quarantine.keep(self.layout, topic, disk)
        return list(lines.values())

    def _log(self, topic: str, old: bytes, new: bytes, *more: bytes) -> None:
        """The union of what is on disk and in both commits: what a commit
        lost that we had applied, we still have."""
        path, root = self.layout.log(topic), self.layout.root
        disk = _without_marks(read_plain(path, root) or b"")
        old, new = _without_marks(old), _without_marks(new)
        complete, torn = contents.split_torn(disk)
        parts = (complete, new, *more)
        if complete != old:
            parts = (*parts, old)
        whole = contents.merge_logs(topic, *parts) + torn
        # What the branch has not is spared until it has: see StoreWriter.
        known = set(new.splitlines())
        lost = [line + b"\n" for line in whole.splitlines() if line not in known]
        marker = self.upkeep.marker(topic)
        if lost and b"".join(lost) not in (read_plain(marker, root) or b""):
            durable.append_unflushed(marker, b"".join(lost), root)
        if whole != read_plain(path, root):
            durable.create(path, whole, root)
            durable.flush_names(path, root)

    def _before(self, topic: str) -> model.State | None:
        """The state that the status lines of a thread show, if nobody's git took
        it back; ``None`` where they are to be looked for."""
        try:
            snapshot = self.reader.snapshot(topic)
        except NotFoundError:
            return model.start(topic)
        if snapshot.fresh:
            return snapshot.state
        self.upkeep.status.invalidate()
        return None

    def _beside(
        self, topic: str, changed: dict[str, FileChange], shown: model.State | None
    ) -> None:
        """Meta, status lines and what else there is beside a log. What we
        render is rendered; the rest is as its own tool had it."""
        meta = changed.get(paths_of(topic).meta, FileChange(None, None))
        theirs = _meta(topic, meta.new)
        try:
            thread = self.reader.thread(topic)
        except NotFoundError:
            self._files(changed)
            return
        ours = (
            thread.snapshot.log_size >= 0
            and model.written_by_wc(thread.entries)
            and not thread.snapshot.meta.newer
            and not theirs.newer
        )
        if not ours:
            self._files(changed)
            state = self.reader.snapshot(topic).state
            self.upkeep.status.write(state, shown)
            self.upkeep.status.remove_stale(state)
            return
        unknown = thread.snapshot.unknown
        if meta.new is not None:
            before = _meta(topic, meta.old).unknown
            if _is_readable(topic, meta.new):
                unknown = merge_keys(before, unknown, theirs.unknown).values
            else:
                unknown = {**before, **self._unknown_to_parents(topic), **unknown}
        self.upkeep.write_state(thread.state, thread.log.size, unknown, shown)
        self.upkeep.status.remove_stale(thread.state)

    def _unknown_to_parents(self, topic: str) -> dict[str, Any]:
        """What the two that git made a meta of, which nobody can read, had in
        theirs that wc does not know."""
        path = paths_of(topic).meta
        unknown: dict[str, Any] = {}
        words = ("rev-list", "--parents", "-n", "1", self._new, "--")
        for parent in self.git.line(*words).split()[1:]:
            for one in trees.items(self.git, parent, [path]).values():
                data = trees.blobs(self.git, [one.blob])[one.blob]
                unknown |= _meta(topic, data).unknown
        return unknown

    def _files(self, changed: Mapping[str, FileChange]) -> None:
        root = self.layout.root
        for name, (old, new) in changed.items():
            path = f"{root}/{name}"
            disk = read_plain(path, root)
            wanted = new
            if not _is_one_of(disk, old, new):
                wanted = contents.merge_file(name, old, disk, new).data
            if wanted is None:
                durable.remove(path, root)
            elif wanted != disk:
                durable.make_folder(os.path.dirname(path), root)
                durable.create(path, wanted, root)


def missing(upkeep: Upkeep, topic: str) -> bytes:
    """The lines that the marker of a thread has and its log has not: somebody's
    git took them away before they were committed."""
    root = upkeep.layout.root
    lines, _ = contents.split_torn(read_plain(upkeep.marker(topic), root) or b"")
    log = read_plain(upkeep.layout.log(topic), root) or b""
    if lines in log:
        return b""
    known = {b"", *log.split(b"\n")}
    return b"".join(one + b"\n" for one in lines.split(b"\n") if one not in known)


def _without_marks(log: bytes) -> bytes:
    """A log without the lines that git puts around a conflict; an entry never
    begins like that."""
    if not _MARK.search(log):
        return log
    return _MARK.sub(b"", log)


def _is_one_of(disk: bytes | None, *known: bytes | None) -> bool:
    """Whether a file is as one of the commits has it; also if git, told so by
    somebody's settings, checked it out with other line ends."""
    if disk in known:
        return True
    if disk is None or b"\0" in disk:
        return False
    plain = disk.replace(b"\r\n", b"\n")
    return any(
        one is not None and one.replace(b"\r\n", b"\n") == plain for one in known
    )


def _belongs(path: str) -> bool:
    """Whether a path of the branch may be written to: not what is there for
    this machine alone, nor what git would not write either."""
    return is_safe(path) and path.split("/", maxsplit=1)[0].casefold() != ".local"


def _said(error: Exception) -> str:
    """An error in words, without the number of one that has none."""
    if isinstance(error, NotPlainError):
        return f"{error.filename} {error.strerror}"
    return str(error)


def _is_readable(topic: str, data: bytes) -> bool:
    return not isinstance(projections.read_meta(topic, data), Damage)


def _meta(topic: str, data: bytes | None) -> Meta:
    meta = projections.read_meta(topic, data or b"{}")
    return Meta() if isinstance(meta, Damage) else meta
