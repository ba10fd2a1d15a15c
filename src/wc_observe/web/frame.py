"""The frame of every page: head, navigation, footer, and the pages that explain why
there is nothing to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.errors import NotFoundError
from wc_core.base.text import one_line
from wc_core.base.version import __version__
from wc_core.reading.views.drawing.badges import HUES, badge_of
from wc_observe.web.forms import search_field
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, command_line

if TYPE_CHECKING:
    from wc_core.base.errors import WcError
    from wc_observe.web.page import PageContext

_SHOWN = 300
_STYLES = ("style", "board", "thread", "views", "code")
_STATUS = {"INVALID_INPUT": 400, "NOT_FOUND": 404, "CONFLICT": 409, "INTERNAL": 500}


def render_page(page: WebPage, context: PageContext) -> str:
    """Returns the complete page as HTML."""
    site = one_line(context.repository, 60) or "Watercooler"
    name = f"{page.title} · {site}" if page.title else site
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="robots", content="noindex"),
        element("title", f"({page.mark}) {name}" if page.mark else name),
        element("link", rel="icon", href=context.links.icon(), type="image/svg+xml"),
        *(
            element("link", rel="stylesheet", href=context.links.file(f"{name}.css"))
            for name in _STYLES
        ),
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
    links = context.links
    places = [
        ("board", "Board", links.board()),
        ("threads", "Threads", links.threads()),
        ("edits", "Edits", links.edits()),
    ]
    if context.stores:
        places.append(("inbox", "Inbox", links.inbox()))
    items = [
        element(
            "a",
            words,
            href=href,
            id=f"to-{name}",
            aria_current="page" if name == page.section else None,
        )
        for name, words, href in places
    ]
    # On a wide screen both are part of the row; on a narrow screen a button opens them.
    menu = element(
        "div",
        element("nav", joined(items, " "), aria_label="Pages"),
        _search_form(page, context),
        id="menu",
        class_="menu",
        popover="auto",
    )
    button = element(
        "button", "Menu", type="button", popovertarget="menu", class_="opens"
    )
    # Filled by the script; without it there are no live updates and no shortcuts.
    tools = element("div", id="tools", class_="tools")
    return element("header", _home(context), " ", menu, tools, button)


def _home(context: PageContext) -> Html:
    """Returns the name of the repository, with a list of the others, if any."""
    name = one_line(context.repository, 60) or "Watercooler"
    mark = element(
        "img", src=context.links.icon(), alt="", width=20, height=20, class_="icon"
    )
    home = element(
        "a", mark, element("bdi", name), href=context.links.board(), class_="home"
    )
    if not context.stores:
        return home
    items = (
        element(
            "li",
            element(
                "a",
                element("bdi", one_line(store.name, 60)),
                href=store.href,
                aria_current="true" if store.is_current else None,
            ),
        )
        for store in context.stores
    )
    store_list = element("ul", *items)
    inbox = element("a", "Inbox of all repositories", href=context.links.inbox())
    summary = element("summary", element("span", "Other repositories", class_="unseen"))
    switcher = element(
        "details", summary, element("div", store_list, inbox), class_="switcher"
    )
    return element("div", home, switcher, class_="repository")


def _search_form(page: WebPage, context: PageContext) -> Html:
    return element(
        "form",
        element("label", "Search", class_="unseen", for_="q"),
        search_field(page.query, "Search entries", "q", id="q", aria_keyshortcuts="/"),
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
        *([element("p", context.travels)] if context.travels else []),
        element("p", f"Read-only: to write, use wc. wc-observe {__version__}"),
        id="about",
    )


def icon_svg(repository: str) -> str:
    """Returns a repository's icon: its initials on its colour, and a ball."""
    badge = badge_of(repository or "Watercooler")
    label = element(
        "text",
        badge.initials,
        x=15,
        y=23,
        fill="#fff",
        text_anchor="middle",
        font_family="ui-sans-serif,system-ui,sans-serif",
        font_size=15,
        font_weight=700,
    )
    square = element("rect", width=32, height=32, rx=7, fill=HUES[badge.hue].rgb)
    ball = element("circle", cx=27, cy=5, r=5, fill="#c9e03b", stroke="#5c6b12")
    parts = (square, label, ball)
    picture = element(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox="0 0 32 32"
    )
    return f"{picture}\n"


def error_page(error: WcError, context: PageContext) -> WebPage:
    """Returns the page that says what went wrong and what to do about it."""
    status = _STATUS.get(error.code, 503)
    links = context.links
    hint = element("p", error.hint, class_="hint") if error.hint else NOTHING
    if isinstance(error, NotFoundError) and error.near:
        near = (
            element("a", element("bdi", name), href=links.thread(name), class_="more")
            for name in error.near
        )
        hint = element("p", "Did you mean ", joined(near, ", "), "?", class_="hint")
    ways = (
        element("a", "Board", href=links.board()),
        element("a", "All threads", href=links.threads()),
        element("a", "Search", href=links.search()),
    )
    main = element(
        "section",
        element("h1", one_line(error.message, _SHOWN)),
        hint,
        element("p", joined(ways, " · "), class_="ways"),
        element("p", "Code ", element("code", error.code), class_="code"),
        class_="problem",
        role="alert",
    )
    title = "Not found" if error.code == "NOT_FOUND" else "Error"
    return WebPage(title, main, status=status)


def welcome_page(context: PageContext) -> WebPage:
    """Returns the page for a repository that has no threads yet."""
    place = element("code", context.folder)
    main = element(
        "section",
        element("h1", "Whose move is it?"),
        element(
            "p",
            "This page will show the threads of ",
            place,
            ". There are none yet. It updates automatically with the first one.",
        ),
        first_steps(),
        class_="problem welcome",
        role="status",
    )
    return WebPage("", main, "board", status=404)


def first_steps() -> Html:
    """Returns the first commands for a new user."""
    new = "wc new login -m 'Log in with a passkey' --to Codex"
    steps = (
        (new, "Start a thread and pass its ball to an agent or a person."),
        ("wc install", "Connect your agents, so that they know whose move it is."),
        ("wc demo", "Watch two agents pass a ball, in a throwaway repository."),
    )
    items = (element("li", command_line(*step)) for step in steps)
    return joined(
        (
            element("p", "In a terminal, in your repository:"),
            element("ol", *items, class_="steps"),
            element("p", "This page is read-only: to write, use ", _code("wc"), "."),
        )
    )


def _code(words: str) -> Html:
    return element("code", words)
