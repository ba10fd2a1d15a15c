"""wc goes on with a store of the older tool, one tool at a time; nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import THREADS
from tests.contract.pairs import Pair
from tests.oldertool import OlderTool
from wc_core.base.names import Directory

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo


class Both:
    """A repository whose store wc and the older tool share."""

    def __init__(self, repo: Repo, store: Path) -> None:
        self.repo = repo
        self.store = store
        self.older = OlderTool(store)

    def wc(self, *words: str, agent: str = "Codex (pat)", **more: str) -> str:
        """What a command of wc prints, which ``agent`` runs."""
        env = {"WATERCOOLER_AGENT": agent, **more}
        done = self.repo.wc(*words, env=env)
        assert done.code == 0, done.err
        return done.out

    def thread(self, topic: str = "t") -> dict[str, Any]:
        """A thread as wc reads it."""
        thread: dict[str, Any] = json.loads(self.wc("read", topic, "--json"))
        return thread

    def titles(self, topic: str = "t") -> list[str]:
        return [entry["title"] for entry in self.thread(topic)["entries"]]

    def meta(self, topic: str = "t") -> Path:
        return self.store / f"graph/baseline/threads/{topic}/meta.json"

    def holders(self, topic: str = "t") -> tuple[str, str]:
        """The holder of the ball, as wc shows it and as the older tool does."""
        mine = self.thread(topic)["ball"] or "anyone"
        return str(mine), str((self.older.meta(topic) or {})["ball"])


@pytest.fixture(params=["branch", "folder"])
def both(machine: Machine, request: pytest.FixtureRequest) -> Both:
    """A store on a branch of its repository, and one without git."""
    repo = machine.repo()
    if request.param == "branch":
        assert repo.wc("init").code == 0
        store = next((machine.home / ".watercooler/worktrees").glob("*/"))
        return Both(repo, store)
    store = machine.root / "store"
    store.mkdir()
    machine.env["WATERCOOLER_DIR"] = str(store)
    return Both(repo, store)


@pytest.fixture
def branch(machine: Machine) -> Both:
    repo = machine.repo()
    assert repo.wc("init").code == 0
    return Both(repo, next((machine.home / ".watercooler/worktrees").glob("*/")))


def same(holders: tuple[str, str]) -> bool:
    return Directory().same(*holders)


# --- who holds the ball ------------------------------------------------------


def test_a_thread_of_the_older_tool_is_continued(both: Both) -> None:
    both.older.init_thread("t", ball="claude")
    both.older.say("t", "older", agent="Claude")
    holder = both.holders()[0]
    assert same(both.holders())
    both.wc("say", "t", "--title", "newer", agent=holder)
    assert same(both.holders())
    assert both.titles() == ["older", "newer"]


def test_a_move_only_in_meta_json_is_named_and_does_not_count(both: Both) -> None:
    both.wc("say", "t", "--title", "one")
    both.older.set_ball("t", "Claude (sam)")
    assert both.thread()["ball"] == "Codex (pat)"
    findings = json.loads(both.repo.wc("doctor", "--json").out)["findings"]
    (message,) = [one["message"] for one in findings if "meta.json" in one["file"]]
    assert message == (
        "was written by another tool, which moved the ball to Claude (sam)"
    )
    both.wc("ack", "t")
    assert same(both.holders())
    assert len(both.thread()["entries"]) == 2


def git(both: Both, *words: str, name: str = "Pat") -> str:
    who = ("-c", f"user.name={name}", "-c", "user.email=x@example.org")
    return both.repo.machine.git(*who, *words, cwd=both.store)


# --- threads without a log, and a free ball ----------------------------------


def test_a_thread_without_a_log_is_empty(both: Both) -> None:
    both.older.init_thread("t", ball="codex", title="A plan")
    thread = both.thread()
    assert (thread["title"], thread["ball"], thread["entries"]) == (
        "A plan",
        "codex",
        [],
    )
    assert json.loads(both.wc("doctor", "--json"))["findings"] == []
    both.wc("say", "t", "--title", "one", agent="Claude")
    thread = both.thread()
    assert (thread["title"], thread["ball"]) == ("A plan", "codex")
    assert [entry["title"] for entry in thread["entries"]] == ["one"]
    assert same(both.holders())


def test_a_thread_without_a_page_is_empty(both: Both) -> None:
    both.older.init_thread("t")
    next(both.store.rglob("t.md")).unlink()
    assert both.thread()["entries"] == []
    assert json.loads(both.wc("doctor", "--json"))["findings"] == []


def test_a_lost_log_is_still_damage(both: Both) -> None:
    both.wc("say", "t", "--title", "one")
    both.older.ack("t")
    (both.meta().parent / "entries.jsonl").unlink()
    done = both.repo.wc("say", "t", "--title", "two")
    assert done.code
    assert "the log is missing" in done.err
    assert "the log is missing" in both.wc("read", "t")


def test_a_free_ball_is_anyone_s_for_both(both: Both) -> None:
    both.wc("say", "t", "--title", "one", "--to", "anyone")
    assert both.holders() == ("anyone", "anyone")
    both.older.set_ball("t", "none")
    assert both.holders()[0] == "anyone"
    both.wc("ack", "t")
    assert len(both.thread()["entries"]) == 2, "nothing was moved"
    both.older.handoff("t")
    assert both.holders()[0] == "anyone"


# --- locks -------------------------------------------------------------------


def test_its_lock_is_awaited(both: Both) -> None:
    both.wc("say", "t", "--title", "one")
    with both.older.locked("t"):
        done = both.repo.wc("say", "t", "--title", "two", "--lock-timeout", "0.2")
        assert done.code == 5
        assert f"process {os.getpid()}" in done.err
        assert "Its lock is .t.lock" in done.err
        other = both.repo.wc("say", "other", "--title", "two", "--new")
        assert other.code == 0, other.err
    assert both.titles() == ["one"]
    both.wc("say", "t", "--title", "three")
    assert not list(both.store.glob(".*.lock"))


@pytest.mark.parametrize("left", ["old", "dead", "killed"])
def test_a_lock_that_was_left_counts_no_more(both: Both, left: str) -> None:
    both.wc("say", "t", "--title", "one")
    path = both.older.lock_path("t")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    pid = os.getpid() if left == "old" else dead.pid
    if left == "killed":
        os.link(both.store / ".local/locks/threads/t", path)
    else:
        path.write_text(f"pid={pid} time=2026-01-01T00:00:00Z user=x cwd=/\n")
        age = 11 if left == "old" else 3
        os.utime(path, (time.time() - age,) * 2)
    both.wc("say", "t", "--title", "two", "--lock-timeout", "0.2")
    assert both.titles() == ["one", "two"]


def test_threads_that_share_a_lock_take_turns(both: Both) -> None:
    """The names of its locks are ASCII: those of both topics are the same."""
    both.wc("say", "müde", "--title", "one")
    both.wc("say", "möde", "--title", "one", "--new")
    path = both.older.lock_path("müde")
    assert path == both.older.lock_path("möde")
    alive = f"{os.getpid()}\n2026-01-01T00:00:00Z\nPat\nhost\n"
    path.write_text(alive)
    done = both.repo.wc("say", "möde", "--title", "x", "--lock-timeout", "0.2")
    assert done.code == 5
    assert path.read_text() == alive


def test_a_committed_lock_is_never_put_back(branch: Both) -> None:
    branch.wc("say", "t", "--title", "one", WATERCOOLER_SYNC="inline")
    path = branch.older.lock_path("t")
    path.write_text("pid=1 time=x user=x cwd=/\n")
    git(branch, "add", "-f", path.name)
    git(branch, "commit", "-q", "-m", "older")
    path.unlink()
    branch.wc("say", "t", "--title", "two", WATERCOOLER_SYNC="inline")
    branch.wc("say", "u", "--title", "one", WATERCOOLER_SYNC="inline")
    assert not path.exists()
    assert branch.titles() == ["one", "two"]


def _commit_server_lock(both: Both, topic: str = "t") -> Path:
    """A write of the older tool's server, which commits its lock while holding it."""
    path = both.store / f".watercooler/locks/{topic}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"pid={os.getpid()} time=x user=x cwd=/\n")
    git(both, "add", "-f", ".watercooler")
    git(both, "commit", "-q", "-m", "older")
    path.unlink()
    return path


