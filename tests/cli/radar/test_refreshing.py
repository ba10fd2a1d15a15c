"""The radar is computed unasked, and those whom it concerns hear of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import Repo
from tests.contract.inprocess import Here
from tests.observe.stores import Session
from wc_cli.edits.radar import refreshing
from wc_cli.run.board.live import worktree_lines
from wc_cli.run.board.source import BoardSource
from wc_cli.run.context import Context
from wc_core.base.layout import Layout
from wc_core.edits.radar import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Machine

IN_BACKGROUND = {"WATERCOOLER_SYNC": "background"}
AUTH = "def login(user):\n    a = 1\n    b = 2\n    c = 3\n    return a\n"


class Trees(NamedTuple):
    """Two worktrees with an agent in each, and the store."""

    login: Here
    review: Here
    main: Here
    layout: Layout

    def hook(self, repo: Here, event: str = "user-prompt", **env: str) -> str:
        """What a hook of Codex in that worktree says."""
        fields = {"session_id": repo.path.name, "cwd": str(repo.path)}
        words = ("brief", "--hook", event, "--client", "codex")
        feed = json.dumps(fields).encode()
        done = repo.wc(*words, feed=feed, env={**IN_BACKGROUND, **env})
        assert (done.code, done.err) == (0, "")
        return done.out

    def at_ms(self) -> int:
        """When the radar was computed last."""
        radar = kept.load(self.layout)
        return 0 if radar is None else radar.at_ms

    def wait_for_radar(self, after: int) -> None:
        """Wait for one that began later."""
        wait_until(lambda: self.at_ms() > after)


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def trees(machine: Machine) -> Trees:
    repo = Here(machine, machine.repo().path)
    (repo.path / "auth.py").write_text(AUTH)
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("new", "login", "--title", "Log in")
    login = repo.worktree("app-wt-login")
    review = repo.worktree("app-wt-review")
    store = repo.store
    return Trees(login, review, repo, Layout(str(store)))


def edit(repo: Here, text: str) -> None:
    (repo.path / "auth.py").write_text(AUTH.replace("b = 2", text))


def test_a_write_computes_the_radar(trees: Trees) -> None:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    trees.login.ok("say", "login", "--title", "x", "--as", "Codex", env=IN_BACKGROUND)
    marks = [
        Path(trees.layout.conflict_mark(repo.path.name))
        for repo in (trees.login, trees.review)
    ]
    wait_until(lambda: all(mark.exists() for mark in marks))
    mark = marks[0].read_text()
    assert mark == "auth.py with review\napp-wt-review\n"
    line = trees.login.ok("statusline").out
    assert line.endswith(" · ⚠ auth.py with review\n")


def test_the_worktree_of_the_threads_has_no_say_in_how_files_merge(
    trees: Trees,
) -> None:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    inside = Here(trees.login.machine, trees.login.store)
    pairs = inside.json("radar")["pairs"]
    assert [[file["path"] for file in pair["hot"]] for pair in pairs] == [["auth.py"]]


def test_a_repository_with_one_worktree_needs_none(machine: Machine) -> None:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "login", "--title", "x")
    layout = Layout(str(repo.store))
    refreshing.refresh(str(repo.path), layout, machine.env)
    assert kept.load(layout) is None


def test_a_large_repository_has_longer_pauses(trees: Trees) -> None:
    assert refreshing.seconds_until_due(trees.layout) == 0.0
    trees.login.ok("radar")
    assert 0 < refreshing.seconds_until_due(trees.layout) <= 60
    path = Path(trees.layout.radar)
    fields = json.loads(path.read_text())
    fields["seen"]["seconds"] = 2.5
    path.write_text(json.dumps(fields))
    assert 49 < refreshing.seconds_until_due(trees.layout) <= 50
    fields["seen"]["seconds"] = 1e9
    path.write_text(json.dumps(fields))
    assert refreshing.seconds_until_due(trees.layout) <= 1200
    fields["seen"]["seconds"] = "long"
    path.write_text(json.dumps(fields))
    assert refreshing.seconds_until_due(trees.layout) <= 1


def test_a_hook_computes_it_and_both_hear_of_it_once(trees: Trees) -> None:
    for repo in (trees.login, trees.review):
        assert trees.hook(repo, "session-start")
    trees.wait_for_radar(0)
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    before = trees.at_ms()
    assert trees.hook(trees.login) == ""
    trees.wait_for_radar(before)
    for repo, other in ((trees.login, "review"), (trees.review, "login")):
        told = trees.hook(repo, WATERCOOLER_SYNC="off")
        assert f'conflict with those of "{other}"' in told.replace("Codex@", "")
        assert '"auth.py · in login"' in told
        assert f"wc radar '{other}'" in told
        assert trees.hook(repo, WATERCOOLER_SYNC="off") == ""


def test_a_hook_that_is_its_own_process_computes_it_too(trees: Trees) -> None:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    repo = Repo(trees.login.machine, trees.login.path)
    fields = {"session_id": "login", "cwd": str(repo.path)}
    edited = {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}}
    for event, more in (("session-start", {}), ("after-tool", edited)):
        before = trees.at_ms()
        words = ("brief", "--hook", event, "--client", "codex")
        # Its output ends before the radar begins.
        done = repo.wc(
            *words, feed=json.dumps(fields | more).encode(), env=IN_BACKGROUND
        )
        assert (done.code, done.err) == (0, "")
        trees.wait_for_radar(before)


def test_a_hook_starts_nothing_for_a_single_worktree(machine: Machine) -> None:
    repo = Here(machine, machine.repo().path)
    repo.ok("new", "login", "--title", "x")
    trees = Trees(repo, repo, repo, Layout(str(repo.store)))
    waiting = Path(trees.layout.radar_waiting)
    trees.hook(repo)
    assert not waiting.exists()
    repo.worktree("app-wt-review")
    trees.hook(repo)
    assert waiting.exists()


def test_a_conflict_that_comes_back_is_reported_again(trees: Trees) -> None:
    trees.hook(trees.login, WATERCOOLER_SYNC="off")
    edit(trees.review, "b = 4")
    for text, is_told in (("b = 3", True), ("b = 2", False), ("b = 3", True)):
        edit(trees.login, text)
        trees.review.ok("radar")
        told = trees.hook(trees.login, WATERCOOLER_SYNC="off")
        assert ("auth.py" in told) == is_told


def test_the_brief_names_conflicts_and_the_prompt_does_not_repeat_them(
    trees: Trees,
) -> None:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    trees.login.ok("radar")
    told = trees.hook(trees.login, "session-start", WATERCOOLER_SYNC="off")
    assert "Your changes will conflict" in told
    assert "  > auth.py · in login" in told
    assert trees.hook(trees.login, WATERCOOLER_SYNC="off") == ""
    brief = trees.login.json("brief")
    assert brief["conflicts"] == [
        {
            "with": "review",
            "worktree": "review",
            "branch": "app-wt-review",
            "files": [
                {
                    "path": "auth.py",
                    "conflict": "contents",
                    "symbols": ["login"],
                }
            ],
        }
    ]


def test_an_old_radar_is_not_reported(trees: Trees) -> None:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    trees.login.ok("radar")
    path = Path(trees.layout.radar)
    fields = json.loads(path.read_text())
    fields["at"] -= 3601 * 1000
    path.write_text(json.dumps(fields))
    assert trees.login.json("brief")["conflicts"] == []


@pytest.fixture
def in_conflict(trees: Trees) -> Trees:
    edit(trees.login, "b = 3")
    edit(trees.review, "b = 4")
    trees.login.ok("radar")
    return trees


def test_the_worktrees_name_their_conflicts(in_conflict: Trees) -> None:
    login = in_conflict.login
    lines = login.ok("worktrees").out.splitlines()
    conflicts = [line for line in lines if "⚠" in line]
    assert [line.split() for line in conflicts] == [
        f"⚠ conflicts with {other}: auth.py · in login".split()
        for other in ("review", "login")
    ]
    named = {
        tree["name"]: [conflict["worktree"] for conflict in tree.get("conflicts", ())]
        for tree in login.json("worktrees")["worktrees"]
    }
    assert named == {"login": ["review"], "review": ["login"], "main": []}


def test_a_conflict_is_a_problem_of_its_worktree(in_conflict: Trees) -> None:
    done = in_conflict.login.wc("doctor")
    assert done.code == 9
    assert (
        "this worktree: will conflict with review: auth.py · in login\n"
        "    Agree on who changes what: wc radar review\n"
    ) in done.out
    assert "conflict" not in in_conflict.main.wc("doctor").out


def test_the_server_answers_from_what_was_kept(in_conflict: Trees) -> None:
    login = in_conflict.login
    session = Session(login.path, login.machine.env)
    answer, own = session.json("list_edits", show="conflicts"), login.json("radar")
    assert [pair.items() >= own["pairs"][0].items() for pair in answer["pairs"]] == [
        True
    ]
    assert answer["age_seconds"] < 60
    for worktree, count in (("review", 1), ("app-wt-login", 1), ("main", 0)):
        named = session.json("list_edits", show="conflicts", worktree=worktree)
        assert named["total"] == len(named["pairs"]) == count
    text = session.text("list_edits", show="conflicts")
    assert '  **will conflict**: auth.py | "login"\n' in text
    assert "compared just now" in text
    trees = session.text("list_worktrees")
    assert (
        '  will conflict with review: auth.py (list_edits(show="conflicts"))\n' in trees
    )
    edit(login, "b = 2")
    assert session.json("list_edits", show="conflicts")["pairs"]  # it runs nothing


def test_the_server_without_a_radar(trees: Trees) -> None:
    session = Session(trees.login.path, trees.login.machine.env)
    answer = session.json("list_edits", show="conflicts")
    assert (answer["at"], answer["pairs"]) == (None, [])
    assert "wc radar" in answer["problem"]
    assert "wc radar" in session.text("list_edits", show="conflicts")
    trees.login.ok("radar")
    text = session.text("list_edits", show="conflicts")
    assert "No two of them change the same file." in text
    refused = session.call("list_edits", show="conflicts", worktree="nobody")
    assert refused.is_error
    assert "There are: main, login, review" in str(refused.content)


def test_the_board_has_a_line_for_a_pair(in_conflict: Trees) -> None:
    login = in_conflict.login
    context = Context(login.machine.env, str(login.path))
    text = worktree_lines(BoardSource(context).neighbours()).plain
    assert text == " ⚠ login conflicts with review: auth.py · in login"


def test_checking_a_file_in_conflict_warns(in_conflict: Trees) -> None:
    login = in_conflict.login
    text = "auth.py · in login will conflict with the changes of review on "
    own = login.json("check", "auth.py")
    assert (own["verdict"], own["warnings"]) == ("PROCEED", [f"{text}app-wt-review."])
    codes = [item["code"] for item in own["reasons"]]
    assert codes == ["FREE", "GRAPH_UNAVAILABLE", "HOT"]
    session = Session(login.path, login.machine.env)
    answer = session.json("check_status", symbols=["auth.py"])
    assert (answer["reasons"], answer["warnings"]) == (own["reasons"], own["warnings"])
    reasons = login.json("check", "other.py")["reasons"]
    assert [item["code"] for item in reasons] == ["FREE", "GRAPH_UNAVAILABLE"]
    edit(login, "b = 2")
    login.ok("radar")
    assert login.json("check", "auth.py")["warnings"] == []
