"""The frame of every page: head, navigation, footer, and the error page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core import times
from wc_core.names import MINE, OFFERED
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, OPEN, holder_text
from wc_core.threads.reviews import CHANGES_REQUESTED, outcome_text
from wc_core.times import rfc3339
from wc_core.values import NamedTuple
from wc_core.version import __version__
from wc_observe.web.html import NOTHING, Html, element, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.errors import WcError
    from wc_core.views.rows import ThreadRow
    from wc_observe.web.links import Links

_SHOWN = 300
_TAGS, _TAG_WIDTH = 8, 40
_STATUS = {"INVALID_INPUT": 400, "NOT_FOUND": 404, "CONFLICT": 409, "INTERNAL": 500}


class PageContext(NamedTuple):
    """What every page needs: addresses, the store, the viewer and the time.

    ``store`` is how the store is written, empty if there is none; then ``folder`` is
    shown instead."""

    links: Links
    store: str
    me: str
    now_ms: int
    folder: str = ""


class WebPage(NamedTuple):
    """One page.

    ``section`` is the item of the navigation that is current, ``query`` the text in
    the search field, ``mark`` the number in the tab's title (balls that wait for the
    viewer), ``topic`` the thread that the page shows, if it is one, and ``up`` the
    address one level up."""

    title: str
    main: Html
    section: str = ""
    query: str = ""
    status: int = 200
    mark: int = 0
    topic: str = ""
    up: str = ""


def render_page(page: WebPage, context: PageContext) -> str:
    """Returns the whole page as HTML."""
    name = "Watercooler" if not page.title else f"{page.title} · Watercooler"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("title", f"({page.mark}) {name}" if page.mark else name),
        element("link", rel="icon", href=context.links.file("icon.svg")),
        element("link", rel="stylesheet", href=context.links.file("style.css")),
        # Loaded before anything is painted, so that no page flashes in the wrong theme.
        element("script", src=context.links.file("theme.js")),
        element("script", type="module", src=context.links.file("page.js")),
    )
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#content"),
        _header(page, context),
        element(
            "main", page.main, id="content", tabindex=-1, data_topic=page.topic or None
        ),
        _footer(context),
        data_events=context.links.events(),
        data_up=page.up or (None if page.section == "board" else context.links.board()),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _header(page: WebPage, context: PageContext) -> Html:
    places = (
        ("board", "Board", context.links.board()),
        ("threads", "Threads", context.links.threads()),
        ("timeline", "Timeline", context.links.timeline()),
        ("edits", "Edits", context.links.edits()),
        ("plan", "Plan", context.links.plan()),
        ("digest", "Digest", context.links.digest()),
    )
    links = [
        element(
            "a",
            words,
            href=href,
            id=f"to-{name}",
            aria_current="page" if name == page.section else None,
        )
        for name, words, href in places
    ]
    home = element(
        "a",
        element("span", class_="ball", aria_hidden="true"),
        "Watercooler",
        href=context.links.board(),
        class_="home",
    )
    # Filled by the script: without it there are no live updates and no shortcuts.
    tools = element("div", id="tools", class_="tools")
    nav = element("nav", joined(links, " "), aria_label="Pages")
    return element("header", home, " ", nav, _search_form(page, context), tools)


def _search_form(page: WebPage, context: PageContext) -> Html:
    return element(
        "form",
        element("label", "Search", class_="unseen", for_="q"),
        element(
            "input",
            id="q",
            name="q",
            type="search",
            value=page.query,
            placeholder="Search entries",
            autocomplete="off",
            aria_keyshortcuts="/",
        ),
        action=context.links.search(),
        role="search",
        class_="search",
    )


def _footer(context: PageContext) -> Html:
    reader = [" · you are ", element("b", context.me)] if context.me else []
    place = [element("code", context.store or context.folder), *reader]
    return element(
        "footer",
        element("p", "Store " if context.store else "Folder ", *place),
        element("p", f"Read only: to write, use wc. wc-observe {__version__}"),
        id="about",
    )


def error_page(error: WcError) -> WebPage:
    """Returns the page that says what went wrong and what to do."""
    hint = element("p", error.hint, class_="hint") if error.hint else NOTHING
    main = element(
        "section",
        element("p", error.code, class_="code"),
        element("h1", one_line(error.message, _SHOWN)),
        hint,
        class_="problem",
        role="alert",
    )
    status = _STATUS.get(error.code, 503)
    title = "Not found" if error.code == "NOT_FOUND" else "Error"
    return WebPage(title, main, status=status)


# --- shared by several pages --------------------------------------------------


def moment(at: str, now_ms: int) -> Html:
    """Returns how long ago something was, with the time itself as tooltip.

    The script keeps it up to date."""
    if times.milliseconds(at) is None:
        return element("span", one_line(at, 40) or "?", class_="age")
    return element("time", times.age(at, now_ms), datetime=at, title=at, class_="age")


def holder_name(holder: str | None) -> Html:
    """Returns a holder, isolated for text in either direction."""
    return element("bdi", one_line(holder_text(holder), 100))


def ownership_mark(ownership: str) -> Html:
    """Returns a mark if a ball is the viewer's, or offered to them (see
    `names.Directory.whose`)."""
    text = {MINE: "you", OFFERED: "offered to you"}.get(ownership)
    return element("span", text, class_="mark you") if text else NOTHING


def thread_marks(row: ThreadRow) -> Html:
    """Returns the marks of a thread: new entries, status, tags, fork, damage."""
    parts = [*_move_marks(row)]
    if row.checklist.total:
        done, total = row.checklist
        explanation = f"{done} of {total} items of the checklist are done"
        mark = element("span", str(row.checklist), class_="mark", title=explanation)
        parts.append(mark)
    if row.tags:
        parts.append(tag_marks(row.tags))
    if row.forked:
        explanation = "two histories side by side, not joined yet"
        parts.append(element("span", "forked", class_="mark forked", title=explanation))
    if row.damaged:
        explanation = "part of it cannot be read; see wc doctor"
        parts.append(
            element("span", "damaged", class_="mark damaged", title=explanation)
        )
    return joined(parts, " ")


def _move_marks(row: ThreadRow) -> Iterator[Html]:
    """Yields the marks that say whose move it is: new entries, status, what is waited
    for, how far the ball has come."""
    if row.new_for_you:
        yield element("span", f"{row.new_for_you} new", class_="mark new")
    if row.status != OPEN:
        yield status_mark(row.status)
    if row.review.outcome:
        yield outcome_mark(row.review.outcome)
    if row.waits:
        yield element("span", one_line(row.waits_text), class_="mark waits")
    if row.asked_by:
        yield element("span", one_line(row.asked_text), class_="mark new")
    if row.passed is not None and row.passed.at_ms:
        explanation = f"{row.passed.agent}, {rfc3339(row.passed.at_ms)}"
        yield element("span", row.passed.state, class_="mark", title=explanation)


def tag_marks(tags: Sequence[str]) -> Html:
    """Returns the first tags of a thread, as the filter takes them."""
    names = [f"+{one_line(tag, _TAG_WIDTH)}" for tag in tags[:_TAGS]]
    if len(tags) > _TAGS:
        names.append(f"and {len(tags) - _TAGS} more")
    return joined((element("span", name, class_="mark tag") for name in names), " ")


def outcome_mark(outcome: str) -> Html:
    """Returns the mark of the outcome of a review."""
    kind = "mark severe" if outcome == CHANGES_REQUESTED else "mark kind"
    return element("span", one_line(outcome_text(outcome), 40), class_=kind)


def status_mark(status: str) -> Html:
    """Returns the mark of a status."""
    words = one_line(status, 40).replace("_", " ").lower()
    name = "closed" if status == CLOSED else words.replace(" ", "-")
    style = name if name in {"closed", "in-review", "blocked"} else ""
    return element("span", words, class_=f"mark {style}".strip())


def more_link(href: str, words: str) -> Html:
    """Returns a link to what is not shown."""
    return element("p", element("a", words, href=href, class_="more"))


def entry_count(count: int) -> str:
    """Returns a number of entries in words."""
    return counted(count, "entry", "entries")
