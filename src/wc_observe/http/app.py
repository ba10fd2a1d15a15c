"""The HTTP application: a path for each store, `/healthz` and `/metrics`.

From the outside in: metrics, orderly shutdown, pages of this machine, the limit on
wrong tokens, the token. Then, for each path: Host and Origin, authentication, rate
limits, body size.
"""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from fastmcp.server.auth.middleware import RequireAuthMiddleware
from fastmcp.server.http import HostOriginGuardMiddleware, StreamableHTTPASGIApp
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route, request_response

from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__
from wc_observe.http.address import store_contexts
from wc_observe.http.auth import exposed, token_verifier
from wc_observe.http.limits import MAX_BODY, CallerLimit, GuessLimit, SessionLimit
from wc_observe.http.listening import (
    Bounds,
    Leaving,
    Service,
    UnderWay,
    base_url,
    listen,
)
from wc_observe.http.metrics import CallCounter, LiveFigures, Metrics, ResponseCounter
from wc_observe.http.pages import healthz, metrics_page, unknown_path
from wc_observe.http.requests import (
    AccessGate,
    OwnOrigin,
    TokenGate,
    WholeRequest,
    load_access,
)
from wc_observe.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Callable,
        Mapping,
        MutableMapping,
        Sequence,
    )
    from contextlib import AbstractAsyncContextManager

    from fastmcp.server.auth import AccessToken, AuthProvider
    from fastmcp.server.http import StarletteWithLifespan
    from mcp.server.streamable_http import StreamableHTTPServerTransport
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp

    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.address import Address
    from wc_observe.http.login import Login
    from wc_observe.http.options import HttpOptions
    from wc_observe.http.requests import Access


class Site(NamedTuple):
    """The application, the requests being answered, and the paths of each store."""

    app: ASGIApp
    under_way: UnderWay
    paths: dict[str, tuple[str, ...]]


class _Shared(NamedTuple):
    """What the applications of all stores share."""

    options: HttpOptions
    auth: AuthProvider | None
    metrics: Metrics
    fair: Callable[..., Middleware]
    access: Access | None = None


class _Served(NamedTuple):
    """The served stores, and who may see which."""

    contexts: dict[str, ServerContext]
    access: Access | None

    def visible(self, token: AccessToken | None) -> list[ServerContext]:
        """Returns the stores that a token's holder may see."""
        return [
            context
            for name, context in self.contexts.items()
            if self.access is None or self.access.allows(name, token)
        ]


def _access(options: HttpOptions, stores: Mapping[str, ServerContext]) -> Access | None:
    if not options.access:
        return None
    return load_access(options.access, stores, options.groups_claim)


def build_site(
    options: HttpOptions,
    start: ServerContext,
    auth: AuthProvider | None,
    login: Login | None = None,
) -> Site:
    """Builds everything that is served, without listening.

    Raises InvalidInputError and StorageError if the access rules are missing or
    unusable.
    """
    stores = store_contexts(options, start)
    access = _access(options, stores)
    served = _Served(stores, access)
    apps: dict[str, StarletteWithLifespan] = {}
    under_way = UnderWay()
    now = LiveFigures(
        sessions=lambda: {name: open_sessions(app) for name, app in apps.items()},
        under_way=lambda: under_way.counts,
    )
    metrics = Metrics(stores, now)
    tokens = [Middleware(GuessLimit)] if auth else []
    if auth is not None:
        tokens.append(Middleware(TokenGate, auth=auth, login=login))
    limits = options.limits
    fair = partial(
        Middleware, CallerLimit, rate=limits.rate, connections=limits.connections
    )
    shared = _Shared(options, auth, metrics, fair, access)
    for name, context in stores.items():
        apps[name] = _store_app(shared, context._replace(served=served.visible))
    paths = {name: _paths(options, name) for name in stores}
    app = Starlette(
        routes=[
            *_pages(shared, [*stores.values()]),
            *(_login_routes(shared, login) if login is not None else ()),
            *_mounted(shared, apps),
        ],
        middleware=[
            Middleware(ResponseCounter, metrics=metrics),
            Middleware(Leaving, under_way=under_way),
            Middleware(OwnOrigin, allowed=options.origins),
            *tokens,
        ],
        lifespan=_lifespan([*apps.values()], options.limits.sessions),
    )
    _answer_unknown_paths(app)
    return Site(app, under_way, paths)


def _mounted(shared: _Shared, apps: Mapping[str, StarletteWithLifespan]) -> list[Mount]:
    options, access = shared.options, shared.access
    return [
        Mount(
            path.removesuffix(options.path),
            app if access is None else AccessGate(app, partial(access.allows, name)),
        )
        for name, app in apps.items()
        for path in _paths(options, name)
    ]


def _paths(options: HttpOptions, name: str) -> tuple[str, ...]:
    """Returns the paths of a store: under its name, and also without it if it is the
    only one."""
    named = (f"/stores/{name}{options.path}",) if options.stores else ()
    return named if len(options.stores) > 1 else (*named, options.path)


