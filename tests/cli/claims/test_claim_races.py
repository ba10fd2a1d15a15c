"""Many processes claim at the same moment: one winner each, all of a set or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

PROCESSES = 8
ROUNDS = amounts.rounds(10, 50)
# One process of the race: claims in each round as soon as it is told to, says how it
# went. It is a process of its own, so that nothing is shared but the repository.
RACER = """
import contextlib, io, os, sys
from wc_cli.run import main
os.chdir(sys.argv[1])
for line in sys.stdin:
    words = ["claim", *line.split(), "--as", sys.argv[2], "--lock-timeout", "20"]
    with contextlib.redirect_stdout(io.StringIO()):
        code = main.run(words)
    print(code, flush=True)
"""


def start(repo: Repo, number: int) -> subprocess.Popen[str]:
    """A process that takes part. What it says about errors, pytest shows if the test
    fails."""
    return subprocess.Popen(
        [sys.executable, "-c", RACER, str(repo.path), f"Racer{number}"],
        env=repo.machine.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def race(racers: list[subprocess.Popen[str]], lines: list[str]) -> list[int]:
    """Tell each racer its line at the same time. Returns their exit codes."""

    def run(pair: tuple[subprocess.Popen[str], str]) -> int:
        racer, line = pair
        assert racer.stdin is not None
        assert racer.stdout is not None
        racer.stdin.write(f"{line}\n")
        racer.stdin.flush()
        return int(racer.stdout.readline())

    with ThreadPoolExecutor(len(racers)) as pool:
        return list(pool.map(run, zip(racers, lines, strict=True)))


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "t", "--title", "T")
    return repo


def test_one_winner_in_each_round(repo: Here) -> None:
    """Each claims a set that overlaps with every other: the folder, a file in it, two
    symbols of that file."""
    racers = [start(repo, number) for number in range(PROCESSES)]
    shapes = ("{0}", "{0}/a.txt", "{0}/a.txt::f {0}/a.txt", "free{1} {0}")
    try:
        for number in range(ROUNDS):
            lines = [
                shapes[racer % len(shapes)].format(
                    f"round{number}", f"{number}-{racer}"
                )
                for racer in range(PROCESSES)
            ]
            codes = race(racers, lines)
            assert sorted(codes) == [0] + [20] * (PROCESSES - 1), (number, codes)
            winner = codes.index(0)
            mine = [
                claim["id"]
                for claim in repo.json("claims", "--as", f"Racer{winner}")["claims"]
                if claim["mine"]
            ]
            assert set(lines[winner].split()) <= set(mine)
    finally:
        for racer in racers:
            racer.communicate()
    claims = repo.json("claims")["claims"]
    rounds = [claim["id"].split("/")[0] for claim in claims if claim["id"][0] == "r"]
    assert len(set(rounds)) == ROUNDS


def test_git_alone_decides_between_two_who_know_no_lock(repo: Here) -> None:
    """Another store has another lock; the refs are the same."""
    other = repo.machine.root / "other"
    for number in range(5):
        repo.ok("claim", f"{number}.py", "--as", "Codex")
        env = {"WATERCOOLER_DIR": str(other)}
        done = repo.wc("claim", f"{number}.py", "--as", "Gemini", env=env)
        assert done.code == 20
        assert "Codex" in done.err


def test_a_lock_of_another_git_process_is_waited_for(repo: Here) -> None:
    repo.ok("claim", "a.py")
    ref = repo.git("for-each-ref", "--format=%(refname)", "refs/wc")
    lock = repo.path / ".git" / f"{ref}.lock"
    lock.write_text("")
    words = [
        sys.executable,
        "-c",
        f"import time,os; time.sleep(.4); os.unlink('{lock}')",
    ]
    with subprocess.Popen(words):
        repo.ok("claim", "a.py")
    lock.write_text("")
    problem = repo.fails(5, "release", "a.py")
    assert str(lock) in problem
    lock.unlink()
    assert json.loads(repo.ok("release", "a.py", "--json").out)["released"] == ["a.py"]
