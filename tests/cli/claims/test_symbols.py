"""Claims on symbols: they must exist, or be planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.claims.test_claiming import CLAUDE, CODEX, claimed
from tests.contract.inprocess import Here

if TYPE_CHECKING:
    from tests.conftest import Machine

AUTH = "class Login:\n    def check(self):\n        pass\n\ndef out(): pass\n"


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    (repo.path / "auth.py").write_text(AUTH)
    repo.git("add", "auth.py")
    repo.git("commit", "-qm", "code")
    return repo


def test_a_symbol_must_exist(repo: Here) -> None:
    repo.ok("claim", "auth.py::Login.check", "auth.py::out", *CODEX)
    problem = repo.fails(3, "claim", "auth.py::check", *CODEX)
    assert "auth.py does not define check." in problem
    assert "It defines: Login.check." in problem
    assert "wc claim auth.py::check --new" in problem
    repo.fails(3, "claim", "missing.py::f", *CODEX)
    assert set(claimed(repo)) == {"auth.py::Login.check", "auth.py::out"}


def test_both_spellings_are_the_same_symbol(repo: Here) -> None:
    repo.ok("claim", "auth.py::Login::check", *CODEX)
    assert set(claimed(repo)) == {"auth.py::Login.check"}
    repo.fails(20, "claim", "auth.py::Login", *CLAUDE)


@pytest.mark.parametrize("target", ["notes.txt::Intro", "Makefile::all"])
def test_what_cannot_be_checked_is_claimed_with_a_note(repo: Here, target: str) -> None:
    done = repo.ok("claim", target, *CODEX)
    reason = "wc does not parse files of its kind"
    assert done.err == f"note: not checked whether {target} exists: {reason}\n"
    assert set(claimed(repo)) == {target}


def test_what_is_no_plain_file_cannot_be_checked(repo: Here) -> None:
    (repo.path / "folder.py").mkdir()
    done = repo.ok("claim", "folder.py::f", *CODEX)
    assert "it is not a file that can be parsed" in done.err


def test_a_planned_symbol_must_not_exist_anywhere(repo: Here) -> None:
    other = repo.worktree("app-wt-login")
    problem = repo.fails(20, "claim", "--new", "auth.py::out", *CODEX)
    assert "auth.py::out already exists, in the worktree main" in problem
    (other.path / "auth.py").write_text(f"{AUTH}\ndef there(): pass\n")
    problem = repo.fails(20, "claim", "--new", "auth.py::there", *CODEX)
    assert "in the worktree login" in problem
    repo.git("switch", "-qc", "topic")
    (repo.path / "auth.py").write_text("def on_branch(): pass\n")
    repo.git("commit", "-qam", "topic")
    repo.git("switch", "-q", "main")
    problem = repo.fails(20, "claim", "--new", "auth.py::on_branch", *CODEX)
    assert "in the branch topic" in problem
    repo.ok("claim", "--new", "auth.py::fresh", "new.py::f", "n.txt::x", *CODEX)
    assert set(claimed(repo)) == {"auth.py::fresh", "new.py::f", "n.txt::x"}


def test_what_was_to_be_made_and_is_not_there_is_reported(repo: Here) -> None:
    planned = ("auth.py::fresh", "made.py::f", "new.py", "n.txt::x")
    repo.ok("claim", "--new", *planned, *CODEX)
    repo.ok("claim", "auth.py::out", *CODEX)
    (repo.path / "made.py").write_text("def f(): pass\n")
    done = repo.ok("release", "--all", *CODEX)
    assert done.err.splitlines() == [
        "warning: auth.py::fresh: the symbol does not exist",
        "warning: new.py: the file does not exist",
    ]
    assert claimed(repo) == {}
