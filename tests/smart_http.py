"""git's own smart http on loopback: what a host of repositories does."""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USER, PASSWORD = "pat", "s3cret"


class HttpHub(ThreadingHTTPServer):
    """git's own http-backend, on loopback.

    ``private`` asks for a user; ``answer`` is the status of every answer,
    with a page that a browser would show. Each answer takes ``delay`` seconds longer.
    What git says about its errors goes to standard error, which pytest shows if a test
    fails.
    """

    def __init__(
        self, folder: Path, *, private: bool = False, delay: float = 0
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.private = private
        self.delay = delay
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
        time.sleep(self.server.delay)
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
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)  # the client may have given up

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
        sys.stderr.write(os.fsdecode(done.stderr))
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        if not head:
            self._say(500, done.stderr, "text/plain")
            return
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(fields.get("Status", "200").split()[0])
        self._say(status, content, fields.get("Content-Type", "text/plain"))

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextlib.contextmanager
def http(folder: Path, *, private: bool = False, delay: float = 0) -> Iterator[HttpHub]:
    """Serve the repositories in a folder."""
    with HttpHub(folder, private=private, delay=delay) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
