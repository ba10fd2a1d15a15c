"""A repository read from its own files, compared with what git says about it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import Git
from wc_core.base.layout import BRANCH
from wc_core.ledger.git import repository
from wc_core.ledger.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

ODD_NAMES = ["with space", "new\nline", "quo'te\"s", "trailing ", "\udcff\udc80"]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path / "home")


@pytest.fixture
def top(git: Git, tmp_path: Path) -> Path:
    """A repository with one commit on ``main``."""
    return git.repository(tmp_path / "app")


def find(where: Path) -> Repository:
    found = repository.find(str(where))
    assert found is not None
    return found


def agrees(git: Git, where: Path) -> Repository:
    """What we find, when git finds the same."""
    found = find(where)
    said = git(where, "rev-parse", "--absolute-git-dir")
    assert found.gitdir == os.path.realpath(said)
    common = git(where, "rev-parse", "--git-common-dir")
    assert found.common == os.path.realpath(where / common)
    if found.top:
        assert found.top == git(where, "rev-parse", "--show-toplevel")
    return found


@pytest.mark.parametrize("name", ["plain", *ODD_NAMES])
def test_a_linked_worktree_shares_the_common_directory(
    git: Git, tmp_path: Path, name: str
) -> None:
    top = git.repository(tmp_path / name)
    linked = tmp_path / f"{name}-wt-fix"
    git(top, "worktree", "add", "-q", "-b", "fix", linked)
    (linked / "sub").mkdir()
    found = agrees(git, linked / "sub")
    assert found.common == f"{top}/.git"
    assert found.linked
    assert found.worktree_id == os.path.basename(found.gitdir)
    assert (found.branch, found.change_id) == ("fix", "fix")
    assert found.name == find(top).name == name
    assert (str(linked), "fix") in repository.worktrees(find(top))


def test_links_may_be_relative(git: Git, top: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(top, "worktree", "add", "-q", "-b", BRANCH, linked)
    admin = top / ".git/worktrees/linked"
    (admin / "gitdir").write_text("../../../../linked/.git\n")
    (linked / ".git").write_text("gitdir: ../app/.git/worktrees/linked\n")
    assert agrees(git, linked) == (f"{top}/.git", str(admin), str(linked))
    (checkout,) = repository.checkouts_of(find(top), BRANCH)
    assert checkout.trusted
    assert checkout.path == str(linked)
    for where in (top, linked):
        found = repository.worktrees(find(where))
        assert [(os.path.realpath(path), name) for path, name in found] == [
            (str(linked), BRANCH)
        ]


def test_a_bare_repository_has_no_worktree_but_may_have_linked_ones(
    git: Git, top: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "lib.git"
    git(tmp_path, "clone", "-q", "--bare", top, bare)
    for where in (bare, bare / "refs/heads"):
        assert agrees(git, where) == (str(bare), str(bare), "")
    assert find(bare).name == "lib"
    assert find(bare).change_id == ""
    linked = tmp_path / "linked"
    git(bare, "worktree", "add", "-q", linked)
    assert agrees(git, linked).linked
    assert agrees(git, linked).name == "lib"


def test_a_bare_repository_beside_its_worktrees(
    git: Git, top: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    git(tmp_path, "clone", "-q", "--bare", top, project / ".bare")
    (project / ".git").write_text("gitdir: ./.bare\n")
    git(project, "worktree", "add", "-q", "main")
    assert find(project / "main").common == f"{project}/.bare"
    assert find(project).name == find(project / "main").name == "project"


def test_inside_the_git_directory_there_is_no_worktree(git: Git, top: Path) -> None:
    git(top, "worktree", "add", "-q", top.parent / "linked")
    for where in (top / ".git", top / ".git/objects"):
        assert agrees(git, where) == (f"{top}/.git", f"{top}/.git", "")
    inside = find(top / ".git/worktrees/linked")
    assert (inside.common, inside.top) == (f"{top}/.git", "")


def test_a_submodule_is_a_repository_of_its_own_and_not_linked(
    git: Git, top: Path, tmp_path: Path
) -> None:
    library = git.repository(tmp_path / "library")
    allowed = ("-c", "protocol.file.allow=always")
    git(top, *allowed, "submodule", "add", "-q", library, "vendor/lib")
    found = agrees(git, top / "vendor/lib")
    assert found.common == f"{top}/.git/modules/vendor/lib"
    assert not found.linked
    assert found.worktree_id == ""
    assert found.name == "lib"
    linked = tmp_path / "lib-wt-x"
    git(top / "vendor/lib", "worktree", "add", "-q", linked)
    assert agrees(git, linked).linked
    assert agrees(git, linked).common == found.common


@pytest.mark.parametrize("name", ["kept", " kept ", "ke\npt"])
def test_a_git_directory_may_lie_elsewhere_or_behind_links(
    git: Git, tmp_path: Path, name: str
) -> None:
    work = tmp_path / "work"
    kept = f"{tmp_path}/{name}"
    git(tmp_path, "init", "-q", f"--separate-git-dir={kept}", work)
    assert agrees(git, work).common == kept
    link = tmp_path / "link"
    link.symlink_to("work")
    assert find(link) == find(work)
    (work / ".git").unlink()
    (work / ".git").symlink_to(kept)
    assert agrees(git, work).common == kept


def test_files_of_git_may_be_links(git: Git, top: Path, tmp_path: Path) -> None:
    git(top, "pack-refs", "--all")
    for name in ("packed-refs", "config", "objects", "refs"):
        (top / ".git" / name).rename(tmp_path / name)
        (top / ".git" / name).symlink_to(tmp_path / name)
    assert agrees(git, top).commit == git(top, "rev-parse", "HEAD")


def test_where_there_is_no_repository_none_is_found(git: Git, tmp_path: Path) -> None:
    assert repository.find(str(tmp_path)) is None
    assert repository.find("/") is None
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    assert repository.find(str(tmp_path / "sub")) is None
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("nonsense")
    assert repository.find(str(tmp_path)) is None
    top = git.repository(tmp_path / "top")
    (top / "sub/.git").mkdir(parents=True)
    assert agrees(git, top / "sub").top == str(top)


# --- branches, commits, refs -------------------------------------------------


def test_head_is_read_whatever_state_it_is_in(git: Git, top: Path) -> None:
    def same() -> tuple[str, str]:
        found = find(top)
        assert found.branch == git(top, "branch", "--show-current")
        return found.branch, found.commit

    first = git(top, "rev-parse", "HEAD")
    assert same() == ("main", first)
    git(top, "pack-refs", "--all")
    assert same() == ("main", first)
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    second = git(top, "rev-parse", "HEAD")
    assert same() == ("main", second)  # loose before packed
    git(top, "checkout", "-q", "--detach", first)
    assert same() == ("", first)
    git(top, "checkout", "-q", "-b", "feature/ü\u2028x")
    assert same() == ("feature/ü\u2028x", first)
    git(top, "pack-refs", "--all")
    assert same() == ("feature/ü\u2028x", first)
    git(top, "checkout", "-q", "--orphan", "unborn")
    assert same() == ("unborn", "")


def test_refs_that_point_to_refs_are_followed_but_not_in_circles(
    git: Git, top: Path
) -> None:
    found = find(top)
    git(top, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert repository.resolve(found, "refs/heads/alias") == found.commit
    (top / ".git/refs/heads/loop").write_text("ref: refs/heads/loop\n")
    assert repository.resolve(found, "refs/heads/loop") == ""
    assert repository.resolve(found, "refs/heads/absent") == ""


def test_what_git_could_not_read_either_says_nothing(top: Path) -> None:
    for name in ("packed-refs", "refs/heads/odd"):
        (top / ".git" / name).mkdir()
        assert repository.resolve(find(top), "refs/heads/odd") == ""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("remote", ["origin", "team/sam", "odd.name"])
def test_a_fetched_branch_is_known_with_its_remote(
    git: Git, top: Path, tmp_path: Path, remote: str, *, packed: bool
) -> None:
    other = git.repository(tmp_path / "other")
    git.branch(other, BRANCH)
    git(other, "branch", f"deep/{BRANCH}")
    found = find(top)
    assert not repository.has_branch(found, BRANCH)
    git(top, "remote", "add", remote, other)
    git(top, "fetch", "-q", remote)
    if packed:
        git(top, "pack-refs", "--all")
    assert not repository.resolve(found, f"refs/heads/{BRANCH}")
    assert repository.has_branch(found, BRANCH)
    # "deep" is part of the branch's name there, not of a remote's.
    assert repository.remote_branches(found, BRANCH) == [remote]


# --- checkouts ---------------------------------------------------------------


def test_no_checkout_of_a_bare_repository_is_its_own_folder(
    git: Git, top: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "lib.git"
    git(tmp_path, "clone", "-q", "--bare", top, bare)
    git(bare, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
    assert repository.checkouts_of(find(bare), BRANCH) == []
    assert repository.worktrees(find(bare)) == []


def test_a_checkout_that_does_not_point_back_is_not_trusted(
    git: Git, top: Path, tmp_path: Path
) -> None:
    git.branch(top, BRANCH)
    store = git.checkout(top, BRANCH, tmp_path / "store")
    admin = top / ".git/worktrees/store"
    where = find(top)

    (store / ".git").write_text("gitdir: /elsewhere\n")
    (found,) = repository.checkouts_of(where, BRANCH)
    assert not found.trusted
    assert found.points_to == "/elsewhere"

    shutil.rmtree(store)
    (found,) = repository.checkouts_of(where, BRANCH)
    assert found[:3] == (str(store), str(admin), "")

    (admin / "gitdir").write_text("")
    (found,) = repository.checkouts_of(where, BRANCH)
    assert not found.trusted
    assert found.path == ""


@pytest.mark.parametrize(
    ("common", "name"),
    [
        ("/w/app/.git", "app"),
        ("/w/lib.git", "lib"),
        ("/w/app/.bare", "app"),
        ("/w/app/.git/modules/x", "x"),
        ("/.git", "repository"),
    ],
)
def test_a_repository_is_called_after_its_folder(common: str, name: str) -> None:
    assert Repository(common, common, "").name == name


def test_a_bare_repository_among_the_files_of_another_is_none(
    git: Git, top: Path
) -> None:
    """It came with them, and its configuration names programs that git starts."""
    git(top, "init", "-q", "--bare", "sub")
    for folder in (top / "sub", top / "sub/refs"):
        repository = find(folder)
        assert (repository.top, repository.common) == (str(top), f"{top}/.git")


def test_a_ref_leads_nowhere_else(git: Git, top: Path) -> None:
    tip = git(top, "rev-parse", "HEAD").strip()
    git(top, "update-ref", "refs/remotes/origin/evil", tip)
    git(top, "branch", "codex/x")
    name = "refs/heads/codex/../../remotes/origin/evil"
    assert repository.resolve(find(top), name) == ""
