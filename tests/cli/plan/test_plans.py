"""``wc plan``, by hand: shown first, written as a whole, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX = ("--as", "Codex")
PLAN = """\
- ui: A button (after api)
  - [ ] draw it
  - [x] name it
- api: The api (after db)
  - errors: Say what went wrong
- db: A table
"""


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    (repo.path / "plan.md").write_text(PLAN)
    return repo


def ready(repo: Here) -> list[str]:
    return sorted(row["topic"] for row in repo.json("ready", *CODEX)["threads"])


def test_a_plan_is_shown_before_it_is_written(repo: Here) -> None:
    shown = repo.ok("plan", "plan.md", *CODEX)
    assert shown.out == (
        "+ db: A table · ball: anyone\n"
        "+ api: The api · ball: anyone\n"
        "    api waits for db\n"
        "+ ui: A button · ball: anyone\n"
        "    ui waits for api\n"
        "    [ ] draw it\n"
        "    [x] name it\n"
        "+ errors: Say what went wrong · ball: anyone\n"
        "    errors is part of api\n"
    )
    assert "Nothing was written. To write it: wc plan plan.md --yes" in shown.err
    assert repo.json("list")["threads"] == []


def test_a_plan_is_written_once(repo: Here) -> None:
    done = repo.ok("plan", "plan.md", "--yes", *CODEX)
    last = done.out.splitlines()[-1]
    assert last == "planned 4 threads, 3 links, 2 items; see: wc tree, wc ready"
    assert ready(repo) == ["db"]
    assert repo.json("checklist", "ui")["done"] == 1
    entries = {row["topic"]: row["entry_count"] for row in repo.json("list")["threads"]}
    again = repo.ok("plan", "plan.md", "--yes", *CODEX)
    assert "Everything is already there" in again.err
    (repo.path / "plan.md").write_text(PLAN + "- docs: Tell it (after ui) @Codex\n")
    repo.ok("plan", "plan.md", "--yes", *CODEX)
    rows = {row["topic"]: row for row in repo.json("list")["threads"]}
    assert rows.pop("docs")["waits_for"] == ["ui"]
    assert {topic: row["entry_count"] for topic, row in rows.items()} == entries


def test_what_exists_gets_what_it_lacks(repo: Here) -> None:
    repo.ok("new", "api", "--title", "Mine", *CODEX)
    shown = repo.ok("plan", "plan.md", "--yes", *CODEX)
    assert "~ api: The api\n    api waits for db\n" in shown.out
    assert repo.json("read", "api")["title"] == "Mine"
    assert repo.json("read", "api")["ball"] == "Codex (Pat)"
    assert ready(repo) == ["db"]


def test_a_plan_may_be_part_of_a_thread(repo: Here) -> None:
    repo.ok("new", "release", "--title", "T", *CODEX)
    repo.ok("plan", "plan.md", "--yes", "--parent", "release", *CODEX)
    fields = repo.json("tree", "release")["threads"][0]
    assert [node["topic"] for node in fields["threads"]] == ["api", "db", "ui"]


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("- a: One (after b)\n- b: Two (after a)\n", 4, "would be a cycle: "),
        ("- a: One (after a)\n", 4, "would be a cycle: a → a"),
        ("- a: One (after nowhere)\n", 3, "a waits for nowhere, which is neither"),
        ("- a: One @Zorro\n", 3, "Line 2: "),
        ("nothing\n", 2, "It contains no list"),
    ],
)
def test_a_plan_with_a_mistake_writes_nothing(
    repo: Here, text: str, code: int, problem: str
) -> None:
    (repo.path / "plan.md").write_text("- ok: Fine\n" + text)
    if text == "nothing\n":
        (repo.path / "plan.md").write_text(text)
    assert problem in repo.fails(code, "plan", "plan.md", "--yes", *CODEX)
    assert repo.json("list")["threads"] == []


def test_what_is_done_is_left_out(repo: Here) -> None:
    (repo.path / "plan.md").write_text("- [x] spec: S\n- [ ] api: A (after spec)\n")
    shown = repo.ok("plan", "plan.md", "--yes", *CODEX)
    assert "left out, because it is done: spec" in shown.err
    assert ready(repo) == ["api"]
