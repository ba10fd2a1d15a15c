"""The options for who may call over HTTP, parsed and checked.

A token is never on the command line, where every process of the machine could read it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

TOKEN_FILE_VARIABLE = "WATERCOOLER_HTTP_TOKEN_FILE"  # noqa: S105
METHODS = ("token", "github", "jwt", "oauth")
GITHUB_API = "https://api.github.com"
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class GitHub(NamedTuple):
    """Whose GitHub tokens are accepted: those of these users and of these
    organizations' members."""

    logins: tuple[str, ...]
    organizations: tuple[str, ...]
    api: str


class Jwt(NamedTuple):
    """Which signed tokens are accepted; their keys are fetched, or one is given."""

    jwks: str
    key_file: str
    issuer: str
    audience: str
    algorithm: str
    name_claim: str


class LoginOptions(NamedTuple):
    """Where callers log in, as which client, and this server's address for them. The
    claims of the issuer's tokens are as for `Jwt`."""

    issuer: str
    client_id: str
    public_url: str
    algorithm: str
    name_claim: str


class Auth(NamedTuple):
    """The methods of authentication; without any, callers need not authenticate."""

    tokens: bool = False
    token_file: str = ""
    github: GitHub | None = None
    jwt: Jwt | None = None
    login: LoginOptions | None = None

    @property
    def is_required(self) -> bool:
        """Whether a caller has to authenticate."""
        others = (self.github, self.jwt, self.login)
        return self.tokens or any(method is not None for method in others)


def add_auth(parser: argparse.ArgumentParser) -> None:
    """Adds the authentication options to a parser."""
    group = parser.add_argument_group("who may call")
    add = group.add_argument
    add(
        "--auth",
        action="append",
        default=[],
        choices=METHODS,
        help="a way to authenticate; may be repeated (default: none, allowed "
        "on loopback only)",
    )
    for flag, default, metavar, words in (
        ("--access", "", "FILE", "who may see which store"),
        ("--groups-claim", "groups", "CLAIM", "of a token, with its holder's groups"),
        ("--token-file", "", "FILE", "static tokens"),
        ("--github-login", [], "NAME", "a GitHub user"),
        ("--github-org", [], "NAME", "a GitHub organization"),
        ("--github-api", GITHUB_API, "URL", ""),
        ("--jwt-jwks", "", "URL", "address of the signing keys"),
        ("--jwt-public-key", "", "FILE", "or the key, as PEM"),
        ("--jwt-issuer", "", "URL", "who issues the tokens"),
        ("--jwt-audience", "", "URL", "the audience: this server"),
        ("--jwt-algorithm", "RS256", None, ""),
        ("--jwt-name-claim", "sub", "CLAIM", "the name"),
        ("--oauth-issuer", "", "URL", "where callers log in"),
        ("--oauth-client-id", "", "ID", "this server's client id there"),
        ("--public-url", "", "URL", "this server's address for callers"),
    ):
        add(
            flag,
            action="append" if default == [] else "store",
            default=default,
            metavar=metavar,
            choices=None if metavar else ALGORITHMS,
            help=f"{words} ({default})".strip() if default else words,
        )


def auth_of(parsed: argparse.Namespace, env: Mapping[str, str]) -> Auth:
    """Returns the chosen methods. Raises ValueError if they cannot be used."""
    methods = frozenset(parsed.auth)
    _refuse_unused(parsed, methods)
    file = parsed.token_file or env.get(TOKEN_FILE_VARIABLE, "")
    if "token" in methods and not file:
        raise ValueError(
            f"--auth token needs --token-file FILE, or {TOKEN_FILE_VARIABLE}."
        )
    return Auth(
        tokens="token" in methods,
        token_file=file,
        github=_github(parsed) if "github" in methods else None,
        jwt=_jwt(parsed) if "jwt" in methods else None,
        login=_login(parsed) if "oauth" in methods else None,
    )


def _refuse_unused(parsed: argparse.Namespace, methods: frozenset[str]) -> None:
    """Raises ValueError for an option of a method that was not chosen: a server that
    was meant to require tokens must not start without them."""
    options = {
        "token": parsed.token_file,
        "github": parsed.github_login or parsed.github_org,
        "jwt": parsed.jwt_jwks or parsed.jwt_public_key,
        "oauth": parsed.oauth_issuer or parsed.oauth_client_id or parsed.public_url,
    }
    for method, value in options.items():
        if value and method not in methods:
            raise ValueError(f"An option for --auth {method} without --auth {method}.")


def _github(parsed: argparse.Namespace) -> GitHub:
    logins, organizations = tuple(parsed.github_login), tuple(parsed.github_org)
    if not logins and not organizations:
        raise ValueError(
            "--auth github needs --github-login or --github-org: otherwise everyone "
            "with a GitHub account may read."
        )
    for name in (*logins, *organizations):
        if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?", name):
            raise ValueError(f"{name!r} is not a possible GitHub name.")
    return GitHub(logins, organizations, _url("--github-api", parsed.github_api))


def _jwt(parsed: argparse.Namespace) -> Jwt:
    if bool(parsed.jwt_jwks) == bool(parsed.jwt_public_key):
        raise ValueError("--auth jwt needs --jwt-jwks or --jwt-public-key, not both.")
    if not parsed.jwt_issuer or not parsed.jwt_audience:
        raise ValueError(
            "--auth jwt needs --jwt-issuer and --jwt-audience: a token that was "
            "made for another server must not be accepted."
        )
    return Jwt(
        jwks=_url("--jwt-jwks", parsed.jwt_jwks) if parsed.jwt_jwks else "",
        key_file=parsed.jwt_public_key,
        issuer=parsed.jwt_issuer,
        audience=parsed.jwt_audience,
        algorithm=parsed.jwt_algorithm,
        name_claim=parsed.jwt_name_claim,
    )


def _login(parsed: argparse.Namespace) -> LoginOptions:
    if not (parsed.oauth_issuer and parsed.oauth_client_id and parsed.public_url):
        raise ValueError(
            "--auth oauth needs --oauth-issuer, --oauth-client-id and --public-url."
        )
    return LoginOptions(
        issuer=_url("--oauth-issuer", parsed.oauth_issuer),
        client_id=parsed.oauth_client_id,
        public_url=_url("--public-url", parsed.public_url),
        algorithm=parsed.jwt_algorithm,
        name_claim=parsed.jwt_name_claim,
    )


def _url(flag: str, text: str) -> str:
    """An address that is queried about tokens: with TLS, unless it is on this
    machine."""
    parts = urlsplit(text)
    if not parts.hostname or parts.scheme not in {"http", "https"}:
        raise ValueError(f"{flag} cannot be {text!r}; such as: https://id.example.org")
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        raise ValueError(f"{flag} has to begin with https://.")
    return text.rstrip("/")
