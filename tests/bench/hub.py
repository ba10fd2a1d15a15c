"""Remotes for what is measured: repositories on loopback, and one that hangs."""

from __future__ import annotations

import socket
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import run
from tests.smart_http import http
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch
    from tests.smart_http import HttpHub

_WAITING = 512  # connections that nobody answers


class Hub:
    """Bare repositories in a folder, and git's smart http that serves them."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self.folder = Path(scratch.folder, "hub")

    @cached_property
    def _server(self) -> HttpHub:
        self.folder.mkdir(exist_ok=True)
        return self._scratch.closing.enter_context(http(self.folder))

    def _make(self, name: str) -> tuple[str, str]:
        """A bare repository that takes what is pushed: its path and its URL."""
        path = str(self.folder / name)
        run("git", "init", "--quiet", "--bare", "--initial-branch=main", path)
        run("git", "-C", path, "config", "http.receivepack", "true")
        return path, self._server.url(name)

    def shared(self, folder: str, name: str) -> None:
        """Give a repository made by ``scratch`` the remote ``origin``, by its URL,
        which has its threads."""
        root = self._scratch.layout(folder).root
        env = self._scratch.process("git", folder=folder).env
        there, url = self._make(name)
        git = ("git", "-C", root)
        run(*git, "push", "--quiet", there, BRANCH, env=env)
        run(*git, "remote", "add", "origin", url, env=env)
        run(*git, "fetch", "--quiet", "origin", env=env)


class Silence:
    """A remote that accepts whoever comes and never says a word."""

    def __init__(self, scratch: Scratch) -> None:
        # The system accepts for us, and nobody reads.
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_WAITING)
        scratch.closing.callback(self._listener.close)

    def add_to(self, root: str) -> None:
        """Be the remote of a repository, as one that had the branch."""
        url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/threads.git"
        git = ("git", "-C", root)
        run(*git, "remote", "add", "origin", url)
        run(*git, "update-ref", f"refs/remotes/origin/{BRANCH}", f"refs/heads/{BRANCH}")

    def close(self) -> None:
        """Refuse those who wait."""
        self._listener.close()
