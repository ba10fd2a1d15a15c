"""The threads on a board: only those that changed are read again."""

from __future__ import annotations

import os

from wc_cli.ledger.clock import now_ms
from wc_cli.run.board import cards as card_views
from wc_core.attention.status import pins
from wc_core.base.errors import NotFoundError, WcError
from wc_core.edits.claims import book as books
from wc_core.edits.claims.record import WRITE
from wc_core.people.activity import StateFiles, turn
from wc_core.reading.views import planning, worktrees
from wc_core.reading.views import rows as row_views
from wc_core.reading.views.approvals import load_outdated
from wc_core.reading.views.overview import completed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.board.cards import Card, CardColumn, CardFilter
    from wc_cli.run.context import Context
    from wc_core.base.layout import Layout
    from wc_core.edits.claims.record import Claim
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.worktrees import Neighbour


class BoardSource:
    """A store's threads as the viewer sees them. Only reads."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.reader = context.reader
        self.viewer = context.viewer
        self.layout: Layout = self.reader.layout
        # Why the threads cannot be listed; otherwise empty.
        self.problem = ""
        self._cards: dict[str, Card] = {}
        self._fingerprints: dict[str, tuple[object, ...]] = {}
        self._files = StateFiles()
        self._work_by_topic: dict[str, str] = {}
        self._has_existed = os.path.isdir(self.layout.root)

    @property
    def travels(self) -> str:
        """A line about entries that travel with the code; usually empty."""
        standing = self.context.standing
        return standing.travels if standing is not None else ""

    @property
    def is_gone(self) -> bool:
        """Whether the store existed once and no longer does."""
        exists = os.path.isdir(self.layout.root)
        self._has_existed = self._has_existed or exists
        return self._has_existed and not exists

    def refresh(self) -> None:
        """Read the threads again whose files changed."""
        for topic in self._list_topics():
            stamp = self._fingerprint(topic)
            if self._fingerprints.get(topic) != stamp:
                self._fingerprints[topic] = stamp
                self._update_card(topic)

    def _list_topics(self) -> list[str]:
        """All topics in the store, and those that have been removed from it."""
        try:
            topics, self.problem = self.reader.topics(), ""
        except WcError as error:
            topics, self.problem = [], error.message
        return [*topics, *(self._cards.keys() - set(topics))]

    def _update_card(self, topic: str) -> None:
        card = self._read_card(topic)
        if card is None:
            self._cards.pop(topic, None)
            self._fingerprints.pop(topic, None)
        else:
            self._cards[topic] = card

    def _read_card(self, topic: str) -> Card | None:
        try:
            snapshot = self.reader.snapshot(topic)
            row = row_views.thread_row(self.reader, snapshot, self.viewer)
        except NotFoundError:
            return None
        except WcError:
            return card_views.make_card(row_views.unreadable_row(topic), None)
        return card_views.make_card(row, snapshot.state, now_ms())

    def _fingerprint(self, topic: str) -> tuple[object, ...]:
        """A fingerprint of a thread's files and of its read cursors."""
        layout = self.layout
        paths = (layout.log(topic), layout.meta(topic), layout.cursors(topic))
        stamps = [_file_stamp(path) for path in paths]
        return (*stamps, _file_stamp(layout.page(topic)) if stamps[0] is None else None)

    @property
    def folders(self) -> tuple[str, str]:
        """The folders to watch: each contains a folder per thread."""
        return self.layout.threads, f"{self.layout.local}/cursors"

    def columns(self, card_filter: CardFilter) -> tuple[CardColumn, ...]:
        """The cards that pass the filter, in columns."""
        work = self._work_by_topic
        known = list(self._cards.values())
        directory = self.context.settings.directory
        rows = planning.with_waits(
            [card.row for card in known], [card.row for card in known]
        )
        rows = completed(self.reader, rows, self.context.viewer)
        pin = pins.pin_of(self.layout, self.context.place.repository)
        used_here = pin.topic if pin.is_open else ""
        cards = (
            card._replace(
                row=row,
                work=work.get(card.topic, card.work),
                is_used_here=card.topic == used_here,
            )
            for card, row in zip(known, rows, strict=True)
        )
        return card_views.group_into_columns(cards, card_filter, directory, now_ms())

    @property
    def count(self) -> int:
        """The number of threads."""
        return len(self._cards)

    def claims(self) -> tuple[Claim, ...]:
        """The current claims."""
        repository = self.context.place.repository
        if repository is None:
            return ()
        index = books.load_index(self.layout)
        book = books.read(repository.common, index, books.no_commits)
        return tuple(
            claim
            for claim in book.claims
            if claim.mode == WRITE and book.standing(claim) == books.HELD
        )

    def approvals(self) -> tuple[OutdatedApproval, ...]:
        """Read which approved branches no longer merge."""
        return load_outdated(self.reader, now_ms())

    def neighbours(self) -> list[Neighbour]:
        """Read the state of each worktree, and note its loop on the cards of its
        threads."""
        view = worktrees.worktree_view(
            (self.context.cwd, self.context.env, now_ms()),
            self._files,
            lambda: self.context.place,
            lambda: ([card.row for card in list(self._cards.values())], ""),
        )
        self._work_by_topic = {
            row.topic: " ".join(
                filter(None, ("loop", turn(tree.loop), tree.loop["says"]))
            )
            for tree in view.neighbours
            if tree.loop
            for row in tree.threads
        }
        return view.neighbours


def _file_stamp(path: str) -> tuple[int, int, int] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns
