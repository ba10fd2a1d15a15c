"""``wc-observe web`` from its start to its end."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.observe.web.served import COMMAND, refused, serving
from wc_core.base.errors import InvalidInputError
from wc_observe.http import address
from wc_observe.web import options
from wc_observe.web.opening import open_in_browser
from wc_observe.web.stores import MAX_STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.observe.stores import Store


@contextlib.contextmanager
def stream(client: httpx2.Client, url: str) -> Iterator[Iterator[str]]:
    """The events of a stream, and what they carry."""
    accept = {"Accept": "text/event-stream"}
    with client.stream("GET", f"{url}events", headers=accept) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        yield (line for line in lines if line.startswith(("event:", "data:")))


@pytest.fixture
def browser(tmp_path: Path, env: dict[str, str]) -> Path:
    """A browser that notes what it is to open."""
    note, program = tmp_path / "opened", tmp_path / "browser"
    program.write_text(
        f'#!/bin/sh\nprintf %s "$1" >{note}.part; mv {note}.part {note}\n'
    )
    program.chmod(0o755)
    env |= {"BROWSER": str(program), "PATH": "/bin:/usr/bin"}
    return note


def test_it_serves_tells_and_leaves(
    env: dict[str, str], store: Store, browser: Path
) -> None:
    store.thread("plan")
    with (
        serving(
            *(store.root.parent, env, "--port", "0", "--open", "--as", "Codex"),
            program=COMMAND,
        ) as page,
        httpx2.Client(verify=False, trust_env=False, timeout=20) as client,
    ):
        # The browser was given a ticket, which is good for one time.
        opened = _text_of(browser)
        assert page.url.split("/")[3] not in opened
        found = client.get(opened)
        assert page.url.endswith(found.headers["location"])
        assert client.get(opened).status_code == 403
        assert "you are <b>Codex (Pat)</b>" in client.get(page.url).text

        with stream(client, page.url) as events:
            assert [next(events), next(events)] == [
                "event: ready",
                "data: {}",
            ]
            store.append("plan", store.entry("plan"))
            assert next(events) == "event: changed"
            told = json.loads(next(events).removeprefix("data: "))
            assert told == {"topics": ["plan"], "more": False}
            store.thread("more")
            assert next(events) == "event: changed"
            told = json.loads(next(events).removeprefix("data: "))
            assert told == {"topics": ["more"], "more": False}

            # The port is taken now, which is an error where it was asked for.
            code, said = refused(store.root.parent, env, f"--port={page.port}")
            assert code == 7
            assert f"Cannot listen on 127.0.0.1 port {page.port}" in said
            assert "--port 0" in said

            assert page.end() == 0
            assert list(events) == []
        assert "It works on this machine only" in page.err
        assert "Traceback" not in page.err


def _text_of(path: Path) -> str:
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    return path.read_text()


def test_where_no_port_is_named_any_will_do_and_streams_are_limited(
    env: dict[str, str], store: Store
) -> None:
    with (
        socket.socket() as taken,
        contextlib.ExitStack() as streams,
    ):
        with contextlib.suppress(OSError):  # someone else has it: as good
            taken.bind(("127.0.0.1", options.PORT))
            taken.listen()
        page = streams.enter_context(serving(store.root.parent, env))
        assert page.port != options.PORT
        limits = httpx2.Limits(max_connections=MAX_STREAMS + 5)
        client = streams.enter_context(
            httpx2.Client(verify=False, trust_env=False, timeout=20, limits=limits)
        )
        for _ in range(MAX_STREAMS):
            events = streams.enter_context(stream(client, page.url))
            assert [next(events), next(events)][1] == "data: {}"
        answer = client.get(f"{page.url}events")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
        assert client.get(page.url).status_code == 200
        assert page.end() == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "--port cannot be 70000"),
        (["--port", "x"], "invalid int value"),
        (["--host", " "], "it would mean every address"),
        (["--prot", "1"], "unrecognized arguments"),
        (["more"], "unrecognized arguments"),
    ],
)
def test_words_that_cannot_be_used_are_a_usage_error(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        options.read(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "no-such-host.invalid"])
def test_others_machines_are_refused(host: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        address.loopback_address(host, 8422)
    if "invalid" not in host:
        assert "ssh -L 8422:127.0.0.1:8422" in refusal.value.hint
        assert "--transport http --auth token" in refusal.value.hint


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]"])
def test_this_machine_is_not(host: str) -> None:
    assert address.loopback_address(host, 8422).loopback


def test_a_public_address_ends_it_with_what_to_do_instead(
    env: dict[str, str], store: Store
) -> None:
    code, said = refused(store.root.parent, env, "--host", "0.0.0.0")
    assert code == 2
    assert "ssh -L" in said
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "darwin", reason="it always has a screen")
def test_without_a_screen_nothing_is_opened() -> None:
    assert "There is no screen" in open_in_browser("http://127.0.0.1/", {})


def test_without_a_browser_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("webbrowser._tryorder", [])
    said = open_in_browser("http://127.0.0.1/", {"BROWSER": "none"})
    assert "No browser was found" in said
