"""Asking a model server: what is repeated, what is not, and the messages about it."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.cli.enrich.modelserver import COMPLETIONS, ModelServer, Planned, completion
from wc_core.base.modelserver import endpoint as endpoints
from wc_core.base.modelserver.endpoint import Endpoint, EndpointError, Patience, ask
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

QUICK = Patience(answer_seconds=5.0, attempts=3, pause_seconds=0.5, most_seconds=30.0)
QUESTION = {"messages": [{"role": "user", "content": "We back off"}]}


@contextmanager
def answering(data: bytes, pause: float = 0) -> Iterator[str]:
    """A server that answers with these bytes, with a pause after each if there is
    one; its host."""
    ended = threading.Event()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                step = 1 if pause else len(data) or 1
                try:
                    for at in range(0, len(data), step):
                        connection.sendall(data[at : at + step])
                        if pause and ended.wait(pause):
                            return
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


class Sleeps(list[float]):
    """Waits that are written down instead."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def asked(base: str, sleeps: Sleeps, key: str = "", patience: Patience = QUICK) -> str:
    endpoint = Endpoint(base, "small", key, "KEY_OF_IT")
    answer = ask(endpoint, endpoints.COMPLETIONS, dict(QUESTION), patience, sleeps)
    return str(answer["choices"][0]["message"]["content"])


def test_an_answer(server: ModelServer) -> None:
    assert asked(server.url, Sleeps(), "s3cret") == "In short: We back off"
    (request,) = server.asked
    assert request.path == COMPLETIONS
    assert request.fields == {"model": "small", **QUESTION}
    assert request.headers["Authorization"] == "Bearer s3cret"
    assert request.headers["User-Agent"] == f"watercooler/{__version__}"
    asked(f"{server.url}/v1/", Sleeps())
    assert server.asked[1].path == COMPLETIONS
    assert "Authorization" not in server.asked[1].headers


@pytest.mark.parametrize(
    ("planned", "waits"),
    [
        ([Planned(503)], [0.5]),
        ([Planned(500), Planned(429)], [0.5, 1.0]),
        ([Planned(429, headers=(("Retry-After", "7"),))], [7.0]),
        ([Planned(429, headers=(("Retry-After", "0"),)), Planned(502)], [0.0, 1.0]),
        ([Planned(429, headers=(("Retry-After", "soon"),))], [0.5]),
        ([Planned(503, headers=(("Retry-After", "Fri, 01 Jan 2016 0:0:0 GMT"),))], [0]),
        ([Planned(200, b'{"choices": [{"mess')], [0.5]),
    ],
)
def test_what_may_pass_is_waited_for(
    server: ModelServer, planned: list[Planned], waits: list[float]
) -> None:
    sleeps = Sleeps()
    server.planned = [*planned]
    assert asked(server.url, sleeps) == "In short: We back off"
    assert sleeps == waits
    assert len(server.asked) == len(planned) + 1


@pytest.mark.parametrize(
    ("planned", "message", "hint"),
    [
        (
            Planned(401, b'{"error": {"message": "Bad key s3cret", "code": 1}}'),
            "HTTP 401 Bad key ….",
            "Check the key of the server: KEY_OF_IT",
        ),
        (
            Planned(404, b'{"error": "model small not found"}'),
            "HTTP 404 model small not found.",
            "Check the address, and that it has the model 'small'.",
        ),
        (
            Planned(400, b'{"detail": "too long"}'),
            "HTTP 400 too long.",
            endpoints._KEPT,
        ),
        (Planned(422, b"<html>no</html>"), "HTTP 422 Unprocessable", endpoints._KEPT),
        (
            Planned(302, headers=(("Location", "/"),)),
            "HTTP 302 Found",
            "Redirects are not followed: set the address that it leads to.",
        ),
        (
            Planned(200, b"\n<!doctype html><p>Welcome"),
            "a web page, not JSON.",
            "Check the address: it is one of web pages.",
        ),
        (Planned(200, b"[1]"), "an answer that is not a JSON object.", endpoints._KEPT),
        (
            Planned(429, headers=(("Retry-After", "3600"),)),
            "HTTP 429 Too Many Requests, and asks to wait 3600 s.",
            endpoints._KEPT,
        ),
    ],
)
def test_what_does_not_pass_ends_at_once(
    server: ModelServer, planned: Planned, message: str, hint: str
) -> None:
    server.planned = [planned]
    sleeps = Sleeps()
    with pytest.raises(EndpointError) as caught:
        asked(server.url, sleeps, "s3cret")
    assert caught.value.message.startswith(f"The model server {server.host}: {message}")
    assert caught.value.hint == hint
    assert sleeps == []
    assert len(server.asked) == 1


