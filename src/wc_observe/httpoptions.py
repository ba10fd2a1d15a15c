"""What ``wc-observe --transport http`` may be told, read and checked.

Nothing here serves anything: words in, `Options` out, or the usage and exit
status 2. A token never stands on the command line, where every process of the
machine could read it.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import NamedTuple
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PORT = 8421
TOKEN_VARIABLE = "WATERCOOLER_HTTP_TOKEN"  # noqa: S105  (a name, no token)
TOKEN_FILE_VARIABLE = "WATERCOOLER_HTTP_TOKEN_FILE"  # noqa: S105
METHODS = ("token", "github", "jwt")
GITHUB_API = "https://api.github.com"
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_TAKEN = frozenset({"/healthz", "/metrics"})


class GitHub(NamedTuple):
    """Whose GitHub tokens are taken: these users', and these organizations'."""

    logins: tuple[str, ...]
    organizations: tuple[str, ...]
    api: str


class Jwt(NamedTuple):
    """Which signed tokens are taken; either keys are fetched or one is given."""

    jwks: str
    key_file: str
    issuer: str
    audience: str
    algorithm: str
    name_claim: str


class Auth(NamedTuple):
    """The ways to prove who one is; none of them means nobody is asked."""

    tokens: bool = False
    token_file: str = ""
    github: GitHub | None = None
    jwt: Jwt | None = None

    @property
    def wanted(self) -> bool:
        """Whether a caller has to prove anything."""
        return self.tokens or self.github is not None or self.jwt is not None


class Limits(NamedTuple):
    """What one caller, and all of them, may take; times in seconds."""

    rate: float
    sessions: int
    idle: float
    connections: int
    timeout: float
    grace: float


class Options(NamedTuple):
    """Where to listen, what to serve, to whom.

    ``stores`` are names and folders; none means the one of the folder we were
    started in. ``proxies`` are addresses whose word about the client is taken.
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


def read(words: Sequence[str], env: Mapping[str, str]) -> Options:
    """The options in these words and this environment.

    Ends the process with the usage and status 2 where they cannot be used.
    """
    arguments = parser()
    said = arguments.parse_args(words)
    try:
        return _checked(said, env)
    except ValueError as error:
        arguments.error(str(error))


def parser() -> argparse.ArgumentParser:
    """What the words may be, and the help."""
    parser = argparse.ArgumentParser(
        prog="wc-observe",
        usage="wc-observe --transport http [OPTION]...",
        description="Serves threads to MCP clients over streamable HTTP. "
        "It reads; it cannot write.",
        epilog=f"Static tokens are read from --token-file (or the file that "
        f"{TOKEN_FILE_VARIABLE} names), or are in {TOKEN_VARIABLE}: a line for "
        "each, 'TOKEN' or 'NAME TOKEN'. TLS is a reverse proxy's business.",
        allow_abbrev=False,
    )
    parser.add_argument("--transport", choices=["http"], required=True)
    _add_places(parser)
    _add_auth(parser)
    limits = parser.add_argument_group("limits")
    for flag, default, kind, words in (
        ("--rate", 50.0, float, "requests a second for each caller"),
        ("--max-sessions", 200, int, "open sessions of each store"),
        ("--idle", 900.0, float, "seconds until an idle session ends"),
        ("--max-connections", 512, int, "open connections"),
        ("--timeout", 15.0, float, "seconds to send a request, or take an answer"),
        ("--grace", 10.0, float, "seconds that running calls have to finish"),
    ):
        limits.add_argument(
            flag, type=kind, default=default, metavar="N", help=f"{words} ({default:g})"
        )
    return parser


