"""The scratch folder of bin/bench: an installed wheel, the programs it is compared
with, a home folder and the stores.
"""

from __future__ import annotations

import compileall
import contextlib
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.processes import (
    ROOT,
    BenchError,
    Process,
    Server,
    run,
    say,
    weight,
)
from tests.bench.stores import fill
from wc_cli.ledger.store import applied
from wc_core.ledger.git import repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout

# What this interpreter must have: the wheel is installed without dependencies.
NEEDED = ("typer", "fastmcp", "hatchling")
# The libraries that decide how fast a command or the server starts.
LIBRARIES = ("typer", "rich", "fastmcp", "mcp", "pydantic")
# What bin/libraries exits with.
NO_INDEX = 3
SETTLING_SECONDS = 120
# The thread that something is said in.
FIRST = "topic-0000"
# Files here have no disk to wait for.
MEMORY = "/dev/shm"
# How git is told to take in a store: files go into a pack at once, as they are.
QUICKLY = tuple(
    word
    for setting in (
        "core.hooksPath=/dev/null",
        "core.bigFileThreshold=1",
        "core.compression=1",
        "pack.window=0",
    )
    for word in ("-c", setting)
)

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


class Scratch:
    """The scratch folder; each part is made when it is first asked for. ``locked``:
    wc has the libraries of this interpreter, instead of the newest."""

    def __init__(self, folder: str, *, locked: bool = False) -> None:
        self.locked = locked
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
        self._layouts: dict[str, Layout] = {}
        self._servers: dict[tuple[str, str], Server] = {}
        self._turns: dict[str, list[str]] = {}
        self.closing = contextlib.ExitStack()
        self.write_identity(self.folder)

    def file(self, name: str, text: str) -> str:
        """The path of a file with this text."""
        path = Path(self.folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def write_identity(self, place: str) -> None:
        """Give the home folder in this place a git identity."""
        user = "[user]\n\tname = bench\n\temail = bench@localhost\n"
        self.file(f"{place}/home/.gitconfig", user)

    @cached_property
    def memory(self) -> str:
        """A place like the scratch folder, in memory."""
        made = tempfile.TemporaryDirectory(prefix="wc-bench-", dir=MEMORY)
        place = os.path.realpath(self.closing.enter_context(made))
        self.write_identity(place)
        return place

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
            install = (*pip, "--quiet", "--no-deps", "--compile")
        else:
            pip = ["uv", "pip", "install", "--python", python]
            install = (*pip, "--quiet", "--no-deps", "--compile-bytecode")
        site = next(Path(self.folder, "venv/lib").glob("python*/site-packages"))
        run(*install, wheel)
        text = "".join(f"{home}\n" for home in self._libraries())
        (site / "dependencies.pth").write_text(text)
        for program, (module, source, start) in REFERENCES.items():
            (site / f"{module}.py").write_text(source)
            script = f"#!{python}\nfrom {module} import app\n\n{start}\n"
            os.chmod(self.file(f"venv/bin/{program}", script), 0o755)
        compileall.compile_dir(site, quiet=1)
        return self.bin

    def _libraries(self) -> set[str]:
        """The folders of the libraries: the newest, or this interpreter's."""
        if not self.locked:
            say("installing the newest libraries")
            done = subprocess.run([ROOT / "bin/libraries", "newest"], check=False)
            if done.returncode != NO_INDEX:
                done.check_returncode()
                places = (ROOT / ".venv-newest/lib").glob("python*/site-packages")
                return {str(place) for place in places}
        found = [importlib.util.find_spec(name) for name in NEEDED]
        return {str(Path(one.origin).parents[1]) for one in found if one and one.origin}

    def libraries(self) -> str:
        """The libraries that wc has here, with their versions."""
        ask = "from importlib.metadata import version as v; print(*map(v, {}))"
        words = (f"{self.installed}/python", "-c", ask.format(LIBRARIES))
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        versions = zip(LIBRARIES, done.stdout.split(), strict=True)
        return ", ".join(f"{name} {version}" for name, version in versions)

    def process(
        self, *words: str, folder: str = "", stdin: str = os.devnull
    ) -> Process:
        """A command, of the installed ones or of the system's."""
        place = os.path.dirname(folder) if folder else self.folder
        own = os.path.join(self.installed, words[0])
        program = own if os.path.exists(own) else shutil.which(words[0])
        if program is None:
            raise BenchError(f"there is no {words[0]}")
        return Process(
            words=(program, *words[1:]),
            folder=folder or self.folder,
            env=self.env | {"HOME": f"{place}/home"},
            stdin=stdin,
            stderr=f"{self.folder}/stderr",
        )

    def repository(
        self, threads: int, entries: int, *, name: str = "", place: str = ""
    ) -> str:
        """A git repository whose store has so many threads of so many entries; one
        of another name or in another place is one of its own."""
        place = place or self.folder
        name = name or f"{threads}x{entries}"
        folder = f"{place}/{name}"
        if folder not in self._layouts:
            say(f"making a store: {threads:,} threads of {entries:,} entries")
            init = self.process("wc", "init", folder=folder)
            run("git", "init", "--quiet", "--initial-branch=main", folder)
            init.seconds()
            stores = Path(place, "home/.watercooler/worktrees")
            root = str(next(stores.glob(f"watercooler-{name}-*/")))
            self._layouts[folder] = fill(root, threads, entries)
            git = ("git", "-C", root, *QUICKLY)
            run(*git, "add", "--all", env=init.env)
            run(*git, "commit", "--quiet", "--message=Threads", env=init.env)
            # In one pack, as clones have it: of so many loose objects settling
            # would make one, beside what is measured.
            run(*git, "repack", "-a", "-d", "--quiet", env=init.env)
            note(self._layouts[folder])
        return folder

    def layout(self, folder: str) -> Layout:
        """The store of a repository made here."""
        return self._layouts[folder]

    def server(self, program: str, folder: str = "") -> Server:
        """A server that runs until the end."""
        key = program, folder
        if key not in self._servers:
            self._servers[key] = Server(self.process(program, folder=folder))
        return self._servers[key]

    @contextlib.contextmanager
    def weighed_server(
        self, program: str, folder: str = ""
    ) -> Iterator[tuple[Server, list[float]]]:
        """A server for a while, and a list that gets, at its end, the most memory
        that it had, in megabytes."""
        report = f"{self.folder}/weight"
        found: list[float] = []
        server = Server(self.process(program, folder=folder).weighed(report))
        try:
            yield server, found
        finally:
            server.stop()
        found.append(weight(report))

    def saying(self, folder: str) -> Process:
        """A ``wc say`` of whoever has the ball of the first thread: it goes to
        and fro."""
        agents = self._turns.setdefault(folder, ["codex", "claude"])
        agents.reverse()
        words = ("wc", "say", FIRST, "--title", "A title", "--body", "A body")
        process = self.process(*words, folder=folder)
        return process._replace(env=process.env | {"WATERCOOLER_AGENT": agents[-1]})

    def settle(self) -> None:
        """Wait until no settling helper is at work: it would disturb what is
        timed next."""
        deadline = time.monotonic() + SETTLING_SECONDS
        for layout in self._layouts.values():
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
        self.closing.close()


def note(layout: Layout) -> None:
    """Note that a store's folder has what its branch has: otherwise every thread
    of it is settled after the first entry."""
    where = repository.find(layout.root)
    if where is None:
        raise BenchError(f"{layout.root} has no repository")
    text = f"{where.commit} {applied.index_ns(where)}\n"
    Path(layout.applied).write_text(text, encoding="utf-8")


def is_locked(path: str) -> bool:
    """Whether someone holds a lock of a store."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
