"""A simulated day of prompts and writes: how often a prompt has to start Python."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

SCRIPT = Path(__file__).resolve().parents[2] / "bin/wc-statusline"
CLAUDE = {"WATERCOOLER_AGENT": "Claude"}
PATIENCE = 20.0
# How much of a day's writes are a person's own, at the prompt that comes next.
OWN = 0.3


class Day(NamedTuple):
    """A repository whose script counts how often it asks `wc-cli`."""

    home: Repo
    script: Path
    counted: Path

    def prompt(self, env: dict[str, str]) -> str:
        """What the script prints."""
        env = {**env, "PWD": str(self.home.path)}
        done = self.home.machine.run([str(self.script)], self.home.path, env=env)
        assert (done.code, done.err) == (0, "")
        return done.out

    @property
    def asked(self) -> int:
        return self.counted.read_text().count("\n") if self.counted.exists() else 0

    def settle(self) -> None:
        """Wait until the background process of a write has made the lines again."""
        local = self.home.store / ".local"
        admin = (self.home.store / ".git").read_text().removeprefix("gitdir: ").strip()
        moves = Path(admin, "logs/HEAD")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            stamp = local / "line/stamp"
            current = stamp.read_text().strip() if stamp.exists() else "none"
            lines = [path for path in stamp.parent.iterdir() if path != stamp]
            firsts = [path.read_text()[: len(current)] for path in lines]
            moved = moves.stat().st_mtime_ns
            is_old = any(path.stat().st_mtime_ns < moved for path in lines)
            is_settled = not any((local / "unsettled").iterdir())
            if is_settled and {*firsts} <= {current} and not is_old:
                return
            time.sleep(0.01)
        raise AssertionError("the lines were not made again")


@pytest.fixture
def day(repo: Repo) -> Day:
    folder = repo.machine.folder("counting").path
    counted = folder / "asked"
    (folder / "wc-statusline").symlink_to(SCRIPT)
    script = folder / "copy/wc-statusline"
    script.parent.mkdir()
    script.write_bytes(SCRIPT.read_bytes())
    script.chmod(0o755)
    cli = script.with_name("wc-cli")
    real = SCRIPT.parents[1] / ".venv/bin/wc-cli"
    cli.write_text(f'#!/bin/sh\necho asked >>"{counted}"\nexec "{real}" "$@"\n')
    cli.chmod(0o755)
    return Day(repo, script, counted)


@pytest.mark.parametrize(
    ("prompts", "writes"),
    [(100, 10), pytest.param(1000, 100, marks=pytest.mark.long)],
)
def test_few_prompts_of_a_day_start_python(day: Day, prompts: int, writes: int) -> None:
    dice, home = random.Random(writes), day.home
    home.ok("new", "main", "--title", "T")
    background = {"WATERCOOLER_SYNC": "background"}
    for env in ({}, CLAUDE):
        day.prompt(env)
    first = day.asked
    moments = {*dice.sample(range(prompts), writes)}
    for number in range(prompts):
        is_own = dice.random() < OWN
        if number in moments:
            who = {} if is_own else CLAUDE
            words = ("--to", dice.choice(("Pat", "Claude")), "--reason", "x", "--force")
            home.ok("handoff", "main", *words, env={**background, **who})
            if not is_own:
                day.settle()
        env = {} if is_own else dice.choice(({}, CLAUDE))
        said = day.prompt(env)
        if number in moments:
            assert said == home.ok("statusline", env=env).out, number
            day.settle()
    assert day.asked - first < prompts * 0.05, day.asked
