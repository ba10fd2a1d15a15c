"""The threads a board shows, kept: what changed is read again, and no more."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from wc_cli.board import cards as boardcards
from wc_cli.clock import now_ms
from wc_core.activity import presence
from wc_core.activity.statefile import StateFiles
from wc_core.errors import NotFoundError, WcError
from wc_core.layout import Layout, topic_of
from wc_core.views import rows as views
from wc_core.views import worktrees as neighbours

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.board.cards import Card, CardColumn, CardFilter
    from wc_cli.context import Context
    from wc_core.activity.presence import Note
    from wc_core.views.worktrees import Neighbour, WorktreeQuery


class BoardSource:
    """The store of a context as whoever looks sees it. Reads and never
    writes. One thread at a time may refresh it while another asks for its
    columns."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reader = context.reader
        self.viewer = context.viewer
        self.layout: Layout = self.reader.layout
        # Why the threads cannot be listed; empty where they can.
        self.problem = ""
        self._cards: dict[str, Card] = {}
        self._stamps: dict[str, tuple[object, ...]] = {}
        self._files = StateFiles()
        self._work: dict[str, str] = {}
        self._seen = os.path.isdir(self.layout.root)

    @property
    def is_gone(self) -> bool:
        """Whether there was a store, and is none any more."""
        there = os.path.isdir(self.layout.root)
        self._seen = self._seen or there
        return self._seen and not there

    def refresh(self, topics: Iterable[str] | None = None) -> bool:
        """Read these threads again, or (None) look at the files of all and read
        those that changed; whether any card is another one now."""
        named = topics is not None
        if topics is None:
            topics = self._listed()
        changed = False
        for topic in topics:
            stamp = self._stamp(topic)
            if not named and self._stamps.get(topic) == stamp:
                continue
            self._stamps[topic] = stamp
            changed = self._read(topic) or changed
        return changed

    def _listed(self) -> list[str]:
        """Every thread there is or was."""
        try:
            topics, self.problem = self.reader.topics(), ""
        except WcError as error:
            topics, self.problem = [], error.message
        return [*topics, *(self._cards.keys() - set(topics))]

    def _read(self, topic: str) -> bool:
        before, found = self._cards.get(topic), self._card(topic)
        if found is None:
            self._cards.pop(topic, None)
            self._stamps.pop(topic, None)
        else:
            self._cards[topic] = found
        return found != before

    def _card(self, topic: str) -> Card | None:
        try:
            snapshot = self.reader.snapshot(topic)
            row = views.thread_row(self.reader, snapshot, self.viewer)
        except NotFoundError:
            return None
        except WcError:
            return boardcards.card(views.unreadable_row(topic), None)
        return boardcards.card(row, snapshot.state)

    def _stamp(self, topic: str) -> tuple[object, ...]:
        """What tells that a thread's files, or who read it, are others."""
        layout = self.layout
        paths = (layout.log(topic), layout.meta(topic), layout.cursors(topic))
        found = [_stamp(one) for one in paths]
        return (*found, _stamp(layout.page(topic)) if found[0] is None else None)

    def topic_at(self, path: str) -> str | None:
        """The thread that a file is of; ``None`` for one of all or none."""
        for folder in self.folders:
            if path.startswith(f"{folder}/"):
                name = path[len(folder) + 1 :].partition("/")[0]
                return topic_of(name)
        return None

    @property
    def folders(self) -> tuple[str, str]:
        """The folders in which threads change, with one folder for each."""
        return self.layout.threads, f"{self.layout.local}/cursors"

    def columns(self, wanted: CardFilter) -> tuple[CardColumn, ...]:
        """The cards in columns."""
        work = self._work
        cards = (
            one._replace(work=work[one.topic]) if one.topic in work else one
            for one in list(self._cards.values())
        )
        directory = self.context.settings.directory
        return boardcards.columns(cards, wanted, directory, now_ms())

    @property
    def count(self) -> int:
        """How many threads there are."""
        return len(self._cards)

    def neighbours(self) -> tuple[WorktreeQuery, list[Neighbour]]:
        """What goes on in each worktree now; the cards of its threads say so
        from then on."""
        now, place = now_ms(), self.context.place
        look = neighbours.worktree_query(place, self.context.cwd, self.context.env, now)
        rows = [one.row for one in list(self._cards.values())]
        notes: list[Note] = []
        with contextlib.suppress(WcError):  # doctor says what is in their place
            notes = presence.notes(self.layout, now)
        found = neighbours.neighbours(look, self._files, rows, notes)
        self._work = {
            row.topic: f"loop {one.loop.turn} {one.loop.says}".replace("  ", " ")
            for one in found
            if one.loop is not None
            for row in one.threads
        }
        return look, found


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns
