"""A board as lines of text: which columns and cards are visible, and their styles.

Pure. The caller maps each style to colours.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_cli.run.terminal.render import tag_words
from wc_cli.run.widths import cut_to_width, left_to_right, width_of
from wc_core.base import names
from wc_core.base.names import Directory
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.reading.views import agentgroups
from wc_core.reading.views.drawing.badges import badge_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.run.board.cards import Card, CardColumn

# The limits of a column's width; on a narrower screen it is narrower.
_NARROWEST, _WIDEST = 26, 52
HEAD, CARD = 2, 4
# The styles of a piece of text.
PLAIN, DIM, NAME, YOURS, BOLD, NEW, WARNING, SELECTED = (
    *("plain", "dim", "name", "mine", "bold", "new", "warning", "selected"),
)
# The prefix of a style for an agent's name; the number of its colour follows, one of a
# terminal's 256.
AGENT = "agent "


class BoardSigns(NamedTuple):
    """The symbols of a board."""

    bar: str
    rule: str
    forked: str
    damaged: str
    more_left: str
    more_right: str
    dot: str
    used_here: str


UNICODE = BoardSigns("▌", "─", "⑂", "⚠", "◂", "▸", "·", "◆")
ASCII = BoardSigns(">", "-", "Y", "!", "<", ">", "-", "*")


class Board(NamedTuple):
    """Columns, the chosen card, and the scroll positions.

    ``column`` is the index of the chosen column, and ``rows`` the index of the chosen
    card in each column, by its key. ``first_column`` is the first visible column
    besides the viewer's own, which is always visible if two fit. ``tops`` has the first
    visible card of each.
    """

    columns: tuple[CardColumn, ...] = ()
    column: int = 0
    rows: Mapping[str, int] = MappingProxyType({})
    first_column: int = 0
    tops: Mapping[str, int] = MappingProxyType({})

    @property
    def chosen(self) -> Card | None:
        """The chosen card; ``None`` if the chosen column is empty."""
        if not self.columns:
            return None
        column = self.columns[self.column]
        return column.cards[self.row(column)] if column.cards else None

    def row(self, column: CardColumn) -> int:
        """The index of the chosen card of a column."""
        return max(0, min(self.rows.get(column.key, 0), len(column.cards) - 1))

    def moved(self, right: int, down: int) -> Board:
        """The board with another card chosen, this many columns and cards away."""
        if not self.columns:
            return self
        position = max(0, min(self.column + right, len(self.columns) - 1))
        column = self.columns[position]
        row = max(0, min(self.row(column) + down, len(column.cards) - 1))
        return self._replace(column=position, rows={**self.rows, column.key: row})

    def with_chosen(self, topic: str) -> Board:
        """The board with this thread's card chosen, if it has one."""
        for position, column in enumerate(self.columns):
            for row, card in enumerate(column.cards):
                if card.topic == topic:
                    rows = {**self.rows, column.key: row}
                    return self._replace(column=position, rows=rows)
        return self

    def with_columns(self, columns: tuple[CardColumn, ...]) -> Board:
        """The board with new columns. The same thread stays chosen, wherever it moved.
        If it is gone, a column that has cards is chosen, if there is any."""
        chosen, old_column = self.chosen, self.columns[self.column : self.column + 1]
        keys = [column.key for column in columns]
        position = min(self.column, max(0, len(columns) - 1))
        if old_column and old_column[0].key in keys:
            position = keys.index(old_column[0].key)
        board = self._replace(columns=columns, column=position)
        if chosen is not None:
            board = board.with_chosen(chosen.topic)
        if board.chosen is None:
            filled = (i for i, column in enumerate(columns) if column.cards)
            board = board._replace(column=next(filled, position))
        return board


class Size(NamedTuple):
    """How many columns fit side by side, their width, and how many cards fit in one."""

    columns: int
    width: int
    cards: int


