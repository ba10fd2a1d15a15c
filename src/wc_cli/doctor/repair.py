"""``wc doctor --repair``: mend what can be mended without losing a byte.

Every step is whole or absent and may be taken again: bad bytes go to a file
under ``.local/quarantine/`` named after them, flushed before the log is
written anew without them. What cannot be mended stays as it was found, and
where nothing is wrong nothing is touched.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.doctor.recovery import Recovery, is_missed
from wc_cli.doctor.strays import SHARED, in_the_way, strays
from wc_cli.merge.logs import merge_logs
from wc_cli.settle import settler
from wc_cli.store import durable, pending, quarantine, rendering
from wc_cli.store.upkeep import Upkeep
from wc_core.errors import NotFoundError, WcError
from wc_core.files import read_plain
from wc_core.phrases import counted
from wc_core.threads import codec, model, page, projections
from wc_core.threads.codec import Damage
from wc_core.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from wc_core.layout import Layout
    from wc_core.threads.reader import Thread

_SETTLE_SECONDS = 30.0
_WHO = "wc doctor --repair"
# Of what is set aside and belongs to no thread; no topic begins like this.
_OF_STORE = "=store"
# How a status file of ours begins.
_OURS = b"wc1 "


class Mended(NamedTuple):
    """Something that was mended, or would be: where, and how."""

    file: str
    what: str


class Repair:
    """Mends the store at ``root``; on a ``dry_run`` it only says what it would
    do."""

    def __init__(self, root: str, env: Mapping[str, str], *, dry_run: bool) -> None:
        self.env = env
        self.dry_run = dry_run
        self.reader = StoreReader(root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env)
        self.recovery = Recovery(self.reader, env)
        self.failures: list[str] = []

    @cached_property
    def _look(self) -> Repair:
        """The same, that only looks: where it finds nothing, no lock is
        taken."""
        return Repair(self.layout.root, self.env, dry_run=True)

    def run(self) -> Iterator[Mended]:
        """Mend everything, one thread at a time; each thing as it is done.

        A thread that is being written to, or that cannot be mended, is left
        to the findings that follow.
        """
        mended = yield from self._noted(self._strays())
        mended += yield from self._noted(self._shared_files())
        # A clone or a backup has no such places; where nothing is wrong, they
        # can wait for the first write.
        bare = not self.dry_run and not os.path.isdir(self.layout.unsettled)
        if bare and (mended or any(self._look.run())):
            yield from self._noted(self._places())
        # Before the threads are listed: each file found then has its thread.
        self.upkeep.status.scan()
        for topic in self._topics():
            mended += yield from self._noted(self._thread(topic))
        mended += yield from self._noted(self._left_status_files())
        if not self.dry_run and (mended or self._is_unsettled()):
            try:
                settler.settle(self.layout.root, self.env, _SETTLE_SECONDS)
            except (WcError, OSError):
                return  # the findings say what is in its way

    def _places(self) -> Iterator[Mended]:
        """Make where wc notes what it does."""
        layout = self.layout
        locks = os.path.dirname(layout.lock("any"))
        for folder in (locks, layout.scratch, layout.unsettled):
            durable.make_folder(folder, layout.root)
        yield Mended(self._shown(layout.local), "make its folders")

    def _noted(self, steps: Iterator[Mended]) -> Generator[Mended, None, int]:
        """Take steps as far as they can be taken; how many there were."""
        count = 0
        try:
            for one in steps:
                count += 1
                yield one
        except (WcError, OSError) as error:
            self.failures.append(str(error))
        return count

    def _topics(self) -> list[str]:
        """The threads here, and those that only the branch has."""
        try:
            here = self.reader.topics()
        except WcError:
            here = []  # a finding
        return sorted({*here, *self.recovery.topics()})

    def _is_unsettled(self) -> bool:
        left = (self.layout.settling, self.layout.committing)
        try:
            waiting = pending.unsettled_topics(self.layout)
        except WcError:
            return False  # a finding
        return bool(waiting) or any(os.path.lexists(path) for path in left)

    def _strays(self) -> Iterator[Mended]:
        for stray in strays(self.layout):
            if stray.movable:
                self._set_aside(stray.path, _OF_STORE)
                yield Mended(self._shown(stray.path), f"{stray.message}: set it aside")

    def _shared_files(self) -> Iterator[Mended]:
        if self.recovery.git is None:
            return
        for name, line in SHARED:
            path = f"{self.layout.root}/{name}"
            if in_the_way(path, "file"):
                continue  # on a dry run
            data = read_plain(path, self.layout.root) or b""
            if line.encode() not in data.splitlines():
                if not self.dry_run:
                    durable.ensure_line(path, line, self.layout.root)
                yield Mended(name, f"add the line {line!r}")

    def _thread(self, topic: str) -> Iterator[Mended]:
        if self.dry_run:
            yield from self._steps(topic)
        elif any(self._look._steps(topic)):  # noqa: SLF001 - one of us
            with self.upkeep.lock(topic, _WHO):
                yield from self._steps(topic)

    def _steps(self, topic: str) -> Iterator[Mended]:
        # Then settling is about to render it, as soon as we are done.
        waiting = os.path.lexists(self.upkeep.marker(topic))
        yield from self._log(topic)
        yield from self._projections(topic, waiting=waiting)
        yield from self._status_lines(topic)
        yield from self._commit(topic)

    def _log(self, topic: str) -> Iterator[Mended]:
        """Quarantine what is no entry; bring back what is gone."""
        path = self.layout.log(topic)
        aside = False
        for place, kind in ((self.layout.folder(topic), "folder"), (path, "file")):
            if message := in_the_way(place, kind):
                aside = True
                self._set_aside(place, topic)
                yield Mended(self._shown(place), f"{message}: set it aside")
        thread = None if aside else self._read(topic)
        if thread is not None and thread.snapshot.meta.newer:
            return  # what is bad to us may be good to a newer wc
        data = b"" if thread is None else thread.data
        missed = thread is None or is_missed(thread)
        more = self.recovery.lost(topic, data, with_page=missed)
        if not more and (thread is None or not thread.damage):
            return
        yield from self._rewrite(topic, data, more)

    def _rewrite(
        self, topic: str, data: bytes, more: Mapping[str, bytes]
    ) -> Iterator[Mended]:
        """A log of what is good in ``data``, and of ``more``."""
        path = self._shown(self.layout.log(topic))
        good, bad = codec.sort_lines(topic, data)
        if good == data and not more:
            return
        if not good and not more:
            return  # all of it is bad: it is as safe where it is
        done: list[str] = []
        if bad:
            lines = counted(bad.count(b"\n"), "bad line")
            done.append(f"move {lines} to {self._keep(topic, bad)}")
        elif good != data:
            done.append("end its last line")
        if more:
            entries = counted(len(more), "entry", "entries")
            done.append(f"bring back {entries} from the branch and the page")
            good = merge_logs(topic, good, *more.values())
        if not self.dry_run:
            log, root = self.layout.log(topic), self.layout.root
            durable.make_folder(self.layout.folder(topic), root)
            durable.touch(self.upkeep.marker(topic), root)
            durable.create(log, good, root)
            durable.flush_names(log, root)
        yield from (Mended(path, one) for one in done)

    def _read(self, topic: str) -> Thread | None:
        """The thread; ``None`` where there is nothing of it here."""
        try:
            return self.reader.thread(topic)
        except NotFoundError:
            return None

    def _keep(self, topic: str, data: bytes) -> str:
        """Keep bad bytes in quarantine; where, for people."""
        if self.dry_run:
            return self._shown(quarantine.path_for(self.layout, topic, data))
        return self._shown(quarantine.keep(self.layout, topic, data))

    def _set_aside(self, path: str, of: str) -> None:
        """Move what stands where something else belongs, whatever it is,
        unopened."""
        if self.dry_run:
            return
        folder = f"{self.layout.local}/quarantine/{of}"
        durable.make_folder(folder, self.layout.root)
        number = 0
        while os.path.lexists(f"{folder}/{os.path.basename(path)}.{number}"):
            number += 1
        durable.move(
            path, f"{folder}/{os.path.basename(path)}.{number}", self.layout.root
        )

    def _projections(self, topic: str, *, waiting: bool) -> Iterator[Mended]:
        """Render what is not what the log gives. Threads that only other
        tools wrote are left as those tools keep them, and what a newer wc
        wrote is left alone."""
        thread = self._read(topic)
        if thread is None or thread.snapshot.log_size < 0:
            return
        if thread.snapshot.meta.newer or not model.written_by_wc(thread.entries):
            return
        thread = self._with_unknown_keys(thread)
        for path, data in rendering.render_thread(self.layout, thread).items():
            if not waiting or in_the_way(path, "file"):
                yield from self._projection(topic, path, data)

    def _projection(self, topic: str, path: str, data: bytes) -> Iterator[Mended]:
        """Give one projection its bytes; what somebody put there is kept."""
        message = in_the_way(path, "file")
        old = b"" if message else read_plain(path, self.layout.root) or b""
        if old == data or is_newer_page(self.layout, topic, path, old):
            return
        if message:
            self._set_aside(path, topic)
            yield Mended(self._shown(path), f"{message}: set it aside")
        kept = ""
        if path == self.layout.meta(topic):
            own = not _is_ours(topic, old)
        else:
            own = _says_more(old, data)
        if old and own:
            kept = f"; as it was: {self._keep(topic, old)}"
        if not self.dry_run:
            durable.make_folder(os.path.dirname(path), self.layout.root)
            durable.touch(self.upkeep.marker(topic), self.layout.root)
            durable.replace(path, data, self.layout.root)
        yield Mended(self._shown(path), f"render it anew from the log{kept}")

    def _with_unknown_keys(self, thread: Thread) -> Thread:
        """Other tools' keys of a ``meta.json`` that is gone, as last committed."""
        unknown: Mapping[str, Any] = thread.snapshot.unknown
        if not unknown:
            committed = self.recovery.committed(self.layout.meta(thread.state.topic))
            meta = projections.read_meta(thread.state.topic, committed or b"{}")
            unknown = {} if isinstance(meta, Damage) else meta.unknown
        return thread._replace(snapshot=thread.snapshot._replace(unknown=unknown))

    def _status_lines(self, topic: str) -> Iterator[Mended]:
        thread = self._read(topic)
        if thread is None or not shows_wrong(self.upkeep, thread):
            return
        if not self.dry_run:
            self.upkeep.status.write(thread.state)
        yield Mended(".local/status", f"show {topic} as it is")

    def _commit(self, topic: str) -> Iterator[Mended]:
        """See to it that what wc wrote is committed, where nothing else does."""
        thread = self._read(topic)
        if thread is None or thread.snapshot.meta.newer:
            return
        # After the log was read: what had no marker by now is on the branch.
        if os.path.lexists(self.upkeep.marker(topic)):
            return
        if count := self.recovery.uncommitted(thread):
            if not self.dry_run:
                durable.touch(self.upkeep.marker(topic), self.layout.root)
            entries = counted(count, "entry", "entries")
            yield Mended(self._shown(self.layout.log(topic)), f"commit {entries}")

    def _left_status_files(self) -> Iterator[Mended]:
        """Those of threads that are gone; what is none of ours is kept."""
        try:
            topics = {*self.reader.topics(), *self.recovery.topics()}
        except WcError:
            return  # then nobody knows whose they are
        for path in self.upkeep.status.orphans(topics):
            place = f"{self.layout.local}/{path}"
            ours = (read_plain(place, self.layout.root) or b"").startswith(_OURS)
            if not self.dry_run and ours:
                durable.remove(place, self.layout.root)
            elif not ours:
                self._set_aside(place, _OF_STORE)
            what = "remove it" if ours else "set it aside"
            yield Mended(f".local/{path}", f"of no thread: {what}")

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)