def _pages(shared: _Shared, stores: Sequence[ServerContext]) -> list[Route]:
    """Returns the routes of `/healthz`, which is open, and `/metrics`, which needs a
    token if the stores do."""
    guard = Middleware(
        HostOriginGuardMiddleware,
        allowed_hosts=shared.options.hosts,
        allowed_origins=shared.options.origins,
        mode="strict",
    )
    numbers: Any = metrics_page(shared.metrics)
    authentication: list[Middleware] = []
    if auth := shared.auth:
        authentication = auth.get_middleware()
        numbers = RequireAuthMiddleware(request_response(numbers), auth.required_scopes)
    access = shared.access
    gate = [Middleware(AccessGate, allows=access.allows_metrics)] if access else []
    around = [guard, *authentication, *gate, shared.fair()]
    health = healthz(stores, is_brief=access is not None)
    return [
        Route("/healthz", health, middleware=[guard, shared.fair()]),
        Route("/metrics", numbers, methods=["GET"], middleware=around),
    ]


def _login_routes(shared: _Shared, login: Login) -> list[Route]:
    """Returns the routes of a login, with the same limits as all others."""
    around = [
        Middleware(
            HostOriginGuardMiddleware,
            allowed_hosts=shared.options.hosts,
            allowed_origins=(*shared.options.origins, login.public_url),
            mode="strict",
        ),
        shared.fair(),
        Middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY),
    ]
    return [
        Route(route.path, route.endpoint, methods=route.methods, middleware=around)
        for route in login.routes
    ]


def _store_app(shared: _Shared, start: ServerContext) -> StarletteWithLifespan:
    """Returns FastMCP's application for one store.

    Every option is given, because FastMCP would take missing ones from the environment.
    """
    name, options = start.store_name, shared.options
    server = build_server(
        start,
        auth=shared.auth,
        outer=[CallCounter(shared.metrics, name)],
    )
    app: StarletteWithLifespan = server.http_app(
        path=options.path,
        transport="http",
        json_response=False,
        stateless_http=False,
        host_origin_protection=True,
        allowed_hosts=[*options.hosts],
        allowed_origins=[*options.origins],
        session_idle_timeout=options.limits.idle,
        middleware=[
            shared.fair(is_session=lambda session: session in _sessions(app)),
            Middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY),
            Middleware(WholeRequest),
            Middleware(
                SessionLimit,
                most=options.limits.sessions,
                idle=options.limits.idle,
                transports=lambda: _sessions(app),
            ),
        ],
    )
    _answer_unknown_paths(app)
    return app


def _answer_unknown_paths(app: Starlette) -> None:
    app.router.redirect_slashes = False
    app.router.default = unknown_path


def _session_manager(app: StarletteWithLifespan) -> StreamableHTTPSessionManager | None:
    """Returns the manager of a store's sessions while the application runs.

    Neither FastMCP nor the SDK gives access to it or limits sessions.
    """
    for route in app.routes:
        endpoint = getattr(route, "endpoint", None)
        endpoint = getattr(endpoint, "app", endpoint)
        if isinstance(endpoint, StreamableHTTPASGIApp):
            return endpoint.session_manager
    raise AssertionError("FastMCP's application has no endpoint of its own")


def open_sessions(app: StarletteWithLifespan) -> int:
    """Returns how many clients of the older protocol have a session."""
    return len(_sessions(app))


def _sessions(
    app: StarletteWithLifespan,
) -> MutableMapping[str, StreamableHTTPServerTransport]:
    """Returns the open sessions, by id."""
    manager = _session_manager(app)
    return manager._server_instances if manager is not None else {}  # noqa: SLF001


def _lifespan(
    apps: Sequence[StarletteWithLifespan], sessions: int
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Starts and ends all applications, because only the outermost one gets lifespan
    events."""

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.lifespan(app))
                manager = _session_manager(app)
                if manager is not None:
                    manager.max_sessions = sessions
            yield

    return alive


def serve(address: Address, options: HttpOptions, start: ServerContext) -> None:
    """Serves until a signal comes.

    Raises InvalidInputError for unusable tokens or keys, StorageError if it cannot
    listen or a file cannot be read, and OfflineError if the login issuer is
    unreachable.
    """
    login = _login(options, start)
    verifier = token_verifier(
        options.auth, login.verifier if login is not None else None
    )
    site = build_site(options, start, verifier, login)
    limits = options.limits
    service = Service(
        site.app,
        site.under_way,
        Bounds(limits.connections, limits.timeout, limits.grace),
        lambda host, port: _say(_start_message(site, host, port, options)),
        options.proxies,
    )
    listen(address.host, options.port, service)


def _login(options: HttpOptions, start: ServerContext) -> Login | None:
    if options.auth.login is None:
        return None
    from wc_observe.http.login import build_login  # 0.3 s, only for logins

    return build_login(options.auth.login, start.env)


def _start_message(site: Site, host: str, port: int, options: HttpOptions) -> str:
    base = base_url(host, port)
    lines = [f"wc-observe {__version__}: listening on {base}"]
    for store, paths in site.paths.items():
        lines.append(f"  {store}: {' '.join(base + path for path in paths)}")
    if not ip_address(host.partition("%")[0]).is_loopback:
        lines.append("  Tokens are not encrypted: put a TLS proxy in front of it.")
    file = options.auth.token_file if options.auth.tokens else ""
    if file and (problem := exposed(file)):
        lines.append(f"  {problem}")
    return "".join(f"{line}\n" for line in lines)


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
