"""``wc note`` with a scope, who hears of an overlap, and what a note does not do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.briefing.test_hook import Agent
from tests.cli.claims.test_claims_between_clones import Clones
from tests.contract.inprocess import Here
from tests.observe.stores import Session
from wc_cli.ledger.clock import now_ms
from wc_cli.run import ancestors
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


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path)


def rows(repo: Here, agent: str = "Gemini", **arguments: str) -> list[dict[str, Any]]:
    """What the server says."""
    env = {**repo.machine.env, "WATERCOOLER_AGENT": agent}
    session = Session(repo.path, env, clock=now_ms)
    answer = session.json("list_edits", show="activity", **arguments)
    notes: list[dict[str, Any]] = answer["activity"]
    assert answer["total"] == len(notes)
    return notes


def texts(repo: Here) -> list[str]:
    return [row["note"] for row in rows(repo)]


def test_a_note_says_what_it_is_about(repo: Here) -> None:
    done = repo.ok(
        *("note", "the form", "--scope", "src/auth.py", "--scope", "./src/x.py::f"),
        *("--intent", "refactor", *CODEX),
    )
    assert done.out == "noted for 30m: refactor src/auth.py, src/x.py::f: the form\n"
    assert "src/x.py does not exist" in done.err
    (row,) = rows(repo)
    assert row["scope"] == ["src/auth.py", "src/x.py::f"]
    facts = [row[key] for key in ("agent", "intent", "note", "worktree")]
    assert facts == ["Codex (Pat)", "refactor", "the form", "app"]
    assert (row["mine"], row["elsewhere"]) == (False, False)
    assert rows(repo, "Codex")[0]["mine"]
    assert "refactor src/auth.py" in repo.ok("worktrees").out


def test_only_what_was_asked_for(repo: Here) -> None:
    repo.ok("note", "x", "--scope", "src/auth.py", *CODEX)
    for arguments, count in (
        ({"path": "src"}, 1),
        ({"path": "src/auth.py::Login"}, 1),
        ({"path": "other.py"}, 0),
        ({"whose": "mine"}, 0),
        ({"whose": "others"}, 1),
    ):
        assert len(rows(repo, **arguments)) == count


def test_the_next_note_replaces_it_and_clear_ends_it(repo: Here) -> None:
    repo.ok("note", "first", *CODEX)
    repo.ok("note", "second", *CODEX)
    assert texts(repo) == ["second"]
    assert repo.ok("note", "--clear", *CODEX).out == "Note removed.\n"
    assert texts(repo) == []


def test_wrong_input(repo: Here) -> None:
    for words in (
        ("note", "x", "--scope", "../../x"),
        ("note", "x", "--scope", "a.py::"),
        ("note", "x", "--intent", "x" * 201),
        ("note", "--clear", "x"),
        ("note", "x", *(f"--scope={number}" for number in range(51))),
    ):
        repo.fails(2, *words)
        assert texts(repo) == []


def test_it_ends_with_the_session(repo: Here) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as holder:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ancestors, "session_process", lambda _: holder.pid)
            repo.ok("note", "x", "--scope", "src", *CODEX)
        assert len(rows(repo)) == 1
        holder.kill()
    assert texts(repo) == []
    assert "note" not in repo.ok("worktrees").out


def test_a_damaged_log_hides_only_what_is_damaged(repo: Here) -> None:
    repo.ok("note", "first", *CODEX)
    repo.ok("note", "second", *GEMINI)
    log = Path(Layout(str(repo.store)).log("_notes"))
    log.write_bytes(b'garbage\n{"note":{}}\n' + log.read_bytes() + b'{"id": "half')
    assert sorted(texts(repo)) == ["first", "second"]


def shape(text: str) -> str:
    """A text without times."""
    return re.sub(r"\d+", "0", text)


def test_a_note_is_in_no_list_and_changes_nothing(repo: Here) -> None:
    """No command but this one accepts the name of its thread."""
    repo.settled("say", "login", "-m", "x", *CODEX)
    commands = (
        ("list", "--json"),
        ("list", "--all"),
        ("updates", "--json"),
        ("whose", "--json", "login"),
        ("ready", "--json"),
        ("inbox", *GEMINI),
        ("search", "zebra", "--json"),
        ("stats", "--json"),
        ("export", "--all", "--format", "json"),
        ("statusline",),
    )
    repo.ok("list", *GEMINI)
    before = [repo.ok(*words).out for words in commands]
    repo.settled("note", "zebra", "--intent", "paint", *CODEX)
    assert "_notes" in repo.git("ls-tree", "-r", "watercooler/threads")
    cache = (repo.store / ".local/cache.db").read_bytes()
    assert b"login" in cache
    assert b"_notes" not in cache
    for words, expected in zip(commands, before, strict=True):
        assert shape(repo.ok(*words).out) == shape(expected), words
    repo.fails(3, "read", "_notes")
    repo.fails(3, "ack", "_notes")
    repo.fails(2, "close", "_notes", "-m", "x")
    session = Session(repo.path, repo.machine.env, clock=now_ms)
    listed = session.json("list_threads")["threads"]
    assert [thread["topic"] for thread in listed] == ["login"]
    assert "cannot be a topic" in repo.fails(2, "new", "_notes", "-m", "x")
    assert "cannot be a topic" in repo.fails(2, "say", "_notes", "-m", "x")
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")
    assert repo.ok("doctor", "--repair").code == 0
    assert texts(repo) == ["zebra"]


def test_a_thread_of_that_name_from_before_is_shown(repo: Here) -> None:
    layout = Layout(str(repo.store))
    os.rename(layout.folder("login"), layout.folder("_notes"))
    assert "_notes" in repo.ok("list").out
    assert repo.ok("read", "_notes").out
    repo.ok("note", "x", *CODEX)
    assert "_notes" in repo.ok("list").out
    assert texts(repo) == ["x"]


def test_the_rules_of_a_repository_are_not_about_notes(repo: Here) -> None:
    repo.ok("config", "set", "rules.title", "fix: *")
    repo.ok("note", "x", *CODEX)
    assert texts(repo) == ["x"]


def test_the_brief_and_the_prompt_tell_of_an_overlap_once(repo: Here) -> None:
    repo.ok("claim", "src/auth.py", *CODEX)
    repo.ok("note", "the form", "--scope", "src", "--intent", "refactor", *GEMINI)
    brief = repo.ok("brief", *CODEX).out
    assert "Others are working on files you change (see: wc worktrees):" in brief
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


def test_a_note_comes_to_the_other_clone(clones: Clones) -> None:
    """With the threads, without a path of the machine, and it wakes nobody there."""
    scope = str(clones.pat.path / "src")
    clones.pat.ok("note", "the form", "--scope", scope, *CODEX)
    clones.sam.ok("note", "sam's", *GEMINI)
    clones.pat.ok("sync")
    (row,) = (row for row in rows(clones.sam) if row["note"] == "the form")
    assert (row["agent"], row["elsewhere"], row["mine"]) == ("Codex (Pat)", True, False)
    assert sorted(texts(clones.pat)) == sorted(texts(clones.sam))
    log = Path(Layout(str(clones.sam.store)).log("_notes")).read_text()
    assert str(clones.pat.path) not in log
    assert [one["topic"] for one in clones.sam.json("list")["threads"]] == ["auth"]
    clones.pat.ok("note", "--clear", *CODEX)
    clones.sam.ok("sync")
    assert texts(clones.sam) == ["sam's"]
