"""Reading a store: snapshots of its threads. Nothing here can write.

The log is the truth. ``meta.json`` is believed only where it says it is the
fold of exactly the log that is there; old threads that are markdown alone are
read as they are.
"""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from wc_core import codec, model
from wc_core.codec import Damage
from wc_core.errors import CorruptError, NotFoundError
from wc_core.files import NotPlainError, last_line, names_in, read_plain, size_of
from wc_core.layout import Layout, file_name, safe_name, topic_of
from wc_core.likeness import near_names
from wc_core.projections import Meta, read_meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.model import Entry, State


# The JSON escapes of ASCII, and of what is ASCII when case-folded: ß, ﬁ, K, ….
_ASCII_ESCAPED = rb"\\u(?i:00[2-7]|00df|01(?:30|49|7f|f0)|1e9[6-9ae]|212a|fb0[0-6])"


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
    state came from ``meta.json``; damage of a log is then not looked for.
    ``unknown`` are the keys of other tools in ``meta.json``.
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
        self._threads: str | None = None  # once it is known to be no link

    def topics(self) -> list[str]:
        """Every thread there is, by log or by markdown alone, sorted.

        Raises StorageError where the folders may not be read.
        """
        folders = {topic_of(name) for name in self._folders()}
        pages = {
            topic_of(name[:-3])
            for name in names_in(self._inside(self.layout.pages))
            if name.endswith(".md") and name != ".md"
        }
        return sorted(folders | pages)

    def _folders(self) -> list[str]:
        folder = self._inside(self.layout.threads)
        try:
            with os.scandir(folder) as found:
                return [one.name for one in found if one.is_dir(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            return names_in(folder)  # says why it cannot be read

    def _inside(self, folder: str) -> str:
        """``folder``, unless a link on the way leads out of the store."""
        if os.path.realpath(folder) != folder:
            raise CorruptError(
                f"{folder} is a symbolic link; nothing outside the store is read.",
                "Replace the link with the folder it stands for.",
            )
        return folder

    def has(self, topic: str) -> bool:
        """Whether the thread exists: by log, by markdown, or by what is left
        of it in its folder."""
        if self._size(self.layout.log(topic)) >= 0:
            return True
        if self._size(self.layout.page(topic)) >= 0:
            return True
        folder = self.layout.folder(topic)
        return not os.path.islink(folder) and bool(names_in(folder))

    def snapshot(self, topic: str) -> Snapshot:
        """The state of a thread: from ``meta.json`` where that is fresh, at a
        cost that does not grow with the thread, else from the log.

        Raises NotFoundError for a thread that does not exist.
        """
        self._guard(topic)
        size = self._size(self.layout.log(topic))
        meta, damage = self._meta(topic)
        state = meta.state
        if state is None or size < 0 or meta.log_size != size:
            return self.thread(topic).snapshot
        if not self._ends_with(topic, size, state.last_id):
            return self.thread(topic).snapshot
        return Snapshot(state, size, True, damage, meta.unknown, meta)

    def _ends_with(self, topic: str, size: int, entry_id: str) -> bool:
        """Whether the log's last line is the entry that its meta ends with."""
        try:
            line = last_line(self.layout.log(topic), size)
        except OSError:
            return False  # reading all of it will say why
        return line.endswith(b"\n") and b'"entry_id":"%b"' % entry_id.encode() in line

    def thread(self, topic: str) -> Thread:
        """A thread with its entries.

        Raises NotFoundError for a thread that does not exist, CorruptError
        for a log that is there and cannot be read.
        """
        self._guard(topic)
        data = self._read(self.layout.log(topic))
        meta, damage = self._meta(topic)
        if data is None:
            return self._from_page(topic, meta, damage)
        log = codec.read_log(topic, data, self._shown(self.layout.log(topic)))
        state = model.fold(topic, log.entries, meta.base)
        damage = (*damage, *log.damage)
        snapshot = Snapshot(state, log.size, False, damage, meta.unknown, meta)
        return Thread(snapshot, log.entries, log, data)

    def may_contain(self, topic: str, words: list[str]) -> bool:
        """Whether a thread can hold all of the (case-folded) words.

        A quick look at the log as one text, before its lines are parsed. Only
        words of ASCII letters and digits can rule a log out, and only one
        where no escape can stand for such a letter.
        """
        sure = [word for word in words if word.isascii() and word.isalnum()]
        data = self._read(self.layout.log(topic))
        if data is None or not sure or re.search(_ASCII_ESCAPED, data):
            return True
        if data.isascii():
            text = data.decode("ascii").lower()
        else:
            text = data.decode(errors="replace").casefold()
        return all(word in text or word in topic.casefold() for word in sure)

    def _guard(self, topic: str) -> None:
        """Refuse a thread whose folder is a link to somewhere else."""
        if self._threads is None:
            self._threads = self._inside(self.layout.threads)
        folder = f"{self._threads}/{file_name(topic)}"
        if os.path.islink(folder):
            self._inside(folder)

    def _size(self, path: str) -> int:
        try:
            return size_of(path)
        except OSError as error:
            raise self._unreadable(path, error) from error

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.layout.root)

    def _read(self, path: str) -> bytes | None:
        try:
            return read_plain(path)
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

    def _meta(self, topic: str) -> tuple[Meta, tuple[Damage, ...]]:
        path = self.layout.meta(topic)
        try:
            data = read_plain(path)
        except OSError as error:
            message = str(error.strerror)
            damage = Damage(self._shown(path), 0, "unreadable", message, lost=False)
            return Meta(), (damage,)
        if data is None:
            return Meta(), ()
        meta = read_meta(topic, data)
        if isinstance(meta, Damage):
            return Meta(), (meta._replace(file=self._shown(path)),)
        return meta, ()

    def _from_page(self, topic: str, meta: Meta, damage: tuple[Damage, ...]) -> Thread:
        """A thread that has no log: old markdown, or a log that is missing."""
        from wc_core import markdown  # only old threads need it

        path = self.layout.page(topic)
        self._inside(self.layout.pages)
        data = self._read(path)
        if data is None and not names_in(self.layout.folder(topic)):
            # An empty folder is what a crash before the first entry leaves.
            raise self.not_found(topic)
        missing = Damage(
            self._shown(self.layout.log(topic)), 0, "missing", "the log is missing"
        )
        if data is None:
            state = model.fold(topic, (), meta.base)
            found = (*damage, missing)
            return Thread(Snapshot(state, -1, False, found, meta.unknown, meta), ())
        page = markdown.parse(topic, data, self._shown(path))
        entries = tuple(model.in_order(codec.each_once(page.entries)[0]))
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
        found = (_read_cursor(f"{folder}/{name}") for name in names_in(folder))
        return {cursor.key: cursor for cursor in found if cursor is not None}

    def cursor(self, topic: str, key: str) -> Cursor:
        """The read cursor of one reader; an empty one if there is none."""
        return _read_cursor(self.cursor_path(topic, key)) or Cursor(key)

    def cursor_path(self, topic: str, key: str) -> str:
        """The file of one reader's cursor."""
        return f"{self.layout.cursors(topic)}/{safe_name(key)}"


def _read_cursor(path: str) -> Cursor | None:
    # A cursor is local convenience: an unreadable one means "has not read".
    try:
        fields = json.loads(read_plain(path) or b"null")
        heads = tuple(map(str, fields["heads"]))
        return Cursor(str(fields["key"]), heads, int(fields["count"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
