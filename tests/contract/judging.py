"""Whether a log is what those who wrote it were told, by whoever reads bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import amounts
from wc_core.base import names
from wc_core.base.errors import ConflictError
from wc_core.ledger.threads import codec, folding, model, moves, proposals
from wc_core.ledger.threads.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conftest import Repo

# The long run: every count as large as it is promised.
FULL = amounts.is_long()
# Thirty writers on two cores that do something else besides: someone may have
# to wait for longer than the two seconds that are enough for people.
PATIENT = ("--lock-timeout", "60")
ROOT = Path(__file__).resolve().parents[2]
THREADS = "watercooler/threads"
SECONDS = 600


def start(repo: Repo, role: str, **given: Any) -> subprocess.Popen[str]:
    """A racer at work in ``repo``."""
    machine = repo.machine
    path = f"{machine.env['PYTHONPATH']}{os.pathsep}{ROOT}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.racer", role, json.dumps(given)],
        cwd=repo.path,
        env={**machine.env, **given.get("env", {}), "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(racer: subprocess.Popen[str]) -> dict[str, Any]:
    """What a racer has to say at its end."""
    out, err = racer.communicate(timeout=SECONDS)
    assert (racer.returncode, err) == (0, "")
    said: dict[str, Any] = json.loads(out)
    return said


def race(repo: Repo, role: str, **given: Any) -> dict[str, Any]:
    """A racer from its start to its end."""
    return told(start(repo, role, **given))


def states(topic: str, data: bytes) -> list[model.State]:
    """The state after each entry of a log, from the first to the last."""
    found = [model.initial_state(topic)]
    for line in data.splitlines(keepends=True):
        entry = codec.read_line(topic, line)
        assert isinstance(entry, model.Entry), entry
        found.append(folding.apply(found[-1], entry))
    return found[1:]


def check_log(repo: Repo, topic: str, acked: Iterable[str]) -> None:
    """The log has exactly the entries that were acknowledged, once each, one
    after the other, and each was allowed by the state before it."""
    data = repo.log(topic).read_bytes()
    lines = [json.loads(line) for line in data.splitlines()]
    ids = [line["entry_id"] for line in lines]
    assert data.endswith(b"\n")
    assert sorted(ids) == sorted(acked)
    assert ids == sorted(set(ids))
    assert [line["index"] for line in lines] == list(range(len(ids)))
    assert [line["parents"] for line in lines] == [[], *([one] for one in ids[:-1])]
    before = model.initial_state(topic)
    for line, state in zip(data.splitlines(), states(topic, data), strict=True):
        entry = codec.read_line(topic, line)
        assert isinstance(entry, model.Entry)
        assert _allowed(before, entry), (before, entry)
        before = state


def _allowed(state: model.State, entry: model.Entry) -> bool:
    """Whether some command may have made this entry where ``state`` was."""
    given = entry.ball.holder if entry.ball else None
    for to in ("", given or "anyone"):
        draft = proposals.Draft(entry.topic, entry.action, entry.title, to=to)
        draft = draft._replace(status=entry.status or "", reason=entry.reason)
        try:
            move = moves.decide(state, draft, names.parse(entry.agent), Settings())
        except ConflictError:
            continue
        if (move.ball, move.status) == (entry.ball, entry.status):
            return True
    return False


def settle(repo: Repo) -> None:
    """Settle everything, waiting for whoever is at it."""
    root = repo.store
    words = [sys.executable, "-m", "wc_cli.run.background", str(root)]
    deadline = time.monotonic() + 60
    while os.listdir(root / ".local/unsettled"):
        assert time.monotonic() < deadline
        assert not repo.machine.run(words, repo.path).err
        time.sleep(0.02)


def check_settled(repo: Repo, topics: Iterable[str]) -> None:
    """Once settled, everything but the log is what a rebuild gives, and git has
    each entry in one commit."""
    settle(repo)
    # What waits for a person, such as a fork, is no damage.
    assert repo.wc("doctor", "--json").json["findings"] == []
    text = repo.git("log", "--format=%B", THREADS)
    projections = {}
    for topic in topics:
        folder = repo.log(topic).parent
        paths = (folder / "meta.json", folder / "edges.jsonl")
        for path in (*paths, repo.store / f"threads/{topic}.md"):
            projections[path] = path.read_bytes()
            path.unlink()
        ids = [line["entry_id"] for line in repo.entries(topic)]
        assert [text.count(f"Entry-ID: {one}\n") for one in ids] == [1] * len(ids)
    repo.wc("doctor", "--repair")
    assert {path: path.read_bytes() for path in projections} == projections
    settle(repo)
    in_store = ("git", "-C", str(repo.store))
    status = repo.machine.run([*in_store, "status", "--porcelain"], repo.path)
    fsck = repo.machine.run([*in_store, "fsck", "--strict"], repo.path)
    assert (status.code, status.out, fsck.code) == (0, "", 0), (status, fsck)
