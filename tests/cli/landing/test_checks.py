"""The check that a repository asks for: approved on this machine, run in a worktree of
its own."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import amounts
from tests.cli.landing.story import approve, change, head, line_of, login, work
from wc_cli.agents.landing import lander
from wc_cli.edits.landing import programs
from wc_cli.edits.landing.programs import CheckPlace, CheckResult
from wc_cli.ledger.store import locks
from wc_core.base import processes
from wc_core.base.layout import Layout
from wc_core.ledger.git.repository import CHECK_REASON

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine
    from tests.contract.inprocess import Here


def ask_for(here: Here, check: str) -> None:
    here.ok("config", "set", "land.check", check)


def test_only_an_approved_check_runs(here: Here, machine: Machine) -> None:
    mark = machine.home / "ran"
    work(here, "login", 3)
    ask_for(here, f"echo ran >> {mark}")
    before = head(here)
    said = here.fails(4, "land", "login")
    assert "is not approved on this machine" in said
    assert f"echo ran >> {mark}" in said
    assert not mark.exists()
    assert head(here) == before
    done = here.ok("land", "login", "--yes")
    assert mark.read_text() == "ran\n"
    assert "nothing was checked" not in done.err
    work(here, "pay", 9)
    here.ok("land", "pay")  # approved from now on
    ask_for(here, f"echo other >> {mark}")
    work(here, "search", 15)
    here.fails(4, "land", "search")
    assert mark.read_text() == "ran\nran\n"


def test_its_worktree_leaves_the_format_of_the_repository(
    here: Here, tmp_path: Path
) -> None:
    """With a relative path in it, no git before 2.48 opens it."""
    work(here, "login", 3)
    ask_for(here, "true")
    trace = tmp_path / "trace"
    env = {"GIT_TRACE2_EVENT": str(trace)}
    here.ok("land", "login", "--yes", env=env)
    began = [line for line in trace.read_text().splitlines() if '"start"' in line]
    [made] = [line for line in began if '"worktree","add"' in line]
    assert '"worktree.useRelativePaths=false"' in made


def test_others_may_land_while_a_person_is_asked(here: Here) -> None:
    login(here)
    ask_for(here, "true")
    layout = Layout(str(here.store))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        (*here.machine.wc_words, "land", "login"),
        cwd=here.path, env=here.machine.env,
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True,
    ) as process:  # fmt: skip
        asked = b""
        while b"[y/N]" not in asked:
            assert select.select([ours], [], [], amounts.patience(60))[0], asked
            asked += os.read(ours, 1 << 12)
        assert b"\n  true\r\n" in asked
        handle = locks.try_acquire(layout.landing_lock, layout.root)
        assert handle is not None
        os.close(handle)
        os.write(ours, b"y\n")
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, out[:15]) == (0, "login: landed o")
    assert programs.is_approved(layout, "true")


def test_a_landing_that_finds_another_one_says_which(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    login(here)
    layout = Layout(str(here.store))
    monkeypatch.setattr(lander, "_LOCK_SECONDS", 0.1)
    with lander.landing_lock(layout):
        said = here.fails(5, "land", "login")
    assert f"Another landing is at work here: wc land (process {os.getpid()}" in said
    assert "Try again when it has ended." in said
    here.ok("land", "login")


def test_no_check_is_approved_if_nothing_can_land(here: Here) -> None:
    work(here, "login", 3, approved=False)
    ask_for(here, "true")
    assert "it is not approved" in here.fails(4, "land", "login", "--yes")
    assert "Nothing is ready" in here.ok("land", "--all", "--yes").err
    assert not programs.is_approved(Layout(str(here.store)), "true")


def test_it_runs_on_what_would_land_and_nowhere_else(here: Here) -> None:
    tree = login(here)
    change(here, 9, "nine")
    ask_for(here, "sed -n '3p;9p' notes.txt && git status --porcelain && pwd")
    here.ok("land", "login", "--yes")
    body = here.entries("login")[-1]["body"]
    assert body.startswith("The check passed in ")
    assert "    login\n    nine\n" in body
    assert str(tree.path) not in body
    assert "landing" not in here.git("worktree", "list")
    assert [line_of(here, number) for number in (3, 9)] == ["login", "nine"]


def test_a_red_check_sends_the_ball_back(here: Here) -> None:
    login(here)
    work(here, "pay", 9)
    ask_for(here, "! grep login notes.txt || { echo no logins; exit 7; }")
    before = head(here)
    done = here.wc("land", "--all", "--yes")
    assert done.code == 9
    assert "login: does not land on main: the check failed (exit status 7)" in done.out
    assert "pay: landed on main" in done.out
    assert head(here, "main~1") == before
    entry = here.entries("login")[-1]
    assert entry["landing"]["problem"] == "check"
    assert "    no logins" in entry["body"]
    assert "git merge main && ! grep login" in entry["body"]
    assert here.ball("login") == "Codex@login (Pat)"
    assert "landing" not in here.git("worktree", "list")


def test_a_check_that_takes_too_long_is_ended(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    login(here)
    ask_for(here, "sleep 60")
    whole = CheckPlace.check

    def check(place: CheckPlace, commit: str, command: str, _: float) -> CheckResult:
        return whole(place, commit, command, 1)

    monkeypatch.setattr(CheckPlace, "check", check)
    done = here.wc("land", "login", "--yes")
    assert (done.code, "not finished within 1 s" in done.out) == (9, True)


def test_the_base_may_move_while_the_check_runs(here: Here) -> None:
    login(here)
    git = f"git -C {here.path}"
    ask_for(
        here,
        f"test -e {here.path}/../moved || {{ touch {here.path}/../moved; "
        f"{git} commit -q --allow-empty -m meanwhile; }}",
    )
    here.ok("land", "login", "--yes")
    assert here.git("log", "-1", "--format=%s", "main^1").strip() == "meanwhile"
    assert line_of(here, 3) == "login"


def test_what_a_killed_check_has_left_is_removed(here: Here) -> None:
    login(here)
    ask_for(here, "true")
    left = here.store / ".local/landing/check"
    words = ("--lock", "--reason", CHECK_REASON)
    here.git("worktree", "add", "-q", "--detach", *words, str(left))
    assert "check" not in [tree["name"] for tree in here.json("worktrees")["worktrees"]]
    here.ok("land", "login", "--yes")
    assert not left.exists()
    assert "landing/check" not in here.git("worktree", "list")


@pytest.mark.parametrize("check", ["true", "false"])
def test_what_changes_while_the_check_runs_does_not_land(
    here: Here, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    tree = login(here)
    ask_for(here, check)
    before = head(here)
    whole = CheckPlace.check
    meanwhile: list[Callable[[], object]] = [
        lambda: tree.git("commit", "-q", "--allow-empty", "-m", "late"),
        lambda: here.ok("say", "login", "--to", "Codex", "-m", "Wait"),
    ]

    def during(place: CheckPlace, *words: Any) -> CheckResult:
        result = whole(place, *words)
        meanwhile.pop(0)()
        return result

    monkeypatch.setattr(CheckPlace, "check", during)
    for reason in ("login has moved", "its ball is Codex"):
        approve(here)
        done = here.wc("land", "login", "--yes")
        assert (done.code, reason in done.out) == (9, True), done
        assert head(here) == before


def test_main_may_be_checked_out_elsewhere_once_the_check_has_run(here: Here) -> None:
    login(here)
    tree = here.worktree("app-wt-other", "other")
    here.git("checkout", "-q", "--detach")
    ask_for(here, f"git -C {tree.path} switch -q main")
    here.ok("land", "login", "--yes")
    assert tree.git("status", "--porcelain") == here.git("status", "--porcelain") == ""
    assert line_of(here, 3) == "login"
    ask_for(here, f"git -C {tree.path} switch -q -c mine")
    work(here, "pay", 9)
    here.ok("land", "pay", "--yes")
    assert tree.git("status", "--porcelain") == ""
    assert (line_of(here, 9, "mine"), line_of(here, 9)) == ("9", "pay")


def test_a_second_line_of_a_check_is_shown_as_one(here: Here) -> None:
    login(here)
    ask_for(here, "echo safe")
    rules = here.store / "config.toml"
    text = rules.read_text("utf-8").replace("echo safe", "echo safe\\nfalse")
    rules.write_text(text, "utf-8")
    assert "echo safe ⏎ false" in here.fails(4, "land", "login")


# Each writes the id of a process that it leaves in the background: one that has the
# output, one that has not, one in a group of its own.
LEFT = {
    "output": "sleep 300 & echo $! > PIDS",
    "quiet": "sleep 300 >/dev/null 2>&1 & echo $! > PIDS",
    "group": "set -m; sleep 300 >/dev/null 2>&1 & echo $! > PIDS",
}


@pytest.mark.parametrize("name", LEFT)
@pytest.mark.parametrize(
    ("end", "ending"),
    [
        ("echo done", "exit status 0"),
        ("false", "exit status 1"),
        ("sleep 300", "not finished within 1 s"),
    ],
)
def test_its_processes_end_with_it(
    tmp_path: Path, name: str, end: str, ending: str
) -> None:
    pids = tmp_path / "pids"
    command = f"{LEFT[name].replace('PIDS', str(pids))}; {end}"
    started = time.monotonic()
    outcome = programs.run_command(command, str(tmp_path), os.environ, 1)
    assert time.monotonic() - started < amounts.patience(20)
    assert outcome.output.partition("\n")[0] == ending
    assert outcome.output.endswith("    done") == (end == "echo done")
    assert has_ended(int(pids.read_text()))


def test_a_branch_lands_although_its_check_leaves_a_process(here: Here) -> None:
    login(here)
    pids = here.machine.home / "pids"
    ask_for(here, f"sleep 300 & echo $! > {pids}")
    here.ok("land", "login", "--yes")
    assert has_ended(int(pids.read_text()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_its_processes_end_with_an_interrupted_landing(
    here: Here, number: signal.Signals
) -> None:
    login(here)
    pids = here.machine.home / "pids"
    ask_for(here, f"sleep 300 & echo $! > {pids}; wait")
    with subprocess.Popen(
        (*here.machine.wc_words, "land", "login", "--yes"),
        cwd=here.path, env=here.machine.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        until = time.monotonic() + amounts.patience(30)
        while not (pids.exists() and pids.read_text()):
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(number)
        process.wait(timeout=60)
    assert has_ended(int(pids.read_text()))


def has_ended(pid: int) -> bool:
    """Whether a process ends within a moment."""
    until = time.monotonic() + amounts.patience(5)
    while time.monotonic() < until:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
            )
        except OSError:
            return not processes.is_running(pid)
        if state == b"Z":
            return True
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return False
