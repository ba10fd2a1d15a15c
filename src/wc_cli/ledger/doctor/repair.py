"""``wc doctor --repair``: repairs what can be repaired without losing a byte.

Every step is atomic and idempotent. Bad bytes are flushed to a file under
``.local/quarantine/``, named after their content, before the log is written without
them. What cannot be repaired stays unchanged, and so does everything without a problem.
"""

from __future__ import annotations

import contextlib
import os
from functools import cached_property, partial

from wc_cli.ledger.doctor.recovery import Recovery
from wc_cli.ledger.doctor.strays import find_strays, obstruction
from wc_cli.ledger.merge.logs import merge_logs
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store import durable, pending, quarantine, rendering, sharedlines
from wc_cli.ledger.store.upkeep import Upkeep
from wc_core.base.errors import Damage, NotFoundError, WcError
from wc_core.base.files import read_plain
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, model, projections
from wc_core.ledger.threads.longlines import expanded, has_long
from wc_core.ledger.threads.pages import page
from wc_core.ledger.threads.reader import StoreReader
from wc_core.ledger.threads.written import written_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import Thread

_SETTLE_SECONDS = 30.0
_HOLDER = "wc doctor --repair"
# The quarantine folder for files of no thread. No topic begins like this.
_NO_THREAD = "=store"
# Status files that wc wrote begin like this.


class RepairStep(NamedTuple):
    """A repair, done or planned: the file, and how."""

    file: str
    what: str


