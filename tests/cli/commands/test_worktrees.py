"""``wc worktrees`` and ``wc note``."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine, Repo

LOOP = {
    "change": "login",
    "task": "Log in with a passkey",
    "status": "waiting:human",
    "current_iteration": 3,
    "max_iterations": 10,
}


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def put(repo: Repo, name: str, value: Any, *, ago: float = 0) -> None:
    path = repo.path / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    if ago:
        os.utime(path, (time.time() - ago, time.time() - ago))


@pytest.fixture
def login(repo: Here) -> Here:
    """A linked worktree with a thread of its branch and one of its change."""
    login = repo.worktree("app-wt-login", "fix/login")
    login.ok("new", "login", "--title", "T", "--to", "Codex", "--force")
    login.ok("new", "review", "--title", "T", "--status", "IN_REVIEW")
    login.ok("new", "over", "--title", "T")
    login.ok("set-status", "over", "CLOSED")
    repo.ok("new", "other", "--title", "T")
    return login


def topics_by_worktree(seen: dict[str, Any]) -> dict[str, list[str]]:
    return {
        tree["name"]: sorted(thread["topic"] for thread in tree["threads"])
        for tree in seen["worktrees"]
    }


def test_balls_are_in_the_worktree_of_their_holder(repo: Here) -> None:
    repo.worktree("app-wt-review", "feature/review")
    for topic, to in (
        ("one", "Codex@review (Pat)"),
        ("two", "Codex@review"),
        ("three", "Codex@review.3f2a1b (Pat)"),
        ("four", "Codex (Pat)"),
    ):
        repo.ok("new", topic, "--title", "T", "--to", to, "--force")
    expected = {
        "main": ["four", "one", "three", "two"],
        "review": ["one", "three", "two"],
    }
    assert topics_by_worktree(repo.json("worktrees")) == expected


def test_balls_at_a_seat_with_its_own_name_are_with_the_viewer(repo: Here) -> None:
    login = repo.worktree("login", "login")
    repo.ok("new", "one", "--title", "T", "--to", "Codex@left (Pat)", "--force")
    env = {"WATERCOOLER_AGENT": "Codex", "WATERCOOLER_SEAT": "left"}
    seen = json.loads(login.ok("worktrees", "--json", env=env).out)
    assert topics_by_worktree(seen) == {"main": ["one"], "login": ["one"]}
    seen = login.json("worktrees")
    assert topics_by_worktree(seen) == {"main": ["one"], "login": []}


def test_a_rebase_leaves_threads_in_their_worktree(repo: Here) -> None:
    login = repo.worktree("login", "topic/x")
    login.ok("new", "one", "--title", "T")
    gitdir = repo.path / ".git/worktrees/login"
    (gitdir / "HEAD").write_text(f"{repo.git('rev-parse', 'HEAD')}\n")
    (gitdir / "rebase-merge").mkdir()
    (gitdir / "rebase-merge/head-name").write_text("refs/heads/topic/x\n")
    assert topics_by_worktree(login.json("worktrees"))["login"] == ["one"]


def undated(text: str) -> str:
    return re.sub(r"\b(just now|\d+[mh] ago)", "AGO", text)


def test_what_goes_on_in_each_worktree(repo: Here, login: Here) -> None:
    put(login, "loop-state.json", LOOP)
    put(login, "activity.json", {"skill": "apply", "skill_args": "x"}, ago=400)
    assert login.ok("note", "reading").out == "noted for 30m: reading\n"
    repo.git("worktree", "add", "-q", "--detach", "../lost")
    commit = repo.git("rev-parse", "HEAD")[:12]
    shown = undated(repo.ok("worktrees").out)
    assert shown.replace(str(repo.path.parent), "/home") == (
        "> main = yours | branch main | main worktree | /home/app | changed AGO\n"
        "    thread other: OPEN, ball: you\n"
        "  login | branch fix/login | /home/app-wt-login | changed AGO\n"
        "    loop: waits for a human | 3/10 | AGO | task: Log in with a passkey\n"
        "    note: Pat, AGO: reading\n"
        "    activity: apply x | old, AGO\n"
        "    thread review: IN_REVIEW, ball: you\n"
        "    thread login: OPEN, ball: Codex\n"
        f"  lost | at {commit} | /home/lost | changed AGO\n"
    )
    found = repo.json("worktrees")
    assert found["store"].endswith(repo.store.name)
    first, second, _ = found["worktrees"]
    assert (first["here"], first["main"]) == (True, True)
    assert [one["topic"] for one in first["threads"]] == ["other"]
    assert second["threads"] == [
        {"topic": "review", "status": "IN_REVIEW", "ball": "Pat", "have_ball": True},
        {"topic": "login", "status": "OPEN", "ball": "Codex", "have_ball": False},
    ]
    assert second["loop"]["waits_for_human"]
    assert second["activity"]["stale"]
    assert second["presence"][0]["note"] == "reading"
    assert second["change_id"] == "login"
    assert login.json("worktrees")["worktrees"][0]["name"] == "login"


def test_the_store_s_own_worktree_is_left_out(repo: Here) -> None:
    repo.ok("init")
    for where in (repo.path, repo.store):
        (only,) = repo.json("worktrees", cwd=where)["worktrees"]
        assert only["name"] == "main"


def test_one_that_cannot_be_read_hides_no_other(repo: Here, login: Here) -> None:
    put(repo, "loop-state.json", LOOP)
    put(login, "loop-state.json", LOOP)
    (login.path / ".claude/loop-state.json").write_bytes(b'{"status": "ru')
    main, torn = repo.json("worktrees")["worktrees"]
    assert main["loop"]["status"] == "waiting:human"
    assert torn["loop"]["problem"] == "is being rewritten right now"
    assert "status" not in torn["loop"]
    assert "its state is being rewritten right now" in repo.ok("worktrees").out
    # Neither does a store that cannot be used.
    (repo.store / ".git").write_text("gitdir: /elsewhere\n")
    done = repo.ok("worktrees", "--json")
    assert "threads left out: " in done.err
    assert done.json["store"] is None
    assert [one["name"] for one in done.json["worktrees"]] == ["main", "login"]
    assert done.json["worktrees"][0]["loop"]["waits_for_human"]


def test_without_a_store_loops_are_seen_all_the_same(repo: Here) -> None:
    put(repo, "loop-state.json", LOOP)
    (only,) = repo.json("worktrees")["worktrees"]
    assert only["loop"]["says"] == "waits for a human"
    assert not (repo.machine.home / ".watercooler").exists()


def test_outside_git_there_is_one_place(repo: Here) -> None:
    plain = Here(repo.machine, repo.machine.folder("plain").path)
    done = plain.ok("worktrees")
    assert (done.out, "no git repository" in done.err) == ("", True)
    plain.ok("note", "thinking")
    (plain.path / "sub").mkdir()
    (only,) = plain.json("worktrees", cwd="sub")["worktrees"]
    assert (only["path"], only["presence"][0]["note"]) == (str(plain.path), "thinking")


def test_a_note_is_one_s_own_in_a_worktree(repo: Here) -> None:
    fix = repo.worktree("fix")
    said = repo.json("note", "reading", "--for", "2h")
    assert {key: said[key] for key in ("worktree", "agent", "note")} == {
        "worktree": str(repo.path),
        "agent": "Pat",
        "note": "reading",
    }
    fix.ok("note", "idle")
    repo.ok("note", "testing", "--as", "Codex")
    assert repo.ok("note").out == "Pat: reading, just now\n"
    assert fix.json("note")["note"] == "idle"
    assert repo.json("note", "--as", "Zed")["note"] is None
    main, other = repo.json("worktrees")["worktrees"]
    assert sorted(one["agent"] for one in main["presence"]) == ["Codex (Pat)", "Pat"]
    assert [one["note"] for one in other["presence"]] == ["idle"]
    assert repo.ok("note", "--clear").out == "Note removed.\n"
    assert repo.json("note", "--clear")["cleared"] is False
    main, other = repo.json("worktrees")["worktrees"]
    assert [one["agent"] for one in main["presence"]] == ["Codex (Pat)"]
    assert other["presence"]


def test_a_note_goes_when_it_is_over(repo: Here) -> None:
    repo.settled("note", "short", "--for", "1s")
    time.sleep(1.1)
    assert "presence" not in repo.json("worktrees")["worktrees"][0]


def test_what_is_no_note_is_refused(repo: Here) -> None:
    for words, hint in (
        (("x", "--for", "long"), "Write 90m, 3h or 2d, at most 7d."),
        (("x", "--for", "8d"), "at most 7d"),
        (("x", "--for", "0m"), "at most 7d"),
        (("two\nlines",), "Use one line."),
        (("x" * 600,), "500 bytes.\n    Use fewer words."),
    ):
        assert hint in repo.fails(2, "note", *words)


def test_nothing_a_terminal_obeys_gets_out(repo: Here, login: Here) -> None:
    evil = "a\x1b]0;x\x07b\r\nc\u202ed"
    put(login, "loop-state.json", dict.fromkeys([*LOOP, "stall_reason"], evil))
    put(login, "activity.json", {"skill": evil, "broadcast": [evil]})
    for words in (("worktrees",), ("worktrees", "--json")):
        out = repo.ok(*words).out
        assert not set(out) & set("\x1b\x07\r\u202e")
    assert len(repo.ok("worktrees").out.splitlines()) == 7
