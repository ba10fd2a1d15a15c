"""Approved branches that no longer merge into the base branch, because it moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.radar.test_refreshing import AUTH, Trees, trees
from tests.observe.stores import Session
from wc_cli.ledger.clock import now_ms
from wc_cli.run.board.live import worktree_lines
from wc_cli.run.board.source import BoardSource
from wc_cli.run.context import Context
from wc_core.edits.radar import kept

if TYPE_CHECKING:
    from tests.contract.inprocess import Here

__all__ = ["trees"]
CODEX = "Codex@login"


def commit(tree: Here, name: str, text: str) -> None:
    (tree.path / name).write_text(text, encoding="utf-8")
    tree.git("add", name)
    tree.git("commit", "-qm", f"{name}: {text.splitlines()[0]}")


def move_base(trees: Trees, line: str) -> None:
    commit(trees.main, "auth.py", AUTH.replace("b = 2", line))


@pytest.fixture
def approved(trees: Trees) -> Trees:
    """Codex changed a line on the branch app-wt-login; that was approved, and the ball
    is Codex's."""
    trees.main.ok("handoff", "login", "--to", CODEX)
    commit(trees.login, "auth.py", AUTH.replace("b = 2", "b = 3"))
    to_review = ("--status", "IN_REVIEW", "--to", "Claude Code", "--force")
    trees.login.ok("say", "login", "-m", "Done", *to_review, "--as", "Codex")
    words = ("--approve", "--to", CODEX, "--as", "Claude Code")
    trees.review.ok("say", "login", *words)
    return trees


def news(trees: Trees, *, tree: Here | None = None) -> str:
    """What the next prompt of Codex says, after the radar was computed."""
    trees.main.ok("radar")
    return trees.hook(tree or trees.login, WATERCOOLER_SYNC="off")


def test_the_holder_hears_of_it_once_for_each_commit_of_the_base(
    approved: Trees,
) -> None:
    approved.hook(approved.login, "session-start", WATERCOOLER_SYNC="off")
    assert "no longer merges" not in news(approved)
    move_base(approved, "b = 4")
    text = news(approved)
    assert (
        'Watercooler: "login" was approved, but "app-wt-login" no longer merges into '
        '"main": "auth.py · in login". Merge "main" into it or rebase it'
    ) in text
    assert news(approved) == ""
    move_base(approved, "b = 5")
    assert "no longer merges" in news(approved)


def test_after_a_rebase_it_is_no_longer_news(
    approved: Trees,
) -> None:
    approved.hook(approved.login, "session-start", WATERCOOLER_SYNC="off")
    move_base(approved, "b = 4")
    assert "no longer merges" in news(approved)
    approved.login.git("reset", "-q", "--hard", "main")
    commit(approved.login, "auth.py", AUTH.replace("b = 2", "b = 3"))
    assert news(approved) == ""
    assert "approved, but" not in approved.main.ok("radar").out


@pytest.mark.parametrize(
    "change",
    [
        ("say", "login", "--request-changes", "-m", "No", "--as", "Claude Code"),
        ("say", "login", "-m", "x", "--status", "IN_REVIEW", "--as", "Codex"),
        ("close", "login", "--as", CODEX, "--reason", "x"),
        ("handoff", "login", "--to", "Pat", "--as", CODEX),
    ],
)
def test_nobody_hears_of_what_is_not_approved_or_not_theirs(
    approved: Trees, change: tuple[str, ...]
) -> None:
    approved.hook(approved.login, "session-start", WATERCOOLER_SYNC="off")
    move_base(approved, "b = 4")
    approved.main.ok("radar")
    approved.main.ok(*change)
    assert "merges" not in approved.hook(approved.login, WATERCOOLER_SYNC="off")
    assert "merges" not in news(approved)


def test_a_base_that_moved_elsewhere_is_no_news(approved: Trees) -> None:
    approved.hook(approved.login, "session-start", WATERCOOLER_SYNC="off")
    commit(approved.main, "other.py", "x = 1\n")
    assert "merges" not in news(approved)
    (branch,) = approved.main.json("radar")["approved"]
    assert (branch["topic"], branch["merges"], branch["files"]) == ("login", True, [])


