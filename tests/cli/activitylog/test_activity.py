"""``wc note`` with a scope, ``wc activity``, and who hears of an overlap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.briefing.test_hook import Agent
from tests.contract.inprocess import Here
from tests.observe.stores import Session
from wc_cli.ledger.clock import now_ms
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from tests.conftest import Machine

CODEX, GEMINI = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    (repo.path / "src").mkdir()
    (repo.path / "src/auth.py").write_text("code\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("new", "login", "--title", "T", *CODEX)
    return repo


def rows(repo: Here, *words: str) -> list[dict[str, Any]]:
    activity: list[dict[str, Any]] = repo.json("activity", *words)["activity"]
    return activity


def test_a_note_says_what_it_is_about(repo: Here) -> None:
    done = repo.ok(
        *("note", "the form", "--scope", "src/auth.py", "--scope", "./src/x.py::f"),
        *("--intent", "refactor", "--thread", "login", *CODEX),
    )
    assert done.out == (
        "noted for 30m: running: refactor src/auth.py, src/x.py::f: the form\n"
    )
    assert "src/x.py does not exist" in done.err
    (row,) = rows(repo, *GEMINI)
    assert row["scope"] == ["src/auth.py", "src/x.py::f"]
    facts = [row[key] for key in ("agent", "intent", "thread", "note", "worktree")]
    assert facts == ["Codex (Pat)", "refactor", "login", "the form", "app"]
    assert (row["mine"], row["elsewhere"]) == (False, False)
    assert rows(repo, *CODEX)[0]["mine"]
    assert "refactor src/auth.py" in repo.ok("activity").out
    assert "refactor src/auth.py" in repo.ok("worktrees").out


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("src",), 1),
        (("src/auth.py::Login",), 1),
        (("other.py",), 0),
        (("--mine",), 0),
        (("--others",), 1),
        (("src", "--others"), 1),
    ],
)
def test_only_what_was_asked_for(
    repo: Here, words: tuple[str, ...], count: int
) -> None:
    repo.ok("note", "x", "--scope", "src/auth.py", *CODEX)
    assert len(rows(repo, *words, *GEMINI)) == count


def test_the_next_note_replaces_it_and_clear_ends_it(repo: Here) -> None:
    repo.ok("note", "first", *CODEX)
    repo.ok("note", "second", *CODEX)
    assert [row["note"] for row in rows(repo)] == ["second"]
    assert repo.ok("note", "--clear", *CODEX).out == "Note removed.\n"
    assert rows(repo) == []
    assert "There are no notes" in repo.ok("activity").err


@pytest.mark.parametrize(
    "words",
    [
        ("note", "x", "--scope", "../../x"),
        ("note", "x", "--scope", "a.py::"),
        ("note", "x", "--intent", "x" * 201),
        ("note", "--clear", "x"),
        ("note", "x", *(f"--scope={number}" for number in range(51))),
        ("activity", "--mine", "--others"),
        ("activity", "/etc"),
    ],
)
def test_wrong_input(repo: Here, words: tuple[str, ...]) -> None:
    repo.fails(2, *words)
    assert rows(repo) == []


def test_an_unknown_thread_is_refused(repo: Here) -> None:
    repo.fails(3, "note", "x", "--thread", "nowhere")
    assert rows(repo) == []


def test_it_ends_with_the_session(repo: Here) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as holder:
        env = {"WATERCOOLER_SESSION_PID": str(holder.pid)}
        repo.ok("note", "x", "--scope", "src", *CODEX, env=env)
        assert len(rows(repo)) == 1
        holder.kill()
    assert rows(repo) == []
    assert "running" not in repo.ok("worktrees").out


def test_a_damaged_log_hides_only_what_is_damaged(repo: Here) -> None:
    repo.ok("note", "first", *CODEX)
    log = Path(Layout(str(repo.store)).activity_log)
    log.write_bytes(b"garbage\n{}\n" + log.read_bytes() + b'{"id": "unfinished')
    repo.ok("note", "second", *GEMINI)
    assert sorted(row["note"] for row in rows(repo)) == ["first", "second"]
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")


def test_a_store_without_notes_says_so(repo: Here) -> None:
    assert repo.json("activity") == {
        "store": repo.json("list")["store"],
        "activity": [],
        "total": 0,
        "as_of": None,
    }


def test_the_server_says_the_same(repo: Here) -> None:
    repo.ok("note", "x", "--scope", "src/auth.py", "--intent", "refactor", *CODEX)
    env = {**repo.machine.env, "WATERCOOLER_AGENT": "Gemini"}
    session = Session(repo.path, env, clock=now_ms)
    own = repo.json("activity", *GEMINI)["activity"]
    answer = session.json("list_edits", show="activity")["activity"]
    for row in (*own, *answer):
        del row["age_seconds"]
    assert answer == own
    assert session.json("list_edits", show="activity", path="src")["total"] == 1
    assert session.json("list_edits", show="activity", path="other.py")["total"] == 0
    assert session.json("list_edits", show="activity", whose="mine")["total"] == 0
    assert 'intent "refactor"' in session.text("list_edits", show="activity")
    assert (
        "PATH::SYMBOL"
        in session.error("list_edits", show="activity", path="../x")["message"]
    )


def test_the_brief_and_the_prompt_tell_of_an_overlap_once(repo: Here) -> None:
    repo.ok("claim", "src/auth.py", *CODEX)
    repo.ok("note", "the form", "--scope", "src", "--intent", "refactor", *GEMINI)
    brief = repo.ok("brief", *CODEX).out
    assert "Others are working on files you change (see: wc activity):" in brief
    assert "> refactor src: the form" in brief
    assert "Others work" not in repo.ok("brief", *GEMINI).out

    agent = Agent(repo)
    first, again = agent.prompt(), agent.prompt()
    assert 'says: "refactor src: the form"' in first
    assert "says:" not in again
    repo.ok("note", "now the tests", "--scope", "src", *GEMINI)
    assert "now the tests" in agent.prompt()


def test_a_note_of_what_nobody_else_does_is_no_news(repo: Here) -> None:
    repo.ok("claim", "src/auth.py", *GEMINI)
    repo.ok("note", "x", "--scope", "docs", *CODEX)
    assert "Others work" not in repo.ok("brief", *GEMINI).out
