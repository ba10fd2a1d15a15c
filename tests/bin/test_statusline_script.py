"""``bin/wc-statusline`` as a process, in real repositories, under every shell of this
machine.

The script says what ``wc statusline`` says: first because it asks `wc-cli`, then from
the line that is kept. A copy of it that finds no ``wc-cli`` shows which lines are kept.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.conftest import Machine, Repo

from wc_core.attention.status import keptlines
from wc_core.attention.status.keptlines import LineRequest
from wc_core.attention.status.line import (
    NOT_CHECKED_OUT,
    LinePlace,
    status_line,
)
from wc_core.attention.status.linethreads import StatusRow
from wc_core.attention.status.look import LineStyle, is_printed_as_is
from wc_core.attention.status.places import Surroundings
from wc_core.base import agents
from wc_core.ledger.threads.model import STATUSES, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A worktree by its folder, with its branch; a branch that is empty is none.
WORKTREES = {
    "app": "main",
    "login": "login",
    "app-wt-review": "feature/review",
    "other": "Fix/UI",
    "tree": "",
}
SCRIPT = Path(__file__).resolve().parents[2] / "bin" / "wc-statusline"
THREADS = "watercooler/threads"
SHELLS = {
    "dash": ("dash",),
    "bash": ("bash",),
    "bash-posix": ("bash", "--posix"),
    "busybox": ("busybox", "sh"),
    "zsh": ("zsh", "-f"),
    "zsh-sh": ("zsh", "--emulate", "sh", "-f"),
}
TIMEOUT = 60.0
CLAUDE = {"CLAUDECODE": "1"}


def known() -> list[tuple[str, ...]]:
    """The shells of this machine: whatever is asked of one is asked of all."""
    return [words for words in SHELLS.values() if shutil.which(words[0])]


@pytest.mark.parametrize("name", sorted(SHELLS))
def test_the_shells_of_this_machine(name: str) -> None:
    command = SHELLS[name]
    if shutil.which(command[0]) is None:
        assert command[0] not in {"dash", "bash"}
        pytest.skip(f"{command[0]} IS NOT INSTALLED: the script is untested under it")
    done = subprocess.run([*command, "-c", "echo 1"], capture_output=True, check=True)
    assert done.stdout == b"1\n"


def run(
    machine: Machine,
    cwd: Path,
    *words: str,
    script: Path = SCRIPT,
    feed: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """What the script prints, the same in each shell; it must exit 0 and be silent
    otherwise. The script itself, which may start Python, is run in one."""
    said = {}
    for shell in [("sh",)] if script == SCRIPT else known():
        done = subprocess.run(
            [*shell, str(script), *words],
            cwd=cwd,
            env={**machine.env, **(env or {}), "PWD": str(cwd)},
            input=feed or b"",
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), (shell, done)
        said[shell] = done.stdout.decode()
    [line] = set(said.values())
    assert line == "" or line.endswith("\n")
    return line.removesuffix("\n")


def alone(machine: Machine) -> Path:
    """A copy of the script that finds no ``wc-cli``."""
    copy = machine.root / "alone" / SCRIPT.name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(SCRIPT, copy)
    return copy


def agreed(repo: Repo, *words: str, env: Mapping[str, str] | None = None) -> str:
    """The line of `wc statusline`, which the script says as well, and which is kept."""
    twin = repo.ok("statusline", *words, env=env).out.removesuffix("\n")
    for script in (SCRIPT, alone(repo.machine)):
        said = run(repo.machine, repo.path, *words, script=script, env=env)
        assert said == twin, script
    return twin


# --- the script prints the line of `wc statusline` ---------------------------------


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository with the worktrees of the table of places; nobody has run wc in
    them."""
    repo = Machine(tmp_path_factory.mktemp("trees")).repo()
    repo.ok("new", "far", "--title", "T", "--branch", "other")
    for folder, branch in WORKTREES.items():
        if folder != "app":
            where = ["-b", branch] if branch else ["--detach"]
            repo.git("worktree", "add", "-q", *where, f"../{folder}")
    return repo


