"""Lands branches one after the other: build, check, publish, tell the thread.

The order makes a kill harmless: what is being published is recorded before, and the
thread is told after. The next landing begins with what a killed one has left.
"""

from __future__ import annotations

import os

from wc_cli.agents.landing import returning
from wc_cli.edits.landing.building import (
    BuiltLanding,
    MergePlace,
    SigningError,
    builder_on,
)
from wc_cli.edits.landing.programs import CheckPlace
from wc_cli.edits.landing.publishing import (
    BasePlace,
    LandingRecord,
    LandingRecords,
    MovedError,
)
from wc_cli.edits.landing.sending import RemoteBase, RemoteMovedError
from wc_cli.edits.radar import merges
from wc_cli.ledger.branch.git import GitError
from wc_cli.ledger.store import lockowners, locks
from wc_cli.run.entries import receipts
from wc_core.base.errors import (
    ConflictError,
    LockTimeoutError,
    StorageError,
    WcError,
)
from wc_core.base.layout import Layout
from wc_core.base.lean import contextlib
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.agents.landing.choosing import LandingChoice, LandingChooser
    from wc_cli.edits.landing.building import LandingBuilder
    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.landings import Landing
    from wc_core.ledger.threads.proposals import Draft

_LOCK_SECONDS = 5.0
_CHECK_SECONDS = 3600.0
# How often a branch is built again because the one it lands on has moved.
_MAX_TURNS = 3
LANDED, FAILED, SKIPPED = "landed", "failed", "skipped"
_NO_OBJECTS = MergePlace({})


@contextlib.contextmanager
def landing_lock(layout: Layout) -> Iterator[None]:
    """Hold the lock of landings. Raises LockTimeoutError if another landing keeps it:
    it may be checking, for as long as that may take."""
    path = layout.landing_lock
    try:
        handle = locks.acquire(path, "wc land", _LOCK_SECONDS, layout.root)
    except LockTimeoutError as error:
        raise LockTimeoutError(
            f"Another landing is at work here: {lockowners.current_holder(path)}.",
            "Try again when it has ended.",
        ) from error
    try:
        yield
    finally:
        os.close(handle)


class LandingResult(NamedTuple):
    """What became of a thread: it ``landed`` as ``commit``, it ``failed`` and its ball
    is with ``ball``, or it was ``skipped`` for a reason in ``text``. ``paths``
    conflict."""

    topic: str
    state: str
    text: str
    commit: str = ""
    ball: str = ""
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class LandingStart(NamedTuple):
    """Where a landing begins: the commit ``onto`` which it is built, that of the
    branch here, ``own``, and the one ``expected`` at the remote (empty: it has no such
    branch, or is not asked)."""

    onto: str
    own: str
    expected: str = ""


