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


def test_an_approval_names_the_commit_that_is_here(here: Here) -> None:
    work(here, "login", 3, approved=False)
    tip = head(here, "login")
    message = here.ok("say", "login", "--approve", "--to", "Pat").out
    assert f" · approved {tip[:10]} of branch login · " in message
    assert here.entries("login")[-1]["approved_commit"] == tip
    assert here.json("read", "login")["approved_commit"] == tip
    (row,) = here.json("list")["threads"]
    assert (row["approved_commit"], row["ready_to_land"]) == (tip, True)
    again = here.json("say", "login", "--approve", "--to", "Pat", "--key", "a")
    assert again["approved_commit"] == tip
    here.ok("say", "login", "--request-changes", "-m", "No", "--to", "Pat")
    assert "approved_commit" not in here.json("read", "login")


def test_a_thread_without_a_branch_of_its_own_gets_none(here: Here) -> None:
    here.ok("new", "talk", "-m", "Talk", "--to", "Pat", *CODEX)
    done = here.ok("say", "talk", "--approve", "--to", "Pat")
    assert "approved" not in done.out + done.err
    assert "approved_commit" not in here.entries("talk")[-1]
    here.ok("move", "talk", "--branch", "elsewhere")
    done = here.ok("say", "talk", "--approve", "--to", "Pat")
    assert "there is no branch elsewhere here, so this approval names no" in done.err


def _add_earlier(here: Here, **fields: object) -> None:
    """Add an entry that is dated before all others, as a push can contain it."""
    log = here.store / "graph/baseline/threads/login/entries.jsonl"
    first = json.loads(log.read_bytes().splitlines()[0])
    entry_id = f"01ARZ3NDEK{first['entry_id'][10:]}"
    line = {**first, "id": f"entry:{entry_id}", "entry_id": entry_id, "parents": []}
    data = json.dumps({**line, **fields}).encode()
    log.write_bytes(log.read_bytes() + data + b"\n")


