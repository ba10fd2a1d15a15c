"""``bin/wc-guard`` under every shell of this machine: it starts Python only if there is
something to say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.bin.test_statusline_script import SHELLS
from tests.contract.inprocess import Here

from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from tests.conftest import Machine

SCRIPT = Path(__file__).resolve().parents[2] / "bin" / "wc-guard"
NAMES = [name for name in sorted(SHELLS) if shutil.which(SHELLS[name][0])]


class Guard(NamedTuple):
    """The script, with a ``wc-cli`` beside it that notes how it was called."""

    folder: Path
    shell: tuple[str, ...]

    @property
    def calls(self) -> list[str]:
        """How ``wc-cli`` was called."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def run(
        self, cwd: Path, *words: str, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the script in a folder."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **variables}
        return subprocess.run(
            [*self.shell, str(self.folder / "wc-guard"), *words],
            cwd=cwd,
            env=env,
            input=b"{}",
            capture_output=True,
            check=False,
            timeout=20,
        )


def guarded_before(repo: Here) -> None:
    """Leave the trace of a guard that has run."""
    call = json.dumps({"tool_name": "Read", "tool_input": {}}).encode()
    words = ("brief", "--hook", "before-tool", "--client", "claude")
    repo.ok(*words, feed=call)


@pytest.fixture(params=NAMES)
def guard(request: pytest.FixtureRequest, tmp_path: Path) -> Guard:
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy(SCRIPT, folder)
    program = folder / "wc-cli"
    program.write_text(f'#!/bin/sh\necho "$*" >>"{folder}/calls"\necho told\nexit 20\n')
    program.chmod(0o755)
    return Guard(folder, SHELLS[request.param])


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    (repo.path / "auth.py").write_text("x\n")
    (repo.path / "src").mkdir()
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("new", "login", "--title", "Log in")
    return repo


def test_the_first_run_is_left_to_python_and_each_leaves_a_trace(
    repo: Here, guard: Guard
) -> None:
    trace = Path(Layout(str(repo.store)).guard_trace("claude"))
    assert guard.run(repo.path, "before-tool", "claude").stdout == b"told\n"
    assert guard.calls == ["brief --hook before-tool --client claude"]
    assert not trace.exists()  # the real program makes it
    guarded_before(repo)
    assert trace.read_text() == "claude\n"
    os.utime(trace, (1, 1))
    assert guard.run(repo.path, "before-tool", "claude").stdout == b""
    assert len(guard.calls) == 1
    assert trace.read_text() == "claude\n"
    assert trace.stat().st_mtime > 1
    assert (
        "guarded (advise): Claude Code (its guard ran" in repo.ok("doctor", "--all").out
    )


@pytest.mark.parametrize("place", ["in the tree", "named"])
def test_the_trace_is_left_in_every_kind_of_store(
    machine: Machine, guard: Guard, place: str
) -> None:
    repo = Here(machine, machine.repo().path)
    store = repo.path / ".watercooler"
    variables = {}
    if place == "named":
        store = machine.root / "notes"
        store.mkdir()
        variables = {"WATERCOOLER_DIR": str(store)}
        machine.env |= variables
    else:
        (store / "threads").mkdir(parents=True)
    (repo.path / "src").mkdir()
    repo.ok("new", "login", "--title", "Log in")
    folder = repo.path / "src"
    assert guard.run(folder, "before-tool", "claude", **variables).stdout == b"told\n"
    guarded_before(repo)
    trace = store / ".local/guards/claude"
    os.utime(trace, (1, 1))
    assert guard.run(folder, "before-tool", "claude", **variables).stdout == b""
    assert len(guard.calls) == 1
    assert trace.stat().st_mtime > 1
    assert "Claude Code (its guard ran" in repo.ok("doctor", "--all").out
    # A link that came with code may lead anywhere.
    (store / ".local/guards").rename(guard.folder / "guards")
    (store / ".local/guards").symlink_to(guard.folder / "guards")
    os.utime(guard.folder / "guards/claude", (1, 1))
    assert guard.run(folder, "before-tool", "claude", **variables).stdout == b""
    assert (guard.folder / "guards/claude").stat().st_mtime == 1


def test_where_nothing_is_claimed_nothing_is_started(repo: Here, guard: Guard) -> None:
    guarded_before(repo)
    for folder in (repo.path, repo.path / "src", guard.folder, Path("/")):
        for event in ("before-tool", "after-tool"):
            done = guard.run(folder, event, "claude")
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert guard.calls == []


