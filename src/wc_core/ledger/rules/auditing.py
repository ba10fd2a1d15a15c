"""Which threads currently violate the rules of a repository."""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.errors import WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.rules import closing, titles
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.base.names import Directory
    from wc_core.ledger.configuration.keys import Rules
    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.reader import StoreReader


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
        if not titles.fits(state.title, rules.title):
            yield Violation("rules.title", state.name, f"its title is {state.title!r}")
        if state.status == CLOSED:
            if closing.is_asked(rules):
                evidence = closing.evidence_of(entries, state)
                for lack in closing.lacks(evidence, rules):
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
