"""Who has which balls and who is asked what, from the cache as far as it counts, else
from the threads.

A ball and a question have a name by which files and sessions remember them:
``<since>.<topic>``, where ``<since>`` is the ULID of the entry that passed or asked it,
so names sort by how long it has been there. A holder is known by the name of a
*folder*: the key of the holder (`Directory.key`), made `layout.safe_name`, or
`FREE_FOLDER`.
"""

from __future__ import annotations

import os
from itertools import islice

from wc_core.attention.status.newcounts import NewCounts
from wc_core.attention.status.places import places_of
from wc_core.base import ulid
from wc_core.base.errors import WcError
from wc_core.base.layout import key_of, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.index.cache import UnusableCacheError
from wc_core.ledger.index.fields import UNKNOWN_ID, fields_of, since_of, state_of
from wc_core.ledger.index.freshness import CacheState, freshness
from wc_core.ledger.planning.nextmoves import QUESTION, next_moves
from wc_core.ledger.threads.model import CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any, TypeVar

    from wc_core.attention.status.places import Surroundings
    from wc_core.base.names import Directory
    from wc_core.ledger.index.fields import ThreadFields
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.ledger.threads.snapshot import Snapshot
    from wc_core.people.identity.viewer import Viewer

    Answer = TypeVar("Answer")

FREE_FOLDER = "=free"
_OPEN = f"status != '{CLOSED}'"
# Each ball once, without reading every thread.
_HOLDERS = (
    f"WITH RECURSIVE held(ball) AS (SELECT min(ball) FROM threads WHERE {_OPEN} "
    f"UNION ALL SELECT (SELECT min(ball) FROM threads WHERE {_OPEN} AND "
    "ball > held.ball) FROM held WHERE held.ball IS NOT NULL) "
    "SELECT ball FROM held WHERE ball IS NOT NULL"
)
_HELD = f"WHERE ball IS ? AND {_OPEN}"
# Few columns, which an index has: someone may have thousands of balls.
_NAME = "topic, since, status"
# How many threads are looked up together; often the first ones are enough.
_AT_ONCE = 50


class HeldBall(NamedTuple):
    """A ball or a question: the folder of who has it or is asked, and its name."""

    folder: str
    name: str

    @property
    def since(self) -> str:
        """The ULID of the entry that passed it; zeros if none did."""
        return self.name[: ulid.LENGTH]

    @property
    def topic(self) -> str:
        """Its thread; empty if the name does not contain it."""
        return key_of(self.name[ulid.LENGTH + 1 :])

    @property
    def is_free(self) -> bool:
        """Whether no one holds it."""
        return self.folder == FREE_FOLDER


class BallStatus(NamedTuple):
    """A ball as a viewer sees it: the status of its thread, the number of entries that
    are NEW for them, and whether they wrote in it or have read it."""

    held: HeldBall
    status: str
    new: int
    takes_part: bool


def folders_of(viewer: Viewer) -> tuple[str, ...]:
    """Returns the folders of the balls that are the viewer's or offered to them."""
    keys = viewer.directory.match_keys(viewer.identity.name)
    return tuple(safe_name(key) for key in keys)


def own_folders_of(viewer: Viewer) -> tuple[str, ...]:
    """Returns the folders of balls that are the viewer's, not only offered to them
    (`Directory.whose`)."""
    keys = viewer.directory.own_keys(viewer.identity.name)
    return tuple(safe_name(key) for key in keys)


def ball_name(topic: str, since: str) -> str:
    """Returns the name of a ball or question, by the id of its entry."""
    return f"{ulid.prefix(since) or UNKNOWN_ID}.{safe_name(topic)}"


def name_of(state: State) -> str:
    """Returns the name of the ball of a thread."""
    return ball_name(state.topic, since_of(state))


def folder_of(ball: str | None, directory: Directory) -> str:
    """Returns the folder of a holder, as threads name them."""
    if not (ball and ball.strip()):
        return FREE_FOLDER
    return safe_name(directory.key(parse(ball)))


def _never() -> bool:
    return False


