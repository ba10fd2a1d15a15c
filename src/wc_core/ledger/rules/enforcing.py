"""Whether the rules of a repository allow an entry that is about to be written, and
which threads currently violate them."""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.errors import ConflictError, InvalidInputError, WcError
from wc_core.base.phrases import counted, quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import (
    BRANCH_LINK,
    CLOSER_ASKER,
    CLOSER_HOLDER,
    NO_LINK,
    PR_LINK,
    Rules,
)
from wc_core.ledger.remarks.references import prs_in
from wc_core.ledger.threads import revisions
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wc_core.base.names import Directory, Name
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.moves import Move
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.reader import StoreReader

# The moves whose author chooses where the ball goes, rather than returning it.
_GIVING = frozenset({"new", "handoff", "take"})
_NOTHING = "Nothing was written."
# Branches where work begins, which do not count as a link to the work.
_TRUNKS = frozenset({"", "main", "master", "trunk"})


class PlannedEntry(NamedTuple):
    """An entry that is about to be written: its draft and move, by ``me``, on
    ``state``.

    ``entries`` returns those of the thread, ``held`` the number of open threads whose
    ball a name has; both are called only if a rule needs them.
    """

    state: State
    draft: Draft
    move: Move
    me: Name
    directory: Directory
    entries: Callable[[], Sequence[Entry]]
    held: Callable[[str], int]


def check(planned: PlannedEntry, rules: Rules) -> None:
    """Raise InvalidInputError or ConflictError, with the name of the rule, if a rule
    does not allow it."""
    is_new = not planned.state.entry_count and not planned.state.title
    if is_new and not title_fits(planned.draft.title, rules.title):
        patterns = " or ".join(f"'{pattern}'" for pattern in rules.title)
        raise InvalidInputError(
            f"rules.title: titles of new threads must match {patterns}.",
            f"{_NOTHING} Give it a matching title: -m '…'",
        )
    if planned.move.status == CLOSED and planned.state.status != CLOSED:
        _check_closer(planned, rules.closers)
        _check_closing(planned, rules)
    _check_balls(planned, rules.balls)


def _check_closer(planned: PlannedEntry, closers: Sequence[str]) -> None:
    if not closers or any(_is_closer(planned, closer) for closer in closers):
        return
    topic = quoted(planned.draft.topic)
    raise ConflictError(
        f"rules.closers: only {' or '.join(closers)} may close a thread here.",
        f"{_NOTHING} Pass it to one of them: wc handoff {topic} --to NAME",
    )


def _is_closer(planned: PlannedEntry, closer: str) -> bool:
    if closer == CLOSER_ASKER:
        # For a new thread, it is whoever opens it.
        closer = planned.state.asker or str(planned.me)
    elif closer == CLOSER_HOLDER:
        closer = planned.state.ball or ""
    return closer != "" and planned.directory.matches(closer, planned.me)


def _check_closing(planned: PlannedEntry, rules: Rules) -> None:
    if not is_asked(rules):
        return
    evidence = evidence_of(planned.entries(), planned.state)
    evidence = evidence.with_draft(planned.draft)
    for lack in lacks(evidence, rules):
        name = planned.draft.topic
        topic = quoted(name)
        raise ConflictError(
            f"{lack.rule}: before it is closed, {name} needs {lack.what}.",
            f"{_NOTHING} {lack.hint.format(topic=topic)}",
        )


def _check_balls(planned: PlannedEntry, most: int) -> None:
    ball, draft = planned.move.ball, planned.draft
    if not most or ball is None or ball.holder is None:
        return
    if ball.holder == planned.state.ball:
        return
    if draft.action not in _GIVING and not draft.to:
        return
    held = planned.held(ball.holder)
    if held >= most:
        raise ConflictError(
            f"rules.balls: {ball.holder} holds the balls of {counted(held, 'thread')}; "
            f"the limit here is {most}.",
            f"{_NOTHING} See them: wc list --open --ball {quoted(ball.holder)}",
        )


class Violation(NamedTuple):
    """A thread or holder that violates a rule."""

    rule: str
    thread: str
    message: str


