"""Login by OAuth: clients without a token are sent to an OpenID Connect issuer.

FastMCP's proxy registers the clients, asks the user for consent, and gives out its own
tokens, each backed by one of the issuer's. All of it is kept in memory: after a
restart, clients log in again. The issuer's id token names the caller and its groups.
"""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING

import httpx2
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.oidc_proxy import OIDCProxy
from key_value.aio.stores.memory import MemoryStore
from starlette.responses import JSONResponse
from starlette.routing import Route

from wc_core.base.errors import InvalidInputError, OfflineError
from wc_observe.http.auth import ExpiringJwtVerifier
from wc_observe.http.callers import Jwt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from wc_observe.http.callers import LoginOptions

SECRET_VARIABLE = "WATERCOOLER_HTTP_OAUTH_SECRET"  # noqa: S105  (a name, no secret)
RESOURCE = "/.well-known/oauth-protected-resource"
_SCOPES = "openid profile email"
# Limits for each kind: registered clients, pending logins, tokens. The most recent
# stay.
_MOST_KEPT = 10_000
_TIMEOUT = 10


class Login:
    """What a server needs for logging clients in."""

    def __init__(self, options: LoginOptions, proxy: OIDCProxy) -> None:
        self.public_url = options.public_url
        self.verifier = LoginVerifier(proxy)
        # One resource for all stores: a token is the caller's, and names no stores. So
        # these addresses do not depend on which stores there are.
        own = [
            route
            for route in proxy.get_routes()
            if isinstance(route, Route) and not route.path.startswith(RESOURCE)
        ]
        self.paths = frozenset(route.path for route in own)
        self.routes = [*own, Route(f"{RESOURCE}{{path:path}}", self._resource)]

    @property
    def resource_url(self) -> str:
        """The address at which a refused client learns how to log in."""
        return f"{self.public_url}{RESOURCE}"

    async def _resource(self, _: Request) -> Response:
        """Answers the same for every path, whether there is a store or not."""
        return JSONResponse(
            {
                "resource": f"{self.public_url}/",
                "authorization_servers": [f"{self.public_url}/"],
                "bearer_methods_supported": ["header"],
            }
        )


class LoginVerifier(TokenVerifier):
    """Verifies the tokens given out after a login."""

    def __init__(self, proxy: OIDCProxy) -> None:
        super().__init__()
        self._proxy = proxy

    async def verify_token(self, token: str) -> AccessToken | None:
        """Returns the caller, as the issuer names it, or None."""
        try:
            access = await self._proxy.verify_token(token)
        except (OverflowError, RecursionError):
            return None
        return access if access is not None and access.subject else None


def build_login(options: LoginOptions, env: Mapping[str, str]) -> Login:
    """Returns what a login needs. Asks the issuer for its endpoints.

    Raises OfflineError if the issuer cannot be reached, and InvalidInputError if its
    answer, or the secret, cannot be used.
    """
    secret = env.get(SECRET_VARIABLE, "").strip()
    if not secret:
        raise InvalidInputError(
            f"--auth oauth needs the client's secret in {SECRET_VARIABLE}.",
            "The issuer gives it when you register this server there.",
        )
    # It warns about each invalid request, in as many words as the client likes.
    logging.getLogger("fastmcp.server.auth").setLevel(logging.ERROR)
    try:
        return Login(options, _proxy(options, secret))
    except (ValueError, httpx2.HTTPStatusError) as error:
        raise InvalidInputError(
            f"{options.issuer} is not an OpenID Connect issuer.",
            "--oauth-issuer is what precedes /.well-known/openid-configuration",
        ) from error
    except httpx2.HTTPError as error:
        raise OfflineError(
            f"{options.issuer} cannot be reached for logins: {error}."
        ) from error


def _proxy(options: LoginOptions, secret: str) -> OIDCProxy:
    config_url = f"{options.issuer}/.well-known/openid-configuration"
    metadata = httpx2.get(config_url, timeout=_TIMEOUT).raise_for_status().json()
    if not isinstance(metadata, dict) or not metadata.get("jwks_uri"):
        raise ValueError("no OpenID Connect")
    expected = Jwt(
        jwks=str(metadata["jwks_uri"]),
        key_file="",
        issuer=str(metadata.get("issuer", options.issuer)),
        audience=options.client_id,
        algorithm=options.algorithm,
        name_claim=options.name_claim,
    )
    return OIDCProxy(
        config_url=config_url,
        timeout_seconds=_TIMEOUT,
        client_id=options.client_id,
        client_secret=secret,
        token_verifier=ExpiringJwtVerifier(expected, None),
        verify_id_token=True,
        base_url=options.public_url,
        client_storage=MemoryStore(max_entries_per_collection=_MOST_KEPT),
        jwt_signing_key=secrets.token_bytes(32),
        extra_authorize_params={"scope": _SCOPES},
        forward_resource=False,
        # It would fetch addresses that a client names.
        enable_cimd=False,
    )
