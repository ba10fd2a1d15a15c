"""Renaming and tagging threads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo


def topics(repo: Repo, *words: str) -> list[str]:
    return [row["topic"] for row in repo.json("list", *words)["threads"]]


# --- names --------------------------------------------------------------------


@pytest.fixture
def renamed(repo: Repo) -> Repo:
    """A thread that is stored as login, and called sign-in."""
    repo.ok("new", "login", "--title", "Log in", "--body", "With a passkey.")
    repo.ok("new", "other", "--title", "Other", "--to", "anyone")
    repo.ok("rename", "login", "Sign-In")
    return repo


def test_every_reader_shows_the_new_name(renamed: Repo) -> None:
    renamed.ok("say", "login", "--title", "More", "--to", "me")
    for words in (
        ("list",),
        ("brief",),
        ("read", "login", "--peek"),
        ("updates",),
        ("search", "passkey"),
        ("board", "--once"),
        ("stats", "login"),
        ("stats",),
        ("statusline",),
        ("read", "login", "--seen"),
    ):
        out = renamed.ok(*words).out
        assert "sign-in" in out, words
        assert "login" not in out, words
    for words in (("list",), ("brief",), ("board", "--once"), ("read", "login")):
        found = json.dumps(renamed.json(*words))
        assert '"sign-in"' in found, words
        assert '"login"' not in found, words


def test_every_name_works_wherever_a_topic_does(renamed: Repo) -> None:
    for name in ("login", "sign-in", "SIGN-IN"):
        receipt = renamed.json("ack", name, "--title", "x")
        assert receipt["topic"] == "sign-in"
        for words in (
            ("read", name, "--peek"),
            ("read", name, "--commits"),
            ("stats", name),
            ("read", name, "--seen"),
            ("wait", name, "--timeout", "0", "--peek"),
        ):
            renamed.ok(*words)
    assert len(renamed.entries("login")) == 5
    assert renamed.fails(3, "read", "sing-in").count("Did you mean: sign-in?") == 1


def test_a_name_that_is_taken(renamed: Repo) -> None:
    for old, new in (("other", "login"), ("other", "sign-in"), ("login", "other")):
        assert f"There is already a thread {new}" in renamed.fails(
            4, "rename", old, new
        )
    assert "is already its name" in renamed.fails(4, "rename", "login", "sign-in")
    for name in ("login", "sign-in"):
        error = renamed.fails(4, "new", name, "--title", "x")
        assert "There is already a thread sign-in" in error
    assert "cannot be a topic" in renamed.fails(2, "rename", "login", "a b")
    error = renamed.fails(3, "say", "sing-in", "--title", "x")
    assert 'there is "sign-in"' in error


def test_neither_ball_nor_status_moves(renamed: Repo) -> None:
    (row,) = [row for row in renamed.json("list")["threads"] if row["have_ball"]]
    assert (row["topic"], row["ball"], row["status"]) == ("sign-in", "Pat", "OPEN")
    entry = renamed.entries("login")[-1]
    assert (entry["action"], entry["new_topic"]) == ("rename", "sign-in")
    assert "ball" not in entry


def test_a_closed_thread_of_someone_else_can_be_renamed(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Log in", "--as", "Codex")
    repo.ok("done", "login", "--title", "Done", "--as", "Codex")
    assert repo.json("rename", "login", "sign-in")["status"] == "CLOSED"


def test_search_by_name(renamed: Repo) -> None:
    for name in ("login", "sign-in"):
        hits = renamed.json("search", f"topic:{name}", "passkey", "--all")["hits"]
        assert [hit["topic"] for hit in hits] == ["sign-in"]


def test_a_store_that_an_older_wc_made_gets_its_index(renamed: Repo) -> None:
    index = renamed.store / ".local/names"
    (index / "=complete").unlink()
    (index / "sign-in/login").unlink()
    assert renamed.json("read", "sign-in", "--peek")["topic"] == "sign-in"
    renamed.ok("new", "third", "--title", "Third")
    assert (index / "=complete").is_file()
    assert (index / "sign-in/login").is_file()


def test_doctor_repairs_the_index(renamed: Repo) -> None:
    renamed.settled("ack", "other")
    alias = renamed.store / ".local/names/sign-in/login"
    alias.unlink()
    assert "lacks a name of login" in renamed.wc("doctor").out
    renamed.ok("doctor", "--repair")
    assert alias.is_file()


# --- two clones ---------------------------------------------------------------


@pytest.fixture
def clones(repo: Repo) -> tuple[Repo, Repo]:
    """Two clones with one remote that has the thread login."""
    machine = repo.machine
    remote = machine.root / "remote.git"
    machine.git("init", "-q", "--bare", str(remote), cwd=machine.root)
    repo.git("remote", "add", "origin", str(remote))
    repo.git("push", "-q", "origin", "HEAD")
    repo.ok("new", "login", "--title", "Log in")
    repo.ok("sync")
    other = machine.repo("other")
    other.git("remote", "add", "origin", str(remote))
    other.ok("sync")
    return repo, other


def exchange(*repos: Repo) -> None:
    for repo in (*repos, *repos):
        repo.ok("sync")


def test_the_later_of_two_names_wins_and_both_work(clones: tuple[Repo, Repo]) -> None:
    first, second = clones
    first.ok("rename", "login", "sign-in")
    second.ok("rename", "login", "sign-on")
    exchange(*clones)
    for repo in clones:
        assert topics(repo) == ["sign-on"]
        for name in ("login", "sign-in", "sign-on"):
            assert repo.json("read", name, "--peek")["topic"] == "sign-on"
        assert (repo.store / ".local/names/sign-in/login").is_file()


def test_a_topic_wins_over_a_later_name(clones: tuple[Repo, Repo]) -> None:
    first, second = clones
    first.ok("rename", "login", "sign-in")
    first.ok("rename", "sign-in", "passkeys")
    second.ok("new", "passkeys", "--title", "Another thread")
    exchange(*clones)
    for repo in clones:
        assert sorted(topics(repo)) == ["passkeys", "sign-in"]
        assert repo.json("read", "passkeys", "--peek")["title"] == "Another thread"
        assert repo.json("read", "sign-in", "--peek")["title"] == "Log in"
        doctor = repo.wc("doctor").out
        assert "was renamed to passkeys, the name of another thread" in doctor
        assert "wc rename sign-in NAME" in doctor
    first.ok("rename", "sign-in", "keys")
    assert "renamed" not in first.ok("doctor").out


# --- tags ---------------------------------------------------------------------


def test_tags_come_and_go(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Log in")
    repo.ok("tag", "login", "+Urgent", "later")
    repo.ok("tag", "login", "-later", "auth")
    assert repo.json("list")["threads"][0]["tags"] == ["auth", "urgent"]
    assert repo.json("read", "login", "--peek")["tags"] == ["auth", "urgent"]
    entry = repo.json("read", "login", "--peek")["entries"][-1]
    assert (entry["tags_added"], entry["tags_removed"]) == (["auth"], ["later"])
    assert entry["title"] == "Tags: +auth -later"
    assert "Log in +auth +urgent" in repo.ok("list").out
    assert "· +auth · +urgent" in repo.ok("read", "login", "--peek").out


def test_filters(repo: Repo) -> None:
    for topic, *tags in (("a", "x", "y"), ("b", "x"), ("c", "xx")):
        repo.ok("new", topic, "--title", f"The {topic}", "--body", "word")
        repo.ok("tag", topic, *tags)
    assert sorted(topics(repo, "--tag", "x")) == ["a", "b"]
    assert topics(repo, "--tag", "X", "--tag", "+y") == ["a"]
    assert topics(repo, "--tag", "no") == []
    hits = repo.json("search", "word", "--tag", "y")["hits"]
    assert [hit["topic"] for hit in hits] == ["a"]
    columns = repo.json("board", "--filter", "+x the")["columns"]
    cards = [card["topic"] for column in columns for card in column["threads"]]
    assert sorted(cards) == ["a", "b"]
    assert "No thread matches." in repo.ok("list", "--tag", "no").err
    more = repo.ok("list", "--tag", "x", "--limit", "1").err
    assert "wc list --tag x --limit 1 --cursor" in more


def test_wrong_input(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Log in")
    repo.ok("tag", "login", "x")
    assert "already has that; its tags: x" in repo.fails(4, "tag", "login", "+x")
    assert "has no tag 'y'; its tags: x" in repo.fails(4, "tag", "login", "-y")
    assert "cannot be a tag" in repo.fails(2, "tag", "login", "a b")
    assert "No such option: --y" in repo.fails(2, "tag", "login", "--y")
    assert "no thread" in repo.fails(3, "tag", "nope", "x")
    assert len(repo.entries("login")) == 2


def test_tags_of_an_older_tool(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "Log in")
    annotation = {
        "id": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "target_id": "login",
        "target_type": "thread",
        "kind": "tag",
        "value": "onboarding",
    }
    file = repo.log("login").parent / "annotations.jsonl"
    file.write_text(f"{json.dumps(annotation)}\n")
    before = file.read_bytes()
    assert topics(repo, "--tag", "onboarding") == ["login"]
    # An entry takes them into the log; the other tool's file stays as it is.
    file.write_text(before.decode().replace("7ZZZ", "0000"))
    repo.ok("tag", "login", "+auth")
    assert repo.entries("login")[-1]["tags_added"] == ["auth", "onboarding"]
    repo.ok("tag", "login", "-onboarding")
    assert repo.json("list")["threads"][0]["tags"] == ["auth"]
    repo.settled("ack", "login")
    assert "Nothing is wrong." in repo.ok("doctor").out


def test_without_tags_a_thread_shows_its_own(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "Log in")
    assert repo.ok("tag", "login").err == (
        "login has no tags. Add one: wc tag login TAG\n"
    )
    repo.ok("tag", "login", "small", "urgent")
    assert repo.ok("tag", "login").out == "+small +urgent\n"
    assert repo.json("tag", "login")["tags"] == ["small", "urgent"]
    assert len(repo.entries("login")) == 2
