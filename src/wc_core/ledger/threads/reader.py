"""Reads a store: snapshots of its threads. Nothing here can write.

The log is the truth. ``meta.json`` is trusted only if it is the fold of exactly the
present log. Old threads that are only a markdown page are read from the page.
"""

from __future__ import annotations

import errno
import os
import time

from wc_core.base.errors import (
    CorruptError,
    Damage,
    InvalidInputError,
    NotFoundError,
    WcError,
)
from wc_core.base.files import (
    Folder,
    NotPlainError,
    names_in,
    pieces_of,
    unordered_names_in,
)
from wc_core.base.layout import (
    NOTES,
    PAGES,
    Layout,
    file_name,
    folded,
    safe_name,
    topics_of,
)
from wc_core.base.lean.functools import partial
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import aliases, codec, folding, longlines
from wc_core.ledger.threads.aliases import labelled
from wc_core.ledger.threads.projections import Meta, read_meta
from wc_core.ledger.threads.snapshot import Cursor, Snapshot, read_cursor
from wc_core.ledger.threads.ways import with_ways
from wc_core.ledger.threads.written import written_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.threads.longlines import LogText
    from wc_core.ledger.threads.model import Entry, State


# A last line without an end may still be in the process of being written: a large write
# grows the file page by page. Seconds before each further attempt to read it.
_RETRY_DELAYS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
# Seconds after the last change until a write is no longer in progress.
_WRITE_SECONDS = 2.0

# In the first line of the thread of notes.
_NOTE, _HEAD_BYTES = b'"note":{', 1 << 16

# A larger meta.json is not ours: it is damage, and the log is read instead.
MAX_META_BYTES = 4 * 1024 * 1024


class Thread(NamedTuple):
    """A thread with all of its entries, in the order in which they take effect.

    ``log`` and ``data`` (its bytes) are empty if there is no log. In ``data``, lines
    that are too long are replaced, see `longlines`.
    """

    snapshot: Snapshot
    entries: tuple[Entry, ...]
    log: codec.Log = codec.Log()
    data: bytes = b""

    @property
    def state(self) -> State:
        """The fold of the entries."""
        return self.snapshot.state

    @property
    def topic(self) -> str:
        """The thread's slug."""
        return self.snapshot.topic

    @property
    def name(self) -> str:
        """The thread's name in its store."""
        return self.snapshot.name

    @property
    def authors(self) -> tuple[str, ...]:
        """Everyone who wrote, in the order of their first entries."""
        return tuple(dict.fromkeys(entry.agent for entry in self.entries))

    @property
    def damage(self) -> tuple[Damage, ...]:
        """The defects of the thread's files."""
        return self.snapshot.damage


class _MetaFile(NamedTuple):
    """A ``meta.json`` that was read, and its damage."""

    meta: Meta = Meta()
    damage: tuple[Damage, ...] = ()


