"""What every page has: its head, the way to the others, and how it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wc_core import times
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads.model import CLOSED, OPEN
from wc_core.threads.moves import holder_text
from wc_core.version import __version__
from wc_observe.web.html import NOTHING, Html, element, joined

if TYPE_CHECKING:
    from wc_core.errors import WcError
    from wc_core.views.rows import ThreadRow
    from wc_observe.web.links import Links

_SHOWN = 300
_STATUS = {"INVALID_INPUT": 400, "NOT_FOUND": 404, "CONFLICT": 409, "INTERNAL": 500}


class PageContext(NamedTuple):
    """What pages are made for: their addresses, the store as it is written
    (empty where there is none) or the ``folder``, who looks, the moment."""

    links: Links
    store: str
    me: str
    now_ms: int
    folder: str = ""


class WebPage(NamedTuple):
    """One page: ``here`` is its place among the others, ``query`` what is
    looked for, ``mark`` a number for its tab: balls that wait for who looks.
    ``topic`` is the one thread it is of, ``up`` the address one level up."""

    title: str
    main: Html
    here: str = ""
    query: str = ""
    status: int = 200
    mark: int = 0
    topic: str = ""
    up: str = ""


def rendered(page: WebPage, context: PageContext) -> str:
    """The page as it is sent."""
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
        # Before anything is painted, so that no page flashes in the other colours.
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
        data_up=page.up or (None if page.here == "board" else context.links.board()),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _header(page: WebPage, context: PageContext) -> Html:
    places = (
        ("board", "Board", context.links.board()),
        ("threads", "Threads", context.links.threads()),
        ("timeline", "Timeline", context.links.timeline()),
    )
    links = [
        element(
            "a",
            words,
            href=href,
            id=f"to-{name}",
            aria_current="page" if name == page.here else None,
        )
        for name, words, href in places
    ]
    search = element(
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
    home = element(
        "a",
        element("span", class_="ball", aria_hidden="true"),
        "Watercooler",
        href=context.links.board(),
        class_="home",
    )
    # Filled by the script: without it there is nothing live, and no key.
    tools = element("div", id="tools", class_="tools")
    nav = element("nav", joined(links, " "), aria_label="Pages")
    return element("header", home, " ", nav, search, tools)


def _footer(context: PageContext) -> Html:
    who = [" · you are ", element("b", context.me)] if context.me else []
    place = [element("code", context.store or context.folder), *who]
    return element(
        "footer",
        element("p", "Store " if context.store else "Folder ", *place),
        element("p", f"Read only: to write, use wc. wc-observe {__version__}"),
        id="about",
    )


def refusal(error: WcError) -> WebPage:
    """The page that says what is wrong, and what to do."""
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
    return WebPage("Something is in the way", main, status=status)


# --- what more than one page has -------------------------------------------


def moment(at: str, now_ms: int) -> Html:
    """How long ago, with the moment itself for who points at it; the script
    keeps it up to date."""
    if times.milliseconds(at) is None:
        return element("span", one_line(at, 40) or "?", class_="age")
    return element("time", times.age(at, now_ms), datetime=at, title=at, class_="age")


def name_of(holder: str | None) -> Html:
    """Somebody, in letters of either direction."""
    return element("bdi", one_line(holder_text(holder), 100))


def marks(row: ThreadRow) -> Html:
    """What is to be known of a thread at a glance."""
    found = []
    if row.new_for_you:
        found.append(element("span", f"{row.new_for_you} new", class_="mark new"))
    if row.status != OPEN:
        found.append(status_mark(row.status))
    if row.forked:
        said = "two histories side by side, not joined yet"
        found.append(element("span", "forked", class_="mark forked", title=said))
    if row.damaged:
        said = "part of it cannot be read; see wc doctor"
        found.append(element("span", "damaged", class_="mark damaged", title=said))
    return joined(found, " ")


def status_mark(status: str) -> Html:
    """A status, as people write it."""
    words = one_line(status, 40).replace("_", " ").lower()
    name = "closed" if status == CLOSED else words.replace(" ", "-")
    known = name if name in {"closed", "in-review", "blocked"} else ""
    return element("span", words, class_=f"mark {known}".strip())


def more_link(href: str, words: str) -> Html:
    """The way to what is left out."""
    return element("p", element("a", words, href=href, class_="more"))


def entries(count: int) -> str:
    """How many entries, in words."""
    return counted(count, "entry", "entries")
