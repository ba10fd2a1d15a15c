"""Authentication over HTTP: FastMCP's token verifiers, made stricter.

Each verifier maps a token to the ``subject`` that `whoami` shows, or to None.
Additional rules: static tokens are kept as digests, GitHub users must be on a list, and
signed tokens must expire.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from typing import TYPE_CHECKING, Literal

import httpx2
from fastmcp.server.auth import AccessToken, MultiAuth, TokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier, StaticTokenVerifier
from fastmcp.utilities.token_cache import TokenCache
from joserfc import jwk
from joserfc.errors import JoseError

from wc_core.base.errors import InvalidInputError, StorageError
from wc_core.base.phrases import quoted
from wc_core.base.text import clean
from wc_observe.http.callers import GITHUB_API

if TYPE_CHECKING:
    from fastmcp.server.auth import AuthProvider

    from wc_observe.http.callers import Auth, GitHub, Jwt

# 20 characters of base64 are 120 bits. Shorter tokens could be guessed.
MIN_TOKEN = 20
_MAX_FILE = 100_000
_LAST_END = 253_402_300_800

# The form of GitHub's tokens. Other tokens are not sent to GitHub: it must not see
# tokens for other services, and asking takes time.
_GITHUB_TOKEN = re.compile(r"(?:gh[opusr]_|github_pat_)[A-Za-z0-9_]{10,}")

# Seconds. A user removed from a list can read for this much longer.
_GITHUB_SECONDS = 300
_GITHUB_TOKENS = 1000
_GITHUB_TIMEOUT = 10.0

_KEY_TYPES: dict[str, Literal["RSA", "EC", "OKP"]]
_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


def token_verifier(
    auth: Auth, login: TokenVerifier | None = None
) -> AuthProvider | None:
    """Returns the token verifier, or None if no authentication is required. A token is
    valid if any of the methods accepts it; ``login`` accepts those given out here.

    Raises InvalidInputError for unusable tokens and StorageError for a file that cannot
    be read.
    """
    by_method: dict[str, TokenVerifier] = {}
    if auth.tokens:
        by_method["token"] = static_verifier(_read_text(auth.token_file, "the tokens"))
    if auth.jwt is not None:
        by_method["jwt"] = jwt_verifier(auth.jwt)
    if auth.github is not None:
        by_method["github"] = GitHubUsers(auth.github)
    if login is not None:
        by_method["oauth"] = login
    if len(by_method) > 1:
        return MultiAuth(verifiers=by_method)
    return next(iter(by_method.values()), None)


class DigestVerifier(StaticTokenVerifier):
    """Static tokens, kept only as digests, so that the time of a lookup reveals nothing
    about a token."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Returns the access that a token gives, or None."""
        return await super().verify_token(_digest(token))


def static_verifier(text: str) -> DigestVerifier:
    """Returns the verifier for tokens given as text, one per line: ``TOKEN`` or ``NAME
    TOKEN``. Blank lines and lines that begin with ``#`` are ignored.

    Raises InvalidInputError, which never quotes a token.
    """
    tokens: dict[str, dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, token = " ".join(words[:-1]), words[-1]
        if len(token) < MIN_TOKEN:
            raise InvalidInputError(
                f"The token in line {number} has fewer than {MIN_TOKEN} characters.",
                "Create one with:  openssl rand -base64 32",
            )
        digest = _digest(token)
        # This id identifies sessions and limits: two tokens without a name are two
        # callers. Sixteen digits reveal nothing about the other 192 bits.
        tokens[digest] = {"client_id": f"token {digest[:16]}", "sub": name}
    if not tokens:
        raise InvalidInputError(
            "There is no token, so no one could connect.",
            "Create one with:  openssl rand -base64 32",
        )
    return DigestVerifier(tokens)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def exposed(path: str) -> str:
    """Returns how other users of the machine can read or replace a file of tokens, with
    the command that ends it; empty if they cannot."""
    try:
        path = os.path.realpath(path)
        if os.stat(path).st_mode & 0o077:
            return f"Other users may use {path}: chmod 600 {quoted(path)}"
        folder = path
        while folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            mode = os.stat(folder).st_mode
            if mode & 0o022 and not mode & stat.S_ISVTX:
                return f"Other users may replace {path}: chmod go-w {quoted(folder)}"
    except OSError as error:
        return f"Who may use {path} is unknown: {error.strerror}."
    return ""


def _read_text(path: str, content: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_MAX_FILE)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The file of {content}, {path}, is not text."
        ) from error
    except OSError as error:
        raise StorageError(
            f"The file of {content}, {path}, cannot be read: {error.strerror}."
        ) from error