def test_an_earlier_entry_hides_nothing_that_was_shown(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    here.ok("review", "login")
    tree.git("commit", "-q", "--amend", "-m", "another")
    _add_earlier(here, agent="Codex (Pat)", title="Hi")
    message = here.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert "wc review showed you" in message


def test_another_branch_than_the_one_shown_is_not_approved(here: Here) -> None:
    work(here, "login", 3, approved=False)
    here.git("branch", "elsewhere", "login")
    here.ok("review", "login")
    here.ok("move", "login", "--branch", "elsewhere")
    message = here.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert "login belongs to elsewhere now, and wc review showed you login" in message


def test_a_branch_that_was_named_elsewhere_is_looked_at_first(here: Here) -> None:
    work(here, "login", 3, approved=False)
    (here.private / "written/login").unlink()
    message = here.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert "It is not recorded as said here that login belongs to login" in message
    assert "wc review login" in message
    here.ok("review", "login")
    here.ok("say", "login", "--approve", "--to", "Pat")


def test_exactly_the_approved_commit_lands(here: Here) -> None:
    tree = login(here)
    approved = head(here, "login")
    change(tree, 9, "nine")
    change(tree, 12, "twelve")
    before = head(here)
    done = here.ok("land", "--all")
    assert done.out == ""
    assert "note: login: 2 commits since it was approved" in done.err
    (skipped,) = here.json("land", "--all")["skipped"]
    assert skipped == {
        "topic": "login",
        "state": "skipped",
        "text": "2 commits since it was approved",
    }
    for words in ((), ("--yes",)):
        message = here.fails(4, "land", "login", *words)
        assert "login cannot land: 2 commits since it was approved" in message
        assert f"wc land login --commit {approved[:9]}" in message
    assert head(here) == before
    (row,) = here.json("list")["threads"]
    assert "ready_to_land" not in row
    assert row["changed_since_approval"] is True
    assert "OPEN, approved, changed since" in here.ok("list").out
    assert " · approved, changed since\n" in here.ok("brief").out
    done = here.ok("land", "login", "--commit", approved[:7], "--clean")
    assert "note: 2 later commits of login did not land" in done.err
    assert "login has commits that have not landed" in done.err
    assert (line_of(here, 3), line_of(here, 9)) == ("login", "9")
    assert here.git("log", "-1", "--format=%P").split() == [before, approved]
    assert "Reviewed-by: Pat" in here.git("log", "-1", "--format=%B")
    assert here.entries("login")[-1]["landing"]["tip"] == approved
    assert tree.path.exists()
    assert "login has changed since" in here.fails(4, "land", "login")
    here.ok("say", "login", "--reopen", "-m", "More", "--to", "Pat")
    approve(here)
    here.ok("land", "login")
    assert (line_of(here, 9), line_of(here, 12)) == ("nine", "twelve")


def test_a_newer_commit_lands_if_it_is_named(here: Here) -> None:
    tree = login(here)
    change(tree, 9, "nine")
    named = head(here, "login")
    change(tree, 12, "twelve")
    plan = here.ok("land", "login", "--commit", named[:12], "--dry-run").out
    assert plan == f"1. login · 2 commits, without 1 since {named[:9]} · lands\n"
    here.ok("land", "login", "--commit", named)
    assert (line_of(here, 9), line_of(here, 12)) == ("nine", "12")
    # Nobody has reviewed that one.
    assert "Reviewed-by" not in here.git("log", "-1", "--format=%B")


def test_only_a_commit_of_the_branch_can_be_named(here: Here) -> None:
    login(here)
    before = head(here)
    base = head(here, "main")
    assert f"no commit {base[:9]}" in here.fails(
        3, "land", "login", "--commit", base[:9]
    )
    assert "'abc' is not a commit" in here.fails(2, "land", "login", "--commit", "abc")
    for words in (("--all",), ("--queue",), ("login", "other")):
        tip = head(here, "login")
        assert "of one branch" in here.fails(2, "land", *words, "--commit", tip)
    assert head(here) == before


def test_what_was_rewritten_is_reviewed_again(here: Here) -> None:
    tree = login(here)
    approved, before = head(here, "login"), head(here)
    tree.git("commit", "-q", "--amend", "-m", "another")
    for words in ((), ("--commit", head(here, "login"))):
        message = here.fails(4, "land", "login", *words)
        assert f"login no longer has {approved[:9]}, which was approved" in message
        assert "wc review login" in message
    assert here.ok("land", "--all").out == ""
    assert head(here) == before
    approve(here)
    here.ok("land", "login")


def without_commit(here: Here, topic: str) -> None:
    """Have an approval of a person name no commit, as one of a thread without a
    branch does."""
    log = here.store / f"graph/baseline/threads/{topic}/entries.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for fields in lines:
        fields.pop("approved_commit", None)
    rows = [json.dumps(fields) for fields in lines]
    log.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    records = [f"{digest_of(row.encode())} {PERSON}\n" for row in rows]
    (here.private / f"written/{topic}").write_text("".join(records))


def test_an_approval_without_a_commit_does_not_count(here: Here) -> None:
    login(here)
    without_commit(here, "login")
    before = head(here)
    for words in ((), ("--commit", head(here, "login"))):
        message = here.fails(4, "land", "login", *words)
        assert "its approval names no commit" in message
        assert "wc review login, then wc say login --approve" in message
    assert here.ok("land", "--all").out == ""
    assert "ready to land" not in here.ok("list").out
    assert head(here) == before
    here.ok("config", "set", "land.needs", "nothing")
    here.ok("land", "login")
    assert "Reviewed-by" not in here.git("log", "-1", "--format=%B")


def test_a_state_of_an_older_version_is_read_from_the_log(here: Here) -> None:
    """It has no commit in its review, and a valid checksum."""
    login(here)
    meta = here.store / "graph/baseline/threads/login/meta.json"
    tip = head(here, "login")
    text = meta.read_text("utf-8")
    head_text = text.rpartition(',"check":')[0]
    older = head_text.replace(f',0,"{tip}",""]', ",0]")
    assert older != head_text
    check = binascii.crc32(older.encode())
    meta.write_text(f'{older},"check":{check}}}\n}}\n', "utf-8")
    assert here.json("read", "login")["approved_commit"] == tip
    here.ok("land", "login")


def test_a_person_is_asked_about_newer_commits(here: Here) -> None:
    tree = login(here)
    change(tree, 9, "nine")
    for answer, code in ((b"n\n", 4), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            (*here.machine.wc_words, "land", "login", "--yes"),
            cwd=here.path, env=here.machine.env,
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
    assert line_of(here, 9) == "nine"


def test_what_review_showed_must_be_what_is_there(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    here.ok("review", "login")
    old = head(here, "login")
    change(tree, 9, "nine")
    new = head(here, "login")
    message = here.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert (
        f"login is at {new[:10]} here, and wc review showed you {old[:10]}" in message
    )
    assert "wc review login" in message
    assert len(here.entries("login")) == 1
    # Another participant has seen something else, or nothing.
    here.ok("say", "login", "--approve", "--to", "Pat", "--as", "Sam")
    here.ok("review", "login", "--stat")
    here.ok("say", "login", "--approve", "--to", "Pat", "--key", "k")
    # It was written, whatever has come since.
    change(tree, 12, "twelve")
    receipt = here.json("say", "login", "--approve", "--to", "Pat", "--key", "k")
    assert receipt["approved_commit"] == new


def test_what_was_amended_here_needs_no_other_entry(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    tree.git("commit", "-q", "--amend", "-m", "another")
    here.ok("review", "login")
    approve(here)
    here.ok("land", "login")


@pytest.fixture
def clone(here: Here, machine: Machine, tmp_path: Path) -> Here:
    """Another clone with the branch login, where Codex goes on; both share a store."""
    work(here, "login", 3, approved=False)
    folder = tmp_path / "clone"
    here.git("clone", "-q", str(here.path), str(folder))
    clone = Here(machine, folder)
    clone.git("switch", "-q", "login")
    change(clone, 9, "nine")
    return clone


def test_work_that_is_elsewhere_is_not_approved(here: Here, clone: Here) -> None:
    commit = head(clone, "login")
    env = {"WATERCOOLER_DIR": str(here.store)}
    words = ("say", "login", "-m", "More", "--to", "Pat", *CODEX)
    assert clone.wc(*words, env=env).code == 0
    tip = head(here, "login")
    message = here.fails(4, "say", "login", "--approve", "--to", "Pat")
    assert f"login is at {tip[:10]} here, without {commit[:10]}, where Codex" in message
    assert "wc review login" in message
    # Fetched, but not in the branch.
    here.git("remote", "add", "origin", str(clone.path))
    here.git("fetch", "-q", "origin", "login")
    here.git("update-ref", "refs/remotes/origin/login", commit)
    here.ok("review", "login")
    assert "without" in here.fails(4, "say", "login", "--approve", "--to", "Pat")
    # The reviewer may say that the branch was rewritten.
    here.ok("say", "login", "--approve", "--to", "Pat", "--commit", tip)
    Here(here.machine, here.path.parent / "app-wt-login").git(
        "merge", "-q", "--ff-only", "origin/login"
    )
    here.ok("review", "login")
    assert f"approved {commit[:10]}" in here.ok("say", "login", "--approve").out


def test_a_carrier_is_no_change_since_the_approval(here: Here) -> None:
    tree = login(here)
    approved = head(here, "login")
    (message,) = carriers.messages([carriers.Line("login", "1", b"{}")])
    tree.git("commit", "-q", "--allow-empty", "-m", message.decode())
    assert here.ok("land", "--queue").out == "login: ready to land · 1 commit\n"
    here.ok("land", "--all")
    assert here.git("log", "-1", "--format=%P").split()[1] == approved
