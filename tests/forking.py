"""Runs `wc` as a process that need not start first.

To start the interpreter and import what every `wc` imports takes four times as
long as what a `wc` does then. So one is started for each kind of environment, and
is forked, at that point, for each that is run: the same code in a process of its
own, with its own words, folder, environment and streams.
"""

from __future__ import annotations

import marshal
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.forkserver import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SERVER = Path(__file__).with_name("forkserver.py")
_STAND_IN = Path(__file__).with_name("standin.py")
_MEASURED = Path(__file__).with_name("measured")
_SOURCE = Path(__file__).resolve().parents[1] / "src"
# What an interpreter looks at when it starts.
_EARLY = ("PYTHON", "COV", "LC_", "LANG", "LD_", "DYLD_")
# So many of a kind are started as anyone starts them.
_STARTED = 2
_PIECE = 1 << 16

_asked_for: Counter[object] = Counter()
_run: set[tuple[str, ...]] = set()
_servers: dict[object, Server] = {}


class Wanted(NamedTuple):
    """What is to be run: these words after ``wc``, in a folder, with an
    environment and a standard input, for so many seconds at most."""

    words: Sequence[str]
    folder: str
    env: Mapping[str, str]
    feed: bytes | None
    seconds: float

    @property
    def shape(self) -> tuple[str, ...]:
        """The command and its options."""
        options = (one for one in self.words[1:] if one.startswith("-"))
        return (*self.words[:1], *sorted(options))

    @property
    def is_large(self) -> bool:
        """Whether it may need a large library: for the board, or for meaning."""
        is_meant = self.env.get("WATERCOOLER_MEANING") != "off"
        return is_meant or [*self.words[:1]] == ["board"]


def run(wanted: Wanted) -> tuple[int, bytes, bytes] | None:
    """Exit status, output and errors; nothing where it had better be started as
    anyone starts it."""
    early = {k: v for k, v in wanted.env.items() if k.startswith(_EARLY)}
    again = wanted.shape in _run
    _run.add(wanted.shape)
    imported = ("all" if wanted.is_large else "most") if again else ""
    kind = (imported, os.geteuid(), *sorted(early.items()))
    _asked_for[kind] += 1
    if _asked_for[kind] <= _STARTED:
        return None
    if kind not in _servers:
        _servers[kind] = Server(wanted.env, imported)
    return _servers[kind].run(wanted)


def observing(env: Mapping[str, str]) -> list[str]:
    """The command line of a `wc-observe` that is forked from one that has started
    with such an environment: a process of its own, on the streams that it is
    given. To start one takes twenty times as long."""
    # Whether it is measured; the rest of what an interpreter looks at is the same
    # for all of them.
    early = {k: v for k, v in env.items() if k.startswith("COV")}
    kind = ("observe", *sorted(early.items()))
    if kind not in _servers:
        path = os.pathsep.join((str(_SOURCE), str(_MEASURED)))
        kept = {name: os.environ[name] for name in ("HOME", "PATH")}
        same = {"PYTHONPATH": path, "PYTHONWARNINGS": "error", "LC_ALL": "C.UTF-8"}
        _servers[kind] = Observer({**kept, **early, **same})
    server = _servers[kind]
    assert isinstance(server, Observer)
    # Without `site` nothing looks whether the stand-in is to be measured.
    return [sys.executable, "-I", "-S", str(_STAND_IN), server.address]


def stop() -> None:
    """End what is waiting to be forked."""
    while _servers:
        _servers.popitem()[1].stop()


class Server:
    """A `wc` that waits to be forked."""

    def __init__(
        self, env: Mapping[str, str], *words: str, handles: Sequence[int] = ()
    ) -> None:
        self._asking, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-c", _SERVER.read_text(), *words]
            # Like a pipe, standard output is nothing to seek in.
            end = theirs.fileno()
            self._process = subprocess.Popen(
                argv, env=env, cwd="/", stdin=end, stdout=end, pass_fds=handles
            )

    def stop(self) -> None:
        """End it."""
        self._asking.close()
        self._process.wait()

    def run(self, wanted: Wanted) -> tuple[int, bytes, bytes]:
        """Fork it, and see it to its end."""
        reading, feeding = os.pipe()
        outs, errs = os.pipe(), os.pipe()
        asker, theirs = socket.socketpair()
        if wanted.feed is None:
            os.close(reading)
            reading = os.open(os.devnull, os.O_RDONLY)
        with asker:
            given = (theirs.fileno(), reading, outs[1], errs[1])
            socket.send_fds(self._asking, [b"?"], given)
            theirs.close()
            for handle in given[1:]:
                os.close(handle)
            env = {os.fsencode(k): os.fsencode(v) for k, v in wanted.env.items()}
            words = [os.fsencode(one) for one in wanted.words]
            asker.sendall(marshal.dumps((words, wanted.folder, env)))
            pid = _number(asker)
            try:
                said = _communicate(feeding, (outs[0], errs[0]), wanted)
                asker.settimeout(wanted.seconds)
                return (_number(asker), *said)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise


class Observer(Server):
    """A `wc-observe` that waits to be forked; anyone may ask, at ``address``."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._folder = tempfile.mkdtemp(prefix="wc-tests-observer-")
        self.address = f"{self._folder}/ask"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asked:
            asked.bind(self.address)
            number = asked.fileno()
            super().__init__(env, "observe", str(number), handles=[number])

    def stop(self) -> None:
        """End it."""
        super().stop()
        shutil.rmtree(self._folder)


def _number(asker: socket.socket) -> int:
    number: int
    (number,) = NUMBER.unpack(asker.recv(NUMBER.size, socket.MSG_WAITALL))
    return number


def _communicate(
    feeding: int, hearing: tuple[int, int], wanted: Wanted
) -> tuple[bytes, bytes]:
    """Feed a process, and hear what it says on both of its streams."""
    said = dict.fromkeys(hearing, b"")
    left = memoryview(wanted.feed or b"")
    deadline = time.monotonic() + wanted.seconds
    os.set_blocking(feeding, False)
    reads, writes = [*hearing], [feeding]
    while reads or writes:
        if not left and writes:
            os.close(writes.pop())
            continue
        ready = select.select(reads, writes, [], max(0, deadline - time.monotonic()))
        if not any(ready):
            raise TimeoutError
        for one in ready[0]:
            data = os.read(one, _PIECE)
            said[one] += data
            if not data:
                reads.remove(one)
                os.close(one)
        for one in ready[1]:
            try:
                left = left[os.write(one, left) :]
            except BrokenPipeError:  # it has heard enough
                left = left[:0]
    out, err = said.values()
    return out, err
