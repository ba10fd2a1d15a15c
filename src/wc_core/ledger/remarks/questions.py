"""Questions: who is asked, who may answer, and what their asker has to wait for.

A question to X stays open until X answers it or its asker withdraws it. As long as it
is open, its asker may pass the ball of the thread to no one but X, and not close it.
What X says next is the answer, if X has no other question open in the thread.
"""

from __future__ import annotations

from wc_core.base.errors import ConflictError, InvalidInputError, NotFoundError
from wc_core.base.names import ASKER, FREE_WORDS, ME, parse
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED, QUESTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.base.names import Directory, Name
    from wc_core.ledger.threads.model import Entry, OpenQuestion, State
    from wc_core.ledger.threads.moves import Move
    from wc_core.ledger.threads.proposals import Draft

# Stands for the only open question that the author of a draft may answer or withdraw.
ANY_QUESTION = "?"
# The actions that answer the only open question to their author, and those that remind
# the author of the questions that stay open.
_ANSWERING = frozenset({"say", "done"})
_REMINDING = frozenset({"say", "done", "ack", "handoff"})


class Questions(NamedTuple):
    """The open questions of a thread, for someone who writes an entry in it."""

    state: State
    entries: Sequence[Entry]
    me: Name
    directory: Directory

    def complete(self, draft: Draft) -> Draft:
        """The draft with the name of who is asked, and with the id of the question that
        it answers.

        Raises ConflictError, InvalidInputError or NotFoundError if no one would answer,
        or if there is no such question to the author.
        """
        if draft.answers:
            draft = draft._replace(answers=self._answered(draft).id)
        elif draft.action in _ANSWERING and not draft.outcome:
            # An approval or a request for changes is about the work that was reviewed.
            ids = [question.id for question in self._from_others]
            draft = draft._replace(answers=ids[0] if len(ids) == 1 else "")
        if draft.to and draft.kind:
            draft = draft._replace(asks=self._addressee(draft), to="")
        return draft

    def has_open(self, position: str) -> bool:
        """Whether a number or the beginning of an id names an open question."""
        entry_id = self._id_at(position)
        return any(question.id == entry_id for question in self.state.questions)

    def _addressee(self, draft: Draft) -> str:
        """The name of who is asked."""
        topic = quoted(draft.topic)
        if self.state.status == CLOSED:
            raise ConflictError(
                f"{draft.topic} is closed, so no one would answer.",
                f"Reopen it first: wc set-status {topic} OPEN --reason '…'",
            )
        word = draft.to.casefold()
        name = self.state.asker if word == ASKER else draft.to
        is_own = word == ME or self.directory.is_me(name, self.me)
        if word in FREE_WORDS or is_own or not name:
            raise InvalidInputError(
                "A question needs someone else to answer it.",
                "Name them: --to NAME; or ask no one in particular, without --to.",
            )
        return str(self.directory.canonical(parse(name)))

    def _answered(self, draft: Draft) -> OpenQuestion:
        """The question that a draft answers or withdraws."""
        if draft.answers == ANY_QUESTION:
            return self._only_question(draft)
        entry_id = self._id_at(draft.answers)
        question = next((q for q in self.state.questions if q.id == entry_id), None)
        if question is None:
            raise NotFoundError(
                f"{draft.answers} is not an open question of {draft.topic}.",
                self._hint(self.state.questions, draft),
            )
        if not (self._may_close(question, draft) or draft.force):
            person = question.asker if draft.withdraws else question.asked
            act = "withdraw" if draft.withdraws else "answer"
            raise ConflictError(
                f"{self._named(question)} is for {person} to {act}, not for you.",
                "To add a remark: wc ack "
                f"{quoted(draft.topic)} -m '…'; to {act} it for them: --force",
            )
        return question

    def _may_close(self, question: OpenQuestion, draft: Draft) -> bool:
        """Whether the author of a draft asked a question, or is asked."""
        if self.directory.is_me(question.asker, self.me):
            return True
        return not draft.withdraws and self.directory.matches(question.asked, self.me)

    @property
    def _own(self) -> list[OpenQuestion]:
        """The open questions that the author of the draft asked."""
        return [
            question
            for question in self.state.questions
            if self.directory.is_me(question.asker, self.me)
        ]

    @property
    def _to_me(self) -> list[OpenQuestion]:
        """The open questions to the author of the draft."""
        return [
            question
            for question in self.state.questions
            if self.directory.matches(question.asked, self.me)
        ]

    @property
    def _from_others(self) -> list[OpenQuestion]:
        """The open questions to the author of the draft that someone else asked: an
        agent may ask all of its kind."""
        own = self._own
        return [question for question in self._to_me if question not in own]

    def _only_question(self, draft: Draft) -> OpenQuestion:
        """The open question that is meant, if there is only one."""
        own = self._own
        candidates = own if draft.withdraws else self._to_me or own
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise InvalidInputError(
                f"{draft.topic} has {len(candidates)} questions that you could mean.",
                self._hint(candidates, draft),
            )
        raise NotFoundError(
            f"{draft.topic} has no open question {'by' if draft.withdraws else 'to'} "
            "you.",
            self._hint(self.state.questions, draft),
        )

    def _hint(self, questions: Sequence[OpenQuestion], draft: Draft) -> str:
        """The questions that can be answered."""
        if not questions:
            return f"To add a remark: wc ack {quoted(draft.topic)} -m '…'"
        listed = "; ".join(f"{self._named(q)} to {q.asked}" for q in questions)
        return (
            f"Open are: {listed}. Say which: wc answer {quoted(draft.topic)} N -m '…'"
        )

    def _id_at(self, position: str) -> str:
        """The id of the entry at a position (``#3`` or ``3``), or with the beginning of
        an id; empty if there is none."""
        text = position.strip().removeprefix("#")
        if text.isdecimal() and len(text) < len("0123456789"):
            number = int(text)
            return self.entries[number].id if number < len(self.entries) else ""
        ids = [q.id for q in self.state.questions if q.id.startswith(text)]
        return ids[0] if text and len(ids) == 1 else ""

    def _named(self, question: OpenQuestion) -> str:
        """A question by its number and its title."""
        return f"{self._number(question)} {question.title!r}"

    def _number(self, question: OpenQuestion) -> str:
        ids = [entry.id for entry in self.entries]
        return f"#{ids.index(question.id)}" if question.id in ids else question.id

    def notes(self, draft: Draft) -> list[str]:
        """Notes for the author of a draft."""
        topic = quoted(draft.topic)
        if draft.asks:
            return [
                f"{draft.asks} is asked; to wait for the answer: wc wait {topic} --new"
            ]
        if draft.kind == QUESTION:
            return ["no one in particular is asked; to ask someone: --to NAME"]
        ended = [q for q in self.state.questions if q.id == draft.answers]
        if not ended and draft.action in _REMINDING:
            return self._reminders(topic)
        verb = "withdrawn" if draft.withdraws else "answered"
        return [f"{self._named(question)} is {verb}" for question in ended]

    def _reminders(self, topic: str) -> list[str]:
        """A note that names the open questions to the author, if there are any."""
        pending = self._from_others
        if not pending:
            return []
        listed = ", ".join(map(self._named, pending))
        if len(pending) == 1:
            return [f"{listed} is still open; to answer it: wc answer {topic} -m '…'"]
        return [f"{listed} are still open; to answer one: wc answer {topic} N -m '…'"]

    def checked(self, draft: Draft, move: Move) -> Draft:
        """The draft of a move. If it is forced although a question of its author is
        open, its reason mentions that. Raises ConflictError if it is not forced."""
        if not self._leads_away(move):
            return draft
        holder = move.ball.holder if move.ball is not None else None
        pending = [
            question
            for question in self._own
            if question.id != draft.answers
            and not (holder is not None and self._is_asked(question, holder))
        ]
        if not pending:
            return draft
        first = pending[0]
        if not draft.force:
            topic, number = quoted(draft.topic), self._number(first).removeprefix("#")
            raise ConflictError(
                f"{first.asked} has not answered your question "
                f"{self._named(first)} in {draft.topic}.",
                f"Wait for the answer: wc wait {topic} --new; withdraw the question: "
                f"wc answer {topic} {number} --withdraw; or go on without it: --force",
            )
        forced = f"without the answer of {first.asked} to {self._number(first)}"
        reason = f"{draft.reason}; {forced}" if draft.reason else forced
        return draft._replace(reason=reason)

    def _leads_away(self, move: Move) -> bool:
        """Whether a move passes the ball to someone other than its holder and its
        author, or closes the thread."""
        if move.status == CLOSED:
            return True
        if move.ball is None or move.ball.holder == self.state.ball:
            return False
        holder = move.ball.holder
        return holder is None or not self.directory.is_me(holder, self.me)

    def _is_asked(self, question: OpenQuestion, holder: str) -> bool:
        """Whether a holder is the one who is asked, or one of those."""
        return self.directory.matches(question.asked, parse(holder)) or (
            self.directory.matches(holder, parse(question.asked))
        )
