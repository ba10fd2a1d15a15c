"""What people do with git in the folder of the store, without wc: nothing that
was acknowledged is lost, and the next command of wc tidies up."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.conftest import THREADS
from tests.contract.clones import OLD_ENTRY, OLD_PAGE
from tests.contract.pairs import Clone, Pair
from wc_cli.ledger.settle import settler

if TYPE_CHECKING:
    from collections.abc import Callable

THEIRS = f"origin/{THREADS}"


@pytest.fixture(scope="module")
def diverged(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Both wrote since they last exchanged; the one knows what the other did."""
    pair = Pair.prepare(tmp_path_factory.mktemp("pairs") / "first")
    for title in ("Of b", "Of b again"):
        pair.b.say("auth", title)
    pair.b.say("bugs", "Four")
    pair.b.ok("sync")
    pair.a.commit("auth", "Of a")
    pair.a.commit("ideas", "Five")
    pair.a.git("fetch", "-q", "origin")
    return pair


@pytest.fixture
def pair(diverged: Pair, tmp_path: Path) -> Pair:
    return diverged.copy(tmp_path / "pair")


def edit(clone: Clone) -> None:
    page = clone.store / "threads/auth.md"
    page.write_text(page.read_text() + "\nby hand\n")
    clone.git("commit", "-q", "-a", "-m", "by hand")


def each(*commands: str) -> Callable[[Clone], None]:
    def run(clone: Clone) -> None:
        for one in commands:
            clone.git(*one.split())

    run.__name__ = " && ".join(commands)
    return run


def name_of(action: Callable[[Clone], None]) -> str:
    return action.__name__


ACTIONS = (
    each(f"merge -q --no-edit {THEIRS}"),
    each(f"merge -q --no-edit -X ours {THEIRS}"),
    each(f"merge -q --no-edit -X theirs {THEIRS}"),
    each(f"merge -q --no-edit -s ours {THEIRS}"),
    each(f"merge -q --squash {THEIRS}"),
    each(f"pull -q --no-edit --no-rebase origin {THREADS}"),
    each(f"pull -q --rebase origin {THREADS}"),
    each(f"rebase -q {THEIRS}"),
    each(f"cherry-pick {THEIRS}~1"),
    each("revert --no-edit HEAD"),
    each("revert --no-edit HEAD~1"),
    each("commit -q --amend -m other"),
    each("reset -q --hard HEAD~1"),
    each("reset -q --hard HEAD~2"),
    each(f"reset -q --hard {THEIRS}"),
    each("reset -q --soft HEAD~1"),
    each("reset -q HEAD~1"),
    each("checkout HEAD~2 -- ."),
    each("rm -rq graph threads"),
    each("rm -rq graph threads", "commit -qm gone"),
    each("rm -q --cached graph/baseline/threads/auth/entries.jsonl"),
    each("clean -fdq"),
    each("checkout -q HEAD~1", f"checkout -q {THREADS}"),
    edit,
)


@pytest.mark.parametrize(
    "action", ACTIONS[:: 1 if amounts.is_long() else 2], ids=name_of
)
def test_whatever_people_do_the_next_command_tidies_up(
    pair: Pair, action: Callable[[Clone], None]
) -> None:
    action(pair.a)
    pair.a.say("auth", "Later")
    assert pair.a.settle().problems == {}
    pair.a.check()


@pytest.mark.parametrize("action", [ACTIONS[0], *ACTIONS[3:8:2]], ids=name_of)
def test_and_then_everyone_gets_the_same(
    pair: Pair, action: Callable[[Clone], None]
) -> None:
    action(pair.a)
    pair.a.say("auth", "Later")
    for clone in (pair.a, pair.b, pair.a):
        clone.ok("sync")
    pair.a.check(pair.b)
    pair.b.check(pair.a)
    assert pair.a.tip() == pair.b.tip()


@pytest.mark.parametrize(
    "action",
    [
        each("stash"),
        each("reset -q --hard"),
        each("checkout -q -f ."),
        each("reset -q --hard HEAD~1"),
        each("stash", f"pull -q --rebase origin {THREADS}", "stash pop"),
        each("clean -fdq", "reset -q --hard HEAD~1"),
        each(f"switch -q -f --detach {THEIRS}", f"switch -q {THREADS}"),
        each(f"pull -q --rebase --autostash origin {THREADS}"),
    ],
    ids=name_of,
)
def test_what_was_not_committed_yet_comes_back(
    pair: Pair, action: Callable[[Clone], None]
) -> None:
    pair.a.say("auth", "Unsettled")
    pair.a.say("auth", "Unsettled too")
    pair.a.say("fresh", "Not even a log in the branch")
    action(pair.a)
    pair.a.say("auth", "Later")
    assert pair.a.settle().problems == {}
    pair.a.check()


