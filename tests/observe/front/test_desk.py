"""The thread that answers, with real pipes at both ends; and what it hands over."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import closing, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.observe.front.asking import PLAIN, line
from wc_observe.front import opening as desks
from wc_observe.front.firstanswers import REPEATED_ID, FirstAnswers, read_declared
from wc_observe.front.opening import Desk, RepairedInput

if TYPE_CHECKING:
    from collections.abc import Iterator

INITIALIZED = line({"method": "notifications/initialized"})
LIST = line({"id": 2, "method": "tools/list"})
CALL = line({"id": 3, "method": "tools/call", "params": {"name": "x"}})
CANCELLED = line({"method": "notifications/cancelled", "params": {"requestId": 3}})
SECONDS = 20.0


def pipe() -> tuple[BinaryIO, BinaryIO]:
    """The end that is read, and the one that is written to."""
    source, target = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(target, "wb")


class Client:
    """The other ends of the pipes of a desk."""

    def __init__(self) -> None:
        self._source, self.input = pipe()
        self.output, self.target = pipe()
        self.is_left = threading.Event()
        self.error: OSError | None = None
        self.desk = Desk(
            FirstAnswers(read_declared()),
            self._source.fileno(),
            self.target,
            self._leave,
        )
        self.desk.open()

    def _leave(self, error: OSError | None) -> None:
        self.error = error
        self.is_left.set()

    def close(self) -> None:
        for stream in (self._source, self.input, self.output, self.target):
            with suppress(BrokenPipeError):
                stream.close()

    def say(self, *lines: bytes) -> None:
        self.input.write(b"".join(lines))
        self.input.flush()

    def hear(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.output.readline())
        return answer

    def read_on(self) -> bytes:
        """What the real server reads, from the first line to the end of the input."""
        stream = self.rest(self.desk.hand_over())
        self.input.close()
        return b"".join(iter(stream.read1, b""))

    def rest(self, unread: bytes) -> RepairedInput:
        return RepairedInput(self._source, unread)


@pytest.fixture
def client() -> Iterator[Client]:
    before = sys.getswitchinterval()
    with closing(Client()) as client:
        yield client
    assert sys.getswitchinterval() == before


def repeated() -> bytes:
    fields = {"jsonrpc": "2.0"} | PLAIN | {"id": REPEATED_ID}
    members = ("jsonrpc", "id", "method", "params")
    compact = json.dumps(
        {name: fields[name] for name in members}, separators=(",", ":")
    )
    return f"{compact}\n".encode()


def lines_of(data: bytes) -> list[Any]:
    return [json.loads(each) for each in data.splitlines()]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 600), max_size=8), st.integers(0, 8))
def test_nothing_is_lost_wherever_it_is_cut(cuts: list[int], handed: int) -> None:
    """The input comes in pieces, and the real server takes over between any two."""
    half = line({"id": 9, "method": "tools/call", "params": {"name": "\ud83d"}})
    said = b"".join((line(PLAIN), INITIALIZED, CALL, LIST, half, CANCELLED))
    edges = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    pieces = [said[a:b] for a, b in pairwise(edges)]
    with closing(Client()) as client:
        for piece in pieces[:handed]:
            client.say(piece)
        stream = client.rest(client.desk.hand_over())
        for piece in pieces[handed:]:
            client.say(piece)
        client.input.close()
        client.target.close()
        received = lines_of(b"".join(iter(stream.read1, b"")))
        answers = lines_of(client.output.read())
    answered = [answer["id"] for answer in answers]
    expected = lines_of(said.replace(b"\\ud83d", b"\\ufffd"))
    if PLAIN["id"] in answered:
        assert received[0] == json.loads(repeated())
        received[0] = expected[0]
    if 2 in answered:
        expected.remove(json.loads(LIST))
    assert received == expected


@pytest.mark.parametrize("rest", [CALL, CALL[:-1], b"\n"])
def test_what_waits_is_still_answered_at_the_end_of_the_input(
    client: Client, rest: bytes
) -> None:
    client.say(line(PLAIN), rest)
    assert client.hear()["id"] == PLAIN["id"]
    assert client.read_on() == repeated() + rest
    assert not client.is_left.is_set()


def test_it_does_not_read_without_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desks, "MAX_WAITING", 2 * len(CALL))
    client.say(line(PLAIN))
    assert client.hear()["id"] == PLAIN["id"]
    for _ in range(3):
        client.say(CALL)
    client.desk._thread.join(SECONDS)
    # It has stopped: a list is no longer answered.
    client.say(LIST, CALL)
    assert client.read_on() == repeated() + CALL * 3 + LIST + CALL
