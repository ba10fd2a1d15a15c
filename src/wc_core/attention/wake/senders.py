"""What may wake or start an agent: `[wake]` and `[run] from` of a person's preferences,
and where an entry came from."""

from __future__ import annotations

from itertools import islice

from wc_core.base.errors import WcError
from wc_core.base.lean.contextlib import suppress
from wc_core.base.names import fold, parse
from wc_core.ledger.provenance import CARRIER, WAKE, Provenance, causes, may

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.provenance import EntryOrigin
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader, Thread
    from wc_core.people.identity.viewer import Viewer

OWN, KNOWN, ANYONE = "own", "known", "anyone"
# Threads that are searched for an earlier exchange.
_SEARCHED = 2000


def sender_of(state: State) -> str:
    """Returns who passed the ball to its holder; empty if unknown."""
    passes = (ball_pass for ball_pass in state.passes if ball_pass.to == state.ball)
    return next((ball_pass.by for ball_pass in passes), state.updated_by)


class Acquaintances:
    """With whom the viewer's side, they or another agent of the same person, has
    exchanged balls. Threads are read as far as needed, once for all senders."""

    def __init__(self, reader: StoreReader, viewer: Viewer) -> None:
        self._viewer = viewer
        self._reader = reader
        self._states = islice(_states(reader), _SEARCHED)
        self._known: set[str] = set()

    def is_known(self, sender: str, topic: str) -> bool:
        """Returns whether the sender of the ball of ``topic`` is known.

        Agents of the same person know each other and that person. So does everyone who
        has passed them a ball that they answered, or got one from them.
        """
        if _is_same_person(self._viewer, sender):
            return True
        key = self._key(sender)
        with suppress(WcError):
            self._add(self._reader.snapshot(topic).state)
        while key not in self._known:
            state = next(self._states, None)
            if state is None:
                return False
            self._add(state)
        return True

    def _add(self, state: State) -> None:
        for ball_pass in state.passes:
            if _is_same_person(self._viewer, ball_pass.by):
                self._known.add(self._key(ball_pass.to))

    def _key(self, name: str) -> str:
        return self._viewer.directory.key(parse(name))


class AllowedSenders:
    """Whose balls wake or start the viewer: ``allowed`` is `[wake] from` or `[run]
    from`. ``anyone`` says that strangers may, too."""

    def __init__(
        self, reader: StoreReader, viewer: Viewer, allowed: tuple[str, ...]
    ) -> None:
        words = {OWN, KNOWN, ANYONE}.intersection(allowed)
        self.anyone = ANYONE in words
        self._viewer = viewer
        self._has_own = OWN in words
        self._names = tuple(name for name in allowed if name not in words)
        knows = bool(words - {OWN})
        self._acquaintances = Acquaintances(reader, viewer) if knows else None

    def is_known(self, sender: str, topic: str) -> bool:
        """Returns whether the sender of the ball of ``topic`` is one of those named, or
        known, or the same person, as allowed."""
        name, directory = parse(sender), self._viewer.directory
        if any(directory.matches(pattern, name) for pattern in self._names):
            return True
        if self._has_own and _is_same_person(self._viewer, sender):
            return True
        acquaintances = self._acquaintances
        return acquaintances is not None and acquaintances.is_known(sender, topic)


# What `Waking.verdict` says.
KNOWN_SENDER, STRANGER, NO_ONE = "known", "stranger", ""


class Waking:
    """What may wake the viewer's sessions here. ``allowed`` is `[wake] from`."""

    def __init__(
        self, reader: StoreReader, viewer: Viewer, allowed: tuple[str, ...]
    ) -> None:
        self._provenance = Provenance(reader.layout)
        self._senders = AllowedSenders(reader, viewer, allowed)

    def verdict(self, thread: Thread, question: str = "") -> str:
        """Return whether the ball of a thread, or the question with this id, may wake a
        session: ``known``, or ``stranger`` if only because anyone may; empty if it may
        not.

        What counts is the log, because ``meta.json`` can be pushed.
        """
        state = thread.state
        if not question and self._may(self._provenance.of_ball(thread)):
            return KNOWN_SENDER
        since = question or state.since
        verdicts = {
            self._of_entry(thread, entry.id, entry.agent)
            for entry in causes(thread, since)
        }
        if not since:  # by another tool, without an entry
            verdicts.add(self._of_entry(thread, "", sender_of(state)))
        order = (NO_ONE, STRANGER, KNOWN_SENDER)
        return next((verdict for verdict in order if verdict in verdicts), NO_ONE)

    def _may(self, origin: EntryOrigin, *, is_named: bool = False) -> bool:
        return may(WAKE, origin, lambda: is_named)

    def _of_entry(self, thread: Thread, entry_id: str, author: str) -> str:
        origin = self._provenance.of(thread, entry_id)
        if origin.kind == CARRIER:
            # Names in a carrier prove nothing at all.
            return KNOWN_SENDER if self._may(origin) else NO_ONE
        allowed = self._senders
        is_known = allowed.is_known(author, thread.state.topic)
        if self._may(origin, is_named=is_known):
            return KNOWN_SENDER
        return STRANGER if self._may(origin, is_named=allowed.anyone) else NO_ONE


def _is_same_person(viewer: Viewer, name: str) -> bool:
    """Returns whether ``name`` is the viewer, another agent of the same person, or that
    person: a name without a tag is a person's own."""
    if viewer.is_me(name):
        return True
    parts, tag = parse(name), fold(viewer.identity.name.tag)
    if parts.tag:
        return fold(parts.tag) == tag
    person = fold(viewer.identity.behind)
    return person != "" and not parts.seat and fold(parts.agent) == person


def _states(reader: StoreReader) -> Iterator[State]:
    """Yields the states of all threads that can be read."""
    for topic in reader.topics():
        try:
            yield reader.snapshot(topic).state
        except WcError:
            continue