@pytest.mark.parametrize("wait", [False, True])
def test_a_merge_that_someone_left_is_finished(pair: Pair, *, wait: bool) -> None:
    a = pair.a
    a.git("merge", "-q", "--no-commit", THEIRS)
    before = a.tip()
    a.say("auth", "Meanwhile")
    problems = a.settle().problems
    assert "a merge is in progress in" in problems["auth"]
    assert a.tip() == before
    assert "a merge is in progress in" in a.wc("doctor").out
    failed = a.wc("sync")
    assert failed.code == 7
    assert "a merge is in progress in" in failed.err
    if wait:
        a.age("MERGE_HEAD")
    else:
        a.git("commit", "-q", "-a", "--no-edit")
    assert a.settle().problems == {}
    a.ok("sync")
    a.check(pair.b)
    assert a.git("rev-list", "--count", "--merges", f"{before}..{THREADS}") == "1"
    a.git("merge-base", "--is-ancestor", THEIRS, THREADS)
    assert a.tried("rev-parse", "--verify", "MERGE_HEAD").code
    assert a.tried("merge", "--abort").code


def test_a_merge_with_conflicts_is_finished(pair: Pair) -> None:
    """Without the store's .gitattributes git writes its marks into the files;
    with it there are conflicts of bytes, and of what one side deleted."""
    a, b = pair.a, pair.b
    a.ok("sync")
    for name in ("gone-there.txt", "gone-here.txt"):
        commit_file(a, name, b"x\n")
    a.ok("sync")
    b.ok("sync")
    for clone, gone, kept in ((a, "here", "there"), (b, "there", "here")):
        clone.git("rm", "-q", f"gone-{gone}.txt")
        of = clone.home.name.encode()
        commit_file(clone, f"gone-{kept}.txt", b"of " + of)
        commit_file(clone, "picture.bin", b"\0" + of)
        commit_file(clone, "notes.txt", b"of " + of + b"\n")
        clone.commit("auth", f"Of {clone.home.name}")
    b.git("push", "-q", "origin", THREADS)
    a.git("fetch", "-q", "origin")
    (a.store / ".gitattributes").write_text("")
    assert a.tried("merge", THEIRS).code == 1
    assert b"\n=======\n" in a.log("auth")
    assert "DU gone-here.txt" in a.git("status", "--porcelain")
    a.git("checkout", "-q", "HEAD", "--", ".gitattributes")
    a.say("auth", "Meanwhile")
    a.age("MERGE_HEAD")
    assert a.settle().problems == {}
    a.check(b)
    assert (a.store / "picture.bin").read_bytes() == b"\0b"
    assert (a.store / "notes.txt").read_bytes().count(b"of ") == 2
    assert (a.store / "gone-there.txt").read_bytes() == b"of a"
    assert (a.store / "gone-here.txt").read_bytes() == b"of b"
    aside = a.store / ".local/quarantine/conflicts"
    assert any(b"=======" in one.read_bytes() for one in aside.iterdir())


def commit_file(clone: Clone, name: str, data: bytes) -> None:
    (clone.store / name).write_bytes(data)
    clone.git("add", name)
    clone.git("commit", "-q", "-m", name)


@pytest.mark.parametrize("words", ["merge -q --no-edit", "rebase -q"])
def test_what_other_tools_keep_in_meta_survives_a_merge(pair: Pair, words: str) -> None:
    a, b = pair.a, pair.b
    for clone in (a, b):
        meta = Path(clone.layout.meta("auth"))
        fields = json.loads(meta.read_text())
        fields[f"x-{clone.home.name}"] = 1
        meta.write_text(json.dumps(fields))
        clone.commit("auth", "With a key of another tool")
    b.git("push", "-q", "origin", THREADS)
    a.git("fetch", "-q", "origin")
    a.git(*words.split(), THEIRS)
    assert a.settle().problems == {}
    fields = json.loads(Path(a.layout.meta("auth")).read_text())
    assert fields["x-a"] == 1
    if words.startswith("merge"):
        assert fields["x-b"] == 1
    a.check(b)


