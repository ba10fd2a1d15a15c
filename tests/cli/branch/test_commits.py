"""The commit that the store's branch points to, with git's files unreadable."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.git import GitError
from wc_core.base.layout import BRANCH

if TYPE_CHECKING:
    from tests.conftest import Repo
    from wc_core.ledger.git.repository import Repository


@pytest.fixture
def checkout(repo: Repo) -> Repository:
    repo.settled("new", "auth", "-m", "Auth")
    return commits.checkout_at(str(repo.store))


def make_unreadable(path: Path) -> None:
    """Put a folder in the place of a file: nobody can read it as one, not even root."""
    path.unlink()
    path.mkdir()


def test_the_branch_has_a_commit(repo: Repo, checkout: Repository) -> None:
    assert commits.tip(checkout) == repo.git("rev-parse", BRANCH).strip()


def test_a_branch_that_cannot_be_read_is_not_one_without_a_commit(
    checkout: Repository,
) -> None:
    make_unreadable(Path(checkout.common, "refs/heads", BRANCH))
    with pytest.raises(GitError, match=f"the branch {BRANCH} cannot be read: .*"):
        commits.tip(checkout)


def test_a_common_directory_that_cannot_be_read_hides_no_branch(
    repo: Repo, checkout: Repository
) -> None:
    make_unreadable(Path(checkout.gitdir, "commondir"))
    with pytest.raises(GitError, match="commondir: could not be read"):
        commits.tip(commits.checkout_at(str(repo.store)))


def test_a_branch_without_a_commit_has_none(checkout: Repository) -> None:
    shutil.rmtree(Path(checkout.common, "refs/heads"))
    assert commits.tip(checkout) == ""
