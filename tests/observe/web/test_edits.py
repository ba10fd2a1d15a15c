"""The page of edits, of a repository with worktrees."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from tests.observe.web.pages import Site, words

if TYPE_CHECKING:
    from tests.conftest import Machine

AUTH = "def login(user):\n    a = 1\n    b = 2\n    c = 3\n    return a\n"


@pytest.fixture
def repo(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    (repo.path / "auth.py").write_text(AUTH)
    (repo.path / "CHANGELOG.md").write_text("# Changes\n")
    (repo.path / "notes.txt").write_text("".join(f"{n}\n" for n in range(20)))
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("new", "login", "--title", "Log in")
    return repo


def site(repo: Here) -> Site:
    return Site(repo.path, repo.machine.env)


def test_without_a_radar_and_without_claims(repo: Here) -> None:
    text = site(repo).said("edits")
    assert "The radar has not been computed yet. Compute it: wc radar" in text
    assert "Nothing is claimed." in text


def test_the_matrix_and_the_pairs(repo: Here) -> None:
    for number, name in enumerate(("<b>", "login")):
        tree = repo.worktree(f"app-wt-{name}", f"branch-{number}")
        path = tree.path / "auth.py"
        path.write_text(path.read_text().replace("b = 2", f"b = 2{number}"))
        (tree.path / "CHANGELOG.md").write_text(f"# Changes\n- {number}\n")
        lines = (tree.path / "notes.txt").read_text().splitlines()
        lines[19 * number] = "changed"
        (tree.path / "notes.txt").write_text("\n".join([*lines, ""]))
    repo.ok("radar")
    page = site(repo).get("edits")
    rows = [words(row) for row in re.findall(r"(?s)<tr>.*?</tr>", page)]
    assert rows[:4] == [*("main <b> login", "main · ·", "<b> · 1 1 1", "login · 1 1 1")]
    # A keyboard can scroll the table even if no two worktrees conflict.
    assert 'class="matrix" tabindex="0" role="region"' in page
    pairs = words(page[page.index('<section class="pair"') :])
    assert pairs.startswith(
        "<b> and login "
        "conflict auth.py in login "
        "registry CHANGELOG.md keep the lines of both sides "
        "merges notes.txt Claims"
    )
    (target,) = set(re.findall(r'href="#(pair-\d-\d)"', page))
    assert f'id="{target}"' in page
    assert "3 worktrees, compared" in words(page)


def test_a_pair_that_cannot_be_compared(repo: Here) -> None:
    repo.worktree("app-wt-login")
    repo.ok("radar")
    path = Path(repo.store) / ".local/radar.json"
    fields = json.loads(path.read_text())
    fields["pairs"] = [[0, 1, [], "git <failed>"]]
    path.write_text(json.dumps(fields))
    text = site(repo).said("edits")
    assert "not compared: git <failed>" in text


def test_an_approved_branch_that_no_longer_merges(repo: Here) -> None:
    tree = repo.worktree("app-wt-login")
    (tree.path / "auth.py").write_text(AUTH.replace("b = 2", "b = 3"))
    tree.git("commit", "-qam", "login")
    to_review = ("--status", "IN_REVIEW", "--to", "Codex", "--force")
    tree.ok("new", "form", "--title", "x", "--as", "Claude Code")
    tree.ok("say", "form", "-m", "Done", *to_review, "--as", "Claude Code")
    repo.ok("say", "form", "--approve", "--as", "Codex")
    (repo.path / "auth.py").write_text(AUTH.replace("b = 2", "b = 4"))
    repo.git("commit", "-qam", "main")
    repo.ok("radar")
    sentence = "form: approved, but no longer merges into main conflict auth.py"
    assert sentence in site(repo).said("edits")
    # With what Codex wrote in the main worktree, and with the base branch.
    assert "auth.py with Codex@main +1" in site(repo).said()


def test_the_claims(repo: Here) -> None:
    words_of_claim = ("auth.py", "-m", "<new> form", "--thread", "login")
    repo.ok("claim", *words_of_claim, "--as", "Codex")
    repo.ok("claim", "notes.txt", "--mode", "read", "--as", "Gemini")
    page = site(repo).get("edits")
    rows = [words(row) for row in re.findall(r"(?s)<tr>.*?</tr>", page)]
    assert rows[0] == "What Who Thread Since Ends"
    assert rows[1].startswith("auth.py <new> form Codex (Pat) login ")
    assert re.search(r" in 1[45]m", rows[1])
    assert rows[2].startswith("notes.txt read Gemini CLI (Pat) ")
    assert '/threads/login"' in page
