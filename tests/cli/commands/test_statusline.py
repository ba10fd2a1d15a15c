"""``wc statusline`` and ``bin/wc-statusline`` say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Machine, Repo

SCRIPT = str(Path(__file__).resolve().parents[3] / "bin" / "wc-statusline")


def twins(
    repo: Repo,
    *words: str,
    cwd: str = "",
    feed: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """The line, which both print."""
    machine = repo.machine
    where = repo.path / cwd
    # A shell keeps PWD; the script relies on it.
    env = {**(env or {}), "PWD": str(where)}
    script = machine.run(["sh", SCRIPT, *words], where, feed=feed, env=env)
    ours = repo.wc("statusline", *words, cwd=cwd, feed=feed, env=env)
    assert (script.code, script.err, ours.code, ours.err) == (0, "", 0, "")
    assert ours.out == script.out
    return script.out.rstrip("\n")


def test_nothing_to_say(repo: Repo, machine: Machine) -> None:
    assert twins(repo) == ""
    assert twins(machine.folder("notes")) == ""


def test_a_day_in_two_worktrees(repo: Repo) -> None:
    fix = repo.worktree("app-wt-fix", "feature/fix")
    fix.ok("say", "login", "--title", "Begin", "--to", "Pat", "--as", "Codex")
    # What a worktree's script says of "me" it has from the commands run there.
    repo.ok("init")
    fix.ok("init")
    assert twins(repo) == "🎾 login waits for you elsewhere"
    assert twins(fix) == "🎾 you · login · 1 new"
    fix.ok("say", "login", "--title", "Done", "--status", "IN_REVIEW")
    assert twins(fix).startswith("Codex@fix (Pat) has the ball · login")
    assert "IN_REVIEW" in twins(fix)
    # As Codex, in the worktree it sits in and in another one.
    fix.ok("init", env={"WATERCOOLER_AGENT": "Codex"})
    assert "🎾 you · login" in twins(fix, env={"WATERCOOLER_AGENT": "Codex"})
    repo.ok("init", env={"WATERCOOLER_AGENT": "Codex"})
    assert twins(repo, env={"WATERCOOLER_AGENT": "Codex"}) == ""
    for topic in ("alpha", "beta", "gamma"):
        repo.ok("new", topic, "--title", "x", "--to", "Pat", "--as", "Codex")
    assert twins(repo) == "🎾 you · alpha · 1 new · +2"
    assert twins(fix) == "🎾 3 waiting for you elsewhere"
    (fix.path / "a/b").mkdir(parents=True)
    assert twins(fix, cwd="a/b") == "🎾 3 waiting for you elsewhere"
    repo.ok("read", "alpha")
    assert twins(repo) == "🎾 you · alpha · +2"
    for topic in ("alpha", "beta", "gamma"):
        repo.ok("set-status", topic, "CLOSED")
    assert twins(repo) == ""
    fix.ok("handoff", "login", "--to", "anyone", "--reason", "free")
    assert twins(fix).startswith("anyone can take · login")


CLAUDE = {"CLAUDECODE": "1"}


def test_a_person_and_their_agent_in_one_worktree(repo: Repo) -> None:
    repo.ok("init")
    repo.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(repo) == "Claude Code (Pat) has the ball · job · 1 new"
    assert twins(repo, env=CLAUDE) == "🎾 you · job"
    repo.ok("handoff", "job", "--to", "Pat", "--reason", "yours")
    assert twins(repo).startswith("🎾 you · job")
    assert twins(repo, env=CLAUDE).startswith("Pat has the ball · job")


def test_a_person_in_a_worktree_that_is_new_to_wc(repo: Repo) -> None:
    repo.ok("new", "job", "--title", "a")
    fix = repo.worktree("fix", "fix")
    assert twins(fix) == "🎾 job waits for you elsewhere"


def test_another_branch_is_another_seat(repo: Repo) -> None:
    tree = repo.worktree("tree", "f2")
    tree.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(tree, env=CLAUDE) == "🎾 you · job"
    repo.machine.git("checkout", "-q", "-b", "f3", cwd=tree.path)
    assert twins(tree, env=CLAUDE) == ""
    repo.machine.git("checkout", "-q", "f2", cwd=tree.path)
    assert twins(tree, env=CLAUDE) == "🎾 you · job"
    # A change keeps its seat whatever the branch.
    change = repo.worktree("app-wt-c1", "c1")
    change.ok("new", "more", "--title", "a", env=CLAUDE)
    repo.machine.git("checkout", "-q", "-b", "c2", cwd=change.path)
    assert "more" in twins(change, env=CLAUDE)


def test_a_seat_for_one_command_is_not_kept(repo: Repo) -> None:
    repo.ok("new", "job", "--title", "a", env=CLAUDE)
    repo.ok("new", "more", "--title", "a", "--seat", "x", env=CLAUDE)
    assert twins(repo, env=CLAUDE) == "🎾 you · job"


def test_an_agent_with_a_store_in_the_tree_of_its_worktree(repo: Repo) -> None:
    fix = repo.worktree("fix", "fix")
    (fix.path / ".watercooler/threads").mkdir(parents=True)
    fix.ok("new", "job", "--title", "a", env=CLAUDE)
    assert twins(fix, env=CLAUDE) == "🎾 you · job"


def test_a_linked_store_in_the_tree(repo: Repo, machine: Machine) -> None:
    repo.ok("new", "job", "--title", "a")
    away = machine.folder("away").path
    (away / "threads").mkdir()
    (repo.path / ".watercooler").symlink_to(away)
    assert twins(repo) == "🎾 you · job"


LOOKS = [
    ([], {"COLUMNS": "12"}),
    ([], {"COLUMNS": "40"}),
    (["--ascii"], {}),
    ([], {"WATERCOOLER_ASCII": "1"}),
    (["--color=always"], {}),
    (["--color=never"], {}),
]


@pytest.mark.parametrize(("words", "env"), LOOKS)
def test_looks(repo: Repo, words: list[str], env: dict[str, str]) -> None:
    repo.ok("new", "a-rather-long-topic-of-somebody", "--title", "x")
    assert twins(repo, *words, env=env)


def test_claude_code_s_json(repo: Repo, machine: Machine) -> None:
    repo.ok("new", "auth", "--title", "x")
    away = machine.folder("elsewhere")
    for fields in (
        {"workspace": {"current_dir": str(repo.path)}, "cwd": "/"},
        {"cwd": str(repo.path)},
    ):
        feed = json.dumps(fields).encode()
        assert twins(away, "--stdin", "--color=never", feed=feed) == "🎾 you · auth"
    for feed in (b"", b"nonsense", b"[]", b'{"cwd": 7}', b"\xff" * 100):
        assert twins(away, "--stdin", feed=feed) == ""


def test_a_store_that_is_gone(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "x")
    store = repo.store
    store.rename(store.with_name("away"))
    assert twins(repo) == "wc: store missing, run wc doctor"


def test_a_repository_that_was_moved(repo: Repo, machine: Machine) -> None:
    repo.ok("say", "auth", "--title", "x")
    repo.path = repo.path.rename(machine.root / "moved")
    assert twins(repo) == "wc: store moved, run wc doctor"


def test_damage_does_not_blank_the_line(repo: Repo) -> None:
    for topic in ("auth", "billing"):
        repo.ok("new", topic, "--title", "x")
    (repo.log("auth")).with_name("meta.json").write_text("{")
    assert twins(repo) == "🎾 you · auth · +1"


def test_a_colour_that_is_none(repo: Repo) -> None:
    assert "always" in repo.fails(2, "statusline", "--color", "red")


def test_templates_rows_and_links(repo: Repo) -> None:
    repo.ok("new", "one", "--title", "x", "--to", "Pat", "--as", "Codex")
    repo.ok("new", "two", "--title", "x", "--to", "Codex", "--as", "Pat")
    repo.ok("init")
    assert twins(repo, "--format", "{ball}{topic}{? ({new})}") == "🎾one (1)"
    env = {"WATERCOOLER_FORMAT": "{holder}"}
    assert twins(repo, env=env) == "you"
    rows = twins(repo, "--rows", "3").splitlines()
    assert rows == ["🎾 you · one · 1 new", "Codex has the ball · two"]
    linked = twins(repo, "--links", "page")
    page = linked.partition("file://")[2].partition("\033")[0]
    assert Path(page).name == "one.md"
    assert Path(page).parent.name == "threads"
