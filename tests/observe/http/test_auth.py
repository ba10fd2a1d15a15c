"""Who may call: tokens of GitHub and signed ones, against local stand-ins for
those who know them."""

from __future__ import annotations

import asyncio
import base64
import math
import time
from typing import TYPE_CHECKING, Any

import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from joserfc import jwk

from tests.observe.serving import Served, StandIn, serving, standing_in
from tests.observe.stores import MODES, Store, only_text
from wc_observe.http.auth import ExpiringJwtVerifier, token_verifier
from wc_observe.http.callers import Auth, Jwt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.observe.stores import Mode

STATIC = "static-token-0123456789"
ISSUER, AUDIENCE = "https://id.example.org", "https://wc.example.org/mcp"
# The tokens GitHub knows, whose they are, and the organizations of each.
USERS: dict[str, tuple[str, set[str]]] = {
    "gho_alexalexalex": ("Alex", set()),
    "ghp_membermember": ("sam", {"acme"}),
    "github_pat_strangerstranger": ("stranger", {"other"}),
    "plainplainplainplainplain": ("Alex", set()),
}


def github(path: str, token: str) -> tuple[int, Any]:
    """What api.github.com answers."""
    if token not in USERS:
        return 401, {"message": "Bad credentials"}
    login, organizations = USERS[token]
    if path == "/user":
        return 200, {"id": 7, "login": login, "name": "A Name"}
    if path == "/user/repos":
        return 200, []
    organization = path.removeprefix("/user/memberships/orgs/")
    if organization in organizations:
        return 200, {"state": "active"}
    return (200, {"state": "pending"}) if organization == "late" else (404, {})


@pytest.fixture(scope="module")
def keys() -> RSAKeyPair:
    return RSAKeyPair.generate()


@pytest.fixture(scope="module")
def identities(keys: RSAKeyPair) -> Iterator[StandIn]:
    """GitHub and an issuer of signed tokens, at one address."""
    public = jwk.import_key(keys.public_key, "RSA").as_dict(private=False)
    shown = {"keys": [public | {"kid": "one", "use": "sig", "alg": "RS256"}]}

    def answer(path: str, token: str) -> tuple[int, Any]:
        return (200, shown) if path == "/keys" else github(path, token)

    with standing_in(answer) as found:
        yield found


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, identities: StandIn
) -> Iterator[Served]:
    """Takes tokens of all three kinds."""
    folder = tmp_path_factory.mktemp("auth")
    store = Store(folder / ".watercooler")
    store.thread("plan", store.give("plan", "Claude Code (Alex)"))
    tokens = folder / "tokens"
    tokens.write_text(STATIC)
    env = {"HOME": str(folder / "home"), "USER": "pat"}
    with serving(
        folder,
        env | {"WATERCOOLER_HTTP_TOKEN_FILE": str(tokens)},
        *("--auth", "token"),
        *("--auth", "github", "--github-api", identities.address),
        *("--github-login", "alex", "--github-org", "late", "--github-org", "acme"),
        *("--auth", "jwt", "--jwt-jwks", f"{identities.address}/keys"),
        *("--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE),
    ) as served:
        yield served


def signed(keys: RSAKeyPair, **changes: Any) -> str:
    told: dict[str, Any] = {
        "subject": "Alex",
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "kid": "one",
    }
    return keys.create_token(**(told | changes))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("token", "subject"),
    [
        ("gho_alexalexalex", "Alex"),
        ("ghp_membermember", "sam"),
        (STATIC, ""),
        ("signed", "Alex"),
    ],
)
def test_a_token_says_who_calls(
    server: Served, keys: RSAKeyPair, mode: Mode, token: str, subject: str
) -> None:
    token = signed(keys) if token == "signed" else token
    found = server.fields("whoami", token=token, mode=mode)
    assert found.get("subject", "") == subject
    assert found["you"] == f"Claude Code ({subject})".replace(" ()", "")
    listed = server.call("list_threads", {"ball": "me"}, token=token, mode=mode)
    assert ("plan" in only_text(listed)) == (subject == "Alex")


def test_only_those_on_the_list_get_in(server: Served, identities: StandIn) -> None:
    for _ in range(2):  # FastMCP's verifier keeps the users that it has seen
        assert server.hello(token="github_pat_strangerstranger").status_code == 401
    assert "/user/memberships/orgs/acme" in identities.asked
    assert server.hello(token="ghp_unknownunknown").status_code == 401


def test_github_is_shown_no_token_that_is_not_its_own(
    server: Served, identities: StandIn, keys: RSAKeyPair
) -> None:
    asked = len(identities.asked)
    expired = signed(keys, expires_in_seconds=-10)
    for token in ("plainplainplainplainplain", STATIC[:-1], expired):
        assert server.hello(token=token).status_code == 401
    assert set(identities.asked[asked:]) <= {"/keys"}


def test_github_is_asked_about_a_token_once(
    server: Served, identities: StandIn
) -> None:
    server.hello(token="gho_alexalexalex")
    asked = len(identities.asked)
    assert server.hello(token="gho_alexalexalex").status_code == 200
    assert len(identities.asked) == asked


