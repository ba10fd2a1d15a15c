"""What the commands of every minute import: their start-up is a promise."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

# Each costs a command more than what it is for (milliseconds measured with
# `python -X importtime`), or drags such a module in.
HEAVY = frozenset(
    {"pydantic", "pydantic_core", "fastmcp", "mcp", "rich", "typer", "click"}
    | {"asyncio", "inspect", "dataclasses", "subprocess", "pathlib", "tomllib"}
    | {"typing_extensions", "importlib.resources", "importlib.metadata", "ast"}
    | {"argparse", "logging", "tempfile", "shutil", "random", "socket", "ssl"}
    | {"urllib", "email", "difflib", "hashlib", "threading", "concurrent"}
    | {
        "sqlite3",
        "unittest",
        "watchfiles",
        "rich",
        "traceback",
        "datetime",
        "shlex",
        "uuid",
    }
    | {"typing", "re", "json", "enum", "collections", "contextlib", "functools"}
    | {"operator"}
    | {
        "wc_observe",
        "wc_cli.run.app",
        "wc_cli.ledger.branch",
        "wc_cli.ledger.settle",
        "wc_cli.ledger.sync",
    }
    | {"wc_core.ledger.threads.pages.page", "wc_core.ledger.guidance"}
)
# Of our own, the names that a rename must not make meaningless.
OURS = sorted(name for name in HEAVY if name.startswith("wc_"))
READING = frozenset({"operator"})
# SQLite imports these by itself.
INDEX = frozenset({"functools", "collections"})
# Claims and notes are kept in refs, which are sent to the remote like the branch.
REFS = frozenset({"wc_cli.ledger.branch", "wc_cli.ledger.sync"})
# Patterns are matched, or a signal is waited for.
PATTERNS = frozenset({"re", "enum", "functools", "collections", "operator"})

_PROGRAM = """
import sys
before = set(sys.modules)
import os
leave, command = os._exit, os.getpid()
def tell(code):
    if os.getpid() != command:
        leave(code)  # it settles, as a copy of the command
    with open(os.environ["TELL"], "w") as file:
        file.write("\\n".join(set(sys.modules) - before))
    leave(code)
os._exit = tell
from wc_cli.start import main
main()
"""


def imported(repo: Repo, *words: str) -> set[str]:
    """The modules a command imports, beyond those that Python starts with."""
    tell = repo.path.parent / "modules.json"
    cache = repo.machine.env.get("PYTHONPYCACHEPREFIX")
    options = ["-X", f"pycache_prefix={cache}"] if cache else []
    # Without `site`, whose .pth files may import modules that would then not count.
    options = ["-I", "-S", *options, "-c", _with_paths(repo.machine)]
    argv = [sys.executable, *options]
    env = {"TELL": str(tell), "WATERCOOLER_SYNC": "background"}
    done = repo.machine.run([*argv, *words], repo.path, env=env)
    assert not done.code, done
    return set(tell.read_text().split())


def _with_paths(machine: Machine) -> str:
    """The program, which finds our sources and installed packages."""
    folders = [machine.env["PYTHONPATH"], sysconfig.get_path("purelib")]
    return f"import sys; sys.path += {folders!r}\n{_PROGRAM}"


def heavy(modules: set[str]) -> set[str]:
    tops = {one.partition(".")[0] for one in modules}
    return (modules | tops) & HEAVY


COMMANDS = {
    "version": (["version"], frozenset[str]()),
    "say": (["say", "auth", "--title", "On it", "--body", "text"], frozenset[str]()),
    "say --json": (["say", "auth", "--title", "x", "--json"], frozenset[str]()),
    "ack": (["ack", "auth"], frozenset[str]()),
    "handoff": (["handoff", "auth", "--to", "Codex"], frozenset[str]()),
    "take": (["take", "auth", "--reason", "stuck", "--as", "Codex"], frozenset[str]()),
    "set-status": (["set-status", "auth", "BLOCKED"], frozenset[str]()),
    "list": (["list"], READING | INDEX),
    "list --json": (["list", "--json"], READING | INDEX),
    "a part of a list": (["list", "--limit", "1"], READING | INDEX),
    "read": (["read", "auth"], READING),
    "search": (["search", "text"], READING | INDEX),
    "search for a phrase": (["search", "--phrase", "a text"], READING | INDEX),
    "brief": (["brief"], READING | INDEX | {"wc_core.ledger.guidance"}),
    "brief --hook": (["brief", "--hook", "user-prompt"], PATTERNS | {"json"}),
    "whoami": (["whoami"], frozenset[str]()),
    "help": (["help"], frozenset[str]()),
    "help of a command": (["help", "say"], frozenset[str]()),
    "--help": (["say", "--help"], frozenset[str]()),
    "check": (["check", "x.py"], READING | INDEX | REFS),
    "claims": (["claims"], REFS),
    "claim": (["claim", "x.py"], REFS),
    "note": (["note", "tests"], REFS),
    "inbox": (["inbox"], READING | INDEX),
    "statusline": (["statusline"], PATTERNS),
}


@pytest.mark.parametrize("name", OURS)
def test_the_heavy_modules_of_ours_exist(name: str) -> None:
    assert importlib.util.find_spec(name)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_nothing_heavy(repo: Repo, command: str) -> None:
    for topic in ("other", "auth"):
        repo.settled("say", topic, "--title", "Begin", "--to", "Pat")
    words, needed = COMMANDS[command]
    assert heavy(imported(repo, *words)) - needed == set()


def test_the_first_write_of_a_repository_may_run_git(repo: Repo) -> None:
    assert "wc_cli.ledger.branch.git" in imported(
        repo, "say", "auth", "--title", "Begin"
    )


def test_the_measure_measures(repo: Repo) -> None:
    # Not "inspect": where coverage is measured, it is there before we are.
    words = ("say", "--json", "--help")  # too unusual for our own parser
    assert "typer" in heavy(imported(repo, *words))