@pytest.mark.parametrize("how", ["loose", "packed", "linked"])
def test_a_claim_is_left_to_python(repo: Here, guard: Guard, how: str) -> None:
    repo.ok("claim", "auth.py", "--as", "Aider")
    folder = repo.path / "src"
    if how == "packed":
        repo.git("pack-refs", "--all", "--prune")
    if how == "linked":
        folder = repo.worktree("app-wt-review").path
    events = ("before-tool", "after-tool")
    for event in events:
        done = guard.run(folder, event, "codex")
        assert (done.returncode, done.stdout) == (2, b"told\n")
    assert guard.calls == [f"brief --hook {event} --client codex" for event in events]


def test_cursor_runs_a_hook_elsewhere(repo: Here, guard: Guard, tmp_path: Path) -> None:
    repo.ok("claim", "auth.py", "--as", "Aider")
    project = {"CURSOR_PROJECT_DIR": str(repo.path)}
    done = guard.run(tmp_path, "before-tool", "cursor", **project)
    assert (done.returncode, done.stdout) == (2, b"told\n")
    assert guard.run(tmp_path, "before-tool", "cursor").stdout == b""
    assert guard.run(tmp_path, "before-tool", "claude", **project).stdout == b""
    project["CURSOR_PROJECT_DIR"] += "/gone"
    assert guard.run(repo.path, "before-tool", "cursor", **project).stdout == b""


def test_a_folder_of_git_may_be_named_without_a_newline(
    repo: Here, guard: Guard
) -> None:
    repo.ok("claim", "auth.py", "--as", "Aider")
    review = repo.worktree("app-wt-review").path
    file = review / ".git"
    file.write_text(file.read_text().rstrip("\n"))
    assert guard.run(review, "before-tool", "claude").returncode == 2
    file.write_text("")
    assert guard.run(review, "before-tool", "claude").returncode == 0


@pytest.mark.parametrize("code", [0, 1, 2, 6, 127])
def test_a_guard_that_fails_stops_nobody(repo: Here, guard: Guard, code: int) -> None:
    repo.ok("claim", "auth.py", "--as", "Aider")
    (guard.folder / "wc-cli").write_text(f"#!/bin/sh\nexit {code}\n")
    assert guard.run(repo.path, "before-tool", "claude").returncode == 0
    (guard.folder / "wc-cli").unlink()
    assert guard.run(repo.path, "before-tool", "claude").returncode == 0


def test_after_a_tool_the_radar_is_computed_in_the_background(
    repo: Here, guard: Guard
) -> None:
    guarded_before(repo)
    repo.worktree("app-wt-review")
    assert guard.run(repo.path, "before-tool", "claude").stdout == b""
    assert guard.calls == []
    assert guard.run(repo.path, "after-tool", "claude").stdout == b""
    for _ in range(200):
        if guard.calls:
            break
        subprocess.run(["sleep", "0.02"], check=True)
    assert guard.calls == ["radar --background"]


def test_a_conflict_is_left_to_python(repo: Here, guard: Guard) -> None:
    review = repo.worktree("app-wt-review")
    for number, tree in enumerate((repo, review)):
        (tree.path / "auth.py").write_text(f"{number}\n")
    repo.ok("radar")
    for tree in (repo, review):
        assert guard.run(tree.path, "after-tool", "claude").stdout == b"told\n"
    assert guard.calls == ["brief --hook after-tool --client claude"] * 2


def test_wrong_words(repo: Here, guard: Guard) -> None:
    done = guard.run(repo.path, "during-tool", "claude")
    assert done.returncode == 0
    assert b"usage: wc-guard before-tool" in done.stderr


def test_the_real_program_refuses(repo: Here) -> None:
    review = repo.worktree("app-wt-review")
    review.ok("claim", "auth.py", "--as", "Aider")
    fields = {
        "session_id": "s1",
        "cwd": str(repo.path),
        "tool_name": "Edit",
        "tool_input": {"file_path": "auth.py"},
    }
    repo.ok("config", "set", "claims.guard", "refuse")
    done = subprocess.run(
        [str(SCRIPT), "before-tool", "claude"],
        cwd=repo.path,
        env=repo.machine.env,
        input=json.dumps(fields).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b'"Aider@review (Pat)" has claimed "auth.py"' in done.stderr