def layout_size(board: Board, width: int, height: int) -> Size:
    """The layout of a board on a screen of this size."""
    count = max(1, min(len(board.columns), (width + 1) // (_NARROWEST + 1)))
    column_width = max(1, min(_WIDEST, (width + 1) // count - 1))
    return Size(count, column_width, max(1, (height - HEAD + 1) // CARD))


def _pinned_count(board: Board, size: Size) -> int:
    """How many columns at the left do not scroll: the viewer's own, if there are
    others."""
    return int(size.columns > 1 and board.columns[0].is_yours)


def visible_columns(board: Board, size: Size) -> tuple[int, ...]:
    """The indexes of the visible columns, from left to right."""
    pinned = _pinned_count(board, size)
    first = max(board.first_column, pinned)
    end = min(len(board.columns), first + size.columns - pinned)
    return (*range(pinned), *range(first, end))


def scroll_to_chosen(board: Board, size: Size) -> Board:
    """The board, scrolled just far enough to show the chosen card."""
    pinned = _pinned_count(board, size)
    room = size.columns - pinned
    first_column = max(pinned, min(board.first_column, len(board.columns) - room))
    if board.column >= pinned:
        first_column = min(first_column, board.column)
        first_column = max(first_column, board.column - room + 1)
    tops = {}
    for column in board.columns:
        row = board.row(column)
        bottom = max(0, len(column.cards) - size.cards)
        top = min(board.tops.get(column.key, 0), row, bottom)
        tops[column.key] = max(top, row - size.cards + 1)
    return board._replace(first_column=first_column, tops=tops)


def card_at(board: Board, size: Size, x: int, y: int) -> tuple[int, int] | None:
    """The indexes of the column and the card at a screen position."""
    visible = visible_columns(board, size)
    place = x // (size.width + 1)
    if y < HEAD or place >= len(visible):
        return None
    position = visible[place]
    column = board.columns[position]
    row = board.tops.get(column.key, 0) + (y - HEAD) // CARD
    return (position, row) if row < len(column.cards) else None


class Painter(NamedTuple):
    """Draws a board that is scrolled to its chosen card. Ages are as of ``now_ms``."""

    board: Board
    size: Size
    now_ms: int
    signs: BoardSigns = UNICODE
    # Whether the chosen card is highlighted.
    marking: bool = True
    directory: Directory = Directory()

    def line(self, y: int) -> Iterator[tuple[str, str]]:
        """The pieces of a line, each with its style."""
        for place, position in enumerate(visible_columns(self.board, self.size)):
            if place:
                yield " ", PLAIN
            yield from self._cell(position, y)

    def _cell(self, position: int, y: int) -> Iterator[tuple[str, str]]:
        column = self.board.columns[position]
        if y == 0:
            yield from self._head(position)
        elif y < HEAD:
            yield from self._rule(column)
        else:
            number, part = divmod(y - HEAD, CARD)
            row = self.board.tops.get(column.key, 0) + number
            if number < self.size.cards and row < len(column.cards):
                yield from self._card(position, row, part)
            elif y == HEAD and not column.cards:
                yield self._fit("  nothing here"), DIM
            else:
                yield " " * self.size.width, PLAIN

    def _rule(self, column: CardColumn) -> Iterator[tuple[str, str]]:
        """The line below a column's name, with how many threads are folded away."""
        text = ""
        if column.folded:
            text = f"{self.signs.rule} {agentgroups.folded_text(column.folded)} "
        text = cut_to_width(text, self.size.width)
        yield text + self.signs.rule * (self.size.width - width_of(text)), DIM

    def _head(self, position: int) -> Iterator[tuple[str, str]]:
        board, column = self.board, self.board.columns[position]
        count = str(len(column.cards))
        is_chosen = self.marking and position == board.column
        if is_chosen and column.cards:
            count = f"{board.row(column) + 1}/{count}"
        visible = visible_columns(board, self.size)
        pinned = _pinned_count(board, self.size)
        before = after = ""
        if position == visible[pinned : pinned + 1][0] and position > pinned:
            before = f"{self.signs.more_left} "
        if position == visible[-1] and position < len(board.columns) - 1:
            after = f" {self.signs.more_right}"
        room = self.size.width - len(before) - len(after) - len(count) - 1
        name = cut_to_width(column.name, max(0, room))
        yield before, DIM
        yield left_to_right(name), self._name_style(column)
        yield " " * max(0, room - width_of(name)), PLAIN
        yield f" {count}", DIM
        yield after, DIM

    def _name_style(self, column: CardColumn) -> str:
        if column.agent:
            return self._agent_style(column.agent)
        return YOURS if column.is_yours else NAME

    def _agent_style(self, holder: str) -> str:
        return f"{AGENT}{badge_of(holder, self.directory).terminal}"

    def _card(self, position: int, row: int, part: int) -> Iterator[tuple[str, str]]:
        board = self.board
        column = board.columns[position]
        card = column.cards[row]
        is_chosen = (
            self.marking and position == board.column and row == board.row(column)
        )
        bar = self.signs.bar if is_chosen else " "
        if part == CARD - 1:
            yield " " * self.size.width, PLAIN
            return
        yield bar, YOURS if is_chosen else PLAIN
        room = self.size.width - 1
        if part == 0:
            yield from self._topic(card, column, room, is_chosen=is_chosen)
        elif part == 1:
            title = " ".join([one_line(card.row.title), *tag_words(card.row.tags)])
            yield _fit(title, room), PLAIN
        else:
            yield from self._facts(card, room)

    def _topic(
        self, card: Card, column: CardColumn, room: int, *, is_chosen: bool
    ) -> Iterator[tuple[str, str]]:
        row = card.row
        new = f" +{row.new_for_you}" if row.new_for_you else ""
        used = f" {self.signs.used_here}" if card.is_used_here else ""
        marks = f" {self.signs.forked}" if row.forked else ""
        marks += f" {self.signs.damaged}" if row.damaged else ""
        room = max(0, room - width_of(new + used + marks))
        topic = cut_to_width(one_line(row.name), room) if room else ""
        style = SELECTED if is_chosen else YOURS if column.is_yours else BOLD
        yield left_to_right(topic), style
        yield from self._holder(card, column, room - width_of(topic))
        yield new, NEW
        yield used, YOURS
        yield marks, WARNING

    def _holder(
        self, card: Card, column: CardColumn, room: int
    ) -> Iterator[tuple[str, str]]:
        """The holder's seat and tag, after the name of the agent in a column of several
        agents, padded to a width."""
        name = names.parse(card.row.ball or "")
        is_yours = column.is_yours and card.row.have_ball
        agent = "" if column.agent or is_yours else name.agent
        seat = f"@{one_line(name.seat)}" if name.seat else ""
        is_own = names.fold(name.tag) == names.fold(card.row.own_tag)
        tag = f"({one_line(name.tag)})" if name.tag and not is_own else ""
        agent_style = self._agent_style(name.agent) if agent else PLAIN
        chips = ((one_line(agent), agent_style), (seat, DIM), (tag, DIM))
        for text, style in chips:
            if text and room > 1:
                shown = cut_to_width(text, room - 1)
                yield " ", PLAIN
                yield left_to_right(shown), style
                room -= width_of(shown) + 1
        yield " " * max(0, room), PLAIN

    def _facts(self, card: Card, room: int) -> Iterator[tuple[str, str]]:
        age = cut_to_width(card.age(self.now_ms), room)
        yield age, WARNING if card.is_stale(self.now_ms) else DIM
        status = one_line(card.row.status_text)
        status = "" if status == "OPEN" else status
        waits = one_line(card.row.waits_text)
        question = one_line(card.row.asked_text)
        passed = one_line(card.row.passed_text(self.now_ms))
        way = one_line(card.row.way_text)
        about = (question, waits, passed, status, way)
        parts = (*about, str(card.row.checklist), card.work)
        facts = (fact for fact in parts if fact)
        facts_text = "".join(f" {self.signs.dot} {fact}" for fact in facts)
        yield _fit(facts_text, max(0, room - width_of(age))), DIM

    def _fit(self, text: str) -> str:
        return _fit(text, self.size.width)


def _fit(text: str, width: int) -> str:
    """The text, cut or padded to this many terminal columns."""
    if width < 1:
        return ""
    if width_of(text) > width:
        text = cut_to_width(text, width)
    return left_to_right(text) + " " * max(0, width - width_of(text))
