"""What an approval is about: one commit, which the reviewer can have seen, and which
alone lands."""

from __future__ import annotations

import binascii
import json
import os
import pty
import select
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.cli.landing.story import (
    CODEX,
    approve,
    change,
    head,
    line_of,
    login,
    work,
)
from tests.contract.inprocess import Here
from wc_core.ledger.carry import carriers
from wc_core.ledger.threads.written import PERSON, digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine


def test_an_approval_names_the_commit_that_is_here(repo: Here) -> None:
    work(repo, "login", 3, approved=False)
    tip = head(repo, "login")
    message = repo.ok("say", "login", "--approve", "--to", "Pat").out
    assert f" · approved {tip[:10]} of branch login · " in message
    assert repo.entries("login")[-1]["approved_commit"] == tip
    assert repo.json("read", "login")["approved_commit"] == tip
    (row,) = repo.json("list")["threads"]
    assert (row["approved_commit"], row["ready_to_land"]) == (tip, True)
    again = repo.json("say", "login", "--approve", "--to", "Pat", "--key", "a")
    assert again["approved_commit"] == tip
    repo.ok("say", "login", "--request-changes", "-m", "No", "--to", "Pat")
    assert "approved_commit" not in repo.json("read", "login")


def test_a_thread_without_a_branch_of_its_own_gets_none(repo: Here) -> None:
    repo.ok("new", "talk", "-m", "Talk", "--to", "Pat", *CODEX)
    done = repo.ok("say", "talk", "--approve", "--to", "Pat")
    assert "approved" not in done.out + done.err
    assert "approved_commit" not in repo.entries("talk")[-1]
    repo.ok("move", "talk", "--branch", "elsewhere")
    done = repo.ok("say", "talk", "--approve", "--to", "Pat")
    assert "there is no branch elsewhere here, so this approval names no" in done.err


def test_exactly_the_approved_commit_lands(repo: Here) -> None:
    tree = login(repo)
    approved = head(repo, "login")
    change(tree, 9, "nine")
    change(tree, 12, "twelve")
    before = head(repo)
    done = repo.ok("land", "--all")
    assert done.out == ""
    assert "note: login: 2 commits since it was approved" in done.err
    (skipped,) = repo.json("land", "--all")["skipped"]
    assert skipped == {
        "topic": "login",
        "state": "skipped",
        "text": "2 commits since it was approved",
    }
    for words in ((), ("--yes",)):
        message = repo.fails(4, "land", "login", *words)
        assert "login cannot land: 2 commits since it was approved" in message
        assert f"wc land login --commit {approved[:9]}" in message
    assert head(repo) == before
    (row,) = repo.json("list")["threads"]
    assert "ready_to_land" not in row
    assert row["changed_since_approval"] is True
    assert "OPEN, approved, changed since" in repo.ok("list").out
    assert " · approved, changed since\n" in repo.ok("brief").out
    done = repo.ok("land", "login", "--commit", approved[:7], "--clean")
    assert "note: 2 later commits of login did not land" in done.err
    assert "login has commits that have not landed" in done.err
    assert (line_of(repo, 3), line_of(repo, 9)) == ("login", "9")
    assert repo.git("log", "-1", "--format=%P").split() == [before, approved]
    assert "Reviewed-by: Pat" in repo.git("log", "-1", "--format=%B")
    assert repo.entries("login")[-1]["landing"]["tip"] == approved
    assert tree.path.exists()
    assert "login has changed since" in repo.fails(4, "land", "login")
    repo.ok("say", "login", "--reopen", "-m", "More", "--to", "Pat")
    approve(repo)
    repo.ok("land", "login")
    assert (line_of(repo, 9), line_of(repo, 12)) == ("nine", "twelve")


def test_a_newer_commit_lands_if_it_is_named(repo: Here) -> None:
    tree = login(repo)
    change(tree, 9, "nine")
    named = head(repo, "login")
    change(tree, 12, "twelve")
    plan = repo.ok("land", "login", "--commit", named[:12], "--dry-run").out
    assert plan == f"1. login · 2 commits, without 1 since {named[:9]} · lands\n"
    repo.ok("land", "login", "--commit", named)
    assert (line_of(repo, 9), line_of(repo, 12)) == ("nine", "12")
    # Nobody has reviewed that one.
    assert "Reviewed-by" not in repo.git("log", "-1", "--format=%B")


def test_only_a_commit_of_the_branch_can_be_named(repo: Here) -> None:
    login(repo)
    before = head(repo)
    base = head(repo, "main")
    assert f"no commit {base[:9]}" in repo.fails(
        3, "land", "login", "--commit", base[:9]
    )
    assert "'abc' is not a commit" in repo.fails(2, "land", "login", "--commit", "abc")
    for words in (("--all",), ("--queue",), ("login", "other")):
        tip = head(repo, "login")
        assert "of one branch" in repo.fails(2, "land", *words, "--commit", tip)
    assert head(repo) == before


def test_what_was_rewritten_is_reviewed_again(repo: Here) -> None:
    tree = login(repo)
    approved, before = head(repo, "login"), head(repo)
    tree.git("commit", "-q", "--amend", "-m", "another")
    for words in ((), ("--commit", head(repo, "login"))):
        message = repo.fails(4, "land", "login", *words)
        assert f"login no longer has {approved[:9]}, which was approved" in message
        assert "wc review login" in message
    assert repo.ok("land", "--all").out == ""
    assert head(repo) == before
    approve(repo)
    repo.ok("land", "login")


