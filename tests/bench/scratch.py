"""What bin/bench measures with and on: processes, servers, generated stores.

Everything lies in one scratch folder: an installed wheel, the programs it is
compared with, a home folder and the stores.
"""

from __future__ import annotations

import compileall
import contextlib
import fcntl
import importlib.util
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import codec, markdown, model, names, projections, statusfiles, ulid
from wc_core.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
# What this interpreter must have: the wheel is installed without dependencies.
NEEDED = ("typer", "fastmcp", "hatchling")
SETTLING_SECONDS = 120

TYPER_APP = """\
import typer

app = typer.Typer(add_completion=False)


@app.command()
def main(name: str = "you", loud: bool = False) -> None:
    print(f"hello {name}" + "!" * loud)
"""
TRIVIAL_SERVER = """\
from fastmcp import FastMCP

app = FastMCP("trivial")


@app.tool(description="Answer.")
def ping() -> str:
    return "pong"
"""
# name: (the module, how its script starts it)
REFERENCES = {
    "typer-app": ("typer_app", TYPER_APP, "app()"),
    "trivial-server": (
        "trivial_server",
        TRIVIAL_SERVER,
        'app.run("stdio", show_banner=False)',
    ),
}
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
# In the order in which they pass the ball; the last one passes it to the first.
AUTHORS = tuple(f"{name} (bench)" for name in ("Codex", "Cursor", "Zed", "Claude Code"))
WORDS = "the cookie of a session is cleared before the page asks for it again"
BRANCHES = 50


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
        os.chdir(self.folder)
        output = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [
            (os.POSIX_SPAWN_OPEN, 0, self.stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, self.stderr, output, 0o600),
        ]
        start = time.perf_counter()
        pid = os.posix_spawn(self.words[0], self.words, self.env, file_actions=files)
        _, status = os.waitpid(pid, 0)
        elapsed = time.perf_counter() - start
        if status:
            why = Path(self.stderr).read_text(encoding="utf-8")
            raise BenchError(f"this failed: {shlex.join(self.words)}\n{why}")
        return elapsed

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


