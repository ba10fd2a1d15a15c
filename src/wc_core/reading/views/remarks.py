"""Open questions to the viewer, and the decisions of others."""

from __future__ import annotations

import os

from wc_core.attention.status.balls import folders_of
from wc_core.base.errors import WcError
from wc_core.base.times import rfc3339
from wc_core.base.ulid import RANDOM_BITS, encode, prefix, timestamp_ms
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.fields import UNKNOWN_ID
from wc_core.ledger.threads.model import CLOSED, DECISION
from wc_core.ledger.threads.revisions import revisions
from wc_core.ledger.threads.ways import way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from wc_core.attention.status.balls import Balls, HeldBall
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

# The most new decisions in a brief.
_MOST_DECISIONS = 6
_DECIDED = (
    "SELECT topic, max(entries.id) FROM entries JOIN threads "
    "ON threads.number = entries.thread "
    "WHERE kind != '' AND kind = ? AND entries.id >= ? "
    "GROUP BY topic ORDER BY 2 DESC"
)


class AskedQuestion(NamedTuple):
    """An open question to the viewer. ``topic`` is the name of its thread, ``id`` that
    of its entry, and ``at_ms`` when it was asked, ``None`` if unknown. ``via`` is the
    branch by which it came, if not with the others."""

    topic: str
    id: str
    asker: str
    title: str
    at_ms: int | None = None
    via: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the question shape."""
        return {
            "topic": self.topic,
            "id": self.id,
            "asker": self.asker,
            "title": self.title,
            "at": None if self.at_ms is None else rfc3339(self.at_ms),
            **({"via": self.via} if self.via else {}),
        }


class QuestionSection(NamedTuple):
    """Some of the open questions to the viewer, oldest first, and their total."""

    items: tuple[AskedQuestion, ...] = ()
    total: int = 0

    def to_json(self) -> dict[str, Any]:
        """Returns the questions, and their total if some are left out."""
        hidden = self.total > len(self.items)
        questions = [question.to_json() for question in self.items]
        count = {"question_count": self.total} if hidden else {}
        return {"questions": questions, **count}


def questions_to(balls: Balls, viewer: Viewer, limit: int) -> QuestionSection:
    """Returns at most ``limit`` open questions to the viewer. Only their threads are
    read."""
    listed = balls.asked(folders_of(viewer))
    items: list[AskedQuestion] = []
    vanished = 0
    for held in listed:
        if len(items) == limit:
            break
        question = asked_question(balls.reader, viewer, held)
        if question is None:
            vanished += 1
        else:
            items.append(question)
    return QuestionSection(tuple(items), len(listed) - vanished)


def asked_question(
    reader: StoreReader, viewer: Viewer, held: HeldBall
) -> AskedQuestion | None:
    """Returns the open question that `Balls.asked` found; ``None`` if it was answered
    in the meantime, or cannot be read."""
    try:
        snapshot = reader.snapshot(held.topic)
    except WcError:
        return None
    if snapshot.state.status == CLOSED:
        return None
    for question in snapshot.state.questions:
        ulid = prefix(question.id)
        if (ulid or UNKNOWN_ID) == held.since and viewer.holds(question.asked):
            at_ms = timestamp_ms(ulid) if ulid else None
            texts = (question.id, question.asker, question.title)
            via = way(reader.layout, question.id)
            return AskedQuestion(snapshot.name, *texts, at_ms, via)
    return None


class NewDecision(NamedTuple):
    """Someone else's decision: ``topic`` is the name of its thread, ``id`` that of its
    entry, ``at_ms`` when it was made, ``via`` the branch by which it came."""

    topic: str
    id: str
    author: str
    title: str
    at_ms: int
    via: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the decision shape."""
        return {
            "topic": self.topic,
            "id": self.id,
            "author": self.author,
            "title": self.title,
            "at": rfc3339(self.at_ms),
            **({"via": self.via} if self.via else {}),
        }


def decisions_since(
    balls: Balls, viewer: Viewer, since_ms: int, late: Callable[[], bool]
) -> tuple[NewDecision, ...]:
    """Returns what others decided since then, with the latest text, latest first;
    without retracted decisions. Reads the logs that were written since; with an index,
    those of them that may have such a decision."""
    decided, reader = list[NewDecision](), balls.reader
    for topic, latest_id in _may_have_decided(balls, since_ms):
        is_full = len(decided) == _MOST_DECISIONS
        if late() or (is_full and "" < latest_id < decided[-1].id):
            break
        if _is_written_since(reader, topic, since_ms):
            decided += _decisions(reader, viewer, topic, since_ms)
            decided.sort(key=lambda decision: decision.id, reverse=True)
            del decided[_MOST_DECISIONS:]
    return tuple(decided)


def _may_have_decided(balls: Balls, since_ms: int) -> Iterable[tuple[str, str]]:
    """Returns the threads that may have a decision since then, each with the id of its
    latest one, empty if that is unknown: these first, then the latest."""
    floor = encode(max(0, since_ms) << RANDOM_BITS)
    fresh = balls.freshness
    cache, outdated = fresh.cache, fresh.outdated
    try:
        rows = cache.ask(_DECIDED, DECISION, floor) if cache is not None else []
    except UnusableCacheError:
        return ((topic, "") for topic in balls.reader.topics())
    unknown = ((topic, "") for topic in fresh.direct)
    return (*unknown, *((topic, last) for topic, last in rows if topic not in outdated))


def _is_written_since(reader: StoreReader, topic: str, since_ms: int) -> bool:
    try:
        log = reader.layout.log(topic)
        return os.lstat(log).st_mtime_ns // 1_000_000 >= since_ms
    except (OSError, WcError):
        return False


def _decisions(
    reader: StoreReader, viewer: Viewer, topic: str, since_ms: int
) -> Iterator[NewDecision]:
    try:
        thread = reader.thread(topic)
    except WcError:
        return
    for revision in revisions(thread.entries):
        entry = revision.entry
        if revision.retracted or entry.any_kind != DECISION:
            continue
        own_id = prefix(entry.id)
        at_ms = timestamp_ms(own_id) if own_id else 0
        if at_ms >= since_ms and not viewer.is_me(entry.agent):
            texts = (entry.id, entry.agent, entry.title)
            yield NewDecision(thread.name, *texts, at_ms, entry.via)
