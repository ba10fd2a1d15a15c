"""The web application: its routes, and the page behind each."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.values import NamedTuple
from wc_observe.http.listening import Leaving, UnderWay
from wc_observe.web import edits, search, threadlist
from wc_observe.web.board import page as board
from wc_observe.web.frame import error_page, icon_svg, render_page, welcome_page
from wc_observe.web.guard import FILES, Guard
from wc_observe.web.inbox import inbox_page
from wc_observe.web.links import Links
from wc_observe.web.stores import StoreOpener, Streams
from wc_observe.web.thread import page as thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from wc_observe.callers.calls import ServerContext
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext, WebPage

    Answer = Callable[[OpenStore, PageContext, Mapping[str, str]], WebPage]

_log = logging.getLogger(__name__)
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_YEAR = "public, max-age=31536000, immutable"


class WebSite(NamedTuple):
    """The application, the requests being answered, and the path of its first page.

    ``inner`` is the part with the routes.
    """

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


def build_site(
    start: ServerContext, secret: str, ticket: str = "", topic: str = ""
) -> WebSite:
    """Builds everything that is served, without listening. The first page is that of
    the thread ``topic``, or the board."""
    assets = load_assets()
    digest = hashlib.sha256(
        b"".join(asset.data for asset in assets.values())
    ).hexdigest()
    links = Links(f"/{secret}", f"{FILES}{digest[:12]}")
    opener = StoreOpener(start, links)
    under_way = UnderWay()
    streams = Streams(opener)
    pages, is_wide = Pages(opener), start.all_stores
    base = links.base
    app = Starlette(
        routes=[
            *_store_routes(base, pages, streams),
            *(_store_routes(f"{base}/in/{{store}}", pages, streams) if is_wide else ()),
            *([Route(base + "/inbox", pages.inbox)] if is_wide else ()),
            Route(f"{FILES}{{version}}/{{name}}", _asset_endpoint(assets)),
        ],
    )
    app.router.redirect_slashes = False
    # Only below the secret: the error page has a link back, which contains the secret.
    app.add_route(base + "{rest:path}", pages.page(_nothing))
    first = links.thread(topic) if topic else links.board()
    whole = Leaving(Guard(app, secret, ticket, first), under_way)
    return WebSite(whole, under_way, first, app)


def _store_routes(base: str, pages: Pages, streams: Streams) -> list[Route]:
    """Returns the routes of one store's pages."""
    return [
        Route(base + "/", pages.page(board.board_page)),
        Route(base + "/threads", pages.page(threadlist.threads_page)),
        Route(base + "/threads/{topic}", pages.page(thread.thread_page)),
        Route(base + "/threads/{topic}/{idx}", pages.page(thread.entry_page)),
        Route(base + "/search", pages.page(search.search_page)),
        Route(base + "/edits", pages.page(edits.edits_page)),
        Route(base + "/plan{rest:path}", pages.page(_plan)),
        Route(base + "/icon.svg", pages.icon),
        Route(base + "/events", streams.answer),
    ]


class Pages:
    """Endpoints. An error becomes an error page."""

    def __init__(self, opener: StoreOpener) -> None:
        self._opener = opener

    def page(self, answer: Answer) -> Callable[[Request], Response]:
        """Returns the endpoint for one kind of page."""

        def endpoint(request: Request) -> Response:
            store, key = None, _key(request)
            try:
                store = self._opener.open(key)
                context = self._opener.page_context(store, key)
                page = answer(store, context, _query(request))
            except WcError as error:
                page = self._error(error, store, key)
            except Exception as error:  # noqa: BLE001  (a bug: logged, and named on the page)
                _log.exception("%s failed", answer.__name__)
                page = self._error(_internal(error), store, key)
            return self._response(page, store, key)

        return endpoint

    def inbox(self, _: Request) -> Response:
        """Answers with what needs the viewer in all stores."""
        store = None
        with suppress(WcError):  # the folder may be without a store
            store = self._opener.open()
        try:
            page = inbox_page(self._opener, self._opener.page_context(store))
        except WcError as error:
            page = self._error(error, store)
        return self._response(page, store)

    def icon(self, request: Request) -> Response:
        """Answers with the icon of the repository."""
        store, key = None, _key(request)
        with suppress(WcError):
            store = self._opener.open(key)
        picture = icon_svg(self._opener.page_context(store).repository)
        return Response(picture, media_type=_KINDS["svg"], headers=_PICTURE)

    def _error(self, error: WcError, store: OpenStore | None, key: str = "") -> WebPage:
        context = self._opener.page_context(store, key)
        if store is None and not key and self._opener.is_new():
            return welcome_page(context)
        return error_page(error, context)

    def _response(
        self, page: WebPage, store: OpenStore | None, key: str = ""
    ) -> Response:
        html = render_page(page, self._opener.page_context(store, key))
        return HTMLResponse(html, page.status)


def _key(request: Request) -> str:
    return str(request.path_params.get("store", ""))


# The SVG is a separate document and has inline styles.
_PICTURE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def _internal(error: Exception) -> WcError:
    return WcError(
        f"This page could not be made ({type(error).__name__}).",
        "The terminal that runs wc-observe has the details. Try: wc doctor",
    )


def _query(request: Request) -> dict[str, str]:
    """Returns the parameters of path and query; the last value of a repeated one."""
    path = {name: text for name, text in request.path_params.items() if name != "store"}
    return {**dict(request.query_params), **path}


def _plan(
    _store: OpenStore, _context: PageContext, _query: Mapping[str, str]
) -> WebPage:
    raise NotFoundError(
        "There is no page of the plan.",
        "What waits for what: wc tree. A thread has its links beside it.",
    )


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
