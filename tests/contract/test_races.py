"""Many writers at once: nothing acknowledged is lost or there twice, nothing
else is there, and what each entry did was allowed where it did it.

The long run has as many as are promised, `bin/test` fewer.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.contract.judging import FULL, PATIENT, check_log, check_settled, race

if TYPE_CHECKING:
    from tests.conftest import Repo

# A loop of real commands; it prints their receipts.
LOOP = """
for turn in $(seq {turns}); do
  "$@" || exit
done
"""


TOPICS = ("login", "search", "billing", "export", "queue", "docs", "theme", "cache")


class Crowd(NamedTuple):
    """How many write how often, to one thread or to one each."""

    writers: int
    turns: int
    turns_in_short: int
    threads: int = 1
    mixed: bool = False


CROWDS = {
    "8 in one thread": Crowd(8, 25, 10),
    "8 in threads of their own": Crowd(8, 25, 4, threads=8),
    "30 in one thread": Crowd(30, 10, 3),
    # Every kind of move, reading, repair, and settling at the same time.
    "30 of all kinds": Crowd(30, 10, 3, threads=2, mixed=True),
}


@pytest.mark.parametrize("name", CROWDS)
def test_a_crowd_of_writers(repo: Repo, name: str) -> None:
    crowd = CROWDS[name]
    topics = TOPICS[: crowd.threads]
    acked: dict[str, list[str]] = {topic: [] for topic in topics}
    if crowd.mixed:  # only a say makes its thread
        for topic in topics:
            acked[topic] = [repo.json("new", topic, "--title", "x")["entry_id"]]
    said = race(
        repo,
        "write",
        writers=crowd.writers,
        turns=crowd.turns if FULL else crowd.turns_in_short,
        topics=topics,
        mixed=crowd.mixed,
        options=PATIENT,
        seed=name,
        env={"WATERCOOLER_SYNC": "background" if crowd.mixed else "off"},
    )
    assert said["wrong"] == []
    assert bool(said["refused"]) == crowd.mixed
    for topic, entry_id in said["acked"]:
        acked[topic].append(entry_id)
    for topic in topics:
        check_log(repo, topic, acked[topic])
    check_settled(repo, topics)


@pytest.mark.parametrize("threads", [1, 8])
def test_eight_loops_of_real_commands(repo: Repo, threads: int) -> None:
    turns = 25 if FULL else {1: 3, 8: 1}[threads]
    machine = repo.machine
    acked: dict[str, list[str]] = {topic: [] for topic in TOPICS[:threads]}
    loops = []
    for number in range(8):
        topic = TOPICS[number % threads]
        words = [*machine.wc_words, "say", topic, "--title", f"By {number}", "--json"]
        script = ["sh", "-c", LOOP.format(turns=turns), "sh", *words]
        loops.append(
            subprocess.Popen(
                [*script, "--as", f"Agent{number}", *PATIENT],
                cwd=repo.path,
                env={**machine.env, "WATERCOOLER_SYNC": "background"},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    for loop in loops:
        out, err = loop.communicate(timeout=300)
        assert loop.returncode == 0, err
        receipts = [json.loads(line) for line in out.splitlines()]
        assert len(receipts) == turns
        for receipt in receipts:
            acked[receipt["topic"]].append(receipt["entry_id"])
    for topic, ids in acked.items():
        check_log(repo, topic, ids)
    check_settled(repo, acked)
