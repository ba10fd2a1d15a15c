"""One bad thing spoils nothing else: each of these once did."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import THREADS, Machine, Repo
from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.git import Git, GitKilledError

SCRIPT = Path(__file__).resolve().parents[2] / "bin/wc-statusline"
BACKGROUND = {"WATERCOOLER_SYNC": "background"}


def prompt(repo: Repo) -> str:
    """What the script says here."""
    return repo.machine.run([str(SCRIPT)], repo.path).out.rstrip("\n")


def twin(repo: Repo) -> str:
    """What the Python twin says here."""
    return repo.ok("statusline").out.rstrip("\n")


def subjects(repo: Repo) -> list[str]:
    return repo.git("log", "--format=%s", THREADS).splitlines()


def test_the_ball_comes_back_to_the_agent_of_the_main_worktree(repo: Repo) -> None:
    claude = {"CLAUDECODE": "1"}
    linked = repo.worktree("app-wt-fix", "fix")
    to = ["--to", "Claude Code@fix"]
    repo.ok("new", "auth", "--title", "A", *to, env=claude)
    answer = linked.json("say", "auth", "--title", "done", env=claude)
    assert answer["ball"] == "Claude Code (Pat)"


def test_a_page_that_is_a_link_holds_up_its_own_thread_alone(repo: Repo) -> None:
    for topic in ("one", "two"):
        repo.settled("new", topic, "--title", topic)
    page = repo.store / "threads/one.md"
    page.unlink()
    page.symlink_to("/etc/hostname")
    repo.settled("say", "one", "--title", "stuck")
    repo.settled("say", "two", "--title", "goes on")
    assert "Pat: goes on (two)" in subjects(repo)
    done = repo.wc("doctor")
    assert done.code == 9
    assert "settling: 1 thread to be settled" in done.out
    assert page.is_symlink()
    repo.ok("doctor", "--repair")
    assert "stuck" in page.read_text()
    assert "Pat: stuck (one)" in subjects(repo)


@pytest.mark.parametrize("key", ["ball", "status", "title"])
def test_a_meta_that_someone_edited_decides_nothing(repo: Repo, key: str) -> None:
    repo.settled("new", "auth", "--title", "Begin", "--as", "Codex")
    meta = repo.log("auth").with_name("meta.json")
    before = repo.json("list")["threads"]
    text = meta.read_text()
    value = {"ball": "Codex (Pat)", "status": "OPEN", "title": "Begin"}[key]
    meta.write_text(text.replace(f'"{key}": "{value}"', f'"{key}": "BLOCKED"'))
    assert meta.read_text() != text
    assert repo.json("list")["threads"] == before
    repo.settled("say", "auth", "--title", "mine", "--as", "Codex")
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)


@pytest.mark.parametrize("name", [".local", ".local/uncached", ".local/cursors"])
def test_nothing_is_written_through_a_link(repo: Repo, name: str) -> None:
    store = repo.path / ".watercooler"
    (store / "threads").mkdir(parents=True)
    elsewhere = repo.machine.root / "elsewhere"
    elsewhere.mkdir()
    if name != ".local":
        repo.ok("say", "auth", "--title", "x", "--new")
        shutil.rmtree(store / name, ignore_errors=True)
    (store / name).symlink_to(elsewhere)
    repo.wc("say", "auth", "--title", "y")
    repo.wc("read", "auth")
    assert list(elsewhere.iterdir()) == []


def test_the_prompt_of_a_store_that_was_adopted(machine: Machine) -> None:
    repo = machine.repo()
    for topic in ("one", "two"):
        repo.settled("new", topic, "--title", topic)
    shutil.rmtree(repo.store)
    repo.ok("init")
    assert prompt(repo) == twin(repo) == "🎾 you · one · +1"


def test_a_kill_between_status_lines_and_meta_is_repaired(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    meta = repo.log("auth").with_name("meta.json")
    old = meta.read_bytes()
    repo.settled("handoff", "auth", "--to", "Codex")
    # The moment after the status lines, before meta.
    meta.write_bytes(old)
    (repo.store / ".local/unsettled/auth").touch()
    repo.settled("ack", "auth")
    assert prompt(repo) == twin(repo) == "Codex has the ball · auth"


def test_many_threads_have_room_on_the_command_line(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    git = Git(str(repo.store), repo.machine.env)
    page = "threads/auth.md"
    paths = [page, *(f"threads/{'x' * 90}-{n}.md" for n in range(40_000))]
    head = repo.git("rev-parse", THREADS)
    assert list(commits.committed_files(git, head, paths)) == [page]


def test_five_first_writes_at_once_are_five_entries(repo: Repo) -> None:
    def write(number: int) -> int:
        return repo.wc("say", "auth", "--title", str(number)).code

    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(write, range(5))) == [0] * 5
    assert sorted(one["title"] for one in repo.entries("auth")) == list("01234")


def test_a_reader_takes_up_what_a_killed_helper_left(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "x")
    assert os.listdir(repo.store / ".local/unsettled") == ["auth"]
    repo.ok("list", env=BACKGROUND)
    deadline = time.monotonic() + 30
    while os.listdir(repo.store / ".local/unsettled"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert "Pat: x (auth)" in subjects(repo)


def test_what_waits_too_long_is_a_finding(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "x")
    assert repo.ok("doctor")
    marker = repo.store / ".local/unsettled/auth"
    os.utime(marker, (time.time() - 120,) * 2)
    assert "for over a minute" in repo.wc("doctor").out


def test_the_settings_everyone_shares_are_committed(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    (repo.store / "config.toml").write_text('[ball]\nenforce = "refuse"\n')
    repo.settled("ack", "auth")
    assert repo.git("show", f"{THREADS}:config.toml").startswith("[ball]")
    assert not repo.machine.git("status", "--porcelain", cwd=repo.store)


def test_a_git_that_hangs_ends_with_all_that_it_started(
    repo: Repo, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    words = ["-c", f"alias.hang=!sleep 300 & echo $! > {pid}; wait", "hang"]
    until = time.monotonic() + 1
    with pytest.raises(GitKilledError):
        Git(str(repo.path), repo.machine.env, until=until).run(*words)
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid.read_text().strip()],
        capture_output=True,
        text=True,
        check=False,
    )
    # Further letters say more of it: Zs leads a session, ZN has a low priority.
    assert done.stdout.strip()[:1] in {"", "Z"}
