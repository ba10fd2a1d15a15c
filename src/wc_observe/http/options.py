"""The options of ``wc-observe --transport http``, parsed and checked.

Turns the command line into `HttpOptions`, or prints the usage and exits with status 2.
Serves nothing.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wc_core.base.values import NamedTuple
from wc_observe.http.callers import (
    LOCAL,
    TOKEN_FILE_VARIABLE,
    add_auth,
    auth_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_observe.http.callers import Auth

PORT = 8421

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
_TAKEN = frozenset({"/healthz", "/metrics"})


class Limits(NamedTuple):
    """Limits for each caller and for all of them together; times in seconds."""

    rate: float
    sessions: int
    idle: float
    connections: int
    timeout: float
    grace: float


class HttpOptions(NamedTuple):
    """Where to listen, what to serve, to whom.

    ``stores`` are names and folders; empty means the store of the current folder.
    ``proxies`` are addresses whose headers about the client are trusted.
    """

    host: str
    port: int
    path: str
    stores: tuple[tuple[str, str], ...]
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    proxies: tuple[str, ...]
    auth: Auth
    limits: Limits
    graph: str = ""
    access: str = ""
    groups_claim: str = "groups"


def read(words: Sequence[str], env: Mapping[str, str]) -> HttpOptions:
    """Parses the command line and environment. Prints the usage and exits with
    status 2 if they are wrong."""
    arguments = parser()
    parsed = arguments.parse_args(words)
    try:
        return _checked_options(parsed, env)
    except ValueError as error:
        arguments.error(str(error))


def parser() -> argparse.ArgumentParser:
    """Returns the parser, which also has the help."""
    parser = argparse.ArgumentParser(
        prog="wc-observe",
        usage="wc-observe --transport http [OPTION]...",
        description="Serves threads to MCP clients over streamable HTTP. "
        "It is read-only.",
        epilog=f"Static tokens are read from --token-file (or the file that "
        f"{TOKEN_FILE_VARIABLE} names): one per line, "
        "'TOKEN' or 'NAME TOKEN'. For TLS, use a reverse proxy.",
        allow_abbrev=False,
    )
    parser.add_argument("--transport", choices=["http"], required=True)
    _add_places(parser)
    add_auth(parser)
    limits = parser.add_argument_group("limits")
    for flag, name, default, words in (
        ("--rate", "rate", 50.0, "requests per second and caller"),
        ("--max-sessions", "sessions", 200, "open sessions per store"),
        ("--idle", "idle", 900.0, "seconds until an idle session ends"),
        ("--max-connections", "connections", 512, "open connections"),
        ("--timeout", "timeout", 15.0, "seconds to send a request, or take an answer"),
        ("--grace", "grace", 10.0, "seconds for running calls to finish"),
    ):
        limits.add_argument(
            flag,
            dest=name,
            type=type(default),
            default=default,
            metavar="N",
            help=f"{words} ({default:g})",
        )
    return parser


def _add_places(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    add("--port", type=int, default=PORT, help=f"port, 0 for any ({PORT})")
    add("--path", default="/mcp", help="path of the endpoint (/mcp)")
    several: list[str] = []
    for flag, default, metavar, words in (
        (
            *("--store", several, "NAME=FOLDER"),
            (
                "serve this store, or that of this folder, at /stores/NAME/mcp; "
                "may be repeated (default: the store of the current folder, at /mcp)"
            ),
        ),
        (
            *("--graph", "", "URL"),
            "graph database for answers about all stores that a caller may see",
        ),
        (
            *("--allow-host", several, "HOST"),
            "a name under which clients reach this server; may be repeated",
        ),
        (
            *("--allow-origin", several, "ORIGIN"),
            "a web page's origin that may call, such as https://app.example.org",
        ),
        (
            *("--trust-proxy", several, "ADDRESS"),
            "a reverse proxy whose X-Forwarded-… headers are trusted",
        ),
    ):
        action = "append" if default is several else "store"
        add(flag, action=action, default=default, metavar=metavar, help=words)


def _checked_options(parsed: argparse.Namespace, env: Mapping[str, str]) -> HttpOptions:
    options = HttpOptions(
        host=parsed.host,
        port=parsed.port,
        path=parsed.path,
        stores=tuple(_store(word) for word in parsed.store),
        hosts=(*parsed.allow_host, *_public_host(parsed.public_url)),
        origins=tuple(parsed.allow_origin),
        proxies=tuple(parsed.trust_proxy),
        auth=auth_of(parsed, env),
        limits=_limits(parsed),
        graph=parsed.graph,
        access=parsed.access,
        groups_claim=parsed.groups_claim,
    )
    _check_places(options)
    if not options.auth.is_required:
        if options.access:
            raise ValueError("--access needs --auth: it lists names of callers.")
        _check_loopback_names(options)
    return options


def _public_host(url: str) -> tuple[str, ...]:
    """The host name in the server's public address, if it has one."""
    name = urlsplit(url).hostname if url else None
    return (name,) if name and name not in LOCAL else ()


def _check_places(options: HttpOptions) -> None:
    """Raises ValueError if the server could not listen, or be called, like this."""
    if not options.host.strip():
        raise ValueError("--host is empty; it would mean every address.")
    if not 0 <= options.port <= 65535:  # noqa: PLR2004  (what a port is)
        raise ValueError(f"--port cannot be {options.port}.")
    if not _PATH.fullmatch(options.path) or options.path in _TAKEN:
        raise ValueError(f"--path cannot be {options.path!r}; such as: /mcp")
    names = [name for name, _ in options.stores]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"--store names {', '.join(sorted(twice))} twice.")
    for host in options.hosts:
        _check_host(host)
    for origin in options.origins:
        _check_origin(origin)


def _check_host(host: str) -> None:
    if "*" in host or "/" in host or not host.strip():
        raise ValueError(f"--allow-host cannot be {host!r}; such as: wc.example.org")


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if "*" in origin or not parts.hostname or parts.scheme not in {"http", "https"}:
        raise ValueError(
            f"--allow-origin cannot be {origin!r}; such as: https://app.example.org"
        )


def _check_loopback_names(options: HttpOptions) -> None:
    """Raises ValueError if callers from other machines would not have to
    authenticate."""
    public = [host for host in options.hosts if host.casefold() not in LOCAL]
    if public:
        raise ValueError(
            f"--allow-host {public[0]} is for callers on other machines, which have "
            "to authenticate: add --auth token (or github, or jwt)."
        )


def _store(word: str) -> tuple[str, str]:
    name, equals, folder = word.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise ValueError(
            f"--store cannot be {word!r}; write NAME=FOLDER, the name in small "
            "letters, digits, '.', '_' and '-'."
        )
    folder = os.path.realpath(os.path.expanduser(folder))
    if not os.path.isdir(folder):
        raise ValueError(f"--store {name}: there is no folder {folder}.")
    return name, folder


def _limits(parsed: argparse.Namespace) -> Limits:
    limits = Limits(*(getattr(parsed, name) for name in Limits._fields))
    for name, value in limits._asdict().items():
        # nan is not a limit either.
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be a number above 0.")
    return limits
