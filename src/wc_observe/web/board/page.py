"""The board page: the viewer's column on the left, all others beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from wc_core.base import names
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED
from wc_core.reading.views import agentgroups
from wc_core.reading.views.rows import has_words
from wc_observe.web.board.facts import board_facts, link_words
from wc_observe.web.forms import filter_form, search_field
from wc_observe.web.frame import first_steps
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    WebPage,
    badge,
    holder_name,
    more_link,
    moved,
    seat_chips,
    thread_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.base.names import Directory
    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.board.facts import BoardFacts
    from wc_observe.web.page import PageContext

# Limits: cards in my column, cards in each other column, other columns.
_MINE, _THEIRS, _COLUMNS = 50, 12, 12
_TITLE, _LISTED = 160, 3


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


def card(row: ThreadRow, facts: BoardFacts, context: PageContext) -> Html:
    """Returns the card of a thread: title, topic, its holder's seat and tag, the last
    entry, marks."""
    topic = one_line(row.name)
    held = facts.held_too_long(row)
    parts = [
        element(
            "span", one_line(row.title, _TITLE) or topic, class_="title", dir="auto"
        ),
        moved(row, context.now_ms),
        element("span", joined(_place(row, context), " "), class_="place"),
        _last_entry_line(row, facts, context),
    ]
    marks = [*_marks(row, facts, held)]
    if marks:
        parts.append(element("span", joined(marks, " "), class_="marks"))
    kinds = ("fresh" if row.new_for_you else "", "stale" if held else "")
    kind = " ".join(filter(None, (*kinds, "blocked" if row.status == BLOCKED else "")))
    return element(
        "li",
        element(
            "a",
            # Without spaces, screen readers read the words of a link without a pause.
            joined(filter(None, parts), " "),
            href=context.links.thread(row.name),
            id=f"t-{topic}",
            data_item=True,
        ),
        class_=kind,
        id=f"i-{topic}",
    )


def _place(row: ThreadRow, context: PageContext) -> Iterator[Html]:
    """Yields the topic, and the holder's seat and tag, but not that of the viewer's
    own agents; and who has the ball of a thread that only asks the viewer."""
    yield element("bdi", one_line(row.name), class_="topic")
    if row.ball is not None:
        name = context.directory.canonical(names.parse(row.ball))
        if row.asked_by and not row.have_ball:
            yield element("bdi", one_line(name.agent, 60))
        is_own = names.fold(name.tag) == names.fold(row.own_tag)
        yield from seat_chips(name._replace(tag="") if is_own else name)


def _last_entry_line(row: ThreadRow, facts: BoardFacts, context: PageContext) -> Html:
    last_entry = facts.last_entry_text(row)
    if not last_entry.author:
        return NOTHING
    name = context.directory.canonical(names.parse(last_entry.author)).agent
    author = element("b", element("bdi", one_line(name, 60)))
    words = [badge(last_entry.author, context.directory), " ", author]
    words.append(f": {last_entry.text}" if last_entry.text else " started it")
    return element("span", *words, class_="said", dir="auto")


def _marks(row: ThreadRow, facts: BoardFacts, held: str) -> Iterator[Html]:
    if held:
        explanation = "The ball has been held for more than two days"
        yield element("span", f"stale {held}", class_="mark stale", title=explanation)
    if marks := thread_marks(row):
        yield marks
    for words in link_words(row, facts.store)[:_LISTED]:
        yield element("span", words, class_="mark waits")
    yield from _listed(facts.claimed(row), "claims", "mark kind")
    yield from _listed(facts.conflicting(row), "conflict", "mark blocked")


def _listed(places: list[str], word: str, style: str) -> Iterator[Html]:
    """Yields a mark that names the first of several places; its tooltip has all of
    them."""
    if places:
        further = f" +{len(places) - 1}" if len(places) > 1 else ""
        words = f"{word} {places[0]}{further}"
        yield element("span", words, class_=style, title="; ".join(places))


class HolderColumn(NamedTuple):
    """The open threads of one agent or person, in any seat and with any tag (``None``:
    the ball is free), latest move first.

    ``mine`` marks the viewer's column, with every ball they may play; ``waiting`` the
    column of threads that wait for another one; ``damaged`` that of unreadable threads.
    """

    holder: str | None
    rows: list[ThreadRow]
    mine: bool = False
    waiting: bool = False
    damaged: bool = False


def columns(rows: Iterable[ThreadRow], directory: Directory) -> list[HolderColumn]:
    """Returns the open threads by agent, in the order of `agentgroups`: mine first.

    Within a column, and among the other columns, the latest move comes first.
    """
    return [
        HolderColumn(
            group.agent or None,
            group.rows,
            mine=group.kind == agentgroups.MINE,
            waiting=group.kind == agentgroups.WAITING,
            damaged=group.kind == agentgroups.DAMAGED,
        )
        for group in agentgroups.agent_groups(rows, directory)
        if group.kind != agentgroups.CLOSED_THREADS
    ]


def rows_with_words(rows: list[ThreadRow], words: str) -> list[ThreadRow]:
    """Returns the rows with every word in their topic, title or holder, and every
    ``+tag`` among their tags."""
    if not words.strip():
        return rows
    return [row for row in rows if has_words(row, words)]
