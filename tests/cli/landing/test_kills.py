"""A landing that is killed at any of its git calls, and several landings at once."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.amounts import is_long
from tests.cli.landing.story import head, line_of, login, work, write
from tests.contract.inprocess import Here
from wc_cli.edits.landing.publishing import BasePlace, LandingRecord, LandingRecords
from wc_core.base.layout import Layout
from wc_core.ledger.git import repository as repositories

# Ends the program that calls it before the n-th call, which $KILL_AT names.
GIT = """#!/bin/sh
echo x >> "$HOME/git-calls"
calls=0
while read -r _; do calls=$((calls + 1)); done < "$HOME/git-calls"
if [ "$calls" = "$KILL_AT" ]; then kill -9 $PPID; exit 1; fi
exec {git} "$@"
"""
MOST_CALLS = 40


def killed_at(here: Here, call: int, *words: str) -> bool:
    """Whether wc was killed before this git call: it makes so many."""
    machine = here.machine
    programs = machine.home / "programs"
    programs.mkdir(exist_ok=True)
    found = shutil.which("git", path=machine.env["PATH"])
    (programs / "git").write_text(GIT.format(git=found), encoding="utf-8")
    (programs / "git").chmod(0o755)
    (machine.home / "git-calls").unlink(missing_ok=True)
    path = f"{programs}:{machine.env['PATH']}"
    env = {"PATH": path, "KILL_AT": str(call), "WATERCOOLER_SYNC": "off"}
    return machine.run((*machine.wc_words, *words), here.path, env=env).code < 0


def test_a_kill_at_any_call_leaves_all_of_a_landing_or_nothing(here: Here) -> None:
    write(here, "notes.txt", "".join(f"{number}\n" for number in range(MOST_CALLS)))
    here.git("commit", "-qam", "longer")
    # Every one of them in a long run.
    for call in range(1, MOST_CALLS, 1 if is_long() else 4):
        topic = f"t{call}"
        work(here, topic, call)
        before, tip = head(here), head(here, topic)
        is_killed = killed_at(here, call, "land", topic)
        moved = head(here)
        if moved != before:
            assert here.git("log", "-1", "--format=%P", moved) == f"{before} {tip}"
        done = here.ok("land", "--all")
        assert head(here, "main^2") == tip, (call, done)
        assert line_of(here, call) == topic
        assert here.git("status", "--porcelain") == "", call
        landings = [item for item in here.entries(topic) if "landing" in item]
        assert len(landings) == 1, call
        assert here.json("read", topic)["status"] == "CLOSED"
        assert not [*LandingRecords(Layout(str(here.store))).all()]
        if not is_killed:
            break
    else:
        pytest.fail("a landing makes too many git calls to be tried")
    assert call > 10


def test_files_that_a_killed_landing_has_half_written_are_restored(here: Here) -> None:
    tree = login(here)
    write(tree, "new.txt", "new\n")
    tree.git("add", ".")
    tree.git("commit", "-qm", "new")
    repository = repositories.find(str(here.path))
    assert repository is not None
    base = BasePlace(repository, here.machine.env, "main")
    record = LandingRecord(
        "login", "login", head(here, "login"), "main", head(here), head(here, "login"),
        worktree=str(here.path),
    )  # fmt: skip
    LandingRecords(Layout(str(here.store))).save(record)
    write(here, "notes.txt", (tree.path / "notes.txt").read_text("utf-8"))
    write(here, "new.txt", "new\n")
    here.ok("land", "--all", "--onto", "main", "--dry-run")
    assert base.put_back(record) == []
    assert here.git("status", "--porcelain") == ""
    assert not (here.path / "new.txt").exists()
    # What someone has changed since stays.
    write(here, "notes.txt", "mine\n")
    assert base.put_back(record) == ["notes.txt"]
    assert (here.path / "notes.txt").read_text("utf-8") == "mine\n"
    done = here.wc("land", "login")
    assert "an interrupted landing left changes" in done.out
    assert (here.path / "notes.txt").read_text("utf-8") == "mine\n"


def test_two_at_once_land_each_branch_once(here: Here) -> None:
    topics = ("login", "pay", "search", "ui")
    for line, topic in enumerate(topics, 3):
        work(here, topic, 3 * line)
    machine = here.machine
    words = (*machine.wc_words, "land", "--all")
    running = [
        subprocess.Popen(
            words, cwd=here.path, env=machine.env, stdout=-1, stderr=-1, text=True
        )
        for _ in range(2)
    ]
    for process in running:
        process.communicate(timeout=60)
    here.ok("land", "--all")
    for topic in topics:
        landings = [item for item in here.entries(topic) if "landing" in item]
        assert len(landings) == 1
    subjects = here.git("log", "--merges", "--format=%s", "main").splitlines()
    assert sorted(subjects) == sorted(f"Merge {topic}: Do {topic}" for topic in topics)
    assert here.git("status", "--porcelain") == ""


def test_two_clones_with_one_remote_lose_no_commit(here: Here) -> None:
    hub = here.path.parent / "hub.git"
    here.git("clone", "-q", "--bare", str(here.path), str(hub))
    here.git("remote", "add", "origin", str(hub))
    here.git("fetch", "-q")
    other = Here(here.machine, here.path.parent / "other")
    here.git("clone", "-q", str(hub), str(other.path))
    for clone, line in ((here, 3), (other, 9)):
        clone.git("config", "push.default", "current")
        topic = f"t{line}"
        clone.git("worktree", "add", "-q", "-b", topic, f"../wt-{topic}")
        tree = Here(here.machine, clone.path.parent / f"wt-{topic}")
        text = (tree.path / "notes.txt").read_text("utf-8")
        write(tree, "notes.txt", text.replace(f"\n{line}\n", f"\n{topic}\n"))
        tree.git("commit", "-qam", topic)
        tree.ok("new", topic, "-m", topic, "--to", "Pat", "--as", "Codex")
        clone.ok("say", topic, "--approve", "--to", "Pat")
    machine = here.machine
    running = [
        subprocess.Popen(
            (*machine.wc_words, "land", topic, "--push"),
            cwd=clone.path, env=machine.env, stdout=-1, stderr=-1, text=True,
        )
        for clone, topic in ((here, "t3"), (other, "t9"))
    ]  # fmt: skip
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    text = here.git("--git-dir", str(hub), "show", "main:notes.txt")
    assert "t3" in text
    assert "t9" in text