def bad_tokens(keys: RSAKeyPair) -> dict[str, str]:
    good = signed(keys)
    head, body, _ = good.split(".")
    later = {"nbf": int(time.time()) + 600}
    return {
        "for someone else": signed(keys, audience="https://else.example.org"),
        "for nobody": signed(keys, audience=None),
        "of another issuer": signed(keys, issuer="https://evil.example.org"),
        "over": signed(keys, expires_in_seconds=-1),
        "without an end": signed(keys, additional_claims={"exp": None}),
        "not yet valid": signed(keys, additional_claims=later),
        "with an odd beginning": signed(keys, additional_claims={"nbf": "now"}),
        "of nobody": signed(keys, subject=""),
        "signed by another": signed(RSAKeyPair.generate()),
        "with an unknown key": signed(keys, kid="two"),
        "not signed": f"{head}.{body}.",
        "no token at all": "a.b.c",
        "with a header that is nested too deeply": f"{nested(9000)}.{body}.{head}",
        "with a claim that is nested too deeply": f"{head}.{nested(9000)}.{head}",
    } | {f"with the end {end}": signed(keys, **ending(end)) for end in ODD_ENDS}


ODD_ENDS: tuple[Any, ...] = (
    math.inf,
    -math.inf,
    math.nan,
    1e300,
    10**400,
    2**63,
    "soon",
    [1],
    {},
    True,
)


def ending(end: object) -> dict[str, Any]:
    return {"additional_claims": {"exp": end}}


def nested(depth: int) -> str:
    """JSON in many lists, as it is in a token."""
    text = f'{{"alg":"RS256","x":{"[" * depth}{"]" * depth}}}'
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


ODD_NAMES = ("a\0b", "a\nb", "a\tb", "a\x1b[31mb", "a\x85b", "a\u2028b", "a\u202eb")


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_a_name_with_characters_that_nobody_sees_is_refused(
    keys: RSAKeyPair, name: str
) -> None:
    options = Jwt("", "", ISSUER, AUDIENCE, "RS256", name_claim="sub")
    verifier = ExpiringJwtVerifier(options, keys.public_key)
    assert asyncio.run(verifier.verify_token(signed(keys, subject="a b"))) is not None
    assert asyncio.run(verifier.verify_token(signed(keys, subject=name))) is None


def test_an_odd_token_is_answered_with_401(server: Served, keys: RSAKeyPair) -> None:
    claims = {"exp": math.inf}
    for token in (
        signed(keys, additional_claims=claims),
        *(f"{nested(9000)}.e30.e30", f"e30.{nested(9000)}.e30"),
        signed(keys, subject="a\x1bb"),
    ):
        assert server.hello(token=token).status_code == 401


def test_a_signed_token_has_to_be_right_in_everything(keys: RSAKeyPair) -> None:
    with standing_in(github) as nobody:
        told = Jwt(
            f"{nobody.address}/keys", "", ISSUER, AUDIENCE, "RS256", name_claim="sub"
        )
        unreachable = token_verifier(Auth(jwt=told))
        assert unreachable is not None
        assert asyncio.run(unreachable.verify_token(signed(keys))) is None
    public = jwk.import_key(keys.public_key, "RSA").as_dict(private=False)
    shown = {"keys": [public | {"kid": "one"}]}
    with standing_in(lambda _path, _token: (200, shown)) as issuer:
        told = told._replace(jwks=f"{issuer.address}/keys")
        verifier = token_verifier(Auth(jwt=told))
        assert verifier is not None
        found = asyncio.run(verifier.verify_token(signed(keys)))
        assert found is not None
        assert found.subject == "Alex"
        for what, token in bad_tokens(keys).items():
            assert asyncio.run(verifier.verify_token(token)) is None, what


def test_a_key_may_be_given_and_the_name_be_another_claim(
    tmp_path: Path, keys: RSAKeyPair
) -> None:
    file = tmp_path / "key.pem"
    file.write_text(keys.public_key)
    told = Jwt("", str(file), ISSUER, AUDIENCE, "RS256", name_claim="email")
    verifier = token_verifier(Auth(jwt=told))
    assert verifier is not None
    mail = {"email": "alex@example.org"}
    found = asyncio.run(verifier.verify_token(signed(keys, additional_claims=mail)))
    assert found is not None
    assert found.subject == "alex@example.org"
    assert asyncio.run(verifier.verify_token(signed(keys))) is None
    for verified, is_accepted in ((True, True), ("true", True), (False, False)):
        claims = {**mail, "email_verified": verified}
        token = signed(keys, additional_claims=claims)
        found = asyncio.run(verifier.verify_token(token))
        assert (found is not None) is is_accepted, verified


def test_who_keeps_guessing_has_to_wait(server: Served, identities: StandIn) -> None:
    # Others of this module have guessed before; the limit is for all of them.
    until = time.monotonic() + 20
    while server.hello(token=STATIC).status_code == 429:
        assert time.monotonic() < until
        time.sleep(0.2)
    found = [server.hello(token=f"ghp_guess{n:010}").status_code for n in range(25)]
    assert set(found) == {401, 429}
    asked = len(identities.asked)
    answer = server.hello(token="ghp_guessguessguess")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 2
    assert answer.json()["error"]["code"] == "TOO_MANY_REQUESTS"
    assert len(identities.asked) == asked
    # Those who were right before are not in for it, and health is for anyone.
    assert server.hello(token=STATIC).status_code == 200
    assert server.get("/healthz").status_code == 200
