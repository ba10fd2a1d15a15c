"""Which store belongs to a place, and hints that fix what they say."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.core.strategies import Git
from wc_core.base.errors import CorruptError, InvalidInputError
from wc_core.base.layout import BRANCH
from wc_core.ledger.git import repository, storefolder
from wc_core.ledger.git.discovery import (
    BRANCH_STORE,
    IN_TREE_STORE,
    NAMED,
    PLAIN,
    Place,
    StoreMissingError,
    find,
    is_checkout,
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


def in_tree(folder: Path, inner: str = "threads") -> str:
    """Make an in-tree store in ``folder``."""
    (folder / ".watercooler" / inner).mkdir(parents=True)
    return f"{folder}/.watercooler"


# --- repositories ------------------------------------------------------------


def test_a_fresh_repository_has_a_store_planned_in_home(git: Git, top: Path) -> None:
    linked = top.parent / "app-wt-fix"
    git(top, "worktree", "add", "-q", linked)
    (top / "sub").mkdir()
    found = place(git, top)
    worktrees = git.home / ".watercooler/worktrees"
    assert os.path.dirname(found.root) == str(worktrees)
    assert os.path.basename(found.root).startswith("watercooler-app-")
    assert found.kind == BRANCH_STORE
    assert (found.exists, found.branch_exists) == (False, False)
    assert {place(git, where).root for where in (top / "sub", linked)} == {found.root}
    assert found.repository is not None
    assert storefolder.first_choice(found.repository, git.env) == found.root


@pytest.mark.parametrize("inner", ["", "deep/er"])
def test_repositories_of_the_same_name_never_share_a_store(
    git: Git, tmp_path: Path, inner: str
) -> None:
    one = git.repository(tmp_path / "a" / inner / "app")
    other = git.repository(tmp_path / "b" / inner / "app")
    assert place(git, one).root != place(git, other).root


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("fetched", [False, True])
def test_a_branch_that_is_there_is_adopted(
    git: Git, top: Path, tmp_path: Path, *, packed: bool, fetched: bool
) -> None:
    if fetched:
        other = git.repository(tmp_path / "other")
        git.branch(other, BRANCH)
        git(top, "remote", "add", "origin", other)
        git(top, "fetch", "-q", "origin")
    else:
        git.branch(top, BRANCH)
    if packed:
        git(top, "pack-refs", "--all")
    found = place(git, top)
    assert (found.exists, found.branch_exists) == (False, True)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_checkout_is_the_store_of_every_worktree(
    git: Git, tmp_path: Path, name: str
) -> None:
    top = git.repository(tmp_path / name)
    root = with_store(git, top)
    linked = tmp_path / f"{name}-wt-fix"
    git(top, "worktree", "add", "-q", "--detach", linked)
    (linked / "sub").mkdir()
    for where in (top, linked, linked / "sub", root, top / ".git"):
        found = place(git, where)
        assert (found.kind, found.root, found.exists) == (BRANCH_STORE, str(root), True)
    assert is_checkout(str(root))
    assert not is_checkout(str(top))


def test_a_checkout_made_elsewhere_is_adopted(
    git: Git, top: Path, tmp_path: Path
) -> None:
    git.branch(top, BRANCH)
    store = git.checkout(top, BRANCH, tmp_path / "made by another tool")
    assert place(git, top).root == str(store)
    # Neither another HOME nor none makes another one.
    assert place(git, top, HOME=str(tmp_path / "other")).root == str(store)
    assert find(str(top), {}).root == str(store)


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


@pytest.mark.parametrize("state", ["detached", "unborn"])
def test_the_state_of_head_does_not_matter(git: Git, top: Path, state: str) -> None:
    root = with_store(git, top)
    words = ["--detach"] if state == "detached" else ["--orphan", "unborn"]
    git(top, "checkout", "-q", *words)
    assert place(git, top).root == str(root)


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


def test_a_store_whose_folder_is_gone_is_missed(git: Git, top: Path) -> None:
    root = with_store(git, top)
    moved = root.with_name("moved")
    root.rename(moved)
    for _ in ("gone", "empty"):
        error = refused(git, top)
        assert isinstance(error, StoreMissingError)
        assert str(root) in error.message
        assert "wc init" in error.hint
        found = find(str(top), git.env, missing_ok=True)
        assert found[1:2] + found[3:] == (str(root), False, True)
        root.mkdir(exist_ok=True)
    root.rmdir()
    moved.rename(root)
    assert place(git, top).root == str(root)


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


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_copied_repository_gets_a_store_of_its_own(
    git: Git, top: Path, tmp_path: Path, name: str
) -> None:
    root = with_store(git, top)
    copy = tmp_path / name
    shutil.copytree(top, copy, symlinks=True)
    error = refused(git, copy)
    assert "copy" in error.message
    assert place(git, top).root == str(root)

    follow(git, copy, error)
    found = place(git, copy)
    assert (found.exists, found.branch_exists) == (False, True)
    assert found.root != str(root)
    git.checkout(copy, BRANCH, Path(found.root))  # as wc init does
    assert place(git, copy).exists
    assert place(git, top).root == str(root)


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


# --- in-tree -----------------------------------------------------------------


@pytest.mark.parametrize("inner", ["threads", "graph"])
def test_an_in_tree_store_comes_before_the_branch(
    git: Git, top: Path, inner: str
) -> None:
    with_store(git, top)
    root = in_tree(top, inner)
    (top / "sub").mkdir()
    found = place(git, top / "sub")
    assert (found.kind, found.root, found.exists) == (IN_TREE_STORE, root, True)


def test_the_nearest_in_tree_store_counts(git: Git, top: Path) -> None:
    in_tree(top)
    near = in_tree(top / "sub")
    assert place(git, top / "sub").root == near


def test_a_folder_of_that_name_alone_is_not_a_store(git: Git, top: Path) -> None:
    (top / ".watercooler").mkdir()
    assert place(git, top).kind == BRANCH_STORE
    (top / ".watercooler/threads").touch()
    assert place(git, top).kind == BRANCH_STORE


def test_an_in_tree_store_is_not_looked_for_past_the_git_root(
    git: Git, tmp_path: Path
) -> None:
    in_tree(tmp_path)
    top = git.repository(tmp_path / "sub/app")
    assert place(git, top).kind == BRANCH_STORE
    linked = top / "linked"
    in_tree(top)
    git(top, "worktree", "add", "-q", linked)
    # A worktree has the one that its own branch has.
    assert place(git, linked).kind == BRANCH_STORE
    assert place(git, top / ".git").kind == BRANCH_STORE


def test_a_repository_in_home_does_not_take_the_home_of_stores_for_one(
    git: Git,
) -> None:
    git(git.home, "init", "-q")
    in_tree(git.home)
    assert place(git, git.home).kind == BRANCH_STORE


# --- outside git -------------------------------------------------------------


def test_outside_git_a_store_is_looked_for_upward(git: Git, tmp_path: Path) -> None:
    sub = tmp_path / "a/b"
    sub.mkdir(parents=True)
    found = place(git, sub)
    assert found == (PLAIN, f"{sub}/.watercooler", None, False, False)
    root = in_tree(tmp_path / "a")
    assert place(git, sub) == (PLAIN, root, None, True, False)


def test_a_plain_store_can_be_a_link_and_the_root_of_all_is_looked_at(
    git: Git, tmp_path: Path
) -> None:
    (tmp_path / "real/threads").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.watercooler").symlink_to("../real")
    assert place(git, tmp_path / "sub").root == f"{tmp_path}/real"
    assert place(git, Path("/")).root == "/.watercooler"


def test_a_link_that_came_with_the_code_is_not_a_store(
    git: Git, top: Path, tmp_path: Path
) -> None:
    (tmp_path / "real/threads").mkdir(parents=True)
    (top / ".watercooler").symlink_to(tmp_path / "real")
    assert place(git, top).kind == "branch"


def test_home_itself_is_never_a_store(git: Git) -> None:
    in_tree(git.home)
    with pytest.raises(InvalidInputError, match="home"):
        place(git, git.home)
    below = git.home / "notes"
    below.mkdir()
    assert place(git, below).root == f"{below}/.watercooler"


def test_without_a_home_there_is_no_place_for_a_new_store(
    git: Git, top: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="HOME") as caught:
        place(git, top, HOME="")
    assert "WATERCOOLER_DIR" in caught.value.hint
    assert find(str(tmp_path), {}).root == f"{tmp_path}/.watercooler"
    root = in_tree(top)
    assert find(str(top), {}).root == root


# --- WATERCOOLER_DIR ---------------------------------------------------------


def test_a_named_store_comes_before_all_others(git: Git, top: Path) -> None:
    in_tree(top)
    named = top.parent / "named"
    named.mkdir()
    for text in (str(named), "../named", "../named/../named/"):
        found = place(git, top, WATERCOOLER_DIR=text)
        assert (found.kind, found.root, found.exists) == (NAMED, str(named), True)
        assert found.repository == repository.find(str(top))
    assert place(git, top, WATERCOOLER_DIR="").kind == IN_TREE_STORE


def test_a_named_store_need_not_be_there(git: Git, top: Path) -> None:
    found = place(git, top, WATERCOOLER_DIR="missing")
    assert (found.kind, found.root, found.exists) == (NAMED, f"{top}/missing", False)
    assert place(git, git.home, WATERCOOLER_DIR="x").root == f"{git.home}/x"


def test_a_named_checkout_is_committed_like_one(git: Git, top: Path) -> None:
    root = with_store(git, top)
    (root / "sub").mkdir()
    for where in (top, git.home):
        found = place(git, where, WATERCOOLER_DIR=str(root))
        assert (found.kind, found.root) == (BRANCH_STORE, str(root))
    assert place(git, top, WATERCOOLER_DIR=f"{root}/sub").kind == NAMED


# --- broken worktrees --------------------------------------------------------


def test_a_worktree_git_has_forgotten_is_an_error(git: Git, top: Path) -> None:
    linked = top.parent / "linked"
    git(top, "worktree", "add", "-q", linked)
    shutil.rmtree(top / ".git/worktrees/linked")
    error = refused(git, linked)
    assert str(linked) in error.message
    # A store that needs no git is found anyway.
    root = in_tree(linked)
    assert place(git, linked).root == root