def is_newer_page(layout: Layout, topic: str, path: str, data: bytes) -> bool:
    """Whether ``path`` is a page that a newer wc wrote."""
    if path != layout.page(topic) or not data:
        return False
    return page.parse(topic, data).version > page.PROJECTION_VERSION


def shows_wrong(upkeep: Upkeep, thread: Thread) -> bool:
    """Whether the status lines of a thread are not what they should be.

    A store that wc never wrote to has none, and a thread that other tools
    alone wrote need not have any. What is in the way of all of them is said
    once, elsewhere.
    """
    topic, layout = thread.state.topic, upkeep.layout
    if thread.snapshot.log_size < 0:
        return False  # as last written, until there is a log again
    places = (layout.local, f"{layout.local}/status")
    if any(in_the_way(place, "folder") for place in places):
        return False
    if not os.path.isdir(layout.unsettled) or upkeep.status.are_current(thread.state):
        return False
    return model.written_by_wc(thread.entries) or bool(upkeep.status.paths_of(topic))


def _is_ours(topic: str, data: bytes) -> bool:
    """Whether a meta is as wc wrote it, be it long ago."""
    meta = projections.read_meta(topic, data)
    return not isinstance(meta, Damage) and meta.state is not None


def _says_more(old: bytes, new: bytes) -> bool:
    """Whether a projection has a line that is not in the one to take its
    place: somebody's, or a former state's."""
    return not set(old.splitlines()) <= set(new.splitlines())
