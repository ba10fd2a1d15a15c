"""``wc doctor --repair``: mend what can be mended without losing a byte.

Every step is whole or absent and may be taken again: bad bytes go to a file
under ``.local/quarantine/`` named after them, flushed before the log is
written anew without them. What cannot be mended stays as it was found.
"""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

from wc_cli import durable, settling
from wc_cli.gitsync import Git, GitError
from wc_cli.upkeep import Upkeep
from wc_core import codec, discovery, markdown, model, projections
from wc_core.codec import Damage
from wc_core.errors import WcError
from wc_core.files import NotPlainError, read_plain
from wc_core.layout import ATTRIBUTES, IGNORED
from wc_core.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_core.model import Entry
    from wc_core.reader import Thread

_SETTLE_SECONDS = 30.0
_NAME_LENGTH = 16
_WHO = "wc doctor --repair"


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
        checked_out = discovery.is_checkout(self.layout.root)
        self.git = Git(self.layout.root, env) if checked_out else None

    def run(self) -> Iterator[Mended]:
        """Mend everything, one thread at a time; each thing as it is done.

        A thread that is being written to, or that cannot be mended, is left
        to the findings that follow.
        """
        yield from self._shared_files()
        for topic in self.reader.topics():
            try:
                yield from self._thread(topic)
            except WcError:
                continue
        if not self.dry_run:
            settling.settle(self.layout.root, self.env, _SETTLE_SECONDS)

    def _thread(self, topic: str) -> Iterator[Mended]:
        if self.dry_run:
            yield from self._log(topic)
            yield from self._projections(topic)
            return
        with self.upkeep.lock(topic, _WHO):
            yield from self._log(topic)
            yield from self._projections(topic)
            yield from self._status_lines(topic)

    def _shared_files(self) -> Iterator[Mended]:
        if self.git is None:
            return
        for name, line in ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)):
            path = f"{self.layout.root}/{name}"
            if (
                line.encode()
                not in (read_plain(path, self.layout.root) or b"").splitlines()
            ):
                yield Mended(name, f"add the line {line!r}")
                if not self.dry_run:
                    durable.append(path, f"{line}\n".encode(), self.layout.root)

    def _log(self, topic: str) -> Iterator[Mended]:
        """Quarantine what is no entry; bring back a log that is gone."""
        path = self.layout.log(topic)
        try:
            data = read_plain(path, self.layout.root)
        except NotPlainError as error:
            yield Mended(self._shown(path), f"{error.strerror}: set it aside")
            if self.dry_run:
                return
            self._set_aside(topic, path)
            data = None
        if data is None:
            yield from self._restore(topic)
            return
        good, bad = codec.sort_lines(topic, data)
        if good == data:
            return
        if bad:
            where = self._quarantine(topic, bad)
            count = bad.count(b"\n")
            yield Mended(self._shown(path), f"move {count} bad lines to {where}")
        else:
            yield Mended(self._shown(path), "end its last line")
        self._write_log(topic, good)

    def _quarantine(self, topic: str, data: bytes) -> str:
        """Keep bad bytes, flushed, in a file named after them; its path."""
        name = hashlib.sha256(data).hexdigest()[:_NAME_LENGTH]
        path = f"{self.layout.quarantine(topic)}/{name}"
        if not self.dry_run and read_plain(path, self.layout.root) != data:
            durable.make_folder(os.path.dirname(path), self.layout.root)
            durable.create(path, data, self.layout.root)
        return self._shown(path)

    def _set_aside(self, topic: str, path: str) -> None:
        """Move what stands where a file belongs, whatever it is, unopened."""
        folder = self.layout.quarantine(topic)
        durable.make_folder(folder, self.layout.root)
        number = 0
        while os.path.lexists(f"{folder}/{os.path.basename(path)}.{number}"):
            number += 1
        durable.move(
            path, f"{folder}/{os.path.basename(path)}.{number}", self.layout.root
        )

    def _write_log(self, topic: str, data: bytes) -> None:
        if not self.dry_run:
            durable.touch(self.upkeep.marker(topic), self.layout.root)
            durable.create(self.layout.log(topic), data, self.layout.root)

    def _restore(self, topic: str) -> Iterator[Mended]:
        """A log that is missing, from the branch and from our own page, which
        says everything the log did. Pages of older tools stay as they are."""
        committed = self._committed(self.layout.log(topic))
        lines = codec.lines_by_id(topic, committed)
        for entry in self._page_entries(topic):
            lines.setdefault(entry.id, codec.to_line(entry, len(lines)))
        if not lines:
            return
        data = b"".join(lines.values())
        entries = codec.read_log(topic, data).entries
        data = b"".join(lines[entry.id] for entry in entries)
        what = f"bring back {len(lines)} entries from the branch and the page"
        yield Mended(self._shown(self.layout.log(topic)), what)
        if not self.dry_run:
            durable.make_folder(self.layout.folder(topic), self.layout.root)
        self._write_log(topic, data)

    def _page_entries(self, topic: str) -> tuple[Entry, ...]:
        try:
            data = read_plain(self.layout.page(topic), self.layout.root)
        except OSError:
            return ()  # a finding of its own
        page = markdown.parse(topic, data or b"")
        return page.entries if page.version else ()

    def _committed(self, path: str) -> bytes:
        """A file as the branch has it; empty where it does not."""
        if self.git is None:
            return b""
        try:
            return self.git.run("cat-file", "blob", f"HEAD:{self._shown(path)}")
        except GitError:
            return b""  # not committed yet

    def _projections(self, topic: str) -> Iterator[Mended]:
        """Render what is not what the log gives. Threads that only other
        tools wrote are left as those tools keep them."""
        thread = self.reader.thread(topic)
        if not model.written_by_wc(thread.entries):
            return
        thread = self._with_unknown_keys(thread)
        for path, data in settling.rendered(self.layout, thread).items():
            if _has(path, data, self.layout.root):
                continue
            yield Mended(self._shown(path), "render it anew from the log")
            if self.dry_run:
                continue
            if os.path.islink(path) or os.path.isdir(path):
                self._set_aside(topic, path)
            durable.touch(self.upkeep.marker(topic), self.layout.root)
            durable.replace(path, data, self.layout.root)

    def _with_unknown_keys(self, thread: Thread) -> Thread:
        """Other tools' keys of a ``meta.json`` that is gone, as last committed."""
        unknown: Mapping[str, Any] = thread.snapshot.unknown
        if not unknown:
            topic = thread.state.topic
            committed = self._committed(self.layout.meta(topic))
            meta = projections.read_meta(topic, committed or b"{}")
            unknown = {} if isinstance(meta, Damage) else meta.unknown
        return thread._replace(snapshot=thread.snapshot._replace(unknown=unknown))

    def _status_lines(self, topic: str) -> Iterator[Mended]:
        thread = self.reader.thread(topic)
        if model.written_by_wc(thread.entries) and self.upkeep.show(thread.state):
            yield Mended(".local/status", f"show {topic} as it is")

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)


def _has(path: str, data: bytes, root: str) -> bool:
    try:
        return read_plain(path, root) == data
    except OSError:
        return False
