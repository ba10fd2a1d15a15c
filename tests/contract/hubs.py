"""Remotes of every kind on this machine, and clones that use them."""

from __future__ import annotations

import base64
import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine
from wc_cli.git import Git
from wc_cli.wire import Wire
from wc_core import remotes, repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

REF = f"refs/heads/{THREADS}"
FORMAT = "--format=%(refname) %(objectname)"
USER, PASSWORD = "pat", "s3cret"
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
    """A repository of somebody, with a remote."""

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
        found = remotes.named(where, given, name) if name else None
        remote = found or remotes.find(where, given)
        assert remote is not None
        until = time.monotonic() + seconds
        return Wire(Git(str(self.path), given, until=until), remote)

    @property
    def refs(self) -> dict[str, str]:
        return refs_in(self.git("for-each-ref", FORMAT))


# --- http ----------------------------------------------------------------------


class HttpHub(ThreadingHTTPServer):
    """git's own http-backend, on loopback.

    ``private`` asks for a user; ``answer`` is the status of every answer,
    with a page that a browser would show.
    """

    def __init__(self, folder: Path, *, private: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.private = private
        self.answer = 0
        self.plain = False

    def url(self, name: str = "threads.git", user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.server_address[1]}/{name}"


class _Handler(BaseHTTPRequestHandler):
    server: HttpHub

    def do_GET(self) -> None:
        self._do()

    def do_POST(self) -> None:
        self._do()

    def _do(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wanted = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        said = self.headers.get("Authorization")
        if self.server.answer:
            self._say(self.server.answer, b"<html>\nSign in\n</html>\n")
        elif self.server.private and said != f"Basic {wanted}":
            self._say(401, b"Who are you?")
        elif self.server.plain:
            self._file()
        else:
            self._backend(body)

    def _say(self, status: int, body: bytes, kind: str = "text/html") -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="hub"')
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self) -> None:
        """What a server does that knows nothing of git."""
        path = self.server.folder / self.path.partition("?")[0].lstrip("/")
        if path.is_file():
            self._say(200, path.read_bytes(), "text/plain")
        else:
            self._say(404, b"Not found")

    def _backend(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            env=env,
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(fields.get("Status", "200").split()[0])
        self._say(status, content, fields.get("Content-Type", "text/plain"))

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextlib.contextmanager
def http(folder: Path, *, private: bool = False) -> Iterator[HttpHub]:
    """Serve the repositories in a folder."""
    with HttpHub(folder, private=private) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


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
        """An ssh of somebody who has that key, and knows these hosts."""
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
