"""Which threads currently violate the rules of a repository."""

from __future__ import annotations

from wc_core.base import names, ulid
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted
from wc_core.base.times import milliseconds
from wc_core.base.values import NamedTuple
from wc_core.ledger.rules import closing, titles
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_core.base.names import Directory
    from wc_core.ledger.configuration.keys import Rules
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

_DAY_MS = 24 * 3600 * 1000


class Violation(NamedTuple):
    """A thread or holder that violates a rule."""

    rule: str
    thread: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """The violation as a JSON object."""
        return self._asdict()


def violations(
    reader: StoreReader, rules: Rules, directory: Directory, now_ms: int
) -> Iterator[Violation]:
    """The violations of rules, thread by thread. Unreadable threads are left out: `wc
    doctor` reports them."""
    states = []
    for topic in sorted(reader.topics()):
        try:
            state = reader.snapshot(topic).state
            states.append(state)
            yield from of_state(state, rules, now_ms)
            if state.status == CLOSED and closing.is_asked(rules):
                yield from _of_closed(reader, state, rules)
        except WcError:
            continue
    yield from _of_holders(states, rules.balls, directory)


def of_state(state: State, rules: Rules, now_ms: int) -> Iterator[Violation]:
    """The violations in the state of one thread."""
    if not titles.fits(state.title, rules.title):
        yield Violation("rules.title", state.name, f"its title is {state.title!r}")
    yield from overdue(state, rules, now_ms)


def overdue(state: State, rules: Rules, now_ms: int) -> Iterator[Violation]:
    """Whether a thread is open, or its ball with one holder, for too long."""
    if state.status == CLOSED:
        return
    opened = milliseconds(state.created_at)
    days = _days(opened, now_ms)
    if rules.thread_days and days > rules.thread_days:
        text = f"open for {counted(days, 'day')}, at most {rules.thread_days}"
        yield Violation("rules.thread_days", state.name, text)
    days = _days(_since(state), now_ms)
    if rules.ball_days and state.ball and days > rules.ball_days:
        text = (
            f"its ball is with {state.ball} for {counted(days, 'day')}, "
            f"at most {rules.ball_days}"
        )
        yield Violation("rules.ball_days", state.name, text)


def _since(state: State) -> int | None:
    """When the holder got the ball, as far as that is known."""
    since = ulid.prefix(state.since)
    return ulid.timestamp_ms(since) if since else milliseconds(state.updated_at)


def _days(since_ms: int | None, now_ms: int) -> int:
    return 0 if since_ms is None else max(0, now_ms - since_ms) // _DAY_MS


def _of_closed(reader: StoreReader, state: State, rules: Rules) -> Iterator[Violation]:
    evidence = closing.evidence_of(reader.thread(state.topic).entries, state)
    for lack in closing.lacks(evidence, rules):
        yield Violation(lack.rule, state.name, f"closed without {lack.what}")


def _of_holders(
    states: Iterable[State], most: int, directory: Directory
) -> Iterator[Violation]:
    if not most:
        return
    held: dict[str, list[State]] = {}
    for state in states:
        if state.ball and state.status != CLOSED:
            held.setdefault(key_of(state.ball, directory), []).append(state)
    for threads in held.values():
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
