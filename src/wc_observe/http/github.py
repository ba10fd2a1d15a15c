"""GitHub tokens of the users on a list, for those who ask for them."""

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

# What GitHub's tokens begin with. No other is shown to it: a token for somebody
# else is none of its business, and asking takes time.
_GITHUB_TOKEN = re.compile(r"(?:gh[opusr]_|github_pat_)[A-Za-z0-9_]{10,}")

# A user who is taken off a list may go on reading for that long.
_GITHUB_SECONDS = 300
_GITHUB_TOKENS = 1000
_TIMEOUT = 10.0


class GitHubUsers(GitHubTokenVerifier):
    """GitHub tokens of the users on a list, or of an organization's members.

    A token of anybody at all is one that GitHub knows, so the list decides. To
    see a private membership the token needs the scope ``read:org``.
    """

    def __init__(self, allowed: GitHub) -> None:
        transport = None if allowed.api == GITHUB_API else _Elsewhere(allowed.api)
        client = httpx2.AsyncClient(timeout=_TIMEOUT, transport=transport)
        super().__init__(http_client=client)
        self._client = client
        self._logins = frozenset(one.casefold() for one in allowed.logins)
        self._organizations = allowed.organizations
        self._known = TokenCache(ttl_seconds=_GITHUB_SECONDS, max_size=_GITHUB_TOKENS)

    async def verify_token(self, token: str) -> AccessToken | None:
        """The user, by login; answered from memory for five minutes."""
        if not _GITHUB_TOKEN.fullmatch(token):
            return None
        cached, known = self._known.get(token)
        if cached:
            return known
        found = await super().verify_token(token)
        login = str(found.claims.get("login") or "") if found is not None else ""
        if found is None or not login or not await self._allowed(login, token):
            return None
        user = found.model_copy(update={"subject": login})
        self._known.set(token, user)
        return user

    async def _allowed(self, login: str, token: str) -> bool:
        if login.casefold() in self._logins:
            return True
        for organization in self._organizations:
            if await self._is_member(organization, token):
                return True
        return False

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


class _Elsewhere(httpx2.AsyncHTTPTransport):
    """What is asked of github.com is asked of another one, such as a GitHub
    Enterprise Server: FastMCP's verifier knows no other address."""

    def __init__(self, api: str) -> None:
        super().__init__()
        self._api = api

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the other address."""
        address = str(request.url).replace(GITHUB_API, self._api, 1)
        moved = httpx2.Request(
            request.method,
            address,
            headers=[(k, v) for k, v in request.headers.items() if k != "host"],
            extensions=request.extensions,
        )
        return await super().handle_async_request(moved)
