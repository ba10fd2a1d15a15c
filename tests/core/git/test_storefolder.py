"""Where a store is checked out, and which folders there belong to nobody."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.core.strategies import Git
from wc_core.base.layout import BRANCH
from wc_core.ledger.git import repository, storefolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.ledger.git.repository import Repository


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(tmp_path / "home")


@pytest.fixture
def app(git: Git, tmp_path: Path) -> Repository:
    found = repository.find(str(git.repository(tmp_path / "app")))
    assert found is not None
    return found


def first_of(git: Git, app: Repository) -> Path:
    return Path(storefolder.first_choice(app, git.env))


def nothing(_: Git, __: Path) -> None:
    return


def empty(_: Git, folder: Path) -> None:
    folder.mkdir()


def link_to_nothing(_: Git, folder: Path) -> None:
    folder.symlink_to(folder.with_name("disk"))


def only_an_unfinished_record(_: Git, folder: Path) -> None:
    folder.mkdir()
    (folder / ".git").write_text("gitdir: /gone\n")


def points_nowhere(_: Git, folder: Path) -> None:
    (folder / "threads").mkdir(parents=True)
    (folder / ".git").write_text("gitdir: /gone/.git/worktrees/x\n")


def without_git(_: Git, folder: Path) -> None:
    (folder / "threads").mkdir(parents=True)


def copy_of_a_checkout(git: Git, folder: Path) -> None:
    used = folder.with_name("used")
    checkout_of_another(git, used)
    shutil.copytree(used, folder)
    (folder / "threads").mkdir()


def link_to_a_checkout(git: Git, folder: Path) -> None:
    used = folder.with_name("used")
    checkout_of_another(git, used)
    folder.symlink_to(used)


def a_file(_: Git, folder: Path) -> None:
    folder.write_text("what is this?")


def checkout_of_another(git: Git, folder: Path) -> None:
    top = git.repository(folder.parents[2] / "another")
    git.branch(top, BRANCH)
    git.checkout(top, BRANCH, folder)


def a_repository(git: Git, folder: Path) -> None:
    git.repository(folder)


FREE, ORPHANED, USED = "free", "orphaned", "used"
CASES = (
    (nothing, FREE),
    (empty, FREE),
    (link_to_nothing, FREE),
    (only_an_unfinished_record, FREE),
    (points_nowhere, ORPHANED),
    (without_git, ORPHANED),
    (copy_of_a_checkout, ORPHANED),
    (link_to_a_checkout, ORPHANED),
    (a_file, ORPHANED),
    (checkout_of_another, USED),
    (a_repository, USED),
)


@pytest.mark.parametrize(
    ("make", "kind"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_what_is_in_the_place_of_a_store(
    git: Git, app: Repository, make: Callable[[Git, Path], None], kind: str
) -> None:
    first = first_of(git, app)
    first.parent.mkdir(parents=True)
    make(git, first)
    found = storefolder.planned(app, git.env)
    assert found.orphans == ((str(first),) if kind == ORPHANED else ())
    expected = str(first.resolve()) if kind == FREE else f"{first}-2"
    assert found.root == expected


def test_several_in_a_row(git: Git, app: Repository) -> None:
    first = first_of(git, app)
    first.parent.mkdir(parents=True)
    checkout_of_another(git, first)
    second = Path(f"{first}-2")
    points_nowhere(git, second)
    found = storefolder.planned(app, git.env)
    assert found == storefolder.StoreFolder(f"{first}-3", (str(second),))
    asides = []
    for path in (second, first, second):
        asides.append(storefolder.name_aside(str(path), "2026-02-03"))
        Path(asides[-1]).mkdir()
    assert asides[2] == f"{second}.orphaned-2026-02-03-2"
    # Neither a link nor what belongs to another repository is one of them.
    Path(f"{first}.orphaned-link").symlink_to(first)
    (first.parent / "watercooler-app-0123.orphaned-2026-02-03").mkdir()
    assert storefolder.set_aside(app, git.env) == sorted(asides)


def test_without_a_home_nothing_was_set_aside(git: Git, app: Repository) -> None:
    assert storefolder.set_aside(app, {}) == []
    assert storefolder.set_aside(app, git.env) == []


def test_a_file_where_the_stores_should_be(git: Git, app: Repository) -> None:
    """Making the folder will fail, and say why."""
    first = first_of(git, app)
    first.parents[1].write_text("in the way")
    assert storefolder.planned(app, git.env).root == str(first)
