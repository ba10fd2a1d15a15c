"""The pages as an application: which address is which page."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from wc_core.errors import NotFoundError, WcError
from wc_core.text import one_line
from wc_core.views import timelinesvg
from wc_observe.calls import Call
from wc_observe.http.leaving import Leaving, UnderWay
from wc_observe.live.stores import Stores
from wc_observe.open_store import caller_identity, open_store, store_label
from wc_observe.watch.stores import StoreWatch
from wc_observe.web import board, search, thread, timeline
from wc_observe.web.guard import FILES, Guard
from wc_observe.web.links import Links
from wc_observe.web.page import PageContext, WebPage, refusal, rendered
from wc_observe.web.stream import Streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from wc_observe.calls import ServerContext
    from wc_observe.open_store import OpenStore

    Answer = Callable[[OpenStore, PageContext, Mapping[str, str]], WebPage]

_log = logging.getLogger(__name__)
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_YEAR = "public, max-age=31536000, immutable"


class WebSite(NamedTuple):
    """The application, what it is answering, and the path of its first page;
    ``inner`` has the routes."""

    app: ASGIApp
    under_way: UnderWay
    path: str
    inner: Starlette


class Asset(NamedTuple):
    """A file that comes with the program."""

    data: bytes
    kind: str


def files() -> dict[str, Asset]:
    """The style, the scripts and the icon, by name."""
    folder = os.path.join(os.path.dirname(__file__), "files")
    found = {}
    for name in sorted(os.listdir(folder)):
        kind = _KINDS.get(name.rpartition(".")[2])
        if kind:
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = Asset(file.read(), kind)
    return found


def build_site(start: ServerContext, secret: str, ticket: str = "") -> WebSite:
    """Everything that is served, not yet listening."""
    kept = files()
    digest = hashlib.sha256(b"".join(one.data for one in kept.values())).hexdigest()
    links = Links(f"/{secret}", f"{FILES}{digest[:12]}")
    desks = Desks(start, links)
    under_way = UnderWay()
    streams = Streams(start, desks.watch)
    pages = Pages(desks)
    base = links.base
    app = Starlette(
        routes=[
            Route(base + "/", pages.page(_board)),
            Route(base + "/threads", pages.page(_threads)),
            Route(base + "/threads/{topic}", pages.page(_thread)),
            Route(base + "/threads/{topic}/{idx}", pages.page(_entry)),
            Route(base + "/search", pages.page(_search)),
            Route(base + "/timeline", pages.page(_timeline)),
            Route(base + "/timeline/{topic}", pages.page(_timeline)),
            Route(base + "/timeline.svg", pages.picture),
            Route(base + "/timeline.svg/{topic}", pages.picture),
            Route(base + "/events", streams.answer),
            Route(f"{FILES}{{version}}/{{name}}", _file(kept)),
        ],
        lifespan=desks.lifespan,
    )
    app.router.redirect_slashes = False
    # Below the secret alone: what is refused says the way back, and so the secret.
    app.add_route(base + "{rest:path}", pages.page(_nothing))
    whole = Leaving(Guard(app, secret, ticket), under_way)
    return WebSite(whole, under_way, links.board(), app)


class Desks:
    """The store, as whoever started us sees it."""

    def __init__(self, start: ServerContext, links: Links) -> None:
        stores = Stores()
        self._call = Call("", start.folder, start.env, start.now_ms, stores)
        self._links = links
        self.watch = StoreWatch(stores)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """As long as the server runs."""
        self.watch.open()
        try:
            async with anyio.create_task_group() as tasks:
                # The first page need not wait for all of it.
                tasks.start_soon(anyio.to_thread.run_sync, self._warm)
                yield
        finally:
            self.watch.close()

    def _warm(self) -> None:
        try:
            self.open().overview.rows()
        except WcError:
            return  # the page says so

    def open(self) -> OpenStore:
        """The store as it is now.

        Raises WcError where it cannot be read.
        """
        desk = open_store(self._call)
        for root in self._call.stores.unwatched():
            if not self.watch.keeps(root):
                self.watch.keep(root, self._call.env)
        return desk

    def look(self, store: OpenStore | None) -> PageContext:
        """What pages are made for."""
        now = self._call.now_ms()
        if store is not None:
            return PageContext(self._links, store.label, _name(store), now)
        try:
            me = one_line(caller_identity(self._call).author, 100)
        except WcError:
            me = ""
        folder = store_label(self._call.folder, self._call)
        return PageContext(self._links, "", me, now, folder)


def _name(store: OpenStore) -> str:
    return one_line(store.viewer.identity.author, 100)


class Pages:
    """Answers, with what goes wrong made a page of its own."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks

    def page(self, answer: Answer) -> Callable[[Request], Response]:
        """The endpoint of one kind of page."""

        def told(request: Request) -> Response:
            desk = None
            try:
                desk = self._desks.open()
                look = self._desks.look(desk)
                found = answer(desk, look, _said(request))
            except WcError as error:
                found = refusal(error)
            except Exception as error:  # noqa: BLE001  (a bug: told in a word)
                _log.exception("%s failed", answer.__name__)
                found = refusal(_internal(error))
            page = rendered(found, self._desks.look(desk))
            return HTMLResponse(page, found.status)

        return told

    def picture(self, request: Request) -> Response:
        """The timeline as a picture, to be kept."""
        try:
            desk = self._desks.open()
            look, said = self._desks.look(desk), _said(request)
            chart = timeline.drawn(desk, look, said.get("topic", ""), said)
        except WcError as error:
            page = refusal(error)
            return HTMLResponse(rendered(page, self._desks.look(None)), page.status)
        return Response(
            timelinesvg.svg(chart), media_type=_KINDS["svg"], headers=_PICTURE
        )


# A document of its own, with a style of its own.
_PICTURE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def _internal(error: Exception) -> WcError:
    return WcError(
        f"This page could not be made ({type(error).__name__}).",
        "The details are where wc-observe was started. Try: wc doctor",
    )


def _said(request: Request) -> dict[str, str]:
    """What the address says: the last word of each name counts."""
    return {**dict(request.query_params), **request.path_params}


def _board(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    return board.board(store, context, query)


def _threads(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return board.threads(store, context, query)


def _thread(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return thread.thread(store, context, query["topic"], query)


def _entry(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    return thread.entry(store, context, query["topic"], query)


def _search(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return search.found(store, context, query)


def _timeline(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return timeline.page(store, context, query.get("topic", ""), query)


def _nothing(_desk: OpenStore, _look: PageContext, _said: Mapping[str, str]) -> WebPage:
    raise NotFoundError("There is no such page.", "Go back to the board.")


def _file(kept: Mapping[str, Asset]) -> Callable[[Request], Response]:
    def told(request: Request) -> Response:
        file = kept.get(request.path_params["name"])
        if file is None:
            return Response("404: no such file.\n", 404, media_type="text/plain")
        return Response(
            file.data, media_type=file.kind, headers={"Cache-Control": _YEAR}
        )

    return told