def test_branches_without_a_common_history_are_left_out(approved: Trees) -> None:
    approved.main.git("checkout", "-q", "--orphan", "else")
    approved.main.git("commit", "-qm", "another history")
    approved.main.git("branch", "-f", "main", "else")
    assert "approved" not in approved.main.json("radar")


def test_the_radar_and_its_json_name_the_files(approved: Trees) -> None:
    move_base(approved, "b = 4")
    assert approved.main.ok("radar").out.splitlines()[-2:] == [
        "login · branch app-wt-login · approved, but no longer merges into main",
        "    hot      auth.py · in login",
    ]
    (branch,) = approved.main.json("radar")["approved"]
    commit = approved.login.git("rev-parse", "HEAD").strip()
    file = {"path": "auth.py", "conflict": "contents", "symbols": ["login"]}
    assert branch == {
        "topic": "login",
        "branch": "app-wt-login",
        "commit": commit,
        "merges": False,
        "files": [file],
    }
    stored = kept.load(approved.layout)
    assert stored is not None
    assert [branch.topic for branch in stored.outdated] == ["login"]


def test_brief_board_problems_and_server_name_it(approved: Trees) -> None:
    move_base(approved, "b = 4")
    approved.main.ok("radar")
    brief = approved.login.ok("brief", "--as", "Codex").out
    assert 'Approved, but no longer merges (see: wc radar):\n- "login"' in brief
    (item,) = approved.login.json("brief", "--as", "Codex")["approvals"]
    assert (item["topic"], item["files"]) == ("login", ["auth.py · in login"])
    assert approved.login.json("brief", "--as", "Claude Code")["approvals"] == []
    sentence = (
        "was approved, but app-wt-login no longer merges into main: auth.py · in login"
    )
    assert f"login: {sentence}\n" in approved.main.wc("doctor").out
    context = Context(approved.main.machine.env, str(approved.main.path))
    approvals = BoardSource(context).approvals()
    assert worktree_lines([], [], approvals).plain == f" ⚠ login {sentence}"
    session = Session(approved.main.path, approved.main.machine.env)
    text = session.text("list_edits", show="conflicts")
    assert "approved, but no longer merges into main\n  conflict: auth.py" in text
    (branch,) = session.json("list_edits", show="conflicts")["approved"]
    assert not branch["merges"]
    assert "approved" not in session.json(
        "list_edits", show="conflicts", worktree="review"
    )


def test_the_brief_of_a_session_names_it_and_its_prompts_do_not(
    approved: Trees,
) -> None:
    move_base(approved, "b = 4")
    approved.main.ok("radar")
    text = approved.hook(approved.login, "session-start", WATERCOOLER_SYNC="off")
    assert "Approved, but no longer merges" in text
    assert approved.hook(approved.login, WATERCOOLER_SYNC="off") == ""


def test_an_old_radar_is_not_reported(approved: Trees) -> None:
    move_base(approved, "b = 4")
    approved.main.ok("radar")
    radar = kept.load(approved.layout)
    assert radar is not None
    old = radar._replace(at_ms=now_ms() - 3601 * 1000)
    path = approved.main.store / ".local/radar.json"
    path.write_bytes(kept.encode(old, {}))
    assert approved.login.json("brief", "--as", "Codex")["approvals"] == []


def test_a_thread_of_the_base_has_the_branch_on_which_others_worked(
    trees: Trees,
) -> None:
    trees.main.ok("new", "fix", "--title", "Opened on main", "--as", "Pat")
    commit(trees.review, "auth.py", AUTH.replace("b = 2", "b = 3"))
    to_review = ("--status", "IN_REVIEW", "--to", "Pat", "--force")
    trees.review.ok("say", "fix", "-m", "Done", *to_review, "--as", "Codex")
    trees.main.ok("say", "fix", "--approve", "--to", "Codex", "--as", "Pat")
    move_base(trees, "b = 4")
    (branch,) = trees.main.json("radar")["approved"]
    assert (branch["branch"], branch["merges"]) == ("app-wt-review", False)
