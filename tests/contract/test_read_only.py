"""The server cannot write: three proofs that share nothing.

1. It imports nothing it could write with, and no module of ``wc_cli``.
2. In a process that refuses every write, everything it offers is called.
3. The store is the same, to the byte and the time, after each single call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp.exceptions import McpError

from tests.cli.index.histories import soon
from tests.observe.every_call import (
    ADDRESSES,
    CALLS,
    COMPLETIONS,
    EVERYTHING,
    ONE_OF_EACH,
    PROMPTS,
    call_everything,
)
from tests.observe.serving import serving, standing_in
from tests.observe.stores import Session, Store, fingerprint
from wc_cli.ledger.index import cachefile
from wc_core.ledger.configuration.preferences import NO_PREFERENCES
from wc_core.ledger.index.cache import Cache
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import models
from wc_core.reading.meaning.vectorfile import HEADER_BYTES

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).parents[2]
# What a page may be answered with: never that of a bug.
_STATUSES = ("200", "400", "404", "503")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store is, and the home folder: everything that must stay the same.
    One for all tests, each of which proves that it left it so."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def store(folder: Path) -> Store:
    """A store with threads of every kind, good and bad."""
    store = Store(folder / "work" / ".watercooler")
    store.thread("plan", *(store.entry("plan", "Hello " * 2000) for _ in range(3)))
    first = store.entry("forked", "Hello.", parents=())
    beside = [store.entry("forked", parents=(first.id,)) for _ in range(2)]
    store.thread("forked", first, *beside, meta=False)
    for topic, tail in (("torn", b'{"entry_id"'), ("garbage", b"\xff\n[]\n")):
        store.thread(topic)
        with Path(store.layout.log(topic)).open("ab") as log:
            log.write(tail)
    Path(store.layout.meta("torn")).write_bytes(b"{")
    Path(store.layout.page("markdown")).write_text("Status: OPEN\nBall: Codex\n")
    Path(store.layout.threads, "a b").mkdir()
    Path(store.layout.threads, "linked").symlink_to(Path(store.layout.threads, "plan"))
    Path(store.layout.folder("empty")).mkdir()
    cursors = Path(store.layout.cursors("plan"))
    cursors.mkdir(parents=True)
    (cursors / "claudecode(pat)").write_text('{"heads": [], "count": 1}')
    Path(store.layout.unsettled).mkdir(parents=True)
    Path(store.layout.unsettled, "plan").touch()
    Path(store.layout.settling).write_text('{"problem": "no"}')
    Path(store.layout.config).write_text('[aliases]\ncc = "Claude Code"\n')
    _worktrees(store.root.parent, folder / "home")
    reader = StoreReader(str(store.root))
    cachefile.refresh(reader.layout.root, soon)
    # With vectors, if the extra is installed: a search reads them.
    choice = models.chosen(NO_PREFERENCES)
    if choice.model is not None:
        from wc_cli.bridges.enrich.enriching import enrichment

        enrichment(reader, choice.model, {}).run()
        assert Path(reader.layout.vectors).stat().st_size > HEADER_BYTES
    rows = Cache(reader.layout).ask("SELECT topic FROM threads")
    assert {*rows} >= {("plan",), ("forked",)}
    return store


def _worktrees(top: Path, home: Path) -> None:
    """A repository as git leaves it, with a linked worktree; in each a loop."""
    admin, linked = top / ".git/worktrees/fix", top.parent / "fix"
    for folder in (top / ".git/objects", top / ".git/refs", admin, linked):
        folder.mkdir(parents=True)
    for gitdir in (top / ".git", admin):
        (gitdir / "HEAD").write_text("ref: refs/heads/main\n")
    (admin / "commondir").write_text("../..\n")
    (admin / "gitdir").write_text(f"{linked}/.git\n")
    (linked / ".git").write_text(f"gitdir: {admin}\n")
    state = {"status": "running", "terminal_pid": os.getpid(), "change": "fix"}
    for tree, data in ((top, "{"), (linked, json.dumps(state))):
        (tree / ".claude").mkdir()
        for name in ("loop-state.json", "activity.json"):
            (tree / ".claude" / name).write_text(data)
    team = home / ".cache/wt-tools/team_status.json"
    team.parent.mkdir(parents=True)
    team.write_text('{"members": ["pat"]}')


def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "USER": "pat",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "FASTMCP_ENV_FILE": os.devnull,
    }


def in_a_fresh_process(
    folder: Path,
    env: dict[str, str],
    *arguments: str,
    program: str = "tests.observe.every_call",
) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", program, str(folder), *arguments],
        check=False,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


# 1. What it imports.


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command as main;"
    return subprocess.run(
        [sys.executable, "-c", f"{program} main()", "--no-cache", "--no-logo"],
        check=False,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_what_reads_imports_nothing_that_writes() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    contracts = (ROOT / "pyproject.toml").read_text().count("[[tool.importlinter.")
    assert f"{contracts} kept, 0 broken" in done.stdout


FORBIDDEN = {
    "wc_observe/mcp/server.py": "import subprocess",
    "wc_observe/answers/health.py": "from shutil import rmtree",
    "wc_observe/answers/threads.py": "def late() -> None:\n    import tempfile",
    "wc_core/ledger/threads/reader.py": "import fcntl",
    "wc_core/reading/views/search/answers.py": "import sqlite3",
    "wc_core/reading/views/listing.py": "import _sqlite3",
    "wc_core/reading/views/search/indexed.py": "from wc_core.base.lean import sqlite3",
    "wc_observe/callers/open_store.py": "import sqlite3",
    "wc_observe/stores/watch.py": "import wc_core.base.lean.sqlite3",
    "wc_core/reading/views/rows.py": "import wc_cli",
    "wc_observe/mcp/tools.py": "from wc_cli import __doc__ as words",
    "wc_observe/web/app.py": "import webbrowser",
}


def test_forbidden_imports_are_found(tmp_path: Path) -> None:
    """All in one run: building the graph takes a second or two."""
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    reported = set()
    for name, line in FORBIDDEN.items():
        path = tmp_path / "src" / name
        path.write_text(f"{path.read_text()}\n{line}\n")
        module = name.removesuffix(".py").replace("/", ".")
        imported = re.findall(r"(?:import|from) (\w+)", line)[0]
        if "lean" in line:
            imported = "wc_core.base.lean.sqlite3"
        reported.add(f"{module} -> {imported}")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    assert {report for report in reported if report not in done.stdout} == set()


# 2. What it does.


def test_nothing_writes_whatever_is_called(store: Store, folder: Path) -> None:
    env = environment(folder)
    before = fingerprint(folder)
    told = in_a_fresh_process(store.root.parent, env)
    assert told["refused"] == []
    assert told["left_out"] == []
    assert told["calls"] == EVERYTHING
    assert 0 < told["failures"] < told["calls"]
    assert fingerprint(folder) == before


def test_nothing_writes_over_http_whatever_is_called(
    store: Store, folder: Path
) -> None:
    env = environment(folder)
    known = {"/user": {"id": 1, "login": "alex"}, "/user/repos": []}
    before = fingerprint(folder)
    # A setting that would have the library of the numbers write them to files.
    env["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    with standing_in(lambda path, _token: (200, known[path])) as github:
        port = github.address.rpartition(":")[2]
        program = [sys.executable, "-m", "tests.observe.served_calls", port]
        auth = [
            "--auth=github",
            "--github-login=alex",
            f"--github-api={github.address}",
        ]
        with serving(
            store.root.parent, env, *auth, "--rate=10000", program=program
        ) as server:
            client = server.client(token="gho_alexalexalex")
            told = asyncio.run(call_everything(client, ONE_OF_EACH))
            assert server.get("/healthz").status_code == 200
            page = server.get("/metrics", Authorization="Bearer gho_alexalexalex")
            assert "wc_calls_total" in page.text
            status, said = server.end()
            assert status == 0
            assert "Traceback" not in said
            own = json.loads(server.out)
    assert own["refused"] == []
    assert own["bitten"] == 4
    assert own["asked"] > 0
    assert told["left_out"] == []
    assert 0 < told["failures"] < told["calls"]
    assert fingerprint(folder) == before


def test_nothing_writes_whatever_page_is_asked_for(store: Store, folder: Path) -> None:
    env = environment(folder)
    before = fingerprint(folder)
    told = in_a_fresh_process(
        store.root.parent, env, program="tests.observe.web.every_page"
    )
    assert told["refused"] == []
    assert told["left_out"] == []
    assert {"200", "400", "404"} <= told["statuses"].keys() <= {*_STATUSES}
    assert sum(told["statuses"].values()) == told["asked"]
    assert fingerprint(folder) == before


def test_the_refusal_bites(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    told = in_a_fresh_process(folder, environment(tmp_path), "--bite")
    assert told["got_through"] == []
    assert len(told["refused"]) == 26
    assert told["there"] == ["there"]


# 3. What it leaves behind.


@pytest.mark.parametrize("tool", sorted({name for name, _ in CALLS}))
def test_the_store_is_the_same_after_each_call(
    store: Store, folder: Path, tool: str
) -> None:
    session = Session(store.root.parent, environment(folder))
    before = fingerprint(folder)

    def is_the_same(arguments: dict[str, Any]) -> None:
        assert fingerprint(folder) == before, arguments

    calls = [(name, arguments) for name, arguments in CALLS if name == tool]
    assert len(session.calls(*calls, after=is_the_same)) == len(calls)


def test_the_store_is_the_same_after_each_resource(store: Store, folder: Path) -> None:
    session = Session(store.root.parent, environment(folder))
    before = fingerprint(folder)
    for address in ADDRESSES:
        with contextlib.suppress(McpError):
            session.read(address)
        assert fingerprint(folder) == before, address


def test_the_store_is_the_same_after_prompts_and_completions(
    store: Store, folder: Path
) -> None:
    session = Session(store.root.parent, environment(folder))
    before = fingerprint(folder)
    for name, arguments in PROMPTS[::6]:
        with contextlib.suppress(McpError):
            session.prompt(name, **arguments)
        assert fingerprint(folder) == before, (name, arguments)
    for where, name, typed, given in COMPLETIONS[::6]:
        session.complete(where, {name: typed}, **given)
        assert fingerprint(folder) == before, (where, name)
