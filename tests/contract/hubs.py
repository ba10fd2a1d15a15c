"""Remotes of every kind on this machine, and clones that use them."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.sync.wire import Wire
from wc_core.ledger.git import remotes, repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REF = f"refs/heads/{THREADS}"
FORMAT = "--format=%(refname) %(objectname)"
_SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def refs_in(text: str) -> dict[str, str]:
    """Refs as git lists them, and what each is at."""
    pairs = (line.partition(" ") for line in text.splitlines())
    return {name: commit for name, _, commit in pairs}


class Hub:
    """A bare repository that others push to, with code on its main branch."""

    def __init__(self, machine: Machine, name: str = "threads.git") -> None:
        self.machine = machine
        self.path = machine.root / "hub" / name
        self.path.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", "main")
        for setting in ("http.receivepack", "uploadpack.allowFilter"):
            self.git("config", setting, "true")

    def git(self, *words: str) -> str:
        return self.machine.git(*words, cwd=self.path)

    @property
    def refs(self) -> dict[str, str]:
        """What each ref is at."""
        return refs_in(self.git("for-each-ref", FORMAT))

    def hook(self, name: str, text: str) -> None:
        path = self.path / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)


class Clone:
    """A repository of someone, with a remote."""

    def __init__(self, machine: Machine, name: str, url: str = "") -> None:
        self.machine = machine
        self.path = machine.root / name
        if not self.path.exists():
            self.path.mkdir(parents=True)
            self.git("init", "-q", "-b", "main")
            if url:
                self.git("remote", "add", "origin", url)

    def git(self, *words: str) -> str:
        return self.machine.git(*words, cwd=self.path)

    def commit(self, *parents: str, text: str = "entry\n") -> str:
        """A new commit that is on no branch."""
        file = self.path.parent / f"{self.path.name}.txt"
        file.write_text(text)
        blob = self.git("hash-object", "-w", str(file))
        tree = self.machine.run(
            ["git", "mktree"], self.path, feed=f"100644 blob {blob}\tlog\n".encode()
        ).out.strip()
        named = [word for one in parents for word in ("-p", one)]
        return self.git("commit-tree", "-m", text, *named, tree)

    def wire(
        self, env: Mapping[str, str] = {}, *, name: str = "", seconds: float = 20.0
    ) -> Wire:
        """The way to the remote of that name, or to the one that is found."""
        given = {**self.machine.env, **env}
        where = repository.find(str(self.path))
        assert where is not None
        found = remotes.by_name(where, given, name) if name else None
        remote = found or remotes.find(where, given)
        assert remote is not None
        until = time.monotonic() + seconds
        return Wire(Git(str(self.path), given, until=until), remote, where)

    @property
    def refs(self) -> dict[str, str]:
        return refs_in(self.git("for-each-ref", FORMAT))


# --- ssh -----------------------------------------------------------------------


class SshHub:
    """A real sshd behind a socket of ours: one process for each connection."""

    def __init__(self, folder: Path) -> None:
        if _SSHD is None or not shutil.which("ssh-keygen"):
            pytest.skip("NO sshd(8) ON THIS MACHINE: ssh is not tried (openssh-server)")
        self.folder = folder
        folder.mkdir(mode=0o700)
        (folder / "home").mkdir()
        for name in ("host", "key", "stranger"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name]
            subprocess.run(words, cwd=folder, check=True)
        shutil.copy(folder / "key.pub", folder / "authorized")
        lines = [
            f"HostKey {folder}/host",
            f"AuthorizedKeysFile {folder}/authorized",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UsePAM no",
            "StrictModes no",
            "KexAlgorithms curve25519-sha256",  # the quickest
            "PermitRootLogin yes",
            # No settings of whoever runs this.
            f"SetEnv HOME={folder}/home GIT_CONFIG_NOSYSTEM=1",
            "PidFile none",
        ]
        (folder / "sshd_config").write_text("\n".join(lines) + "\n")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.url = f"ssh://127.0.0.1:{self.port}"
        public = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}")
        (folder / "nobody").write_text("")

    @property
    def words(self) -> list[str]:
        """The sshd of one connection. Run by root it wants a folder that only
        the start of the service makes: it gets one that nobody else sees."""
        assert _SSHD
        words = [_SSHD, "-i", "-f", f"{self.folder}/sshd_config"]
        words += ["-E", f"{self.folder}/log"]
        if os.geteuid() or os.path.isdir("/run/sshd"):
            return words
        script = 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, "sh", *words]

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # closed: the end
            with connection:
                handle = connection.fileno()
                sshd = subprocess.Popen(self.words, stdin=handle, stdout=handle)
            threading.Thread(target=sshd.wait).start()

    def command(self, *, key: str = "key", known: str = "known") -> str:
        """An ssh of someone who has that key, and knows these hosts."""
        config = self.folder / f"config-{key}-{known}"
        config.write_text(
            f"Host hub\n  HostName 127.0.0.1\n  Port {self.port}\n"
            f"Host *\n  UserKnownHostsFile {self.folder}/{known}\n"
            "  GlobalKnownHostsFile none\n"
            f"  IdentityFile {self.folder}/{key}\n  IdentityAgent none\n"
        )
        return f"ssh -F {shlex.quote(str(config))}"


@contextlib.contextmanager
def ssh(folder: Path) -> Iterator[SshHub]:
    """Serve everything that whoever runs this may read."""
    hub = SshHub(folder)
    thread = threading.Thread(target=hub.serve)
    thread.start()
    try:
        yield hub
    finally:
        hub.listener.shutdown(socket.SHUT_RDWR)
        hub.listener.close()
        thread.join()
