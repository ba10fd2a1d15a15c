"""``wc import``: exports come back, issues of other trackers become threads, twice is
once, and what is wrong writes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from tests.oldertool import OlderTool
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine

CODEX = ("--as", "Codex")
NOTHING = "nothing to do: everything is already there\n"

DEPENDENCY = {
    "issue_id": "bd-2",
    "depends_on_id": "bd-1",
    "type": "blocks",
    "created_at": "2025-11-02T08:00:00Z",
    "created_by": "alice",
}
BEADS: list[dict[str, Any]] = [
    {
        "id": "bd-1",
        "title": "Schema",
        "description": "Two tables.",
        "design": "Third form.",
        "status": "in_progress",
        "priority": 1,
        "issue_type": "task",
        "assignee": "bob",
        "created_at": "2025-11-01T10:00:00.5+01:00",
        "updated_at": "2025-11-03T10:00:00Z",
    },
    {
        "id": "bd-2",
        "title": "Query",
        "status": "open",
        "priority": 2,
        "issue_type": "feature",
        "created_at": "2025-11-02T08:00:00Z",
        "dependencies": [
            DEPENDENCY,
            {**DEPENDENCY, "depends_on_id": "bd-99", "type": "related"},
        ],
        "comments": [
            {"id": 7, "author": "alice", "text": "By name.", "created_at": "2025-11-04"}
        ],
        "odd": {"kept": [1, None]},
    },
    {
        "id": "bd-3",
        "title": "Old",
        "status": "closed",
        "priority": 4,
        "issue_type": "bug",
        "created_at": "2025-01-01T00:00:00Z",
        "closed_at": "2025-02-01T00:00:00Z",
        "close_reason": "Gone.",
    },
]
GITHUB = [
    {
        "number": 12,
        "title": "Crash",
        "body": "It crashes.",
        "state": "CLOSED",
        "author": {"login": "alice"},
        "labels": [{"name": "bug"}],
        "createdAt": "2025-11-01T10:00:00Z",
        "closedAt": "2025-11-02T10:00:00Z",
        "url": "https://github.com/o/r/issues/12",
        "comments": [
            {
                "author": {"login": "bob"},
                "body": "Fixed.\n\nIn main.",
                "createdAt": "2025-11-02T09:00:00Z",
            }
        ],
    }
]


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def ours(thread: str) -> str:
    return f'{{"format":"watercooler","version":1,"threads":[{thread}]}}'


def write(folder: Path, text: str) -> str:
    path = folder / "in.json"
    path.write_text(text)
    return str(path)


def log(repo: Here, topic: str) -> bytes:
    with open(Layout(str(repo.store)).log(topic), "rb") as file:
        return file.read()


def entries(repo: Here, topic: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log(repo, topic).splitlines()]


def test_an_export_gives_an_empty_store_the_same_logs(
    repo: Here, machine: Machine, tmp_path: Path
) -> None:
    repo.ok("new", "api", "--title", "API", *CODEX)
    repo.ok("new", "ui", "--title", "UI", "--body", "ü \x1b", *CODEX)
    repo.ok("link", "ui", "waits-for", "api", *CODEX)
    repo.ok("done", "api", "--title", "Done", *CODEX)
    repo.ok("say", "ui", "--title", "Go", "--kind", "decision", *CODEX)
    path = str(tmp_path / "all.json")
    repo.ok("export", "--all", "--format", "json", "--output", path)
    assert repo.ok("import", path).out == NOTHING
    other = Here(machine, machine.repo("other").path)
    assert "would add" in other.ok("import", path, "--dry-run").out
    assert other.json("list")["threads"] == []
    other.ok("import", path)
    assert other.ok("import", path).out == NOTHING
    for topic in ("api", "ui"):
        assert log(other, topic) == log(repo, topic)
        shown = [here.json("read", topic, "--peek") for here in (repo, other)]
        assert shown[0]["entries"] == shown[1]["entries"]
    assert other.json("ready")["threads"] == repo.json("ready")["threads"]


def test_a_thread_of_an_older_tool_keeps_what_is_in_no_entry(
    repo: Here, machine: Machine, tmp_path: Path
) -> None:
    repo.ok("init")
    older = OlderTool(repo.store)
    older.init_thread("old", title="An old thread")
    older.say("old", "First")
    older.say("old", "Second", agent="Codex")
    older.set_status("old", "closed")
    older.set_ball("old", "Gemini (pat)")
    meta = repo.store / "graph/baseline/threads/old/meta.json"
    fields = json.loads(meta.read_text())
    meta.write_text(json.dumps({**fields, "summary": "In short"}, indent=2))
    path = str(tmp_path / "all.json")
    repo.ok("export", "--all", "--format", "json", "--output", path)
    other = Here(machine, machine.repo("other").path)
    other.ok("import", path)
    assert other.ok("import", path).out == NOTHING

    def shown(here: Here) -> dict[str, Any]:
        read = here.json("read", "old", "--peek")
        path = here.store / "graph/baseline/threads/old/meta.json"
        read |= {"summary": json.loads(path.read_text())["summary"]}
        return {key: read[key] for key in ("title", "status", "ball", "summary")}

    assert shown(repo) == {
        "title": "An old thread",
        "status": "CLOSED",
        "ball": "Gemini (pat)",
        "summary": "In short",
    }
    assert shown(other) == shown(repo)
    assert log(other, "old") == log(repo, "old")
    # It is so in the log once wc has written to it.
    other.ok("ack", "old")
    assert shown(other) == shown(repo)
    (other.store / "graph/baseline/threads/old/meta.json").unlink()
    other.ok("ack", "old")
    assert shown(other) == shown(repo)


def test_an_export_adds_to_a_log_what_it_lacks(repo: Here, tmp_path: Path) -> None:
    repo.ok("new", "api", "--title", "API", *CODEX)
    repo.ok("say", "api", "--title", "More", *CODEX)
    document = json.loads(repo.ok("export", "api", "--format", "json").out)
    whole = log(repo, "api")
    (thread,) = document["threads"]
    thread["log"].append({**thread["log"][-1], "entry_id": "7" + "Z" * 25, "odd": 1})
    path = write(tmp_path, json.dumps(document))
    assert repo.ok("import", path).out == "api: added 1 entry\n"
    assert log(repo, "api").startswith(whole)
    assert entries(repo, "api")[-1]["odd"] == 1
    assert repo.ok("import", path).out == NOTHING


def test_issues_of_beads_become_threads_with_links(repo: Here, tmp_path: Path) -> None:
    path = write(tmp_path, lines(BEADS))
    added = repo.json("import", path)["threads"]
    assert [item["topic"] for item in added] == ["bd-1", "bd-2", "bd-3"]
    threads = {item["topic"]: item for item in repo.json("list", "--all")["threads"]}
    assert threads["bd-1"]["ball"] == "bob"
    assert threads["bd-3"]["status"] == "CLOSED"
    assert "bd-1" in repo.ok("ready", "bd-2").out
    first, *_ = entries(repo, "bd-1")
    assert first["timestamp"] == "2025-11-01T09:00:00.500Z"
    assert "Two tables.\n\n## design\n\nThird form." in first["body"]
    assert "- priority: 1" in first["body"]
    titles = [entry["title"] for entry in entries(repo, "bd-2")]
    assert titles[1:] == ["bd-2 waits for bd-1", "related: bd-99", "By name."]
    assert entries(repo, "bd-2")[0]["imported"]["odd"] == {"kept": [1, None]}
    assert entries(repo, "bd-3")[-1]["body"] == "Gone."
    assert repo.ok("import", path).out == NOTHING
    repo.ok("doctor")


def test_a_changed_issue_adds_only_what_is_new(repo: Here, tmp_path: Path) -> None:
    repo.ok("import", write(tmp_path, lines(BEADS)))
    repo.ok("set-status", "bd-2", "IN_REVIEW", *CODEX)
    before = log(repo, "bd-2")
    comment = {"id": 8, "author": "bob", "text": "And id.", "created_at": "2025-11-05"}
    changed = {**BEADS[1], "comments": [*BEADS[1]["comments"], comment]}
    path = write(tmp_path, lines([BEADS[0], changed]))
    assert repo.ok("import", path).out == "bd-2: added 1 entry\n"
    assert log(repo, "bd-2").startswith(before)
    shown = repo.json("read", "bd-2")
    assert shown["status"] == "IN_REVIEW"
    assert shown["entries"][-1]["title"] == "And id."
    assert repo.ok("import", path).out == NOTHING


def test_two_clones_get_the_same_ids(
    repo: Here, machine: Machine, tmp_path: Path
) -> None:
    path = write(tmp_path, lines(BEADS))
    other = Here(machine, machine.repo("other").path)
    for here in (repo, other):
        here.ok("import", path)
    assert log(repo, "bd-2") == log(other, "bd-2")


def test_issues_of_github(repo: Here, tmp_path: Path) -> None:
    repo.ok("import", write(tmp_path, json.dumps(GITHUB)))
    threads = {item["topic"]: item for item in repo.json("list", "--all")["threads"]}
    assert threads["gh-12"]["status"] == "CLOSED"
    opened, comment, _ = entries(repo, "gh-12")
    assert (opened["agent"], comment["agent"]) == ("alice", "bob")
    assert comment["body"] == "Fixed.\n\nIn main."
    assert "- labels: bug" in opened["body"]


def test_what_is_wrong_writes_nothing(repo: Here, tmp_path: Path) -> None:
    for text, said in (
        (lines(BEADS) + "{\n", "Line 4 is not JSON."),
        (lines(BEADS) + '{"id": "bd-9", "priority": 1}\n', "Line 4 is not an issue"),
        (lines([*BEADS, BEADS[0]]), "Line 4 has the id 'bd-1'"),
        ("[]", "The file has no issues."),
        ("[1]", "Issue 1 is not an issue"),
        ('{"format": "watercooler", "version": 2}', "not an export of wc"),
        (ours('{"topic":"../../x","log":[{"entry_id":"x"}]}'), "'../../x'"),
        (
            ours('{"topic":"x","log":[{"agent":"x"}]}'),
            "x: item 1 of its log is not an entry.",
        ),
    ):
        done = repo.wc("import", write(tmp_path, text))
        assert done.code == 2, done
        assert said in done.err
        assert repo.json("list", "--all")["threads"] == []


def test_a_thread_about_something_else_is_left_alone(
    repo: Here, tmp_path: Path
) -> None:
    repo.ok("new", "bd-2", "--title", "Mine", *CODEX)
    done = repo.wc("import", write(tmp_path, lines(BEADS)))
    assert done.code == 4
    assert "already a thread bd-2" in done.err
    assert len(repo.json("list", "--all")["threads"]) == 1


def test_a_file_or_format_that_is_not_there(repo: Here) -> None:
    assert repo.wc("import", "missing.json").code == 3
    assert repo.wc("import", ".").code == 2
    assert repo.wc("import", "a", "--format", "vibe-kanban").code == 2
