"""A cycle in a large component of links: the work grows with the number of threads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

_WHOLES = 5


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def issue(number: int, *dependencies: tuple[str, int]) -> dict[str, Any]:
    """An issue of beads that depends on others."""
    at = "2026-01-01T00:00:00Z"
    known = {"created_at": at, "created_by": "pat"}
    return {
        **known,
        "id": f"bd-{number}",
        "title": f"Issue {number}",
        "status": "open",
        "updated_at": at,
        "dependencies": [
            {"issue_id": f"bd-{number}", "depends_on_id": f"bd-{on}", "type": kind}
            | known
            for kind, on in dependencies
        ],
    }


def import_issues(repo: Here, count: int, *, cycle: bool) -> None:
    """Import a chain of wholes, each with parts; with ``cycle``, its first one waits
    for its last one."""
    first = [("blocks", _WHOLES - 1)] if cycle else []
    issues = [issue(0, *first)]
    issues += [issue(n, ("blocks", n - 1)) for n in range(1, _WHOLES)]
    issues += [issue(n, ("parent-child", n % _WHOLES)) for n in range(_WHOLES, count)]
    path: Path = repo.path.parent / "issues.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in issues))
    repo.ok("import", "--format", "beads", str(path))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that are read, each time."""
    topics: list[str] = []
    read = StoreReader.snapshot_in

    def counted(self: StoreReader, folder: Any, topic: str) -> Any:
        topics.append(topic)
        return read(self, folder, topic)

    monkeypatch.setattr(StoreReader, "snapshot_in", counted)
    return topics


@pytest.mark.parametrize("cycle", [False, True])
def test_an_import_reads_each_thread_a_few_times(
    repo: Here, reads: list[str], *, cycle: bool
) -> None:
    count = 60
    import_issues(repo, count, cycle=cycle)
    assert len(reads) < 25 * count


def test_closing_reads_each_thread_a_few_times(repo: Here, reads: list[str]) -> None:
    count = 60
    import_issues(repo, count, cycle=True)
    for topic in ("bd-7", "bd-4"):  # a part, and a whole that others wait for
        reads.clear()
        repo.ok("set-status", topic, "CLOSED", "--reason", "r", "--force")
        assert len(reads) < 10 * count


@pytest.mark.parametrize("cycle", [False, True])
def test_after_an_import_the_plan_is_right(repo: Here, *, cycle: bool) -> None:
    import_issues(repo, 20, cycle=cycle)
    found = repo.wc("doctor")
    assert ("closes a cycle" in found.out) == cycle, found
    ready = {row["topic"] for row in repo.json("ready")["threads"]}
    # The latest link of the cycle, that of bd-4 to bd-3, does not count.
    wholes = {f"bd-{n}" for n in range(_WHOLES)}
    assert not ready & wholes


def test_what_waits_is_updated_once_a_change_is_complete(repo: Here) -> None:
    import_issues(repo, 20, cycle=True)
    ready = {row["topic"] for row in repo.json("ready")["threads"]}
    done = repo.ok("set-status", "bd-9", "CLOSED", "--reason", "r", "--force")
    assert "can begin" not in done.err
    assert {row["topic"] for row in repo.json("ready")["threads"]} == ready - {"bd-9"}