TEXTS = st.one_of(
    st.sampled_from(
        ["main", "zähler", "\x1bx", "שלום", "\x9b31m", "a\nb", "*", "%s\\n"]
    ),
    st.text(max_size=30),
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    state=st.builds(
        State,
        TEXTS,
        ball=st.none() | TEXTS,
        status=st.sampled_from(STATUSES),
        branch=st.just("main"),
    ),
    look=st.builds(
        LineStyle,
        columns=st.integers(0, 60),
        color=st.booleans(),
        rows=st.integers(0, 3),
    ),
)
@example(State("a" * 150, ball="Zoë", branch="main"), LineStyle(9, color=True))
def test_the_script_prints_what_was_kept(
    trees: Repo, state: State, look: LineStyle
) -> None:
    """Whatever is in a line: it is printed to the byte, or not at all."""
    columns, color = look.columns, look.color
    place = LinePlace(Surroundings(("main",)))
    stamp = trees.store / ".local/line/stamp"
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text("1a2b3c4d\n")
    for path in stamp.parent.iterdir():
        if path != stamp:
            path.unlink()
    style = LineStyle(columns, color=True, rows=look.rows)
    made = status_line([StatusRow(state)] * 3, place, style)
    key = f"=main|:0.,||||||||||{columns or ''}||"
    request = LineRequest(key, "", str(trees.path), columns=columns)
    data = keptlines.encode("1a2b3c4d  main", request, made)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", made).replace("\n", "")
    assert (data is not None) == is_printed_as_is(plain)
    if data is not None:
        assert keptlines.decode(data) == keptlines.KeptLine("1a2b3c4d  main", request)
        (stamp.parent / request.name).write_bytes(data)
    said = run(
        trees.machine,
        trees.path,
        *(["--color=always"] * color),
        script=alone(trees.machine),
        env={"COLUMNS": str(columns)} if columns else {},
    )
    expected = made if color else re.sub(r"\x1b\[[0-9;]*m", "", made)
    assert said == (expected if data is not None else "")


@pytest.mark.parametrize("folder", WORKTREES)
def test_a_worktree_in_which_nobody_has_run_wc(trees: Repo, folder: str) -> None:
    for path in (trees.store / ".local/line").iterdir():
        if path.name != "stamp":
            path.unlink()
    home = Repo(trees.machine, trees.path.parent / folder)
    agreed(home)
    agreed(home, env=CLAUDE)


OPTIONS: list[tuple[list[str], dict[str, str]]] = [
    (["--color=auto"], {}),
    (["--color=always"], {}),
    (["--stdin"], {}),
    (["--stdin", "--color=never"], {}),
    (["--stdin"], {"NO_COLOR": "1"}),
    (["--stdin"], {"NO_COLOR": ""}),
    (["--ascii"], {}),
    ([], {"COLUMNS": "99999"}),
    ([], {"COLUMNS": "0"}),
    ([], {"COLUMNS": "13"}),
    ([], {"COLUMNS": "5"}),
    ([], {"COLUMNS": "1"}),
    ([], {"COLUMNS": "wide"}),
    (["--rows", "3"], {}),
    (["--rows=2"], {"COLUMNS": "12"}),
    (["--format", "{holder}/{topic}|{? {new}}"], {}),
]
NAMES = ("claude", "Claude", "Zoë (Z)", "A/b", "..", "=codex", "a|b", "100%", " * ")


