"""How callers over HTTP prove who they are: FastMCP's verifiers, and what they
leave open.

Each verifier answers a token with the ``subject`` that `whoami` shows, or with
nothing. What is added to FastMCP's: static tokens are kept as digests, GitHub
users must be on a list, signed tokens must end one day.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Literal

from fastmcp.server.auth import AccessToken, MultiAuth, TokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier, StaticTokenVerifier
from joserfc import jwk
from joserfc.errors import JoseError

from wc_core.errors import InvalidInputError, StorageError
from wc_observe.http.callers import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmcp.server.auth import AuthProvider

    from wc_observe.http.callers import Auth, Jwt

# 20 characters of base64 are 120 bits; what is shorter can be guessed.
MIN_TOKEN = 20
_MAX_FILE = 100_000

_KEY_TYPES: dict[str, Literal["RSA", "EC", "OKP"]]
_KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


def verifiers(auth: Auth, env: Mapping[str, str]) -> AuthProvider | None:
    """What verifies tokens; none if nobody is asked for any. A token is taken
    if one of the ways takes it.

    Raises InvalidInputError for tokens that cannot be used, StorageError for a
    file that cannot be read.
    """
    found: dict[str, TokenVerifier] = {}
    if auth.tokens:
        found["token"] = static(_token_text(auth.token_file, env))
    if auth.jwt is not None:
        found["jwt"] = signed(auth.jwt)
    if auth.github is not None:
        # Brings half a second of imports along, for OAuth flows of its own.
        from wc_observe.http.github import GitHubUsers

        found["github"] = GitHubUsers(auth.github)
    if len(found) > 1:
        return MultiAuth(verifiers=found)
    return next(iter(found.values()), None)


class Digests(StaticTokenVerifier):
    """Static tokens, known by their digests only: how long looking one up
    takes says nothing about any of them."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose token it is."""
        return await super().verify_token(_digest(token))


def static(text: str) -> Digests:
    """The verifier for the tokens in a text, one on each line: ``TOKEN`` or
    ``NAME TOKEN``. Blank lines and those that begin with ``#`` do not count.

    Raises InvalidInputError, which never quotes a token.
    """
    known: dict[str, dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, token = " ".join(words[:-1]), words[-1]
        if len(token) < MIN_TOKEN:
            raise InvalidInputError(
                f"Line {number} of the tokens has one of fewer than {MIN_TOKEN} "
                "characters.",
                "Make one with: openssl rand -base64 32",
            )
        digest = _digest(token)
        # What sessions and shares belong to: two tokens without a name are two
        # callers. Sixteen digits say nothing about the other 192 bits.
        known[digest] = {"client_id": f"token {digest[:16]}", "sub": name}
    if not known:
        raise InvalidInputError(
            "There is no token, so nobody could call.",
            "Make one with: openssl rand -base64 32",
        )
    return Digests(known)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def _token_text(path: str, env: Mapping[str, str]) -> str:
    if not path:
        return env.get(TOKEN_VARIABLE, "")
    return _text_of(path, "the tokens")


def _text_of(path: str, what: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_MAX_FILE)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"The file of {what}, {path}, is no text.") from error
    except OSError as error:
        raise StorageError(
            f"The file of {what}, {path}, cannot be read: {error.strerror}."
        ) from error


class Ending(JWTVerifier):
    """Signed tokens that are valid now and will end; who holds one is named by
    a claim."""

    def __init__(self, told: Jwt, public_key: str | None) -> None:
        super().__init__(
            public_key=public_key,
            jwks_uri=told.jwks or None,
            issuer=told.issuer,
            audience=told.audience,
            algorithm=told.algorithm,
        )
        self._name_claim = told.name_claim

    async def verify_token(self, token: str) -> AccessToken | None:
        """The token's subject, where it has one and is valid now."""
        found = await super().verify_token(token)
        if found is None or found.expires_at is None:
            return None
        begins = found.claims.get("nbf")
        if begins is not None and not _is_past(begins):
            return None
        name = found.claims.get(self._name_claim)
        if not isinstance(name, str) or not name.strip():
            return None
        return found.model_copy(update={"subject": name})


def _is_past(moment: object) -> bool:
    return isinstance(moment, (int, float)) and moment <= time.time()


def signed(told: Jwt) -> Ending:
    """The verifier of signed tokens.

    Raises StorageError for a key that cannot be read, InvalidInputError for
    one that is none.
    """
    if told.jwks:
        return Ending(told, None)
    key = _text_of(told.key_file, "the public key")
    try:
        known = jwk.import_key(key, _KEY_TYPES[told.algorithm[:2]])
    except (JoseError, ValueError) as error:
        raise InvalidInputError(
            f"{told.key_file} has no public key for {told.algorithm}, in PEM: {error}.",
        ) from error
    if known.is_private:
        raise InvalidInputError(
            f"{told.key_file} has no public key but the private one.",
            "It can sign tokens: keep it from this server.",
        )
    return Ending(told, key)
