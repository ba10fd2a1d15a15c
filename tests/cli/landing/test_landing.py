"""What lands, how, what the thread is told, and what nobody may touch."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.landing.story import (
    CODEX,
    approve,
    author,
    change,
    head,
    line_of,
    login,
    work,
    write,
)
from tests.contract.inprocess import Here
from wc_cli.agents.landing import choosing
from wc_cli.commands.edits import land
from wc_core.ledger.planning import landing as rules
from wc_core.ledger.planning import obstacles

if TYPE_CHECKING:
    from tests.conftest import Machine


def test_an_approved_branch_lands_and_closes_its_thread(here: Here) -> None:
    tree = login(here)
    before = head(here)
    done = here.ok("land", "login")
    commit = head(here)
    assert done.out == f"login: landed on main as {commit[:9]}\n"
    assert "nothing was checked" in done.err
    assert "wc land login --clean" in done.err
    assert line_of(here, 3) == "login"
    # The worktree of main has it, too, and nothing else has changed.
    assert (here.path / "notes.txt").read_text("utf-8").splitlines()[2] == "login"
    assert here.git("status", "--porcelain") == ""
    assert tree.git("status", "--porcelain") == ""
    parents = here.git("log", "-1", "--format=%P").split()
    assert parents == [before, head(here, "login")]
    message = here.git("log", "-1", "--format=%B")
    assert message.startswith("Merge login: Do login\n")
    assert message.endswith("\n\nWatercooler-Topic: login\nReviewed-by: Pat")
    entry = here.entries("login")[-1]
    assert entry["landing"] == {
        "onto": "main",
        "base": before,
        "tip": head(here, "login"),
        "commit": commit,
    }
    assert entry["title"] == f"Landed on main as {commit[:9]} (1 commit)"
    thread = here.json("read", "login")
    assert (thread["status"], thread["ball"]) == ("CLOSED", None)
    assert "it has landed on main" in here.fails(4, "land", "login")


def test_its_own_thread_is_meant_without_a_topic(here: Here) -> None:
    tree = login(here)
    assert tree.ok("land").out.startswith("login: landed on main as ")


def test_a_rebase_keeps_authors_and_leaves_out_what_is_there(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    change(tree, 9, "nine")
    tree.git(
        "commit", "-q", "--amend", "--author=Sam <sam@example.com>", "-mNine\n\nWhy."
    )
    here.git("cherry-pick", "login~1")
    change(here, 15, "fifteen")
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("land", "login", "--rebase")
    log = here.git("log", "-1", "--format=%an%n%cn%n%P%n%B").splitlines()
    assert log[0] == "Sam"
    assert log[1] != "Sam"
    assert log[2] == head(here, "main~1")
    assert log[3:6] == ["Nine", "", "Why."]
    assert "Watercooler-Topic: login" in log
    assert [line_of(here, number) for number in (3, 9, 15)] == [
        "login",
        "nine",
        "fifteen",
    ]
    assert here.entries("login")[-1]["title"].endswith("(1 commit)")


def test_a_rebase_keeps_the_empty_commits_that_git_rebase_keeps(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    tree.git("commit", "-q", "--allow-empty", "-m", "Run the tests again")
    change(tree, 9, "nine")
    tree.git("commit", "-q", "--allow-empty", "-m", "Done")
    # Also in main: an empty commit, and one of the two others in another form.
    here.git("commit", "-q", "--allow-empty", "-m", "Empty, too")
    change(here, 9, "nine")
    change(here, 15, "fifteen")
    here.git("reset", "-q", "--soft", "HEAD~2")
    here.git("commit", "-qm", "Nine and fifteen")
    here.git("branch", "by-git", "login")
    here.git("worktree", "add", "-q", "../by-git", "by-git")
    here.git("-C", "../by-git", "rebase", "-q", "main")
    here.ok("say", "login", "--approve", "--to", "Pat")
    before = head(here)
    here.ok("land", "login", "--rebase")
    words = ("log", "--format=%s %T")
    landed = here.git(*words, f"{before}..main")
    assert landed == here.git(*words, f"{before}..by-git")
    assert [line.rpartition(" ")[0] for line in landed.splitlines()] == [
        "Done",
        "Run the tests again",
        "login in line 3",
    ]


def test_a_squash_is_one_commit_of_the_author(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    change(tree, 9, "nine")
    author(tree, "Sam")
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("config", "set", "land.method", "squash")
    before = head(here)
    here.ok("land", "login")
    assert here.git("log", "-1", "--format=%P %an").strip() == f"{before} Sam"
    message = here.git("log", "-1", "--format=%B")
    assert message.startswith(
        "Do login (login)\n\n* login in line 3\n* nine in line 9\n"
    )
    assert "\nCo-authored-by: " in message
    assert "it has landed" in here.fails(4, "land", "login")


def test_a_conflict_sends_the_ball_to_the_author(here: Here) -> None:
    tree = work(here, "login", 3, "ours")
    change(here, 3, "theirs")
    before = head(here), tree.git("status", "--porcelain"), head(here, "login")
    done = here.wc("land", "login")
    assert done.code == 9
    assert (
        "login: does not land on main: conflict in notes.txt · ball: Codex" in done.out
    )
    assert "wc read login" in done.err
    after = head(here), tree.git("status", "--porcelain"), head(here, "login")
    assert before == after
    entry = here.entries("login")[-1]
    assert entry["landing"]["problem"] == "conflict"
    assert "`git merge main`" in entry["body"]
    for line in ("<<<<<<< main", "theirs", "ours", ">>>>>>> login", "notes.txt:3"):
        assert f"    {line}\n" in entry["body"] + "\n"
    thread = here.json("read", "login")
    assert (thread["status"], thread["ball"]) == ("OPEN", "Codex@login (Pat)")
    assert "its ball is Codex@login (Pat)'s" in here.fails(4, "land", "login")


def test_the_second_failure_in_a_row_is_for_the_person(here: Here) -> None:
    tree = work(here, "login", 3, "ours")
    change(here, 3, "theirs")
    assert here.wc("land", "login").code == 9
    tree.ok("say", "login", "-m", "Try again", "--to", "Pat", *CODEX)
    assert here.wc("land", "login").code == 9
    assert here.ball("login") == "Pat"
    tree.git("merge", "-q", "-X", "theirs", "main")
    approve(here)
    here.ok("land", "login")
    assert here.json("read", "login")["status"] == "CLOSED"


def test_what_is_in_the_way_is_said(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    assert "it is not approved" in here.fails(4, "land", "login")
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("new", "db", "-m", "A table", "--to", "anyone")
    here.ok("link", "login", "waits-for", "db")
    assert "it waits for db" in here.fails(4, "land", "login")
    here.ok("set-status", "db", "CLOSED")
    write(tree, "a.txt", "b\n")
    write(tree, "new.txt", "b\n")
    said = here.fails(4, "land", "login")
    assert "its worktree has uncommitted changes: a.txt, new.txt" in said
    assert "--allow-dirty" in said
    here.ok("land", "login", "--allow-dirty")
    assert (tree.path / "new.txt").exists()


def test_every_obstacle_has_a_hint_and_a_row_in_the_documentation() -> None:
    """Apart from those that no command can have: there is no base branch, and what has
    changed during a check."""
    text = "".join(inspect.getsource(module) for module in (rules, choosing))
    names = set(re.findall(r"Obstacle\((\w+),", text))
    used = {getattr(rules, name, "") or getattr(choosing, name) for name in names}
    waits = {obstacles.WAITS, obstacles.PARTS, obstacles.GATE}
    assert used | waits == {*land.HINTS, rules.BASE_MISSING, choosing.MOVED}
    page = (Path(__file__).parents[3] / "docs/review.md").read_text("utf-8")
    rows = re.findall(r"^\| `([A-Z]+)` \| (?:.*) \| `(.*?)`", page, re.MULTILINE)
    assert [code for code, _ in rows] == [*land.HINTS]
    for code, command in rows:
        shown = command.replace(" T ", " TOPIC ").removesuffix("…").removesuffix(" T")
        assert shown in land.HINTS[code]


WRONG = {
    ("nothing",): (3, "nothing"),
    ("login", "--merge", "--squash"): (2, "exclude each other"),
    ("login", "--all"): (2, "exclude each other"),
    ("login", "--pr", "--push"): (2, "--pr lands nothing here"),
    ("login", "--onto", "trunk"): (3, "no branch trunk"),
    ("login", "--push"): (3, "no remote"),
    ("login", "--pr"): (3, "no remote"),
}


def test_wrong_words_change_nothing(here: Here) -> None:
    login(here)
    before = head(here), here.entries("login")
    for words, (code, message) in WRONG.items():
        assert message in here.fails(code, "land", *words)
    assert (head(here), here.entries("login")) == before


def test_several_land_in_the_order_that_hurts_least(here: Here) -> None:
    work(here, "pay", 3, "pay")
    work(here, "login", 3, "login")
    work(here, "search", 9)
    work(here, "ui", 15)
    here.ok("link", "ui", "waits-for", "login")
    work(here, "later", 18, approved=False)
    plan = here.json("land", "--all", "--dry-run")
    assert [item["topic"] for item in plan["order"][:2]] == ["search", "pay"]
    by_topic = {item["topic"]: item for item in plan["order"]}
    assert by_topic["login"]["conflicts_with"] == ["pay"]
    assert by_topic["ui"]["waits_for"] == ["login"]
    lines = here.ok("land", "--all", "--dry-run").out.splitlines()
    assert "login · 1 commit · conflicts with pay: notes.txt" in lines[2]
    assert "ui · 1 commit · waits for login, which will not land" in lines[3]
    before = head(here)
    done = here.wc("land", "--all")
    assert done.code == 9
    said = done.out.splitlines()
    assert said[0].startswith("search: landed")
    assert said[1].startswith("pay: landed")
    assert said[2].startswith("login: does not land on main: conflict in notes.txt")
    assert said[3] == "ui: it waits for login"
    assert head(here, "main~2") == before
    queue = {item["topic"]: item for item in here.json("land", "--queue")["queue"]}
    assert queue.keys() == {"login", "ui", "later"}
    assert queue["later"]["obstacles"] == [
        {"code": "REVIEW", "text": "it is not approved"}
    ]


def test_what_others_wait_for_lands_first(here: Here) -> None:
    work(here, "ui", 3)
    work(here, "db", 9)
    here.ok("link", "ui", "waits-for", "db")
    assert "it waits for db" in here.fails(4, "land", "ui")
    done = here.ok("land", "--all")
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["db", "ui"]


def test_a_dry_run_changes_nothing(here: Here) -> None:
    login(here)
    counted = here.git("count-objects", "-v")
    before = head(here), here.entries("login"), counted
    assert here.ok("land", "login", "--dry-run").out == "1. login · 1 commit · lands\n"
    assert (
        head(here),
        here.entries("login"),
        here.git("count-objects", "-v"),
    ) == before


def test_commits_since_the_approval_are_counted(here: Here) -> None:
    tree = login(here)
    change(tree, 9, "nine")
    assert here.ok("land", "--queue").out == "- login: 1 commit since it was approved\n"
    change(tree, 12, "twelve")
    queue = here.json("land", "--queue")["queue"]
    assert (queue[0]["ready"], queue[0]["newer"]) == (False, 2)


def test_no_commit_is_counted_that_was_approved(here: Here) -> None:
    """The entry before the approval is older than the commit."""
    tree = work(here, "login", 3, approved=False)
    change(tree, 9, "nine")
    approve(here)
    assert here.ok("land", "--queue").out == "login: ready to land · 2 commits\n"


def test_newer_commits_are_counted_in_a_thread_that_was_opened_elsewhere(
    here: Here,
) -> None:
    here.ok("new", "login", "-m", "Log in", "--to", "Codex", "--force")
    tree = here.worktree("app-wt-login", "login")
    change(tree, 3, "three")
    tree.ok("say", "login", "-m", "Works", "--to", "Pat", *CODEX)
    said = here.ok("say", "login", "--approve", "--to", "Pat").out
    assert f"approved {head(here, 'login')[:10]} of branch login" in said
    change(tree, 9, "nine")
    assert here.ok("land", "--queue").out == "- login: 1 commit since it was approved\n"
    # What main has got in the meantime is no change.
    here.git("merge", "-q", "login")
    assert "main has all commits" in here.fails(4, "land", "login")


def test_a_branch_that_main_has_needs_no_landing(here: Here) -> None:
    login(here)
    here.git("merge", "-q", "login")
    said = here.fails(4, "land", "login")
    assert "main has all commits of login" in said
    assert "wc close login" in said
    assert here.ok("land", "--all").out == ""


def test_work_that_was_continued_on_another_branch_is_not_merged(here: Here) -> None:
    here.ok("new", "login", "-m", "Log in", "--to", "Codex", "--force")
    tree = here.worktree("app-wt-login", "fix/login")
    here.ok("move", "login", "--branch", "fix/login")
    tree.git("switch", "-qc", "fix/other")
    change(tree, 3, "three")
    tree.ok("done", "login", "-m", "Works", *CODEX)
    approve(here)
    said = here.fails(4, "land", "login")
    assert "main has all commits of fix/login, but" in said
    assert "fix/other" in said
    assert "wc close" not in said
    assert "wc move login --branch fix/other, then: wc land login" in said
    here.ok("move", "login", "--branch", "fix/other")
    approve(here)
    here.ok("land", "login")
    assert line_of(here, 3) == "three"


def test_clean_removes_worktree_and_branch_of_what_has_landed(here: Here) -> None:
    tree = login(here)
    other = work(here, "pay", 9)
    assert "has not landed" not in here.ok("land", "login", "--clean").err
    assert not tree.path.exists()
    assert "login" not in here.git("branch", "--list", "login")
    write(other, "new.txt", "x\n")
    done = here.ok("land", "pay", "--clean", "--allow-dirty")
    assert "uncommitted changes: new.txt" in done.err
    assert other.path.exists()
    assert "uncommitted changes" in here.fails(4, "land", "pay", "--clean")
    os.unlink(other.path / "new.txt")
    assert "You are in its worktree" in other.fails(4, "land", "pay", "--clean")
    change(other, 1, "late")
    assert "have not landed" in here.fails(4, "land", "pay", "--clean")
    other.git("reset", "-q", "--hard", "HEAD~1")
    assert "removed the worktree" in here.ok("land", "pay", "--clean").out
    assert "nothing is left" in here.ok("land", "pay", "--clean").out


def test_clean_keeps_what_the_base_no_longer_has(here: Here) -> None:
    tree = login(here)
    here.ok("land", "login")
    here.git("reset", "-q", "--hard", "HEAD~1")
    assert "main no longer has" in here.fails(4, "land", "login", "--clean")
    assert tree.path.exists()
    here.git("reset", "-q", "--hard", "ORIG_HEAD")
    here.git("worktree", "lock", str(tree.path))
    assert "git did not remove" in here.fails(4, "land", "login", "--clean")
    assert tree.path.exists()


def test_later_commits_of_what_has_landed_need_another_approval(here: Here) -> None:
    tree = login(here)
    here.ok("land", "login")
    change(tree, 9, "nine")
    before = head(here)
    said = here.fails(4, "land", "login")
    assert "it has landed on main, and login has changed since" in said
    assert "wc say login --reopen" in said
    here.git("reset", "-q", "--hard", "HEAD~1")
    assert "login has changed since" in here.fails(4, "land", "login")
    here.git("reset", "-q", "--hard", before)
    here.ok("say", "login", "--reopen", "-m", "More", "--to", "Pat")
    assert "it is not approved" in here.fails(4, "land", "login")
    here.ok("say", "login", "--approve", "--to", "Pat")
    here.ok("land", "login")
    assert line_of(here, 9) == "nine"


def test_what_was_undone_can_land_again(here: Here) -> None:
    tree = login(here)
    here.ok("land", "login")
    first = head(here)
    assert "it has landed on main" in here.fails(4, "land", "login")
    here.git("reset", "-q", "--hard", "HEAD~1")
    change(here, 9, "nine")
    # Someone has undone it on purpose: only who names it lands it again.
    assert here.ok("land", "--all").out == here.ok("land", "--queue").out == ""
    assert here.ok("land", "login", "--dry-run").out == "1. login · 1 commit · lands\n"
    here.ok("land", "login")
    landings = [item["landing"] for item in here.entries("login") if "landing" in item]
    assert [item["commit"] for item in landings] == [first, head(here)]
    assert [line_of(here, 3), line_of(here, 9)] == ["login", "nine"]
    assert here.json("read", "login")["status"] == "CLOSED"
    assert "it has landed on main" in here.fails(4, "land", "login")
    assert "removed the worktree" in here.ok("land", "login", "--clean").out
    assert not tree.path.exists()


def test_a_rule_against_closing_stops_only_its_thread(here: Here) -> None:
    login(here)
    here.ok("config", "set", "rules.close_link", "pr")
    before = head(here)
    done = here.wc("land", "--all")
    assert (done.code, head(here)) == (9, before)
    assert "login: " in done.out


def test_another_base_is_not_touched_where_it_is_not_checked_out(here: Here) -> None:
    here.git("branch", "release")
    tree = work(here, "login", 3)
    before = head(here)
    here.ok("land", "login", "--onto", "release")
    assert head(here) == before
    assert line_of(here, 3, "release") == "login"
    assert here.git("status", "--porcelain") == tree.git("status", "--porcelain") == ""


def test_changes_in_the_worktree_of_the_base_are_kept(here: Here) -> None:
    login(here)
    write(here, "a.txt", "mine\n")
    write(here, "notes.txt", "mine\n")
    before = head(here)
    said = here.fails(4, "land", "login")
    assert "with changes that are not committed: notes.txt" in said
    assert "stash" in said
    assert head(here) == before
    assert (here.path / "notes.txt").read_text("utf-8") == "mine\n"
    here.git("checkout", "-q", "--", "notes.txt")
    # What the landing does not change may stay.
    here.ok("land", "login")
    assert (here.path / "a.txt").read_text("utf-8") == "mine\n"
    assert line_of(here, 3) == "login"


def test_a_worktree_that_cannot_be_updated_is_as_it_was(here: Here) -> None:
    """As in a partial clone whose remote cannot be reached."""
    tree = login(here)
    write(tree, "a.txt", "b\n")
    write(tree, "0.txt", "new\n")
    write(tree, "notes.txt", "new notes\n")
    tree.git("add", ".")
    tree.git("commit", "-qm", "more")
    approve(here)
    before, blob = head(here), head(here, "login:notes.txt")
    path = here.path / ".git/objects" / blob[:2] / blob[2:]
    path.rename(path.with_name("saved"))
    assert "git could not update it: " in here.fails(4, "land", "login")
    path.with_name("saved").rename(path)
    assert (head(here), here.git("status", "--porcelain")) == (before, "")
    here.ok("land", "login")
    assert here.git("status", "--porcelain") == ""


def test_a_file_in_the_way_that_git_does_not_know_is_kept(here: Here) -> None:
    tree = work(here, "login", 3, approved=False)
    write(tree, "new.txt", "theirs\n")
    tree.git("add", "new.txt")
    tree.git("commit", "-qm", "new")
    here.ok("say", "login", "--approve", "--to", "Pat")
    write(here, "new.txt", "mine\n")
    assert "new.txt" in here.fails(4, "land", "login")
    assert (here.path / "new.txt").read_text("utf-8") == "mine\n"


def test_a_base_in_the_middle_of_something_waits(here: Here) -> None:
    login(here)
    here.git("switch", "-q", "-c", "other")
    change(here, 12, "twelve")
    here.git("switch", "-q", "main")
    here.git("merge", "-q", "--no-commit", "--no-ff", "other")
    assert "in the middle of a merge" in here.fails(4, "land", "login")
    here.git("merge", "--abort")
    here.git("bisect", "start")
    assert "in the middle of a bisect" in here.fails(4, "land", "login")


def test_hooks_do_not_run(here: Here) -> None:
    login(here)
    hooks = here.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "pre-merge-commit",
        "post-merge",
        "commit-msg",
        "reference-transaction",
    ):
        (hooks / name).write_text("#!/bin/sh\necho ran >> /tmp/hook-ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    here.ok("land", "login")
    assert line_of(here, 3) == "login"


def test_attributes_of_the_base_decide_how_files_merge(here: Here) -> None:
    tree = work(here, "login", 3, "ours")
    change(here, 3, "theirs")
    write(tree, ".gitattributes", "notes.txt merge=union\n")
    words = ("land", "login", "--allow-dirty", "--dry-run")
    for place in (here, tree):
        assert "conflicts with main" in place.ok(*words).out
    (tree.path / ".gitattributes").rename(here.path / ".gitattributes")
    here.git("add", ".")
    here.git("commit", "-qm", "union")
    # Wherever it is run.
    tree.ok("land", "login")
    text = here.git("show", "main:notes.txt")
    assert "ours\n" in text
    assert "theirs\n" in text


def test_a_merge_driver_runs_and_leaves_nothing(here: Here) -> None:
    seen = here.machine.home / "seen"
    driver = f"echo %P >> {seen}; pwd >> {seen}; cat %B >> %A"
    here.git("config", "merge.both.driver", driver)
    write(here, ".gitattributes", "a.txt merge=both\n")
    here.git("add", ".")
    here.git("commit", "-qm", "driver")
    tree = work(here, "login", 3, approved=False)
    change(tree, 1, "ours", "a.txt")
    change(here, 1, "theirs", "a.txt")
    here.ok("say", "login", "--approve", "--to", "Pat")
    tree.ok("land", "login")
    assert here.git("show", "main:a.txt") == "theirs\nours"
    path, folder = seen.read_text("utf-8").split()
    assert path == "a.txt"
    assert str(here.path.parent) not in folder
    for place in (here, tree):
        assert place.git("status", "--porcelain", "--ignored") == ""


def test_lists_say_what_is_ready_to_land(here: Here) -> None:
    tree = login(here)
    rows = {row["topic"]: row for row in here.json("list")["threads"]}
    assert rows["login"]["ready_to_land"] is True
    assert "OPEN, ready to land" in here.ok("list").out
    assert "ready to land" in here.ok("board").out
    assert "- login · OPEN · just now · from " in here.ok("brief").out
    assert " · ready to land\n" in here.ok("brief").out
    assert here.json("brief")["mine"]["threads"][0]["ready_to_land"] is True
    assert "OPEN, approved" in tree.ok("list", *CODEX).out  # the ball is Pat's
    here.ok("new", "db", "-m", "A table", "--to", "anyone")
    here.ok("link", "login", "waits-for", "db")
    rows = {row["topic"]: row for row in here.json("list")["threads"]}
    assert "ready_to_land" not in rows["login"]
    here.ok("set-status", "db", "CLOSED")
    here.ok("config", "set", "land.needs", "closed")
    assert "OPEN, approved" in here.ok("list").out


def test_where_nobody_has_run_wc(machine: Machine) -> None:
    fresh = Here(machine, machine.repo("fresh").path)
    for words in ((), ("--all",), ("--queue",), ("login",)):
        assert "wc new TOPIC" in fresh.fails(3, "land", *words)
    assert not (machine.home / ".watercooler").exists()


def test_without_a_thread_here_the_queue_is_named(here: Here) -> None:
    login(here)
    assert "wc land --queue" in here.fails(3, "land")


def test_a_thread_that_was_opened_on_main_lands_the_branch_of_the_work(
    here: Here,
) -> None:
    here.ok("new", "login", "-m", "Log in", "--to", "Codex", "--force")
    tree = here.worktree("app-wt-login", "login")
    change(tree, 3, "three")
    tree.ok("done", "login", "-m", "Works", *CODEX)
    here.ok("say", "login", "--approve", "--to", "Pat")
    assert "OPEN, ready to land" in here.ok("list").out
    assert here.ok("land", "--all").out.startswith("login: landed on main as ")
    assert line_of(here, 3) == "three"
    assert "deleted the branch login" in here.ok("land", "login", "--clean").out