def test_no_part_of_a_key_is_in_a_message(server: ModelServer) -> None:
    key = "sk-0123456789-abcdefghij"
    for before in range(150, 200):
        refusal = {"error": f"{'x' * before} {key} is wrong"}
        server.planned = [Planned(401, json.dumps(refusal).encode())]
        with pytest.raises(EndpointError) as caught:
            asked(server.url, Sleeps(), key)
        assert "sk" not in caught.value.message


@pytest.mark.parametrize("key", ["s3cret\nof two lines", "s3cret\0", "s3crét", "s3…"])
def test_a_key_that_no_header_can_have_is_named_and_not_shown(
    server: ModelServer, key: str
) -> None:
    sleeps = Sleeps()
    with pytest.raises(EndpointError, match=r"^KEY_OF_IT cannot be the key") as caught:
        asked(server.url, sleeps, key)
    assert "s3" not in f"{caught.value.message} {caught.value.hint}"
    assert not sleeps
    assert not server.asked


def test_the_end_of_a_line_is_not_part_of_a_key(server: ModelServer) -> None:
    asked(server.url, Sleeps(), " s3cret\r\n")
    assert server.asked[0].headers["Authorization"] == "Bearer s3cret"


def test_a_server_that_wants_a_key_and_gets_none(server: ModelServer) -> None:
    server.planned = [Planned(401)]
    with pytest.raises(EndpointError) as caught:
        asked(server.url, Sleeps())
    assert caught.value.hint == "Set the key of the server: KEY_OF_IT"


def test_patience_ends(server: ModelServer) -> None:
    server.planned = [Planned(503, b'{"message": "Loading model"}')] * 9
    sleeps = Sleeps()
    with pytest.raises(EndpointError) as caught:
        asked(server.url, sleeps)
    assert caught.value.message.endswith(": HTTP 503 Loading model (3 times).")
    assert caught.value.exit_code == 8
    assert sleeps == [0.5, 1.0]


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    sleeps, patient = Sleeps(), QUICK._replace(attempts=9)
    with pytest.raises(EndpointError, match=rf"{host}: Connection refused \(3 times\)"):
        asked(f"http://{host}", sleeps, patience=patient)
    assert sleeps == [0.5, 1.0]


@pytest.mark.parametrize(
    "data", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]
)
def test_broken_answers(data: bytes) -> None:
    sleeps = Sleeps()
    with answering(data) as host, pytest.raises(EndpointError, match=r"\(3 times\)"):
        asked(f"http://{host}", sleeps)
    assert len(sleeps) == 2


def test_slow_answers_end_in_time(server: ModelServer) -> None:
    impatient = Patience(answer_seconds=0.3, attempts=2, pause_seconds=0.0)
    server.planned = [Planned(200, completion("late"), pause=3.0)]
    # The second time it is quick.
    assert asked(server.url, Sleeps(), patience=impatient) == "In short: We back off"
    trickle = b"HTTP/1.1 200 OK\r\n" * 100
    started = time.monotonic()
    with (
        answering(trickle, pause=0.1) as host,
        pytest.raises(EndpointError, match=r"no answer within 0.3 s \(2 times\)"),
    ):
        asked(f"http://{host}", Sleeps(), patience=impatient)
    assert time.monotonic() - started < 3


def test_a_proxy_is_not_used_for_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert asked(server.url, Sleeps()) == "In short: We back off"
    with pytest.raises(EndpointError, match="refused"):
        asked("http://models.example.org", Sleeps())


@pytest.mark.parametrize(
    ("base", "is_local", "readable"),
    [
        ("http://localhost:11434", True, False),
        ("http://[::1]:8080/v1", True, False),
        ("https://api.example.org/v1", False, False),
        ("http://gpu.example.org:8000", False, True),
    ],
)
def test_where_a_text_goes(base: str, is_local: bool, readable: bool) -> None:  # noqa: FBT001
    endpoint = Endpoint(base, "m")
    assert endpoint.is_local == is_local
    assert endpoint.is_readable_on_the_way == readable
    assert endpoint.url("embeddings").endswith("/v1/embeddings")
