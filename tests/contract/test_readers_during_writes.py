"""Reading while others write: never half of anything, never a state that was
not one, never back in time.

The long run has more and longer writers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.contract import judging
from tests.contract.judging import FULL, PATIENT, ROOT, start, told
from tests.observe.stores import Session
from wc_core.attention.status import line as statusline
from wc_core.attention.status.linethreads import StatusRow
from wc_core.attention.status.places import Surroundings
from wc_core.base import names
from wc_core.ledger.threads import model

if TYPE_CHECKING:
    import subprocess

    from tests.conftest import Repo
    from wc_core.ledger.threads.model import State

SCRIPT = ROOT / "bin/wc-statusline"
TURNS = 150 if FULL else 12
# A line of so many bytes is many pages: it does not come all at once.
LONG = 200_000


def as_json(state: State) -> Any:
    return json.loads(json.dumps(state))


def crowd(repo: Repo, **given: Any) -> subprocess.Popen[str]:
    """Four writers of long lines to one thread, with settling in between."""
    return start(
        repo,
        "write",
        topics=["busy"],
        **{"writers": 4, "turns": TURNS, "seed": "", "options": PATIENT, **given},
        env={"WATERCOOLER_SYNC": "background"},
    )


def test_every_state_that_is_seen_was_one(repo: Repo) -> None:
    repo.ok("init")  # the thread itself begins while they look
    readers = [start(repo, "look", topic="busy") for _ in range(2)]
    said = told(crowd(repo, bytes=LONG))
    assert said["wrong"] == []
    found = [told(reader) for reader in readers]
    data = repo.log("busy").read_bytes()
    states = [as_json(one) for one in judging.states("busy", data)]
    # Before its first entry is whole, a thread is an empty one.
    place = {json.dumps(one): number for number, one in enumerate(states)}
    empty = json.dumps(as_json(model.initial_state("busy")))
    for reader in found:
        assert reader["wrong"] == []
        seen = [json.dumps(one) for one in reader["seen"]]
        assert set(seen) <= {*place, empty}
        order = [place.get(one, -1) for one in seen]
        assert order == sorted(order)
        assert len(order) > 3
    judging.check_log(repo, "busy", [entry_id for _, entry_id in said["acked"]])
    judging.check_settled(repo, ["busy"])


def test_commands_and_the_server_while_someone_writes(repo: Repo) -> None:
    repo.ok("new", "busy", "--title", "x", "--as", "Codex")
    machine = repo.machine
    session = Session(repo.path, machine.env)
    writers = crowd(repo, mixed=True)
    seen = []
    while writers.poll() is None:
        (row,) = repo.json("list")["threads"]
        seen.append(row)
        read = repo.json("read", "busy", "--peek")
        assert "damage" not in read
        assert "heads" not in read
        seen.append({"entry_count": len(read["entries"]), **read})
        seen += session.json("list_threads")["threads"]
        assert "damage" not in session.json("read_thread", topic="busy")
    assert told(writers)["wrong"] == []
    states = judging.states("busy", repo.log("busy").read_bytes())
    known = {(s.entry_count, s.status, s.ball, s.title) for s in states}
    shown = [(s["entry_count"], s["status"], s["ball"], s["title"]) for s in seen]
    assert set(shown) <= known
    counts = [one[0] for one in shown]
    assert counts == sorted(counts)


def test_the_status_line_while_the_ball_goes_to_and_fro(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "x", "--as", "Codex")
    machine = repo.machine
    writer = start(repo, "passing", topic="main")
    viewers = ("codex", "cursor", "zed")
    lines: dict[str, list[str]] = {one: [] for one in viewers}
    for _ in range(400 if FULL else 10):
        for agent in viewers:
            env = {"WATERCOOLER_AGENT": agent}
            done = machine.run([str(SCRIPT)], repo.path, env=env)
            assert (done.code, done.err) == (0, "")
            lines[agent].append(done.out)
    assert told(writer)["moves"] > 1
    states = judging.states("main", repo.log("main").read_bytes())
    for agent, said in lines.items():
        around = Surroundings(("main",), names.parse(agent))
        here = statusline.LinePlace(around)
        known = {
            statusline.status_line([StatusRow(state, new)], here).casefold() + "\n"
            for state in {(one.ball, one.status): one for one in states}.values()
            for new in (None, *range(len(states) + 1))
        }
        # A name is spelt as its key where its file was gone before it was read.
        assert {one.casefold() for one in said} <= known, agent
        assert len({line.split(" · ")[0] for line in said}) > 1
