"""The HTTP application: every store at its own address, and two pages.

Outside in: numbers, letting go when the server leaves, Host and Origin, wrong
tokens. Then, for each address: who calls, how much they may, how long a request
may be.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from fastmcp.server.auth.middleware import RequireAuthMiddleware
from fastmcp.server.http import HostOriginGuardMiddleware, StreamableHTTPASGIApp
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route, request_response

from wc_core.git import discovery
from wc_observe.http.leaving import Leaving, UnderWay
from wc_observe.http.limits import MAX_BODY, Fairness, Guesses
from wc_observe.http.metrics import Answers, Counted, Metrics, Now
from wc_observe.http.pages import healthz, metrics_page, nothing_here
from wc_observe.live.stores import Stores
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp.server.auth import AuthProvider
    from fastmcp.server.http import StarletteWithLifespan
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp

    from wc_observe.calls import ServerContext
    from wc_observe.http.options import HttpOptions

# The name of the only store where none was given one.
ONLY = "store"

# One caller may hold this part of all connections.
_SHARE = 4


class Site(NamedTuple):
    """The application, what it is answering, and the paths at which stores are
    served, by name."""

    app: ASGIApp
    under_way: UnderWay
    paths: dict[str, tuple[str, ...]]


def surroundings(
    options: HttpOptions, start: ServerContext
) -> dict[str, ServerContext]:
    """What each store's calls are answered from, by the store's name."""
    if not options.stores:
        return {ONLY: start._replace(served_as=ONLY)}
    return {
        name: start._replace(
            folder=folder, env=_env_of(folder, start.env), served_as=name
        )
        for name, folder in options.stores
    }


def _env_of(folder: str, env: Mapping[str, str]) -> dict[str, str]:
    """The environment with this folder's store: the folder itself if it is
    one, else what belongs to it. What the environment names is another's."""
    rest = {key: value for key, value in env.items() if key != "WATERCOOLER_DIR"}
    if discovery.is_store(folder) or discovery.is_checkout(folder):
        rest["WATERCOOLER_DIR"] = folder
    return rest


class _Shared(NamedTuple):
    """What every address has to do with."""

    options: HttpOptions
    auth: AuthProvider | None
    metrics: Metrics
    fair: Middleware
    kept: dict[str, Stores]


def build_site(
    options: HttpOptions, start: ServerContext, auth: AuthProvider | None
) -> Site:
    """Everything that is served, not yet listening."""
    stores = surroundings(options, start)
    kept = {name: Stores() for name in stores}
    apps: dict[str, StarletteWithLifespan] = {}
    under_way = UnderWay()
    now = Now(
        sessions=lambda: {name: open_sessions(app) for name, app in apps.items()},
        under_way=lambda: under_way.counts,
        behind=lambda: {name: _behind(one) for name, one in kept.items()},
    )
    metrics = Metrics(stores, now)
    at_once = max(1, options.limits.connections // _SHARE)
    fair = Middleware(Fairness, rate=options.limits.rate, at_once=at_once)
    shared = _Shared(options, auth, metrics, fair, kept)
    for name, one in stores.items():
        apps[name] = _store_app(shared, one)
    paths = {name: _paths(options, name) for name in stores}
    app = Starlette(
        routes=[*_pages(shared, [*stores.values()]), *_mounted(options, apps)],
        middleware=[
            Middleware(Answers, metrics=metrics),
            Middleware(Leaving, under_way=under_way),
            *([Middleware(Guesses)] if auth else ()),
        ],
        lifespan=_lifespan([*apps.values()], options.limits.sessions),
    )
    _say_what_is_not_here(app)
    return Site(app, under_way, paths)


def _mounted(
    options: HttpOptions, apps: Mapping[str, StarletteWithLifespan]
) -> list[Mount]:
    return [
        Mount(path.removesuffix(options.path), app)
        for name, app in apps.items()
        for path in _paths(options, name)
    ]


def _behind(stores: Stores) -> int:
    progress = stores.progress
    return progress.total - progress.done if progress is not None else 0


def _paths(options: HttpOptions, name: str) -> tuple[str, ...]:
    """The paths of a store: under its name, and if it is the only one, plain."""
    named = (f"/stores/{name}{options.path}",) if options.stores else ()
    return named if len(options.stores) > 1 else (*named, options.path)


def _pages(shared: _Shared, stores: Sequence[ServerContext]) -> list[Route]:
    """`/healthz` for anybody, `/metrics` for those who may call."""
    guard = Middleware(
        HostOriginGuardMiddleware,
        allowed_hosts=shared.options.hosts,
        allowed_origins=shared.options.origins,
        mode="strict",
    )
    numbers: Any = metrics_page(shared.metrics)
    asked: list[Middleware] = []
    if auth := shared.auth:
        asked = auth.get_middleware()
        numbers = RequireAuthMiddleware(request_response(numbers), auth.required_scopes)
    around = [guard, *asked, shared.fair]
    return [
        Route("/healthz", healthz(stores), middleware=[guard, shared.fair]),
        Route("/metrics", numbers, methods=["GET"], middleware=around),
    ]


def _store_app(shared: _Shared, start: ServerContext) -> StarletteWithLifespan:
    """FastMCP's application for one store.

    Said in full: what is left out would come from the environment.
    """
    name, options = start.served_as, shared.options
    server = build_server(
        start,
        auth=shared.auth,
        around=[Counted(shared.metrics, name)],
        stores=shared.kept[name],
    )
    app = server.http_app(
        path=options.path,
        transport="http",
        json_response=False,
        stateless_http=False,
        host_origin_protection=True,
        allowed_hosts=[*options.hosts],
        allowed_origins=[*options.origins],
        session_idle_timeout=options.limits.idle,
        middleware=[
            shared.fair,
            Middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY),
        ],
    )
    _say_what_is_not_here(app)
    return app


def _say_what_is_not_here(app: Starlette) -> None:
    app.router.redirect_slashes = False
    app.router.default = request_response(nothing_here)


def _manager(app: StarletteWithLifespan) -> StreamableHTTPSessionManager | None:
    """What keeps a store's sessions, while the application runs.

    Neither FastMCP nor the SDK hands it out, or takes a limit of sessions.
    """
    for route in app.routes:
        endpoint = getattr(route, "endpoint", None)
        endpoint = getattr(endpoint, "app", endpoint)
        if isinstance(endpoint, StreamableHTTPASGIApp):
            return endpoint.session_manager
    raise AssertionError("FastMCP's application has no endpoint of its own")


def open_sessions(app: StarletteWithLifespan) -> int:
    """How many clients of the older protocol have a session in a store."""
    manager = _manager(app)
    return len(manager._server_instances) if manager is not None else 0  # noqa: SLF001


def _lifespan(
    apps: Sequence[StarletteWithLifespan], sessions: int
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Starts and ends all of them; only the outermost application is told to."""

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.lifespan(app))
                manager = _manager(app)
                if manager is not None:
                    manager.max_sessions = sessions
            yield

    return alive
