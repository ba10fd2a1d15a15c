"""A thread as the writer reads it under the lock, and the receipt of a write."""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.errors import (
    ConflictError,
    CorruptError,
    InvalidInputError,
    NotFoundError,
)
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import folding, model, vocabulary
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.longlines import MAX_LINE_BYTES, MAX_LOG_BYTES
from wc_core.ledger.threads.model import Base
from wc_core.ledger.threads.revisions import CORRECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot

# The actions that can start a thread.
STARTING_ACTIONS = frozenset({"new", "say"})
_NO_KEYS: Mapping[str, Any] = MappingProxyType({})
_KEY_USED_BEFORE = "this key was used before: nothing new was written"


class Receipt(NamedTuple):
    """The result of a write. It exists only for an entry that is on disk.

    ``carried`` is the branch or the file with which the entry travels if it was not
    pushed; usually empty. ``stays_here``: nothing will push it by itself.
    ``is_new_status`` says whether it changed the status, and ``deed`` what the entry
    did besides; JSON has none of these. ``approved_commit`` is what it approved, if
    that is anything. ``not_passed`` is why the ball did not go to whom the author
    named, and ``hint`` the command that passes it anyway; usually empty. ``next`` is
    the command that is due now.
    """

    topic: str
    entry_id: str
    idx: int
    ball: str | None
    previous_ball: str | None
    status: str
    committed: bool = False
    pushed: bool | None = None
    notes: tuple[str, ...] = ()
    is_new_status: bool = False
    carried: str = ""
    stays_here: bool = False
    deed: str = ""
    approved_commit: str = ""
    not_passed: str = ""
    hint: str = ""
    next: str = ""

    def to_json(self) -> dict[str, Any]:
        """The receipt as a JSON object."""
        fields = self._asdict()
        for name in ("is_new_status", "deed", "stays_here"):
            del fields[name]
        for name in ("carried", "approved_commit", "not_passed", "hint", "next"):
            if not fields[name]:
                del fields[name]
        fields["notes"] = list(self.notes)
        return {**fields, "saved": True}


class Written(NamedTuple):
    """An entry of a log at ``idx``, with the states before and after it. ``entries``
    are those before a correction."""

    entry: Entry
    idx: int
    before: State
    after: State
    entries: Sequence[Entry] = ()

    def receipt(self, *notes: str) -> Receipt:
        """The receipt of the write."""
        return Receipt(
            topic=self.entry.topic,
            entry_id=self.entry.id,
            idx=self.idx,
            ball=self.after.ball,
            previous_ball=self.before.ball,
            status=self.after.status,
            notes=notes,
            is_new_status=self.after.status != self.before.status,
            deed=self._deed(),
            approved_commit=self.entry.approved_commit,
        )

    def _deed(self) -> str:
        """What the entry did to the thread; empty if it says so itself."""
        entry, deed = self.entry, ""
        if entry.action == "say" and not self.idx:
            deed = f"new thread {entry.topic}"
        elif entry.action == "tag":
            added = [f"+{tag}" for tag in entry.tags_added]
            removed = [f"-{tag}" for tag in entry.tags_removed]
            deed = f"tagged {' '.join((*added, *removed))}"
            if not added:
                deed = f"untagged {' '.join(entry.tags_removed)}"
        elif entry.action == "rename":
            deed = f"renamed {self.before.name} → {entry.new_topic}"
        elif entry.action == "move":
            deed = f"moved to {entry.thread_branch}"
        elif entry.action in CORRECTIONS:
            ids = [item.id for item in self.entries]
            number = ids.index(entry.supersedes) if entry.supersedes in ids else "?"
            deed = f"#{number} {entry.action.removesuffix('e')}ed"
        return deed