class Balls:
    """The balls and questions of a store's open threads at one moment. A thread that
    waits for others has none, but its questions count. Methods may raise StorageError
    and CorruptError; threads that cannot be read are left out."""

    def __init__(self, reader: StoreReader, directory: Directory) -> None:
        self.reader = reader
        self.directory = directory
        self._freshness: CacheState | None = None
        self._late: Callable[[], bool] = _never
        self._is_whole = True
        # The open threads that are read from their files.
        self._direct: list[Snapshot] = []
        self._waits: dict[str, tuple[str, ...]] = {}
        self._balls_of: dict[str, list[str]] = {}
        # Kept: many threads have the same few balls.
        self._folders: dict[str | None, str] = {}

    def look(self, late: Callable[[], bool] = _never) -> bool:
        """Reads what every question needs, unless that was done: the threads that the
        cache lacks, as long as it is not ``late``. Returns whether these were all of
        them; the answers know nothing of the others."""
        if self._freshness is None:
            self._late = late
            fresh = freshness(self.reader)
            try:
                self._look(fresh)
            except UnusableCacheError:
                self._look_without_cache()
        return self._is_whole

    @property
    def freshness(self) -> CacheState:
        """What the cache can answer for, as of the first question."""
        self.look()
        return self._freshness  # type: ignore[return-value]

    def _look_without_cache(self) -> None:
        self._look(CacheState(None, self.reader.topics()))

    def _look(self, fresh: CacheState) -> None:
        known: list[Snapshot] = []
        direct, is_late = [*fresh.direct], self._late
        for count, topic in enumerate(direct):
            if is_late():
                unread = fresh.gone.union(direct[count:])
                fresh = fresh._replace(direct=direct[:count], gone=unread)
                self._is_whole = False
                break
            with contextlib.suppress(WcError):  # wc doctor reports why
                known.append(self.reader.snapshot(topic))
        cache = fresh.cache
        is_planned = any(
            snapshot.state.links or snapshot.state.gates for snapshot in known
        ) or (
            cache is not None
            and bool(cache.ask("SELECT 1 FROM threads WHERE planned LIMIT 1"))
        )
        if is_planned:
            # 1 ms, for stores with a plan
            from wc_core.ledger.planning import plans

            states = {snapshot.topic: snapshot.state for snapshot in known}
            self._waits = plans.waiting(plans.plan_of(self.reader, states, fresh))
        self._balls_of = {}
        for (ball,) in cache.ask(_HOLDERS) if cache is not None else ():
            self._balls_of.setdefault(self._folder(ball), []).append(ball)
        self._direct = [
            snapshot for snapshot in known if snapshot.state.status != CLOSED
        ]
        self._freshness = fresh

    def _ask(self, query: Callable[[], Answer]) -> Answer:
        """Returns the answer of a query; if the cache cannot give it, from the files of
        all threads."""
        self.look()
        try:
            return query()
        except UnusableCacheError:
            self._look_without_cache()
            return query()

    # --- who has which balls -------------------------------------------------

    def folders(self) -> list[str]:
        """Returns the folders of everyone who may have a ball, sorted."""
        fresh = self.freshness
        direct = (self._folder(snapshot.state.ball) for snapshot in self._direct)
        free = [FREE_FOLDER] if fresh.cache is not None else []
        return sorted({*self._balls_of, *direct, *free})

    def names(
        self,
        folders: Iterable[str],
        places: Collection[str] | None = None,
        latest: int = 0,
        earliest: int = 0,
    ) -> dict[str, list[str]]:
        """Returns the names of the balls in each of these folders, longest held first;
        with ``places``, those of the threads that are there; with ``latest``, only so
        many of each folder: those passed last; with ``earliest``, those held
        longest."""
        chosen, count = dict.fromkeys(folders), earliest or -latest

        def query() -> dict[str, list[str]]:
            return {
                folder: [name for name, _ in self._held_in(folder, places, count)]
                for folder in chosen
            }

        return self._ask(query)

    def count(self, folders: Iterable[str]) -> int:
        """Returns the number of balls in these folders."""
        chosen = {*folders}

        def query() -> int:
            topics = [
                topic
                for folder in chosen
                for ball in self._spellings(folder)
                for (topic,) in self.freshness.rows("topic", _HELD, ball)
            ]
            topics += [
                snapshot.topic
                for snapshot in self._direct
                if self._folder(snapshot.state.ball) in chosen
            ]
            return sum(topic not in self._waits for topic in topics)

        return self._ask(query)

    def held(self, folders: Iterable[str]) -> list[HeldBall]:
        """Returns the balls in these folders, longest held first."""
        return [*in_order(self.names(folders))]

    def with_status(self, folders: Iterable[str]) -> list[tuple[HeldBall, str]]:
        """Returns the balls in these folders, longest held first, each with the status
        of its thread."""
        chosen = dict.fromkeys(folders)

        def query() -> list[tuple[HeldBall, str]]:
            return [
                (HeldBall(folder, name), status)
                for folder in chosen
                for name, status in self._held_in(folder, None, 0)
            ]

        return sorted(self._ask(query), key=lambda pair: pair[0].name)

    def latest(self, count: int, without: Collection[str] = ()) -> list[HeldBall]:
        """Returns at most ``count`` of the held balls that are in none of the folders
        ``without``: those passed last, latest first."""
        return self._ends(count, without, "DESC", "")

    def earliest(
        self, count: int, before: str, without: Collection[str] = ()
    ) -> list[HeldBall]:
        """Returns at most ``count`` of the held balls that are in none of the folders
        ``without``: those held longest, and passed before the ULID ``before``."""
        return self._ends(count, without, "ASC", before)

    def changed_last(self, count: int) -> list[ThreadFields]:
        """Returns at most ``count`` open threads, also those that wait for others: by
        their last entries, latest first."""

        def query() -> list[ThreadFields]:
            skipped = len(self.freshness.outdated)
            rows = self.freshness.fields(
                f"WHERE {_OPEN} ORDER BY last_id DESC, topic DESC LIMIT ?",
                count + skipped,
            )
            return [*rows, *map(fields_of, self._direct)]

        rows = self._ask(query)
        rows.sort(key=lambda fields: (fields.last_id, fields.topic), reverse=True)
        return rows[:count]

    def changed(self, since_ns: int) -> list[HeldBall]:
        """Returns the balls of threads whose logs were written to at ``since_ns`` or
        later, nanoseconds since 1970 by the file system's clock; in the order of their
        names."""

        def query() -> list[ThreadFields]:
            rows = self._fields("WHERE changed_ns >= ?", since_ns)
            recent = (
                snapshot
                for snapshot in self._direct
                if self._changed_ns(snapshot.topic) >= since_ns
            )
            return self._moving([*rows, *map(fields_of, recent)])

        balls = map(self._ball_of, self._ask(query))
        return sorted(balls, key=lambda ball: ball.name)

    def _changed_ns(self, topic: str) -> int:
        try:
            return os.lstat(self.reader.layout.log(topic)).st_mtime_ns
        except OSError:
            return 0

    def _ball_of(self, fields: ThreadFields) -> HeldBall:
        name = f"{fields.since}.{safe_name(fields.topic)}"
        return HeldBall(self._folder(fields.ball), name)

    def at(self, places: Iterable[str]) -> dict[str, HeldBall]:
        """Returns the balls of the threads at these places, by topic; those that wait
        for others, too."""
        chosen = {*places}

        def query() -> list[ThreadFields]:
            marks = ", ".join("?" * len(chosen))
            return self._fields(
                f"WHERE number IN (SELECT thread FROM places WHERE place IN ({marks}))",
                *sorted(chosen),
            )

        rows = self._ask(query)
        rows += [
            fields_of(snapshot)
            for snapshot in self._direct
            if not chosen.isdisjoint(places_of(snapshot.state))
        ]
        return {fields.topic: self._ball_of(fields) for fields in rows}

    def of(self, topics: Iterable[str]) -> dict[str, HeldBall]:
        """Returns the balls of those of these threads that are open, by topic; those
        that wait for others, too."""
        return {fields.topic: self._ball_of(fields) for fields in self._at(topics)}

    def waits(self, topic: str) -> tuple[str, ...]:
        """Returns what an open thread waits for, in words."""
        self.look()
        return self._waits.get(topic, ())

    def asked(self, folders: Iterable[str]) -> list[HeldBall]:
        """Returns the open questions to those with these folders, oldest first; each
        has the question's entry in place of the ball's."""
        chosen = {*folders}

        def query() -> list[ThreadFields]:
            return self._fields("WHERE asked")

        states = [state_of(fields) for fields in self._ask(query)]
        states += [snapshot.state for snapshot in self._direct]
        questions = [
            HeldBall(folder, ball_name(state.topic, move.since))
            for state in states
            for move in next_moves(state)
            if move.kind == QUESTION
            if (folder := folder_of(move.participant, self.directory)) in chosen
        ]
        questions.sort(key=lambda question: question.name)
        return questions

    # --- as a viewer sees them -----------------------------------------------

    def statuses(
        self, balls: Iterable[HeldBall], viewer: Viewer
    ) -> Iterator[BallStatus]:
        """Yields the balls as ``viewer`` sees them, those whose threads are open."""
        pending, counts = iter(balls), NewCounts(self.reader, viewer)
        while held := [*islice(pending, _AT_ONCE)]:
            rows = self._at(ball.topic for ball in held)
            fields = {item.topic: item for item in rows}
            for ball in held:
                item = fields.get(ball.topic)
                if item is not None:
                    new, takes_part = counts.of(item), counts.takes_part_in(item)
                    yield BallStatus(ball, item.status, new, takes_part)

    def _at(self, topics: Iterable[str]) -> list[ThreadFields]:
        chosen = [*topics]
        marks = ", ".join("?" * len(chosen))
        rows = self._ask(lambda: self._fields(f"WHERE topic IN ({marks})", *chosen))
        return rows + [
            fields_of(snapshot) for snapshot in self._direct if snapshot.topic in chosen
        ]

    # --- queries -------------------------------------------------------------

    def _fields(self, conditions: str, *values: Any) -> list[ThreadFields]:
        return self.freshness.fields(f"{conditions} AND {_OPEN}", *values)

    def _folder(self, ball: str | None) -> str:
        if ball not in self._folders:
            self._folders[ball] = folder_of(ball, self.directory)
        return self._folders[ball]

    def _spellings(self, folder: str) -> list[str | None]:
        """The balls in the cache that are in a folder."""
        free = [None] if folder == FREE_FOLDER else []
        return [*self._balls_of.get(folder, ()), *free]

    def _held_in(
        self, folder: str, places: Collection[str] | None, count: int
    ) -> list[tuple[str, str]]:
        """The names of the balls in a folder, each with the status of its thread: the
        first ``count``, or the last if that is below 0, or all if it is 0."""
        skipped = len(self.freshness.outdated) + len(self._waits)
        limit = abs(count) + skipped if count else -1
        order = "ASC" if count > 0 else "DESC"
        condition = _HELD
        if places is not None:
            marks = ", ".join("?" * len(places))
            at_places = f"SELECT thread FROM places WHERE place IN ({marks})"
            condition = f"{condition} AND number IN ({at_places})"
        # An index has them in this order.
        condition += f" ORDER BY since {order}, topic {order} LIMIT ?"
        at = tuple(places or ())
        rows = [
            row
            for ball in self._spellings(folder)
            for row in self.freshness.rows(_NAME, condition, ball, *at, limit)
        ]
        rows += [
            (snapshot.topic, since_of(snapshot.state), snapshot.state.status)
            for snapshot in self._direct
            if self._folder(snapshot.state.ball) == folder
            if places is None or not {*at}.isdisjoint(places_of(snapshot.state))
        ]
        names = [
            (f"{since}.{safe_name(topic)}", status)
            for topic, since, status in rows
            if topic not in self._waits
        ]
        names.sort()
        return names[:count] if count > 0 else names[count:]

    def _moving(self, rows: list[ThreadFields]) -> list[ThreadFields]:
        return [item for item in rows if item.topic not in self._waits]

    def _ends(
        self, count: int, without: Collection[str], order: str, before: str
    ) -> list[HeldBall]:
        left_out = {FREE_FOLDER, *without}

        def query() -> list[tuple[str, str | None, str]]:
            own = [b for folder in left_out for b in self._balls_of.get(folder, ())]
            skipped = len(self.freshness.outdated) + len(self._waits)
            marks = ", ".join("?" * len(own))
            rows = self.freshness.rows(
                "topic, ball, since",
                f"WHERE {_OPEN} AND ball IS NOT NULL AND ball NOT IN ({marks}) "
                f"AND (? = '' OR since < ?) ORDER BY since {order}, topic {order} "
                "LIMIT ?",
                *(*own, before, before, count + skipped),
            )
            direct = (snapshot.state for snapshot in self._direct)
            return [*rows, *((s.topic, s.ball, since_of(s)) for s in direct)]

        balls = [
            HeldBall(folder, f"{since}.{safe_name(topic)}")
            for topic, ball, since in self._ask(query)
            if (not before or since < before) and topic not in self._waits
            if (folder := self._folder(ball)) not in left_out
        ]
        balls.sort(key=lambda ball: ball.name, reverse=order == "DESC")
        return balls[:count]