def _add_places(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    add("--port", type=int, default=PORT, help=f"port, 0 for any ({PORT})")
    add("--path", default="/mcp", help="path of the endpoint (/mcp)")
    add(
        "--store",
        action="append",
        default=[],
        metavar="NAME=FOLDER",
        help="serve this store, or that of this folder, at /stores/NAME/mcp; "
        "may be repeated (default: the store of the current folder, at /mcp)",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="a name under which clients reach this server; may be repeated",
    )
    add(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a web page's origin that may call, such as https://app.example.org",
    )
    add(
        "--trust-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a reverse proxy whose X-Forwarded-… headers are believed",
    )


def _add_auth(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who may call")
    add = group.add_argument
    add(
        "--auth",
        action="append",
        default=[],
        choices=METHODS,
        help="a way to prove who one is; may be repeated (default: none, which is "
        "for loopback only)",
    )
    add("--token-file", default="", metavar="FILE", help="static tokens")
    for flag, what in (("--github-login", "user"), ("--github-org", "organization")):
        add(flag, action="append", default=[], metavar="NAME", help=f"a GitHub {what}")
    add("--github-api", default=GITHUB_API, metavar="URL", help=f"({GITHUB_API})")
    add("--jwt-jwks", default="", metavar="URL", help="where the signing keys are")
    add("--jwt-public-key", default="", metavar="FILE", help="or the key, as PEM")
    add("--jwt-issuer", default="", metavar="URL", help="who issues the tokens")
    add("--jwt-audience", default="", metavar="URL", help="for whom: this server")
    add("--jwt-algorithm", default="RS256", choices=ALGORITHMS, help="(RS256)")
    add("--jwt-name-claim", default="sub", metavar="CLAIM", help="the name (sub)")


def _checked(said: argparse.Namespace, env: Mapping[str, str]) -> Options:
    options = Options(
        host=said.host,
        port=said.port,
        path=said.path,
        stores=tuple(_store(word) for word in said.store),
        hosts=tuple(said.allow_host),
        origins=tuple(said.allow_origin),
        proxies=tuple(said.trust_proxy),
        auth=_auth(said, env),
        limits=_limits(said),
    )
    _check_places(options)
    if not options.auth.wanted:
        _check_loopback_names(options)
    return options


def _check_places(options: Options) -> None:
    """Raise ValueError where this could not be listened on or called."""
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
        if "*" in host or "/" in host or not host.strip():
            raise ValueError(
                f"--allow-host cannot be {host!r}; such as: wc.example.org"
            )
    for origin in options.origins:
        parts = urlsplit(origin)
        if "*" in origin or not parts.hostname or parts.scheme not in {"http", "https"}:
            raise ValueError(
                f"--allow-origin cannot be {origin!r}; such as: https://app.example.org"
            )


def _check_loopback_names(options: Options) -> None:
    """Raise ValueError where others than this machine are to call, unasked who
    they are."""
    public = [one for one in options.hosts if one.casefold() not in _LOCAL]
    if public:
        raise ValueError(
            f"--allow-host {public[0]} is for callers from elsewhere, and they have "
            "to prove who they are: add --auth token (or github, or jwt)."
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


def _auth(said: argparse.Namespace, env: Mapping[str, str]) -> Auth:
    methods = frozenset(said.auth)
    _refuse_unused(said, methods)
    file = said.token_file or env.get(TOKEN_FILE_VARIABLE, "")
    if "token" in methods and not (file or env.get(TOKEN_VARIABLE, "").strip()):
        raise ValueError(
            f"--auth token needs --token-file FILE, {TOKEN_FILE_VARIABLE} or "
            f"{TOKEN_VARIABLE}."
        )
    return Auth(
        tokens="token" in methods,
        token_file=file,
        github=_github(said) if "github" in methods else None,
        jwt=_jwt(said) if "jwt" in methods else None,
    )


def _refuse_unused(said: argparse.Namespace, methods: frozenset[str]) -> None:
    """Raise ValueError for an option of a method that is not asked for: a
    server that was meant to ask for tokens must not start without."""
    given = {
        "token": said.token_file,
        "github": said.github_login or said.github_org,
        "jwt": said.jwt_jwks or said.jwt_public_key,
    }
    for method, value in given.items():
        if value and method not in methods:
            raise ValueError(f"An option for --auth {method} without --auth {method}.")


def _github(said: argparse.Namespace) -> GitHub:
    logins, organizations = tuple(said.github_login), tuple(said.github_org)
    if not logins and not organizations:
        raise ValueError(
            "--auth github needs --github-login or --github-org: else everybody "
            "with a GitHub account may read."
        )
    for one in (*logins, *organizations):
        if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?", one):
            raise ValueError(f"{one!r} cannot be a name on GitHub.")
    return GitHub(logins, organizations, _url("--github-api", said.github_api))


def _jwt(said: argparse.Namespace) -> Jwt:
    if bool(said.jwt_jwks) == bool(said.jwt_public_key):
        raise ValueError("--auth jwt needs --jwt-jwks or --jwt-public-key, not both.")
    if not said.jwt_issuer or not said.jwt_audience:
        raise ValueError(
            "--auth jwt needs --jwt-issuer and --jwt-audience: a token that was "
            "made for another server must not open this one."
        )
    return Jwt(
        jwks=_url("--jwt-jwks", said.jwt_jwks) if said.jwt_jwks else "",
        key_file=said.jwt_public_key,
        issuer=said.jwt_issuer,
        audience=said.jwt_audience,
        algorithm=said.jwt_algorithm,
        name_claim=said.jwt_name_claim,
    )


def _url(flag: str, text: str) -> str:
    """An address we ask about tokens: by TLS, unless it is on this machine."""
    parts = urlsplit(text)
    if not parts.hostname or parts.scheme not in {"http", "https"}:
        raise ValueError(f"{flag} cannot be {text!r}; such as: https://id.example.org")
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        raise ValueError(f"{flag} has to begin with https://.")
    return text.rstrip("/")


def _limits(said: argparse.Namespace) -> Limits:
    limits = Limits(
        rate=said.rate,
        sessions=said.max_sessions,
        idle=said.idle,
        connections=said.max_connections,
        timeout=said.timeout,
        grace=said.grace,
    )
    for name, value in limits._asdict().items():
        # No number at all (nan) is no limit either.
        if not 0 < value < float("inf"):
            raise ValueError(f"A limit has to be a number above 0, and {name} is not.")
    return limits
