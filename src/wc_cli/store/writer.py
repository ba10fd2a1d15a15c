"""StoreWriter: lock, state, pure move, append, project.

The append is the commit point of a write. Before it nothing is acknowledged,
after it nothing is reported as failed: what could not follow is said in the
receipt's notes.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.store import durable
from wc_cli.store.recipients import Addressees
from wc_cli.store.upkeep import LOCK_SECONDS, Upkeep
from wc_core import files, ulid
from wc_core.errors import (
    ConflictError,
    CorruptError,
    NotFoundError,
    WcError,
)
from wc_core.files import read_plain
from wc_core.git.discovery import BRANCH_STORE, NAMED, PLAIN
from wc_core.layout import ATTRIBUTES, BRANCH, IGNORED, file_name, new_topic
from wc_core.similar import nearly
from wc_core.threads import codec, model, moves, vocabulary
from wc_core.threads.model import Base, Entry
from wc_core.threads.reader import StoreReader
from wc_core.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.git.discovery import Place
    from wc_core.identity.resolve import Identity
    from wc_core.threads.moves import Draft, Move
    from wc_core.threads.reader import Snapshot, Thread
    from wc_core.threads.settings import Settings


class IdSource(NamedTuple):
    """Where new ids come from: milliseconds since 1970 and 80 random bits."""

    now_ms: Callable[[], int]
    random: Callable[[], int]


class Author(NamedTuple):
    """Who writes, from which branch and commit of the code."""

    identity: Identity
    code_branch: str = ""
    code_commit: str = ""


class Receipt(NamedTuple):
    """What a write did. There is one only for an entry that is on disk."""

    topic: str
    entry_id: str
    idx: int
    ball: str | None
    previous_ball: str | None
    status: str
    committed: bool = False
    pushed: bool | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The receipt shape."""
        fields = self._asdict()
        fields["notes"] = list(self.notes)
        return {**fields, "saved": True}