@pytest.mark.parametrize(
    "words", ["merge -q --no-edit", "rebase -q", f"pull -q --rebase origin {THREADS}"]
)
def test_a_page_that_git_merges_with_that_of_a_log_is_taken_in(
    pair: Pair, words: str
) -> None:
    """No wc has seen the page of the older tool before."""
    a, b = pair.a, pair.b
    page = OLD_PAGE.format(topic="deploy") + OLD_ENTRY.format(number=0)
    (a.store / "threads/deploy.md").write_text(page)
    a.git("add", "threads/deploy.md")
    a.git("commit", "-q", "-m", "by the older tool")
    b.ok("sync")
    b.ok("new", "deploy", "-m", "Of b")
    b.ok("sync")
    a.git("fetch", "-q", "origin")
    a.git(*words.split(), *([] if "pull" in words else [THEIRS]))
    assert a.settle().problems == {}
    titles = [
        entry["title"] for entry in a.ok("read", "deploy", "--json").json["entries"]
    ]
    assert titles == ["old 0", "Of b"]
    a.check(b)


@pytest.mark.parametrize("how", ["--continue", "--abort"])
def test_a_rebase_that_stopped_holds_entries_back(pair: Pair, how: str) -> None:
    a = pair.a
    before = a.tip()
    todo = {"GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"}
    a.env |= todo
    a.git("rebase", "-q", "-i", THEIRS)
    a.say("auth", "Meanwhile")
    a.say("other", "And a new one")
    problem = a.settle().problems["auth"]
    assert "is not on the branch" in problem
    assert "rebase --continue" in problem
    assert "rebase --continue" in a.wc("doctor").out
    assert a.tip() == before
    failed = a.wc("sync")
    assert failed.code == 7
    assert "rebase --continue" in failed.err
    if how == "--continue":
        a.git("add", "-A")
    a.git("rebase", how)
    assert a.settle().problems == {}
    a.ok("sync")
    a.check(pair.b)
    worktrees = a.git("worktree", "list", "--porcelain")
    assert worktrees.count("worktree ") == 2


@pytest.mark.parametrize("words", ["checkout -q HEAD~1", "switch -q --detach"])
def test_whoever_looks_at_another_commit_makes_nobody_a_second_store(
    pair: Pair, words: str
) -> None:
    a = pair.a
    a.git(*words.split())
    assert a.ok("list", "--json").json["threads"]
    a.say("auth", "Meanwhile")
    problem = a.settle().problems["auth"]
    command = problem.rpartition(": ")[2]
    assert command == f"git -C {a.store} switch {THREADS}"
    a.git("stash", "-q")
    a.git(*command.split()[1:])
    assert a.settle().problems == {}
    a.check()


def test_a_store_at_another_branch_says_how_to_come_back(pair: Pair) -> None:
    a = pair.a
    a.git("switch", "-q", "-c", "side")
    done = a.wc("say", "auth", "--title", "x")
    assert done.code == 6
    command = done.err.rstrip().rpartition(": ")[2]
    a.git(*command.split()[1:])
    a.commit("auth", "x")
    a.check()


def test_a_git_that_runs_is_waited_for_and_one_that_crashed_is_not(
    pair: Pair,
) -> None:
    a = pair.a
    a.git("merge", "-q", "--no-commit", THEIRS)
    lock = a.path / ".git/worktrees" / a.store.name / "index.lock"
    lock.touch()
    a.age("MERGE_HEAD")
    a.say("auth", "Meanwhile")
    assert "a merge is in progress" in a.settle().problems["auth"]
    a.age("index.lock")
    assert a.settle().problems == {}
    assert lock.exists()
    lock.unlink()
    a.check(pair.b)


ROUNDS = amounts.rounds(1, 13)
DURING = (
    each("stash"),
    each("reset -q --hard"),
    each("reset -q --hard HEAD~1"),
    each(f"merge -q --no-edit {THEIRS}"),
    each("checkout -q -f HEAD~2", f"checkout -q -f {THREADS}"),
    each("revert --no-edit HEAD"),
    each("merge --abort"),
    each("revert --abort"),
    each("checkout -q HEAD~1 -- ."),
    each(f"rebase -q --autostash {THEIRS}"),
    each("rebase --abort"),
    each("commit -q -a -m person"),
)


def test_while_others_write_and_settle(pair: Pair) -> None:
    """Some of it git refuses, some it ends half-way: nothing is lost."""
    a = pair.a
    before = len(a.said["auth"])
    with a.writing("auth", "plan", "new"):
        for _ in range(ROUNDS):
            for action in DURING:
                with contextlib.suppress(AssertionError):
                    action(a)
                settler.settle(str(a.store), a.env)
    assert len(a.said["auth"]) > before
    for name in ("rebase", "merge", "revert"):
        a.tried(name, "--abort")
    a.tried("checkout", "-q", "-f", THREADS)
    assert a.settle().problems == {}
    # An exchange that was due in between may have failed: doctor would report that.
    a.ok("sync")
    a.check()