class Audit:
    """Compares the threads of a store with the rules, thread by thread."""

    def __init__(self, rules: Rules, directory: Directory) -> None:
        self._rules = rules
        self._directory = directory
        self._held: dict[str, list[State]] = {}

    def of_thread(self, state: State, entries: Sequence[Entry]) -> Iterator[Violation]:
        """The violations of one thread."""
        rules = self._rules
        if not title_fits(state.title, rules.title):
            yield Violation("rules.title", state.name, f"its title is {state.title!r}")
        if state.status == CLOSED:
            if is_asked(rules):
                evidence = evidence_of(entries, state)
                for lack in lacks(evidence, rules):
                    message = f"closed without {lack.what}"
                    yield Violation(lack.rule, state.name, message)
        elif rules.balls and state.ball:
            key = key_of(state.ball, self._directory)
            self._held.setdefault(key, []).append(state)

    def of_holders(self) -> Iterator[Violation]:
        """Who has too many balls, in the threads compared so far."""
        most = self._rules.balls
        for threads in self._held.values():
            if len(threads) > most:
                text = f"{threads[0].ball} holds {len(threads)} balls, at most {most}"
                topics = sorted(state.name for state in threads)
                message = f"{text}: {', '.join(topics)}"
                yield Violation("rules.balls", topics[0], message)


def held_by(reader: StoreReader, holder: str, directory: Directory) -> int:
    """The number of open threads whose ball a name has."""
    key, count = key_of(holder, directory), 0
    for topic in reader.topics():
        try:
            state = reader.snapshot(topic).state
        except WcError:
            continue
        is_open = state.status != CLOSED and bool(state.ball)
        count += is_open and key_of(state.ball or "", directory) == key
    return count


def key_of(holder: str, directory: Directory) -> str:
    """A key that is the same for all spellings of a holder."""
    return directory.key(names.parse(holder))


class Lack(NamedTuple):
    """A requirement of a rule that a thread does not meet. ``hint`` says what to do,
    with a placeholder for the ``topic``."""

    rule: str
    what: str
    hint: str


class ClosingEvidence(NamedTuple):
    """The kinds of a thread's entries, and its links."""

    kinds: frozenset[str] = frozenset()
    has_branch: bool = False
    has_pr: bool = False

    def with_draft(self, draft: Draft) -> ClosingEvidence:
        """The same, with the entry that closes the thread."""
        return self._replace(
            has_pr=self.has_pr
            or bool(draft.pr_refs or prs_in(f"{draft.title}\n{draft.body}")),
        )


def is_asked(rules: Rules) -> bool:
    """Whether any rule requires something before a thread is closed."""
    return bool(rules.close_kinds) or rules.close_link != NO_LINK


def evidence_of(entries: Sequence[Entry], state: State) -> ClosingEvidence:
    """The properties of a thread. Retracted entries do not count."""
    valid = [item.entry for item in revisions.revisions(entries) if not item.retracted]
    branches = {state.branch, *(entry.code_branch for entry in valid)}
    return ClosingEvidence(
        frozenset(entry.kind for entry in valid),
        bool(branches - _TRUNKS),
        any(entry.pr_refs or prs_in(f"{entry.title}\n{entry.body}") for entry in valid),
    )


def lacks(evidence: ClosingEvidence, rules: Rules) -> Iterator[Lack]:
    """The requirements that a thread does not meet, rule by rule."""
    for kind in rules.close_kinds:
        if kind not in evidence.kinds:
            hint = f"Write one first: wc say {{topic}} --kind {kind} -m '…'"
            yield Lack("rules.close_kinds", f"an entry of kind {kind}", hint)
    if rules.close_link == NO_LINK:
        return
    branch, pr = evidence.has_branch, evidence.has_pr
    if rules.close_link == BRANCH_LINK and not branch:
        hint = "Name it: wc move {topic} --branch BRANCH"
        yield Lack("rules.close_link", "a branch", hint)
    elif rules.close_link == PR_LINK and not pr:
        hint = "Name it: wc ack {topic} --pr NUMBER -m '…'"
        yield Lack("rules.close_link", "a pull request", hint)
    elif not branch and not pr:
        hint = "Name one: wc ack {topic} --pr NUMBER -m '…'"
        yield Lack("rules.close_link", "a branch or a pull request", hint)


def title_fits(title: str, patterns: Sequence[str]) -> bool:
    """Whether a title fits one of the patterns, or there is none.

    The patterns are those of file names: ``*`` is any text, ``?`` one character,
    ``[ab]`` one of these. Not regular expressions: some of those take forever on a
    title that someone else wrote, and no check can detect them.
    """
    if not patterns:
        return True
    from fnmatch import fnmatchcase  # 1 ms, only where there is such a rule

    return any(fnmatchcase(title, pattern) for pattern in patterns)
