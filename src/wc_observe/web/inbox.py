"""The inbox page: what needs the viewer in all repositories on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.attention.inbox.items import INPUT, MOVE
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import rfc3339
from wc_core.ledger.threads.model import OPEN
from wc_core.ledger.threads.ways import via_text
from wc_observe.answers.inbox import caller_inbox
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, command_line, moment, person, status_mark

if TYPE_CHECKING:
    from wc_core.attention.inbox.view import Inbox, InboxEntry
    from wc_observe.web.page import PageContext
    from wc_observe.web.stores import StoreOpener

_ITEMS = 200
_TITLE = 160
_LABELS = {INPUT: "needs an answer", MOVE: "your move"}


def inbox_page(opener: StoreOpener, context: PageContext) -> WebPage:
    """Returns what needs the viewer in every repository, the most important first."""
    inbox = caller_inbox(opener.call, _ITEMS).inbox
    repositories = counted(len(inbox.counts), "repository", "repositories")
    count = f"{counted(inbox.total, 'thread')} in {repositories}"
    items = (_item(entry, opener, context) for entry in inbox.entries)
    nothing = element("p", inbox.empty_text, class_="none")
    main = joined(
        (
            element("h1", "Inbox"),
            element("p", count, class_="found", role="status"),
            element("ul", *items, class_="inbox") if inbox.entries else nothing,
            *_unreadable(inbox),
            _repositories(inbox, opener),
        )
    )
    return WebPage("Inbox", main, "inbox", mark=inbox.total)


def _item(entry: InboxEntry, opener: StoreOpener, context: PageContext) -> Html:
    item, store = entry.item, entry.store
    links = opener.links_of(store.root, is_own=store.is_current)
    link = element(
        "a",
        one_line(item.title, _TITLE) or item.topic,
        href=links.thread(item.topic),
        data_item=True,
        dir="auto",
    )
    since = NOTHING
    if item.since_ms is not None:
        since = moment(rfc3339(item.since_ms), context.now_ms)
    kind = element(
        "span",
        f"to {item.move}" if item.move else _LABELS.get(item.kind, "offered to you"),
        class_="mark new" if item.kind == INPUT else "mark you",
    )
    facts = (
        element("bdi", one_line(store.name, 60), class_="chip"),
        element("bdi", one_line(item.topic), class_="topic"),
        kind,
        status_mark(item.status) if item.status != OPEN else NOTHING,
        element("span", "from ", person(item.by, context.directory))
        if item.by
        else NOTHING,
        element("span", one_line(via_text(item.via)), class_="mark")
        if item.via
        else NOTHING,
        since,
    )
    return element(
        "li",
        element("h2", link),
        element("p", joined(filter(None, facts), " "), class_="by"),
        command_line(one_line(entry.command, 400)),
    )


def _unreadable(inbox: Inbox) -> list[Html]:
    return [
        element(
            "p",
            element("b", one_line(store.name, 60)),
            f" could not be read: {one_line(store.problem, 300)}",
            class_="notice damaged",
        )
        for store in inbox.unreadable
    ]


def _repositories(inbox: Inbox, opener: StoreOpener) -> Html:
    """Returns all repositories, each with its number of items for the viewer."""
    items = (
        element(
            "li",
            element(
                "a",
                element("bdi", one_line(count.store.name, 60)),
                href=opener.links_of(
                    count.store.root, is_own=count.store.is_current
                ).board(),
            ),
            " ",
            element("span", str(count.waiting), class_="count"),
        )
        for count in inbox.counts
    )
    heading = element("h2", "Repositories")
    return element("section", heading, element("ul", *items), class_="others")
