"""``wc review``, and the snapshots that are kept with passes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.contract.inprocess import Here
from wc_cli.edits.review import seeing
from wc_core.ledger.git import repository as repositories

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine
    from wc_core.ledger.git.repository import Repository

BACKGROUND = {"WATERCOOLER_SYNC": "background"}


class Trees(NamedTuple):
    """A person in the main worktree, an author and a critic in two others."""

    main: Here
    login: Here
    review: Here

    def say(self, tree: Here, agent: str, to: str, title: str = "x") -> None:
        """A pass, with the snapshot that a process beside it would keep."""
        words = ("say", "login", "--title", title, "--to", to, "--force")
        receipt = tree.json(*words, "--as", agent)
        self.keep(tree, receipt["entry_id"])

    def keep(self, tree: Here, entry_id: str) -> None:
        root, written = str(self.main.store), ("login", entry_id)
        seeing.keep(root, str(tree.path), written, self.main.machine.env)

    def snapshots(self) -> list[str]:
        """The refs that are kept."""
        refs = self.main.git("for-each-ref", "--format=%(refname)", "refs/wc/seen")
        return refs.splitlines()


@pytest.fixture
def trees(machine: Machine) -> Trees:
    main = Here(machine, machine.repo().path)
    (main.path / "a.py").write_text("a = 1\n")
    main.git("add", "a.py")
    main.git("commit", "-qm", "a")
    main.ok("new", "login", "--title", "T", "--to", "Claude Code", "--force")
    return Trees(main, main.worktree("login"), main.worktree("critic"))


def write(tree: Here, name: str, text: str) -> None:
    (tree.path / name).write_text(text)


def submit(tree: Here) -> None:
    """A pass without a snapshot."""
    words = ("--to", "Codex", "--force", "--as", "Claude Code")
    tree.ok("say", "login", "--title", "x", *words)


def review(tree: Here, *words: str, agent: str = "Codex") -> str:
    """The diff that someone is shown."""
    return tree.ok("review", "login", *words, "--as", agent).out


def test_a_reviewer_sees_what_changed_since_they_passed_the_ball(trees: Trees) -> None:
    write(trees.login, "a.py", "a = 2\n")
    trees.say(trees.login, "Claude Code", "Codex")
    assert "-a = 1\n+a = 2" in review(trees.review)
    trees.say(trees.review, "Codex", "Claude Code")
    # Nothing is committed: only a snapshot knows what was there.
    write(trees.login, "a.py", "a = 3\n")
    write(trees.login, "b.py", "b = 1\n")
    trees.say(trees.login, "Claude Code", "Codex")
    shown = review(trees.review)
    assert "-a = 2\n+a = 3" in shown
    assert "+b = 1" in shown
    assert "a = 1" not in shown
    answer = trees.review.json("review", "login", "--as", "Codex")
    assert answer["from"]["text"].startswith("the worktree as it was at #1 by Claude")
    assert answer["to"]["text"] == "the worktree login as it is now"
    assert answer["files"] == [
        {"path": "a.py", "change": "M", "added": 1, "removed": 1},
        {"path": "b.py", "change": "A", "added": 1, "removed": 0},
    ]
    assert "+a = 3" in answer["diff"]
    # Who asked sees all of it, from where the branch left theirs.
    assert "-a = 1\n+a = 3" in review(trees.main, agent="Pat")


def test_nothing_of_the_worktrees_is_touched(trees: Trees) -> None:
    write(trees.login, "a.py", "a = 2\n")
    write(trees.login, "b.py", "b = 1\n")
    trees.login.git("add", "b.py")
    before = (
        trees.login.git("status", "--porcelain"),
        trees.main.git("rev-parse", "refs/heads/login"),
        trees.main.git("count-objects"),
    )
    review(trees.review)
    after = trees.main.git("count-objects")
    trees.say(trees.login, "Claude Code", "Codex")
    review(trees.review)
    status = trees.login.git("status", "--porcelain")
    assert (status, trees.main.git("rev-parse", "refs/heads/login"), after) == before


def test_stat_and_since(trees: Trees) -> None:
    write(trees.login, "a.py", "a = 2\n")
    trees.say(trees.login, "Claude Code", "Codex")
    assert " a.py | 2 +-" in review(trees.review, "--stat")
    answer = trees.review.json("review", "login", "--stat", "--since", "0")
    assert "diff" not in answer
    assert len(answer["files"]) == 1
    done = trees.review.ok("review", "login", "--since", "1", "--as", "Codex")
    assert (done.out, done.err[:15]) == ("", "Nothing changed")
    assert "has no entry" in trees.review.fails(3, "review", "login", "--since", "9")


def test_without_a_snapshot_commits_are_compared(trees: Trees) -> None:
    login = trees.login
    words = ("say", "login", "--title", "x", "--force", "--as")
    login.ok(*words, "Claude Code", "--to", "Codex")
    trees.review.ok(*words, "Codex", "--to", "Claude Code")
    write(login, "a.py", "a = 2\n")
    login.git("commit", "-qam", "two")
    login.ok(*words, "Claude Code", "--to", "Codex")
    # The branch alone, its worktree has gone.
    trees.main.git("worktree", "remove", str(login.path))
    done = trees.review.ok("review", "login", "--as", "Codex")
    assert "-a = 1\n+a = 2" in done.out
    assert "login: from commit " in done.err
    assert "of #1 by Claude Code@login (Pat) to the branch login (" in done.err


def test_a_fetched_branch(trees: Trees, machine: Machine) -> None:
    login = trees.login
    machine.git("init", "-q", "--bare", str(machine.root / "hub"), cwd=machine.root)
    login.git("remote", "add", "origin", str(machine.root / "hub"))
    login.git("push", "-q", "origin", "login")
    submit(login)
    write(login, "a.py", "a = 2\n")
    login.git("commit", "-qam", "two")
    login.git("push", "-q", "origin", "login")
    trees.main.git("worktree", "remove", str(login.path))
    trees.main.git("branch", "-qf", "login", "main")
    answer = trees.review.json("review", "login", "--as", "Codex")
    assert answer["to"]["text"].startswith("origin/login as it was fetched (")
    assert "+a = 2" in answer["diff"]


def test_what_is_not_here_is_reported(trees: Trees) -> None:
    login = trees.login
    login.git("commit", "-q", "--allow-empty", "-m", "two")
    submit(login)
    log = trees.main.log("login")
    commit = login.git("rev-parse", "HEAD")
    log.write_text(log.read_text().replace(commit, "0" * 39 + "1"))
    trees.main.git("worktree", "remove", "--force", str(login.path))
    done = trees.review.ok("review", "login", "--as", "Codex")
    assert "is not here yet: git fetch" in done.err
    trees.main.git("branch", "-qD", "login")
    error = trees.review.fails(3, "review", "login", "--as", "Codex")
    assert (
        "The branch login of #1 by Claude Code@login (Pat) is not in this repository"
        in error
    )
    error = trees.review.fails(3, "review", "login", "--since", "1", "--as", "Codex")
    assert "git fetch --all" in error


def test_no_git_no_review(machine: Machine) -> None:
    folder = Here(machine, machine.folder("plain").path)
    folder.ok("new", "login", "--title", "T", env={"WATERCOOLER_DIR": "threads"})
    env = {"WATERCOOLER_DIR": "threads"}
    assert "git repository" in folder.fails(2, "review", "login", env=env)


def test_secrets_get_into_no_snapshot(trees: Trees) -> None:
    write(trees.login, ".env", "KEY=1\n")
    write(trees.login, "b.py", "b = 1\n")
    trees.say(trees.login, "Claude Code", "Codex")
    (ref,) = trees.snapshots()
    names = trees.main.git("ls-tree", "-r", "--name-only", ref).split()
    assert ("b.py" in names, ".env" in names) == (True, False)
    done = trees.review.ok("review", "login", "--as", "Codex")
    assert "KEY" not in done.out
    assert "1 changed file left out" in done.err


def test_snapshots_are_pruned(trees: Trees) -> None:
    for _ in range(3):
        trees.say(trees.login, "Claude Code", "Codex")
        trees.say(trees.review, "Codex", "Claude Code")
    assert len(trees.snapshots()) == 3  # one is what Codex begins with
    trees.main.ok("new", "other", "--title", "T")
    trees.main.ok("set-status", "login", "CLOSED", "--reason", "x")
    seeing.prune(str(trees.main.store), _repository(trees), trees.main.machine.env)
    assert trees.snapshots() == []


def _repository(trees: Trees) -> Repository:
    repository = repositories.find(str(trees.main.path))
    assert repository is not None
    return repository


def test_a_snapshot_is_never_replaced(trees: Trees) -> None:
    trees.say(trees.login, "Claude Code", "Codex")
    (ref,) = trees.snapshots()
    before = trees.main.git("rev-parse", ref)
    write(trees.login, "a.py", "a = 9\n")
    trees.keep(trees.login, ref.rpartition("/")[2])
    assert trees.main.git("rev-parse", ref) == before


def test_a_pass_keeps_one_without_waiting(trees: Trees) -> None:
    write(trees.login, "a.py", "a = 2\n")
    words = ("--title", "x", "--as", "Claude Code")
    trees.login.ok("ack", "login", *words, env=BACKGROUND)
    trees.login.ok("say", "login", *words, "--to", "Codex", "--force", env=BACKGROUND)
    end = time.monotonic() + 30
    while not trees.snapshots() and time.monotonic() < end:
        time.sleep(0.05)
    (ref,) = trees.snapshots()
    entry = trees.main.json("read", "login", "--peek")["entries"][-1]
    assert ref == f"refs/wc/seen/login/{entry['id']}"
    assert trees.main.git("show", f"{ref}:a.py") == "a = 2"


def test_snapshots_are_never_pushed(trees: Trees, machine: Machine) -> None:
    hub = str(machine.root / "hub")
    machine.git("init", "-q", "--bare", hub, cwd=machine.root)
    trees.main.git("remote", "add", "origin", hub)
    trees.say(trees.login, "Claude Code", "Codex")
    trees.main.ok("sync")
    trees.main.ok("claim", "a.py")
    trees.main.ok("sync")
    pushed = machine.git("for-each-ref", "--format=%(refname)", cwd=hub)
    assert "refs/wc/claims" in pushed
    assert "seen" not in pushed


def test_those_of_a_remote_are_not_fetched(trees: Trees, tmp_path: Path) -> None:
    trees.say(trees.login, "Claude Code", "Codex")
    trees.main.ok("claim", "a.py")
    trees.main.settled("ack", "login", "--title", "x")
    clone = tmp_path / "clone"
    trees.main.git("clone", "-q", os.fspath(trees.main.path), os.fspath(clone))
    other = Here(trees.main.machine, clone)
    other.ok("init")
    other.ok("sync")
    other.ok("claims")
    refs = other.git("for-each-ref", "--format=%(refname)", "refs/wc")
    assert "seen" not in refs


def test_topics_that_git_does_not_allow_in_refs(trees: Trees) -> None:
    for topic in ("a..b", "a.lock", "v1.2"):
        receipt = trees.main.json("new", topic, "--title", topic, "--force")
        written = (topic, receipt["entry_id"])
        seeing.keep(
            str(trees.main.store), str(trees.main.path), written, trees.main.machine.env
        )
    assert len(trees.snapshots()) == 3
    write(trees.main, "a.py", "a = 2\n")
    shown = trees.main.json("review", "a.lock", "--since", "0")
    assert len(shown["files"]) == 1
    assert "the worktree as it was" in shown["from"]["text"]
    trees.main.ok("set-status", "a..b", "CLOSED", "--reason", "x")
    seeing.prune(str(trees.main.store), _repository(trees), trees.main.machine.env)
    assert len(trees.snapshots()) == 2


def test_the_snapshots_of_another_store_stay(trees: Trees) -> None:
    trees.say(trees.login, "Claude Code", "Codex")
    trees.main.git("update-ref", "refs/wc/seen/odd", "HEAD")
    before = trees.snapshots()
    other = trees.main.path / ".threads"
    env = {**trees.main.machine.env, "WATERCOOLER_DIR": str(other)}
    trees.main.ok("new", "other", "--title", "T", env=env)
    seeing.prune(str(other), _repository(trees), env)
    assert before[0] in trees.snapshots()


def test_how_the_user_likes_diffs_changes_nothing(trees: Trees) -> None:
    write(trees.login, "a.py", "a = 2\n")
    trees.say(trees.login, "Claude Code", "Codex")
    before = review(trees.review)
    for name, value in (
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("color.diff", "always"),
    ):
        trees.main.git("config", name, value)
    assert before == review(trees.review)
    assert "--- a/a.py\n+++ b/a.py" in before


def test_nothing_is_fetched_into_a_partial_clone(
    trees: Trees, machine: Machine
) -> None:
    write(trees.login, "a.py", "a = 2\n")
    trees.login.git("commit", "-qam", "two")
    submit(trees.login)
    trees.main.settled("ack", "login", "--title", "x")
    url = trees.main.path.as_uri()
    trees.main.git("config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--filter=blob:none", "--branch=main", url, "part")
    machine.git(*words, cwd=machine.root)
    clone = Here(machine, machine.root / "part")
    clone.ok("init")
    error = clone.fails(7, "review", "login", "--as", "Codex")
    assert "--refetch" in error
    blob = trees.login.git("rev-parse", "HEAD:a.py")
    missing = clone.git("rev-list", "--objects", "--all", "--missing=print")
    assert f"?{blob}" in missing


def test_the_same_branch_in_another_clone(trees: Trees, machine: Machine) -> None:
    main = trees.main
    machine.git("init", "-q", "--bare", "hub", cwd=machine.root)
    main.git("remote", "add", "origin", str(machine.root / "hub"))
    main.git("push", "-q", "origin", "main")
    main.ok("sync")
    words = ("clone", "-q", "--branch=main", "hub", "two")
    machine.git(*words, cwd=machine.root)
    two = Here(machine, machine.root / "two")
    two.ok("init")
    write(two, "a.py", "a = 'two'\n")
    two.git("commit", "-qam", "two")
    two.git("push", "-q", "origin", "main")
    how = ("--title", "x", "--to", "Codex", "--force", "--as", "Claude Code")
    two.ok("say", "login", *how)
    two.ok("sync")
    main.ok("sync")
    main.git("fetch", "-q")
    write(main, "mine.py", "")
    answer = main.json("review", "login", "--as", "Codex")
    assert answer["to"]["text"].startswith("origin/main as it was fetched (")
    assert [file["path"] for file in answer["files"]] == ["a.py"]


def test_a_thread_that_is_older_than_the_first_commit(machine: Machine) -> None:
    machine.git("init", "-q", "fresh", cwd=machine.root)
    fresh = Here(machine, machine.root / "fresh")
    fresh.ok("new", "login", "--title", "T", "--to", "Claude Code", "--force")
    error = fresh.fails(3, "review", "login")
    assert "There was no commit yet when your entry #0 was written" in error
    write(fresh, "a.py", "a = 1\n")
    fresh.git("add", "a.py")
    fresh.git("commit", "-qm", "a")
    words = ("--title", "x", "--to", "Codex", "--force", "--as", "Claude Code")
    fresh.ok("say", "login", *words)
    write(fresh, "a.py", "a = 2\n")
    assert "-a = 1\n+a = 2" in fresh.ok("review", "login", "--as", "Codex").out


def test_large_untracked_files_get_into_no_snapshot(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wc_cli.edits.radar.snapshots._MAX_UNTRACKED_BYTES", 1000)
    write(trees.login, "a.py", "a = 2\n")
    for number in range(3):
        write(trees.login, f"data{number}", "x" * 400)
    trees.say(trees.login, "Claude Code", "Codex")
    answer = trees.review.json("review", "login", "--as", "Codex")
    assert [file["path"] for file in answer["files"]] == ["a.py"]
    (note,) = answer["notes"]
    assert note.startswith("3 changed files left out: secret by name, too large")