class Repair:
    """Repairs the store at ``root``. A ``dry_run`` only lists the steps."""

    def __init__(self, root: str, env: Mapping[str, str], *, dry_run: bool) -> None:
        self.env = env
        self.dry_run = dry_run
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env)
        self.recovery = Recovery(self.reader, env)
        self.failures: list[str] = []

    @cached_property
    def _preview(self) -> Repair:
        """The same repair as a dry run: if it finds nothing, no lock is needed."""
        return Repair(self.layout.root, self.env, dry_run=True)

    def run(self) -> Iterator[RepairStep]:
        """Repair everything, one thread at a time. Yields each step once it is done.

        A thread that is being written to, or that cannot be repaired, is left to the
        findings that follow.
        """
        count = yield from self._guarded(self._strays())
        count += yield from self._guarded(self._shared_files())
        # Not counted: nothing in the store changes.
        yield from self._guarded(self._links())
        # A clone or a backup has no such folders. If nothing is wrong, the first write
        # makes them.
        bare = not self.dry_run and not os.path.isdir(self.layout.unsettled)
        if bare and (count or any(self._preview.run())):
            yield from self._guarded(self._local_folders())
        # One stamp for each thread would take a tenth of the time.
        with self.upkeep.local.stamp.held_back():
            for topic in self._topics():
                count += yield from self._guarded(self._thread(topic))
        if not self.dry_run and (count or self._is_unsettled()):
            self._settle()

    def _settle(self) -> None:
        # Whatever is in its way is among the findings.
        with contextlib.suppress(WcError, OSError):
            settler.settle(self.layout.root, self.env, _SETTLE_SECONDS)

    def _local_folders(self) -> Iterator[RepairStep]:
        """Make the folders in which wc keeps its records."""
        layout = self.layout
        locks = os.path.dirname(layout.lock("any"))
        for folder in (locks, layout.scratch, layout.unsettled):
            durable.make_folder(folder, layout.root)
        yield RepairStep(self._relative(layout.local), "make its folders")

    def _guarded(self, steps: Iterator[RepairStep]) -> Generator[RepairStep, None, int]:
        """Carry out steps until one fails, and record the failure. Returns their
        number."""
        count = 0
        try:
            for step in steps:
                count += 1
                yield step
        except (WcError, OSError) as error:
            self.failures.append(str(error))
        return count

    def _topics(self) -> list[str]:
        """The threads on disk, and those that only the branch has."""
        try:
            on_disk = self.reader.all_topics_and_folders()[0]
        except WcError:
            on_disk = []  # a finding
        return sorted({*on_disk, *self.recovery.topics()})

    def _is_unsettled(self) -> bool:
        reports = (self.layout.settling, self.layout.committing)
        try:
            waiting = pending.unsettled_topics(self.layout)
        except WcError:
            return False  # a finding
        return bool(waiting) or any(os.path.lexists(path) for path in reports)

    def _strays(self) -> Iterator[RepairStep]:
        for stray in find_strays(self.layout):
            if stray.movable:
                yield self._set_aside(stray.path, _NO_THREAD, stray.message)

    def _shared_files(self) -> Iterator[RepairStep]:
        if self.recovery.git is None or sharedlines.are_postponed(self.layout):
            return
        for name, line in sharedlines.SHARED:
            path = f"{self.layout.root}/{name}"
            if obstruction(path, "file"):
                continue  # on a dry run
            data = read_plain(path, self.layout.root) or b""
            if line.encode() not in data.splitlines():
                if not self.dry_run:
                    durable.ensure_line(path, line, self.layout.root)
                yield RepairStep(name, f"add the line {line!r}")

    def _links(self) -> Iterator[RepairStep]:
        """Replace the links of an older wc in git's folder for the store's worktree."""
        stamp = self.upkeep.local.stamp
        if paths := stamp.linked():
            if not self.dry_run:
                stamp.replace_links()
            yield from (
                RepairStep(path, "replace the link by a file") for path in paths
            )

    def _thread(self, topic: str) -> Iterator[RepairStep]:
        if self.dry_run:
            yield from self._steps(topic)
        elif any(self._preview._steps(topic)):  # noqa: SLF001 - one of us
            with self.upkeep.lock(topic, _HOLDER):
                yield from self._steps(topic)

    def _steps(self, topic: str) -> Iterator[RepairStep]:
        # A marker means that settling will render the thread right after this.
        waiting = os.path.lexists(self.upkeep.marker(topic))
        # Read now, and again once its log may have changed.
        thread = yield from self._log(topic)
        if thread is not None:
            thread = yield from self._projections(thread, waiting=waiting)
            if not (waiting and _is_meta_stale(thread)):
                yield from self._names(thread)
            yield from self._commit(thread)

    def _log(self, topic: str) -> Generator[RepairStep, None, Thread | None]:
        """Quarantine bad lines, and restore lost entries. Returns the thread; ``None``
        if nothing of it is on disk."""
        path = self.layout.log(topic)
        moved = False
        for place, kind in ((self.layout.folder(topic), "folder"), (path, "file")):
            if message := obstruction(place, kind):
                moved = True
                yield self._set_aside(place, topic, message)
        thread = None if moved else self._read(topic)
        if thread is None:
            lost = self.recovery.lost_lines(topic, b"", with_page=True)
            yield from self._rewrite(topic, b"", lost)
        # A line that is bad to this wc may be good to a newer one.
        elif not thread.snapshot.meta.newer:
            lost = self.recovery.lost_by_thread(thread)
            if not lost and not thread.damage:
                return thread
            yield from self._rewrite(topic, thread.data, lost)
        return self._read(topic)

    def _rewrite(
        self, topic: str, data: bytes, lost: Mapping[str, bytes]
    ) -> Iterator[RepairStep]:
        """Write a log with the good lines of ``data`` and the ``lost`` ones."""
        written = partial(written_lines, self.layout, topic)
        good, bad = codec.partition_lines(topic, data, written)
        if good == data and not lost:
            return
        if not good and not lost:
            return  # everything is bad, and just as safe in its place
        texts: list[str] = []
        if bad:
            lines = counted(bad.count(b"\n"), "bad line")
            texts.append(f"move {lines} to {self._keep(topic, bad)}")
        elif good != data:
            texts.append("end its last line")
        if lost:
            entries = counted(len(lost), "entry", "entries")
            texts.append(f"restore {entries} from {self._sources}")
            good = merge_logs(topic, good, *lost.values())
        if not self.dry_run:
            self._write_log(topic, good)
        path = self._relative(self.layout.log(topic))
        yield from (RepairStep(path, text) for text in texts)

    @property
    def _sources(self) -> str:
        """The places from which lost entries are restored, in words."""
        if self.recovery.set_aside.earlier:
            return "the branch, the page and an earlier checkout"
        return "the branch and the page"

    def _write_log(self, topic: str, data: bytes) -> None:
        """Write a log; its long lines come from the present one."""
        log, root = self.layout.log(topic), self.layout.root
        text = self.reader.log_text(topic)
        durable.make_folder(self.layout.folder(topic), root)
        durable.touch(self.upkeep.marker(topic), root)
        whole = expanded(data, filter(None, [text])) if has_long(data) else data
        durable.create(log, whole, root)
        durable.flush_names(log, root)

    def _read(self, topic: str) -> Thread | None:
        """The thread; ``None`` if nothing of it is on disk."""
        try:
            return self.reader.thread(topic)
        except NotFoundError:
            return None

    def _keep(self, topic: str, data: bytes) -> str:
        """Keep bad bytes in quarantine. Returns the path to show."""
        if self.dry_run:
            return self._relative(quarantine.path_for(self.layout, topic, data))
        return self._relative(quarantine.keep(self.layout, topic, data))

    def _set_aside(self, path: str, folder: str, message: str) -> RepairStep:
        """Move something that is in the way to quarantine, without opening it."""
        if not self.dry_run:
            target = f"{self.layout.local}/quarantine/{folder}"
            durable.make_folder(target, self.layout.root)
            name = os.path.basename(path)
            number = 0
            while os.path.lexists(f"{target}/{name}.{number}"):
                number += 1
            # It may be one of the status line's files.
            self.upkeep.local.stamp.remove()
            durable.move(path, f"{target}/{name}.{number}", self.layout.root)
        return RepairStep(self._relative(path), f"{message}: set it aside")

    def _projections(
        self, thread: Thread, *, waiting: bool
    ) -> Generator[RepairStep, None, Thread]:
        """Render the projections that differ from the log. Threads that only other
        tools wrote, and the files of a newer wc, are left alone. Returns the thread,
        including what was added to its log."""
        topic = thread.snapshot.topic
        if thread.snapshot.log_size < 0:
            return thread
        if thread.snapshot.meta.newer or not model.written_by_wc(thread.entries):
            return thread
        places = rendering.places_of(self.layout, topic)
        wrong = {path for path in places if not waiting or obstruction(path, "file")}
        if not wrong:
            return thread
        thread = self._with_unknown_keys(thread)
        for path, data in rendering.render_thread(self.layout, thread).items():
            if path in wrong:
                yield from self._projection(topic, path, data)
        return thread

    def _projection(self, topic: str, path: str, data: bytes) -> Iterator[RepairStep]:
        """Write one projection. Lines that others wrote there are kept in
        quarantine."""
        message = obstruction(path, "file")
        old = b"" if message else read_plain(path, self.layout.root) or b""
        if old == data or is_newer_page(self.layout, topic, path, old):
            return
        is_meta = path == self.layout.meta(topic)
        if path == self.layout.page(topic) and is_older_page(topic, old, data):
            return
        if is_meta and rendering.is_older_meta(topic, old, data):
            return
        if message:
            yield self._set_aside(path, topic, message)
        if is_meta:
            foreign = not _is_from_wc(topic, old)
        else:
            foreign = _has_other_lines(old, data)
        kept = f"; as it was: {self._keep(topic, old)}" if old and foreign else ""
        if not self.dry_run:
            durable.make_folder(os.path.dirname(path), self.layout.root)
            durable.touch(self.upkeep.marker(topic), self.layout.root)
            durable.replace(path, data, self.layout.root)
        yield RepairStep(self._relative(path), f"render it again from the log{kept}")

    def _with_unknown_keys(self, thread: Thread) -> Thread:
        """The thread with the keys of other tools: if ``meta.json`` is missing, those
        of its last commit."""
        unknown: Mapping[str, Any] = thread.snapshot.unknown
        if not unknown:
            committed = self.recovery.committed_meta(thread.state.topic)
            meta = projections.read_meta(thread.state.topic, committed or b"{}")
            unknown = {} if isinstance(meta, Damage) else meta.unknown
        return thread._replace(snapshot=thread.snapshot._replace(unknown=unknown))

    def _names(self, thread: Thread) -> Iterator[RepairStep]:
        if self.upkeep.names.are_current(thread.state):
            return
        if not self.dry_run:
            self.upkeep.names.write(thread.state)
        yield RepairStep(".local/names", f"add the names of {thread.state.topic}")

    def _commit(self, thread: Thread) -> Iterator[RepairStep]:
        """Mark entries of wc that no process is committing, so that settling commits
        them."""
        topic = thread.snapshot.topic
        if thread.snapshot.meta.newer:
            return
        # Checked after reading the log: a thread that has no marker by now is on the
        # branch.
        if os.path.lexists(self.upkeep.marker(topic)):
            return
        if count := self.recovery.uncommitted(thread):
            if not self.dry_run:
                durable.touch(self.upkeep.marker(topic), self.layout.root)
            entries = counted(count, "entry", "entries")
            path = self._relative(self.layout.log(topic))
            yield RepairStep(path, f"commit {entries}")

    def _relative(self, path: str) -> str:
        return self.layout.relative(path)