def seated_folders(balls: Balls, surroundings: Surroundings) -> list[str]:
    """Returns the folders of holders whose balls are where ``surroundings`` are because
    of the seat."""
    folders = dict.fromkeys(map(safe_name, surroundings.seat_keys()))
    holders = balls.folders() if surroundings.seats else []
    return surroundings.seated(folders | dict.fromkeys(holders))


def balls_here(balls: Balls, surroundings: Surroundings) -> dict[str, HeldBall]:
    """Returns the balls of the threads that are where ``surroundings`` are, by topic:
    at its places, those that wait for others, too, and because of the seat."""
    if surroundings.pinned:
        return balls.of([surroundings.pinned])
    seated = balls.held(seated_folders(balls, surroundings))
    by_topic = {ball.topic: ball for ball in seated if ball.topic}
    return by_topic | balls.at(surroundings.places)


def without(
    names: dict[str, list[str]], left_out: Collection[str]
) -> dict[str, list[str]]:
    """Returns the same names by folder, except those that are left out."""
    return {
        folder: [name for name in items if name not in left_out]
        for folder, items in names.items()
    }


def in_order(names: dict[str, list[str]]) -> Iterator[HeldBall]:
    """Yields the balls with these names by folder, longest held first. Of thousands,
    only those that are needed are made."""
    pairs = sorted((name, folder) for folder in names for name in names[folder])
    for name, folder in pairs:
        yield HeldBall(folder, name)