class Server:
    """An MCP server at the other end of a pipe, asked what clients ask first."""

    def __init__(self, process: Process) -> None:
        self._process = subprocess.Popen(
            process.words,
            cwd=process.folder,
            env=process.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._id = 0
        self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self._send({"method": "notifications/initialized"})
        self.ask("tools/list")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """The result of a request."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        for line in self._process.stdout or ():
            answer = json.loads(line)
            if answer.get("id") == self._id:
                result: dict[str, Any] = answer.get("result", {"isError": True})
                if result.get("isError"):
                    raise BenchError(f"{method} failed: {line.decode()}")
                return result
        raise BenchError(f"the server ended at {method}")

    def call(self, tool: str, **arguments: object) -> float:
        """Call a tool; the time until its answer is there."""
        start = time.perf_counter()
        self.ask("tools/call", name=tool, arguments=arguments)
        return time.perf_counter() - start

    def _send(self, fields: dict[str, object]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"
        if self._process.stdin is not None:
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def stop(self) -> None:
        """End it as clients do: close its input and wait."""
        self._process.communicate()


class Scratch:
    """The scratch folder; each part is made when it is first asked for."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self.bin = f"{self.folder}/venv/bin"
        self.env = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": f"{self.folder}/home",
            "LANG": "C.UTF-8",
            "USER": "bench",
            "WATERCOOLER_AGENT": "codex",
            "WATERCOOLER_SYNC": "background",
        }
        self._repositories: dict[str, str] = {}
        self._layouts: list[Layout] = []
        self._servers: dict[str, Server] = {}
        user = "[user]\n\tname = bench\n\temail = bench@localhost\n"
        self.file("home/.gitconfig", user)

    def file(self, name: str, text: str) -> str:
        """The path of a file with this text."""
        path = Path(self.folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    @cached_property
    def installed(self) -> str:
        """The folder with wc's programs and the references', all compiled."""
        say("building and installing the wheel")
        python, wheels = f"{self.bin}/python", f"{self.folder}/wheels"
        run(sys.executable, "-m", "venv", "--without-pip", f"{self.folder}/venv")
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels)
        wheel = str(next(Path(wheels).glob("*.whl")))
        if importlib.util.find_spec("pip"):
            pip = [sys.executable, "-m", "pip", "--python", python, "install"]
            run(*pip, "--quiet", "--no-deps", "--compile", wheel)
        else:
            pip = ["uv", "pip", "install", "--python", python]
            run(*pip, "--quiet", "--no-deps", "--compile-bytecode", wheel)
        site = next(Path(self.folder, "venv/lib").glob("python*/site-packages"))
        found = [importlib.util.find_spec(name) for name in NEEDED]
        homes = {
            str(Path(one.origin).parents[1]) for one in found if one and one.origin
        }
        (site / "dependencies.pth").write_text("".join(f"{one}\n" for one in homes))
        for program, (module, source, start) in REFERENCES.items():
            (site / f"{module}.py").write_text(source)
            script = f"#!{python}\nfrom {module} import app\n\n{start}\n"
            os.chmod(self.file(f"venv/bin/{program}", script), 0o755)
        compileall.compile_dir(site, quiet=1)
        return self.bin

    def process(
        self, *words: str, folder: str = "", stdin: str = os.devnull
    ) -> Process:
        """A command, of the installed ones or of the system's."""
        own = f"{self.installed}/{words[0]}"
        program = own if os.path.exists(own) else shutil.which(words[0])
        if program is None:
            raise BenchError(f"there is no {words[0]}")
        return Process(
            words=(program, *words[1:]),
            folder=folder or self.folder,
            env=self.env,
            stdin=stdin,
            stderr=f"{self.folder}/stderr",
        )

    def repository(self, threads: int, entries: int) -> str:
        """A git repository whose store has so many threads of so many entries."""
        name = f"{threads}x{entries}"
        if name not in self._repositories:
            say(f"making a store: {threads:,} threads of {entries:,} entries")
            folder = f"{self.folder}/{name}"
            run("git", "init", "--quiet", "--initial-branch=main", folder)
            self.process("wc", "init", folder=folder).seconds()
            stores = Path(self.env["HOME"], ".watercooler/worktrees")
            root = str(next(stores.glob(f"watercooler-{name}-*/")))
            self._layouts.append(fill(root, threads, entries))
            git = ("git", "-C", root, "-c", "core.hooksPath=/dev/null")
            run(*git, "add", "--all", env=self.env)
            run(*git, "commit", "--quiet", "--message=Threads", env=self.env)
            self._repositories[name] = folder
        return self._repositories[name]

    def server(self, program: str, folder: str = "") -> Server:
        """A server that runs until the end."""
        if program not in self._servers:
            self._servers[program] = Server(self.process(program, folder=folder))
        return self._servers[program]

    def start_seconds(self, program: str, folder: str = "") -> float:
        """Start a server; the time until it has listed its tools."""
        process = self.process(program, folder=folder)
        start = time.perf_counter()
        server = Server(process)
        elapsed = time.perf_counter() - start
        server.stop()
        return elapsed

    def server_megabytes(self, program: str, folder: str, *tools: str) -> float:
        """The most memory a server had that was started and called."""
        report = f"{self.folder}/weight"
        server = Server(self.process(program, folder=folder).weighed(report))
        for tool in tools:
            server.call(tool)
        server.stop()
        return weight(report)

    def settle(self) -> None:
        """Wait until no settling helper is at work: it would disturb what is
        timed next."""
        deadline = time.monotonic() + SETTLING_SECONDS
        for layout in self._layouts:
            while os.listdir(layout.unsettled) or is_locked(layout.git_lock):
                if time.monotonic() > deadline:
                    raise BenchError(f"settling does not end, see {layout.settling}")
                time.sleep(0.01)

    def close(self) -> None:
        """Stop what runs."""
        for server in self._servers.values():
            server.stop()
        with contextlib.suppress(BenchError):
            self.settle()
        os.chdir(ROOT)


