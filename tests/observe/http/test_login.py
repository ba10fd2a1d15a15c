"""Login by OAuth, against a stand-in for an issuer of OpenID Connect."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from joserfc import jwk

from tests.observe.serving import Served, bearer, refused, serving
from tests.observe.stores import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLIENT, SECRET = "wc-server", "the-secret-of-the-server"
REDIRECT = "http://localhost:5555/callback"
ACCESS = '[http.stores]\nteam = ["alex"]\nlab = ["group:lab"]\n'


class Issuer(ThreadingHTTPServer):
    """Logs in whoever ``user`` is, without asking; ``groups`` are theirs."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Issuing)
        self.keys = RSAKeyPair.generate()
        self.user, self.groups = "alex", ["staff"]
        self.codes: dict[str, str] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def token(self, **changes: Any) -> str:
        claims = {"groups": self.groups} | changes.pop("claims", {})
        given = {
            "subject": self.user,
            "issuer": self.address,
            "audience": CLIENT,
            "additional_claims": claims,
        }
        return self.keys.create_token(**(given | changes), kid="one")


class _Issuing(BaseHTTPRequestHandler):
    server: Issuer

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        own = self.server.address
        if parts.path == "/.well-known/openid-configuration":
            self._answer(
                {
                    "issuer": own,
                    "authorization_endpoint": f"{own}/authorize",
                    "token_endpoint": f"{own}/token",
                    "jwks_uri": f"{own}/keys",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"],
                }
            )
        elif parts.path == "/keys":
            key = jwk.import_key(self.server.keys.public_key, "RSA")
            fields = key.as_dict(private=False)
            self._answer({"keys": [fields | {"kid": "one", "alg": "RS256"}]})
        elif parts.path != "/authorize":
            self._answer({}, 404)
        else:
            asked = dict(parse_qsl(parts.query))
            assert asked["client_id"] == CLIENT
            assert "openid" in asked["scope"].split()
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = asked["redirect_uri"]
            answer = urlencode({"code": code, "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{answer}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        asked = dict(parse_qsl(self.rfile.read(size).decode()))
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        is_ours = self.headers["Authorization"] == f"Basic {basic}"
        if not is_ours or self.server.codes.pop(asked.get("code", ""), "") == "":
            self._answer({"error": "invalid_grant"}, 400)
            return
        token = self.server.token()
        self._answer(
            {
                "access_token": "opaque",
                "id_token": token,
                "token_type": "Bearer",
                "expires_in": 3600,
                "scope": "openid",
            }
        )

    def _answer(self, fields: object, status: int = 200) -> None:
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        thread = Thread(target=issuer.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield issuer
        issuer.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("login")
    (place / "access.toml").write_text(ACCESS)
    for name in ("team", "lab"):
        store = Store(place / name / ".watercooler")
        store.thread("plan", store.give("plan", "Codex (alex)"))
    return place


def environment(place: Path) -> dict[str, str]:
    secret = {"WATERCOOLER_HTTP_OAUTH_SECRET": SECRET}
    return {"HOME": str(place), "PATH": "/usr/bin:/bin"} | secret


def options(place: Path, issuer: Issuer, port: int) -> list[str]:
    stores = [f"--store={name}={place}/{name}" for name in ("team", "lab")]
    login = [f"--oauth-issuer={issuer.address}", f"--oauth-client-id={CLIENT}"]
    own = [f"--public-url=http://127.0.0.1:{port}", f"--port={port}"]
    access = f"--access={place}/access.toml"
    return [*stores, "--auth=oauth", *login, *own, access, "--rate=1000"]


@pytest.fixture(scope="module")
def server(place: Path, issuer: Issuer) -> Iterator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    before = {path for path in place.rglob("*") if path.is_file()}
    words = options(place, issuer, port)
    with serving(place, environment(place), *words) as server:
        yield server
    assert {path for path in place.rglob("*") if path.is_file()} == before


def log_in(server: Served) -> str:
    """What a client and a browser do, up to the token."""
    refusal = server.http.post(f"{server.base}/stores/team/mcp")
    assert refusal.status_code == 401
    found = re.search(
        r'resource_metadata="([^"]+)"', refusal.headers["www-authenticate"]
    )
    assert found
    resource = server.http.get(found[1]).json()
    (authority,) = resource["authorization_servers"]
    described = f"{authority}.well-known/oauth-authorization-server"
    endpoints = server.http.get(described).json()
    client = server.http.post(
        endpoints["registration_endpoint"],
        json={"redirect_uris": [REDIRECT], "client_name": "A client"},
    ).json()
    verifier = "v" * 64
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    asked = {
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": REDIRECT,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "state": "mine",
        "resource": resource["resource"],
    }
    with httpx2.Client(verify=False, trust_env=False) as browser:
        page = browser.get(
            f"{endpoints['authorization_endpoint']}?{urlencode(asked)}",
            follow_redirects=True,
        )
        fields = dict(re.findall(r'name="(\w+)"\s+value="([^"]*)"', page.text))
        fields["action"] = "approve"
        at = str(page.url)
        origin = {"Origin": server.base, "Sec-Fetch-Site": "same-origin"}
        step = browser.post(at, data=fields, headers=origin)
        while not step.headers["location"].startswith(REDIRECT):
            step = browser.get(step.headers["location"])
    answer = parse_qs(urlsplit(step.headers["location"]).query)
    assert answer["state"] == ["mine"]
    given = server.http.post(
        endpoints["token_endpoint"],
        data={
            "grant_type": "authorization_code",
            "code": answer["code"][0],
            "redirect_uri": REDIRECT,
            "client_id": client["client_id"],
            "client_secret": client.get("client_secret", ""),
            "code_verifier": verifier,
            "resource": resource["resource"],
        },
    )
    assert given.status_code == 200, given.text
    token: str = given.json()["access_token"]
    return token


def test_a_login_names_the_caller_and_opens_their_stores(
    server: Served, issuer: Issuer
) -> None:
    issuer.user, issuer.groups = "alex", ["staff"]
    token = log_in(server)
    me = server.fields("whoami", path="/stores/team/mcp", token=token)
    assert me["you"] == "Claude Code (alex)"
    hidden = server.http.get(f"{server.base}/stores/lab/mcp", headers=bearer(token))
    missing = server.http.get(f"{server.base}/stores/none/mcp", headers=bearer(token))
    assert (hidden.status_code, hidden.content) == (404, missing.content)
    issuer.user, issuer.groups = "sam", ["lab"]
    other = log_in(server)
    me = server.fields("whoami", path="/stores/lab/mcp", token=other)
    assert me["you"] == "Claude Code (sam)"
    assert server.hello("/stores/team/mcp", other).status_code == 404


def test_only_tokens_of_a_login_are_accepted(server: Served, issuer: Issuer) -> None:
    for token in (issuer.token(), "opaque", issuer.token(subject="alex"), "x" * 40):
        assert server.hello("/stores/team/mcp", token).status_code == 401


def test_where_to_log_in_says_nothing_about_stores(server: Served) -> None:
    path = "/.well-known/oauth-protected-resource"
    answers = {
        server.get(f"{path}{end}").text
        for end in ("", "/", "/stores/team/mcp", "/stores/none/mcp", "/x/y")
    }
    assert len(answers) == 1
    assert "team" not in answers.pop()
    for address in ("/stores/team/mcp", "/stores/none/mcp", "/nothing"):
        assert server.get(address).status_code == 401


def test_a_code_is_of_use_once(server: Served) -> None:
    answer = server.http.post(
        f"{server.base}/token",
        data={"grant_type": "authorization_code", "code": "x", "client_id": "y"},
    )
    assert answer.status_code in {400, 401}


def test_what_a_login_needs(place: Path, issuer: Issuer) -> None:
    words = options(place, issuer, 1)
    env = environment(place)
    status, said = refused(place, env | {"WATERCOOLER_HTTP_OAUTH_SECRET": ""}, *words)
    assert (status, "WATERCOOLER_HTTP_OAUTH_SECRET" in said) == (2, True)
    status, said = refused(place, env, *words, "--oauth-issuer=http://127.0.0.1:1")
    assert (status, "cannot be reached for logins" in said) == (8, True)
    status, said = refused(place, env, *words, f"--oauth-issuer={issuer.address}/no")
    assert (status, "is not an OpenID Connect issuer" in said) == (2, True)
    status, said = refused(place, env, *words, "--public-url=http://wc.example.org")
    assert (status, "https" in said) == (2, True)
    status, said = refused(place, env, "--auth=oauth")
    assert (status, "--auth oauth needs" in said) == (2, True)
