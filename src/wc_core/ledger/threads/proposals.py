"""Drafts of entries, and what decides whether they may move the ball."""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base import names
from wc_core.base.errors import ConflictError
from wc_core.base.names import ASKER, FREE_WORDS, ME
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.counterparts import default_holder
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import (
    CLOSED,
    FREE,
    IN_REVIEW,
    OPEN,
    Ball,
    Link,
    State,
    holder_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.names import Name
    from wc_core.ledger.threads.linerefs import LineRef
    from wc_core.ledger.threads.settings import Settings


class Draft(NamedTuple):
    """An entry that is to be written.

    ``to`` is a written name, one of the words for "anyone", or empty.
    ``if_ball`` and ``if_last`` make the write conditional, ``key`` makes it
    idempotent. ``force``, ``reopen`` and ``reason`` get past refusals. ``must_exist``:
    it never starts a thread.
    ``file_refs``, ``line_refs``, ``pr_refs`` and ``commit_refs`` are what the entry is
    about.
    ``keeps_body`` is for an amendment of the title alone. ``kind`` and ``severity`` are
    as in an entry. ``answers`` is the number or the id of an open question, which the
    entry answers or ``withdraws``; ``asks`` is filled in. ``outcome`` is what a review
    came to: ``approved`` or ``changes_requested``, ``approved_commit`` what was
    approved (empty: a thread without a branch), ``landing`` what an attempt to land the
    branch came to. ``note`` has the parts of a participant's note, in the thread of
    notes.
    """

    topic: str
    action: str
    title: str
    body: str = ""
    role: str = ""
    type: str = ""
    to: str = ""
    status: str = ""
    reason: str = ""
    key: str = ""
    if_ball: str = ""
    if_last: str = ""
    force: bool = False
    reopen: bool = False
    new: bool = False
    must_exist: bool = False
    thread_branch: str = ""
    new_topic: str = ""
    supersedes: str = ""
    tags_added: tuple[str, ...] = ()
    tags_removed: tuple[str, ...] = ()
    links_added: tuple[Link, ...] = ()
    links_removed: tuple[Link, ...] = ()
    items_checked: tuple[str, ...] = ()
    file_refs: tuple[str, ...] = ()
    line_refs: tuple[LineRef, ...] = ()
    pr_refs: tuple[int, ...] = ()
    commit_refs: tuple[str, ...] = ()
    summary: str = ""
    keeps_body: bool = False
    kind: str = ""
    severity: str = ""
    asks: str = ""
    answers: str = ""
    withdraws: bool = False
    outcome: str = ""
    approved_commit: str = ""
    landing: Landing = NO_LANDING
    note: Mapping[str, Any] = MappingProxyType({})


class Proposal(NamedTuple):
    """A draft, with everything that decides whether it may move the ball.

    The methods that begin with ``check`` raise ConflictError.
    """

    state: State
    draft: Draft
    me: Name
    settings: Settings

    @property
    def is_mine(self) -> bool:
        """Whether the author may make the next move: they have the ball or are offered
        it."""
        ownership = self.settings.directory.whose(self.state.ball, self.me)
        return ownership in {names.MINE, names.OFFERED}

    @property
    def is_free(self) -> bool:
        """Whether no one holds the ball."""
        return self.state.ball is None

    @property
    def is_asker(self) -> bool:
        """Whether the author asked for the thread's work."""
        return self.settings.directory.is_me(self.state.asker, self.me)

    @property
    def is_closed(self) -> bool:
        """Whether the thread is closed."""
        return self.state.status == CLOSED

    @property
    def may_pass(self) -> bool:
        """Whether a say may move the ball."""
        return self.is_mine or self.is_free or self.settings.enforce == "off"

    @property
    def status(self) -> str | None:
        """The status that the thread gets; ``None`` if it keeps its own. The outcome of
        a review ends the review."""
        is_in_review = self.state.status == IN_REVIEW and self.may_pass
        after_review = OPEN if self.draft.outcome and is_in_review else None
        return self.draft.status or after_review

    @property
    def holder(self) -> str:
        """The holder of the ball, in words."""
        return holder_text(self.state.ball)

    @property
    def take_command(self) -> str:
        """The command that takes the ball from its holder."""
        return f"wc take {self.draft.topic} --reason '…'"

    def addressee(self) -> Ball | None:
        """The participant that ``--to`` names; ``None`` without it."""
        to = self.draft.to
        if not to:
            return None
        if to.casefold() in FREE_WORDS:
            return FREE
        if to.casefold() == ME:
            return Ball(str(self.me))
        if to.casefold() == ASKER:
            return self.asker_ball()
        return Ball(str(self.settings.directory.canonical(names.parse(to))))

    def asker_ball(self) -> Ball:
        """The ball for whoever asked for the thread."""
        if not self.state.asker:
            topic = self.draft.topic
            raise ConflictError(
                f"It is not known who asked for {topic}.",
                f"Name who should have it: wc handoff {topic} --to NAME",
            )
        return Ball(self.state.asker)

    def addressee_or_me(self) -> Ball:
        """The addressee, otherwise the author."""
        return self.addressee() or Ball(str(self.me))

    def next_holder(self) -> Ball:
        """The addressee, otherwise the counterpart, otherwise no one."""
        return self.addressee() or default_holder(self.state, self.me, self.settings)

    def check_conditions(self) -> None:
        """Refuse if ``--if-last`` or ``--if-ball`` does not hold."""
        state, draft = self.state, self.draft
        number = f"{state.entry_count - 1}" if state.entry_count else "none"
        named = draft.if_last.removeprefix("#")
        if draft.if_last and named not in {number, state.last_id}:
            raise ConflictError(
                f"{draft.topic} has moved on: its last entry is {number}, not "
                f"{draft.if_last}.",
                f"Read what is new first: wc read {draft.topic}",
            )
        if draft.if_ball and not self._has_ball(draft.if_ball):
            raise self._wrong_holder(draft.if_ball)

    def _wrong_holder(self, written: str) -> ConflictError:
        """The error for a ball that the holder of a written name does not have."""
        topic, wanted = self.draft.topic, written.casefold()
        hint = f"Read the thread, then decide again: wc read {topic}"
        if self.is_free:
            return ConflictError(f"The ball of {topic} is free.", hint)
        if wanted in FREE_WORDS:
            return ConflictError(
                f"The ball of {topic} is not free: {self.holder} has it.", hint
            )
        other = "you" if wanted == ME else written
        return ConflictError(
            f"{self.holder} has the ball of {topic}, not {other}.", hint
        )

    def _has_ball(self, written: str) -> bool:
        """Whether the holder is the one of a written name."""
        ball = self.state.ball
        if written.casefold() in FREE_WORDS:
            return ball is None
        if ball is None:
            return False
        if written.casefold() == ME:
            return self.is_mine
        if written.casefold() == ASKER:
            written = self.state.asker
        return self.settings.directory.matches(written, names.parse(ball))

    def check_is_open(self) -> None:
        """Refuse if the thread is closed."""
        if self.is_closed:
            topic = self.draft.topic
            raise ConflictError(
                f"{topic} is closed.",
                f"Reopen it with an entry: wc say {topic} --reopen -m '…'",
            )

    def check_may_end(self, verb: str, status: str) -> None:
        """Refuse to close or reopen a thread whose ball someone else has, unless the
        author asked for it or gives a reason."""
        if self.is_mine or self.is_free or self.is_asker or self.draft.reason:
            return
        topic = self.draft.topic
        command = f"wc set-status {topic} {status}"
        if status == CLOSED:
            command = f"wc close {topic}"
        raise ConflictError(
            f"{self.holder} has the ball of {topic}.",
            f"If it is stuck there, say why you {verb} it: {command} --reason '…'",
        )

    def check_policy(self) -> None:
        """Refuse if the store allows only the holder to say, and that is not the
        author."""
        if self.settings.enforce == "refuse" and not self.may_pass:
            topic = self.draft.topic
            remark = f"Add a remark with: wc ack {topic}"
            if self.draft.answers:
                remark = f"Answer the question with: wc answer {topic}"
            raise ConflictError(
                f"{self.holder} has the ball of {topic}, and only the holder may "
                "write here.",
                f"{remark}, or take it: {self.take_command}",
            )