def say(text: str) -> None:
    """Tell whoever waits what happens."""
    sys.stderr.write(f"bench: {text}\n")


def run(*words: str, env: dict[str, str] | None = None) -> None:
    """Run a step of the preparations, quiet unless it fails."""
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, check=False)
    if done.returncode:
        raise BenchError(f"this failed: {shlex.join(words)}\n{done.stderr.decode()}")


def is_locked(path: str) -> bool:
    """Whether somebody holds a lock of a store."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def claude_json(folder: str) -> str:
    """About 3 KB as Claude Code gives them to a status line."""
    fields = {
        "session_id": "0b8e7a2c-8f0a-4c1e-9b1d-3f5b8f0d7c11",
        "transcript_path": f"{folder}/.claude/projects/session.jsonl",
        "cwd": folder,
        "model": {"id": "a-model", "display_name": "A model"},
        "workspace": {
            "current_dir": folder,
            "project_dir": folder,
            "added_dirs": [f"/srv/code/a-library-{number:03}" for number in range(80)],
        },
        "version": "2.0.0",
        "cost": {"total_cost_usd": 0.5, "total_duration_ms": 60000},
    }
    return json.dumps(fields)


def fill(root: str, threads: int, entries: int) -> Layout:
    """Write threads into a store, every file as wc would have left it."""
    layout = Layout(os.path.realpath(root))
    for number in range(threads):
        thread = tuple(a_thread(f"topic-{number:04}", number, entries))
        for path, data in files_of(layout, thread).items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_bytes(data)
    return layout


def files_of(layout: Layout, entries: Sequence[model.Entry]) -> dict[str, bytes]:
    """The files of one thread: its log and everything that follows from it."""
    topic, directory = entries[0].topic, names.Directory()
    state = model.fold(topic, entries)
    log = b"".join(codec.to_line(one, index) for index, one in enumerate(entries))
    new = {directory.key(names.parse(one.name)): one.new for one in state.participants}
    status = statusfiles.files(statusfiles.View(state, new, directory))
    return {
        layout.log(topic): log,
        layout.meta(topic): projections.render_meta(state, len(log), {}),
        layout.edges(topic): projections.render_edges(topic, entries),
        layout.page(topic): markdown.render(state, entries),
        **{f"{layout.local}/{path}": data for path, data in status.items()},
    }


def a_thread(topic: str, number: int, count: int) -> Iterator[model.Entry]:
    """Entries that pass the ball round, in thread 0 to the first author at last.
    The threads are spread over fifty branches; one entry in a thousand has the
    word ``needle``."""
    dice = random.Random(number)
    start = time.time_ns() // 1_000_000 - 30 * 86_400_000 + number * 1000
    parents: tuple[str, ...] = ()
    for index in range(count):
        words = dice.choices(WORDS.split(), k=60)
        if (number * count + index) % 1000 == 0:
            words[7] = "needle"
        turn = number + index - count
        entry = model.Entry(
            id=ulid.encode(start + index << ulid.RANDOM_BITS | dice.getrandbits(80)),
            topic=topic,
            agent=AUTHORS[turn % len(AUTHORS)],
            at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start // 1000)),
            title=" ".join(words[:6]),
            body=" ".join(words),
            role="implementer",
            action="say" if index else "new",
            ball=model.Ball(AUTHORS[(turn + 1) % len(AUTHORS)]),
            status=None if index else model.OPEN,
            parents=parents,
            code_branch=f"branch-{number % BRANCHES}" if number % BRANCHES else "main",
        )
        yield entry
        parents = (entry.id,)
