"""The board page: the viewer's column on the left, all others beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import CLOSED
from wc_core.reading.views import agentgroups
from wc_observe.web.board.cards import card
from wc_observe.web.board.columns import columns, rows_with_words
from wc_observe.web.board.facts import board_facts
from wc_observe.web.forms import filter_form, search_field
from wc_observe.web.frame import first_steps
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, badge, holder_name, more_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.board.columns import HolderColumn
    from wc_observe.web.board.facts import BoardFacts
    from wc_observe.web.page import PageContext

# Limits: cards in my column, cards in each other column, other columns.
_MINE, _THEIRS, _COLUMNS = 50, 12, 12


def board_page(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    """Returns the board."""
    words = query.get("filter", "")
    every_row = store.overview.rows()
    if not every_row:
        return WebPage("", _nothing(), "board")
    rows = rows_with_words(every_row, words)
    own_column, *other_columns = columns(rows, context.directory)
    visible, hidden = other_columns[: _COLUMNS + 1], other_columns[_COLUMNS + 1 :]
    closed = sum(row.status == CLOSED for row in rows)
    facts = board_facts(store, context.now_ms)
    # What was filtered for is shown.
    folded = frozenset[str]()
    if not words.strip():
        folded = agentgroups.folded_topics(rows, context.now_ms)
    place = _BoardPlace(facts, context, folded, words)
    sections = [_column(column, place) for column in visible]
    if not other_columns:
        empty = "No match here." if words.strip() else "No one else has a ball."
        sections.append(element("p", empty, class_="none"))
    main = joined(
        (
            element("h1", "Board", class_="unseen"),
            _filter(context.links.board(), words, len(rows)),
            element(
                "div",
                _column(own_column, place),
                element("div", *sections, class_="others-columns"),
                class_="board",
            ),
            _hidden_columns(hidden, context),
            _closed(closed, context, words),
        )
    )
    return WebPage("", main, "board", mark=len(own_column.rows))


def _nothing() -> Html:
    return element(
        "section",
        element("h1", "No threads yet"),
        element(
            "p",
            "A thread is a conversation about one thing, with one ball: whoever "
            "has it makes the next move. The board shows threads by who has the ball.",
        ),
        first_steps(),
        class_="problem welcome",
    )


def _filter(action: str, words: str, count: int) -> Html:
    hint, keys = "title, topic, holder or +tag", "f"
    field = search_field(words, hint, "filter", id="filter", aria_keyshortcuts=keys)
    label = element("label", "Filter", for_="filter")
    output = element("output", counted(count, "thread"), id="count", for_="filter")
    return filter_form((label, field), output, action)


class _BoardPlace(NamedTuple):
    """What all columns need: the topics to fold, and the words that are filtered by."""

    facts: BoardFacts
    context: PageContext
    folded: frozenset[str]
    words: str

    def cards(self, rows: list[ThreadRow]) -> Html:
        cards = (card(row, self.facts, self.context) for row in rows)
        return element("ul", *cards) if rows else NOTHING


def _column(column: HolderColumn, place: _BoardPlace) -> Html:
    context, limit = place.context, _MINE if column.mine else _THEIRS
    folded = [row for row in column.rows if row.topic in place.folded]
    moving = [row for row in column.rows if row.topic not in place.folded]
    rows, folded_rows = moving[:limit], folded[: max(0, limit - len(moving))]
    key = "mine" if column.mine else quote(column.holder or "anyone", safe="")
    # Not a possible name of a holder.
    if column.waiting:
        key = "=waiting"
    if column.damaged:
        key = "=damaged"
    ball = "me" if column.mine else column.holder or "anyone"
    of_holder = {} if column.waiting or column.damaged else {"ball": ball}
    hidden = len(column.rows) - len(rows) - len(folded_rows)
    href = context.links.threads(**of_holder, open="1")
    more = more_link(href, f"{hidden} more") if hidden > 0 else NOTHING
    below = more
    if folded:
        summary = element("summary", agentgroups.folded_text(len(folded)))
        inside = (summary, place.cards(folded_rows), more)
        below = element("details", *inside, class_="folded")
    is_filtered = bool(place.words.strip())
    nothing = "No match here." if is_filtered else "Nothing is waiting for you."
    return element(
        "section",
        element("h2", joined(_heading(column, context), " "), id=f"h-{key}"),
        place.cards(rows) if column.rows else element("p", nothing, class_="none"),
        below,
        class_=f"column {_kind(column)}".strip(),
        aria_labelledby=f"h-{key}",
        id=f"c-{key}",
    )


def _heading(column: HolderColumn, context: PageContext) -> list[Html]:
    count = element("span", str(len(column.rows)), class_="count")
    if column.mine:
        you = element("span", "you", class_="mark you")
        name = element("bdi", one_line(context.me, 100))
        return [badge(context.me or None, context.directory), name, you, count]
    if column.waiting:
        words = element("span", "Waiting for another thread")
        return [badge(None, context.directory), words, count]
    if column.damaged:
        return [element("span", "Cannot be read"), count]
    sign = badge(column.holder, context.directory)
    return [sign, holder_name(column.holder), count]


def _kind(column: HolderColumn) -> str:
    if column.mine:
        return "mine"
    return "free" if column.holder is None and not column.damaged else ""


def _hidden_columns(columns: list[HolderColumn], context: PageContext) -> Html:
    if not columns:
        return NOTHING
    items = (
        element(
            "li",
            element(
                "a",
                badge(column.holder, context.directory),
                " ",
                holder_name(column.holder),
                " ",
                element("span", str(len(column.rows)), class_="count"),
                href=context.links.threads(ball=column.holder or "", open="1"),
                data_item=True,
            ),
        )
        for column in columns[:200]
    )
    heading = element("h2", f"{len(columns)} more have a ball")
    return element("section", heading, element("ul", *items), class_="others")


def _closed(count: int, context: PageContext, words: str) -> Html:
    if not count:
        return NOTHING
    href = context.links.threads(status=CLOSED, filter=words)
    return more_link(href, f"{counted(count, 'thread')} closed")
