"""The lines of `.gitattributes` and `.gitignore` in a store that other tools made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.clones import OLD_ENTRY, OLD_PAGE
from wc_core.base.layout import ATTRIBUTES, BRANCH, IGNORED

if TYPE_CHECKING:
    from tests.conftest import Repo

READING = (
    ("list",),
    ("brief",),
    ("read", "old"),
    ("doctor",),
    ("doctor", "--repair"),
    ("pin", "old"),
    ("statusline",),
)


@pytest.fixture
def repo_at_store(repo: Repo) -> Repo:
    """A repository whose own worktree has the branch of another tool checked out, and
    whose code has files of the same names."""
    for name in (".gitattributes", ".gitignore"):
        (repo.path / name).write_text("# of the code\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "code")
    repo.git("checkout", "-q", "--orphan", BRANCH)
    repo.git("rm", "-rqf", ".")
    (repo.path / "threads").mkdir()
    page = OLD_PAGE.format(topic="old") + OLD_ENTRY.format(number=0)
    (repo.path / "threads/old.md").write_text(page)
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "threads")
    return repo


@pytest.mark.parametrize("words", READING)
def test_reading_does_not_keep_git_from_checking_out_the_code(
    repo_at_store: Repo, words: tuple[str, ...]
) -> None:
    repo = repo_at_store
    repo.wc(*words)
    assert repo.git("status", "--porcelain") == ""
    repo.git("checkout", "-q", "main")
    assert (repo.path / ".gitignore").read_text() == "# of the code\n"


def test_the_first_entry_adds_and_commits_the_lines(repo_at_store: Repo) -> None:
    repo = repo_at_store
    repo.ok("read", "old")
    lacks = "lacks the line"
    assert lacks not in repo.wc("doctor").out
    repo.settled("say", "old", "--title", "Go on")
    assert repo.git("show", f"{BRANCH}:.gitattributes").strip() == ATTRIBUTES
    assert repo.git("show", f"{BRANCH}:.gitignore").strip() == IGNORED
    assert repo.git("status", "--porcelain") == ""
    assert lacks not in repo.wc("doctor").out
    repo.git("checkout", "-q", "main")


def test_a_store_in_the_tree_gets_no_attributes_after_a_list(repo: Repo) -> None:
    root = repo.path / ".watercooler"
    (root / ".local").mkdir(parents=True)
    # As a list leaves it in a store that another program wrote.
    (root / ".local/.gitignore").write_text("*\n")
    env = {"WATERCOOLER_DIR": str(root)}
    repo.ok("new", "auth", "--title", "T", env=env)
    assert (root / ".gitignore").read_text() == f"{IGNORED}\n"
    assert not (root / ".gitattributes").exists()
