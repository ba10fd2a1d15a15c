"""``wc-observe --transport http``: builds the service and prints where it listens."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING

from wc_core.base.version import __version__
from wc_observe.http.app import build_site
from wc_observe.http.auth import exposed, token_verifier
from wc_observe.http.listening import Bounds, Service, base_url, listen

if TYPE_CHECKING:
    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.address import Address
    from wc_observe.http.app import Site
    from wc_observe.http.login import Login
    from wc_observe.http.options import HttpOptions


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
