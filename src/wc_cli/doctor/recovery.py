"""What a thread has lost, from the branch and from our own page."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from wc_cli.branch import commits
from wc_cli.branch.compare import compare_log
from wc_cli.branch.git import Git, GitError
from wc_core.files import read_plain
from wc_core.git import discovery
from wc_core.layout import topic_of
from wc_core.threads import codec, model
from wc_core.threads import page as markdown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.branch.commits import Committed
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import StoreReader, Thread


class Recovery:
    """Where the entries of a store are to be had that its logs lack; asks git
    once, when it is first needed."""

    def __init__(self, reader: StoreReader, env: Mapping[str, str]) -> None:
        self.layout = reader.layout
        self.checkout = discovery.checkout_at(self.layout.root)
        self.git = Git(self.layout.root, env) if self.checkout else None
        self._known: dict[str, Committed] | None = None

    def topics(self) -> set[str]:
        """The threads that the branch has a log of."""
        folders = [path.split("/") for path in self._logs()]
        return {topic_of(parts[-2]) for parts in folders}

    def lost(self, topic: str, data: bytes, *, with_page: bool) -> dict[str, bytes]:
        """The lines, by id, of the entries that the branch has and a log with
        ``data`` has not. The page counts only ``with_page``, where something
        else says that entries are missing: people may edit it."""
        lines = self._committed_lines(topic, data)
        if with_page:
            for position, entry in enumerate(self._page_entries(topic)):
                lines.setdefault(entry.id, _line(entry, position))
        known = codec.lines_by_id(topic, data) if lines else {}
        return {one: line for one, line in lines.items() if one not in known}

    def uncommitted(self, thread: Thread) -> int:
        """How many of a thread's entries that wc wrote the branch has not.

        The branch was read some time ago and may have been committed to since,
        so it is read again before anything is called uncommitted.
        """
        count = self._count_uncommitted(thread)
        if count:
            self._known = None
            count = self._count_uncommitted(thread)
        return count

    def _count_uncommitted(self, thread: Thread) -> int:
        if self.git is None:
            return 0
        topic, log = thread.state.topic, thread.log
        path = os.path.relpath(self.layout.log(topic), self.layout.root)
        have = self._logs().get(path)
        try:
            new = compare_log(self.git, topic, thread.data[: log.complete], have).new
        except GitError:
            return 0  # doctor says what is wrong with git
        return sum(model.written_by_wc((one,)) for one in new)

    def lost_by(self, thread: Thread) -> dict[str, bytes]:
        """Likewise, of a thread as it was read."""
        return self.lost(thread.state.topic, thread.data, with_page=is_missed(thread))

    def committed(self, path: str) -> bytes:
        """A file as the branch has it; empty where it does not."""
        if self.git is None:
            return b""
        name = os.path.relpath(path, self.layout.root)
        try:
            return self.git.run("cat-file", "blob", f"HEAD:{name}")
        except GitError:
            return b""  # not committed yet

    def _logs(self) -> dict[str, Committed]:
        if self._known is None:
            self._known = {}
            if self.git is not None and self.checkout is not None:
                below = os.path.relpath(self.layout.threads, self.layout.root)
                try:
                    commit = commits.tip(self.checkout)
                    found = commits.committed_below(self.git, commit, f"{below}/")
                except GitError:
                    found = {}  # doctor says what is wrong with git
                depth = below.count("/") + 2
                self._known = {
                    path: one
                    for path, one in found.items()
                    if path.endswith("/entries.jsonl") and path.count("/") == depth
                }
        return self._known

    def _committed_lines(self, topic: str, data: bytes) -> dict[str, bytes]:
        """The lines of the branch's log, unless ``data`` begins with them."""
        path = self.layout.log(topic)
        have = self._logs().get(os.path.relpath(path, self.layout.root))
        if have is None or not have.size:
            return {}
        if commits.blob_id(data[: have.size], have.blob) == have.blob:
            return {}
        return codec.lines_by_id(topic, self.committed(path))

    def _page_entries(self, topic: str) -> tuple[Entry, ...]:
        try:
            data = read_plain(self.layout.page(topic), self.layout.root)
        except OSError:
            return ()  # a finding of its own
        page = markdown.parse(topic, data or b"")
        return page.entries if page.version else ()


def _line(entry: Entry, position: int) -> bytes:
    """The line of an entry from a page, where somebody may have put what is
    no text; it becomes ``?``, as where a log is read."""
    try:
        return codec.to_line(entry, position)
    except UnicodeEncodeError:
        fields = json.dumps(codec.to_fields(entry), ensure_ascii=False)
        known = json.loads(fields.encode(errors="replace"))
        return codec.to_line(codec.from_fields(entry.topic, known) or entry, position)


def is_missed(thread: Thread) -> bool:
    """Whether a thread lacks its log, or entries that it had."""
    return any(one.kind == "missing" for one in thread.damage)