class Lander:
    """Lands what a chooser has chosen, with ``push`` also at the remote. The caller
    holds the lock of landings. ``ended_by`` is why nothing more could land. Raises
    NotFoundError without a remote to push to."""

    def __init__(self, chooser: LandingChooser, *, push: bool = False) -> None:
        self.chooser = chooser
        self.context: Context = chooser.context
        self.base: BasePlace = chooser.base
        self.layout = Layout(self.context.reader.layout.root)
        self.records = LandingRecords(self.layout)
        self.remote: RemoteBase | None = None
        if push:
            self.remote = RemoteBase.find(
                chooser.repository, self.context.env, self.base.name
            )
        self.ended_by: WcError | None = None
        self._place = CheckPlace(chooser.repository, self.layout, self.context.env)

    # --- what a killed landing has left -------------------------------------------

    def recover(self) -> Iterator[LandingResult]:
        """Finish or undo what a killed landing has left. Yields what had landed. The
        record of what its thread cannot be told, because a rule is against it, stays
        for the next time."""
        self._place.tidy()
        for record in list(self.records.all()):
            base = BasePlace(self.chooser.repository, self.context.env, record.onto)
            if base.has(record.commit):
                yield self._finished(record)
                continue
            if self.base.is_at_a_remote(record.commit):
                base.put_back(record)
                notes = self._followed(base, record)
                yield self._finished(record, notes)
                continue
            paths = base.put_back(record)
            self.records.remove(record)
            if paths:
                names = ", ".join(map(one_line, paths[:3]))
                yield LandingResult(
                    record.topic,
                    SKIPPED,
                    f"an interrupted landing left changes in {record.worktree}: "
                    f"{names}",
                )

    def _finished(
        self, record: LandingRecord, notes: Sequence[str] = ()
    ) -> LandingResult:
        try:
            result = self._told(record)
        except WcError as error:
            place = f"{record.onto} as {record.commit[: returning.SHORT]}"
            text = f"it is on {place}, but its thread could not be told: "
            return _refused(record.topic, error, text)
        return result._replace(notes=(*notes, *result.notes))

    # --- landing ------------------------------------------------------------------

    def land_all(
        self, choices: Sequence[LandingChoice], check: str
    ) -> Iterator[LandingResult]:
        """Land branches in this order; one that fails is skipped with everything that
        waits for it. Ends early if nothing more can land, for example because nothing
        can be signed: then ``ended_by`` says why, and what has landed before."""
        names = {choice.topic: choice.row.name for choice in choices}
        failed: set[str] = set()
        landed: list[str] = []
        for choice in choices:
            missing = sorted(names[topic] for topic in choice.after & failed)
            if missing:
                failed.add(choice.topic)
                text = f"it waits for {', '.join(missing)}"
                yield LandingResult(choice.row.name, SKIPPED, text)
                continue
            try:
                result = self.land(choice, check)
            except WcError as error:
                self.ended_by = _with_landed(error, landed)
                return
            if result.state == LANDED:
                landed.append(result.topic)
            else:
                failed.add(choice.topic)
            yield result

    def land(self, choice: LandingChoice, check: str) -> LandingResult:
        """Land one branch. Raises a WcError if that is not possible now; then its
        thread and the branches are as they were."""
        self.base.check_free()
        for turn in range(1, _MAX_TURNS + 1):
            try:
                with self._git_errors(choice):
                    # The checks of those before it may have taken long, too.
                    return self._changed(choice) or self._land(choice, check)
            except (MovedError, RemoteMovedError):
                if turn == _MAX_TURNS:
                    raise
        raise AssertionError

    def _land(self, choice: LandingChoice, check: str) -> LandingResult:
        start = self._start()
        base = start.onto
        builder = builder_on(
            self.chooser.repository,
            base,
            self.context.env,
            _NO_OBJECTS,
            sign=self.chooser.sign,
        )
        with builder as at:
            built = at.build(base, choice.commit, self.chooser.method, choice.text)
            if not built.commit:
                return self._give_back_conflict(choice, base, built, at)
        is_there = built.commit == base  # another machine has landed it
        checked = ""
        if check and not is_there:
            result = self._place.check(built.commit, check, _CHECK_SECONDS)
            if (changed := self._changed(choice)) is not None:
                return changed
            if not result.is_passed:
                landing = returning.failed_landing(
                    self.base.name, base, choice.commit, checked=True
                )
                written = returning.check_text(
                    landing, choice.row.branch, check, result
                )
                return self._give_back(choice, landing, written, ())
            checked = returning.passed_text(check, result)
        self.base.check_free()
        record = self._record(choice, built, start, checked)
        try:
            self._check_draft(record)
        except WcError as error:
            # A rule of the repository; the other branches may land.
            return _refused(choice.row.name, error)
        if is_there:
            is_behind = start.own != base
            notes = self._followed(self.base, record) if is_behind else []
        else:
            self.records.save(record)
            notes = self._publish(record, start.expected)
        landed = self._told(record)
        if choice.newer:
            later = counted(choice.newer, "later commit")
            notes.append(f"{later} of {choice.row.branch} did not land")
        return landed._replace(notes=(*notes, *landed.notes))

    def _changed(self, choice: LandingChoice) -> LandingResult | None:
        """Return the result if a choice can no longer land; then its ball stays."""
        obstacles = self.chooser.obstacles_since(choice)
        if not obstacles:
            return None
        reasons = "; ".join(obstacle.text for obstacle in obstacles)
        text = f"it can no longer land: {reasons}"
        return LandingResult(choice.row.name, SKIPPED, text)

    def _record(
        self,
        choice: LandingChoice,
        built: BuiltLanding,
        start: LandingStart,
        checked: str = "",
    ) -> LandingRecord:
        tree = self.base.worktree
        return LandingRecord(
            choice.topic,
            choice.row.branch,
            choice.commit,
            self.base.name,
            start.own,
            built.commit,
            built.commit_count,
            checked,
            tree.path if tree is not None else "",
        )

    def _start(self) -> LandingStart:
        """Return where the branches are now, here and, if it is to move there, at the
        remote. Raises ConflictError if they have diverged, and OfflineError."""
        own = self.base.commit
        if self.remote is None:
            return LandingStart(own, own)
        fetched = self.remote.fetch()
        if not fetched or fetched == own or self.base.contains(own, fetched):
            return LandingStart(own, own, fetched)
        if self.base.contains(fetched, own):
            return LandingStart(fetched, own, fetched)
        name = one_line(self.base.name)
        raise ConflictError(
            f"{name} here and {name} at {self.remote.name} have both moved on.",
            f"Bring them together first: git pull --rebase {self.remote.name} {name}",
        )

    def _publish(self, record: LandingRecord, expected: str) -> list[str]:
        """Move the branch at the remote, if it is to, and here. Returns notes."""
        try:
            if self.remote is None:
                self.base.publish(record)
                return []
            self.remote.push(record.commit, expected)
        except WcError:
            self.records.remove(record)
            raise
        return self._followed(self.base, record)

    def _followed(self, base: BasePlace, record: LandingRecord) -> list[str]:
        """Move a branch here that has moved at the remote. Returns notes."""
        try:
            base.check_free()
            tree = base.worktree
            place = tree.path if tree is not None else ""
            base.publish(record._replace(worktree=place))
        except ConflictError as error:
            name = one_line(record.onto)
            remote = self.remote.name if self.remote is not None else "the remote"
            text = f"{name} here is behind {remote}: {error.message}"
            return [f"{text} Afterwards, in that worktree: git pull"]
        return []

    # --- telling the thread -------------------------------------------------------

    def _check_draft(self, record: LandingRecord) -> None:
        """Raise a WcError if the thread could not be told: a rule is against it."""
        state = self.context.reader.snapshot(record.topic).state
        draft = returning.landed_draft(state, record)
        self.context.writer().check(draft)

    def _told(self, record: LandingRecord) -> LandingResult:
        """Write that a branch has landed, unless that is known, and forget the record.
        Returns the result."""
        state = self.context.reader.snapshot(record.topic).state
        notes: tuple[str, ...] = ()
        if state.landing.commit != record.commit:
            receipt = self._written(returning.landed_draft(state, record))
            notes = receipt.notes
        self.records.remove(record)
        short = record.commit[: returning.SHORT]
        text = f"its changes were on {record.onto} already, at {short}"
        if record.commit_count:
            text = f"landed on {record.onto} as {short}"
        return LandingResult(state.name, LANDED, text, record.commit, notes=notes)

    def _written(self, draft: Draft) -> Receipt:
        receipt = self.context.writer().write(draft, self.context.source)
        return receipts.settle_after_write(self.context, receipt)

    def _give_back_conflict(
        self,
        choice: LandingChoice,
        base: str,
        built: BuiltLanding,
        at: LandingBuilder,
    ) -> LandingResult:
        paths = tuple(path for path, _ in built.conflicts)
        marked = [path for path in paths if path in built.marked]
        files = [(built.tree, path) for path in marked]
        contents = merges.marked_files(at.git, at.objects, files)
        sides = (one_line(self.base.name), one_line(choice.row.branch))
        lines: list[str] = []
        for path in marked:
            content = contents.get((built.tree, path), b"")
            room = returning.MAX_LINES - len(lines)
            if room > 0:
                lines += returning.hunk_lines(one_line(path), content, sides, room)
        landing = returning.failed_landing(
            self.base.name, base, choice.commit, checked=False
        )
        text = returning.conflict_text(landing, choice.row.branch, built, lines)
        return self._give_back(choice, landing, text, paths)

    def _give_back(
        self,
        choice: LandingChoice,
        landing: Landing,
        text: tuple[str, str],
        paths: tuple[str, ...],
    ) -> LandingResult:
        """Pass the ball of a thread whose branch does not land to who can fix it."""
        thread = self.context.reader.thread(choice.topic)
        title, body = text
        draft = returning.failed_draft(
            self.context, thread.state, choice.row.branch, thread.entries, landing
        )
        receipt = self._written(draft._replace(title=title, body=body))
        ball = holder_text(receipt.ball)
        return LandingResult(
            choice.row.name, FAILED, title, "", ball, paths, receipt.notes
        )

    @contextlib.contextmanager
    def _git_errors(self, choice: LandingChoice) -> Iterator[None]:
        try:
            yield
        except SigningError as error:
            raise StorageError(
                f"git could not sign the commit that lands "
                f"{one_line(choice.row.name)}: {one_line(str(error))}.",
                "Check the key: git config user.signingKey. To land without "
                "signatures: git config commit.gpgSign false",
            ) from error
        except GitError as error:
            raise StorageError(
                f"git failed: {one_line(str(error))}.",
                "The branch has not landed. Try again, or merge by hand to see more: "
                "git merge",
            ) from error


def _refused(name: str, error: WcError, text: str = "") -> LandingResult:
    """Return the result for a branch whose thread has a rule against its landing."""
    notes = (error.hint,) if error.hint else ()
    return LandingResult(name, SKIPPED, f"{text}{error.message}", notes=notes)


def _with_landed(error: WcError, names: Sequence[str]) -> WcError:
    """Return an error that ends a landing, with what has landed before it."""
    if not names:
        return error
    landed = ", ".join(map(one_line, names))
    return type(error)(f"{error.message} Before that, {landed} landed.", error.hint)
