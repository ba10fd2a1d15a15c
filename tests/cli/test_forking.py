"""That `wc` does the same in a process that was forked, see `tests.forking`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SECONDS, Done, decoded
from tests.forking import Server, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

# Longer than a pipe, and than standard output's buffer.
BODY = b"long\n" * 20_000
COMMANDS = {
    "read": ["read", "auth", "--peek"],
    "place": ["whoami", "--json"],
    "refused": ["say", "auth"],
    "not there": ["read", "nowhere", "--json"],
    "help": ["read", "--help"],
    "not text": ["\udcff", "--x"],
}


@pytest.fixture(params=[(), ("most",), ("all",)])
def server(request: pytest.FixtureRequest, repo: Repo) -> Iterator[Server]:
    server = Server(repo.machine.env, *request.param)
    yield server
    server.stop()


def test_it_does_what_it_does_when_it_is_started(repo: Repo, server: Server) -> None:
    repo.ok("say", "auth", "--title", "Begin", "--body", "-", feed=BODY)
    for words in COMMANDS.values():
        # With a word before it, it is started.
        started = repo.machine.run(["env", *repo.machine.wc_words, *words], repo.path)
        wanted = Wanted(words, str(repo.path), repo.machine.env, None, SECONDS)
        code, *said = server.run(wanted)
        assert Done(code, *map(decoded, said)) == started


def test_it_is_fed(repo: Repo, server: Server) -> None:
    words = ["say", "auth", "--title", "x", "--body", "-"]
    wanted = Wanted(words, str(repo.path), repo.machine.env, BODY, SECONDS)
    assert server.run(wanted)[0] == 0
    assert repo.entries("auth")[0]["body"] == BODY.decode()


def test_what_takes_too_long_is_ended(repo: Repo, server: Server) -> None:
    os.mkfifo(repo.path / "pipe")
    words = ["say", "auth", "--title", "x", "--body", "@pipe"]
    wanted = Wanted(words, str(repo.path), repo.machine.env, None, 0.5)
    with pytest.raises(TimeoutError):
        server.run(wanted)
