"""A clone without threads asks its remote for them, however the clone was made."""

from __future__ import annotations

import json
import shutil
import stat
import time
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SOURCE, THREADS, Machine, Repo
from tests.observe.stores import Session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Done

ON = {"WATERCOOLER_SYNC": "background"}
TRACKED = f"refs/remotes/origin/{THREADS}"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with code, and with a thread whose ball an agent has."""
    machine = Machine(tmp_path_factory.mktemp("hub"))
    path = machine.root / "hub.git"
    machine.git("init", "-q", "--bare", "-b", "main", str(path), cwd=machine.root)
    machine.git("config", "uploadpack.allowFilter", "true", cwd=path)
    repo = machine.repo()
    repo.git("remote", "add", "origin", str(path))
    repo.git("push", "-q", "origin", "HEAD:main")
    repo.ok("new", "hash", "--title", "Which hash?", "--to", "Claude Code", "--force")
    repo.ok("sync")
    return path


@pytest.fixture
def hub(prepared: Path, tmp_path: Path) -> Path:
    """Such a repository for one test."""
    return shutil.copytree(prepared, tmp_path / "hub.git")


def cloned(machine: Machine, url: str, *words: str) -> Repo:
    """A clone, made with these words."""
    path = machine.root / "clone"
    machine.git("clone", "-q", *words, url, str(path), cwd=machine.root)
    return Repo(machine, path)


def early(machine: Machine, hub: Path) -> Repo:
    """A full clone from before the first push of the threads."""
    before = machine.root / "before.git"
    shutil.copytree(hub, before)
    machine.git("update-ref", "-d", f"refs/heads/{THREADS}", cwd=before)
    repo = cloned(machine, str(before))
    shutil.rmtree(before)
    hub_copy = shutil.copytree(hub, before)
    repo.git("remote", "set-url", "origin", str(hub_copy))
    return repo


def of_one_refspec(machine: Machine, hub: Path) -> Repo:
    """A clone that fetches one branch, by its configuration."""
    repo = cloned(machine, f"file://{hub}", "--single-branch")
    refspec = "+refs/heads/main:refs/remotes/origin/main"
    repo.git("config", "remote.origin.fetch", refspec)
    return repo


def of_a_fork(machine: Machine, hub: Path) -> Repo:
    """A clone of a fork without threads, with the other repository as a second
    remote."""
    fork = machine.root / "fork.git"
    shutil.copytree(hub, fork)
    machine.git("update-ref", "-d", f"refs/heads/{THREADS}", cwd=fork)
    repo = cloned(machine, str(fork))
    repo.git("remote", "add", "upstream", str(hub))
    return repo


def of_two_remotes(machine: Machine, hub: Path) -> Repo:
    """A clone whose remotes have names of their own."""
    repo = of_a_fork(machine, hub)
    repo.git("remote", "rename", "origin", "mine")
    repo.git("config", "checkout.defaultRemote", "upstream")
    return repo


def without_remote(machine: Machine, hub: Path) -> Repo:
    """A clone whose remote is in the environment alone."""
    repo = cloned(machine, str(hub), "--single-branch")
    repo.git("remote", "remove", "origin")
    machine.env["WATERCOOLER_GIT_REPO"] = str(hub)
    return repo


CLONES = {
    "shallow": lambda machine, hub: cloned(
        machine, f"file://{hub}", "--depth", "1", "--single-branch"
    ),
    "one branch": lambda machine, hub: cloned(machine, str(hub), "--single-branch"),
    "no tags": lambda machine, hub: cloned(
        machine, f"file://{hub}", "--depth", "1", "--no-tags"
    ),
    "partial": lambda machine, hub: cloned(
        machine, f"file://{hub}", "--filter=blob:none", "--single-branch"
    ),
    "before the first push": early,
    "a refspec of its own": of_one_refspec,
    "a fork": of_a_fork,
    "two remotes": of_two_remotes,
    "WATERCOOLER_GIT_REPO": without_remote,
}


def hook(repo: Repo, event: str = "session-start") -> Done:
    """What Claude Code's hook answers."""
    given = json.dumps({"session_id": "s", "cwd": str(repo.path)}).encode()
    words = ("brief", "--hook", event, "--client", "claude")
    return repo.wc(*words, feed=given, env=ON)


