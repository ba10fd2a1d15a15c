"""A board as lines of text: the columns and cards that fit, and their styles.

Pure. The caller maps each style to colours.
"""

from __future__ import annotations

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
    from collections.abc import Iterator

    from wc_cli.run.board.cards import Card, CardColumn

# The limits of a column's width; on a narrower screen it is narrower.
_NARROWEST, _WIDEST = 26, 52
HEAD, CARD = 2, 4
# The styles of a piece of text.
PLAIN, DIM, NAME, YOURS, BOLD, NEW, WARNING = (
    *("plain", "dim", "name", "mine", "bold", "new", "warning"),
)
# The prefix of a style for an agent's name; the number of its colour follows, one of a
# terminal's 256.
AGENT = "agent "


class BoardSigns(NamedTuple):
    """The symbols of a board."""

    rule: str
    forked: str
    damaged: str
    more: str
    dot: str
    used_here: str


UNICODE = BoardSigns("─", "⑂", "⚠", "▸", "·", "◆")
ASCII = BoardSigns("-", "Y", "!", ">", "-", "*")


class Size(NamedTuple):
    """How many columns fit side by side, their width, and how many cards fit in one."""

    columns: int
    width: int
    cards: int


def layout_size(columns: int, width: int, height: int) -> Size:
    """The layout of so many columns on a screen of this size."""
    count = max(1, min(columns, (width + 1) // (_NARROWEST + 1)))
    column_width = max(1, min(_WIDEST, (width + 1) // count - 1))
    return Size(count, column_width, max(1, (height - HEAD + 1) // CARD))


class Painter(NamedTuple):
    """Draws the columns, and of each the first cards. Ages are as of ``now_ms``."""

    columns: tuple[CardColumn, ...]
    size: Size
    now_ms: int
    signs: BoardSigns = UNICODE
    directory: Directory = Directory()

    def line(self, y: int) -> Iterator[tuple[str, str]]:
        """The pieces of a line, each with its style."""
        for place, column in enumerate(self.columns[: self.size.columns]):
            if place:
                yield " ", PLAIN
            yield from self._cell(place, column, y)

    def _cell(
        self, place: int, column: CardColumn, y: int
    ) -> Iterator[tuple[str, str]]:
        if y == 0:
            yield from self._head(place, column)
        elif y < HEAD:
            yield from self._rule(column)
        else:
            row, part = divmod(y - HEAD, CARD)
            if row < min(self.size.cards, len(column.cards)):
                yield from self._card(column, column.cards[row], part)
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

    def _head(self, place: int, column: CardColumn) -> Iterator[tuple[str, str]]:
        count = str(len(column.cards))
        if len(column.cards) > self.size.cards:
            count = f"{self.size.cards}/{count}"
        is_last = place == self.size.columns - 1
        hidden = len(self.columns) - self.size.columns if is_last else 0
        after = f" {self.signs.more}{hidden}" if hidden > 0 else ""
        room = self.size.width - len(after) - len(count) - 1
        name = cut_to_width(column.name, max(0, room))
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

    def _card(
        self, column: CardColumn, card: Card, part: int
    ) -> Iterator[tuple[str, str]]:
        if part == CARD - 1:
            yield " " * self.size.width, PLAIN
            return
        yield " ", PLAIN
        room = self.size.width - 1
        if part == 0:
            yield from self._topic(card, column, room)
        elif part == 1:
            title = " ".join([one_line(card.row.title), *tag_words(card.row.tags)])
            yield _fit(title, room), PLAIN
        else:
            yield from self._facts(card, room)

    def _topic(
        self, card: Card, column: CardColumn, room: int
    ) -> Iterator[tuple[str, str]]:
        row = card.row
        new = f" +{row.new_for_you}" if row.new_for_you else ""
        used = f" {self.signs.used_here}" if card.is_used_here else ""
        marks = f" {self.signs.forked}" if row.forked else ""
        marks += f" {self.signs.damaged}" if row.damaged else ""
        room = max(0, room - width_of(new + used + marks))
        topic = cut_to_width(one_line(row.name), room) if room else ""
        yield left_to_right(topic), YOURS if column.is_yours else BOLD
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
