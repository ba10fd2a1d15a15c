"""The pages served over HTTP besides MCP: `/healthz`, `/metrics`, errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import JSONResponse, Response

from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.version import __version__
from wc_core.ledger.git import discovery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.metrics import Metrics


def error_response(
    status: int,
    code: str,
    message: str,
    hint: str,
    headers: Mapping[str, str] | None = None,
) -> ASGIApp:
    """Returns a response with an error in wc's usual form."""
    body = {"error": {"code": code, "message": message, "hint": hint}}
    return JSONResponse(body, status_code=status, headers=headers)


async def unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers for a path or store that is not served. It does not name those that are,
    because the caller has not authenticated."""
    answer = error_response(
        404,
        "NOT_FOUND",
        "Nothing is served at this address.",
        "Ask the people who run this server for the address of your store.",
    )
    await answer(scope, receive, send)


def healthz(
    stores: Sequence[ServerContext], *, is_brief: bool = False
) -> Callable[[Request], Awaitable[Response]]:
    """Returns the page that tells anyone whether every store can be read: counts and
    our version, no names; without counts if it ``is_brief``."""

    async def page(_: Request) -> Response:
        readable = await anyio.to_thread.run_sync(_readable, stores)
        fields = {
            "ok": readable == len(stores),
            "version": __version__,
        }
        if not is_brief:
            fields |= {"stores": len(stores), "unreadable": len(stores) - readable}
        return JSONResponse(fields, status_code=200 if fields["ok"] else 503)

    return page


def _readable(stores: Sequence[ServerContext]) -> int:
    return sum(is_readable(store) for store in stores)


def is_readable(store: ServerContext) -> bool:
    """Returns whether the store exists and its threads can be listed."""
    try:
        place = discovery.find(store.folder, store.env)
        if not place.exists:
            return False
        with os.scandir(Layout(place.root).threads) as threads:
            next(threads, None)
    except FileNotFoundError:
        return True  # a store without threads
    except (WcError, OSError):
        return False
    return True


def metrics_page(metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
    """Returns the page for Prometheus."""

    async def page(_: Request) -> Response:
        text, kind = await anyio.to_thread.run_sync(metrics.exposition)
        return Response(text, headers={"Content-Type": kind})

    return page
