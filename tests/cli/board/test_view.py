"""The board's layout without a screen: columns, scrolling, lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import NOON_MS, relaxed
from wc_cli.run.board.cards import (
    Card,
    CardColumn,
    CardFilter,
    group_into_columns,
)
from wc_cli.run.board.view import AGENT, ASCII, HEAD, UNICODE, Painter, layout_size
from wc_cli.run.widths import width_of
from wc_core.base.names import Directory
from wc_core.base.times import rfc3339
from wc_core.reading.views.drawing.badges import HUES, badge_of
from wc_core.reading.views.rows import ThreadRow

DAY_MS = 24 * 3600 * 1000


def card(topic: str, ball: str | None = None, **fields: object) -> Card:
    defaults = {
        "topic": topic,
        "title": f"About {topic}",
        "status": "OPEN",
        "ball": ball,
        "updated_at": "",
        "entry_count": 3,
        "ownership": "mine" if ball == "Pat" else "others",
        "new_for_you": 0,
        "branch": "",
        "last_id": topic,
        "forked": False,
        "damaged": False,
        "updated_by": "",
        "name": topic,
    }
    since = fields.pop("since", NOON_MS)
    row = ThreadRow(**(defaults | fields))  # type: ignore[arg-type]
    return Card(row, since)  # type: ignore[arg-type]


ALL = CardFilter()


def grouped(*cards: Card, card_filter: CardFilter = ALL) -> list[tuple[str, list[str]]]:
    board_columns = group_into_columns(cards, card_filter, Directory())
    return [
        (column.name, [card.topic for card in column.cards]) for column in board_columns
    ]


def test_what_has_not_moved_for_weeks_is_folded() -> None:
    old = rfc3339(NOON_MS - 20 * DAY_MS)
    cards = (
        card("a", "Codex", updated_at=rfc3339(NOON_MS - 13 * DAY_MS)),
        card("b", "Codex", updated_at=old),
        card("c", "Cursor", updated_at=old),
        card("d", "Cursor", updated_at=old, asked_by=("Codex",)),
    )

    def columns(*shown: Card, **fields: object) -> list[tuple[int, int]]:
        card_filter = CardFilter(folds=True, **fields)  # type: ignore[arg-type]
        found = group_into_columns(shown, card_filter, Directory(), NOON_MS)
        return [(len(column.cards), column.folded) for column in found]

    # The one that asks the viewer is theirs.
    assert columns(*cards) == [(1, 0), (0, 1), (1, 1)]
    # Where nothing has moved, nothing is folded.
    assert columns(*cards[1:3]) == [(0, 0), (1, 0), (1, 0)]
    assert columns(*cards, words="about") == [(1, 0), (1, 0), (2, 0)]
    assert columns(*cards, closed=True) == [(1, 0), (1, 0), (2, 0)]
    board = group_into_columns(cards, CardFilter(folds=True), Directory(), NOON_MS)
    painter = Painter(board, layout_size(len(board), 100, 20), NOON_MS)
    line = "".join(text for text, _ in painter.line(1))
    assert "─ 1 not moved for weeks ─" in line
    assert width_of(line) == width_of("".join(text for text, _ in painter.line(0)))


CARDS = (
    card("a", "Codex"),
    card("b", "Pat"),
    card("c", None),
    card("d", "Cursor", since=NOON_MS - 3 * DAY_MS),
    card("e", "codex"),
    card("f", "Codex", status="IN_REVIEW"),
    card("g", "Pat", status="IN_REVIEW"),
    card("h", None, status="CLOSED"),
    card("i", None, status="?"),
)


def test_mine_come_first_then_free_waiting_and_agents_by_their_latest_move() -> None:
    cards = (
        *CARDS,
        card("j", "Codex@review (ann)"),
        card("k", "Cursor", waits=("api",)),
    )
    assert grouped(*cards, card_filter=CardFilter(closed=True)) == [
        ("You", ["g", "b"]),
        ("Anyone", ["c"]),
        ("Waiting", ["k"]),
        ("Codex", ["j", "f", "e", "a"]),
        ("Cursor", ["d"]),
        ("Cannot be read", ["i"]),
        ("Closed", ["h"]),
    ]


def test_seat_and_tag_stand_beside_a_thread_and_the_agent_in_mixed_columns() -> None:
    cards = [
        card("api", "Codex@review (ann)"),
        card("login", "Codex@review (ann)", waits=("api",)),
    ]
    board = group_into_columns(cards, CardFilter(), Directory())
    _, _, topics, *_ = lines(board, 90, 6)
    assert [" ".join(topics[n * 30 : n * 30 + 29].split()) for n in (1, 2)] == [
        "login Codex @review (ann)",
        "api @review (ann)",
    ]
    size = layout_size(len(board), 90, 6)
    pieces = [*Painter(board, size, NOON_MS).line(0), *Painter(board, size, 0).line(2)]
    color = HUES[badge_of("Codex").hue].terminal
    assert [text for text, style in pieces if style == f"{AGENT}{color}"] == [
        "Codex",
        "Codex",
    ]


@pytest.mark.parametrize(
    ("words", "topics"),
    [
        ("", 8),
        ("CODEX review", 1),
        ("codex", 3),
        ("in_review", 2),
        ("anyone c", 1),
        ("zz", 0),
    ],
)
def test_a_filter_takes_cards_that_have_all_words(words: str, topics: int) -> None:
    groups = grouped(*CARDS, card_filter=CardFilter(words))
    assert sum(len(held) for _, held in groups) == topics


def lines(
    board: tuple[CardColumn, ...], width: int, height: int, signs: object = UNICODE
) -> list[str]:
    size = layout_size(len(board), width, height)
    painter = Painter(board, size, NOON_MS + 7_200_000, signs)  # type: ignore[arg-type]
    return ["".join(text for text, _ in painter.line(y)) for y in range(height)]


def test_a_card_says_what_it_is_how_old_and_what_is_new() -> None:
    work = card("login", "Pat", new_for_you=2, forked=True, damaged=True)
    board = group_into_columns(
        [work._replace(work="loop 3/10")], CardFilter(), Directory()
    )
    output = lines(board, 30, 5)
    assert [line.rstrip() for line in output] == [
        "You                          1",
        "─" * 30,
        " login                  +2 ⑂ ⚠",
        " About login",
        " 2h · loop 3/10",
    ]
    assert lines(board, 30, 5, ASCII)[2:] == [
        " login                  +2 Y !",
        " About login                  ",
        " 2h - loop 3/10               ",
    ]


boards = st.builds(
    lambda counts: tuple(
        CardColumn(
            f"c{i}", f"審査{i}", tuple(card(f"t{i}-{n}-テ", "X") for n in range(count))
        )
        for i, count in enumerate(counts)
    ),
    st.lists(st.integers(0, 9), min_size=1, max_size=7),
)


@relaxed
@given(boards, st.integers(20, 200), st.integers(3, 60))
def test_every_line_fits_and_each_column_shows_its_first_card(
    held: tuple[CardColumn, ...], width: int, height: int
) -> None:
    size = layout_size(len(held), width, height)
    painter = Painter(held, size, NOON_MS)
    for y in range(height):
        assert width_of("".join(text for text, _ in painter.line(y))) <= width
    first = "".join(text for text, _ in painter.line(HEAD))
    for column in held[: size.columns]:
        shown = column.cards[0].topic[:4] if column.cards else "nothing"
        assert shown in first
