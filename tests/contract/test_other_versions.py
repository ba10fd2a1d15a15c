"""Another version of wc at the same store: what this one does not know stays there,
and takes nothing else with it."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.edits.landing.publishing import LandingRecord, LandingRecords
from wc_core.attention.runs import records as runs
from wc_core.attention.runs.records import RunRecord
from wc_core.attention.status import keptlines
from wc_core.attention.status.keptlines import LineRequest
from wc_core.base.layout import Layout
from wc_core.ledger.git.private import private_layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repo


def put(path: str, data: bytes) -> None:
    """Write a record as another version does, with a field that this one lacks."""
    head, end, fields = data.rpartition(b"\n.\n")
    later = json.loads(fields) | {"later": [1]}
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(head + end + json.dumps(later).encode())


def run_record(root: str) -> object:
    record = RunRecord("a", "Codex (pat)", "/w", "a", "running", 1)
    put(runs.path_of(Layout(root), "a"), record.to_bytes())
    return runs.load(Layout(root), "a") == record


def cloud_record(root: str) -> object:
    """What an older wc started in the cloud: nothing waits for it."""
    fields = RunRecord("b", "Codex@cloud/session", "", "b", "in_cloud", 1)._asdict()
    cloud = {"version": runs.VERSION, "is_cloud": True, "session": "task_1"}
    put(runs.path_of(Layout(root), "b"), json.dumps(fields | cloud).encode())
    return runs.load(Layout(root), "b") == RunRecord(**fields | {"state": "stopped"})


def landing_record(root: str) -> object:
    record = LandingRecord("a", "a", "1", "main", "2", "3")
    records = LandingRecords(Layout(root))
    records.save(record)
    (file,) = Path(private_layout(Layout(root)).landings).iterdir()
    put(str(file), file.read_bytes())
    file.with_name("b.json").write_text("7")
    return [*records.all()] == [record]


def line_request(root: str) -> object:
    request = LineRequest("k", "", root)
    put(f"{root}/line", keptlines.encode("first", request, "") or b"")
    kept = keptlines.decode(Path(root, "line").read_bytes() + b"\n")
    return kept is not None and kept.request == request


@pytest.mark.parametrize(
    "reads",
    [
        *(run_record, cloud_record, landing_record, line_request),
    ],
)
def test_a_field_that_is_not_known_is_ignored(
    tmp_path: Path, reads: Callable[[str], bool]
) -> None:
    assert reads(str(tmp_path))


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_key_of_a_later_version_stays_in_a_thread(
    repo: Repo, *, is_trusted: bool
) -> None:
    """Else that version no longer sees a gate, and starts what waits."""
    repo.settled("say", "login", "--title", "Fix it")
    path = repo.store / "graph/baseline/threads/login/meta.json"
    head = path.read_bytes().rpartition(b',"check":')[0] + b',"doors":[["1","human"]]'
    check = zlib.crc32(head) if is_trusted else 7
    path.write_bytes(head + b',"check":%d}\n}\n' % check)
    repo.settled("say", "login", "More")
    own = json.loads(path.read_bytes())["wc"]
    assert own["doors"] == [["1", "human"]]
    repo.ok("doctor")
