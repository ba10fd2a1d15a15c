"""Remotes that do not do what they are asked: which kind of error it is, and
what the hint says."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from typing import TYPE_CHECKING

import pytest

from tests import smart_http
from tests.contract import hubs
from tests.contract.hubs import REF, Clone, Hub
from wc_cli.ledger.sync.wireerrors import (
    RefusedError,
    RejectedError,
    UnreachableError,
    WireError,
)

if TYPE_CHECKING:
    from tests.conftest import Machine
    from wc_cli.ledger.sync.wire import Wire

# Other tests have measured what these run, over and over.
pytestmark = pytest.mark.usefixtures("unmeasured")

TRACKING = "refs/remotes/origin/watercooler/threads"


@pytest.fixture
def hub(machine: Machine) -> Hub:
    return Hub(machine)


def both(wire: Wire, commit: str) -> tuple[WireError, WireError]:
    """How a fetch and a push fail."""
    with pytest.raises(WireError) as fetched:
        wire.fetch()
    with pytest.raises(WireError) as pushed:
        wire.push(commit)
    return fetched.value, pushed.value


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        (401, RefusedError, "Log in"),
        (403, RefusedError, "permission to push"),
        (404, UnreachableError, "address"),
        (503, UnreachableError, "Try again later"),
        (200, UnreachableError, "address"),  # the page of an airport
    ],
)
def test_an_http_server_says_no(
    hub: Hub, status: int, kind: type[WireError], hint: str
) -> None:
    asked = hub.machine.root / "asked"
    program = hub.machine.root / "askpass"
    program.write_text(f"#!/bin/sh\n: >'{asked}'\necho secret\n")
    program.chmod(0o755)
    hub.machine.git(*("config", "--global", "core.askPass", str(program)), cwd=hub.path)
    with smart_http.http(hub.path.parent) as server:
        server.answer = status
        clone = Clone(hub.machine, "one", server.url())
        asking = {"GIT_ASKPASS": str(program), "SSH_ASKPASS": str(program)}
        wire = clone.wire({"DISPLAY": ":0", **asking})
        for error in both(wire, clone.commit()):
            assert (type(error), str(error)[:7]) == (kind, "origin:")
            assert hint in error.hint
    assert not asked.exists()


def test_a_wrong_password_is_refused_and_not_shown(hub: Hub) -> None:
    with smart_http.http(hub.path.parent, private=True) as server:
        url = server.url(user="pat:wr0ng@")
        clone = Clone(hub.machine, "one")
        for error in both(clone.wire({"WATERCOOLER_GIT_REPO": url}), clone.commit()):
            assert type(error) is RefusedError
            assert server.url() in str(error)
            assert "wr0ng" not in str(error) + error.hint


def test_a_server_that_knows_nothing_of_git_can_only_be_read(hub: Hub) -> None:
    clone = Clone(hub.machine, "one", str(hub.path))
    first = clone.commit()
    clone.wire().push(first)
    hub.git("update-server-info")
    with smart_http.http(hub.path.parent) as server:
        server.plain = True
        reader = Clone(hub.machine, "two", server.url())
        assert reader.wire().fetch() == first
        with pytest.raises(RefusedError):
            reader.wire().push(reader.commit(first, text="more\n"))


def test_an_http_server_that_may_only_be_read(hub: Hub) -> None:
    hub.git("config", "http.receivepack", "false")
    with smart_http.http(hub.path.parent) as server:
        clone = Clone(hub.machine, "one", server.url())
        assert clone.wire().fetch() == ""
        with pytest.raises(RefusedError):
            clone.wire().push(clone.commit())


@pytest.mark.parametrize(
    ("key", "known", "kind", "hint"),
    [
        ("stranger", "known", RefusedError, "ssh-add"),
        ("key", "nobody", UnreachableError, "Connect once by hand"),
    ],
)
def test_an_sshd_says_no(
    hub: Hub, key: str, known: str, kind: type[WireError], hint: str
) -> None:
    with hubs.ssh(hub.machine.root / "sshd") as server:
        clone = Clone(hub.machine, "one", f"{server.url}{hub.path}")
        wire = clone.wire({"GIT_SSH_COMMAND": server.command(key=key, known=known)})
        with pytest.raises(WireError) as caught:
            wire.fetch()
    assert type(caught.value) is kind
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:{port}/x", UnreachableError),
        ("https://127.0.0.1:{port}/x", UnreachableError),
        ("git://127.0.0.1:{port}/x", UnreachableError),
        ("ssh://127.0.0.1:{port}/x", UnreachableError),
        ("/nowhere", UnreachableError),
        ("file:///nowhere", UnreachableError),
        ("ext::sh -c true", RefusedError),
        ("unheard-of://x/y", RefusedError),
    ],
)
def test_nobody_is_there(machine: Machine, url: str, kind: type[WireError]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        clone = Clone(machine, "one", url.format(port=taken.getsockname()[1]))
        fetched, pushed = both(clone.wire(), clone.commit())
    assert (type(fetched), type(pushed)) == (kind, kind)
    assert fetched.hint
    assert "\n" not in str(fetched)


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        ("pre-receive", "pre-receive hook declined: GH006: Protected branch"),
        ("update", "hook declined: GH006: Protected branch"),
    ],
)
def test_a_hook_of_the_remote_declines(hub: Hub, hook: str, words: str) -> None:
    hub.hook(hook, "echo 'GH006: Protected branch' >&2; exit 1")
    clone = Clone(hub.machine, "one", str(hub.path))
    with pytest.raises(RefusedError, match=words) as caught:
        clone.wire().push(clone.commit())
    assert "WATERCOOLER_GIT_REPO" in caught.value.hint
    assert clone.refs == {}


def test_a_read_only_folder_refuses(hub: Hub) -> None:
    script = hub.machine.root / "receive"
    if not os.geteuid():  # root writes anywhere, but not on such a mount
        if not shutil.which("unshare"):
            pytest.skip("NO unshare(1): root cannot be kept from writing here")
        inner = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
        inner = f'{inner} && exec git receive-pack "$1"'
        script.write_text(
            f'#!/bin/sh\nexec unshare -m sh -c {shlex.quote(inner)} sh "$1"\n'
        )
    else:
        script.write_text('#!/bin/sh\nexec git receive-pack "$1"\n')
        for folder in (hub.path / "objects", hub.path / "refs/heads"):
            folder.chmod(0o500)
    script.chmod(0o755)
    clone = Clone(hub.machine, "one", str(hub.path))
    clone.git("config", "remote.origin.receivepack", str(script))
    try:
        with pytest.raises(RefusedError):
            clone.wire().push(clone.commit())
    finally:
        for folder in (hub.path / "objects", hub.path / "refs/heads"):
            folder.chmod(0o700)
    assert clone.wire().fetch() == ""


def test_a_branch_in_the_way_is_named(hub: Hub) -> None:
    clone = Clone(hub.machine, "one", str(hub.path))
    clone.git("push", "-q", "origin", f"{clone.commit()}:refs/heads/watercooler")
    with pytest.raises(RefusedError) as caught:
        clone.wire().push(clone.commit(text="other\n"))
    assert "A branch named watercooler" in caught.value.hint


def test_a_repository_someone_works_in_refuses_its_own_branch(hub: Hub) -> None:
    first = Clone(hub.machine, "one", str(hub.path))
    commit = first.commit()
    first.git("update-ref", REF, commit)
    first.git("symbolic-ref", "HEAD", REF)
    clone = Clone(hub.machine, "two", str(first.path))
    assert clone.wire().fetch() == commit
    with pytest.raises(RefusedError, match="checked out") as caught:
        clone.wire().push(clone.commit(commit, text="more\n"))
    assert "bare" in caught.value.hint


def test_a_remote_that_lost_its_branch_gets_it_again(hub: Hub) -> None:
    clone = Clone(hub.machine, "one", str(hub.path))
    first = clone.commit()
    clone.wire().push(first)
    hub.git("update-ref", "-d", REF)
    assert clone.wire().fetch() == ""
    assert clone.refs == {TRACKING: first}
    clone.wire().push(first)
    assert hub.refs == {REF: first}


def test_a_history_that_was_rewritten_is_fetched_and_never_overwritten(
    hub: Hub,
) -> None:
    one, two = (Clone(hub.machine, name, str(hub.path)) for name in ("one", "two"))
    first = one.commit()
    one.wire().push(first)
    other = two.commit(text="another root\n")
    two.git("push", "-q", "--force", "origin", f"{other}:{REF}")
    for _ in range(2):
        with pytest.raises(RejectedError):
            one.wire().push(one.commit(first, text="more\n"))
        assert one.wire().fetch() == other
    assert hub.refs == {REF: other}
    assert one.refs == {TRACKING: other}


@pytest.mark.parametrize(
    ("kind", "words"),
    [("blob", "is not a branch"), ("missing", "not our ref"), ("tag", "")],
)
def test_a_branch_that_is_none(hub: Hub, kind: str, words: str) -> None:
    clone = Clone(hub.machine, "one", str(hub.path))
    commit = clone.commit()
    clone.git("push", "-q", "origin", f"{commit}:refs/heads/main")
    hub.git("tag", "-a", "-m", "v1", "v1", "main")
    ids = {"tag": "v1", "blob": "main:log"}
    name = hub.git("rev-parse", ids[kind]) if kind in ids else "1" * 40
    (hub.path / REF).parent.mkdir()
    (hub.path / REF).write_text(f"{name}\n")
    wire = clone.wire()
    if not words:  # what the tag names is fetched
        assert wire.fetch() == commit
    else:
        with pytest.raises(WireError, match=f"^origin: .*{words}"):
            wire.fetch()
