"""``wc-observe --transport http``: listens, says where, and leaves in order."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

import uvicorn
from sse_starlette.sse import AppStatus

from wc_core.errors import StorageError
from wc_core.version import __version__
from wc_observe.httpapp import build_site
from wc_observe.httpauth import verifiers
from wc_observe.httpconnection import Connection

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from wc_observe.calls import Surroundings
    from wc_observe.httpaddress import Address
    from wc_observe.httpapp import Site
    from wc_observe.httpoptions import Options

# After the calls have been let go of, for what the protocol still has to say.
_LAST_WORDS = 2
_KEEP_ALIVE = 5


class Server(uvicorn.Server):
    """uvicorn's, with a word when it listens and an orderly end: the first
    signal lets running calls finish, the second does not."""

    def __init__(self, config: uvicorn.Config, site: Site, grace: float) -> None:
        super().__init__(config)
        self._site = site
        self._grace = grace

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listen, then say where."""
        await super().startup(sockets)
        if self.started:
            _say(self._where())

    def handle_exit(self, sig: int, _: FrameType | None) -> None:
        """A signal came."""
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Close the streams, wait for the calls, stop."""
        leave = asyncio.ensure_future(self._site.under_way.leave(self._grace))
        await super().shutdown(sockets)
        leave.cancel()

    def _where(self) -> str:
        host, port, *_ = self.servers[0].sockets[0].getsockname()
        name = f"[{host}]" if ":" in host else host
        base = f"http://{name}:{port}"
        lines = [f"wc-observe {__version__}: listening on {base}"]
        for store, paths in self._site.paths.items():
            lines.append(f"  {store}: {' '.join(base + path for path in paths)}")
        if not ip_address(host.partition("%")[0]).is_loopback:
            lines.append("  Tokens are not encrypted: put a proxy with TLS before it.")
        return "".join(f"{line}\n" for line in lines)


def serve(address: Address, options: Options, start: Surroundings) -> None:
    """Serve until a signal comes.

    Raises InvalidInputError for tokens or keys that cannot be used,
    StorageError where it cannot listen or a file cannot be read.
    """
    found = verifiers(options.auth, start.env)
    site = build_site(options, start, found)
    config = _config(site, address, options)
    # It would end the streams of running calls with the others.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    # What strangers send is no event of ours; what we cannot answer is.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    try:
        asyncio.run(Server(config, site, options.limits.grace).serve())
    except SystemExit as error:
        raise StorageError(
            f"Cannot listen on {address.host} port {options.port} (see above).",
            "Choose another with --port N, or --port 0 for any that is free.",
        ) from error


def _config(site: Site, address: Address, options: Options) -> uvicorn.Config:
    return uvicorn.Config(
        site.app,
        host=address.host,
        port=options.port,
        loop="asyncio",
        http=partial(Connection, seconds=options.limits.timeout),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=[*options.proxies],
        limit_concurrency=options.limits.connections,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=int(options.limits.grace) + _LAST_WORDS,
    )


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
