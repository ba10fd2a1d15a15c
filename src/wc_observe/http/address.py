"""Where to listen, and that nobody unasked gets there.

Apart from the server, so that a refusal does not wait for its imports.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import InvalidInputError

if TYPE_CHECKING:
    from wc_observe.http.options import HttpOptions


class Address(NamedTuple):
    """An address to listen on, as a number, and whether only this machine can
    reach it."""

    host: str
    loopback: bool


def listening_at(options: HttpOptions) -> Address:
    """The address to listen on.

    A name is looked up once: it is the number that is judged and listened on.
    Raises InvalidInputError for an unknown name, and where others could read
    without being asked who they are.
    """
    address = looked_up(options.host, options.port)
    if address.loopback or options.auth.wanted:
        return address
    raise InvalidInputError(
        f"--host {options.host} lets other machines call, and nobody would ask "
        "them who they are.",
        "Add --auth token --token-file FILE (or --auth github, --auth jwt), or "
        "listen on this machine alone: --host 127.0.0.1",
    )


def only_here(host: str, port: int) -> Address:
    """An address of this machine that no other can reach, to listen on.

    Raises InvalidInputError for any other and for an unknown name.
    """
    address = looked_up(host, port)
    if address.loopback:
        return address
    raise InvalidInputError(
        f"--host {host} lets other machines open the page, and it asks nobody who "
        "they are.",
        "Take the page to the other machine through a tunnel: ssh -L "
        "8422:127.0.0.1:8422 HOST, or serve programs with tokens: wc-observe "
        "--transport http --auth token",
    )


def looked_up(host: str, port: int) -> Address:
    """The first address of IPv4, else the first; loopback if they all are.

    Raises InvalidInputError for an unknown name.
    """
    return asyncio.run(_looked_up(host, port))


async def _looked_up(host: str, port: int) -> Address:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host.strip("[]"), port)
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(
            f"--host {host} is not known: {error}.",
            "Listen on this machine alone: --host 127.0.0.1",
        ) from error
    hosts = [str(one[4][0]) for one in found]
    chosen = next((one for one in hosts if ":" not in one), hosts[0])
    loopback = all(ip_address(one.partition("%")[0]).is_loopback for one in hosts)
    return Address(chosen, loopback)
