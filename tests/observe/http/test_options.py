"""What may be said on the command line of the server over HTTP."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair

from tests.observe.serving import PROGRAM, pipe, refused, serving
from tests.observe.stores import Store
from wc_core.base.errors import InvalidInputError, StorageError, WcError
from wc_observe.callers.calls import ServerContext
from wc_observe.http import options as httpoptions
from wc_observe.http.address import Address, listening_address
from wc_observe.http.app import serve
from wc_observe.http.auth import exposed, token_verifier
from wc_observe.http.callers import Auth, GitHub

if TYPE_CHECKING:
    from pathlib import Path

    from wc_observe.http.options import HttpOptions

KEY_PAIR = RSAKeyPair.generate()
RSA_KEY = KEY_PAIR.public_key
TOKEN = "a-token-0123456789-a-token"
ENV = {"WATERCOOLER_HTTP_TOKEN_FILE": "x"}
GITHUB = ["--auth", "github", "--github-login", "alex"]
ISSUED = ["--jwt-issuer", "https://id.example.org", "--jwt-audience", "wc"]
KEYS = ["--jwt-jwks", "https://id.example.org/keys"]


def read(*words: str, env: dict[str, str] | None = None) -> HttpOptions:
    return httpoptions.read(["--transport", "http", *words], env or {})


def test_without_options_it_is_for_this_machine_alone() -> None:
    options = read()
    assert (options.host, options.port, options.path) == ("127.0.0.1", 8421, "/mcp")
    assert options.auth == Auth()
    assert not options.auth.is_required
    assert options.stores == ()
    assert options.proxies == ()


def test_every_option_is_read(tmp_path: Path) -> None:
    options = read(
        *("--host", "::1", "--port", "0", "--path", "/a/b"),
        *("--store", f"one={tmp_path}", f"--store=two.2={tmp_path}"),
        *("--allow-host", "wc.example.org", "--allow-origin", "https://a.example.org"),
        *("--trust-proxy", "10.0.0.1", "--auth", "token", "--token-file", "x"),
        *(*GITHUB, "--github-org", "acme", "--github-api", "https://git.example.org/"),
        *("--auth", "jwt", *KEYS, *ISSUED, "--jwt-name-claim", "email"),
        *("--rate", "1.5", "--max-sessions", "2", "--idle", "3"),
        *("--max-connections", "4", "--timeout", "5", "--grace", "6"),
    )
    assert options.stores == (("one", str(tmp_path)), ("two.2", str(tmp_path)))
    assert options.auth.token_file == "x"
    assert options.auth.github == GitHub(
        ("alex",), ("acme",), "https://git.example.org"
    )
    assert options.auth.jwt is not None
    assert options.auth.jwt.algorithm == "RS256"
    assert options.limits == httpoptions.Limits(1.5, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bogus"], "--bogus"),
        (["serve"], "serve"),
        (["--token", TOKEN], "--token"),
        (["--hos", "127.0.0.1"], "--hos"),
        (["--transport", "sse"], "sse"),
        (["--host", " "], "--host is empty"),
        (["--port", "-1"], "--port cannot be -1"),
        (["--port", "65536"], "--port cannot be 65536"),
        (["--port", "x"], "--port"),
        (["--path", "mcp"], "--path"),
        (["--path", "/"], "--path"),
        (["--path", "/mcp/"], "--path"),
        (["--path", "/{x}"], "--path"),
        (["--path", "/metrics"], "--path"),
        (["--store", "/tmp"], "NAME=FOLDER"),
        (["--store", "Team=/"], "NAME=FOLDER"),
        (["--store", "a/b=/"], "NAME=FOLDER"),
        (["--store", "..=/"], "NAME=FOLDER"),
        (["--store", "x=/nowhere/at/all"], "there is no folder"),
        (["--store", "x=/", "--store", "x=/"], "x twice"),
        (["--allow-host", "*"], "--allow-host"),
        (["--allow-host", "wc.example.org"], "have to authenticate"),
        (["--allow-origin", "*"], "--allow-origin"),
        (["--allow-origin", "example.org"], "--allow-origin"),
        (["--auth", "none"], "--auth"),
        (["--auth", "token"], "WATERCOOLER_HTTP_TOKEN_FILE"),
        (["--token-file", "x"], "without --auth token"),
        (GITHUB[2:], "without --auth github"),
        (KEYS, "without --auth jwt"),
        (["--auth", "github"], "everyone"),
        (["--auth", "github", "--github-login", "a/b"], "a/b"),
        ([*GITHUB, "--github-api", "http://git.example.org"], "https://"),
        ([*GITHUB, "--github-api", "git.example.org"], "--github-api"),
        (["--auth", "jwt"], "--jwt-jwks"),
        (["--auth", "jwt", *KEYS], "made for another server"),
        (["--auth", "jwt", *KEYS, *ISSUED[:2]], "made for another server"),
        (["--auth", "jwt", *KEYS, "--jwt-public-key", "x", *ISSUED], "not both"),
        (["--auth", "jwt", *KEYS, *ISSUED, "--jwt-algorithm", "HS256"], "HS256"),
        (["--auth", "jwt", *KEYS, *ISSUED, "--jwt-algorithm", "none"], "none"),
        (["--rate", "0"], "rate"),
        (["--rate", "nan"], "rate"),
        (["--grace", "inf"], "grace"),
        (["--max-sessions", "-1"], "sessions"),
    ],
)
def test_what_cannot_be_used_ends_with_the_usage(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        read(*words)
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: wc-observe --transport http")
    assert said in told.partition("error:")[2]


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.8.9.10", "127.8.9.10"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("localhost", "127.0.0.1"),
    ],
)
def test_loopback_needs_no_token(host: str, address: str) -> None:
    assert listening_address(read("--host", host)) == Address(address, loopback=True)


@pytest.mark.parametrize(
    "host",
    # "0" and "::ffff:0.0.0.0" are other ways to say every address.
    ["0.0.0.0", "::", "0", "192.0.2.7", "::ffff:0.0.0.0", "2001:db8::7"],
)
def test_elsewhere_is_refused_without_a_token_and_not_with_one(host: str) -> None:
    with pytest.raises(InvalidInputError, match="without authentication") as caught:
        listening_address(read("--host", host))
    assert "--auth token" in caught.value.hint
    assert not listening_address(
        read("--host", host, "--auth", "token", env=ENV)
    ).loopback


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="cannot be resolved"):
        listening_address(read("--host", "no-such-host.invalid"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no token"),
        ("# nothing\n\n", "no token"),
        ("short", "fewer than 20"),
        (f"{TOKEN}\nalex pass\n", "line 2"),
    ],
)
def test_tokens_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(text)
    options = read("--auth", "token", "--token-file", str(file))
    with pytest.raises(InvalidInputError) as caught:
        token_verifier(options.auth)
    assert said in caught.value.message
    assert "pass" not in caught.value.message


def test_a_token_file_that_others_can_read_or_replace_is_named(
    tmp_path: Path, env: dict[str, str]
) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir(mode=0o700)
    file = folder / "tokens"
    file.write_text(TOKEN)
    link = tmp_path / "link"
    link.symlink_to(file)
    for mode, others, problem in (
        (0o600, 0o755, ""),
        (0o400, 0o1777, ""),  # as in /tmp: nobody else can replace it there
        (0o640, 0o755, f"Other users may use {file}: chmod 600 '{file}'"),
        (0o604, 0o755, f"Other users may use {file}: chmod 600 '{file}'"),
        (0o600, 0o775, f"Other users may replace {file}: chmod go-w '{folder}'"),
        (0o600, 0o757, f"Other users may replace {file}: chmod go-w '{folder}'"),
    ):
        file.chmod(mode)
        folder.chmod(others)
        assert exposed(str(file)) == exposed(str(link)) == problem
    assert "No such file" in exposed(str(folder / "none"))
    Store(tmp_path / ".watercooler")
    options = ("--auth", "token", "--token-file", str(file))
    with serving(tmp_path, env, *options) as server:
        assert server.hello(token=TOKEN).status_code == 200
        warning = pipe(server.process.stderr).readline()
    assert warning.strip() == exposed(str(file))


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    for words in (
        ["--auth", "token", "--token-file", str(file)],
        ["--auth", "jwt", "--jwt-public-key", str(file), *ISSUED],
    ):
        with pytest.raises(WcError, match=str(file)):
            token_verifier(read(*words).auth)


@pytest.mark.parametrize(
    ("text", "algorithm"),
    [
        (KEY_PAIR.private_key.get_secret_value(), "RS256"),
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "RS256"),
        ("words", "RS256"),
        (RSA_KEY, "ES256"),
        (RSA_KEY, "Ed25519"),
    ],
)
def test_a_file_without_the_key_is_refused(
    tmp_path: Path, text: str, algorithm: str
) -> None:
    file = tmp_path / "key.pem"
    file.write_text(text)
    words = ["--jwt-public-key", str(file), *ISSUED, "--jwt-algorithm", algorithm]
    options = read("--auth", "jwt", *words)
    with pytest.raises(InvalidInputError, match="no public key"):
        token_verifier(options.auth)


def test_a_refusal_is_explained_in_words(tmp_path: Path, env: dict[str, str]) -> None:
    status, said = refused(tmp_path, env, "--host", "0.0.0.0")
    assert status == 2
    assert said.startswith("wc-observe: --host 0.0.0.0 lets other machines connect")
    assert "127.0.0.1" in said


@pytest.mark.parametrize("named", [False, True])
def test_a_store_that_does_not_exist_is_reported_at_the_start(
    tmp_path: Path, env: dict[str, str], *, named: bool
) -> None:
    words = ["--store", f"team={tmp_path}"] if named else []
    status, said = refused(tmp_path, env, *words)
    assert status == 3
    begin = "wc-observe: --store team: " if named else "wc-observe: "
    assert said.startswith(f"{begin}There is no store yet; it would be ")
    assert "wc init" in said
    assert "listening" not in said
    missing = env | {"WATERCOOLER_DIR": str(tmp_path / "gone")}
    if not named:
        status, said = refused(tmp_path, missing)
        assert (status, "WATERCOOLER_DIR names" in said) == (3, True)


def test_a_port_that_is_taken_is_reported_in_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    start = ServerContext(str(tmp_path), {}, lambda: 0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        options = read("--port", str(port))
        with pytest.raises(StorageError) as caught:
            serve(listening_address(options), options, start)
    assert f"Cannot listen on 127.0.0.1 port {port}" in caught.value.message
    assert "--port" in caught.value.hint
    assert "address already in use" in caplog.text.casefold()


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, env: dict[str, str]
) -> None:
    program = f"import sys; sys.modules['prometheus_client'] = None; {PROGRAM}"
    status, said = refused(tmp_path, env, program=program)
    assert status == 2
    assert "needs prometheus-client, which is not installed" in said
    assert "Install it: " in said
    assert "Traceback" not in said
