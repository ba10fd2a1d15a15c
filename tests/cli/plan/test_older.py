"""What an older version has stopped stays stopped, and its checklists are shown."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_core.base import ulid

if TYPE_CHECKING:
    from tests.conftest import Machine

AGENT = {"WATERCOOLER_AGENT": "Codex"}
HUMAN = {"change": "add", "kind": "human", "value": "Sam"}
STOP = "a gate of an older wc: #1"


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "ui", "--title", "A button", "--body", "- [ ] one\n- [ ] two")
    return repo


def older(repo: Here, topic: str, **fields: Any) -> str:
    """Append an entry as an older version wrote it. Returns its id."""
    log = repo.log(topic)
    entry = json.loads(log.read_text().splitlines()[-1])
    id_ = ulid.successor(entry["entry_id"], 0, 5)
    kept = ("agent", "role", "entry_type", "timestamp", "code_branch")
    made = {key: entry[key] for key in kept if key in entry}
    made |= {"entry_id": id_, "title": "Of before", "body": "", **fields}
    made["parents"] = [entry["entry_id"]]
    with log.open("a") as file:
        file.write(f"{json.dumps(made, separators=(',', ':'))}\n")
    repo.ok("doctor", "--repair")
    return id_


def written(repo: Here) -> list[dict[str, Any]]:
    return [json.loads(line) for line in repo.log("ui").read_text().splitlines()]


def is_ready(repo: Here) -> bool:
    return bool(repo.json("ready", "ui")["ready"])


def test_a_gate_stops_a_thread_until_a_person_decides(repo: Here) -> None:
    gates = [HUMAN, {"change": "add", "kind": "until", "value": "3000-01-01T00:00:00Z"}]
    older(repo, "ui", action="gate", gates=gates)
    repo.ok("say", "ui", "-m", "Still here", "--to", "me")
    assert repo.ok("ready", "ui").out == (
        f"ui is not ready:\n  it waits for {STOP}; to go on: wc ready ui --anyway\n"
    )
    assert f"waits for {STOP}" in repo.ok("list").out
    assert repo.ok("ready").out == ""
    assert repo.ok("statusline").out == f"waits for {STOP} · ui\n"
    assert written(repo)[1]["gates"] == gates
    words = ("ready", "ui", "--anyway")
    assert "only a person lets it go on" in repo.fails(4, *words, env=AGENT)
    repo.ok("set-status", "ui", "IN_REVIEW", env=AGENT)
    assert not is_ready(repo)
    repo.ok(*words)
    assert is_ready(repo)
    assert "waits for nothing of an older wc" in repo.fails(4, *words)
    removed = written(repo)[-1]["gates"]
    assert [change["change"] for change in removed] == ["remove"] * 2


def test_another_status_lets_it_go_on_if_a_person_may_decide(repo: Here) -> None:
    older(repo, "ui", action="gate", gates=[HUMAN])
    repo.ok("handoff", "ui", "--to", "Codex", "--force")
    sam = {"WATERCOOLER_USER": "Sam"}
    repo.ok("set-status", "ui", "BLOCKED", env=sam)
    told = repo.fails(4, "ready", "ui", "--anyway", env=sam)
    assert "Codex has the ball of ui, not you." in told
    assert STOP in repo.ok("ready", "ui").out
    repo.ok("set-status", "ui", "OPEN")
    assert STOP not in repo.ok("ready", "ui").out


def test_a_box_is_ticked_by_whoever_writes(repo: Here) -> None:
    assert "OPEN 0/2" in repo.ok("list").out
    said = repo.ok("say", "ui", "--tick", "2", "--as", "Gemini")
    assert "the ball stays with Pat" in said.err
    entry = repo.json("read", "ui")["entries"]
    assert entry[0]["body"] == "- [ ] one\n- [x] two"
    assert entry[1]["title"] == "Done: two"
    assert "OPEN 1/2" in repo.ok("list").out
    repo.ok("done", "ui", "--tick", "1", "-m", "All of it")
    answer = repo.json("read", "ui")
    assert answer["checklist"] == {"done": 2, "total": 2}
    assert "checklist 2/2" in repo.ok("read", "ui").out
    told = repo.fails(4, "say", "ui", "--reopen", "--tick", "3")
    assert "no item '3': its items are 1 to 2" in told


def test_a_checklist_of_an_older_version_is_shown_and_ticked(repo: Here) -> None:
    added = older(repo, "ui", action="checklist", items_added=["three", "four"])
    older(repo, "ui", action="checklist", items_checked=[f"{added}.1"])
    assert repo.json("list")["threads"][0]["checklist"] == {"done": 1, "total": 4}
    repo.ok("say", "ui", "-m", "x", "--tick", "4")
    body = repo.json("read", "ui")["entries"][0]["body"]
    assert body == "- [ ] one\n- [ ] two\n\n- [x] three\n- [x] four"


def test_boxes_count_in_a_thread_of_an_older_version(repo: Here) -> None:
    """It had put no boxes into the state that it wrote."""
    path = repo.log("ui").with_name("meta.json")
    text = path.read_text().replace('"boxes":true,', "")
    head, _, rest = text.partition('"items":')
    text = head + rest[rest.index("]],") + 3 :] if rest else text
    start = text.encode().rpartition(b',"check":')[0]
    path.write_bytes(start + b',"check":%d}\n}\n' % zlib.crc32(start))
    assert repo.json("read", "ui")["checklist"] == {"done": 0, "total": 2}
    repo.ok("say", "ui", "--tick", "1")
    assert repo.json("list")["threads"][0]["checklist"] == {"done": 1, "total": 2}