def without_commit(repo: Here, topic: str) -> None:
    """Have an approval of a person name no commit, as one of a thread without a
    branch does."""
    log = repo.store / f"graph/baseline/threads/{topic}/entries.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for fields in lines:
        fields.pop("approved_commit", None)
    rows = [json.dumps(fields) for fields in lines]
    log.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    records = [f"{digest_of(row.encode())} {PERSON}\n" for row in rows]
    (repo.private / f"written/{topic}").write_text("".join(records))


def test_an_approval_without_a_commit_does_not_count(repo: Here) -> None:
    login(repo)
    without_commit(repo, "login")
    before = head(repo)
    for words in ((), ("--commit", head(repo, "login"))):
        message = repo.fails(4, "land", "login", *words)
        assert "its approval names no commit" in message
        assert "wc review login, then wc say login --approve" in message
    assert repo.ok("land", "--all").out == ""
    assert "ready to land" not in repo.ok("list").out
    assert head(repo) == before
    repo.ok("config", "set", "land.needs", "nothing")
    repo.ok("land", "login")
    assert "Reviewed-by" not in repo.git("log", "-1", "--format=%B")


def test_a_state_of_an_older_version_is_read_from_the_log(repo: Here) -> None:
    """It has no commit in its review, and a valid checksum."""
    login(repo)
    meta = repo.store / "graph/baseline/threads/login/meta.json"
    tip = head(repo, "login")
    text = meta.read_text("utf-8")
    head_text = text.rpartition(',"check":')[0]
    older = head_text.replace(f',0,"{tip}",""]', ",0]")
    assert older != head_text
    check = binascii.crc32(older.encode())
    meta.write_text(f'{older},"check":{check}}}\n}}\n', "utf-8")
    assert repo.json("read", "login")["approved_commit"] == tip
    repo.ok("land", "login")


def test_a_person_is_asked_about_newer_commits(repo: Here) -> None:
    tree = login(repo)
    change(tree, 9, "nine")
    for answer, code in ((b"n\n", 4), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            (*repo.machine.wc_words, "land", "login", "--yes"),
            cwd=repo.path, env=repo.machine.env,
            stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True,
        ) as process:  # fmt: skip
            question = b""
            while b"[y/N]" not in question:
                assert select.select([ours], [], [], amounts.patience(60))[0], question
                question += os.read(ours, 1 << 12)
            assert b"login: 1 commit since it was approved:\r\n  " in question
            assert b" nine in line 9\r\n" in question
            os.write(ours, answer)
            process.communicate(timeout=60)
        os.close(ours)
        os.close(theirs)
        assert process.returncode == code
    assert line_of(repo, 9) == "nine"


def test_what_review_showed_must_be_what_is_there(repo: Here) -> None:
    tree = work(repo, "login", 3, approved=False)
    repo.ok("review", "login")
    old = head(repo, "login")
    change(tree, 9, "nine")
    new = head(repo, "login")
    message = repo.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert (
        f"login is at {new[:10]} here, and wc review showed you {old[:10]}" in message
    )
    assert "wc review login" in message
    assert len(repo.entries("login")) == 1
    # Another participant has seen something else, or nothing.
    repo.ok("say", "login", "--approve", "--to", "Pat", "--as", "Sam")
    repo.ok("review", "login", "--stat")
    repo.ok("say", "login", "--approve", "--to", "Pat", "--key", "k")
    # It was written, whatever has come since.
    change(tree, 12, "twelve")
    receipt = repo.json("say", "login", "--approve", "--to", "Pat", "--key", "k")
    assert receipt["approved_commit"] == new


def test_what_was_amended_here_needs_no_other_entry(repo: Here) -> None:
    tree = work(repo, "login", 3, approved=False)
    tree.git("commit", "-q", "--amend", "-m", "another")
    repo.ok("review", "login")
    approve(repo)
    repo.ok("land", "login")


@pytest.fixture
def clone(repo: Here, machine: Machine, tmp_path: Path) -> Here:
    """Another clone with the branch login, where Codex goes on; both share a store."""
    work(repo, "login", 3, approved=False)
    folder = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.path), str(folder))
    clone = Here(machine, folder)
    clone.git("switch", "-q", "login")
    change(clone, 9, "nine")
    return clone


def test_work_that_is_elsewhere_is_not_approved(repo: Here, clone: Here) -> None:
    commit = head(clone, "login")
    env = {"WATERCOOLER_DIR": str(repo.store)}
    words = ("say", "login", "-m", "More", "--to", "Pat", *CODEX)
    assert clone.wc(*words, env=env).code == 0
    tip = head(repo, "login")
    message = repo.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert f"login is at {tip[:10]} here, without {commit[:10]}, where Codex" in message
    assert "wc review login" in message
    # Fetched, but not in the branch.
    repo.git("remote", "add", "origin", str(clone.path))
    repo.git("fetch", "-q", "origin", "login")
    repo.git("update-ref", "refs/remotes/origin/login", commit)
    repo.ok("review", "login")
    assert "without" in repo.fails(4, "say", "login", "--approve", "--to", "Pat")
    # The reviewer may say that the branch was rewritten.
    repo.ok("say", "login", "--approve", "--to", "Pat", "--commit", tip)
    Here(repo.machine, repo.path.parent / "app-wt-login").git(
        "merge", "-q", "--ff-only", "origin/login"
    )
    repo.ok("review", "login")
    assert f"approved {commit[:10]}" in repo.ok("say", "login", "--approve").out


def test_a_carrier_is_no_change_since_the_approval(repo: Here) -> None:
    tree = login(repo)
    approved = head(repo, "login")
    (message,) = carriers.messages([carriers.Line("login", "1", b"{}")])
    tree.git("commit", "-q", "--allow-empty", "-m", message.decode())
    assert repo.ok("land", "--queue").out == "login: ready to land · 1 commit\n"
    repo.ok("land", "--all")
    assert repo.git("log", "-1", "--format=%P").split()[1] == approved