class StoreReader:
    """Reads the threads of the store at ``root``, from its files at each call."""

    def __init__(self, root: str) -> None:
        """``root`` need not exist: then the store has no threads."""
        self.layout = Layout(os.path.realpath(root))

    def topics(self) -> list[str]:
        """The topics of all threads, with a log or only a page, sorted; not that of the
        thread of notes.

        Raises StorageError if the folders may not be read, and CorruptError if they are
        links.
        """
        return self.topics_and_folders()[0]

    def topics_and_folders(self) -> tuple[list[str], dict[str, str]]:
        """Like `topics`, with the names of those folders that may have logs, by
        topic."""
        topics, folders = self.all_topics_and_folders()
        if NOTES in folders and self.is_hidden(NOTES):
            topics.remove(NOTES)
            del folders[NOTES]
        return topics, folders

    def is_hidden(self, topic: str) -> bool:
        """Whether it is the thread of notes. A thread of that name that began with
        anything else, before the name was reserved, is like any other."""
        if topic != NOTES:
            return False
        with self._open(self.layout.folder(NOTES)) as folder:
            if folder.handle is None:
                return False
            head = b"".join(folder.heads(["entries.jsonl"], _HEAD_BYTES))
        return _NOTE in head.partition(b"\n")[0]

    def all_topics_and_folders(self) -> tuple[list[str], dict[str, str]]:
        """Like `topics_and_folders`, with the thread of notes."""
        names = self._folders()
        # Nearly every page belongs to a folder, so only the others are examined.
        pages = self._page_names()
        pages.difference_update([f"{name}.md" for name in names])
        alone = [name[:-3] for name in pages if name.endswith(".md") and name != ".md"]
        if self.layout.pages == self.layout.root:
            alone = [name for name in alone if not self.layout.is_other(f"{name}.md")]
        folders = dict(zip(topics_of(names), names, strict=True))
        return sorted([*folders, *topics_of(alone)]), folders

    def _page_names(self) -> set[str]:
        layout, folder = self.layout, self.layout.pages
        names = {*unordered_names_in(folder, layout.root)}
        if folder not in {layout.root, usual := f"{layout.root}/{PAGES}"}:
            names.update(unordered_names_in(usual, layout.root))
        return names

    def _folders(self) -> list[str]:
        path, root = self.layout.threads, self.layout.root
        try:
            with Folder(path, root) as threads:
                if threads.handle is None:
                    return []
                with os.scandir(threads.handle) as items:
                    return [d.name for d in items if d.is_dir(follow_symlinks=False)]
        except OSError:
            return names_in(path, root)  # raises the error that explains it

    def _open(self, folder: str) -> Folder:
        """Open a folder of the store.

        Raises CorruptError if it cannot be opened, or only through a link.
        """
        try:
            return Folder(folder, self.layout.root)
        except NotPlainError as error:
            raise CorruptError(
                f"{self._relative(folder)} {error.strerror}; nothing outside is read.",
                "Replace the link with the folder it stands for.",
            ) from error
        except OSError as error:
            raise self._unreadable(folder, error) from error

    def has(self, topic: str) -> bool:
        """Whether the thread exists: a log, a page, or remains of it in its folder."""
        if not os.path.islink(self.layout.folder(topic)):
            with self._open(self.layout.folder(topic)) as folder:
                if self._is_begun(folder, topic):
                    return True
        path = self.layout.page(topic)
        with self._open(os.path.dirname(path)) as pages:
            return self._size(pages, path) >= 0

    def find(self, text: str, *, trusting: bool = False) -> str:
        """Return the same as `lookup`. Raises NotFoundError with similar names."""
        topic = self.lookup(text, trusting=trusting)
        if topic is None:
            raise self.not_found_error(text.strip())
        return topic

    def lookup(self, text: str, *, trusting: bool = False) -> str | None:
        """Return the topic of the existing thread that ``text`` names; ``None`` if
        there is none.

        It is compared as written, then in the spelling of new topics, then with the
        names given later (`aliases.owner`).
        """
        written = text.strip()
        for candidate in dict.fromkeys((written, folded(written))):
            try:
                file_name(candidate)
            except InvalidInputError:
                continue
            if self.has(candidate) and not self.is_hidden(candidate):
                return candidate
        return aliases.owner(self, written, trusting=trusting) or None

    def page(self, topic: str) -> bytes:
        """The bytes of a thread's page; empty if there is none.

        Raises CorruptError if it cannot be read.
        """
        path = self.layout.page(topic)
        with self._open(os.path.dirname(path)) as pages:
            return self._read(pages, path) or b""

    def _is_begun(self, folder: Folder, topic: str) -> bool:
        """Whether the folder of a thread has more than an empty log.

        A crash before the first entry leaves a folder, perhaps with an empty log; that
        is not a thread. Files of other tools alone do not make one either.
        """
        if folder.handle is None:
            return False
        names = set(os.listdir(folder.handle))
        log = os.path.basename(self.layout.log(topic))
        if log in names and self._size(folder, self.layout.log(topic)) != 0:
            return True
        projections = (self.layout.meta(topic), self.layout.edges(topic))
        return any(os.path.basename(path) in names for path in projections)

    def snapshot(self, topic: str) -> Snapshot:
        """The state of a thread, from a fresh ``meta.json`` or else from the log.

        With ``meta.json`` the cost does not grow with the thread. Raises NotFoundError
        for a thread that does not exist.
        """
        with self.opened(topic) as folder:
            return self.snapshot_in(folder, topic)[0]

    def opened(self, topic: str) -> Folder:
        """The open folder of a thread, which may be missing.

        Raises CorruptError if it cannot be opened, or only through a link.
        """
        return self._open(self.layout.folder(topic))

    def snapshot_in(self, folder: Folder, topic: str) -> tuple[Snapshot, bytes]:
        """The result of `snapshot` for a thread whose folder is open, and the last line
        of its log; no line if ``meta.json`` is not fresh."""
        size = self._size(folder, self.layout.log(topic))
        meta, damage = meta_file = self._meta(folder, topic)
        state, line = meta.state, b""
        # If the newest id is not that of a head, a clock was wrong, and the state may
        # be that of an older version.
        is_usual = state is not None and state.last_id in state.heads
        is_usual = is_usual and meta.has_boxes
        if state is not None and is_usual and 0 <= size == meta.log_size:
            line = self._last_line(folder, topic, size, state.last_id)
        if state is None or not line:
            return self._thread(folder, topic, meta_file).snapshot, b""
        if state.lost:
            message = f"{counted(state.lost, 'line')} of it cannot be read"
            damage = (*damage, self._log_damage(topic, "garbage", message))
        snapshot = Snapshot(state, size, True, damage, meta.unknown, meta)
        return labelled(self, folder, snapshot), line

    def _log_damage(self, topic: str, kind: str, message: str) -> Damage:
        return Damage(self._relative(self.layout.log(topic)), 0, kind, message)

    def _last_line(self, folder: Folder, topic: str, size: int, entry_id: str) -> bytes:
        """The last line of the log if it is the entry with this id; otherwise empty."""
        try:
            path, most = self.layout.log(topic), longlines.MAX_LINE_BYTES
            line = folder.last_line(path, size, most)
        except OSError:
            return b""  # reading all of the log raises the error that explains it
        is_entry = b'"entry_id":"%b"' % entry_id.encode() in line
        return line if line.endswith(b"\n") and is_entry else b""

    def thread(self, topic: str) -> Thread:
        """A thread with its entries.

        Raises NotFoundError for a thread that does not exist, and
        CorruptError for a log that cannot be read.
        """
        with self._open(self.layout.folder(topic)) as folder:
            # Before the log: a log that is read after its meta has at least the entries
            # that the meta counts.
            return self._thread(folder, topic, self._meta(folder, topic))

    def _thread(self, folder: Folder, topic: str, meta_file: _MetaFile) -> Thread:
        """A thread from its log, or from its page if the log is missing or empty."""
        path = self.layout.log(topic)
        text = self._log(folder, topic)
        if text is None:
            return self._from_page(folder, topic, meta_file, "the log is missing")
        data = text.data
        written = partial(written_lines, self.layout, topic)
        log = codec.read_log(topic, data, self._relative(path), written)
        log = log._replace(size=text.size, complete=text.complete)
        if not log.entries and not log.damage:
            return self._from_page(folder, topic, meta_file, "the log is empty")
        meta, damage = meta_file
        state = folding.fold(topic, log.entries, meta.base)._replace(lost=log.lost)
        damage = (*damage, *self._shrinkage(topic, log, meta), *log.damage)
        snapshot = Snapshot(state, log.size, False, damage, meta.unknown, meta)
        snapshot = labelled(self, folder, snapshot)
        return Thread(snapshot, with_ways(log.entries, self.layout), log, data)

    def _shrinkage(self, topic: str, log: codec.Log, meta: Meta) -> Iterator[Damage]:
        """The damage of a log with fewer entries than when its meta was written."""
        if not log.entries:
            message = "not one line of the log can be read"
            yield self._log_damage(topic, "missing", message)
        elif (state := meta.state) is not None:
            count = state.entry_count + state.lost - len(log.entries) - log.lost
            if count > 0 and state.entry_count > len(log.entries):
                message = f"{count} of {state.entry_count} entries are gone from it"
                yield self._log_damage(topic, "missing", message)

    def log_bytes(self, topic: str) -> bytes | None:
        """The bytes of a thread's log, see `Thread.data`; ``None`` if there is none.

        Raises CorruptError if it cannot be read.
        """
        text = self.log_text(topic)
        return None if text is None else text.data

    def log_text(self, topic: str) -> LogText | None:
        """A thread's log; ``None`` if there is none. Raises CorruptError if it cannot
        be read."""
        with self._open(self.layout.folder(topic)) as folder:
            return self._log_text(folder, self.layout.log(topic))

    def _log_text(self, folder: Folder, path: str) -> LogText | None:
        try:
            return log_text(folder, path, self.layout.root)
        except OSError as error:
            raise self._read_error(path, error) from error

    def _size(self, folder: Folder, path: str) -> int:
        try:
            return folder.size(path)
        except OSError as error:
            raise self._unreadable(path, error) from error

    def _relative(self, path: str) -> str:
        return self.layout.relative(path)

    def _read(self, folder: Folder, path: str) -> bytes | None:
        try:
            return folder.read(path)
        except OSError as error:
            raise self._read_error(path, error) from error

    def _read_error(self, path: str, error: OSError) -> CorruptError:
        if not isinstance(error, NotPlainError):
            return self._unreadable(path, error)
        return CorruptError(
            f"{self._relative(path)} {error.strerror}.",
            "Nothing was read or changed. See what is there: wc doctor",
        )

    def _unreadable(self, path: str, error: OSError) -> CorruptError:
        return CorruptError(
            f"{self._relative(path)} cannot be read: {error.strerror}.",
            "Check the permissions of the store: wc doctor",
        )

    def _log(self, folder: Folder, topic: str) -> LogText | None:
        """A log; ``None`` if the thread exists without one.

        Waits for a line that is being written. Raises NotFoundError if the
        thread does not exist.
        """
        path = self.layout.log(topic)
        text = self._log_text(folder, path)
        if text is None:
            # Read again after looking for the other files: the log of a new thread is
            # made before them.
            has_page = os.path.lexists(self.layout.page(topic))
            exists = has_page or self._is_begun(folder, topic)
            text = self._log_text(folder, path)
            if text is None and not exists:
                raise _missing_error(topic)
        for seconds in _RETRY_DELAYS:
            if text is None or not text.data or text.data.endswith(b"\n"):
                break
            if not folder.is_recent(path, _WRITE_SECONDS):
                break
            time.sleep(seconds)
            text = self._log_text(folder, path)
        return text

    def meta(self, topic: str) -> Meta:
        """The contents of ``meta.json``; an empty meta if it cannot be read."""
        with self._open(self.layout.folder(topic)) as folder:
            return self._meta(folder, topic).meta

    def _meta(self, folder: Folder, topic: str) -> _MetaFile:
        """Read ``meta.json``; an empty meta if there is none, or it is damaged."""
        path = self.layout.meta(topic)
        file = self._relative(path)
        try:
            data = folder.read(path, MAX_META_BYTES)
        except OSError as error:
            damage = Damage(file, 0, "unreadable", str(error.strerror), lost=False)
            return _MetaFile(damage=(damage,))
        if data is None:
            return _MetaFile()
        meta = read_meta(topic, data)
        if isinstance(meta, Damage):
            return _MetaFile(damage=(meta._replace(file=file),))
        if meta.newer:
            message = f"written by a newer wc (version {meta.version})"
            damage = Damage(file, 0, "newer", message, lost=False)
            return _MetaFile(meta, (damage,))
        return _MetaFile(meta)

    def _from_page(
        self, folder: Folder, topic: str, meta_file: _MetaFile, problem: str
    ) -> Thread:
        """A thread without a log: an old page, or a log with a ``problem``."""
        from wc_core.ledger.threads.pages import (
            page as page_format,  # 2.6 ms, only for old threads
        )

        path = self.layout.page(topic)
        with self._open(os.path.dirname(path)) as pages:
            data = self._read(pages, path)
        if data is None and not self._is_begun(folder, topic):
            raise _missing_error(topic)
        page = page_format.parse(topic, data or b"", self._relative(path))
        entries = tuple(folding.in_effect_order(codec.deduplicate(page.entries)[0]))
        meta, damage = meta_file
        is_empty = meta.says_empty and not entries
        base = page.base if data is not None and not is_empty else meta.base
        state = folding.fold(topic, entries, base)
        if page.version or meta.version or (data is None and not is_empty):
            # Our page has all entries, but there should be a log beside it.
            damage = (*damage, self._log_damage(topic, "missing", problem))
        if data is not None:
            damage = (*damage, *page.damage)
        snapshot = Snapshot(state, -1, False, damage, meta.unknown, meta)
        return Thread(labelled(self, folder, snapshot), entries)

    def not_found_error(self, topic: str) -> NotFoundError:
        """The error for a thread that does not exist, with similar names."""
        near = aliases.near_threads(self, topic)
        error = _missing_error(topic)
        if near:
            error.hint = f"Did you mean: {', '.join(near)}? {error.hint}"
        error.near = tuple(near)
        return error

    def cursors(self, topic: str) -> dict[str, Cursor]:
        """The read cursors of a thread, by the key of the participant."""
        folder = self.layout.cursors(topic)
        try:
            names = names_in(folder, self.layout.root)
        except WcError:
            return {}  # doctor reports what is wrong with the folder
        root = self.layout.root
        cursors = (read_cursor(f"{folder}/{name}", root) for name in names)
        return {cursor.key: cursor for cursor in cursors if cursor is not None}

    def cursor(self, topic: str, key: str) -> Cursor:
        """The read cursor of one participant; an empty one if there is none."""
        path = self.cursor_path(topic, key)
        return read_cursor(path, self.layout.root) or Cursor(key)

    def cursor_path(self, topic: str, key: str) -> str:
        """The file of one participant's cursor."""
        return f"{self.layout.cursors(topic)}/{safe_name(key)}"


def log_text(folder: Folder, path: str, root: str) -> LogText | None:
    """The log at ``path`` in an open folder; ``None`` if there is none. Raises OSError,
    NotPlainError if it is too large."""
    size = folder.size(path)
    if size <= longlines.MAX_LINE_BYTES:
        data = folder.read(path, longlines.MAX_LOG_BYTES)
        return None if data is None else longlines.of_bytes(data)
    if size > longlines.MAX_LOG_BYTES:
        reason = f"has more than {longlines.MAX_LOG_BYTES} bytes"
        raise NotPlainError(errno.EFBIG, reason, path)
    # Its long lines may be read once the folder is closed.
    return longlines.read(lambda: pieces_of(path, root))


def _missing_error(topic: str) -> NotFoundError:
    """The error for a thread that does not exist, without similar names: most callers
    expect it, and to compare 10,000 names takes 50 ms."""
    return NotFoundError(f'There is no thread "{topic}".', "List them with: wc list")
