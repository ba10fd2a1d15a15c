"""Reading a store: snapshots of its threads. Nothing here can write.

The log is the truth. ``meta.json`` is believed only where it says it is the
fold of exactly the log that is there; old threads that are markdown alone are
read as they are.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.errors import CorruptError, InvalidInputError, NotFoundError, WcError
from wc_core.files import Folder, NotPlainError, names_in, read_plain
from wc_core.layout import Layout, file_name, folded, safe_name, topic_of
from wc_core.phrases import counted
from wc_core.similar import near_names
from wc_core.threads import codec, model
from wc_core.threads.codec import Damage
from wc_core.threads.projections import Meta, read_meta

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.threads.model import Entry, State


# A write of many pages grows a file page by page. A last line without an end
# may be one that somebody is writing this very moment: seconds between looks.
_LOOKS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
# Seconds after which nobody is at it any more.
_WRITING = 2.0


# A meta.json of this size was not made by us: it is damage, and the log is read.
MAX_META_BYTES = 64 * 1024 * 1024
_NO_CURSOR = (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError)


class Cursor(NamedTuple):
    """How far somebody had read: the heads then, and how many entries.

    ``key`` is the reader's, see `names.Directory.key`.
    """

    key: str
    heads: tuple[str, ...] = ()
    entry_count: int = 0


class Snapshot(NamedTuple):
    """The state of one thread at one moment.

    ``log_size`` is -1 for a thread without a log. ``fresh`` says that the
    state came from ``meta.json``; damage of a log is then not looked for, but
    for what was known when that was written. ``unknown`` are the keys of
    other tools in ``meta.json``.
    """

    state: State
    log_size: int
    fresh: bool
    damage: tuple[Damage, ...] = ()
    unknown: Mapping[str, Any] = {}
    meta: Meta = Meta()

    @property
    def topic(self) -> str:
        """The thread's slug."""
        return self.state.topic


