"""Writes entries: lock the thread, read it, decide the move, append, project.

The append is the commit point of a write. Before it, nothing is acknowledged; after it,
nothing is reported as failed: later problems are notes in the receipt.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import (
    applied,
    authors,
    drafts,
    durable,
    lockedthread,
    sharedlines,
    writtenlines,
)
from wc_cli.ledger.store.lockedthread import Receipt, Written
from wc_cli.ledger.store.recipients import Addressees
from wc_cli.ledger.store.upkeep import LOCK_SECONDS, Upkeep
from wc_core.base import ulid
from wc_core.base.errors import CorruptError, StorageError, WcError
from wc_core.base.layout import (
    ATTRIBUTES,
    BRANCH,
    IGNORED,
    NOTES,
    VISITS,
    file_name,
    safe_name,
)
from wc_core.base.lean import contextlib
from wc_core.base.names import OTHERS
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import NO_RULES
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.discovery import BRANCH_STORE, NAMED, PLAIN
from wc_core.ledger.threads import aliases, codec, folding, model, moves
from wc_core.ledger.threads.model import CLOSED, FREE, QUESTION, Entry
from wc_core.ledger.threads.moves import Move
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from wc_cli.ledger.store.lockedthread import LockedThread
    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.remarks.questions import Questions
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.settings import Settings
    from wc_core.people.identity.resolve import Identity


class IdSource(NamedTuple):
    """The parts of a new id: milliseconds since 1970 and 80 random bits."""

    now_ms: Callable[[], int]
    random: Callable[[], int]


# The thread of notes is nobody's move, for a version that shows it, too.
_FIRST_NOTE = Move(FREE, CLOSED)
# `worktrees`, `.watercooler` and the home folder: the first write makes the first two.
_FOLDERS_ABOVE = 3


class Author(NamedTuple):
    """The author of an entry, with the code's branch and commit, and the ``git``
    authorship of the entry's commit. ``worktree`` is the place of a worktree without
    a branch (`wc_core.attention.status.places.home_of`). ``process_agent`` returns the
    agent whose process this is; empty for a person's."""

    identity: Identity
    code_branch: str = ""
    code_commit: str = ""
    git: Authorship | None = None
    worktree: str = ""
    process_agent: Callable[[], str] = str