def _is_meta_stale(thread: Thread) -> bool:
    """Return whether this wc would write another ``meta.json`` for the thread's log."""
    meta = thread.snapshot.meta
    is_same = meta.state is not None and meta.log_size == thread.snapshot.log_size
    return not (is_same or meta.newer)


def is_newer_page(layout: Layout, topic: str, path: str, data: bytes) -> bool:
    """Return whether ``path`` is a page that a newer wc wrote."""
    if path != layout.page(topic) or not data:
        return False
    return page.parse(topic, data).version > page.PROJECTION_VERSION


def is_older_page(topic: str, disk: bytes, rendered: bytes) -> bool:
    """Return whether a page on disk is an older wc's rendering of the same entries as
    ``rendered``. The next write to the thread renders it again."""
    old, new = page.parse(topic, disk), page.parse(topic, rendered)
    if not 0 < old.version < new.version:
        return False
    return (old.entries, old.base, old.damage) == (new.entries, new.base, ())


def _is_from_wc(topic: str, data: bytes) -> bool:
    """Return whether wc wrote a ``meta.json``, even long ago."""
    meta = projections.read_meta(topic, data)
    return not isinstance(meta, Damage) and meta.state is not None


def _has_other_lines(old: bytes, new: bytes) -> bool:
    """Return whether a projection has a line that its replacement lacks: written by
    someone else, or from an earlier state."""
    return not set(old.splitlines()) <= set(new.splitlines())
