"""Servers that answer a webhook badly, or repeat what is secret."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.cli.notify.test_notifying import choose
from wc_cli.bridges.notify import webhooks
from wc_core.attention.notify import targets
from wc_core.attention.notify.messages import Notice, payload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def answering(data: bytes, pause: float = 0) -> Iterator[str]:
    """A server that answers with these bytes, with a pause after each if there is
    one; its host."""
    ended = threading.Event()

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
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

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"", "Remote end closed connection without response"),
        (b"nonsense\r\n\r\n", "nonsense"),
        (OK + b"X: " + b"x" * 70_000 + b"\r\n\r\n", "got more than 65536 bytes"),
        (OK + b"X: y\r\n" * 200 + b"\r\n", "got more than 100 headers"),
        # What was taken was taken, whatever the body is.
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP 200 OK"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\na", "HTTP 200 OK"),
        (OK + b"Content-Length: 999999999\r\n\r\nx", "HTTP 200 OK"),
    ],
)
def test_a_bad_answer_is_reported(repo: Repo, data: bytes, result: str) -> None:
    with answering(data) as host:
        choose(repo, f"json:http://{host}/hook")
        done = repo.wc("notify", "test", "--json")
    assert done.code == (0 if "200" in result else 9), done
    assert result in done.json["targets"][0]["result"]


def test_an_answer_that_trickles_in_ends_in_time(repo: Repo) -> None:
    with answering(OK * 100, pause=0.2) as host:
        choose(repo, f"json:http://{host}/hook")
        started = time.monotonic()
        done = repo.wc("notify", "test", "--json")
        assert time.monotonic() - started < 12
    assert done.code == 9
    assert done.json["targets"][0]["result"] == "no answer within 5 s"


def test_nothing_secret_of_the_url_is_repeated() -> None:
    body = (
        rb"HTTP/1.1 500 no /services/T0/abcdefgh12" + b"\r\n\r\n"
        rb"\/services\/T0\/abcdefgh12 key-of-pat p%40ss p@ss cGF0"
    )
    with answering(body) as host:
        url = f"json:http://pat1:p%40ss@{host}/services/T0/abcdefgh12?k=key-of-pat"
        answer = webhooks.post(targets.parse(url), {})
    shown = answer.status + answer.body
    assert answer.status == "HTTP 500 no /…"
    for secret in ("abcdefgh12", "key-of-pat", "p%40ss", "p@ss"):
        assert secret not in shown, shown


def test_a_title_mentions_nobody_in_a_chat() -> None:
    target = targets.parse("slack:https://chat.example.org/hooks/x")
    notice = Notice("ball", "app", "auth", "@all <!here>")
    text = payload(target, notice, content=True)["text"]
    assert "@all" not in text
    assert "<!here>" not in text
