"""The worktrees of a repository, compared with what git says about them."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import Git
from wc_core.base.layout import BRANCH
from wc_core.ledger.git import repository
from wc_core.ledger.git.worktrees import Worktree, worktrees

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path / "home")


@pytest.fixture
def top(git: Git, tmp_path: Path) -> Path:
    """A repository with a linked worktree of each kind."""
    top = git.repository(tmp_path / "app")
    add = ("worktree", "add", "-q")
    git(top, *add, "-b", "fix/login", "../app-wt-login")
    git(top, *add, "--detach", "../lost in\nspace")
    git(top, *add, "-b", "kept", "../kept")
    git(top, "worktree", "lock", "--reason", "on a stick", "../kept")
    git(top, *add, "-b", "gone", "../gone")
    shutil.rmtree(tmp_path / "gone")
    git(top, *add, "-b", "stick", "../stick")
    git(top, "worktree", "lock", "../stick")
    shutil.rmtree(tmp_path / "stick")
    return top


def find(where: Path, git: Git) -> list[Worktree]:
    found = repository.find(str(where))
    assert found is not None
    return worktrees(found, git.env)


def by_git(git: Git, where: Path) -> list[Worktree]:
    """What git lists, in our words."""
    told = []
    listed = git(where, "worktree", "list", "--porcelain", "-z").split("\0\0")
    for block in listed:
        said = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if said and "bare" not in said:
            told.append(
                Worktree(
                    os.path.realpath(said["worktree"]),
                    "",
                    branch=said.get("branch", "").removeprefix("refs/heads/"),
                    commit=said["HEAD"],
                    locked=said.get("locked"),
                    defect="prunable" if "prunable" in said else "",
                )
            )
    return sorted(told)


def likewise(found: list[Worktree]) -> list[Worktree]:
    """The same of what we found: git calls nothing prunable that is locked."""
    return sorted(
        one._replace(
            gitdir="",
            main=False,
            defect="prunable" if one.defect and one.locked is None else "",
            changed_ms=0,
        )
        for one in found
    )


def test_git_lists_the_same_from_each_of_them(git: Git, top: Path) -> None:
    for where in (top, top.parent / "app-wt-login"):
        found = find(where, git)
        assert likewise(found) == by_git(git, top)
        assert found[0].main
        assert [one.main for one in found[1:]] == [False] * 5
    names = {one.name: one for one in found}
    assert set(names) == {"main", "login", "lost in\nspace", "kept", "gone", "stick"}
    assert names["login"].change_id == "login"
    assert names["gone"].defect == names["stick"].defect == "its folder is missing"
    assert (names["kept"].locked, names["stick"].locked) == ("on a stick", "")


def test_the_store_is_none_of_them(git: Git, top: Path) -> None:
    before = find(top, git)
    tree = git(top, "hash-object", "-t", "tree", "-w", "/dev/null")
    git(top, "branch", BRANCH, git(top, "commit-tree", tree, "-m", "store"))
    git(top, "worktree", "add", "-q", "../store", BRANCH)
    git(top, "worktree", "lock", "--reason", repository.LOCK_REASON, "../store")
    assert likewise(find(top, git)) == likewise(before)
    # Nor is it where someone's git left it at another commit.
    git(top.parent / "store", "checkout", "-q", "--detach")
    assert likewise(find(top, git)) == likewise(before)
    assert likewise(find(top.parent / "store", git)) == likewise(before)


def test_a_bare_repository_has_only_linked_ones(git: Git, tmp_path: Path) -> None:
    top = git.repository(tmp_path / "origin")
    for name in ("app.git", "hidden/.git"):
        bare = tmp_path / name
        git(top, "clone", "-q", "--bare", str(top), str(bare))
        assert find(bare, git) == []
        linked = tmp_path / f"linked-{name[0]}"
        git(bare, "worktree", "add", "-q", "-b", "fix", str(linked))
        for where in (bare, linked):
            assert likewise(find(where, git)) == by_git(git, bare)


def test_a_git_directory_that_lies_elsewhere(git: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--separate-git-dir", "meta", "work")
    git(tmp_path / "work", "commit", "-q", "--allow-empty", "-m", "x")
    git(tmp_path / "work", "worktree", "add", "-q", "-b", "fix", "../fix")
    assert [one.path for one in find(tmp_path / "work", git)] == [
        str(tmp_path / "work"),
        str(tmp_path / "fix"),
    ]
    # From another worktree only the configuration tells where the main one is.
    assert [one.branch for one in find(tmp_path / "fix", git)] == ["fix"]
    git(tmp_path / "work", "config", "core.worktree", "../work")
    assert find(tmp_path / "fix", git)[0].path == str(tmp_path / "work")


def test_relative_paths_of_newer_git(git: Git, top: Path) -> None:
    linked = top.parent / "app-wt-login"
    admin = top / ".git/worktrees/app-wt-login"
    (admin / "gitdir").write_text(f"{os.path.relpath(linked, admin)}/.git\n")
    (linked / ".git").write_text(f"gitdir: {os.path.relpath(admin, linked)}\n")
    login = next(one for one in find(top, git) if one.change_id == "login")
    assert (login.path, login.defect) == (str(linked), "")


@pytest.mark.parametrize(
    ("damage", "path", "gone"),
    [
        (lambda admin, _: (admin / "gitdir").write_text(""), False, "its place"),
        (lambda admin, _: (admin / "gitdir").unlink(), False, "its place"),
        (lambda _, tree: (tree / ".git").unlink(), True, "no longer a worktree"),
        (
            lambda _, tree: (tree / ".git").write_text("gitdir: /other/.git\n"),
            True,
            "another repository",
        ),
        (lambda admin, _: (admin / "locked").write_text("initializing"), None, ""),
        (lambda admin, _: (admin / "HEAD").unlink(), None, ""),
    ],
)
def test_what_is_not_as_git_made_it_is_not_taken_at_its_word(
    git: Git, top: Path, damage: object, *, path: bool | None, gone: str
) -> None:
    linked = top.parent / "app-wt-login"
    assert callable(damage)
    damage(top / ".git/worktrees/app-wt-login", linked)
    found = [one for one in find(top, git) if one.gitdir.endswith("app-wt-login")]
    if path is None:
        assert found == []
    else:
        assert (found[0].path, gone in found[0].defect) == (
            str(linked) if path else "",
            True,
        )
    assert len(find(top, git)) == 5 + len(found)


def test_refs_that_only_git_reads_are_named(git: Git, top: Path) -> None:
    (top / ".git/reftable").mkdir()
    for head in (top / ".git/HEAD", top / ".git/worktrees/kept/HEAD"):
        head.write_text("ref: refs/heads/.invalid\n")
    found = {one.name: one for one in find(top, git)}
    assert {name for name, one in found.items() if one.refs} == {"app", "kept"}
    assert found["app"] == found["app"]._replace(branch="", commit="", refs="reftable")


def test_when_something_changed_last(git: Git, top: Path) -> None:
    moment = time.time() - 3600
    gitdir = top / ".git/worktrees/kept"
    for name in ("HEAD", "index", "logs/HEAD"):
        os.utime(gitdir / name, (moment, moment))
    kept = {one.name: one for one in find(top, git)}["kept"]
    assert kept.changed_ms == int(moment * 1000)
    git(top.parent / "kept", "commit", "-q", "--allow-empty", "-m", "more")
    kept = {one.name: one for one in find(top, git)}["kept"]
    assert kept.changed_ms > moment * 1000 + 3_000_000