class LockedThread(NamedTuple):
    """A thread, or the ``state`` before its first entry.

    ``snapshot`` is ``None`` for a thread that does not exist yet. ``entries`` is
    ``None`` if a fresh meta made it unnecessary to read them.
    """

    state: State
    snapshot: Snapshot | None = None
    entries: tuple[Entry, ...] | None = None

    @property
    def topic(self) -> str:
        """The thread's slug."""
        return self.state.topic

    @property
    def exists(self) -> bool:
        """Whether any part of the thread exists."""
        return self.snapshot is not None

    @property
    def has_log(self) -> bool:
        """Whether the thread has a log: an old one may be only a page."""
        return self.snapshot is not None and self.snapshot.log_size >= 0

    @property
    def is_fresh(self) -> bool:
        """Whether the meta matches the log."""
        return self.snapshot is not None and self.snapshot.fresh

    @property
    def size(self) -> int:
        """The length of the log in bytes."""
        return max(0, self.snapshot.log_size) if self.snapshot is not None else 0

    @property
    def unknown(self) -> Mapping[str, Any]:
        """The keys of other tools in the meta."""
        return self.snapshot.unknown if self.snapshot is not None else _NO_KEYS

    @property
    def has_lost_lines(self) -> bool:
        """Whether lines of the log cannot be read."""
        damage = self.snapshot.damage if self.snapshot is not None else ()
        return any(item.lost for item in damage)

    @property
    def shown_state(self) -> State | None:
        """The state that the meta has; ``None`` if that is unknown."""
        return self.state if self.is_fresh or not self.exists else None

    @property
    def base(self) -> Base | None:
        """The state that wc's first entry must record in a thread that only other tools
        wrote until now."""
        state = self.state
        if self.entries is None or model.written_by_wc(self.entries):
            return None
        if not self.entries and (self.snapshot is None or not self.snapshot.meta.base):
            return None
        return Base(state.title, state.status, state.ball, state.summary)

    def receipt_for(self, key: str) -> Receipt | None:
        """The receipt of the entry written with ``key``, if any."""
        base = self.snapshot.meta.base if self.snapshot is not None else None
        entries = self.entries or ()
        for idx, entry in enumerate(entries):
            if entry.key == key:
                before = folding.fold(entry.topic, entries[:idx], base)
                after = folding.fold(entry.topic, entries[: idx + 1], base)
                written = Written(entry, idx, before, after, entries[:idx])
                return written.receipt(_KEY_USED_BEFORE)
        return None

    def check_room(self, size: int) -> None:
        """Raise InvalidInputError if readers would skip a line of ``size`` bytes, and
        ConflictError if they would refuse the log with it."""
        if size > MAX_LINE_BYTES:
            raise InvalidInputError(
                f"The entry would be a line of {size} bytes, more than "
                f"{MAX_LINE_BYTES}: quotes, line ends and control characters take two "
                "bytes or six.",
                "Put the file into the code's repository and name it here.",
            )
        count = self.state.entry_count
        if count < vocabulary.MAX_ENTRIES and self.size + size <= MAX_LOG_BYTES:
            return
        raise ConflictError(
            f"{self.topic} is full: it has {count} entries in {self.size} bytes; a "
            f"thread holds {vocabulary.MAX_ENTRIES} and {MAX_LOG_BYTES}.",
            f"Continue in another one: wc new {self.topic}-2 -m TITLE",
        )


def read(reader: StoreReader, draft: Draft) -> LockedThread:
    """Read the thread that a draft is for. The caller holds its lock.

    The entries are read only if needed: the meta is not fresh, one of them may have the
    draft's key, or the draft corrects one. Raises NotFoundError if the draft cannot
    start a thread, CorruptError for a thread that must not be written to.
    """
    try:
        snapshot = reader.snapshot(draft.topic)
    except NotFoundError:
        if draft.action not in STARTING_ACTIONS or draft.outcome:
            raise reader.not_found_error(draft.topic) from None
        return LockedThread(model.initial_state(draft.topic))
    _check_writable(snapshot)
    if snapshot.fresh and not _may_have_key(reader, draft):
        if draft.action not in CORRECTIONS:
            return LockedThread(snapshot.state, snapshot)
        entries = reader.thread(draft.topic).entries
        return LockedThread(snapshot.state, snapshot, entries)
    thread = reader.thread(draft.topic)
    return LockedThread(thread.state, thread.snapshot, thread.entries)


def _check_writable(snapshot: Snapshot) -> None:
    """Raise CorruptError for a thread whose entries are missing, or which a newer
    wc wrote."""
    missing = [damage for damage in snapshot.damage if damage.kind == "missing"]
    if missing:
        raise CorruptError(
            f"{missing[0].file}: {missing[0].message}.",
            "Nothing was written. See what can be restored: wc doctor",
        )
    if snapshot.meta.newer:
        raise CorruptError(
            f"{snapshot.topic} was last written by a newer wc than this one.",
            "Nothing was written. Upgrade wc on this machine.",
        )


def _may_have_key(reader: StoreReader, draft: Draft) -> bool:
    """Return whether the draft's key is anywhere in the log."""
    if not draft.key:
        return False
    data = reader.log_bytes(draft.topic) or b""
    return f'"key":{dumps(draft.key)}'.encode() in data
