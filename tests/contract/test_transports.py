"""The same round over everything that git travels by; and remotes that never
answer."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
from typing import TYPE_CHECKING

import pytest

from tests import smart_http
from tests.contract import hubs
from tests.contract.hubs import REF, Clone, Hub
from tests.smart_http import PASSWORD, USER
from wc_cli.ledger.sync.wireerrors import RejectedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.conftest import Machine, Repo
    from wc_cli.ledger.sync.wire import Wire

    Over = Callable[[Hub], AbstractContextManager["Route"]]

# Other tests have measured what these run, over and over.
pytestmark = pytest.mark.usefixtures("unmeasured")

TRACKING = "refs/remotes/origin/watercooler/threads"


class Route:
    """How clones reach a hub."""

    def __init__(self, url: str, **env: str) -> None:
        self.url = url
        self.env = env


@contextlib.contextmanager
def over_path(hub: Hub) -> Iterator[Route]:
    yield Route(str(hub.path))


@contextlib.contextmanager
def over_file(hub: Hub) -> Iterator[Route]:
    yield Route(f"file://{hub.path}")


@contextlib.contextmanager
def over_http(hub: Hub) -> Iterator[Route]:
    with smart_http.http(hub.path.parent) as server:
        yield Route(server.url())


@contextlib.contextmanager
def over_http_with_a_password_in_the_url(hub: Hub) -> Iterator[Route]:
    with smart_http.http(hub.path.parent, private=True) as server:
        yield Route(server.url(user=f"{USER}:{PASSWORD}@"))


@contextlib.contextmanager
def over_http_with_a_credential_helper(hub: Hub) -> Iterator[Route]:
    helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
    config = hub.machine.home / ".gitconfig"
    with config.open("a") as file:
        file.write(f'[credential]\n\thelper = "{helper}"\n')
    with smart_http.http(hub.path.parent, private=True) as server:
        yield Route(server.url())


@contextlib.contextmanager
def over_ssh(hub: Hub) -> Iterator[Route]:
    with hubs.ssh(hub.machine.root / "sshd") as server:
        yield Route(f"hub:{hub.path}", GIT_SSH_COMMAND=server.command())


@contextlib.contextmanager
def over_ssh_with_a_key_of_ours(hub: Hub) -> Iterator[Route]:
    with hubs.ssh(hub.machine.root / "sshd") as server:
        key = hub.machine.home / "my 'own' \"key\" $HOME"
        shutil.copy(server.folder / "key", key)
        # Any other key is refused, and none may be tried.
        command = server.command(key="stranger")
        hub.machine.git(
            *("config", "--global", "core.sshCommand", command), cwd=hub.path
        )
        yield Route(f"{server.url}{hub.path}", WATERCOOLER_GIT_SSH_KEY=f"~/{key.name}")


@pytest.fixture
def hub(machine: Machine) -> Hub:
    return Hub(machine)


@pytest.mark.parametrize("over", [over_path, over_file, over_http, over_ssh])
def test_the_branch_travels(hub: Hub, over: Over) -> None:
    with over(hub) as route:
        one = Clone(hub.machine, "one", route.url)
        two = Clone(hub.machine, "two", route.url)
        wires: list[Wire] = [clone.wire(route.env) for clone in (one, two)]
        assert [wire.fetch() for wire in wires] == ["", ""]
        first = one.commit()
        wires[0].push(first)
        assert hub.refs == {REF: first}
        assert one.refs == {TRACKING: first}
        assert wires[1].fetch() == first
        theirs, ours = one.commit(first, text="a\n"), two.commit(first, text="b\n")
        wires[0].push(theirs)
        with pytest.raises(RejectedError, match=r"^origin has entries"):
            wires[1].push(ours)
        assert hub.refs == {REF: theirs}
        assert two.refs == {TRACKING: first}
        assert wires[1].fetch() == theirs
        merged = two.commit(ours, theirs, text="a\nb\n")
        wires[1].push(merged)
        assert wires[0].fetch() == merged
        assert one.refs == two.refs == {TRACKING: merged}
        assert not (two.path / ".git/FETCH_HEAD").exists()


@pytest.mark.parametrize(
    "over",
    [
        over_http_with_a_password_in_the_url,
        over_http_with_a_credential_helper,
        over_ssh_with_a_key_of_ours,
    ],
)
def test_credentials_open_the_way(hub: Hub, over: Over) -> None:
    with over(hub) as route:
        clone = Clone(hub.machine, "one", route.url)
        wire = clone.wire(route.env)
        commit = clone.commit()
        wire.push(commit)
        assert wire.fetch() == commit
    assert hub.refs == {REF: commit}


def stuck(tmp_path: Path) -> str:
    """An ssh that connects to nothing and does not want to end."""
    script = tmp_path / "stuck"
    script.write_text(f"#!/bin/sh\ntrap '' TERM\nexec 9>{tmp_path}/fifo\necho >&9\n"
                      "while :; do sleep 60; done\n")  # fmt: skip
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("scheme", ["git", "http", "ssh"])
def test_nothing_is_left_of_a_remote_that_never_answers(
    machine: Machine, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        port = silent.getsockname()[1]
        clone = Clone(machine, "one", f"{scheme}://127.0.0.1:{port}/threads.git")
        began = time.monotonic()
        with pytest.raises(UnreachableError, match=r"^origin did not answer"):
            clone.wire(seconds=0.4).fetch()
        assert time.monotonic() - began < 20
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(20)
            with contextlib.suppress(ConnectionResetError):
                # The end: nobody has this connection open now.
                while connection.recv(4096):
                    pass
    assert not list((clone.path / ".git").rglob("*.lock"))


def test_nothing_is_left_of_an_ssh_that_will_not_end(
    machine: Machine, tmp_path: Path
) -> None:
    clone = Clone(machine, "one", "ssh://host/threads.git")
    os.mkfifo(tmp_path / "fifo")
    fifo = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        wire = clone.wire({"GIT_SSH": stuck(tmp_path)}, seconds=0.4)
        with pytest.raises(UnreachableError, match=r"^origin did not answer"):
            wire.push(clone.commit())
        os.set_blocking(fifo, True)
        assert os.read(fifo, 9) == b"\n"
        assert os.read(fifo, 9) == b""  # nobody has it open now
    finally:
        os.close(fifo)


def test_without_time_a_remote_is_not_asked(hub: Hub) -> None:
    clone = Clone(hub.machine, "one", str(hub.path))
    with pytest.raises(UnreachableError, match=r"^origin did not answer in time$"):
        clone.wire(seconds=0).fetch()


def test_no_command_asks_the_network(repo: Repo, tmp_path: Path) -> None:
    """A remote that hangs holds up nobody: after the first contact, which
    tests/cli/sync/test_first_contact.py is about, it is not asked."""
    asked, ssh = tmp_path / "asked", tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\n: >{asked}\nexit 1\n")
    ssh.chmod(0o755)
    repo.git("config", "core.sshCommand", str(ssh))
    repo.git("remote", "add", "origin", "git@example.org:acme/app.git")
    for words in (
        *(["init", "--offline"], ["new", "auth", "--title", "x"]),
        *(["say", "auth", "--title", "y"],),
        *(
            ["list"],
            ["read", "auth"],
            ["search", "x"],
            ["updates"],
            ["updates", "--seen"],
        ),
        *(["statusline"], ["whoami"], ["doctor"], ["doctor", "--repair"]),
    ):
        repo.settled(*words)
    assert not asked.exists()
    repo.machine.run(["git", "fetch", "origin"], repo.path)
    assert asked.exists()
