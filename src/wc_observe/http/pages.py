"""What is served over HTTP beside MCP: `/healthz`, `/metrics`, refusals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.responses import JSONResponse, Response

from wc_core.errors import WcError
from wc_core.git import discovery
from wc_core.layout import Layout
from wc_core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from wc_observe.calls import ServerContext
    from wc_observe.http.metrics import Metrics


def problem(
    status: int,
    code: str,
    message: str,
    hint: str,
    headers: Mapping[str, str] | None = None,
) -> ASGIApp:
    """An answer that refuses, in the words of every other error of ours."""
    told = {"error": {"code": code, "message": message, "hint": hint}}
    return JSONResponse(told, status_code=status, headers=headers)


async def nothing_here(_: Request) -> Response:
    """The answer for a path, or a store, that is not served. It names none of
    those that are: who asks has not said who they are."""
    told = {
        "code": "NOT_FOUND",
        "message": "Nothing is served at this address.",
        "hint": "Ask whoever runs this server for the address of your store.",
    }
    return JSONResponse({"error": told}, status_code=404)


def healthz(
    stores: Sequence[ServerContext],
) -> Callable[[Request], Awaitable[Response]]:
    """The page that says whether every store can be read, to anybody: counts
    and our version, no names."""

    async def page(_: Request) -> Response:
        readable = await anyio.to_thread.run_sync(_readable, stores)
        fields = {
            "ok": readable == len(stores),
            "version": __version__,
            "stores": len(stores),
            "unreadable": len(stores) - readable,
        }
        return JSONResponse(fields, status_code=200 if fields["ok"] else 503)

    return page


def _readable(stores: Sequence[ServerContext]) -> int:
    return sum(is_readable(store) for store in stores)


def is_readable(store: ServerContext) -> bool:
    """Whether there is a store and its threads can be listed."""
    try:
        place = discovery.find(store.folder, store.env)
        if not place.exists:
            return False
        with os.scandir(Layout(place.root).threads) as threads:
            next(threads, None)
    except FileNotFoundError:
        return True  # one that nobody has written to yet
    except (WcError, OSError):
        return False
    return True


def metrics_page(metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
    """The page for Prometheus."""

    async def page(_: Request) -> Response:
        text, kind = await anyio.to_thread.run_sync(metrics.rendered)
        return Response(text, headers={"Content-Type": kind})

    return page
