"""Amending and retracting: what readers show of it, and what the log keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from wc_core.ledger.threads.pages import page

if TYPE_CHECKING:
    from tests.conftest import Repo

CLAUDE = {"WATERCOOLER_AGENT": "Claude Code"}
OLD, NEW = "Tokens live an horu", "Tokens live an hour"


@pytest.fixture
def amended(repo: Repo) -> Repo:
    """A thread whose second entry was amended, and its third retracted."""
    repo.ok("new", "login", "--title", "Login", "--body", "How long?")
    repo.ok("say", "login", "--title", OLD, "--body", "Wrong: the horu.")
    repo.ok("amend", "login", "--title", NEW)
    repo.ok("amend", "login", "--body", "Right: the hour.")
    repo.ok("ack", "login", "--title", "A secret", "--body", "hunter2 in notes.txt")
    repo.ok("retract", "login")
    repo.ok("ack", "login", "--title", "Last", "--as", "Codex")
    return repo


def titles(repo: Repo, *words: str) -> list[tuple[int, str]]:
    entries = repo.json("read", "login", "--peek", *words)["entries"]
    return [(entry["idx"], entry["title"]) for entry in entries]


def test_readers_show_the_latest_text_in_its_place(amended: Repo) -> None:
    entries = amended.json("read", "login", "--peek")["entries"]
    assert [entry["idx"] for entry in entries] == [0, 1, 4, 6]
    _, second, hole, _ = entries
    assert (second["title"], second["body"]) == (NEW, "Right: the hour.")
    assert second["amended"] is True
    assert (hole["title"], hole["body"]) == ("(retracted)", "")
    assert hole["retracted"] is True
    assert "retracted" not in second
    text = amended.ok("read", "login", "--peek").out
    assert "· amended ·" in text
    assert "· retracted ·" in text
    assert "horu" not in text
    assert "hunter2" not in text


def test_the_history_shows_every_text(amended: Repo) -> None:
    assert titles(amended, "--history") == [
        (0, "Login"),
        (1, OLD),
        (2, NEW),
        (3, NEW),
        (4, "A secret"),
        (5, "Retracted #4"),
        (6, "Last"),
    ]
    entries = amended.json("read", "login", "--peek", "--history")["entries"]
    assert entries[1]["amended"] is True
    assert entries[2]["supersedes"] == entries[3]["supersedes"] == entries[1]["id"]
    assert "hunter2" in amended.ok("read", "login", "--peek", "--history").out


def test_a_body_is_emptied_or_kept(repo: Repo) -> None:
    repo.ok("say", "login", "--title", "One", "--body", "Text", "--new")

    def latest() -> tuple[str, str]:
        entry = repo.json("read", "login", "--peek")["entries"][-1]
        return entry["title"], entry["body"]

    repo.ok("amend", "login", "--title", "Two")
    assert latest() == ("Two", "Text")
    repo.ok("amend", "login", "--body", "")
    assert latest() == ("Two", "")
    repo.ok("amend", "login", "--body", "-", feed=b"More")
    assert latest() == ("Two", "More")
    repo.ok("amend", "login", "--title", "Three", "--body", "-", feed=b"")
    assert latest() == ("Three", "")


def test_the_log_keeps_every_byte(amended: Repo) -> None:
    entries = amended.entries("login")
    assert [entry["action"] for entry in entries] == [
        *("new", "say", "amend", "amend", "ack", "retract", "ack")
    ]
    assert entries[1]["title"] == OLD
    assert entries[4]["body"] == "hunter2 in notes.txt"
    assert entries[3]["body"] == "Right: the hour."


def test_neither_ball_nor_status_moves(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login", "--to", "anyone", "--as", "Codex")
    repo.ok("ack", "login", "--title", "Hm")
    before = repo.json("read", "login", "--peek")
    receipt = repo.json("amend", "login", "--title", "Hmm")
    assert receipt["ball"] is receipt["previous_ball"] is None
    after = repo.json("read", "login", "--peek")
    assert {**before, "entries": 0} == {**after, "entries": 0}


def test_search_finds_the_latest_text_only(amended: Repo) -> None:
    def found(*words: str) -> list[int]:
        return [hit["idx"] for hit in amended.json("search", *words)["hits"]]

    assert found("hour") == [1]
    assert found("horu") == found("hunter2") == found("retracted") == []
    assert found("--file", "notes.txt") == []
    (hit,) = amended.json("search", "hour")["hits"]
    assert hit["amended"] is True


def test_an_amendment_is_news(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login", "--to", "Codex", "--force")
    since = repo.ok("read", "login", "--as", "Codex", "--json").json["entries"][0]["id"]
    repo.ok("amend", "login", "--title", "Log in")
    for command in (("read", "login", "--new"), ("updates", "--since", since)):
        (entry,) = repo.json(*command, "--as", "Codex")["entries"]
        assert (entry["idx"], entry["title"], entry["amended"]) == (0, "Log in", True)


def test_every_reader_shows_the_title_of_an_amended_thread(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Logn", "--to", "me")
    repo.ok("amend", "login", "--title", "Login works")
    for words in (
        ("list",),
        ("brief",),
        ("read", "login", "--peek"),
        ("updates",),
        ("board", "--once"),
        ("stats",),
        ("reindex",),
    ):
        out = repo.ok(*words).out
        assert "Logn" not in out, words
    assert repo.json("list")["threads"][0]["title"] == "Login works"


def test_the_page_shows_the_latest_text_and_parses_back(amended: Repo) -> None:
    amended.settled("ack", "login", "--title", "x")
    data = (amended.store / "threads/login.md").read_bytes()
    visible = [
        line for line in data.decode().split("\n") if not line.startswith("<!--")
    ]
    assert f"Title: {NEW} (amended)" in visible
    assert "Title: (retracted)" in visible
    assert "Title: (amend of #1)" in visible
    assert not [line for line in visible if "horu" in line or "hunter2" in line]
    parsed = page.parse("login", data)
    assert parsed.damage == ()
    assert [entry.body for entry in parsed.entries][:5] == [
        *("How long?", "Wrong: the horu.", "Wrong: the horu."),
        *("Right: the hour.", "hunter2 in notes.txt"),
    ]


def test_only_the_author_of_the_last_entry_may(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login", "--to", "Codex", "--force")
    repo.ok("ack", "login", "--title", "Seen", env=CLAUDE)
    for command in (("amend", "login", "--title", "x"), ("retract", "login")):
        error = repo.fails(4, *command)
        assert "is by Claude Code (Pat), not by you" in error
        assert "wc say login -m '…'" in error
    assert len(repo.entries("login")) == 2
    repo.ok("amend", "login", "--title", "x", env=CLAUDE)


def test_a_forged_amendment_is_an_entry_of_its_own(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login")
    log = repo.log("login")
    (line,) = repo.entries("login")
    forged = line | {
        "entry_id": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "agent": "Codex (Pat)",
        "title": "Forged",
        "action": "amend",
        "supersedes": line["entry_id"],
        "parents": [line["entry_id"]],
    }
    log.write_text(f"{log.read_text()}{json.dumps(forged, separators=(',', ':'))}\n")
    assert titles(repo) == [(0, "Login"), (1, "Forged")]
    assert repo.json("read", "login", "--peek")["title"] == "Login"


def test_a_closed_thread_can_be_corrected(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login")
    repo.ok("done", "login", "--title", "Al done")
    assert repo.json("amend", "login", "--title", "All done")["status"] == "CLOSED"


def test_wrong_input(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login", "--body", "b")
    assert "No title was given" in repo.fails(2, "amend", "login")
    assert "already has that text" in repo.fails(4, "amend", "login", "--body", "b")
    assert "no thread" in repo.fails(3, "amend", "nope", "--title", "x")
    assert "no thread" in repo.fails(3, "retract", "nope")
    repo.ok("retract", "login")
    assert "already retracted" in repo.fails(4, "retract", "login")


def test_a_key_makes_it_idempotent(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Login")
    first = repo.json("retract", "login", "--key", "k")
    again = repo.json("retract", "login", "--key", "k")
    assert again["entry_id"] == first["entry_id"]
    assert len(repo.entries("login")) == 2
