"""A board as lines of text: which columns and cards are in sight, and how they
look. Pure; who shows them gives each style its colours.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.terminal.render import cut_to_width, left_to_right, width_of
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.board.cards import Card, CardColumn

# A column is never narrower, unless the screen is, nor wider.
_NARROWEST, _WIDEST = 26, 52
HEAD, CARD = 2, 4
# The styles of a piece of text.
PLAIN, DIM, NAME, MINE, BOLD, NEW, WARNING, SELECTED = (
    *("plain", "dim", "name", "mine", "bold", "new", "warning", "selected"),
)


class BoardSigns(NamedTuple):
    """The signs of a board."""

    bar: str
    rule: str
    forked: str
    damaged: str
    left: str
    right: str
    dot: str


DRAWN = BoardSigns("▌", "─", "⑂", "⚠", "◂", "▸", "·")
ASCII = BoardSigns(">", "-", "Y", "!", "<", ">", "-")


class Board(NamedTuple):
    """Columns, the card that is chosen, and how far they are scrolled.

    ``column`` is the position of the chosen one, ``rows`` the chosen card of
    each column by its key, ``left`` the first column in sight and ``tops``
    the first card in sight of each.
    """

    columns: tuple[CardColumn, ...] = ()
    column: int = 0
    rows: Mapping[str, int] = MappingProxyType({})
    left: int = 0
    tops: Mapping[str, int] = MappingProxyType({})

    @property
    def chosen(self) -> Card | None:
        """The chosen card; ``None`` in a column without any."""
        if not self.columns:
            return None
        column = self.columns[self.column]
        return column.cards[self.row(column)] if column.cards else None

    def row(self, column: CardColumn) -> int:
        """The position of the chosen card of a column."""
        return max(0, min(self.rows.get(column.key, 0), len(column.cards) - 1))

    def moved(self, right: int, down: int) -> Board:
        """With the card chosen that is so many columns and cards further."""
        if not self.columns:
            return self
        place = max(0, min(self.column + right, len(self.columns) - 1))
        column = self.columns[place]
        row = max(0, min(self.row(column) + down, len(column.cards) - 1))
        return self._replace(column=place, rows={**self.rows, column.key: row})

    def chose(self, topic: str) -> Board:
        """With the card of a thread chosen, where it is there."""
        for place, column in enumerate(self.columns):
            for row, card in enumerate(column.cards):
                if card.topic == topic:
                    rows = {**self.rows, column.key: row}
                    return self._replace(column=place, rows=rows)
        return self

    def renewed(self, columns: tuple[CardColumn, ...]) -> Board:
        """With other columns; the chosen thread stays it wherever it went."""
        chosen, here = self.chosen, self.columns[self.column : self.column + 1]
        keys = [one.key for one in columns]
        place = min(self.column, max(0, len(columns) - 1))
        if here and here[0].key in keys:
            place = keys.index(here[0].key)
        board = self._replace(columns=columns, column=place)
        return board if chosen is None else board.chose(chosen.topic)


class Size(NamedTuple):
    """How many columns stand beside each other, how wide each is, and how many
    cards fit below each other."""

    columns: int
    width: int
    cards: int


def size_of(board: Board, width: int, height: int) -> Size:
    """The measures of a board on a screen."""
    count = max(1, min(len(board.columns), (width + 1) // (_NARROWEST + 1)))
    each = max(1, min(_WIDEST, (width + 1) // count - 1))
    return Size(count, each, max(1, (height - HEAD + 1) // CARD))


def scrolled(board: Board, size: Size) -> Board:
    """Scrolled as little as it takes to have the chosen card in sight."""
    last = max(0, len(board.columns) - size.columns)
    left = min(board.left, board.column, last)
    left = max(left, board.column - size.columns + 1)
    tops = {}
    for column in board.columns:
        row = board.row(column)
        bottom = max(0, len(column.cards) - size.cards)
        top = min(board.tops.get(column.key, 0), row, bottom)
        tops[column.key] = max(top, row - size.cards + 1)
    return board._replace(left=left, tops=tops)


def card_at(board: Board, size: Size, x: int, y: int) -> tuple[int, int] | None:
    """The column and the card at a place of the screen."""
    place = board.left + x // (size.width + 1)
    if y < HEAD or place >= min(len(board.columns), board.left + size.columns):
        return None
    column = board.columns[place]
    row = board.tops.get(column.key, 0) + (y - HEAD) // CARD
    return (place, row) if row < len(column.cards) else None


class Painter(NamedTuple):
    """Draws a board that is `scrolled`; ages are those at ``now_ms``."""

    board: Board
    size: Size
    now_ms: int
    signs: BoardSigns = DRAWN
    # Whether a card is marked as chosen.
    marking: bool = True

    def line(self, y: int) -> Iterator[tuple[str, str]]:
        """The pieces of a line, each with its style."""
        board, size = self.board, self.size
        for place in range(board.left, board.left + size.columns):
            if place >= len(board.columns):
                return
            if place > board.left:
                yield " ", PLAIN
            yield from self._cell(place, y)

    def _cell(self, place: int, y: int) -> Iterator[tuple[str, str]]:
        column = self.board.columns[place]
        if y == 0:
            yield from self._head(place)
        elif y < HEAD:
            yield self.signs.rule * self.size.width, DIM
        else:
            number, part = divmod(y - HEAD, CARD)
            row = self.board.tops.get(column.key, 0) + number
            if number < self.size.cards and row < len(column.cards):
                yield from self._card(place, row, part)
            elif y == HEAD and not column.cards:
                yield self._fit("  nothing waits here"), DIM
            else:
                yield " " * self.size.width, PLAIN

    def _head(self, place: int) -> Iterator[tuple[str, str]]:
        board, column = self.board, self.board.columns[place]
        count = str(len(column.cards))
        chosen = self.marking and place == board.column
        if chosen and column.cards:
            count = f"{board.row(column) + 1}/{count}"
        before = after = ""
        if place == board.left and place > 0:
            before = f"{self.signs.left} "
        last = place == board.left + self.size.columns - 1
        if last and place < len(board.columns) - 1:
            after = f" {self.signs.right}"
        room = self.size.width - len(before) - len(after) - len(count) - 1
        style = MINE if column.mine else NAME
        yield before, DIM
        yield _fit(column.name, max(0, room)), style
        yield f" {count}", DIM
        yield after, DIM

    def _card(self, place: int, row: int, part: int) -> Iterator[tuple[str, str]]:
        board = self.board
        column = board.columns[place]
        card = column.cards[row]
        chosen = self.marking and place == board.column and row == board.row(column)
        bar = self.signs.bar if chosen else " "
        if part == CARD - 1:
            yield " " * self.size.width, PLAIN
            return
        yield bar, MINE if chosen else PLAIN
        room = self.size.width - 1
        if part == 0:
            yield from self._topic(card, room, mine=column.mine, chosen=chosen)
        elif part == 1:
            yield _fit(one_line(card.row.title), room), PLAIN
        else:
            yield from self._facts(card, room)

    def _topic(
        self, card: Card, room: int, *, mine: bool, chosen: bool
    ) -> Iterator[tuple[str, str]]:
        row = card.row
        new = f" +{row.new_for_you}" if row.new_for_you else ""
        marks = f" {self.signs.forked}" if row.forked else ""
        marks += f" {self.signs.damaged}" if row.damaged else ""
        room = max(0, room - width_of(new + marks))
        style = SELECTED if chosen else MINE if mine else BOLD
        yield _fit(one_line(row.topic), room), style
        yield new, NEW
        yield marks, WARNING

    def _facts(self, card: Card, room: int) -> Iterator[tuple[str, str]]:
        age = cut_to_width(card.age(self.now_ms), room)
        yield age, WARNING if card.is_stale(self.now_ms) else DIM
        status = "" if card.row.status == "OPEN" else one_line(card.row.status)
        facts = (one for one in (status, card.work) if one)
        rest = "".join(f" {self.signs.dot} {one}" for one in facts)
        yield _fit(rest, max(0, room - width_of(age))), DIM

    def _fit(self, text: str) -> str:
        return _fit(text, self.size.width)


def _fit(text: str, width: int) -> str:
    """The text in exactly so many columns of a terminal."""
    if width < 1:
        return ""
    if width_of(text) > width:
        text = cut_to_width(text, width)
    return left_to_right(text) + " " * max(0, width - width_of(text))
