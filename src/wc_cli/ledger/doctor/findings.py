"""Finds problems in the threads of a store, and how to repair them."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.owners import permissions_fix
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.doctor.recovery import (
    Recovery,
    lacks_entries,
    lost_to_another_tool,
    moved_by_another_tool,
)
from wc_cli.ledger.doctor.repair import is_newer_page, is_older_page
from wc_cli.ledger.doctor.strays import obstruction, thread_folders
from wc_cli.ledger.store import rendering
from wc_cli.ledger.store.upkeep import Upkeep
from wc_core.base import ulid
from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.files import read_plain, size_of
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.times import is_ahead
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wc_core.base.errors import Damage
    from wc_core.ledger.threads.reader import StoreReader, Thread

# The advice for a kind of damage (`Damage.kind`). For other kinds, it depends on
# the thread.
_FIXES = {
    "torn": "Nothing is lost. Tidy up with: wc doctor --repair",
    "garbage": "Every other entry is readable. Set the line aside: wc doctor --repair",
    "long": "Every other entry is readable. It stays in the log, and is not shown.",
    "shape": "Every other entry is readable. Set the line aside: wc doctor --repair",
    "field": "It is kept and not shown. Upgrade wc, or correct the line by hand.",
    "differs": "Another version of it counts. Set this one aside: wc doctor --repair",
    "newer": "Upgrade wc on this machine; this one writes nothing to the thread.",
}
SET_ASIDE = "Set it aside, and restore what belongs there: wc doctor --repair"
# How often to read a thread that is being written to.
_MAX_READS = 10
_RENDER = "Readers use the log in the meantime. Render it: wc doctor --repair"


class Finding(NamedTuple):
    """A problem: the file, what is wrong with it, and how to fix it."""

    file: str
    line: int
    message: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{one_line(f'{place}: {self.message}')}\n    {one_line(self.fix)}"


class ThreadExaminer:
    """Examines every thread of a store. An unreadable thread is a finding and hides no
    other.

    ``threads`` and ``entries`` count what was examined; ``forked`` are the threads with
    two histories side by side, ``ahead`` those with an entry that is dated more than a
    day ahead. ``waiting`` is what ``judge`` finds in each thread.
    """

    def __init__(
        self,
        reader: StoreReader,
        env: Mapping[str, str],
        judge: Callable[[Thread], Iterable[Finding]],
    ) -> None:
        self.reader = reader
        self.judge = judge
        self.layout = reader.layout
        self.env = env
        self.upkeep = Upkeep(reader, env)
        self.recovery = Recovery(reader, env)
        self.threads = 0
        self.entries = 0
        self.forked: list[str] = []
        self.ahead: list[str] = []
        self.waiting: list[Finding] = []

    def findings(self) -> Iterator[Finding]:
        """All findings, thread by thread."""
        try:
            topics = self.reader.all_topics_and_folders()[0]
        except WcError as error:
            folders = thread_folders(self.layout)
            if not any(obstruction(path, "folder") for path in folders):
                yield Finding("threads", 0, error.message, error.hint)
            return
        for topic in topics:
            yield from self._of_topic(topic)
        only_committed = sorted(self.recovery.topics() - set(topics))
        for topic in only_committed:
            yield from self._of_gone(topic)
        for path, message in self.recovery.too_large().items():
            command = (
                f"git -C {quoted(self.layout.root)} log --format='%h %an' -- {path}"
            )
            fix = f"Nothing else is held up. See who pushed it: {command}"
            yield Finding(path, 0, message, fix)

    def _of_topic(self, topic: str) -> Iterator[Finding]:
        self.threads += 1
        try:
            thread, findings = self._examine(topic)
        except NotFoundError:
            self.threads -= 1
            # The empty folder of a failed first entry, or the remains of a thread that
            # is on the branch.
            yield from self._of_gone(topic)
        except WcError as error:
            yield self._of_unreadable(topic, error)
        else:
            self.entries += len(thread.entries)
            self.forked += [topic] if thread.state.forked else []
            if not self.reader.is_hidden(topic):
                self.waiting += self.judge(thread)
            yield from findings

    def _examine(self, topic: str) -> tuple[Thread, list[Finding]]:
        """Read a thread and find its problems. Reads it again if it was written to in
        the meantime, because the parts then don't belong together."""
        path = self.layout.log(topic)
        for _ in range(_MAX_READS):
            thread = self.reader.thread(topic)
            findings = list(self._of_thread(thread))
            size = size_of(path, self.layout.root)
            if not findings or size in {thread.snapshot.log_size, -1}:
                break
        return thread, findings

    def _of_gone(self, topic: str) -> Iterator[Finding]:
        """The finding for a thread that only the branch has."""
        if self.recovery.lost_lines(topic, b"", with_page=False):
            path = self.layout.folder(topic)
            message = obstruction(path, "folder")
            message = message or f"is gone, and {self.recovery.sources} has it"
            yield Finding(self._relative(path), 0, message, SET_ASIDE)

    def _of_unreadable(self, topic: str, error: WcError) -> Finding:
        layout = self.layout
        places = {
            layout.folder(topic): "folder",
            layout.log(topic): "file",
            layout.page(topic): "file",
        }
        for path, kind in places.items():
            if message := obstruction(path, kind):
                return Finding(self._relative(path), 0, message, SET_ASIDE)
        fix = permissions_fix(layout.folder(topic))
        return Finding(self._relative(layout.log(topic)), 0, error.message, fix)

    def _of_thread(self, thread: Thread) -> Iterator[Finding]:
        topic = thread.state.topic
        yield from self._of_name(thread)
        for damage in thread.damage:
            fix = self._fix(damage, thread)
            yield Finding(damage.file, damage.line, damage.message, fix)
        lost = {} if lacks_entries(thread) else self.recovery.lost_by_thread(thread)
        if lost:
            entries = counted(len(lost), "entry", "entries")
            message = f"lacks {entries} that {self.recovery.sources} has"
            if thread.snapshot.meta.rewritten:
                message = f"was replaced by another tool, and lacks {entries}"
            fix = "Restore them: wc doctor --repair"
            yield Finding(self._relative(self.layout.log(topic)), 0, message, fix)
        elif shown := lost_to_another_tool(thread):
            message = f"was replaced by another tool, and lacks the entry {shown}"
            fix = "The branch does not have it. A backup or another clone may have."
            yield Finding(self._relative(self.layout.log(topic)), 0, message, fix)
        elif holder := moved_by_another_tool(thread):
            message = f"was written by another tool, which moved the ball to {holder}"
            fix = f"Only the log counts. Pass it on: wc handoff {topic} --to NAME"
            yield Finding(self._relative(self.layout.meta(topic)), 0, message, fix)
        newest = ulid.prefix(thread.state.last_id)
        if newest and is_ahead(ulid.timestamp_ms(newest), now_ms()):
            self.ahead.append(topic)
        if thread.snapshot.log_size >= 0 and not self._is_waiting(topic):
            yield from self._of_projections(thread)
            yield from self._of_names(thread)
            yield from self._of_uncommitted(thread)

    def _of_uncommitted(self, thread: Thread) -> Iterator[Finding]:
        if count := self.recovery.uncommitted(thread):
            path = self._relative(self.layout.log(thread.state.topic))
            entries = counted(count, "entry", "entries")
            message = f"has {entries} not in any commit, and no commit is under way"
            fix = "They are safe on disk. Commit them: wc doctor --repair"
            yield Finding(path, 0, message, fix)

    def _fix(self, damage: Damage, thread: Thread) -> str:
        if damage.kind == "missing":
            return self._fix_of_missing(thread)
        if damage.kind == "unreadable":
            path = f"{self.layout.root}/{damage.file}"
            return SET_ASIDE if obstruction(path, "file") else permissions_fix(path)
        if damage.kind in {"garbage", "shape"} and not damage.lost:
            return _RENDER  # this is meta.json
        return _FIXES[damage.kind]

    def _fix_of_missing(self, thread: Thread) -> str:
        if lost := self.recovery.lost_by_thread(thread):
            entries = counted(len(lost), "entry", "entries")
            return f"Branch and page have {entries} of it: wc doctor --repair"
        nowhere = "Neither branch nor page has it. If a backup or another clone does,"
        if thread.entries:
            return f"{nowhere} copy the log; to continue without it: wc doctor --repair"
        folder = quoted(self.layout.folder(thread.state.topic))
        return f"{nowhere} copy it; else move the rest out of the way: {folder}"

    def _is_waiting(self, topic: str) -> bool:
        """Return whether settling is about to render a thread."""
        return os.path.lexists(self.upkeep.marker(topic))

    def _of_projections(self, thread: Thread) -> Iterator[Finding]:
        """The projections that differ from the log. Those of other tools are left
        alone."""
        snapshot = thread.snapshot
        if snapshot.meta.newer or not model.written_by_wc(thread.entries):
            return
        damaged = {damage.file for damage in thread.damage}
        topic = thread.state.topic
        if self._relative(self.layout.log(topic)) in damaged:
            return  # the repair of the log renders them
        projections = rendering.render_thread(self.layout, thread)
        for path, data in projections.items():
            if self._relative(path) not in damaged:
                yield from self._of_projection(topic, path, data)

    def _of_projection(self, topic: str, path: str, data: bytes) -> Iterator[Finding]:
        """The problems of one projection, which should be ``data``."""
        name = self._relative(path)
        if message := obstruction(path, "file"):
            yield Finding(name, 0, message, SET_ASIDE)
            return
        try:
            disk = read_plain(path, self.layout.root)
        except OSError as error:
            message = f"cannot be read: {error.strerror}"
            yield Finding(name, 0, message, permissions_fix(path))
            return
        if disk == data:
            return
        is_page = path == self.layout.page(topic)
        if is_page and is_older_page(topic, disk or b"", data):
            return
        is_meta = path == self.layout.meta(topic)
        if is_meta and rendering.is_older_meta(topic, disk or b"", data):
            return
        if is_newer_page(self.layout, topic, path, disk or b""):
            fix = "Upgrade wc on this machine."
            yield Finding(name, 0, "written by a newer wc", fix)
        else:
            message = "is missing" if disk is None else "does not match the log"
            yield Finding(name, 0, message, _RENDER)

    def _of_name(self, thread: Thread) -> Iterator[Finding]:
        """The finding for a name that two clones gave to two threads."""
        if thread.name != thread.state.name:
            path = self._relative(self.layout.folder(thread.state.topic))
            message = (
                f"was renamed to {thread.state.name}, the name of another thread; "
                f"it is shown as {thread.name}"
            )
            fix = f"Give it another name: wc rename {quoted(thread.name)} NAME"
            yield Finding(path, 0, message, fix)

    def _of_names(self, thread: Thread) -> Iterator[Finding]:
        """The finding for a thread whose former names are not in their index."""
        if not self.upkeep.names.are_current(thread.state):
            fix = "A former name may not be found. Fix it: wc doctor --repair"
            message = f"lacks a name of {thread.state.topic}"
            yield Finding(".local/names", 0, message, fix)

    def _relative(self, path: str) -> str:
        return self.layout.relative(path)
