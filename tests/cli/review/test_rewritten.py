"""``wc review`` of a branch whose history was rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.review.test_review import Trees, trees, write
from tests.cli.review.test_trunk import commit
from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine

__all__ = ["trees"]
LINES = "".join(f"line {n}\n" for n in range(40))


@pytest.fixture
def reviewed(trees: Trees) -> Trees:
    """The critic has seen three commits, each about a file of its own and a line of a
    common one, and passed the ball back. Then the trunk moved."""
    commit(trees.main, "long.py", LINES)
    trees.login.git("merge", "-q", "--ff-only", "main")
    for number in range(3):
        add(trees.login, number)
    trees.say(trees.login, "Claude Code", "Codex")
    trees.say(trees.review, "Codex", "Claude Code")
    text = (trees.main.path / "long.py").read_text()
    commit(trees.main, "long.py", text.replace("line 35\n", "line thirty-five\n"))
    commit(trees.main, "trunk.py", "trunk = 1\n")
    return trees


def add(tree: Here, number: int, text: str = "") -> None:
    """Commit a change of a line, and a new file."""
    change = text or f"own {number}"
    lines = (tree.path / "long.py").read_text()
    write(tree, "long.py", lines.replace(f"line {number * 10}\n", f"{change}\n"))
    write(tree, f"own{number}.py", f"{change}\n")
    tree.git("add", ".")
    tree.git("commit", "-qm", f"Change {number}")


def submitted(trees: Trees) -> dict[str, Any]:
    """What the critic is shown after the author passed the ball."""
    words = ("--to", "Codex", "--force", "--as", "Claude Code")
    trees.login.ok("say", "login", "--title", "x", *words)
    answer = trees.review.json("review", "login", "--as", "Codex")
    assert isinstance(answer, dict)
    return answer


def changes(answer: dict[str, Any]) -> list[str]:
    return [f"{item['change']} {item['subject']}" for item in answer["commits"]]


def files(answer: dict[str, Any]) -> list[str]:
    return [file["path"] for file in answer["files"]]


def rebase(trees: Trees) -> None:
    trees.login.git("rebase", "-q", "main")


def test_after_a_rebase_alone_nothing_has_changed(reviewed: Trees) -> None:
    rebase(reviewed)
    answer = submitted(reviewed)
    assert (answer["files"], answer["diff"], answer["notes"]) == ([], "", [])
    assert changes(answer) == [f"unchanged Change {n}" for n in range(3)]
    done = reviewed.review.ok("review", "login", "--as", "Codex")
    new = reviewed.login.git("rev-parse", "--short=7", "HEAD").strip()
    assert done.out == ""
    assert f"\n  unchanged {new} Change 2\n" in done.err


def test_a_rebase_and_a_new_commit(reviewed: Trees) -> None:
    rebase(reviewed)
    commit(reviewed.login, "new.py", "new = 1\n")
    answer = submitted(reviewed)
    assert files(answer) == ["new.py"]
    assert changes(answer)[3:] == ["new new.py: new = 1"]


def test_commits_on_top_are_not_listed(reviewed: Trees) -> None:
    commit(reviewed.login, "new.py", "new = 1\n")
    assert submitted(reviewed)["commits"] == []


def test_uncommitted_changes_that_were_committed_are_no_rewriting(
    reviewed: Trees,
) -> None:
    write(reviewed.login, "new.py", "new = 1\n")
    reviewed.say(reviewed.login, "Claude Code", "Codex")
    reviewed.say(reviewed.review, "Codex", "Claude Code")
    commit(reviewed.login, "new.py", "new = 2\n")
    answer = submitted(reviewed)
    assert (files(answer), answer["commits"]) == (["new.py"], [])
    rebase(reviewed)
    answer = submitted(reviewed)
    assert changes(answer)[2:] == ["unchanged Change 2", "new new.py: new = 2"]


def test_an_amended_commit(reviewed: Trees) -> None:
    rebase(reviewed)
    write(reviewed.login, "own2.py", "better\n")
    old = reviewed.login.git("rev-parse", "HEAD").strip()
    reviewed.login.git("commit", "-qa", "--amend", "--no-edit")
    answer = submitted(reviewed)
    assert files(answer) == ["own2.py"]
    assert "-own 2\n+better" in answer["diff"]
    assert changes(answer)[2:] == ["changed Change 2"]
    assert old not in {item["old"] for item in answer["commits"]}
    done = reviewed.review.ok("review", "login", "--as", "Codex")
    assert " Change 2 (was " in done.err


def pick(trees: Trees, *order: int) -> None:
    """Rewrite the branch: those of its three commits, in this order."""
    commits = trees.login.git("rev-list", "--reverse", "-3", "HEAD").split()
    trees.login.git("reset", "-q", "--hard", "main")
    for number in order:
        trees.login.git("cherry-pick", commits[number])


def test_another_order(reviewed: Trees) -> None:
    pick(reviewed, 2, 0, 1)
    answer = submitted(reviewed)
    assert files(answer) == []
    assert changes(answer) == [f"unchanged Change {n}" for n in (2, 0, 1)]


def test_a_dropped_commit(reviewed: Trees) -> None:
    pick(reviewed, 0, 2)
    answer = submitted(reviewed)
    assert files(answer) == ["long.py", "own1.py"]
    assert changes(answer) == [
        *("unchanged Change 0", "unchanged Change 2", "dropped Change 1"),
    ]


def test_a_squash_shows_the_difference_of_the_whole(reviewed: Trees) -> None:
    rebase(reviewed)
    write(reviewed.login, "own0.py", "better\n")
    reviewed.login.git("add", ".")
    reviewed.login.git("reset", "-q", "--soft", "main")
    reviewed.login.git("commit", "-qm", "All of it")
    answer = submitted(reviewed)
    assert files(answer) == ["own0.py"]
    assert changes(answer) == [
        *("new All of it", "dropped Change 0", "dropped Change 1", "dropped Change 2"),
    ]


def test_a_commit_in_other_surroundings_is_unchanged(reviewed: Trees) -> None:
    text = (reviewed.main.path / "long.py").read_text()
    commit(reviewed.main, "long.py", text.replace("line 12\n", "line twelve\n"))
    rebase(reviewed)
    answer = submitted(reviewed)
    assert (files(answer), changes(answer)[1]) == ([], "unchanged Change 1")


def test_a_changed_binary_file_is_a_change(reviewed: Trees) -> None:
    login = reviewed.login
    (login.path / "icon").write_bytes(b"\0one")
    login.git("add", "icon")
    login.git("commit", "-qm", "Icon")
    reviewed.say(login, "Claude Code", "Codex")
    reviewed.say(reviewed.review, "Codex", "Claude Code")
    rebase(reviewed)
    (login.path / "icon").write_bytes(b"\0two")
    login.git("commit", "-qa", "--amend", "--no-edit")
    answer = submitted(reviewed)
    assert (files(answer), changes(answer)[-1]) == (["icon"], "changed Icon")


def fast_forward(trees: Trees) -> None:
    trees.main.git("merge", "-q", "--ff-only", "login")


def forget(trees: Trees) -> None:
    """Git has no log of the trunk, as in another clone."""
    fast_forward(trees)
    (trees.main.path / ".git/logs/refs/heads/main").unlink()


@pytest.mark.parametrize(
    ("land", "notes"),
    [
        (fast_forward, []),
        (forget, ["main has all of login; what it has up to … counts as others' work"]),
    ],
)
def test_a_trunk_that_was_moved_along_the_branch_shows_nothing_of_its_own(
    reviewed: Trees, land: Callable[[Trees], None], notes: list[str]
) -> None:
    rebase(reviewed)
    commit(reviewed.login, "new.py", "new = 1\n")
    trunk = reviewed.main.git("rev-parse", "--short=7", "main").strip()
    land(reviewed)
    answer = submitted(reviewed)
    assert files(answer) == ["new.py"]
    shown = [
        note.replace(trunk, "…").removesuffix(" others") for note in answer["notes"]
    ]
    assert shown == notes
    assert changes(answer)[2:] == ["unchanged Change 2", "new new.py: new = 1"]
    # The trunk moves on.
    commit(reviewed.main, "later.py", "later = 1\n")
    assert files(submitted(reviewed)) == ["new.py"]


def test_a_trunk_that_was_moved_along_a_branch_with_a_merge(reviewed: Trees) -> None:
    reviewed.login.git("merge", "-q", "--no-edit", "main")
    commit(reviewed.login, "new.py", "new = 1\n")
    fast_forward(reviewed)
    answer = submitted(reviewed)
    assert (files(answer), answer["notes"]) == (["new.py"], [])


def test_a_note_says_that_what_others_did_is_unknown(reviewed: Trees) -> None:
    reviewed.login.git("merge", "-q", "--no-edit", "main")
    commit(reviewed.login, "new.py", "new = 1\n")
    forget(reviewed)
    answer = submitted(reviewed)
    assert "new.py" in files(answer)
    (note,) = answer["notes"]
    assert note.startswith("main has all of login, so the changes of others since")


def test_a_branch_that_was_reset_to_a_pulled_trunk(reviewed: Trees) -> None:
    """The trunk came from elsewhere; nothing of the branch is left."""
    reviewed.login.git("reset", "-q", "--hard", "main")
    answer = submitted(reviewed)
    assert [item["change"] for item in answer["commits"][-3:]] == ["dropped"] * 3
    assert "cannot be told apart" in answer["notes"][0]


def hub(trees: Trees, machine: Machine) -> Here:
    """Another clone, which has fetched the branch."""
    machine.git("init", "-q", "--bare", "hub", cwd=machine.root)
    trees.main.git("remote", "add", "origin", str(machine.root / "hub"))
    trees.main.git("push", "-q", "origin", "main", "login")
    trees.main.ok("sync")
    machine.git("clone", "-q", "--branch=main", "hub", "two", cwd=machine.root)
    two = Here(machine, machine.root / "two")
    two.ok("init")
    return two


def test_a_branch_that_was_pushed_by_force(reviewed: Trees, machine: Machine) -> None:
    two = hub(reviewed, machine)
    rebase(reviewed)
    add(reviewed.login, 3, "own three")
    words = ("--to", "Codex", "--force", "--as", "Claude Code")
    reviewed.login.ok("say", "login", "--title", "x", *words)
    reviewed.main.git("push", "-q", "--force", "origin", "main", "login")
    reviewed.main.ok("sync")
    two.ok("sync")
    two.git("fetch", "-q")
    answer = two.json("review", "login", "--as", "Codex", "--since", "1")
    assert files(answer) == ["long.py", "own3.py"]
    assert changes(answer)[2:] == ["unchanged Change 2", "new Change 3"]
    # Its old commits are gone.
    two.git("reflog", "expire", "--expire=now", "--all")
    two.git("gc", "-q", "--prune=now")
    answer = two.json("review", "login", "--as", "Codex", "--since", "1")
    assert files(answer) == [
        *("long.py", "own0.py", "own1.py", "own2.py", "own3.py"),
    ]
    (note,) = answer["notes"]
    assert "is not in this repository, so all of login is shown" in note
    assert "trunk.py" not in files(answer)


def test_too_many_commits_are_not_compared(
    reviewed: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wc_cli.edits.review.trunk.MAX_COMMITS", 2)
    rebase(reviewed)
    answer = submitted(reviewed)
    assert (answer["commits"], answer["diff"]) == ([], "")
    assert answer["notes"] == ["there are too many commits to compare one by one"]
