"""``wc review`` after the author's branch has taken in the trunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.review.test_review import Trees, review, submit, trees, write

if TYPE_CHECKING:
    from tests.contract.inprocess import Here

__all__ = ["trees"]


def commit(tree: Here, name: str, text: str) -> None:
    write(tree, name, text)
    tree.git("add", name)
    tree.git("commit", "-qm", f"{name}: {text.strip()}")


def seen(trees: Trees) -> None:
    """The critic has seen one commit of the author, which changes the first line of
    long.py, and has passed the ball back. Then the trunk changes other lines."""
    commit(trees.main, "long.py", "".join(f"line {n}\n" for n in range(30)))
    trees.login.git("merge", "-q", "--ff-only", "main")
    text = (trees.login.path / "long.py").read_text()
    commit(trees.login, "long.py", text.replace("line 0\n", "line zero\n"))
    trees.say(trees.login, "Claude Code", "Codex")
    trees.say(trees.review, "Codex", "Claude Code")
    text = (trees.main.path / "long.py").read_text()
    commit(trees.main, "long.py", text.replace("line 20\n", "line twenty\n"))
    commit(trees.main, "trunk.py", "trunk = 1\n")


def merge(trees: Trees) -> None:
    trees.login.git("merge", "-q", "--no-edit", "main")


def rebase(trees: Trees) -> None:
    trees.login.git("rebase", "-q", "main")


def squash(trees: Trees) -> None:
    """The branch begins at the trunk, with one commit for all of its changes."""
    merge(trees)
    trees.login.git("reset", "-q", "--soft", "main")
    trees.login.git("commit", "-qm", "squashed")


@pytest.mark.parametrize("take_in", [merge, rebase, squash])
def test_what_came_from_the_trunk_is_not_shown(trees: Trees, take_in: object) -> None:
    seen(trees)
    commit(trees.login, "before.py", "before = 1\n")
    assert callable(take_in)
    take_in(trees)
    commit(trees.login, "after.py", "after = 1\n")
    write(trees.login, "open.py", "open = 1\n")
    submit(trees.login)
    answer = trees.review.json("review", "login", "--as", "Codex")
    assert [file["path"] for file in answer["files"]] == [
        *("after.py", "before.py", "open.py"),
    ]
    tip = trees.main.git("rev-parse", "--short=7", "main").strip()
    assert answer["from"]["text"].endswith(f", with main up to {tip}")
    assert answer["notes"] == []


def test_a_first_review_begins_where_the_branch_now_leaves_the_trunk(
    trees: Trees,
) -> None:
    commit(trees.login, "own.py", "own = 1\n")
    commit(trees.main, "trunk.py", "trunk = 1\n")
    merge(trees)
    submit(trees.login)
    shown = review(trees.main, agent="Pat")
    assert "+own = 1" in shown
    assert "trunk = 1" not in shown


def test_a_resolved_conflict_is_shown(trees: Trees) -> None:
    seen(trees)
    text = (trees.main.path / "long.py").read_text()
    commit(trees.main, "long.py", text.replace("line 0\n", "line null\n"))
    done = trees.main.machine.run(["git", "merge", "-q", "main"], trees.login.path)
    assert done.code
    text = (trees.main.path / "long.py").read_text()
    write(trees.login, "long.py", text.replace("line null\n", "line zero or null\n"))
    trees.login.git("commit", "-qam", "merged")
    submit(trees.login)
    done = trees.review.ok("review", "login", "--as", "Codex")
    assert "+line zero or null" in done.out
    assert "trunk.py" not in done.out
    assert "line twenty" not in done.out.replace(" line twenty", "")
    note = "note: includes how conflicts with main were resolved: long.py"
    assert note in done.err


def test_work_that_the_trunk_has_already_is_shown(trees: Trees) -> None:
    """The trunk merged the branch before it was reviewed."""
    seen(trees)
    commit(trees.login, "new.py", "new = 1\n")
    trees.main.git("merge", "-q", "--no-edit", "login")
    commit(trees.login, "more.py", "more = 1\n")
    submit(trees.login)
    shown = review(trees.review)
    assert "+new = 1" in shown
    assert "+more = 1" in shown


def test_the_fetched_trunk_counts(trees: Trees) -> None:
    seen(trees)
    trees.main.git("update-ref", "refs/remotes/origin/main", "main")
    trees.main.git("config", "remote.origin.url", str(trees.main.path))
    merge(trees)
    trees.main.git("reset", "-q", "--hard", "main~2")
    commit(trees.login, "after.py", "after = 1\n")
    submit(trees.login)
    shown = review(trees.review)
    assert "+after = 1" in shown
    assert "trunk = 1" not in shown


def test_two_who_work_on_the_trunk_see_all_of_it(trees: Trees) -> None:
    trees.main.ok("handoff", "login", "--to", "Pat", "--reason", "r", "--force")
    trees.main.ok("say", "login", "--title", "x", "--to", "Codex", "--force")
    commit(trees.main, "trunk.py", "trunk = 1\n")
    trees.main.ok("say", "login", "--title", "y", "--to", "Pat", "--as", "Codex")
    assert "+trunk = 1" in review(trees.main, agent="Pat")
