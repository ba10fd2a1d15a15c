"""The same thing done by several at the same instant: one of them wins, the
others are told who; and a repetition after a kill writes nothing twice.

The long run has as many rounds as are promised, `bin/test` fewer.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.contract.judging import FULL, race

if TYPE_CHECKING:
    from tests.conftest import Repo

# What is raced for: workers, rounds, rounds in short, what losers are told.
PRIZES = {
    "take": (2, 1000, 60, "{winner} (Pat) has the ball of race."),
    "if-ball": (4, 200, 10, "The ball of race is not free: Pat has it."),
    "if-last": (4, 200, 10, "race has moved on: its last entry is {idx}, not "),
}


@pytest.mark.parametrize("kind", PRIZES)
def test_exactly_one_wins(repo: Repo, kind: str) -> None:
    workers, rounds, in_short, message = PRIZES[kind]
    rounds = rounds if FULL else in_short
    said = race(repo, "same", kind=kind, workers=workers, rounds=rounds)["rounds"]
    assert len(said) == rounds
    winners = set()
    ids = []
    for told in said:
        assert sorted(code for _, code, _ in told) == [0, *[4] * (workers - 1)]
        ((winner, receipt),) = ((agent, text) for agent, code, text in told if not code)
        saved = json.loads(receipt)
        winners.add(winner)
        ids.append(saved["entry_id"])
        expected = message.format(winner=winner, idx=saved["idx"])
        for text in (text for _, code, text in told if code):
            assert text.startswith(expected)
    assert len(winners) > 1
    # Of each round there is its start and what its winner did, nothing else.
    entries = repo.entries("race")
    assert [one["entry_id"] for one in entries[1::2]] == ids
    assert len(entries) == 2 * rounds


def test_one_key_at_once_is_one_entry(repo: Repo) -> None:
    rounds = 100 if FULL else 8
    said = race(repo, "same", kind="key", workers=6, rounds=rounds)["rounds"]
    ids = []
    for told in said:
        receipts = [json.loads(text) for _, code, text in told if not code]
        assert len(receipts) == 6
        assert len({receipt["entry_id"] for receipt in receipts}) == 1
        assert len({tuple(receipt["notes"]) for receipt in receipts}) == 2
        ids.append(receipts[0]["entry_id"])
    assert [one["entry_id"] for one in repo.entries("race")[1::2]] == ids
    assert len(repo.entries("race")) == 2 * rounds


def test_a_key_is_one_entry_however_often_its_writer_is_killed(repo: Repo) -> None:
    rounds = 50 if FULL else 8
    said = race(repo, "killed", seed="kill", rounds=rounds, seconds=0.02)
    entries = repo.entries("killed")[1:]
    assert {one["key"]: one["entry_id"] for one in entries} == said["acked"]
    assert len(entries) == rounds
    assert said["kills"] >= rounds


def test_real_commands_that_take_one_ball(repo: Repo) -> None:
    machine = repo.machine
    for number in range(20 if FULL else 2):
        repo.ok("new", f"race-{number}x", "--title", "x", "--to", "anyone")
        takers = {
            who: subprocess.Popen(
                [*machine.wc_words, "take", f"race-{number}x", "--as", who, "--json"],
                cwd=repo.path,
                env=machine.env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for who in ("Codex", "Cursor", "Claude Code", "Gemini CLI")
        }
        said = {who: one.communicate(timeout=60) for who, one in takers.items()}
        codes = {who: one.returncode for who, one in takers.items()}
        assert sorted(codes.values()) == [0, 4, 4, 4], said
        (winner,) = (who for who, code in codes.items() if not code)
        for who in set(codes) - {winner}:
            assert f"{winner} (Pat) has the ball" in said[who][1]