def test_options_and_names(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    repo.ok("new", "other", "--title", "T", "--branch", "main", "--to", "Codex")
    for words, env in OPTIONS:
        agreed(repo, *words, env=env)
    for name in NAMES:
        env = {"WATERCOOLER_AGENT": name}
        twin = repo.ok("statusline", env=env).out
        for _ in range(2):
            assert run(repo.machine, repo.path, env=env) == twin.removesuffix("\n")
    agreed(repo, env=CLAUDE | {"WATERCOOLER_SEAT": "fix/ui"})
    for session in ("3f2a-aaaaaa", "3f2a-bbbbbb"):
        ids = {"WATERCOOLER_SEAT": "session", "CLAUDE_CODE_SESSION_ID": session}
        agreed(repo, env=CLAUDE | ids)


def test_the_script_looks_at_the_same_variables() -> None:
    [block] = re.findall(
        r"# BEGIN agents.*?\n(.*?)# END agents", SCRIPT.read_text(), re.DOTALL
    )
    found = re.findall(r"\$\{(\w+):\+(\w)\}", block)
    assert [name for name, _ in found] == [name for name, _ in agents.VARIABLES]
    assert len({letter for _, letter in found}) == len(found)
    read = re.findall(r"\$\{(\w+)-\}", block)
    conventions = [agents.CONVENTION, agents.OLDER_CONVENTION[0]]
    assert read == [*conventions, "WATERCOOLER_SEAT", *agents.SESSION_VARIABLES]


# --- where there is no line -----------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        (f"refs/heads/{THREADS}", NOT_CHECKED_OUT),
        (f"refs/remotes/origin/{THREADS}", NOT_CHECKED_OUT),
        (f"refs/remotes/{THREADS}", ""),
        (f"refs/tags/{THREADS}", ""),
        (f"refs/heads/{THREADS}-2", ""),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_threads_that_are_not_checked_out(
    repo: Repo, *, ref: str, says: str, packed: bool
) -> None:
    commit = repo.git("rev-parse", "HEAD").strip()
    if packed:
        lines = f"# pack-refs with: peeled fully-peeled sorted \n{commit} {ref}\n"
        (repo.path / ".git/packed-refs").write_text(lines)
    else:
        path = repo.path / ".git" / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{commit}\n")
    assert run(repo.machine, repo.path) == says
    assert run(repo.machine, repo.path, script=alone(repo.machine)) == ""


def test_outside_of_a_store_nothing_is_started(repo: Repo, tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = alone(repo.machine)
    cli = script.with_name("wc-cli")
    cli.write_text(f"#!/bin/sh\n: >{started}\n")
    cli.chmod(0o755)
    plain = repo.machine.folder("notes").path
    for folder in (repo.path, plain, Path("/")):
        for env in ({}, {"HOME": ""}):
            assert run(repo.machine, folder, script=script, env=env) == ""
    assert not started.exists()


def test_stores_in_the_tree(repo: Repo) -> None:
    (repo.path / ".watercooler/threads").mkdir(parents=True)
    repo.ok("new", "main", "--title", "T")
    assert agreed(repo) == "🎾 you · main"
    (repo.path / "sub").mkdir()
    assert run(repo.machine, repo.path / "sub") == "🎾 you · main"
    named = {"WATERCOOLER_DIR": str(repo.path / ".watercooler")}
    assert agreed(repo, env=named) == "🎾 you · main"
    away = repo.machine.folder("away").path
    (repo.path / ".watercooler").rename(away / "store")
    (repo.path / ".watercooler").symlink_to(away / "store")
    assert run(repo.machine, repo.path) == ""


def test_a_read_only_store(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "T")
    shutil.rmtree(repo.store / ".local/line")
    (repo.store / ".local/line").write_text("in the way\n")
    for _ in range(2):
        assert run(repo.machine, repo.path) == "🎾 you · main"


def test_a_folder_that_is_gone(repo: Repo) -> None:
    gone = repo.path / "gone"
    go = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    for shell in known():
        gone.mkdir()
        done = subprocess.run(
            ["sh", "-c", go, "sh", *shell, str(SCRIPT)],
            cwd=repo.path,
            env=repo.machine.env,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0


# --- standard input -----------------------------------------------------------------


def _json(**more: Any) -> dict[str, Any]:
    return {
        "session_id": "01",
        "transcript_path": "/t.jsonl",
        "model": {"id": "m", "display_name": "M"},
        "version": "2.0.1",
        "cost": {"total_cost_usd": 0.1, "total_duration_ms": 45000},
        "exceeds_200k_tokens": False,
        **more,
    }


def _cases(target: str, wrong: str) -> list[bytes]:
    """Inputs that all name ``target`` (or leave it to the working folder)."""
    place = {"current_dir": target, "project_dir": wrong, "added_dirs": [wrong]}
    tree = {"name": "fix", "path": target, "branch": "fix", "original_cwd": wrong}
    full = _json(cwd=wrong, workspace=place)
    dumped = json.dumps(full)
    return [
        dumped.encode(),
        f"{dumped}\n".encode(),
        json.dumps(full, separators=(",", ":")).encode(),
        json.dumps(full, indent=2).encode(),
        json.dumps(full, indent=8).replace("\n", "\r\n").encode(),
        json.dumps(_json(cwd=target)).encode(),
        json.dumps(_json(cwd=target, workspace={})).encode(),
        json.dumps({"a": {"cwd": wrong}, "cwd": target}).encode(),
        json.dumps({"workspace": {"current_dir": target, "x": {}}}).encode(),
        json.dumps({"title": 'say "cwd": \\', "cwd": target}).encode(),
        json.dumps({"title": "cwd", "x": wrong, "cwd": target}).encode(),
        json.dumps({"title": "back\\\\", "cwd": target, "n": 1}).encode(),
        json.dumps({"list": ["cwd", wrong], "cwd": target}).encode(),
        json.dumps(
            _json(workspace=place | {"current_dir": wrong}, worktree=tree)
        ).encode(),
        json.dumps(
            _json(workspace={"current_dir": "/gone", "project_dir": target})
        ).encode(),
        json.dumps(_json(worktree=tree | {"path": "/gone"}, cwd=target)).encode(),
        json.dumps({"big": "x" * 20_000, "cwd": target}).encode(),
    ]


HOSTILE = [
    b"",
    b"\n",
    b"\n" * 2000,
    b"null",
    b"{",
    b'"',
    b'"\\',
    b'{"cwd": "',
    b'{"cwd": 7}',
    b'{"cwd": "relative/path"}',
    b'{"cwd": "-"}',
    b'{"cwd": "/not/there"}',
    b'{"cwd": "/tmp/\\u0041"}',
    b'{"cwd": "/a\\"b"}',
    b'{"cwd": "$(touch x)`touch y`"}',
    b'{"workspace": {"current_dir": "\\/tmp"}}',
    b'{"workspace": {"current_dir": ""}}',
    b"\0\xff\xfe\x1b[31m" * 100,
    b'""""""""' * 500,
    b"* ? [a-z] ~ " * 50,
    b"{" * 300_000,
]


@pytest.fixture
def two(repo: Repo) -> tuple[Repo, Path]:
    """A repository with a line of its own in a second worktree, both kept."""
    repo.ok("new", "main", "--title", "T", "--to", "Codex", "--force")
    fix = repo.worktree("the fix", "fix")
    fix.ok("new", "fix", "--title", "T", "--to", "Cursor", "--force")
    for home in (repo, fix):
        agreed(home)
    return repo, fix.path


def test_claude_codes_json(two: tuple[Repo, Path]) -> None:
    repo, target = two
    for given_json in _cases(str(target), str(repo.path)):
        said = run(
            repo.machine,
            repo.path,
            *("--stdin", "--color=never"),
            script=alone(repo.machine),
            feed=given_json,
        )
        assert said == "Cursor has the ball · fix", given_json[:200]


def test_a_hostile_stdin_leaves_the_working_folder(two: tuple[Repo, Path]) -> None:
    repo, _ = two
    before = sorted(os.listdir(repo.path))
    for given_json in HOSTILE:
        said = run(
            repo.machine,
            repo.path,
            *("--stdin", "--color=never"),
            script=alone(repo.machine),
            feed=given_json,
        )
        assert said == "Codex has the ball · main", given_json[:200]
    assert sorted(os.listdir(repo.path)) == before


def _run_with_open_pipe(repo: Repo, given_json: bytes, *arguments: str) -> bytes:
    """The output while the other end of standard input stays open."""
    read, kept = os.pipe()
    try:
        os.write(kept, given_json)
        done = subprocess.run(
            ["sh", str(SCRIPT), *arguments],
            cwd=repo.path,
            env=repo.machine.env,
            stdin=read,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
    finally:
        os.close(read)
        os.close(kept)
    return done.stdout


def test_an_open_silent_pipe(two: tuple[Repo, Path]) -> None:
    repo, _ = two
    expected = "Codex has the ball · main\n".encode()
    assert _run_with_open_pipe(repo, b"") == expected
    assert _run_with_open_pipe(repo, b'{"cwd": "/"}\n', "--stdin") == b""
    huge = b'{"cwd": "/", "x": [\n' + b'"y",\n' * 600
    assert _run_with_open_pipe(repo, huge, "--stdin", "--color=never") == b""


def test_a_terminal_as_stdin(two: tuple[Repo, Path]) -> None:
    repo, _ = two
    leader, follower = pty.openpty()
    done = subprocess.run(
        ["sh", str(SCRIPT), "--stdin", "--color=never", "--chain=echo first"],
        cwd=repo.path,
        env=repo.machine.env,
        stdin=follower,
        capture_output=True,
        timeout=TIMEOUT,
        check=True,
    )
    os.close(leader)
    os.close(follower)
    assert done.stdout.decode() == "first\nCodex has the ball · main\n"


def _on_terminal(repo: Repo, shell: Sequence[str], **env: str) -> str:
    """What a prompt shows: the script's standard output is the terminal."""
    leader, follower = pty.openpty()
    subprocess.run(
        [*shell, str(alone(repo.machine))],
        cwd=repo.path,
        env={**repo.machine.env, "TERM": "xterm", **env, "PWD": str(repo.path)},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        timeout=TIMEOUT,
        check=True,
    )
    shown = os.read(leader, 4096) if select.select([leader], [], [], 0)[0] else b""
    os.close(leader)
    os.close(follower)
    return shown.decode()


def test_mine_comes_first_and_in_another_colour_at_a_prompt(repo: Repo) -> None:
    repo.ok("new", "main", "-m", "x", "--to", "Codex")
    for topic in ("one", "two"):
        repo.ok("new", topic, "-m", "x", "--branch", topic)
    plain = "🎾 2 for you elsewhere · Codex has the ball · main"
    theirs = "\x1b[2m · Codex has the ball · main\x1b[0m"
    painted = f"\x1b[1;33m🎾 2 for you elsewhere\x1b[0m{theirs}"
    assert agreed(repo) == plain
    assert agreed(repo, "--color=always") == painted
    rows = agreed(repo, "--rows=3", "--color=always").split("\n")
    assert [row[:6] for row in rows] == ["\x1b[1;33", "\x1b[1;33", "\x1b[2mCo"]
    wide = {"COLUMNS": "80"}
    assert agreed(repo, env=wide) == plain
    for shell in known():
        assert _on_terminal(repo, shell, **wide) == f"{painted}\r\n"
        assert _on_terminal(repo, shell, **wide, NO_COLOR="1") == f"{plain}\r\n"
        assert _on_terminal(repo, shell, **wide, TERM="dumb") == f"{plain}\r\n"


def test_chain(two: tuple[Repo, Path]) -> None:
    repo, _ = two
    ours = "Codex has the ball · main"
    given_json = json.dumps(_json(cwd=str(repo.path)), indent=1).encode()
    long_json = b'{"cwd": "/", "x": [\n' + b'"y",\n' * 3000 + b'"z"]}'
    for command, stdin, expected in [
        ("printf 'one\ntwo'", b"", f"one\ntwo\n{ours}"),
        ("cat", given_json, f"{given_json.decode()}\n{ours}"),
        ("wc -c", long_json, str(len(long_json))),
        ("exit 3", given_json, ours),
        ("exec <&- >&-", given_json, ours),
        ("not-a-command 2>/dev/null", given_json, ours),
    ]:
        words = ("--stdin", "--color=never", "--chain", command)
        said = run(repo.machine, repo.path, *words, feed=stdin)
        assert said.strip() == expected, command
    assert run(repo.machine, repo.path, "--chain=cat", feed=b"x") == f"x\n{ours}"
    assert run(repo.machine, Path("/"), "--chain=echo a") == "a"


# --- what it costs ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dash", "bash", "busybox", "zsh"])
def test_starts_no_process(two: tuple[Repo, Path], tmp_path: Path, name: str) -> None:
    repo, _ = two
    command = SHELLS[name]
    for program in ("strace", command[0]):
        if shutil.which(program) is None:
            pytest.skip(f"{program} IS NOT INSTALLED: what is started is untested")
    trace, env = tmp_path / "trace", {"WATERCOOLER_AGENT": "Zoë (Z)"}
    expected = agreed(repo, env=env)
    calls = "trace=fork,vfork,clone,clone3,execve,execveat"
    tracing = ("strace", "-f", "-o", str(trace), "-e", calls)
    for words, feed in (
        ((), b""),
        (("--stdin", "--color=never"), json.dumps(_json(cwd=str(repo.path))).encode()),
    ):
        done = subprocess.run(
            [*tracing, *command, str(SCRIPT), *words],
            cwd=repo.path,
            env={**repo.machine.env, **env},
            input=feed,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        if "ptrace" in done.stderr.decode():
            pytest.skip("strace MAY NOT TRACE here: what is started is untested")
        assert done.stdout.decode().strip() == expected
        made = [line for line in trace.read_text().splitlines() if "exited" not in line]
        assert len(made) == 1, made
        assert "execve(" in made[0]


def test_is_plain_sh_on_a_few_screens() -> None:
    text = SCRIPT.read_bytes()
    assert text.startswith(b"#!/bin/sh\n")
    assert os.access(SCRIPT, os.X_OK)
    assert len(text.splitlines()) <= 250
    names = re.findall(rb"^(\w+)\(\) {$", text, re.MULTILINE)
    assert sorted(names) == sorted(set(names))
