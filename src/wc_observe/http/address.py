"""Resolves the address to listen on, and refuses addresses open to others without
authentication, and stores that do not exist.

A separate module, so that a refusal does not wait for the server's imports.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import TYPE_CHECKING

from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.base.phrases import shown_path
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import discovery
from wc_observe.callers.open_store import missing_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_observe.callers.calls import ServerContext
    from wc_observe.http.options import HttpOptions

# The name of the store if only one is served, without a name.
ONLY = "store"


class Address(NamedTuple):
    """A numeric address to listen on, and whether only this machine can reach it."""

    host: str
    loopback: bool


def listening_address(options: HttpOptions) -> Address:
    """Returns the address to listen on.

    A name is resolved once: the number that was checked is the one listened on. Raises
    InvalidInputError for an unknown name, and if others could read without
    authentication.
    """
    address = resolve_host(options.host, options.port)
    if address.loopback or options.auth.is_required:
        return address
    raise InvalidInputError(
        f"--host {options.host} lets other machines connect without authentication.",
        "Add --auth token --token-file FILE (or --auth github, --auth jwt), or "
        "listen on this machine only: --host 127.0.0.1",
    )


def loopback_address(host: str, port: int) -> Address:
    """Returns an address that only this machine can reach.

    Raises InvalidInputError for any other address and for an unknown name.
    """
    address = resolve_host(host, port)
    if address.loopback:
        return address
    raise InvalidInputError(
        f"--host {host} lets other machines open the page without authentication.",
        "Forward the page to the other machine: ssh -L "
        "8422:127.0.0.1:8422 HOST, or serve programs with tokens: wc-observe "
        "--transport http --auth token",
    )


def resolve_host(host: str, port: int) -> Address:
    """Returns the first IPv4 address, otherwise the first one. It counts as loopback if
    all addresses are.

    Raises InvalidInputError for an unknown name.
    """
    return asyncio.run(_resolve_host(host, port))


async def _resolve_host(host: str, port: int) -> Address:
    loop = asyncio.get_running_loop()
    try:
        resolved = await loop.getaddrinfo(host.strip("[]"), port)
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(
            f"--host {host} cannot be resolved: {error}.",
            "Listen on this machine only: --host 127.0.0.1",
        ) from error
    hosts = [str(info[4][0]) for info in resolved]
    chosen = next((name for name in hosts if ":" not in name), hosts[0])
    loopback = all(ip_address(name.partition("%")[0]).is_loopback for name in hosts)
    return Address(chosen, loopback)


def store_contexts(
    options: HttpOptions, start: ServerContext
) -> dict[str, ServerContext]:
    """Returns the server context of each store, by the store's name."""
    if not options.stores:
        return {ONLY: start._replace(store_name=ONLY)}
    return {
        name: start._replace(
            folder=folder, env=_env_of(folder, start.env), store_name=name
        )
        for name, folder in options.stores
    }


def _env_of(folder: str, env: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment for a folder: the folder's own store if it is one,
    otherwise the store that belongs to it. The caller's environment could name another
    store."""
    environment = {key: value for key, value in env.items() if key != "WATERCOOLER_DIR"}
    if discovery.is_store(folder) or discovery.is_checkout(folder):
        environment["WATERCOOLER_DIR"] = folder
    return environment


def check_stores(options: HttpOptions, start: ServerContext) -> None:
    """Raises NotFoundError for a store that does not exist, and CorruptError for an
    unusable one: better at the start than in every answer."""
    for name, context in store_contexts(options, start).items():
        place = discovery.find(context.folder, context.env)
        if not place.exists:
            error = missing_store(
                place, shown_path(place.root, context.env), context.env
            )
            option = f"--store {name}: " if options.stores else ""
            raise NotFoundError(f"{option}{error.message}", error.hint)