class ExpiringJwtVerifier(JWTVerifier):
    """Signed tokens that are valid now and expire. One claim names the subject."""

    def __init__(self, options: Jwt, public_key: str | None) -> None:
        super().__init__(
            public_key=public_key,
            jwks_uri=options.jwks or None,
            issuer=options.issuer,
            audience=options.audience,
            algorithm=options.algorithm,
        )
        self._name_claim = options.name_claim

    async def verify_token(self, token: str) -> AccessToken | None:
        """Returns the access that a token gives if it is valid now and names a
        subject."""
        try:
            access = await super().verify_token(token)
        except (OverflowError, RecursionError):
            # An end without end, or JSON that is nested too deeply: anyone can send
            # that, because a token is parsed before its signature is checked.
            return None
        if access is None or not _is_end(access.claims.get("exp")):
            return None
        begins = access.claims.get("nbf")
        if begins is not None and not _is_past(begins):
            return None
        name = access.claims.get(self._name_claim)
        if not isinstance(name, str) or not name.strip() or not _is_name(name):
            return None
        # Such a claim is present where anyone can put any address into a profile.
        verified = str(access.claims.get("email_verified", True))
        if self._name_claim == "email" and verified.casefold() != "true":
            return None
        return access.model_copy(update={"subject": name})


def _is_past(moment: object) -> bool:
    return isinstance(moment, (int, float)) and moment <= time.time()


def _is_end(moment: object) -> bool:
    """Whether a claim can be the end of a token's validity, before the year 10000."""
    return isinstance(moment, (int, float)) and 0 < moment < _LAST_END


def _is_name(name: str) -> bool:
    """Whether a claim can name someone: on one line, and all of it visible."""
    return clean(name) == name and not {"\n", "\t"} & set(name)


def jwt_verifier(options: Jwt) -> ExpiringJwtVerifier:
    """Returns the verifier of signed tokens.

    Raises StorageError for a key that cannot be read and InvalidInputError for an
    unusable one.
    """
    if options.jwks:
        return ExpiringJwtVerifier(options, None)
    key = _read_text(options.key_file, "the public key")
    try:
        parsed = jwk.import_key(key, _KEY_TYPES[options.algorithm[:2]])
    except (JoseError, ValueError) as error:
        raise InvalidInputError(
            f"{options.key_file} has no public key for {options.algorithm}, in PEM: "
            f"{error}.",
        ) from error
    if parsed.is_private:
        raise InvalidInputError(
            f"{options.key_file} has no public key but a private one.",
            "It can sign tokens: keep it off this server.",
        )
    return ExpiringJwtVerifier(options, key)


class GitHubUsers(TokenVerifier):
    """Verifies GitHub tokens of listed users, or of an organization's members.

    Every GitHub account has valid tokens, so the list decides. To see a private
    membership the token needs the scope ``read:org``.
    """

    def __init__(self, allowed: GitHub) -> None:
        # 500 ms of imports, for OAuth flows that are not used here.
        from fastmcp.server.auth.providers.github import GitHubTokenVerifier

        super().__init__()
        transport = None if allowed.api == GITHUB_API else _OtherHost(allowed.api)
        self._client = httpx2.AsyncClient(timeout=_GITHUB_TIMEOUT, transport=transport)
        self._verifier = GitHubTokenVerifier(http_client=self._client)
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
        access = await self._verifier.verify_token(token)
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
