"""``wc statusline`` and ``bin/wc-statusline`` say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Machine, Repo

SCRIPT = str(Path(__file__).resolve().parents[2] / "bin" / "wc-statusline")


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
