"""Entries that travel with branches of the code: carrying and harvesting, killed at any
of their git calls, and clones that may only carry, at random.

All calls and more worlds in the long run.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.cli.carry.places import CLAUDE, accept_only, carried, new_hub, session
from tests.contract.test_sync_kills import GIT, MOMENTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo

pytestmark = pytest.mark.usefixtures("unmeasured")

ALL = amounts.is_long()
STEP = 1 if ALL else 16
SEEDS = 400 if ALL else 2
WC = (sys.executable, "-c", "from wc_cli.run.main import main; main()")


class Stage:
    """A machine as it was before a command, which is put back for each run."""

    def __init__(self, repo: Repo, root: Path) -> None:
        self.repo = repo
        self.root = root
        self.saved = root.parent / f"{root.name}.saved"
        shutil.copytree(root, self.saved, symlinks=True)
        self.tools = root.parent / f"{root.name}.tools"
        self.tools.mkdir()
        git = self.tools / "git"
        git.write_text(GIT.format(ref="refs/heads/none"))
        git.chmod(0o755)

    def sync(self, at: int, moment: str) -> tuple[int, int]:
        """Sync, and be killed at a call of git. Returns the exit code, and the number
        of calls."""
        shutil.rmtree(self.root)
        shutil.copytree(self.saved, self.root, symlinks=True)
        calls = self.root / "calls"
        calls.mkdir()
        env = self.repo.machine.env | {
            "PATH": f"{self.tools}:{self.repo.machine.env['PATH']}",
            "SIM": str(calls),
            "SIM_AT": str(at),
            "SIM_MOMENT": moment,
            "SIM_GIT": shutil.which("git") or "",
        }
        done = subprocess.run(
            [*WC, "sync"],
            cwd=self.repo.path,
            env=env,
            capture_output=True,
            check=False,
        )
        return done.returncode, len(list(calls.glob("call.*")))


def titles(repo: Repo) -> list[str]:
    return sorted(row["title"] for row in repo.entries("login"))


@pytest.fixture
def person(machine: Machine) -> Repo:
    return machine.repo()


@pytest.fixture
def hub(person: Repo, tmp_path: Path) -> Path:
    path = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Start", "--to", "Claude Code", "--force")
    person.ok("sync")
    return path


@pytest.mark.parametrize("moment", MOMENTS)
def test_carrying_may_be_killed(hub: Path, tmp_path: Path, moment: str) -> None:
    """The branch carries everything after the next command, and nothing twice; the work
    tree and the index stay as they are."""
    root = tmp_path / "cloud"
    cloud = session(CLAUDE, hub, root)
    cloud.ok("brief")
    cloud.machine.env["WATERCOOLER_SYNC"] = "off"
    (cloud.path / "staged").write_text("")
    cloud.git("add", "staged")
    for number in range(3):
        cloud.ok("say", "login", "-m", f"n {number}")
    stage = Stage(cloud, root)
    code, calls = stage.sync(0, moment)
    assert code == 0
    assert calls > 5
    for at in range(1, calls + 1, STEP):
        stage.sync(at, moment)
        cloud.ok("sync")
        assert carried(cloud) == ["n 0", "n 1", "n 2"], at
        assert titles(cloud) == ["Start", "n 0", "n 1", "n 2"], at
        assert cloud.git("status", "--porcelain") == "A  staged", at
        cloud.git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("moment", MOMENTS)
def test_harvesting_may_be_killed(
    person: Repo, hub: Path, tmp_path: Path, moment: str
) -> None:
    """Everything is there after the next command, and nothing twice."""
    cloud = session(CLAUDE, hub, tmp_path / "cloud")
    cloud.ok("brief")
    cloud.ok("say", "login", "-m", "One")
    cloud.ok("say", "login", "-m", "Two")
    cloud.git("push", "-q", "origin", CLAUDE.branch)
    accept_only(hub, "")
    stage = Stage(person, person.machine.root)
    code, calls = stage.sync(0, moment)
    assert code == 0
    assert calls > 5
    for at in range(1, calls + 1, STEP):
        stage.sync(at, moment)
        person.ok("sync")
        assert titles(person) == ["One", "Start", "Two"], at
        assert "nothing new" in person.ok("sync").out
        ways = (person.store / "harvested.jsonl").read_text().splitlines()
        assert len(ways) == len(set(ways)) == 2, at
        person.ok("doctor")


class Clouds:
    """A person, and sessions that may only carry, and what they were told is saved."""

    def __init__(self, person: Repo, hub: Path, root: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.person = person
        self.sessions = [
            session(CLAUDE, hub, root / f"s{seed}-{number}", f"claude/{seed}-{number}")
            for number in range(2)
        ]
        self.saved: list[str] = []

    def step(self, number: int) -> None:
        """Something happens somewhere."""
        repo = self.chance.choice([self.person, *self.sessions])
        title = f"n {number}"
        what = self.chance.choice(["say", "say", "sync", "work", "amend", "squash"])
        if what == "say":
            repo.ok("say", "login", "-m", title)
            self.saved.append(title)
        elif what == "sync" or repo is self.person:
            repo.ok("sync")
        elif what == "work":
            (repo.path / title).write_text("")
            repo.git("add", "--all")
            repo.git("commit", "-q", "-m", title)
            if self.chance.random() < 0.7:
                self.push(repo)
        elif what == "amend":
            repo.git("commit", "-q", "--amend", "--allow-empty", "-m", title)
        else:
            base = repo.git("rev-list", "--max-parents=0", "HEAD").split()[-1]
            repo.git("reset", "-q", "--soft", base)
            repo.git("commit", "-q", "--allow-empty", "-m", title)

    def push(self, repo: Repo) -> None:
        repo.git("push", "-q", "--force", "origin", "HEAD")

    def finish(self) -> None:
        """Everyone pushes what they may, and syncs."""
        for repo in self.sessions:
            if (repo.path / ".git/worktrees").exists():
                repo.ok("sync")
            self.push(repo)
        self.person.ok("sync")
        for repo in self.sessions:
            repo.ok("sync")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_clones_that_may_only_carry_lose_nothing(
    person: Repo, hub: Path, tmp_path: Path, seed: int
) -> None:
    """Whatever they do to their branches: once these are pushed, everyone has every
    entry, and each only once."""
    person.machine.env["WATERCOOLER_SYNC"] = "inline"
    clouds = Clouds(person, hub, tmp_path, seed)
    # The person may push everything: the hook knows them by a variable.
    hook = hub / "hooks/pre-receive"
    hook.write_text(hook.read_text().replace("\n", '\n[ -z "$PERSON" ] || exit 0\n', 1))
    person.machine.env["PERSON"] = "1"
    for number in range(10):
        clouds.step(number)
    clouds.finish()
    expected = sorted([*clouds.saved, "Start"])
    logs = set()
    for repo in (person, *clouds.sessions):
        assert titles(repo) == expected
        logs.add(repo.log("login").read_bytes())
    assert len(logs) == 1
    assert person.json("sync")["harvested"] == {}
    assert os.listdir(person.path / ".git/worktrees")
