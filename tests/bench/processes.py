"""Processes that are timed and weighed: commands, and servers at a pipe."""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# The kernel counts the memory of whoever starts a process as the process's own
# until it has more. Started by this small one, nothing is hidden.
WEIGH = """\
import os, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss))
os._exit(os.waitstatus_to_exitcode(status))
"""
# A server that has not answered by then never will.
ANSWER_SECONDS = 120.0


class BenchError(Exception):
    """Something could not be measured; the text says what."""


class Process(NamedTuple):
    """A command line, where it runs, the file on its standard input and the one
    for its complaints."""

    words: tuple[str, ...]
    folder: str
    env: dict[str, str]
    stdin: str
    stderr: str

    def seconds(self) -> float:
        """Run it; the time from its start to its end."""
        return self._run()[0]

    def cpu_seconds(self) -> float:
        """Run it; the CPU that it used, without what it left in the background."""
        return self._run()[1]

    def _run(self) -> tuple[float, float]:
        """Run it; the time until its end, and its CPU time."""
        os.chdir(self.folder)
        output = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [
            (os.POSIX_SPAWN_OPEN, 0, self.stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, self.stderr, output, 0o600),
        ]
        start = time.perf_counter()
        pid = os.posix_spawn(self.words[0], self.words, self.env, file_actions=files)
        _, status, usage = os.wait4(pid, 0)
        elapsed = time.perf_counter() - start
        if status:
            why = Path(self.stderr).read_text(encoding="utf-8")
            raise BenchError(f"this failed: {shlex.join(self.words)}\n{why}")
        return elapsed, usage.ru_utime + usage.ru_stime

    def weighed(self, report: str) -> Process:
        """The same, leaving in a file how much memory it had at most."""
        words = (sys.executable, "-I", "-S", "-c", WEIGH, report, *self.words)
        return self._replace(words=words)

    def megabytes(self) -> float:
        """Run it; the most memory it had at once."""
        with tempfile.NamedTemporaryFile() as report:
            self.weighed(report.name).seconds()
            return weight(report.name)


def weight(report: str) -> float:
    """The megabytes that WEIGH reported."""
    unit = 1 if sys.platform == "darwin" else 1024
    return int(Path(report).read_text(encoding="utf-8")) * unit / 1e6


def first_page(process: Process) -> float:
    """Serve the page; the time from its address to all of what that address shows."""
    server = subprocess.Popen(
        process.words,
        cwd=process.folder,
        env=process.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().decode().strip()
        # No proxy stands between a browser and this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        start = time.perf_counter()
        with opener.open(address, timeout=ANSWER_SECONDS) as answer:
            answer.read()
        return time.perf_counter() - start
    except (OSError, ValueError) as error:
        raise BenchError(f"the page cannot be had: {error}") from error
    finally:
        server.terminate()
        server.communicate()


class Server:
    """An MCP server at the other end of a pipe, asked what clients ask first.

    ``initialized`` and ``listed`` are the seconds from its start to its answers to
    initialize and to tools/list.
    """

    def __init__(self, process: Process) -> None:
        self._start = time.perf_counter()
        self._process = subprocess.Popen(
            process.words,
            cwd=process.folder,
            env=process.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._id = 0
        self._read = b""
        self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self.initialized = self.age()
        self._send({"method": "notifications/initialized"})
        self.ask("tools/list")
        self.listed = self.age()

    @property
    def pid(self) -> int:
        """The process's."""
        return self._process.pid

    def age(self) -> float:
        """Seconds since it was started."""
        return time.perf_counter() - self._start

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """The result of a request."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            answer = self._message(ANSWER_SECONDS)
            if answer is None:
                raise BenchError(f"the server does not answer {method}")
            if answer.get("id") == self._id:
                result: dict[str, Any] = answer.get("result", {"isError": True})
                if result.get("isError"):
                    raise BenchError(f"{method} failed: {json.dumps(answer)}")
                return result

    def call(self, tool: str, **arguments: object) -> float:
        """Call a tool; the time until its answer is there."""
        start = time.perf_counter()
        self.ask("tools/call", name=tool, arguments=arguments)
        return time.perf_counter() - start

    def _message(self, seconds: float) -> dict[str, Any] | None:
        """The next thing it says; ``None`` when it is silent for so long."""
        output = self._process.stdout
        if output is None:
            raise BenchError("the server has no output")
        while b"\n" not in self._read:
            if not select.select([output], [], [], seconds)[0]:
                return None
            data = output.read(1 << 20)
            if not data:
                raise BenchError("the server ended")
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _send(self, fields: dict[str, object]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"
        if self._process.stdin is not None:
            self._process.stdin.write(line)

    def stop(self) -> None:
        """End it as clients do: close its input and wait."""
        self._process.communicate()


def say(text: str) -> None:
    """Tell whoever waits what happens."""
    sys.stderr.write(f"bench: {text}\n")


def run(*words: str, env: dict[str, str] | None = None) -> None:
    """Run a step of the preparations, quiet unless it fails."""
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
    if done.returncode:
        raise BenchError(f"this failed: {shlex.join(words)}\n{done.stderr.decode()}")
