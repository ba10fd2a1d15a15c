"""The web application: routes, and the page that answers each."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from wc_core.errors import NotFoundError, WcError
from wc_core.text import one_line
from wc_core.values import NamedTuple
from wc_core.views.drawing import timelinesvg
from wc_observe.calls import Call
from wc_observe.http.leaving import Leaving, UnderWay
from wc_observe.live.stores import Stores
from wc_observe.open_store import caller_identity, open_store, store_label
from wc_observe.watch.stores import StoreWatch
from wc_observe.web import (
    board,
    digest,
    edits,
    plan,
    search,
    thread,
    threadlist,
    timeline,
)
from wc_observe.web.guard import FILES, Guard
from wc_observe.web.links import Links
from wc_observe.web.page import PageContext, WebPage, error_page, render_page
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
    """The application, the requests it is answering, and the path of its first page.

    ``inner`` is the part that has the routes."""

    app: ASGIApp
    under_way: UnderWay
    path: str
    inner: Starlette


class Asset(NamedTuple):
    """A static file that ships with the program."""

    data: bytes
    kind: str


def load_assets() -> dict[str, Asset]:
    """Returns the style sheet, scripts and icon by file name."""
    folder = os.path.join(os.path.dirname(__file__), "files")
    assets = {}
    for name in sorted(os.listdir(folder)):
        kind = _KINDS.get(name.rpartition(".")[2])
        if kind:
            with open(os.path.join(folder, name), "rb") as file:
                assets[name] = Asset(file.read(), kind)
    return assets


def build_site(start: ServerContext, secret: str, ticket: str = "") -> WebSite:
    """Builds everything that is served. It does not listen yet."""
    assets = load_assets()
    digest = hashlib.sha256(
        b"".join(asset.data for asset in assets.values())
    ).hexdigest()
    links = Links(f"/{secret}", f"{FILES}{digest[:12]}")
    opener = StoreOpener(start, links)
    under_way = UnderWay()
    streams = Streams(start, opener.watch)
    pages = Pages(opener)
    base = links.base
    app = Starlette(
        routes=[
            Route(base + "/", pages.page(_board)),
            Route(base + "/threads", pages.page(_threads)),
            Route(base + "/threads/{topic}", pages.page(_thread)),
            Route(base + "/threads/{topic}/{idx}", pages.page(_entry)),
            Route(base + "/search", pages.page(_search)),
            Route(base + "/digest", pages.page(_digest)),
            Route(base + "/timeline", pages.page(_timeline)),
            Route(base + "/timeline/{topic}", pages.page(_timeline)),
            Route(base + "/timeline.svg", pages.picture),
            Route(base + "/timeline.svg/{topic}", pages.picture),
            Route(base + "/edits", pages.page(_edits)),
            Route(base + "/plan", pages.page(_plan)),
            Route(base + "/plan/{topic}", pages.page(_plan)),
            Route(base + "/events", streams.answer),
            Route(f"{FILES}{{version}}/{{name}}", _asset_endpoint(assets)),
        ],
        lifespan=opener.lifespan,
    )
    app.router.redirect_slashes = False
    # Only below the secret: the error page links back, and so contains the secret.
    app.add_route(base + "{rest:path}", pages.page(_nothing))
    whole = Leaving(Guard(app, secret, ticket), under_way)
    return WebSite(whole, under_way, links.board(), app)


class StoreOpener:
    """Opens the store as seen by the user who started the server."""

    def __init__(self, start: ServerContext, links: Links) -> None:
        stores = Stores()
        self._call = Call("", start.folder, start.env, start.now_ms, stores)
        self._links = links
        self.watch = StoreWatch(stores)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Watches the store for as long as the server runs."""
        self.watch.open()
        try:
            async with anyio.create_task_group() as tasks:
                # Read ahead: the first page need not wait for all of it.
                tasks.start_soon(anyio.to_thread.run_sync, self._warm)
                yield
        finally:
            self.watch.close()

    def _warm(self) -> None:
        try:
            self.open().overview.rows()
        except WcError:
            return  # the page reports it

    def open(self) -> OpenStore:
        """Returns the store as it is now. Raises WcError if it cannot be read."""
        store = open_store(self._call)
        for root in self._call.stores.unwatched():
            if not self.watch.keeps(root):
                self.watch.keep(root, self._call.env)
        return store

    def page_context(self, store: OpenStore | None) -> PageContext:
        """Returns what every page needs to know about its request."""
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
    """Endpoints; an error becomes a page of its own."""

    def __init__(self, opener: StoreOpener) -> None:
        self._opener = opener

    def page(self, answer: Answer) -> Callable[[Request], Response]:
        """Returns the endpoint for one kind of page."""

        def endpoint(request: Request) -> Response:
            store = None
            try:
                store = self._opener.open()
                context = self._opener.page_context(store)
                page = answer(store, context, _query(request))
            except WcError as error:
                page = error_page(error)
            except Exception as error:  # noqa: BLE001  (a bug: logged, and named on the page)
                _log.exception("%s failed", answer.__name__)
                page = error_page(_internal(error))
            html = render_page(page, self._opener.page_context(store))
            return HTMLResponse(html, page.status)

        return endpoint

    def picture(self, request: Request) -> Response:
        """Answers with the timeline as an SVG file to download."""
        try:
            store = self._opener.open()
            context, query = self._opener.page_context(store), _query(request)
            chart = timeline.draw_chart(store, context, query.get("topic", ""), query)
        except WcError as error:
            page = error_page(error)
            return HTMLResponse(
                render_page(page, self._opener.page_context(None)), page.status
            )
        return Response(
            timelinesvg.svg(chart), media_type=_KINDS["svg"], headers=_PICTURE
        )


# The SVG is a document of its own and has inline styles.
_PICTURE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def _internal(error: Exception) -> WcError:
    return WcError(
        f"This page could not be made ({type(error).__name__}).",
        "The details are where wc-observe was started. Try: wc doctor",
    )


def _query(request: Request) -> dict[str, str]:
    """Returns the parameters of path and query; of a repeated one, the last value."""
    return {**dict(request.query_params), **request.path_params}


def _board(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    return board.board_page(store, context, query)


def _threads(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return threadlist.threads_page(store, context, query)


def _thread(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return thread.thread_page(store, context, query["topic"], query)


def _entry(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    return thread.entry_page(store, context, query["topic"], query)


def _search(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return search.search_page(store, context, query)


def _digest(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return digest.digest_page(store, context, query)


def _timeline(
    store: OpenStore, context: PageContext, query: Mapping[str, str]
) -> WebPage:
    return timeline.timeline_page(store, context, query.get("topic", ""), query)


def _edits(store: OpenStore, context: PageContext, _: Mapping[str, str]) -> WebPage:
    return edits.edits_page(store, context)


def _plan(store: OpenStore, context: PageContext, query: Mapping[str, str]) -> WebPage:
    return plan.plan_page(store, context, query.get("topic", ""))


def _nothing(
    _store: OpenStore, _context: PageContext, _query: Mapping[str, str]
) -> WebPage:
    raise NotFoundError("There is no such page.", "Go back to the board.")


def _asset_endpoint(assets: Mapping[str, Asset]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        file = assets.get(request.path_params["name"])
        if file is None:
            return Response("404: no such file.\n", 404, media_type="text/plain")
        return Response(
            file.data, media_type=file.kind, headers={"Cache-Control": _YEAR}
        )

    return endpoint
