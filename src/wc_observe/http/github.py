"""Authentication with GitHub tokens, for users on a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx2
from fastmcp.server.auth.providers.github import GitHubTokenVerifier
from fastmcp.utilities.token_cache import TokenCache

from wc_observe.http.callers import GITHUB_API

if TYPE_CHECKING:
    from fastmcp.server.auth import AccessToken

    from wc_observe.http.callers import GitHub

# The form of GitHub's tokens. Other tokens are not sent to GitHub: it must not see
# tokens for other services, and asking takes time.
_GITHUB_TOKEN = re.compile(r"(?:gh[opusr]_|github_pat_)[A-Za-z0-9_]{10,}")

# Seconds. A user removed from a list can read for this much longer.
_GITHUB_SECONDS = 300
_GITHUB_TOKENS = 1000
_TIMEOUT = 10.0


class GitHubUsers(GitHubTokenVerifier):
    """Verifies GitHub tokens of listed users, or of an organization's members.

    Every GitHub account has valid tokens, so the list decides. To see a private
    membership the token needs the scope ``read:org``.
    """

    def __init__(self, allowed: GitHub) -> None:
        transport = None if allowed.api == GITHUB_API else _OtherHost(allowed.api)
        client = httpx2.AsyncClient(timeout=_TIMEOUT, transport=transport)
        super().__init__(http_client=client)
        self._client = client
        self._logins = frozenset(login.casefold() for login in allowed.logins)
        self._organizations = allowed.organizations
        self._cache = TokenCache(ttl_seconds=_GITHUB_SECONDS, max_size=_GITHUB_TOKENS)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Returns the user by login, cached for five minutes."""
        if not _GITHUB_TOKEN.fullmatch(token):
            return None
        cached, cached_user = self._cache.get(token)
        if cached:
            return cached_user
        access = await super().verify_token(token)
        login = str(access.claims.get("login") or "") if access is not None else ""
        if access is None or not login:
            return None
        groups = [
            organization
            for organization in self._organizations
            if await self._is_member(organization, token)
        ]
        if not groups and login.casefold() not in self._logins:
            return None
        claims = {**access.claims, "groups": groups}
        user = access.model_copy(update={"subject": login, "claims": claims})
        self._cache.set(token, user)
        return user

    async def _is_member(self, organization: str, token: str) -> bool:
        try:
            answer = await self._client.get(
                f"{GITHUB_API}/user/memberships/orgs/{organization}",
                headers={"Authorization": f"Bearer {token}"},
            )
            return answer.status_code == httpx2.codes.OK and (
                answer.json().get("state") == "active"
            )
        except (httpx2.RequestError, ValueError, AttributeError):
            return False


class _OtherHost(httpx2.AsyncHTTPTransport):
    """Redirects requests for github.com to another host, such as a GitHub Enterprise
    Server, because FastMCP's verifier knows no other address."""

    def __init__(self, api: str) -> None:
        super().__init__()
        self._api = api

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request to the other host."""
        address = str(request.url).replace(GITHUB_API, self._api, 1)
        moved = httpx2.Request(
            request.method,
            address,
            headers=[(k, v) for k, v in request.headers.items() if k != "host"],
            extensions=request.extensions,
        )
        return await super().handle_async_request(moved)