class StoreWriter:
    """Writes entries into the store at ``place``, for ``author``."""

    def __init__(
        self, place: Place, author: Author, rules: Settings, env: Mapping[str, str]
    ) -> None:
        self.place = place
        self.author = author
        self.rules = rules
        self.env = env
        self.reader = StoreReader(place.root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env, rules)

    @property
    def me(self) -> str:
        """The author as entries carry it."""
        return self.author.identity.author

    def write(
        self, draft: Draft, source: IdSource, seconds: float = LOCK_SECONDS
    ) -> Receipt:
        """Put one entry into the log and say what it did.

        Raises InvalidInputError, NotFoundError, ConflictError,
        LockTimeoutError, CorruptError or StorageError; the log is then as
        it was.
        """
        if self.rules.damage is not None:
            raise CorruptError(
                f"{self.rules.damage.file}: {self.rules.damage.message}.",
                "The ball could go the wrong way; mend the file first.",
            )
        topic = self._topic(draft)
        if draft.to and not draft.force:
            me = self.author.identity
            Addressees(self.reader, self.place, self.rules, me).check(topic, draft.to)
        self.prepare_store()
        with self.upkeep.lock(topic, self.me, seconds):
            return self._write_locked(draft._replace(topic=topic), source)

    def _topic(self, draft: Draft) -> str:
        """The thread meant: an existing one, or where the action may create
        one, a new one with a valid name unlike any other."""
        try:
            return self.reader.find(draft.topic)
        except NotFoundError:
            if draft.action not in {"new", "say"}:
                raise
        topic = new_topic(draft.topic)
        count = len(files.names_in(self.layout.threads, self.layout.root))
        if count >= vocabulary.MAX_THREADS:
            raise ConflictError(
                f"The store is full: it has {count} threads.",
                "Go on in one of them, or in another store: WATERCOOLER_DIR.",
            )
        if draft.action == "say" and not draft.new:
            topics = self.reader.topics()
            if topic in topics:
                return topic  # somebody made it this very moment
            alike = (one for one in topics if nearly(one, topic))
            # The empty folder of a first entry that failed is no thread.
            near = [one for one in alike if self.reader.has(one)]
            if near:
                raise ConflictError(
                    f'There is no thread "{topic}", but there is "{near[0]}".',
                    f'Write to "{near[0]}", or start another one with --new.',
                )
        return topic

    def prepare_store(self) -> None:
        """Make the folders of a store, once."""
        if os.path.isdir(self.layout.unsettled):
            return
        layout, root = self.layout, self.layout.root
        if self.place.kind != BRANCH_STORE:
            durable.make_folder(root)
        locks = os.path.dirname(layout.lock("any"))
        for folder in (layout.threads, layout.pages, locks, layout.scratch):
            durable.make_folder(folder, root)
        if self.place.kind in {BRANCH_STORE, PLAIN}:
            durable.ensure_line(f"{root}/.gitattributes", ATTRIBUTES, root)
        durable.ensure_line(f"{root}/.gitignore", IGNORED, root)
        if self.place.kind == BRANCH_STORE:
            self._note_applied()
        self._show_all()
        # Last: its being there says that the rest is.
        durable.make_folder(layout.unsettled, root)

    def _note_applied(self) -> None:
        """Note what git has just checked out: what the branch gets from now on
        without us is to be taken in."""
        from wc_cli.store import applied  # once for every store
        from wc_core.git import repository

        where = repository.find(self.layout.root)
        if where is not None and where.branch == BRANCH and where.commit:
            applied.note(self.upkeep, applied.Applied(where.commit))

    def _show_all(self) -> None:
        """The status lines of the threads that a store we adopt brings along."""
        for topic in self.reader.topics():
            # Others may be through with this, and writing.
            with contextlib.suppress(WcError), self.upkeep.lock(topic, self.me):
                state = self.reader.snapshot(topic).state
                self.upkeep.show(state, model.start(topic))

    def mark_read(self, read: model.State, seconds: float = LOCK_SECONDS) -> None:
        """Note that the author has read the thread as ``read`` shows it; what
        arrived since stays NEW."""
        self.prepare_store()
        key = self.rules.directory.key(self.author.identity.name)
        with self.upkeep.lock(read.topic, self.me, seconds):
            if self.reader.cursor(read.topic, key).heads != read.heads:
                self.upkeep.mark_read(read, key)
                state = self.reader.snapshot(read.topic).state
                self.upkeep.show(state, state)

    def _write_locked(self, draft: Draft, source: IdSource) -> Receipt:
        thread: Thread | None = None
        state = model.start(draft.topic)
        snapshot = self._snapshot(draft.topic)
        if snapshot is None and draft.action not in {"new", "say"}:
            raise self.reader.not_found(draft.topic)
        if snapshot is not None:
            if not snapshot.fresh or self._may_have_key(draft):
                thread = self.reader.thread(draft.topic)
                snapshot = thread.snapshot
            state = snapshot.state
        if thread is not None and draft.key:
            again = _written_before(thread, draft.key)
            if again is not None:
                self._make_safe(draft.topic)
                return again
        move = moves.decide(state, draft, self.author.identity.name, self.rules)
        entry = self._entry(draft, move, state, source, thread)
        durable.make_folder(self.layout.folder(draft.topic), self.layout.root)
        durable.touch(self.upkeep.marker(draft.topic), self.layout.root)
        size = self._append(draft.topic, entry, state, snapshot, thread)
        if self.place.kind in {BRANCH_STORE, NAMED}:
            # Until it is committed somebody's git may take it out of the log.
            line = codec.to_line(entry, state.entry_count)
            durable.spare(self.upkeep.marker(draft.topic), line, self.layout.root)
        return self._after(entry, move, state, size, snapshot)

    def _make_safe(self, topic: str) -> None:
        """Flush what somebody wrote who may have died before it was flushed."""
        path = self.layout.log(topic)
        durable.append(path, b"", self.layout.root)
        durable.flush_names(path, self.layout.root)

    def _snapshot(self, topic: str) -> Snapshot | None:
        """The thread as it is; ``None`` for one that does not exist yet."""
        try:
            snapshot = self.reader.snapshot(topic)
        except NotFoundError:
            return None
        missing = [one for one in snapshot.damage if one.kind == "missing"]
        if missing:
            raise CorruptError(
                f"{missing[0].file}: {missing[0].message}.",
                "Nothing was written. See what can be restored: wc doctor",
            )
        if snapshot.meta.newer:
            raise CorruptError(
                f"{topic} was last written by a newer wc than this one.",
                "Nothing was written. Upgrade wc on this machine.",
            )
        return snapshot

    def _may_have_key(self, draft: Draft) -> bool:
        if not draft.key:
            return False
        data = read_plain(self.layout.log(draft.topic), self.layout.root) or b""
        return f'"key":{codec.dumps(draft.key)}'.encode() in data

    def _entry(
        self,
        draft: Draft,
        move: Move,
        state: model.State,
        source: IdSource,
        thread: Thread | None,
    ) -> Entry:
        now_ms = source.now_ms()
        foreign = thread is not None and not model.written_by_wc(thread.entries)
        base = None
        if foreign and state.entry_count:
            base = Base(state.title, state.status, state.ball, state.summary)
        return Entry(
            id=ulid.after(ulid.prefix(state.last_id), now_ms, source.random()),
            topic=draft.topic,
            agent=self.me,
            at=rfc3339(now_ms),
            title=draft.title,
            body=draft.body,
            role=draft.role,
            type=draft.type,
            action=draft.action,
            ball=move.ball,
            status=move.status,
            parents=state.heads,
            base=base,
            code_branch=self.author.code_branch,
            code_commit=self.author.code_commit,
            key=draft.key,
            reason=draft.reason,
        )

    def _append(
        self,
        topic: str,
        entry: Entry,
        state: model.State,
        snapshot: Snapshot | None,
        thread: Thread | None,
    ) -> int:
        """The commit point; the new length of the log."""
        path = self.layout.log(topic)
        line = codec.to_line(entry, state.entry_count)
        _check_room(topic, state, snapshot, len(line))
        if snapshot is None:
            return durable.begin(path, line, self.layout.root)
        if snapshot.log_size >= 0 or thread is None:
            if not snapshot.fresh:
                # Whoever made this log may have died before its name was safe.
                durable.flush_names(path, self.layout.root)
            return durable.append(path, line, self.layout.root)
        # A thread of the markdown age: its entries and ours become a log at
        # one moment, and the page as it was is kept.
        old = [codec.to_line(one, idx) for idx, one in enumerate(thread.entries)]
        page = self.reader.page(topic)
        kept = f"{self.layout.local}/imported/{file_name(topic)}.md"
        durable.make_folder(os.path.dirname(kept), self.layout.root)
        durable.create(kept, page, self.layout.root)
        data = b"".join([*old, line])
        return durable.begin(path, data, self.layout.root)

    def _after(
        self,
        entry: Entry,
        move: Move,
        before: model.State,
        size: int,
        snapshot: Snapshot | None,
    ) -> Receipt:
        """Meta and status lines; from here on nothing fails the write."""
        notes = list(move.notes)
        ordered = entry.id > before.last_id
        state = model.apply(before, entry)
        idx = before.entry_count
        try:
            if not ordered:
                # An id from the future stands behind ours: only the whole
                # log says what the state is, and where we are in it.
                thread = self.reader.thread(entry.topic)
                state = thread.state
                idx = [one.id for one in thread.entries].index(entry.id)
            unknown = snapshot.unknown if snapshot is not None else {}
            known = snapshot is None or snapshot.fresh
            had = before if known else None
            self.upkeep.project(state, size, unknown, had)
        except (WcError, OSError) as error:
            notes.append(f"saved, but its projections are not up to date: {error}")
        if snapshot is not None and any(one.lost for one in snapshot.damage):
            notes.append(f"{entry.topic} has damage in its log: wc doctor")
        return Receipt(
            topic=entry.topic,
            entry_id=entry.id,
            idx=idx,
            ball=state.ball,
            previous_ball=before.ball,
            status=state.status,
            notes=tuple(notes),
        )


def _check_room(
    topic: str, state: model.State, snapshot: Snapshot | None, size: int
) -> None:
    """Refuse an entry that readers would refuse: raises ConflictError."""
    there = snapshot.log_size if snapshot is not None else 0
    if state.entry_count < vocabulary.MAX_ENTRIES and there + size <= files.MAX_BYTES:
        return
    raise ConflictError(
        f"{topic} is full: it has {state.entry_count} entries in {there} bytes; a "
        f"thread holds {vocabulary.MAX_ENTRIES} and {files.MAX_BYTES}.",
        f"Go on in another one: wc new {topic}-2 --title TITLE",
    )


def _written_before(thread: Thread, key: str) -> Receipt | None:
    """The receipt of the entry that has ``key``, if there is one."""
    base = thread.snapshot.meta.base
    for idx, entry in enumerate(thread.entries):
        if entry.key == key:
            before = model.fold(entry.topic, thread.entries[:idx], base)
            after = model.fold(entry.topic, thread.entries[: idx + 1], base)
            return Receipt(
                topic=entry.topic,
                entry_id=entry.id,
                idx=idx,
                ball=after.ball,
                previous_ball=before.ball,
                status=after.status,
                notes=("this key was used before: nothing new was written",),
            )
    return None
