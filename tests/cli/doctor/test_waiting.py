"""What ``wc doctor`` finds where something waits for a person."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_cli.commands import waiting
from wc_cli.ledger.store import locks
from wc_cli.ledger.store.lockowners import Holder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Machine, Repo


def told(repo: Repo) -> list[str]:
    """What waits for someone, each with what to do."""
    done = repo.wc("doctor")
    assert done.code == 9, done
    assert "problem" in done.err
    above, _, below = done.out.partition("Waiting for a person:\n")
    assert "note: " not in above
    lines = [line for line in below.splitlines() if not line.startswith("note: ")]
    return [
        f"{line} -> {fix.strip()}"
        for line, fix in zip(lines[::2], lines[1::2], strict=True)
    ]


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def test_where_all_is_well_nothing_is_wrong(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "T")
    assert "Nothing is wrong.\n" in repo.ok("doctor").out
    report = repo.json("doctor")
    assert (report["findings"], report["waiting"]) == ([], [])


def _loop(repo: Repo) -> None:
    (repo.path / ".claude").mkdir()
    fields = {"status": "waiting:human", "current_iteration": 2}
    (repo.path / ".claude/loop-state.json").write_text(json.dumps(fields))


def _orphan(repo: Repo) -> None:
    (repo.path / ".claude").mkdir()
    fields = {"status": "running", "terminal_pid": 999_999_998}
    (repo.path / ".claude/loop-state.json").write_text(json.dumps(fields))


LINES: dict[str, tuple[Callable[[Repo], None], str]] = {
    "a loop that waits": (_loop, "waits for a human -> See what it waits for"),
    "an orphaned loop": (_orphan, "loop main: orphaned: its status is running"),
}


@pytest.mark.parametrize("name", LINES)
def test_each_has_a_line_with_what_to_do(repo: Repo, name: str) -> None:
    repo.settled("new", "auth", "--title", "T")
    break_it, line = LINES[name]
    break_it(repo)
    (found,) = told(repo)
    assert line in found
    assert " -> " in found
    done = repo.wc("doctor", "--json")
    assert done.code == 9
    assert len(done.json["waiting"]) == 1
    assert done.json["findings"] == []
    assert done.error["code"] == "FINDINGS"


def test_a_store_that_is_gone_hides_no_loop(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "T")
    _loop(repo)
    repo.store.rename(repo.store.with_name("gone"))
    (loop,) = told(repo)
    assert loop.startswith("loop main")
    assert "store: " in repo.wc("doctor").out


def test_what_a_repair_set_aside_is_only_noted(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "T")
    (repo.store / ".local/quarantine/auth").mkdir(parents=True)
    said = repo.ok("doctor").out
    assert "note: .local/quarantine/auth was set aside by a repair; check it" in said


def test_a_lock_that_is_held_for_long_may_hang(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "T")
    lock = repo.store / ".local/locks/git"
    os.utime(lock, (0, 0))
    repo.ok("doctor")
    os.utime(lock, (0, 0))
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        locks.sign(file.fileno(), "wc sync")
        signed = lock.read_text()
        pid, here = f"{os.getpid()}\n", os.uname().nodename
        found = []
        for old, new in (("", ""), (pid, "999999999\n"), (here, "elsewhere")):
            lock.write_text(signed.replace(old, new) if old else signed)
            os.utime(lock, (0, 0))
            found += told(repo)
    # Whoever signed it, the kernel says who holds it.
    for text in found:
        assert text.startswith(".local/locks/git: held for ")
        assert text.endswith(f"If it hangs, end it: kill {os.getpid()}")
    assert "by wc sync (process " in found[0]
    assert not any("wc sync" in text or "elsewhere" in text for text in found[1:])


def test_how_to_end_a_holder_that_cannot_be_seen() -> None:
    """On a network file system."""
    elsewhere = Holder("1", "wc sync", "", "elsewhere")
    assert waiting.how_to_end(elsewhere, "git") == "If it hangs, end it there."
    unknown = Holder("", "", "", "")
    assert waiting.how_to_end(unknown, "a b") == "See who has it open: lsof 'a b'"


@pytest.fixture
def forked(machine: Machine, tmp_path: Path) -> Repo:
    """A thread that two clones wrote to at once."""
    machine.git("init", "-q", "--bare", str(tmp_path / "hub.git"), cwd=tmp_path)
    here, there = (Here(machine, machine.repo(name).path) for name in ("app", "there"))
    for one in (here, there):
        one.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    here.ok("new", "auth", "--title", "T", "--sync")
    here.ok("new", "calm", "--title", "T", "--sync")
    there.ok("sync")
    for one, name in ((here, "Codex"), (there, "Cursor")):
        (one.store / "config.toml").write_text('[sync]\npush = "off"\n')
        one.settled("handoff", "auth", "--to", name, "--force")
        one.settled("ack", "calm")
    there.ok("sync")
    here.ok("sync")
    return here


def test_of_forks_those_need_someone_in_which_both_sides_passed_the_ball(
    forked: Repo,
) -> None:
    assert "calm is forked" in forked.wc("doctor").out
    (line,) = told(forked)
    assert "auth: two clones passed its ball, to Codex, Cursor; Cursor has it" in line
    assert "wc handoff auth --to NAME" in line
