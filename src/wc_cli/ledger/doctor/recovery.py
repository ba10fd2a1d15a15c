"""Finds the entries that a log has lost: on the branch, on the rendered page, and in an
earlier checkout of the branch that was set aside."""

from __future__ import annotations

import json

from wc_cli.ledger.branch import commits, trees
from wc_cli.ledger.branch.compare import TooLargeError, compare_log, too_large
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.doctor.setaside import SetAsideStores
from wc_cli.ledger.merge.logs import split_torn
from wc_core.base import names
from wc_core.base.files import read_plain
from wc_core.base.layout import topic_of
from wc_core.ledger.git import discovery
from wc_core.ledger.threads import codec, entryfields, model
from wc_core.ledger.threads.longlines import MAX_LOG_BYTES
from wc_core.ledger.threads.pages import page as page_format
from wc_core.ledger.threads.reader import MAX_META_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.ledger.branch.commits import Committed
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import StoreReader, Thread


class Recovery:
    """The entries that the logs of a store lack. git runs once, on first use."""

    def __init__(self, reader: StoreReader, env: Mapping[str, str]) -> None:
        self.layout = reader.layout
        self.checkout = discovery.checkout_at(self.layout.root)
        self.git = Git(self.layout.root, env) if self.checkout else None
        self.set_aside = SetAsideStores(self.layout, env)
        self._committed_logs: dict[str, Committed] | None = None
        self._committed_metas: dict[str, bytes] | None = None
        self._logs_tip = ""

    @property
    def sources(self) -> str:
        """The places that are searched for lost entries, in words."""
        checkout = " or an earlier checkout of it" if self.set_aside.earlier else ""
        return f"the branch{checkout}"

    def topics(self) -> set[str]:
        """The threads whose log is on the branch, or in an earlier checkout of it."""
        folders = [path.split("/") for path in self._logs()]
        return {topic_of(parts[-2]) for parts in folders} | self.set_aside.topics()

    def lost_lines(
        self, topic: str, data: bytes, *, with_page: bool
    ) -> dict[str, bytes]:
        """The lines, by id, that a log with ``data`` lacks and the branch or an earlier
        checkout of it has.

        The page counts only ``with_page``: people may edit it, so there must be other
        evidence of missing entries.
        """
        lines = self.set_aside.lines(topic) | self._committed_lines(topic, data)
        if with_page:
            for position, entry in enumerate(self._page_entries(topic)):
                lines.setdefault(entry.id, _page_line(entry, position))
        present = codec.lines_by_id(topic, data) if lines else {}
        return {id_: line for id_, line in lines.items() if id_ not in present}

    def uncommitted(self, thread: Thread) -> int:
        """The number of a thread's entries that wc wrote and the branch lacks.

        The branch may have moved since it was read. So it is read again before any
        entry counts as uncommitted.
        """
        count = self._count_uncommitted(thread)
        if count and self._branch_moved():
            self._committed_logs = None
            count = self._count_uncommitted(thread)
        return count

    def _branch_moved(self) -> bool:
        """Return whether the branch has moved since it was read."""
        return self.checkout is None or self.checkout.commit != self._logs_tip

    def _count_uncommitted(self, thread: Thread) -> int:
        if self.git is None:
            return 0
        topic = thread.state.topic
        path = self.layout.relative(self.layout.log(topic))
        have = self._logs().get(path)
        complete, _ = split_torn(thread.data)
        try:
            new = compare_log(self.git, topic, complete, have).new
        except (GitError, TooLargeError):
            return 0  # which doctor reports
        return sum(model.written_by_wc((entry,)) for entry in new)

    def lost_by_thread(self, thread: Thread) -> dict[str, bytes]:
        """The lines that a thread as read has lost; see `lost_lines`."""
        return self.lost_lines(
            thread.state.topic, thread.data, with_page=lacks_entries(thread)
        )

    def committed_meta(self, topic: str) -> bytes:
        """The ``meta.json`` of a thread on the branch; empty if missing."""
        if self._committed_metas is None:
            self._committed_metas = self._read_metas()
        path = self.layout.relative(self.layout.meta(topic))
        return self._committed_metas.get(path, b"")

    def _read_metas(self) -> dict[str, bytes]:
        """All ``meta.json`` files on the branch, by path. One git process reads them:
        one for each would take longer than the repair."""
        try:
            files = self._read_files("meta.json")
        except GitError:
            return {}  # doctor reports problems with git
        if self.git is None:
            return {}
        files = {k: v for k, v in files.items() if v.size <= MAX_META_BYTES}
        try:
            contents = trees.blobs(self.git, (file.blob for file in files.values()))
        except GitError:
            # One of them is damaged.
            return {path: self._blob(file.blob) for path, file in files.items()}
        return {path: contents[file.blob] for path, file in files.items()}

    def _blob(self, blob: str) -> bytes:
        """The bytes of a blob; empty if they cannot be read."""
        if self.git is None:
            return b""
        try:
            return self.git.run("cat-file", "blob", blob)
        except GitError:
            return b""

    def _logs(self) -> dict[str, Committed]:
        """The logs on the branch, by path."""
        if self._committed_logs is None:
            try:
                if self.checkout is not None:
                    self._logs_tip = self.checkout.commit
                self._committed_logs = self._read_files("entries.jsonl")
            except GitError:
                self._committed_logs = {}  # doctor reports problems with git
        return self._committed_logs

    def _read_files(self, name: str) -> dict[str, Committed]:
        """The threads' files of this name on the branch."""
        if self.git is None or self.checkout is None:
            return {}
        below = self.layout.relative(self.layout.threads)
        tip = commits.tip(self.checkout)
        files = commits.committed_below(self.git, tip, f"{below}/")
        depth = below.count("/") + 2
        return {
            path: file
            for path, file in files.items()
            if path.endswith(f"/{name}") and path.count("/") == depth
        }

    def _committed_lines(self, topic: str, data: bytes) -> dict[str, bytes]:
        """The lines of the branch's log, unless ``data`` begins with them."""
        path = self.layout.log(topic)
        have = self._logs().get(self.layout.relative(path))
        if self.git is None or have is None or not 0 < have.size <= MAX_LOG_BYTES:
            return {}
        if commits.blob_id(data[: have.size], have.blob) == have.blob:
            return {}
        try:
            texts = trees.logs(self.git, {have.blob: have.size})
        except GitError:
            return {}  # doctor reports problems with git
        return codec.lines_by_id(topic, texts[have.blob].data)

    def too_large(self) -> dict[str, str]:
        """Why logs on the branch are not read, by path."""
        return {
            path: too_large(file.size)
            for path, file in self._logs().items()
            if file.size > MAX_LOG_BYTES
        }

    def _page_entries(self, topic: str) -> tuple[Entry, ...]:
        try:
            data = read_plain(self.layout.page(topic), self.layout.root)
        except OSError:
            return ()  # that is a separate finding
        page = page_format.parse(topic, data or b"")
        return page.entries if page.version else ()