class Thread(NamedTuple):
    """A thread with all of its entries, in ULID order.

    ``log`` and ``data`` (its bytes) are empty where there is no log.
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
    def damage(self) -> tuple[Damage, ...]:
        """What could not be taken at its word."""
        return self.snapshot.damage


class StoreReader:
    """Threads of the store at ``root``, read anew at every call."""

    def __init__(self, root: str) -> None:
        """``root`` need not exist: a store without threads reads as empty."""
        self.layout = Layout(os.path.realpath(root))

    def topics(self) -> list[str]:
        """Every thread there is, by log or by markdown alone, sorted.

        Raises StorageError where the folders may not be read, CorruptError
        where links lead to them.
        """
        folders = {topic_of(name) for name in self._folders()}
        pages = {
            topic_of(name[:-3])
            for name in names_in(self.layout.pages, self.layout.root)
            if name.endswith(".md") and name != ".md"
        }
        return sorted(folders | pages)

    def _folders(self) -> list[str]:
        path, root = self.layout.threads, self.layout.root
        try:
            with Folder(path, root) as threads:
                if threads.handle is None:
                    return []
                with os.scandir(threads.handle) as found:
                    return [d.name for d in found if d.is_dir(follow_symlinks=False)]
        except OSError:
            return names_in(path, root)  # says why it cannot be read

    def _open(self, folder: str) -> Folder:
        """A folder of the store; raises CorruptError for one that cannot be
        opened, or only through a link."""
        try:
            return Folder(folder, self.layout.root)
        except NotPlainError as error:
            raise CorruptError(
                f"{self._shown(folder)} {error.strerror}; nothing outside is read.",
                "Replace the link with the folder it stands for.",
            ) from error
        except OSError as error:
            raise self._unreadable(folder, error) from error

    def has(self, topic: str) -> bool:
        """Whether the thread exists: by log, by markdown, or by what is left
        of it in its folder."""
        if not os.path.islink(self.layout.folder(topic)):
            with self._open(self.layout.folder(topic)) as folder:
                if self._is_begun(folder, topic):
                    return True
        path = self.layout.page(topic)
        with self._open(self.layout.pages) as pages:
            return self._size(pages, path) >= 0

    def find(self, words: str) -> str:
        """The existing thread that ``words`` name: as written, else the way it
        would have been created.

        Raises NotFoundError with near names.
        """
        written = words.strip()
        for candidate in dict.fromkeys((written, folded(written))):
            try:
                file_name(candidate)
            except InvalidInputError:
                continue
            if self.has(candidate):
                return candidate
        raise self.not_found(written)

    def page(self, topic: str) -> bytes:
        """The page of a thread as it is; empty where there is none.

        Raises CorruptError for one that cannot be read.
        """
        path = self.layout.page(topic)
        with self._open(self.layout.pages) as pages:
            return self._read(pages, path) or b""

    def _is_begun(self, folder: Folder, topic: str) -> bool:
        """Whether a thread without a page is more than what a crash before
        its first entry leaves: a folder, and maybe an empty log in it. Files
        of other tools alone make no thread."""
        if folder.handle is None:
            return False
        names = set(os.listdir(folder.handle))
        log = os.path.basename(self.layout.log(topic))
        if log in names and self._size(folder, self.layout.log(topic)) != 0:
            return True
        beside = (self.layout.meta(topic), self.layout.edges(topic))
        return any(os.path.basename(path) in names for path in beside)

    def snapshot(self, topic: str) -> Snapshot:
        """The state of a thread: from ``meta.json`` where that is fresh, at a
        cost that does not grow with the thread, else from the log.

        Raises NotFoundError for a thread that does not exist.
        """
        with self._open(self.layout.folder(topic)) as folder:
            size = self._size(folder, self.layout.log(topic))
            meta, damage = self._meta(folder, topic)
            state = meta.state
            if state is None or size < 0 or meta.log_size != size:
                return self._thread(folder, topic, meta, damage).snapshot
            if not self._ends_with(folder, topic, size, state.last_id):
                return self._thread(folder, topic, meta, damage).snapshot
            if state.lost:
                message = f"{counted(state.lost, 'line')} of it cannot be read"
                damage = (*damage, self._damage(topic, "garbage", message))
            return Snapshot(state, size, True, damage, meta.unknown, meta)

    def _damage(self, topic: str, kind: str, message: str) -> Damage:
        return Damage(self._shown(self.layout.log(topic)), 0, kind, message)

    def _ends_with(self, folder: Folder, topic: str, size: int, entry_id: str) -> bool:
        """Whether the log's last line is the entry that its meta ends with."""
        try:
            line = folder.last_line(self.layout.log(topic), size)
        except OSError:
            return False  # reading all of it will say why
        return line.endswith(b"\n") and b'"entry_id":"%b"' % entry_id.encode() in line

    def thread(self, topic: str) -> Thread:
        """A thread with its entries.

        Raises NotFoundError for a thread that does not exist, CorruptError
        for a log that is there and cannot be read.
        """
        with self._open(self.layout.folder(topic)) as folder:
            # Before the log: what a meta counts must be in a log read after it.
            return self._thread(folder, topic, *self._meta(folder, topic))

    def _thread(
        self, folder: Folder, topic: str, meta: Meta, damage: tuple[Damage, ...]
    ) -> Thread:
        path = self.layout.log(topic)
        data = self._log(folder, topic)
        if data is None:
            return self._from_page(folder, topic, meta, (damage, "the log is missing"))
        log = codec.read_log(topic, data, self._shown(path))
        if not log.entries and not log.damage:
            return self._from_page(folder, topic, meta, (damage, "the log is empty"))
        state = model.fold(topic, log.entries, meta.base)._replace(lost=log.lost)
        damage = (*damage, *self._gone(topic, log, meta), *log.damage)
        snapshot = Snapshot(state, log.size, False, damage, meta.unknown, meta)
        return Thread(snapshot, log.entries, log, data)

    def _gone(self, topic: str, log: codec.Log, meta: Meta) -> Iterator[Damage]:
        """What a log lacks of what was in it when its meta was written."""
        if not log.entries:
            message = "not one line of the log can be read"
            yield self._damage(topic, "missing", message)
        elif (known := meta.state) is not None:
            gone = known.entry_count + known.lost - len(log.entries) - log.lost
            if gone > 0 and known.entry_count > len(log.entries):
                message = f"{gone} of {known.entry_count} entries are gone from it"
                yield self._damage(topic, "missing", message)

    def log_bytes(self, topic: str) -> bytes | None:
        """The log of a thread as it is; ``None`` where there is none.

        Raises CorruptError for one that cannot be read.
        """
        with self._open(self.layout.folder(topic)) as folder:
            return self._read(folder, self.layout.log(topic))

    def _size(self, folder: Folder, path: str) -> int:
        try:
            return folder.size(path)
        except OSError as error:
            raise self._unreadable(path, error) from error

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)

    def _read(self, folder: Folder, path: str) -> bytes | None:
        try:
            return folder.read(path)
        except NotPlainError as error:
            raise CorruptError(
                f"{self._shown(path)} {error.strerror}.",
                "Nothing was read or changed. See what is there: wc doctor",
            ) from error
        except OSError as error:
            raise self._unreadable(path, error) from error

    def _unreadable(self, path: str, error: OSError) -> CorruptError:
        return CorruptError(
            f"{self._shown(path)} cannot be read: {error.strerror}.",
            "Check the permissions of the store: wc doctor",
        )

    def _log(self, folder: Folder, topic: str) -> bytes | None:
        """The bytes of a log; ``None`` where there is only something else of
        the thread. A line that is being written this moment is waited for.

        Raises NotFoundError where there is nothing of the thread.
        """
        path = self.layout.log(topic)
        data = self._read(folder, path)
        if data is None:
            # In this order: a log is made before whatever else there is.
            page = os.path.lexists(self.layout.page(topic))
            begun = page or self._is_begun(folder, topic)
            data = self._read(folder, path)
            if data is None and not begun:
                # An empty folder is what a crash before the first entry leaves.
                raise self.not_found(topic)
        for seconds in _LOOKS:
            if not data or data.endswith(b"\n"):
                break
            if not folder.is_recent(path, _WRITING):
                break
            time.sleep(seconds)
            data = self._read(folder, path)
        return data

    def _meta(self, folder: Folder, topic: str) -> tuple[Meta, tuple[Damage, ...]]:
        path = self.layout.meta(topic)
        try:
            data = folder.read(path, MAX_META_BYTES)
        except OSError as error:
            message = str(error.strerror)
            damage = Damage(self._shown(path), 0, "unreadable", message, lost=False)
            return Meta(), (damage,)
        if data is None:
            return Meta(), ()
        meta = read_meta(topic, data)
        if isinstance(meta, Damage):
            return Meta(), (meta._replace(file=self._shown(path)),)
        if meta.newer:
            message = f"written by a newer wc (version {meta.version})"
            newer = Damage(self._shown(path), 0, "newer", message, lost=False)
            return meta, (newer,)
        return meta, ()

    def _from_page(
        self,
        folder: Folder,
        topic: str,
        meta: Meta,
        why: tuple[tuple[Damage, ...], str],
    ) -> Thread:
        """A thread that has no log: old markdown, or a log that is gone;
        ``why`` is the damage so far and what became of the log."""
        from wc_core.threads import page as markdown  # only old threads need it

        path = self.layout.page(topic)
        with self._open(self.layout.pages) as pages:
            data = self._read(pages, path)
        if data is None and not self._is_begun(folder, topic):
            raise self.not_found(topic)
        damage, message = why
        missing = self._damage(topic, "missing", message)
        if data is None:
            state = model.fold(topic, (), meta.base)
            found = (*damage, missing)
            return Thread(Snapshot(state, -1, False, found, meta.unknown, meta), ())
        page = markdown.parse(topic, data, self._shown(path))
        entries = tuple(model.in_order(codec.deduplicate(page.entries)[0]))
        # Our own projections say everything, but they are not the truth.
        damage = (*damage, missing) if page.version else damage
        state = model.fold(topic, entries, page.base)
        found = (*damage, *page.damage)
        return Thread(Snapshot(state, -1, False, found, meta.unknown, meta), entries)

    def not_found(self, topic: str) -> NotFoundError:
        """The error for a thread that is not there, with near names."""
        # The empty folder of a first entry that failed is no thread.
        near = [one for one in near_names(topic, self.topics()) if self.has(one)]
        hint = f"Did you mean: {', '.join(near)}? " if near else ""
        return NotFoundError(
            f'There is no thread "{topic}".', f"{hint}List them with: wc list"
        )

    def cursors(self, topic: str) -> dict[str, Cursor]:
        """The read cursors of a thread, by the key of whose they are."""
        folder = self.layout.cursors(topic)
        try:
            names = names_in(folder, self.layout.root)
        except WcError:
            return {}  # doctor says what is in its place
        found = (self._cursor(f"{folder}/{name}") for name in names)
        return {cursor.key: cursor for cursor in found if cursor is not None}

    def cursor(self, topic: str, key: str) -> Cursor:
        """The read cursor of one reader; an empty one if there is none."""
        return self._cursor(self.cursor_path(topic, key)) or Cursor(key)

    def cursor_path(self, topic: str, key: str) -> str:
        """The file of one reader's cursor."""
        return f"{self.layout.cursors(topic)}/{safe_name(key)}"

    def _cursor(self, path: str) -> Cursor | None:
        # A cursor is local convenience: an unreadable one means "has not read".
        try:
            fields = json.loads(read_plain(path, self.layout.root) or b"null")
            heads = tuple(map(str, fields["heads"]))
            return Cursor(str(fields["key"]), heads, int(fields["count"]))
        except _NO_CURSOR:
            return None
