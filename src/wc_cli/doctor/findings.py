"""What is wrong with the threads of a store, and how to mend it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.context import now_ms
from wc_cli.doctor.recovery import Recovery, is_missed
from wc_cli.doctor.repair import is_newer_page, shows_wrong
from wc_cli.doctor.strays import folders, in_the_way
from wc_cli.store import rendering
from wc_cli.store.upkeep import Upkeep
from wc_core import ulid
from wc_core.errors import NotFoundError, WcError
from wc_core.files import read_plain, size_of
from wc_core.phrases import counted, quoted
from wc_core.text import one_line
from wc_core.threads import model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.threads.codec import Damage
    from wc_core.threads.reader import StoreReader, Thread

# What to do about each kind of damage (`codec.Damage.kind`); of the others it
# depends on more.
_FIXES = {
    "torn": "Nothing is lost by it. Tidy up with: wc doctor --repair",
    "garbage": "Every other entry is readable. Set the line aside: wc doctor --repair",
    "shape": "Every other entry is readable. Set the line aside: wc doctor --repair",
    "field": "It is kept and not shown. Upgrade wc, or correct the line by hand.",
    "differs": "The fuller one is shown. Set this one aside: wc doctor --repair",
    "newer": "Upgrade wc on this machine; this one writes nothing to the thread.",
}
SET_ASIDE = "Set it aside, and bring back what belongs there: wc doctor --repair"
# So often a thread is looked at that somebody writes to all the time.
_LOOKS = 10
_RENDER = "Readers use the log meanwhile. Render it: wc doctor --repair"


class Finding(NamedTuple):
    """Something wrong: where, what, and what to do about it."""

    file: str
    line: int
    message: str
    fix: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{one_line(f'{place}: {self.message}')}\n    {one_line(self.fix)}"


class Threads:
    """Examines every thread of a store; one that cannot be read is a finding,
    and hides no other. ``threads`` and ``entries`` count what was seen;
    ``forked`` are the threads with two histories side by side."""

    def __init__(self, reader: StoreReader, env: Mapping[str, str]) -> None:
        self.reader = reader
        self.layout = reader.layout
        self.env = env
        self.upkeep = Upkeep(reader, env)
        self.recovery = Recovery(reader, env)
        self.threads = 0
        self.entries = 0
        self.forked: list[str] = []

    def findings(self) -> Iterator[Finding]:
        """All of them, thread by thread."""
        # Before the threads are listed: each file found then has its thread.
        self.upkeep.status.scan()
        try:
            topics = self.reader.topics()
        except WcError as error:
            if not any(in_the_way(path, "folder") for path in folders(self.layout)):
                yield Finding("threads", 0, error.message, error.hint)
            return
        for topic in topics:
            yield from self._of_topic(topic)
        elsewhere = sorted(self.recovery.topics() - set(topics))
        for topic in elsewhere:
            yield from self._of_gone(topic)
        for path in self.upkeep.status.orphans([*topics, *elsewhere]):
            fix = "The status line may show it. Take it away: wc doctor --repair"
            yield Finding(f".local/{path}", 0, "is of no thread", fix)

    def _of_topic(self, topic: str) -> Iterator[Finding]:
        self.threads += 1
        try:
            thread, found = self._look_at(topic)
        except NotFoundError:
            self.threads -= 1
            # The empty folder of a first entry that failed, or what is left
            # of a thread the branch has.
            yield from self._of_gone(topic)
        except WcError as error:
            yield self._of_unreadable(topic, error)
        else:
            self.entries += len(thread.entries)
            self.forked += [topic] if thread.state.forked else []
            yield from found

    def _look_at(self, topic: str) -> tuple[Thread, list[Finding]]:
        """A thread and what is wrong with it: looked at again where somebody
        wrote meanwhile, for what was read does not go together then."""
        path = self.layout.log(topic)
        for _ in range(_LOOKS):
            thread = self.reader.thread(topic)
            found = list(self._of_thread(thread))
            size = size_of(path, self.layout.root)
            if not found or size in {thread.snapshot.log_size, -1}:
                break
        return thread, found

    def _of_gone(self, topic: str) -> Iterator[Finding]:
        """A thread of which only the branch has anything."""
        if self.recovery.lost(topic, b"", with_page=False):
            path = self.layout.folder(topic)
            message = in_the_way(path, "folder") or "is gone, and the branch has it"
            yield Finding(self._shown(path), 0, message, SET_ASIDE)

    def _of_unreadable(self, topic: str, error: WcError) -> Finding:
        layout = self.layout
        places = {
            layout.folder(topic): "folder",
            layout.log(topic): "file",
            layout.page(topic): "file",
        }
        for path, kind in places.items():
            if message := in_the_way(path, kind):
                return Finding(self._shown(path), 0, message, SET_ASIDE)
        fix = _see_to(layout.folder(topic))
        return Finding(self._shown(layout.log(topic)), 0, error.message, fix)

    def _of_thread(self, thread: Thread) -> Iterator[Finding]:
        topic = thread.state.topic
        for damage in thread.damage:
            fix = self._fix(damage, thread)
            yield Finding(damage.file, damage.line, damage.message, fix)
        if not is_missed(thread) and (lost := self.recovery.lost_by(thread)):
            entries = counted(len(lost), "entry", "entries")
            message = f"lacks {entries} that the branch has"
            fix = "Bring back what the branch has: wc doctor --repair"
            yield Finding(self._shown(self.layout.log(topic)), 0, message, fix)
        last = ulid.prefix(thread.state.last_id)
        if last and ulid.milliseconds(last) > now_ms() + ulid.FUTURE_MS:
            message = f"entry {thread.state.last_id} is from more than a day ahead"
            fix = "A clock was wrong: until then, that entry decides ball and status."
            yield Finding(topic, 0, message, fix)
        if thread.snapshot.log_size >= 0 and not self._is_waiting(topic):
            yield from self._of_projections(thread)
            yield from self._of_status_lines(thread)
            if count := self.recovery.uncommitted(thread):
                entries = counted(count, "entry", "entries")
                message = f"has {entries} that no commit has, and none is on its way"
                fix = "They are safe on disk. Commit them: wc doctor --repair"
                yield Finding(self._shown(self.layout.log(topic)), 0, message, fix)

    def _fix(self, damage: Damage, thread: Thread) -> str:
        if damage.kind == "missing":
            return self._fix_of_missing(thread)
        if damage.kind == "unreadable":
            path = f"{self.layout.root}/{damage.file}"
            return SET_ASIDE if in_the_way(path, "file") else _see_to(path)
        if damage.kind in {"garbage", "shape"} and not damage.lost:
            return _RENDER  # a meta
        return _FIXES[damage.kind]

    def _fix_of_missing(self, thread: Thread) -> str:
        if lost := self.recovery.lost_by(thread):
            entries = counted(len(lost), "entry", "entries")
            return f"Branch and page have {entries} of it: wc doctor --repair"
        nowhere = "Neither branch nor page has it. If a backup or another clone does,"
        if thread.entries:
            return f"{nowhere} copy the log; to go on without: wc doctor --repair"
        folder = quoted(self.layout.folder(thread.state.topic))
        return f"{nowhere} copy it; else move the rest out of the way: {folder}"

    def _is_waiting(self, topic: str) -> bool:
        """Whether settling is about to render a thread."""
        return os.path.lexists(self.upkeep.marker(topic))

    def _of_projections(self, thread: Thread) -> Iterator[Finding]:
        """Projections of ours that are not what the log gives; those that
        other tools keep are left alone."""
        if thread.snapshot.meta.newer or not model.written_by_wc(thread.entries):
            return
        topic = thread.state.topic
        said = {one.file for one in thread.damage}
        for path, data in rendering.render_thread(self.layout, thread).items():
            name = self._shown(path)
            if message := in_the_way(path, "file"):
                if name not in said:
                    yield Finding(name, 0, message, SET_ASIDE)
                continue
            try:
                found = read_plain(path, self.layout.root)
            except OSError as error:
                yield Finding(
                    name, 0, f"cannot be read: {error.strerror}", _see_to(path)
                )
                continue
            if found == data or name in said:
                continue
            if is_newer_page(self.layout, topic, path, found or b""):
                message = "written by a newer wc"
                yield Finding(name, 0, message, "Upgrade wc on this machine.")
            else:
                message = "is missing" if found is None else "is not what the log says"
                yield Finding(name, 0, message, _RENDER)

    def _of_status_lines(self, thread: Thread) -> Iterator[Finding]:
        if not shows_wrong(self.upkeep, thread):
            return
        # Somebody may have written meanwhile: look again, at both.
        topic = thread.state.topic
        try:
            thread = self.reader.thread(topic)
        except WcError:
            return
        if shows_wrong(Upkeep(self.reader, self.env), thread):
            message = f"does not show {topic} as it is"
            fix = "The prompt may be wrong. Mend it: wc doctor --repair"
            yield Finding(".local/status", 0, message, fix)

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)


def _see_to(path: str) -> str:
    return f"See to its owner and permissions: ls -la {quoted(path)}"
