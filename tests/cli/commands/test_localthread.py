"""Commands without a topic: the only thread that is open in this worktree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

SCRIPT = Path(__file__).resolve().parents[3] / "bin" / "wc-statusline"


@pytest.fixture
def login(repo: Repo) -> Repo:
    """A worktree with one open thread, on the branch ``login``; another thread is on
    the branch of the repository."""
    repo.ok("new", "docs", "--title", "Write it")
    worktree = repo.worktree("app-login", "login")
    worktree.ok("new", "login", "--title", "Log in", "--to", "Codex", "--force")
    return worktree


def prompt(repo: Repo) -> str:
    return repo.machine.run([str(SCRIPT)], repo.path).out.strip()


WITHOUT_TOPIC = {
    "say": ["say", "--title", "x"],
    "ack": ["ack"],
    "done": ["done", "--title", "x"],
    "take": ["take", "--reason", "stuck"],
    "handoff": ["handoff", "--to", "me", "--reason", "mine"],
    "set-status": ["set-status", "BLOCKED"],
}


@pytest.mark.parametrize("name", WITHOUT_TOPIC)
def test_a_write_takes_the_thread_of_the_worktree(login: Repo, name: str) -> None:
    said = login.ok(*WITHOUT_TOPIC[name]).out
    assert said.startswith("login: saved #1 ·"), said
    assert len(login.entries("login")) == 2
    assert len(login.entries("docs")) == 1


@pytest.mark.parametrize("name", ["read", "stats"])
def test_a_reader_takes_the_thread_of_the_worktree(login: Repo, name: str) -> None:
    assert login.ok(name).out.startswith("login: Log in\n")


def test_a_review_takes_the_thread_of_the_worktree(login: Repo) -> None:
    (login.path / "code.txt").write_text("passkeys\n")
    assert "login: from " in login.ok("review").err
    (login.path / "code.txt").write_text("code\n")
    assert login.ok("review").err.startswith("login: Nothing changed ")


def test_a_missing_status_is_answered_with_those_that_exist(login: Repo) -> None:
    assert "Use OPEN, IN_REVIEW, " in login.fails(2, "set-status")


def test_with_a_topic_the_receipt_is_as_before(login: Repo) -> None:
    assert login.ok("ack", "login").out.startswith("saved login #1 ·")


def test_stats_of_all_need_no_topic(login: Repo) -> None:
    assert login.ok("stats", "--all").out.startswith("2 threads: 2 OPEN\n")
    assert login.json("stats")["threads"]["total"] == 2
    assert "Use one of them" in login.fails(2, "stats", "login", "--all")
    login.ok("new", "login-ui", "--title", "x", "--branch", "login", "--to", "Codex")
    assert login.ok("stats").out.startswith("3 threads: 3 OPEN\n")


@pytest.mark.parametrize("holder", ["Codex", "Pat"])
def test_of_several_threads_none_is_taken(login: Repo, holder: str) -> None:
    """Not of those of others, and not of several of my own: the prompt ends in +1."""
    login.ok("close", "login")
    for topic in ("form", "page"):
        login.ok("new", topic, "--title", "x", "--branch", "login", "--to", holder)
    assert " · +1" in prompt(login)
    for words in WITHOUT_TOPIC.values():
        error = login.fails(2, *words)
        assert f"2 threads are open here: form ({holder}), page ({holder})." in error
        assert "wc use TOPIC" in error
        assert len(login.entries("form")) == len(login.entries("page")) == 1


@pytest.mark.parametrize("name", ["say", "done", "ack", "set-status"])
def test_of_several_threads_the_only_one_of_mine_is_taken(
    login: Repo, name: str
) -> None:
    login.ok("new", "login-ui", "--title", "x", "--branch", "login")
    assert prompt(login) == "🎾 you · login-ui · 1 elsewhere"
    assert login.ok("use").out == (
        "this worktree uses login-ui (the only one here whose ball you have)\n"
    )
    assert login.ok("whose").out.startswith("login-ui: your move")
    assert login.ok("stats").out.startswith("login-ui: x\n")
    assert login.ok(*WITHOUT_TOPIC[name]).out.startswith("login-ui: saved #1 ·")
    assert len(login.entries("login")) == 1


def test_a_thread_of_mine_that_waits_is_not_taken(login: Repo) -> None:
    """The prompt names none that waits for others while another one is open."""
    login.ok(
        "new", "login-ui", "--title", "x", "--branch", "login", "--blocked-by", "docs"
    )
    assert "elsewhere · Codex has the ball · login · +1" in prompt(login)
    assert "2 threads are open here" in login.fails(2, "say", "-m", "x")


def test_without_a_thread_here_nothing_is_written(login: Repo) -> None:
    other = login.worktree("app-other", "other")
    assert prompt(other) != prompt(login)
    error = other.fails(3, "say", "--title", "x")
    assert "No open thread belongs to this worktree." in error
    assert "wc use TOPIC" in error
    assert len(login.entries("docs")) == len(login.entries("login")) == 1


def test_outside_of_git_it_does_not_propose_a_choice(machine: Machine) -> None:
    folder = machine.folder("notes")
    assert "Start one with: wc new" in folder.fails(3, "read")
    folder.ok("new", "notes", "-m", "x")
    error = folder.fails(3, "read")
    assert "not in a git worktree" in error
    assert "wc use" not in error
    assert "List them with: wc list" in error


def test_without_any_thread_it_says_how_to_start_one(repo: Repo) -> None:
    repo.ok("init")
    error = repo.fails(3, "say", "-m", "x")
    assert "Start one with: wc new TOPIC -m '…'" in error


def test_a_closed_thread_is_not_taken(login: Repo) -> None:
    login.ok("set-status", "CLOSED", "--reason", "x")
    assert "No open thread" in login.fails(3, "say", "--title", "x")


def test_whoever_speaks_the_thread_is_the_one_at_the_prompt(login: Repo) -> None:
    # Its ball would be here for Codex at the seat ``docs``.
    login.ok("say", "docs", "--title", "x", "--to", "Codex@docs", "--force")
    said = login.ok("ack", "--as", "Codex", "--seat", "docs").out
    assert said.startswith("login: saved ")


def test_a_text_is_not_taken_for_a_topic(login: Repo) -> None:
    error = login.fails(2, "say", "fixed the test", "--body", "…")
    assert "-m 'fixed the test'" in error
    login.ok("say", "fixed the test")
    assert [entry["title"] for entry in login.entries("login")][1:] == [
        "fixed the test"
    ]
    error = login.fails(2, "set-status", "fixed the test")
    assert "status" in error


def test_an_empty_topic_is_a_mistake(login: Repo) -> None:
    for name in ("say", "done", "ack", "take", "read", "stats"):
        more = ["--title", "x"] if name in {"say", "done"} else []
        assert login.wc(name, "", *more).code in {2, 3}
        assert login.wc("set-status", "", "BLOCKED").code in {2, 3}
        assert len(login.entries("login")) == 1


def test_set_status_needs_a_status(login: Repo) -> None:
    assert "status" in login.fails(2, "set-status")


# --- wc use -------------------------------------------------------------------------


def test_a_chosen_thread_is_the_one_of_the_worktree(repo: Repo, login: Repo) -> None:
    assert login.ok("use").out == (
        "this worktree uses login (the only one that is open here)\n"
    )
    assert login.ok("use", "docs").out == "this worktree now uses docs\n"
    assert prompt(login) == "🎾 you · docs" == login.ok("statusline").out.strip()
    assert login.ok("use").out == "this worktree uses docs (chosen with wc use)\n"
    assert login.ok("say", "--title", "x").out.startswith("docs: saved #1")
    assert login.json("use")["topic"] == "docs"
    # Nobody else's worktree changes, and nothing is committed.
    assert repo.worktree("app-other", "other").wc("say", "--title", "x").code == 3
    assert "login" not in prompt(repo)
    login.settled("ack")
    assert login.machine.git("status", "--short", cwd=login.store) == ""


def test_a_choice_is_shown_by_whoami_and_doctor(login: Repo) -> None:
    assert "thread:" not in login.ok("whoami").out
    assert "thread" not in login.json("whoami")
    login.ok("use", "docs")
    assert "thread: docs (chosen with wc use)\n" in login.ok("whoami").out
    assert login.json("whoami")["thread"] == "docs"
    note = "note: the thread of this worktree is docs (chosen with wc use)\n"
    assert note in login.wc("doctor").out
    login.ok("set-status", "docs", "CLOSED", "--reason", "x")
    for words in (["whoami"], ["doctor"]):
        text = login.wc(*words).out
        assert "docs (chosen with wc use, but no longer open; choose another:" in text


def test_a_choice_is_taken_back(login: Repo) -> None:
    before = prompt(login)
    login.ok("use", "docs")
    assert login.ok("use", "--none").out == "no thread is chosen here\n"
    assert prompt(login) == before
    assert login.ok("ack").out.startswith("login: saved")
    assert login.ok("use", "--none").out == "no thread is chosen here\n"


def test_a_chosen_thread_that_was_closed_is_named(login: Repo) -> None:
    login.ok("use", "docs")
    login.ok("set-status", "docs", "CLOSED", "--reason", "x")
    assert prompt(login) == "Codex has the ball · login"
    error = login.fails(3, "say", "--title", "x")
    assert "docs, is closed." in error
    assert "wc use --none" in error
    assert len(login.entries("login")) == 1
    assert "docs, is closed." in login.fails(3, "use")
    shutil.rmtree(login.log("docs").parent)
    assert "docs, no longer exists." in login.fails(3, "say", "--title", "x")


def test_a_closed_thread_cannot_be_chosen(login: Repo) -> None:
    login.ok("set-status", "docs", "CLOSED", "--reason", "x")
    assert "wc set-status docs OPEN" in login.fails(4, "use", "docs")


def test_a_choice_goes_with_its_worktree(repo: Repo, login: Repo) -> None:
    login.ok("use", "docs")
    repo.git("worktree", "remove", str(login.path))
    repo.git("worktree", "add", "-q", str(login.path), "login")
    assert prompt(login) == "🎾 1 for you elsewhere · Codex has the ball · login"
    assert login.ok("ack").out.startswith("login: saved")
    assert login.ok("use", "docs").out == "this worktree now uses docs\n"
    assert prompt(login) == "🎾 you · docs"


def test_what_use_refuses(login: Repo) -> None:
    assert "Use one of them" in login.fails(2, "use", "docs", "--none")
    assert "There is no thread" in login.fails(3, "use", "nothing")
    plain = login.machine.folder("plain")
    assert "not in a git worktree" in plain.fails(2, "use", "--none")


def test_a_choice_survives_a_repair(login: Repo) -> None:
    login.ok("use", "docs")
    login.ok("doctor", "--repair")
    assert prompt(login) == "🎾 you · docs"


# --- wc whose -----------------------------------------------------------------------


def test_whose_move_it_is(login: Repo) -> None:
    said = login.ok("whose").out
    assert said.startswith("login: Codex's move, since 20")
    assert said.endswith("Z\n")
    assert login.ok("whose", "docs").out.startswith("docs: your move, since 20")
    login.ok("set-status", "docs", "BLOCKED")
    assert login.ok("whose", "docs").out.startswith("docs: your move (BLOCKED), ")
    login.ok("set-status", "docs", "CLOSED")
    assert login.ok("whose", "docs").out.startswith("docs: closed, nobody's move, ")


def test_of_several_threads_each_has_a_line(login: Repo) -> None:
    login.ok("new", "form", "--title", "x", "--branch", "login", "--to", "Codex")
    first, form = login.ok("whose").out.splitlines()
    assert form.startswith("form: Codex's move, since 20")
    assert first.startswith("login: Codex's move, since 20")
    threads = login.json("whose")["threads"]
    assert [thread["topic"] for thread in threads] == ["login", "form"]
    assert {thread["ball"] for thread in threads} == {"Codex"}
    login.ok("take", "login", "--reason", "Mine now")
    assert login.ok("whose").out.startswith("login: your move, since 20")


def test_a_closed_thread_is_closed_since_it_was_closed(login: Repo) -> None:
    login.ok("close", "docs", "-m", "Written")
    closed_at = login.entries("docs")[-1]["timestamp"]
    login.ok("tag", "docs", "old")
    login.ok("rename", "docs", "manual")
    said = login.ok("whose", "manual").out
    assert said == f"manual: closed, nobody's move, since {closed_at}\n"
    assert login.json("whose", "manual")["since"] == closed_at


def test_whose_move_it_is_as_json(login: Repo) -> None:
    (entry,) = login.entries("docs")
    fields = login.json("whose", "docs")
    assert json.dumps(fields.pop("store"))
    assert fields == {
        "topic": "docs",
        "status": "OPEN",
        "ball": "Pat",
        "mine": True,
        "since": entry["timestamp"],
    }


# --- wc close -----------------------------------------------------------------------


def test_a_thread_is_closed_with_what_was_decided(repo: Repo) -> None:
    repo.ok("new", "docs", "-m", "Write it")
    said = repo.ok("close", "docs", "-m", "Done", "-m", "All.", "--decision", "In HTML")
    assert [line.partition(" ·")[0] for line in said.out.splitlines()] == [
        "saved docs #1",
        "saved docs #2",
    ]
    _, decision, closing = repo.entries("docs")
    assert decision["title"] == "In HTML"
    assert (closing["title"], closing["body"]) == ("Done", "All.")
    assert repo.json("read", "docs")["status"] == "CLOSED"
    assert "In HTML" in repo.ok("search", "--kind", "decision").out


def test_closing_needs_no_text_and_no_topic(login: Repo) -> None:
    error = login.fails(4, "close", "--as", "Cursor")
    assert "say why you close it: wc close login --reason '…'" in error
    said = login.ok("close", "--reason", "x").out
    assert said.startswith("login: saved #1")
    assert "CLOSED" in said


def test_both_receipts_begin_with_the_topic_that_was_left_out(login: Repo) -> None:
    said = login.ok("close", "-m", "x", "--decision", "y").out.splitlines()
    assert [line.partition(" ·")[0] for line in said] == [
        "login: saved #1",
        "login: saved #2",
    ]


def test_a_decision_is_not_kept_of_a_thread_that_cannot_be_closed(login: Repo) -> None:
    login.ok("close", "docs")
    words = ("close", "docs", "-m", "x", "--decision", "y")
    assert "docs is closed" in login.fails(4, *words)
    assert len(login.entries("docs")) == 2


def test_a_retry_of_closing_writes_nothing_twice(repo: Repo) -> None:
    repo.ok("new", "docs", "-m", "Write it")
    words = ("close", "docs", "--decision", "x", "-m", "y", "--key", "k")
    first = repo.json(*words)
    assert repo.json(*words)["entry_id"] == first["entry_id"]
    assert len(repo.entries("docs")) == 3


# --- wc open ------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "page"), [((), "login"), (("docs",), "docs")])
def test_open_serves_the_page_of_a_thread(
    login: Repo, words: tuple[str, ...], page: str
) -> None:
    command = ["timeout", "10", *login.machine.wc_words, "open", *words]
    browser = login.machine.root / "browser"
    note = login.machine.root / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" >{note}\nkill -INT $PPID\n')
    browser.chmod(0o755)
    done = login.machine.run(command, login.path, env={"BROWSER": str(browser)})
    assert "/open/" in note.read_text()
    assert done.out.rstrip().endswith(f"/threads/{page}"), done


def test_open_finds_the_thread_first(login: Repo) -> None:
    assert "There is no thread" in login.fails(3, "open", "nothing")
