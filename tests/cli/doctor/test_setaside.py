"""Which of the stores that were set aside count as earlier checkouts of a store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Repo
from wc_cli.ledger.doctor.setaside import SetAsideStores
from wc_core.base.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable

APPLIED = ".local/applied"


def aside(repo: Repo) -> Path:
    """Make a copy of a store, as if it had been set aside."""
    target = Path(f"{repo.store}.orphaned-2026-02-03")
    shutil.copytree(repo.store, target, ignore=shutil.ignore_patterns(".git"))
    return target


def found(repo: Repo) -> SetAsideStores:
    return SetAsideStores(Layout(str(repo.store)), repo.machine.env)


def change_lines(folder: Path, **fields: str) -> None:
    """Make other entries of those in a store; what is ``None`` is removed."""
    for number, log in enumerate(sorted(folder.rglob("entries.jsonl"))):
        lines = []
        for at, line in enumerate(log.read_text().splitlines()):
            entry = json.loads(line) | fields
            entry["entry_id"] = f"01M800000000000000000000{number}{at}"
            lines.append(json.dumps(entry) + "\n")
        log.write_text("".join(lines))


def as_it_was(_: Repo, __: Path) -> None:
    """The same entries, and a commit of the branch."""


def entries_in_common(_: Repo, folder: Path) -> None:
    (folder / APPLIED).unlink(missing_ok=True)


def commit_of_the_branch(_: Repo, folder: Path) -> None:
    change_lines(folder, code_commit="")


def code_in_common(_: Repo, folder: Path) -> None:
    (folder / APPLIED).unlink(missing_ok=True)
    change_lines(folder)


def half_of_the_code_in_common(repo: Repo, folder: Path) -> None:
    code_in_common(repo, folder)
    (log,) = folder.rglob("entries.jsonl")
    line = json.loads(log.read_text().splitlines()[0])
    line |= {"entry_id": "01M80000000000000000000099", "code_commit": "a" * 40}
    with log.open("a") as file:
        file.write(json.dumps(line) + "\n")


def most_of_the_code_elsewhere(repo: Repo, folder: Path) -> None:
    half_of_the_code_in_common(repo, folder)
    (log,) = folder.rglob("entries.jsonl")
    line = json.loads(log.read_text().splitlines()[0])
    line |= {"entry_id": "01M80000000000000000000098", "code_commit": "b" * 40}
    with log.open("a") as file:
        file.write(json.dumps(line) + "\n")


def first_commit_only(repo: Repo, folder: Path) -> None:
    """All stores have the same first commit."""
    first = repo.git("rev-list", "--max-parents=0", THREADS)
    (folder / APPLIED).write_text(f"{first} 1\n")
    change_lines(folder, code_commit="")


def commit_of_the_code(repo: Repo, folder: Path) -> None:
    """One that git knows, and the branch does not contain."""
    repo.git("commit", "-q", "--allow-empty", "-m", "more")
    (folder / APPLIED).write_text(f"{repo.git('rev-parse', 'main')} 1\n")
    change_lines(folder, code_commit="")


def no_code(_: Repo, folder: Path) -> None:
    (folder / APPLIED).unlink(missing_ok=True)
    change_lines(folder, code_commit="")


def options_for_commits(_: Repo, folder: Path) -> None:
    (folder / APPLIED).write_text("--all 1\n")
    change_lines(folder, code_commit="HEAD\n--batch-all-objects")


def damaged(_: Repo, folder: Path) -> None:
    (folder / APPLIED).unlink(missing_ok=True)
    for log in folder.rglob("entries.jsonl"):
        log.write_bytes(b"\0garbage\n")


def empty(_: Repo, folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


CASES = (
    (as_it_was, True),
    (entries_in_common, True),
    (commit_of_the_branch, True),
    (code_in_common, True),
    (half_of_the_code_in_common, True),
    (most_of_the_code_elsewhere, False),
    (first_commit_only, False),
    (commit_of_the_code, False),
    (no_code, False),
    (options_for_commits, False),
    (damaged, False),
    (empty, False),
)


@pytest.mark.parametrize(
    ("change", "same"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_what_counts_as_the_same_store(
    repo: Repo, change: Callable[[Repo, Path], None], *, same: bool
) -> None:
    repo.settled("new", "auth", "--title", "x")
    folder = aside(repo)
    change(repo, folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    stores = found(repo)
    assert [store.layout.root for store in stores.stores] == [str(folder)]
    assert bool(stores.earlier) == same
    assert stores.topics() == ({"auth"} if same else set())
    assert bool(stores.lines("auth")) == same
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_what_it_lacks(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    folder = aside(repo)
    stores = found(repo)
    (store,) = stores.earlier
    assert stores.missing(store) == 0
    change_lines(folder)
    assert stores.missing(store) == 1


def test_a_store_outside_of_git_has_none(repo: Repo) -> None:
    place = repo.machine.folder("notes")
    place.ok("new", "auth", "--title", "x")
    layout = Layout(str(place.path / ".watercooler"))
    assert SetAsideStores(layout, repo.machine.env).stores == ()