def test_the_lock_of_its_server_is_never_put_back(branch: Both) -> None:
    branch.wc("say", "t", "--title", "one", WATERCOOLER_SYNC="inline")
    for title in ("two", "three"):
        path = _commit_server_lock(branch)
        branch.wc("say", "t", "--title", title, WATERCOOLER_SYNC="inline")
        assert not path.exists()
        assert ".lock" not in git(branch, "ls-tree", "-r", "--name-only", THREADS)
    assert git(branch, "status", "--porcelain") == ""
    assert branch.titles() == ["one", "two", "three"]


def test_the_lock_of_its_server_does_not_travel(tmp_path: Path) -> None:
    pair = Pair.prepare(tmp_path / "pair")
    lock = pair.b.store / ".watercooler/locks/auth.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    pair.b.git("add", "-f", ".watercooler")
    pair.b.git("commit", "-q", "-m", "older")
    lock.unlink()
    pair.b.git("push", "-q", "origin", THREADS)
    pair.a.ok("sync")
    pair.a.commit("auth", "Of a")
    pair.a.settle()
    assert not (pair.a.store / ".watercooler").exists()
    assert ".lock" not in pair.a.git("ls-tree", "-r", "--name-only", THREADS)


def test_a_file_that_was_committed_and_deleted_stays_deleted(branch: Both) -> None:
    branch.wc("say", "t", "--title", "one", WATERCOOLER_SYNC="inline")
    path = branch.store / "notes.txt"
    path.write_text("for now")
    git(branch, "add", "-A")
    git(branch, "commit", "-q", "-m", "older")
    path.unlink()
    branch.wc("say", "t", "--title", "two", WATERCOOLER_SYNC="inline")
    assert not path.exists()
    branch.wc("say", "t", "--title", "three", WATERCOOLER_SYNC="inline")
    assert not path.exists()
    git(branch, "checkout", "notes.txt")
    assert path.read_text() == "for now"


# --- at the same time --------------------------------------------------------


def test_doctor_names_a_log_that_was_replaced(both: Both) -> None:
    """The older tool has read the log before wc wrote to it, and replaces its files
    afterwards."""
    both.wc("say", "t", "--title", "one", WATERCOOLER_SYNC="inline")
    old = (both.meta().parent / "entries.jsonl").read_bytes()
    both.wc("say", "t", "--title", "two", WATERCOOLER_SYNC="inline")
    (both.meta().parent / "entries.jsonl").write_bytes(old)
    both.older.say("t", "older")
    assert both.titles() == ["one", "older"]
    path = "graph/baseline/threads/t/entries.jsonl"
    findings = json.loads(both.repo.wc("doctor", "--json").out)["findings"]
    (message,) = [one["message"] for one in findings if one["file"] == path]
    assert "was replaced by another tool, and lacks " in message
    if "worktrees" in str(both.store):  # the branch has it
        both.wc("doctor", "--repair")
        assert sorted(both.titles()) == ["older", "one", "two"]