def _page_line(entry: Entry, position: int) -> bytes:
    """The log line of an entry from a page. Invalid characters become ``?``, as when a
    log is read."""
    try:
        return codec.to_line(entry, position)
    except UnicodeEncodeError:
        fields = json.dumps(entryfields.to_fields(entry), ensure_ascii=False)
        valid = json.loads(fields.encode(errors="replace"))
        return codec.to_line(
            entryfields.from_fields(entry.topic, valid) or entry, position
        )


def lacks_entries(thread: Thread) -> bool:
    """Return whether a thread lacks its log, or entries that it had."""
    return any(damage.kind == "missing" for damage in thread.damage)


def moved_by_another_tool(thread: Thread) -> str:
    """Who has the ball by a ``meta.json`` that another tool wrote after wc, if the log
    says otherwise; else empty."""
    meta = thread.snapshot.meta
    if (
        not meta.rewritten
        or meta.base is None
        or not model.written_by_wc(thread.entries)
    ):
        return ""
    holder = meta.base.ball
    is_same = names.fold(holder or "") == names.fold(thread.state.ball or "")
    return "" if is_same else model.holder_text(holder)


def lost_to_another_tool(thread: Thread) -> str:
    """The id of the last entry that ``meta.json`` had from wc before another tool wrote
    both files, if the log lacks it; else empty."""
    shown = thread.snapshot.meta.shown
    if shown is None or not thread.snapshot.meta.rewritten:
        return ""
    has_it = any(entry.id == shown.last_id for entry in thread.entries)
    return "" if has_it else shown.last_id