class StoreWriter:
    """Writes entries into the store at ``place``, for ``author``."""

    def __init__(
        self,
        place: Place,
        author: Author,
        rules: Settings,
        env: Mapping[str, str],
    ) -> None:
        self.place = place
        self.author = author
        self.rules = rules
        self._env = env
        self.reader = StoreReader(place.root)
        self.layout = self.reader.layout
        self.upkeep = Upkeep(self.reader, env, rules)

    @property
    def author_name(self) -> str:
        """The author's name, as in entries."""
        return self.author.identity.author

    def write(
        self, draft: Draft, source: IdSource, seconds: float = LOCK_SECONDS
    ) -> Receipt:
        """Append one entry to the log of its thread. Returns the receipt.

        Raises InvalidInputError, NotFoundError, ConflictError, LockTimeoutError,
        CorruptError or StorageError; the log is unchanged then.
        """
        draft = self._addressed(draft)
        self.prepare_store()
        if self.place.kind == BRANCH_STORE:
            sharedlines.add_postponed(self.layout)
        with self.upkeep.lock(draft.topic, self.author_name, seconds):
            receipt = self._write_locked(draft, source)
        self.note_writer()
        return receipt

    def note_writer(self) -> None:
        """Record that the author wrote in this worktree. Never fails."""
        repository, identity = self.place.repository, self.author.identity
        worktree = repository.worktree_id if repository is not None else ""
        key = self.rules.directory.key(identity.name)
        with contextlib.suppress(WcError, OSError):
            self.upkeep.local.note_writer(worktree, identity, key)

    def check(self, draft: Draft) -> None:
        """Raise what `write` would raise now for an entry in an existing thread."""
        draft = self._addressed(draft)
        self._decided(draft, lockedthread.read(self.reader, draft))

    def check_move(self, draft: Draft) -> None:
        """Raise what `write` would raise now whatever the text of the entry is: because
        of who has the ball, the status of the thread, or a name."""
        draft = self._addressed(draft)
        self._moved(draft, lockedthread.read(self.reader, draft))

    def _addressed(self, draft: Draft) -> Draft:
        """The draft with the topic of its thread, and the full name of the ball's
        recipient. A note is for no thread that has a name."""
        if draft.note:
            return draft._replace(topic=NOTES)
        if self.rules.damage is not None:
            raise CorruptError(
                f"{self.rules.damage.file}: {self.rules.damage.message}.",
                "The ball could go to the wrong participant; fix the file first.",
            )
        if draft.outcome:
            from wc_core.edits.review import outcomes  # 1 ms, for outcomes of reviews

            draft = outcomes.as_review(draft)
        if draft.kind or draft.severity:
            from wc_core.ledger.remarks import kinds  # 1 ms, for entries with a kind

            draft = kinds.as_remark(draft)
        topic = drafts.topic_for(draft, self.reader, self.place)
        if draft.to and not draft.force:
            draft = draft._replace(to=self._addressees().resolve(topic, draft.to))
        return draft._replace(topic=topic)

    def knows(self, name: str) -> bool:
        """Return whether a ball could be passed to this name without --force."""
        return self._addressees().knows(name)

    def understood(self, name: str) -> str:
        """Return the full name that a written one is short for; otherwise as it is."""
        return self._addressees().understood(name)

    def _addressees(self) -> Addressees:
        me = self.author.identity
        return Addressees(self.reader, self.place, self.rules, me, self._env)

    def write_index(self, page: bytes) -> str:
        """Write the page that lists all threads. Returns its path."""
        path = self.layout.index_page
        durable.replace_if_changed(path, page, self.layout.root)
        return path

    def mark_read(self, read: model.State, seconds: float = LOCK_SECONDS) -> None:
        """Record that the author has read the thread up to the state ``read``; later
        entries stay NEW."""
        self.prepare_store()
        key = self.rules.directory.key(self.author.identity.name)
        with self.upkeep.lock(read.topic, self.author_name, seconds):
            if self.reader.cursor(read.topic, key).heads != read.heads:
                path = self.reader.cursor_path(read.topic, key)
                self.upkeep.local.write_cursor(path, read, key)

    # --- the folders of the store -------------------------------------------

    def prepare_store(self) -> None:
        """Make the folders of the store, unless they exist. Raises StorageError for
        root in another user's store."""
        _check_owner(self.layout.root)
        if os.path.isdir(self.layout.unsettled):
            return
        layout, root = self.layout, self.layout.root
        if self.place.kind != BRANCH_STORE:
            durable.make_folder(root)
        locks = os.path.dirname(layout.lock("any"))
        for folder in (layout.threads, layout.pages, locks, layout.scratch):
            durable.make_folder(folder, root)
        if self.place.kind == BRANCH_STORE:
            sharedlines.postpone(layout)
            self._note_applied()
        else:
            if self.place.kind == PLAIN:
                durable.ensure_line(f"{root}/.gitattributes", ATTRIBUTES, root)
            durable.ensure_line(f"{root}/.gitignore", IGNORED, root)
        self.upkeep.names.write_all()
        durable.flush_parents(root, _FOLDERS_ABOVE)
        # Last: its existence means that everything else exists.
        durable.make_folder(layout.unsettled, root)

    def _note_applied(self) -> None:
        """Record the commit that a user's git has checked out: later commits on the
        branch must be applied to the folder."""
        repository = repositories.find(self.layout.root)
        if repository is None or repository.branch != BRANCH or not repository.commit:
            return
        recorded = applied.load(self.layout)
        if recorded.index_ns == applied.index_ns(repository) != applied.NEVER:
            return  # it was wc, which knows better
        applied.note(self.layout, applied.Applied(repository.commit))

    # --- one entry ----------------------------------------------------------

    def _write_locked(self, draft: Draft, source: IdSource) -> Receipt:
        topic, root = draft.topic, self.layout.root
        thread = lockedthread.read(self.reader, draft)
        if draft.key and (receipt := thread.receipt_for(draft.key)):
            self._flush_log(topic)
            topic = aliases.name_of(self.reader, thread.state)
            return self._judged(receipt._replace(topic=topic), draft, thread.state)
        if not thread.exists:
            self.upkeep.names.complete()
        draft, move = self._decided(draft, thread)
        entry = self._entry(draft, move, thread, source)
        line = codec.to_line(entry, thread.state.entry_count)
        thread.check_room(len(line))
        if not thread.has_log:
            durable.make_folder(self.layout.folder(topic), root)
        durable.touch(self.upkeep.marker(topic), root)
        if self.author.git is not None:
            authors.record(self.layout, topic, entry.id, self.author.git)
        # Before the entry can be read. What cannot be removed is reported afterwards.
        with contextlib.suppress(WcError):
            self.upkeep.local.stamp.remove()
        is_recorded = self._record_written(entry, line)
        size = self._append(entry, line, thread)
        if self.place.kind in {BRANCH_STORE, NAMED}:
            # Until the entry is committed, a user's git may remove it from the log.
            durable.append_unflushed(self.upkeep.marker(topic), line, root)
        receipt = self._finish(entry, move, thread, size)
        receipt = self._judged(receipt, draft, thread.state)
        return receipt if is_recorded else _as_unrecorded(receipt)

    def _judged(self, receipt: Receipt, draft: Draft, before: model.State) -> Receipt:
        """The receipt, with whether the ball went to whom the draft names."""
        after = before._replace(ball=receipt.ball, status=receipt.status)
        draft = draft._replace(topic=receipt.topic)
        me = self.author.identity.name
        reason, remedy = moves.unmet(after, draft, me, self.rules)
        if not reason:
            return receipt
        told = f"{reason}; {remedy}"
        notes = tuple(note for note in receipt.notes if note != told)
        hint = f"{remedy[0].upper()}{remedy[1:]}"
        return receipt._replace(not_passed=reason, hint=hint, notes=notes)

    def _record_written(self, entry: Entry, line: bytes) -> bool:
        """Record that an entry was written here, before it can be read. Returns whether
        that was possible, or is not needed."""
        if self.place.kind != BRANCH_STORE or not writtenlines.can_cause(entry):
            return True
        is_by_person = self.author.identity.person and not entry.run_by
        return writtenlines.record(
            self.layout, entry.topic, line, by_person=is_by_person
        )

    def _decided(self, draft: Draft, thread: LockedThread) -> tuple[Draft, Move]:
        """The complete draft, and its move. Raises ConflictError and others if it may
        not be written."""
        topic = draft.topic
        if draft.note:  # moves nothing, and no rule is about it
            move = Move() if thread.exists else _FIRST_NOTE
            return drafts.labelled(draft, closes=False), move
        draft = drafts.complete(draft, thread, self.reader, self.author_name)
        draft, move = self._moved(draft, thread)
        closes = move.status == CLOSED
        draft = drafts.labelled(draft, closes=closes)
        if self.rules.rules != NO_RULES:
            self._check_rules(draft, move, thread)
        draft = draft._replace(topic=topic)
        if closes:
            draft, notes = self._closing(draft, thread.state)
            move = move._replace(notes=(*move.notes, *notes))
        return draft, move

    def _moved(self, draft: Draft, thread: LockedThread) -> tuple[Draft, Move]:
        """The draft with the question that it asks or answers, and its move. Raises
        ConflictError and others if it may not be made."""
        questions = self._questions(draft, thread)
        if questions is not None:
            draft = questions.complete(draft)
        move = moves.decide(thread.state, draft, self.author.identity.name, self.rules)
        if questions is not None:
            notes = questions.notes(draft)
            draft = questions.checked(draft, move)
            move = move._replace(notes=(*move.notes, *notes))
        return draft, move

    def _questions(self, draft: Draft, thread: LockedThread) -> Questions | None:
        """The open questions of a thread, if a draft may concern them."""
        if not (thread.state.questions or draft.answers or draft.kind == QUESTION):
            return None
        from wc_core.ledger.remarks.questions import Questions  # 1 ms, only for these

        me = self.author.identity.name
        entries = self._entries_of(thread)
        return Questions(thread.state, entries, me, self.rules.directory)

    def _entries_of(self, thread: LockedThread) -> Sequence[Entry]:
        if thread.entries is not None:
            return thread.entries
        return self.reader.thread(thread.topic).entries if thread.exists else ()

    def _check_rules(self, draft: Draft, move: Move, thread: LockedThread) -> None:
        """Raise InvalidInputError or ConflictError if the repository's rules do not
        allow the entry."""
        # 3 ms, for stores with rules
        from wc_core.ledger.rules import enforcing

        directory = self.rules.directory
        planned = enforcing.PlannedEntry(
            *(thread.state, draft, move, self.author.identity.name, directory),
            lambda: self._entries_of(thread),
            lambda holder: enforcing.held_by(self.reader, holder, directory),
        )
        enforcing.check(planned, self.rules.rules)

    def _closing(self, draft: Draft, state: model.State) -> tuple[Draft, list[str]]:
        """The draft that closes a thread, and notes on threads that can begin then.
        Raises ConflictError if parts of the thread are open, unless forced."""
        from wc_core.ledger.planning import closing  # 6 ms, for the last entry

        draft = closing.checked(self.reader, draft, state)
        return draft, closing.notes(self.reader, state, self.author.identity.author)

    def _flush_log(self, topic: str) -> None:
        """Flush a log whose writer may have died before doing so."""
        path = self.layout.log(topic)
        durable.append(path, b"", self.layout.root)
        durable.flush_names(path, self.layout.root)

    def _entry(
        self, draft: Draft, move: Move, thread: LockedThread, source: IdSource
    ) -> Entry:
        now_ms = source.now_ms()
        # A thread opened in a worktree belongs there, even without a branch.
        place = "" if thread.state.entry_count else self.author.worktree
        return Entry(
            id=ulid.successor(
                ulid.latest((thread.state.last_id, *thread.state.heads), now_ms),
                now_ms,
                source.random(),
            ),
            topic=draft.topic,
            agent=self.author_name,
            at=rfc3339(now_ms),
            title=draft.title,
            body=draft.body,
            role=draft.role,
            type=draft.type,
            action=draft.action,
            ball=move.ball,
            status=move.status,
            thread_branch=draft.thread_branch or place,
            new_topic=draft.new_topic,
            supersedes=draft.supersedes,
            tags_added=draft.tags_added,
            tags_removed=draft.tags_removed,
            links_added=draft.links_added,
            links_removed=draft.links_removed,
            items_checked=draft.items_checked,
            outcome=draft.outcome,
            approved_commit=draft.approved_commit,
            landing=draft.landing,
            parents=thread.state.heads,
            base=thread.base,
            summary=draft.summary,
            file_refs=draft.file_refs,
            line_refs=draft.line_refs,
            pr_refs=draft.pr_refs,
            commit_refs=draft.commit_refs,
            code_branch=self.author.code_branch,
            code_commit=self.author.code_commit,
            key=draft.key,
            reason=draft.reason,
            kind=draft.kind,
            severity=draft.severity,
            run_by=self._run_by(draft),
            asks=draft.asks,
            answers=draft.answers,
            extra={
                **self._released(draft, move, thread.state),
                **({"note": dict(draft.note)} if draft.note else {}),
            },
        )

    def _released(
        self, draft: Draft, move: Move, state: model.State
    ) -> Mapping[str, Any]:
        """What lets a thread go on that an older version stopped: a person who says so,
        or changes its status, and has the ball or asked for it."""
        is_change = bool(draft.status and move.status) or move.status == CLOSED
        if not state.gates or not (is_change or draft.action == "ready"):
            return {}
        from wc_core.ledger.planning import older  # only for threads of older versions

        me, directory = self.author.identity.name, self.rules.directory
        ownership = directory.whose(state.ball, me)
        may = ownership != OTHERS or directory.is_me(state.asker, me)
        return older.release(state) if may and self._is_person() else {}

    def _is_person(self) -> bool:
        return self.author.identity.person and not self.author.process_agent()

    def _run_by(self, draft: Draft) -> str:
        """The agent whose process gives an outcome of a review under a person's name;
        empty if there is none."""
        is_person = self.author.identity.person
        return self.author.process_agent() if draft.outcome and is_person else ""

    def _append(self, entry: Entry, line: bytes, thread: LockedThread) -> int:
        """Append the line of an entry to its log: the commit point. Returns the log's
        length."""
        path, root = self.layout.log(entry.topic), self.layout.root
        if not thread.exists:
            return durable.begin_log(path, line, root)
        if not thread.has_log:
            return durable.begin_log(path, self._import_page(thread) + line, root)
        if not thread.is_fresh:
            # The process that made this log may have died before the name was flushed.
            durable.flush_names(path, root)
        return durable.append(path, line, root, entry.id.encode())

    def _import_page(self, thread: LockedThread) -> bytes:
        """Keep the page of a thread without a log in quarantine. Returns the log of its
        entries."""
        copy = f"{self.layout.local}/imported/{file_name(thread.topic)}.md"
        durable.make_folder(os.path.dirname(copy), self.layout.root)
        durable.create(copy, self.reader.page(thread.topic), self.layout.root)
        entries = enumerate(thread.entries or ())
        return b"".join(codec.to_line(entry, idx) for idx, entry in entries)

    def _finish(
        self, entry: Entry, move: Move, thread: LockedThread, size: int
    ) -> Receipt:
        """Write the meta; no error fails the write from here on."""
        notes = list(move.notes)
        state, idx = folding.apply(thread.state, entry), thread.state.entry_count
        try:
            if entry.id <= thread.state.last_id:
                # A clock was wrong: the state and the entry's position need the whole
                # log.
                whole = self.reader.thread(entry.topic)
                state = whole.state
                idx = [item.id for item in whole.entries].index(entry.id)
            unknown, shown_state = thread.unknown, thread.shown_state
            self.upkeep.write_state(state, size, unknown, shown_state)
            me = self.rules.directory.key(self.author.identity.name)
            self.upkeep.local.note_visit(f"{VISITS}/{safe_name(me)}")
        except (WcError, OSError) as error:
            notes.append(f"saved, but its projections are not up to date: {error}")
        if entry.ball is not None and (bounces := moves.bounce_note(state, self.rules)):
            notes.append(bounces)
        notes += self._review_notes(entry, state)
        if thread.has_lost_lines:
            notes.append(f"{entry.topic} has damage in its log: wc doctor")
        earlier = thread.entries or ()
        receipt = Written(entry, idx, thread.state, state, earlier).receipt(*notes)
        return receipt._replace(topic=aliases.name_of(self.reader, state))

    def _review_notes(self, entry: Entry, state: model.State) -> list[str]:
        """A note if changes were requested too often."""
        if not entry.outcome:
            return []
        from wc_core.edits.review import outcomes  # 1 ms, for outcomes of reviews

        too_many = outcomes.has_too_many_rounds(state, self.rules)
        return [outcomes.rounds_text(state)] if too_many else []


def _as_unrecorded(receipt: Receipt) -> Receipt:
    """The receipt of an entry that could not be recorded as written here."""
    note = (
        "git's folder cannot be written to, so this entry counts as if it had come "
        "from elsewhere: it starts no agent and approves nothing"
    )
    return receipt._replace(notes=(*receipt.notes, note))


def _check_owner(root: str) -> None:
    """Refuse root, who may write anywhere, in another user's store."""
    try:
        status = os.stat(root)
    except OSError:
        return  # it does not exist yet
    if os.geteuid() == 0 != status.st_uid:
        from wc_cli.ledger.store import lockowners  # 2 ms, only for a refusal

        owner = lockowners.user_name(status.st_uid)
        raise StorageError(
            f"The store {root} belongs to {owner}, who could no longer change what "
            "root writes there. Nothing was written.",
            f"Run it as {owner}: {lockowners.as_user(status.st_uid)}",
        )
