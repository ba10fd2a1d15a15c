"""A card of the board: a thread, its last entry, and what stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base import names
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import BLOCKED
from wc_observe.web.board.facts import link_words
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import badge, moved, seat_chips, thread_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.web.board.facts import BoardFacts
    from wc_observe.web.page import PageContext

_TITLE, _LISTED = 160, 3


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