@pytest.mark.parametrize("kind", CLONES)
def test_the_first_brief_has_the_ball(machine: Machine, hub: Path, kind: str) -> None:
    repo = CLONES[kind](machine, hub)
    shallow = repo.git("rev-parse", "--is-shallow-repository")
    config = (repo.path / ".git/config").read_text()
    assert "Which hash?" in hook(repo).out
    assert repo.git("rev-parse", "--is-shallow-repository") == shallow
    assert (repo.path / ".git/config").read_text() == config
    answered = repo.ok("say", "hash", "--title", "sha256", "--as", "Claude Code")
    assert "hash #1" in answered.out


def test_the_start_hook_names_threads_that_it_cannot_fetch(
    machine: Machine, hub: Path
) -> None:
    repo = cloned(machine, f"file://{hub}", "--filter=blob:none")
    hub.rename(hub.parent / "away")
    first = hook(repo).out
    assert "could not be checked out" in first
    assert "wc init" in first


COMMANDS = {
    "init": ("init",),
    "sync": ("sync",),
    "brief": ("brief",),
    "wait": ("wait", "--timeout", "0", "--as", "Claude Code"),
    "write": ("ack", "hash", "--as", "Claude Code"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_of_these_commands_asks(machine: Machine, hub: Path, command: str) -> None:
    repo = CLONES["shallow"](machine, hub)
    line = "origin has not been asked for threads: wc init"
    assert line in repo.wc("list", env=ON).err
    assert repo.ok("list", "--json", env=ON).json["unasked"] == line
    repo.wc(*COMMANDS[command], env=ON)
    rows = repo.ok("list", "--json", env=ON).json["threads"]
    assert [row["topic"] for row in rows] == ["hash"]


class Line:
    """A remote at the other end of a line that notes each call."""

    def __init__(self, repo: Repo, script: str) -> None:
        self.log = repo.machine.root / "calls"
        program = repo.machine.root / "ssh"
        program.write_text(f"#!/bin/sh\necho call >>'{self.log}'\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.env: Mapping[str, str] = ON | {"GIT_SSH_COMMAND": str(program)}
        repo.git("remote", "add", "origin", "ssh://nowhere/app.git")

    @property
    def calls(self) -> int:
        """How often the remote was called."""
        return len(self.log.read_text().split()) if self.log.exists() else 0


DEAD = "echo 'ssh: connect to host nowhere port 22: refused' >&2; exit 255"


def test_a_remote_that_cannot_be_asked_is_named_everywhere(repo: Repo) -> None:
    line = Line(repo, DEAD)
    said = repo.ok("brief", env=line.env).out
    assert "origin could not be asked for threads (" in said
    assert "nothing waits" not in said
    assert line.calls == 1
    for words in (("list",), ("board", "--once"), ("whoami",)):
        done = repo.wc(*words, env=line.env)
        assert "origin could not be asked for threads (" in done.out + done.err, words
        assert "No threads here" not in done.out + done.err
    assert "could not be asked" in hook(repo).out
    # It was asked once: the next attempt comes ten minutes later.
    assert line.calls == 1
    twin = repo.ok("statusline", "--color=never", env=line.env).out
    assert twin == "wc: the remote was not asked for threads, run wc init\n"
    script = SOURCE.parent / "bin/wc-statusline"
    assert repo.machine.run([str(script)], repo.path).out == twin


def test_a_first_write_succeeds_and_says_what_it_could_not_ask(repo: Repo) -> None:
    line = Line(repo, DEAD)
    done = repo.ok("new", "hash", "--title", "Mine", env=line.env)
    assert "note: origin could not be asked for threads (" in done.err
    assert done.err.rstrip().endswith(": wc sync")
    listed = repo.ok("list", env=line.env)
    assert "could not be asked" in listed.err
    brief = repo.ok("brief", env=line.env).out
    assert "could not be asked" in brief
    assert "could not be asked" in repo.ok("doctor", env=line.env).out
    health = Session(repo.path, dict(repo.machine.env)).fields("health")
    assert any("could not be asked" in problem for problem in health["problems"])


def test_a_remote_that_hangs_is_not_waited_for(repo: Repo) -> None:
    line = Line(repo, "sleep 60")
    began = time.monotonic()
    assert "did not answer within 3 s" in repo.ok("brief", env=line.env).out
    assert time.monotonic() - began < 10


def test_nobody_is_asked_who_is_not_to_be(repo: Repo) -> None:
    line = Line(repo, DEAD)
    repo.ok("brief", env={**line.env, "WATERCOOLER_SYNC": "off"})
    repo.ok("init", "--offline", env=line.env)
    assert line.calls == 0


def test_an_answer_counts_for_a_day(machine: Machine, hub: Path) -> None:
    without = machine.root / "without.git"
    shutil.copytree(hub, without)
    machine.git("update-ref", "-d", f"refs/heads/{THREADS}", cwd=without)
    repo = cloned(machine, str(without))
    assert "nothing waits for you" in repo.ok("brief", env=ON).out
    assert "No threads here" in repo.wc("list", env=ON).err
    record = repo.path / ".git/wc-asked"
    at, *rest = record.read_text().split("\n")
    shutil.rmtree(without)
    shutil.copytree(hub, without)
    assert "nothing waits for you" in repo.ok("brief", env=ON).out
    record.write_text("\n".join((str(int(at) - 25 * 3_600_000), *rest)))
    assert "Which hash?" in repo.ok("brief", "--as", "Claude Code", env=ON).out


def test_a_store_that_was_begun_here_joins_the_one_at_the_remote(
    machine: Machine, hub: Path
) -> None:
    repo = CLONES["shallow"](machine, hub)
    repo.ok("init", "--offline")
    repo.ok("new", "own", "--title", "Only here")
    repo.ok("say", "hash", "--title", "Fixed", "--as", "Codex")
    done = repo.ok("sync")
    met = "note: hash: begun here and at origin; its entries are in one thread now"
    assert met in done.err.splitlines()
    shown = repo.json("read", "hash", "--peek")
    assert shown["title"] == "Which hash?"
    assert [entry["title"] for entry in shown["entries"]] == ["Which hash?", "Fixed"]
    page = (repo.store / "threads/hash.md").read_text()
    assert page.count("\n# ") + page.startswith("# ") == 1
    assert repo.wc("doctor", "--json").json["findings"] == []
    assert "begun here" not in repo.ok("sync").err


def test_a_remote_that_is_added_later_is_asked(machine: Machine, hub: Path) -> None:
    repo = of_a_fork(machine, hub)
    repo.git("remote", "remove", "upstream")
    assert "nothing waits for you" in repo.ok("brief", env=ON).out
    repo.git("remote", "add", "upstream", str(hub))
    line = "upstream has not been asked for threads: wc init"
    assert line in repo.wc("list", env=ON).err
    assert "Which hash?" in repo.ok("brief", "--as", "Claude Code", env=ON).out


REFUSED = (
    ("ack", "nope"),
    ("say", "nope", "--title", "x", "--status", "WHAT"),
    ("say", "nope", "--title", "x", "--if-ball", "me"),
    ("take", "nope"),
    ("done", "nope", "--title", "x"),
    ("handoff", "nope", "--to", "Codex"),
    ("set-status", "nope", "CLOSED"),
    ("tag", "nope", "x"),
    ("rename", "nope", "y"),
    ("answer", "nope", "--title", "x"),
    ("new", "a/b", "--title", "x"),
)


def test_a_refused_command_leaves_nothing(repo: Repo) -> None:
    before = sorted(path.name for path in repo.machine.home.rglob("*"))
    for words in REFUSED:
        assert repo.wc(*words).code in {2, 3, 4}
        assert repo.git("for-each-ref", f"refs/heads/{THREADS}") == ""
        assert not (repo.path / ".git/worktrees").exists()
        assert sorted(path.name for path in repo.machine.home.rglob("*")) == before
