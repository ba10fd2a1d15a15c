"""The entries of a thread as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.text import clean, one_line
from wc_core.base.times import utc
from wc_core.base.values import NamedTuple
from wc_core.ledger.remarks import wording
from wc_core.ledger.remarks.references import code_words, references
from wc_core.ledger.threads.linerefs import MAX_QUOTED, MAX_WIDTH
from wc_core.ledger.threads.model import OPEN, SEVERITIES
from wc_observe.web.html import NOTHING, Html, element, joined, text
from wc_observe.web.page import (
    holder_name,
    moment,
    more_link,
    outcome_mark,
    person,
    status_mark,
)
from wc_observe.web.thread import markdown
from wc_observe.web.thread.markdown import highlighted, language_at

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry
    from wc_observe.answers.entries import ShownEntry
    from wc_observe.web.page import PageContext

_WIDTH = 300
_REFS = 12


class EntryContext(NamedTuple):
    """What each entry of a page needs: the topic, the ids of NEW entries, and the id of
    the entry that passed the ball to its holder, and the heading of the page.
    ``is_alone`` if the page has only one entry."""

    topic: str
    new: frozenset[str]
    page: PageContext
    passing: str = ""
    title: str = ""
    is_alone: bool = False


def entry_item(shown: ShownEntry, context: EntryContext) -> Html:
    """Returns an entry as a list item: author, title, text, what it changed."""
    entry, numbered = shown.numbered.entry, shown.numbered
    number = f"e{numbered.idx}"
    fresh = entry.id in context.new
    title = one_line(entry.title, _WIDTH)
    title = title or (f"Entry {numbered.idx}" if context.is_alone else "")
    # The title of the first entry is the heading of the page.
    if title == context.title and not context.is_alone:
        title = ""
    heading = "h1" if context.is_alone else "h2"
    below = NOTHING
    if shown.is_cut:
        words = f"The rest of its {shown.length:,} characters"
        below = more_link(context.page.links.entry(context.topic, numbered.idx), words)
    return element(
        "li",
        element(
            "article",
            _by(shown, context),
            element(heading, title, dir="auto", id=f"{number}-title")
            if title
            else NOTHING,
            element("p", one_line(entry.summary), class_="summary", dir="auto")
            if entry.summary
            else NOTHING,
            element("div", markdown.rendered(shown.body), class_="body"),
            below,
            _quotations(entry),
            _foot(entry, numbered.idx, context),
            aria_labelledby=f"{number}-title" if title else None,
            aria_label=None if title else f"Entry {numbered.idx}",
            id=number,
            tabindex=-1,
            data_item=True,
            class_="fresh" if fresh else None,
        ),
        value=numbered.idx,
    )


def _by(shown: ShownEntry, context: EntryContext) -> Html:
    numbered, entry = shown.numbered, shown.numbered.entry
    href = context.page.links.entry(context.topic, numbered.idx)
    parts = [
        element("b", person(entry.agent or "unknown", context.page.directory)),
        *(
            element("span", one_line(kind, 60).lower(), class_="kind")
            for kind in (wording.role_text(entry), wording.type_text(entry))
            if kind and kind != "Note"
        ),
        moment(utc(entry.at), context.page.now_ms),
    ]
    if kind := wording.kind_text(entry):
        parts.append(element("span", one_line(kind, 120), class_=_kind_class(entry)))
    if entry.outcome:
        parts.append(outcome_mark(entry.outcome))
    if entry.id in context.new:
        parts.append(element("span", "new", class_="mark new"))
    if numbered.is_doubtful(context.page.now_ms):
        parts.append(element("span", "doubtful time", class_="mark forked"))
    if numbered.forked:
        parts.append(element("span", "forked", class_="mark forked"))
    if numbered.mark:
        parts.append(element("span", numbered.mark, class_="mark corrected"))
    if way := numbered.way_text:
        parts.append(element("span", one_line(way, _WIDTH), class_="mark"))
    number = f"#{numbered.idx}"
    words = f"Link to entry {number}"
    anchor = element(
        "a", number, href=f"#e{numbered.idx}", class_="number", title=words
    )
    alone = element(
        "a", "permalink", href=href, class_="alone", title="Only this entry"
    )
    return element("p", joined((anchor, *parts, alone), " "), class_="by")


def _kind_class(entry: Entry) -> str:
    """Returns the class of the mark for an entry's kind."""
    severe = entry.severity in SEVERITIES[2:]
    return "mark severe" if severe else "mark kind"


def _quotations(entry: Entry) -> Html:
    """Returns the lines of files that an entry refers to, with their numbers."""
    figures = []
    for reference in entry.line_refs[:_REFS]:
        language = language_at(reference.path)
        rows = [
            element(
                "mark" if is_meant else "span",
                f"{number:>5}  ",
                highlighted(clean(line)[:MAX_WIDTH].expandtabs(4), language),
            )
            for number, line, is_meant in reference.numbered_quote()[:MAX_QUOTED]
        ]
        if rows:
            place = element("code", one_line(reference.place, _WIDTH))
            caption = element("figcaption", place)
            lines = element("pre", joined(rows, "\n"), dir="ltr", tabindex=0)
            figures.append(element("figure", caption, lines, class_="lines"))
    return joined(figures)


def _foot(entry: Entry, idx: int, context: EntryContext) -> Html:
    """Returns what an entry changed, and what it refers to. A ball is bright only if
    its holder still has it from this entry."""
    parts = []
    if entry.ball is not None:
        kind = "ball now" if entry.id == context.passing else "ball"
        ball = element("span", class_=kind, aria_hidden="true")
        parts.append(element("span", ball, "ball to ", holder_name(entry.ball.holder)))
    if entry.status and (idx or entry.status != OPEN):
        parts.append(element("span", "status ", status_mark(entry.status)))
    if entry.reason:
        parts.append(element("span", "because: ", one_line(entry.reason, _WIDTH)))
    words = references(entry).words(0)
    parts += [element("code", one_line(word, 120)) for word in words[:_REFS]]
    if len(words) > _REFS:
        parts.append(text(f"and {len(words) - _REFS} more"))
    if code := code_words(entry):
        parts.append(element("span", one_line(code, 120)))
    return element("p", joined(parts, " "), class_="foot") if parts else NOTHING
