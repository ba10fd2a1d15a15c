"""Which store belongs to a place, and hints that fix what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.core.strategies import Git
from wc_core.base.errors import CorruptError
from wc_core.base.layout import BRANCH
from wc_core.ledger.git.discovery import (
    Place,
    find,
)

ODD_NAMES = ["plain", "with space", "new\nline", "quo'te\"s$(x)", "\udcff\udc80"]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path / "home")


@pytest.fixture
def top(git: Git, tmp_path: Path) -> Path:
    """A repository with one commit on ``main`` and no store."""
    return git.repository(tmp_path / "app")


def place(git: Git, where: Path, **env: str) -> Place:
    return find(str(where), git.env | env)


def with_store(git: Git, top: Path) -> Path:
    """Give a repository its store where one is planned."""
    root = Path(place(git, top).root)
    git.branch(top, BRANCH)
    return git.checkout(top, BRANCH, root)


# --- repositories ------------------------------------------------------------


def test_the_main_worktree_itself_can_be_the_store(git: Git, top: Path) -> None:
    git.branch(top, BRANCH)
    git(top, "checkout", "-q", BRANCH)
    assert place(git, top).root == str(top)


def test_bare_repositories_and_submodules_have_stores_of_their_own(
    git: Git, top: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", top, bare)
    root = with_store(git, bare)
    assert place(git, bare).root == str(root)
    allowed = ("-c", "protocol.file.allow=always")
    git(top, *allowed, "submodule", "add", "-q", bare, "lib")
    module = place(git, top / "lib")
    assert not module.exists
    assert module.root not in {str(root), place(git, top).root}
    assert place(git, top / "lib").root == str(with_store(git, top / "lib"))


# --- what was moved, copied, lost --------------------------------------------


def refused(git: Git, where: Path) -> CorruptError:
    with pytest.raises(CorruptError) as caught:
        place(git, where)
    assert caught.value.hint
    return caught.value


def follow(git: Git, where: Path, error: CorruptError) -> None:
    """Run the command at the end of a hint; ``wc init`` itself is not ours."""
    command = error.hint.partition(": ")[2].removesuffix(" && wc init")
    git.sh(where, command)


def test_a_store_that_git_has_forgotten_the_place_of_is_missed(
    git: Git, top: Path
) -> None:
    root = with_store(git, top)
    (admin,) = (top / ".git/worktrees").iterdir()
    (admin / "gitdir").write_text("")
    error = refused(git, top)
    assert str(admin) in error.message
    follow(git, top, error)
    assert place(git, top).exists is False
    assert root.is_dir()


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("from_linked", [False, True])
def test_a_moved_repository_finds_its_store_when_git_is_told(
    git: Git, tmp_path: Path, name: str, *, from_linked: bool
) -> None:
    top = git.repository(tmp_path / "app")
    root = with_store(git, top)
    linked = tmp_path / "linked"
    git(top, "worktree", "add", "-q", linked)
    moved = tmp_path / name
    top.rename(moved)

    error = refused(git, linked if from_linked else moved)
    assert str(top) in error.message
    assert "moved" in error.message + error.hint
    follow(git, moved, error)
    assert place(git, moved).root == str(root)
    assert place(git, linked).root == str(root)


def test_a_copy_whose_original_is_gone_counts_as_moved(
    git: Git, top: Path, tmp_path: Path
) -> None:
    root = with_store(git, top)
    copy = tmp_path / "copy"
    shutil.copytree(top, copy, symlinks=True)
    shutil.rmtree(top)
    follow(git, copy, refused(git, copy))
    assert place(git, copy).root == str(root)


@pytest.mark.parametrize("dot_git", ["nonsense", "", None])
def test_a_store_that_points_nowhere_is_not_trusted(
    git: Git, top: Path, dot_git: str | None
) -> None:
    root = with_store(git, top)
    (root / "threads").mkdir()
    (root / ".git").unlink()
    if dot_git is not None:
        (root / ".git").write_text(dot_git)
    error = refused(git, top)
    assert "nowhere" in error.message
    follow(git, top, error)
    assert place(git, top).root == str(root)
